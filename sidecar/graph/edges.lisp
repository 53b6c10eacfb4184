;;;; Edges: who calls whom, asked for one definition or for the whole repository, and how far calls reach.

(defpackage #:opl.graph.edges
  (:use #:cl #:opl.source.facts #:opl.graph.world #:opl.graph.values #:opl.graph.types #:opl.graph.resolve #:opl.graph.called-as #:opl.graph.family)
  (:local-nicknames (#:store #:opl.index.store))
  (:import-from #:opl.source.names #:+none+ #:known)
  (:export #:edge #:edge-caller #:edge-file #:edge-line #:edge-callee #:edge-certainty #:edge-rule #:edge-name #:edge-hops #:edge-via
           #:callers #:callees #:site-edges #:open-sites #:do-edges #:map-edges #:reach #:site-caller))
(in-package #:opl.graph.edges)

(declaim (optimize (speed 1) (safety 1)))

(defstruct (edge (:constructor make-edge (caller file line name callee certainty rule site)))
  "A call: CALLER the tag of the innermost definition around it, nil for the module itself; FILE and LINE of the call; NAME
as written there; CALLEE a tag, nil where no definition of the repository is known to be called; CERTAINTY :exact,
:likely or :possible; RULE a keyword; SITE the call site's ordinal in FILE. HOPS and VIA are filled by `reach'."
  caller file line name callee certainty rule site (hops 1) (via '()))

(defun site-caller (world file site)
  "The tag of the definition that call SITE of FILE stands in, or nil at the top level of the file."
  (let ((def (site-def (world-run world file) site))) (if (= def +none+) nil (make-tag file def))))

(defvar *signal-faults* nil "Whether a fault of resolution is signalled instead of leaving one call unresolved.")

(defun resolve-safely (world file site)
  "`resolve-site', but nil where it fails or runs out of stack: one strange file must not cost the others their edges."
  (if *signal-faults*
      (resolve-site world file site)
      (handler-case (resolve-site world file site)
        ((or error storage-condition) () nil))))

(defun made-here-p (run site)
  "Whether what SITE calls a method of is constructed right there, so that no subclass can be meant: new X().m()."
  (let ((callee (site-callee run site)))
    (and (/= callee +none+) (= (node-op run callee) +op-member+) (/= (node-a run callee) +none+)
         (= (node-op run (node-a run callee)) +op-new+))))

(defun site-edges (world file site &key possible unresolved)
  "The edges of one call site. POSSIBLE: with those that are only possible (overrides, guesses); UNRESOLVED: with one
edge without a callee when there is no other."
  (multiple-value-bind (tags certainty rule) (resolve-safely world file site)
    (let ((run (world-run world file)) (edges '()))
      (flet ((add (tag certainty rule)
               (push (make-edge (site-caller world file site) file (site-line run site) (site-name run site) tag certainty rule site)
                     edges)))
        (when (or possible (not (eq certainty :possible)))
          (dolist (tag tags) (add tag certainty rule)))
        (when possible
          (dolist (tag tags)
            (when (= (tag-kind world tag) (known "constant"))
              (dolist (cast (cast-of world tag)) (add cast :possible :alias)))))
        (when (and possible tags (member rule '(:typed :typed-union :self :inferred)) (not (made-here-p run site)))
          (dolist (tag tags)
            (dolist (override (overrides world tag))
              (unless (member override tags) (add override :possible :override)))))
        (when (and unresolved (null edges)) (add nil nil nil)))
      (nreverse edges))))

(defun file-edges (world file possible unresolved)
  "The edges of FILE by line, then callee."
  (with-trail ()
    (let ((edges '()) (run (world-run world file)))
      (dotimes (site (site-count run))
        (when (or possible (/= (site-how run site) +pass+))
          (setf edges (nreconc (site-edges world file site :possible possible :unresolved unresolved) edges))))
      (stable-sort (nreverse edges) (lambda (a b) (edge-before-p world a b))))))

(defun edge-before-p (world a b)
  (let ((a-line (edge-line a)) (b-line (edge-line b)) (a-callee (edge-callee a)) (b-callee (edge-callee b)))
    (cond ((/= a-line b-line) (< a-line b-line))
          ((or (null a-callee) (null b-callee)) nil)
          ((eql (tag-file a-callee) (tag-file b-callee)) (< (tag-line world a-callee) (tag-line world b-callee)))
          (t (and (string< (world-path world (tag-file a-callee)) (world-path world (tag-file b-callee))) t)))))

(defun map-edges (function world &key possible unresolved (threads 2))
  "Calls FUNCTION with every edge of the repository, files in order of path, each file's by line and callee. POSSIBLE: with
those that are only possible, functions handed on by name among them; UNRESOLVED: with an edge without a callee for every
other call. The files are resolved by THREADS threads; FUNCTION is called by this one alone."
  (declare (type function function))
  (let* ((files (let ((list '())) (do-world-files (file) (world) (push file list)) (coerce (nreverse list) 'simple-vector)))
         (count (length files)) (results (make-array count :initial-element nil)) (next (list 0)))
    (flet ((work ()
             (loop for i = (sb-ext:atomic-incf (car next)) while (< i count)
                   do (setf (svref results i)
                            (if (world-run world (svref files i)) (file-edges world (svref files i) possible unresolved) '())))))
      (if (or (= threads 1) (< count 8))
          (work)
          (mapc #'sb-thread:join-thread
                (loop repeat threads collect (sb-thread:make-thread #'work :name "edges")))))
    (loop for edges across results do (mapc function edges))))

(defmacro do-edges ((edge world &rest options) &body body)
  "BODY for every edge; OPTIONS as `map-edges' takes them."
  `(map-edges (lambda (,edge) ,@body) ,world ,@options))

(defun callees (world tag &key possible)
  "The edges from the definition TAG, those of definitions inside it that are local included, in the order of the text."
  (let* ((file (tag-file tag)) (run (world-run world file)) (edges '()))
    (with-trail ()
      (dotimes (site (site-count run))
        (when (within-p run (site-def run site) (tag-def tag))
          (setf edges (nreconc (site-edges world file site :possible possible) edges)))))
    (nreverse edges)))

(defun within-p (run def outer)
  "Whether DEF is OUTER or local to it."
  (loop repeat 64
        until (= def +none+)
        do (when (= def outer) (return t))
           (unless (logtest +local+ (def-flags run def)) (return nil))
           (setf def (def-parent run def))))

;;; Callers: sites are looked up by the names under which a definition is called

;;; The calls of one name are resolved once: a name that a thousand definitions bear is asked for a thousand times when a change is followed

(defconstant +few-calls+ 16 "Calls of a name up to which they are a list; more are by the file of what is called.")

(defstruct (calls (:constructor make-calls (list files open)))
  "What the calls of one name mean: edges, possible ones too, in order of path and place, as a LIST or, in FILES, by the file of what is
called; OPEN: the calls that mean nothing known, as tags of file and site."
  (list '() :type list) (files nil :type (or null hash-table)) (open '() :type list))

(defun resolve-calls (world name)
  (with-trail ()
    (let ((edges '()) (open '()) (count 0))
      (declare (type fixnum count))
      (store:do-sites (file site) ((world-index world) name)
        (let ((found (site-edges world file site :possible t)))
          (if found
              (dolist (edge found) (push edge edges) (incf count))
              (push (make-tag file site) open))))
      (if (<= count +few-calls+)
          (make-calls (nreverse edges) nil (nreverse open))
          (let ((files (make-hash-table)))
            (dolist (edge edges) (push edge (gethash (tag-file (edge-callee edge)) files))) ; the last first: in order again
            (make-calls '() files (nreverse open)))))))

(defun calls-of (world name) (remembered (world :calls-of name) (resolve-calls world name)))

(defun edges-into (calls file)
  "The edges among CALLS that may lead to a definition of FILE."
  (let ((files (calls-files calls))) (if files (gethash file files) (calls-list calls))))

(defun open-sites (world name)
  "The calls written NAME that mean nothing known: tags of file and site, in order of path and place. Found once a world."
  (calls-open (calls-of world name)))

(defun callers (world tag &key possible)
  "The edges to the definition TAG, by path and line. A class's callers are those of its constructors too."
  (let ((edges '()))
    (dolist (name (call-names world tag))
      (dolist (edge (edges-into (calls-of world name) (tag-file tag)))
        (when (and (or possible (not (eq (edge-certainty edge) :possible))) (same-callable-p world (edge-callee edge) tag))
          (push (copy-edge edge) edges)))) ; `reach' writes into what it is given
    (stable-sort (nreverse edges) (lambda (a b) (edge< world a b)))))

(defun edge< (world a b)
  (let ((a-path (world-path world (edge-file a))) (b-path (world-path world (edge-file b))))
    (cond ((string< a-path b-path) t)
          ((string= a-path b-path) (< (edge-site a) (edge-site b))))))

(defun same-callable-p (world callee tag)
  "Whether a call of CALLEE is one of TAG: the same, another declaration of it, or the constructor of class TAG."
  (or (= callee tag)
      (and (= (tag-file callee) (tag-file tag))
           (or (and (= (tag-name world callee) (tag-name world tag)) (eql (tag-parent world callee) (tag-parent world tag))
                    (not (family-overloads (family-of world (tag-file tag)))) ; there a call means the one that was chosen
                    (let ((run (world-run world (tag-file tag))))
                      (= (def-scope run (tag-def callee)) (def-scope run (tag-def tag))))
                    ;; def self.x beside def x
                    (eq (logtest +static+ (tag-flags world callee)) (logtest +static+ (tag-flags world tag)))
                    (function-kind-p (tag-kind world tag)))
               (and (= (tag-kind world callee) (known "constructor")) (eql (tag-parent world callee) tag))))))

;;; Reach

(defun reach (world tags &key (direction :callers) (hops 3) possible (limit 2000))
  "Edges met going from TAGS against (:callers) or along (:callees) the calls, breadth first, each definition once: edges
with HOPS from 1 and VIA, the tags between, nearest to TAGS first. Second value: whether LIMIT cut it short. A call from
the top of a module ends its way."
  (let ((seen (make-hash-table)) (queue (mapcar (lambda (tag) (list tag 0 '())) tags)) (tail '()) (found '()) (count 0))
    (dolist (tag tags) (setf (gethash tag seen) t))
    (loop
      (when (null queue) (setf queue (nreverse tail) tail '()))
      (when (null queue) (return (values (nreverse found) nil)))
      (destructuring-bind (tag hop via) (pop queue)
        (when (< hop hops)
          (dolist (edge (if (eq direction :callers) (callers world tag :possible possible) (callees world tag :possible possible)))
            (let* ((next (if (eq direction :callers) (edge-caller edge) (edge-callee edge)))
                   (key (or next (- -1 (edge-file edge)))))
              (unless (gethash key seen)
                (setf (gethash key seen) t (edge-hops edge) (1+ hop) (edge-via edge) (reverse via))
                (push edge found)
                (when (>= (incf count) limit) (return-from reach (values (nreverse found) t)))
                (when next (push (list next (1+ hop) (cons next via)) tail))))))))))
