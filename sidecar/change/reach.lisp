;;;; Reach of a change: from the roots against the calls, through overrides and re-exports, with hop, path and
;;;; certainty; and from the changed files against the imports.

(defpackage #:opl.change.reach
  (:use #:cl #:opl.index.store #:opl.source.facts #:opl.change.roots)
  (:import-from #:opl.source.names #:+none+ #:known #:name-case #:name-string #:find-name)
  (:import-from #:opl.graph.world #:world-of #:remembered)
  (:import-from #:opl.graph.types #:import-file #:class-kind-p)
  (:import-from #:opl.graph.resolve #:overridden #:overrides #:subclasses)
  (:import-from #:opl.graph.edges #:callers #:edge-caller #:edge-file #:edge-line #:edge-certainty #:edge-rule #:edge-callee #:site-edges)
  (:export #:dependant #:dependant-tag #:dependant-file #:dependant-line #:dependant-hop #:dependant-certainty #:dependant-via
           #:dependant-weight #:dependants-of #:importers #:import-distances #:certainty-weight #:weaker #:dependant-rule))
(in-package #:opl.change.reach)

(defstruct dependant
  "Somebody who depends on a root: TAG, nil for a module's own top; FILE and LINE of the call; HOP from 1; VIA the tags between,
nearest to the root first; CERTAINTY the weakest of the way; WEIGHT in (0, 1]: how much of the change arrives."
  tag (file 0) (line 0) (hop 1) (via '()) (certainty :exact) (rule nil) (weight 1.0 :type single-float))

(defparameter *certainty-weights* '((:exact . 1.0) (:likely . 0.85) (:possible . 0.4))
  "Chance that an edge is real, by certainty; from the oracle's precision of each.")
(defun certainty-weight (certainty) (cdr (assoc certainty *certainty-weights*)))

(defun weaker (a b) (if (> (position a '(:exact :likely :possible)) (position b '(:exact :likely :possible))) a b))

(defconstant +hop-loss+ 0.6
  "Share of a change that reaches the next caller: chosen on the projects of eval/impact; 0.5 to 0.7 come out alike.")
(defconstant +most-dependants+ 4000 "Dependants looked at; what reaches more than that reaches everything.")
(defconstant +most-hops+ 12)

(defun start-tags (world root)
  "Tags whose callers depend on ROOT: itself; what it overrides, since a call to that may reach it; a class for its constructor;
the members of a changed class."
  (let ((tag (root-tag root)))
    (when tag
      (append (list (cons tag :exact))
              (mapcar (lambda (over) (cons over :possible)) (ignore-errors (overridden world tag)))))))

(defconstant +least-weight+ 0.004 "What arrives less than this is not followed further.")

(defconstant +namesake-weight+ 0.35
  "Chance that a call which cannot be resolved means the one definition of its name: a little above what the oracle shows for
unique names of methods, since a call from a test is what is asked for.")
(defconstant +most-namesakes+ 400 "Unresolved calls of one name beyond which the name says nothing.")

(defun edge-weight (index tag edge)
  "How much of a change of TAG arrives over EDGE: less over a call that only bears its name, the more things are called so."
  (if (eq (edge-rule edge) :name)
      (/ +namesake-weight+ (max 1 (definitions-called index (tag-name index tag))))
      (certainty-weight (edge-certainty edge))))

(defun definitions-called (index name)
  (let ((count 0)) (do-definitions (file def) (index name) (incf count)) count))

(defun namesakes (world index tag weight)
  "Edges, of rule :name, from the calls of TAG's name that resolution left open; none when these would weigh nothing."
  (let ((name (tag-name index tag)) (edges '()) (count 0))
    (when (> (* weight (/ +namesake-weight+ (max 1 (definitions-called index name)))) +least-weight+)
      (do-sites (file site) (index name)
        (when (> (incf count) +most-namesakes+) (return))
        (let ((found (site-edges world file site :possible t)))
          (unless found
            (push (opl.graph.edges::make-edge (opl.graph.edges::site-caller world file site) file (opl.source.facts:site-line (index-run index file) site) name tag :possible :name site)
                  edges)))))
    (if (> count +most-namesakes+) '() (nreverse edges))))

(defun dependants-of (index roots &key (hops +most-hops+) (possible t))
  "Everything that calls ROOTS, over at most HOPS calls, nearest and surest first within a hop. Second value: whether it was cut."
  (let ((world (world-of index)) (seen (make-hash-table)) (queue '()) (found '()) (count 0) (cut nil))
    (dolist (root roots)
      (loop for (tag . certainty) in (start-tags world root)
            do (unless (gethash tag seen)
                 (setf (gethash tag seen) t)
                 (push (list tag 0 '() certainty (certainty-weight certainty)) queue))))
    (setf queue (nreverse queue))
    (loop while (and queue (not cut))
          do (let ((next '()))
               (dolist (entry queue)
                 (destructuring-bind (tag hop via certainty weight) entry
                   (when (and (< hop hops) (not cut))
                     (dolist (edge (append (callers world tag :possible possible) (and possible (namesakes world index tag weight))))
                       (let* ((caller (edge-caller edge)) (key (or caller (- -1 (edge-file edge))))
                              (sure (weaker certainty (edge-certainty edge)))
                              (arrives (* weight (edge-weight index tag edge) (if (zerop hop) 1.0 +hop-loss+))))
                         (unless (gethash key seen)
                           (setf (gethash key seen) t)
                           (push (make-dependant :tag caller :file (edge-file edge) :line (edge-line edge) :hop (1+ hop) :via (reverse via)
                                                 :certainty sure :rule (edge-rule edge) :weight arrives)
                                 found)
                           (when (>= (incf count) +most-dependants+) (setf cut t))
                           (when (and caller (> arrives +least-weight+))
                             (push (list caller (1+ hop) (cons caller via) sure arrives) next)
                             (dolist (over (ignore-errors (overridden world caller)))
                               (unless (gethash over seen)
                                 (setf (gethash over seen) t)
                                 (push (list over (1+ hop) (cons caller via) :possible (* arrives (certainty-weight :possible))) next))))))))))
               (setf queue (nreverse next))))
    (values (nreverse found) cut)))

;;; Imports

(defun go-test-path-p (path)
  (let ((start (- (length path) 8))) (and (plusp start) (string= "_test.go" path :start2 start))))

(defun importers (index)
  "Table from a file number to the numbers of the files that import it."
  (let ((world (world-of index)))
    (remembered (world :importers)
      (let ((table (make-hash-table)))
        (do-files (file) (index)
          (let ((run (index-run index file)) (path (index-path index file)))
            (when (go-test-path-p path) ; a Go test sees its package without importing it
              (do-files-in-directory (other) (index (subseq path 0 (or (position #\/ path :from-end t) 0)))
                (unless (go-test-path-p (index-path index other)) (pushnew file (gethash other table)))))
            (dotimes (import (import-count run))
              (let ((to (ignore-errors (import-file world file import))))
                (dolist (target (import-targets index file run import to))
                  (unless (= target file) (pushnew file (gethash target table))))))))
        table))))

(defun import-targets (index file run import to)
  "The files that an import which leads to TO reaches: one, or those of a package."
  (declare (ignore run import file))
  (cond ((integerp to) (list to))
        ((and (consp to) (eq (car to) :package))
         (let ((package (cdr to)))
           (cond ((stringp package)
                  (let ((files '())) (do-files-in-directory (each) (index package) (push each files)) files))
                 ((and (listp package) (every #'integerp package)) package))))))

(defun import-distances (index files)
  "Table from file number to how many imports lie between it and the nearest of FILES, which are at 0."
  (let ((distances (make-hash-table)) (table (importers index)) (queue files))
    (dolist (file files) (setf (gethash file distances) 0))
    (loop while queue
          do (let ((next '()))
               (dolist (file queue)
                 (dolist (importer (gethash file table))
                   (unless (gethash importer distances)
                     (setf (gethash importer distances) (1+ (gethash file distances)))
                     (push importer next))))
               (setf queue (nreverse next))))
    distances))
