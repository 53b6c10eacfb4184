;;;; Reach of a change: from the roots against the calls, through overrides and re-exports, with hop, path and
;;;; certainty; and from the changed files against the imports.

(defpackage #:opl.change.reach
  (:use #:cl #:opl.index.store #:opl.source.facts #:opl.change.roots #:opl.change.imports #:opl.change.mentions #:opl.change.fixtures)
  (:import-from #:opl.source.names #:+none+ #:known #:name-case #:name-string #:find-name)
  (:import-from #:opl.source.language #:language-family)
  (:import-from #:opl.graph.world #:world-of #:remembered)
  (:import-from #:opl.graph.types #:import-file #:class-kind-p #:with-trail #:locate-name #:expression-value)
  (:import-from #:opl.graph.values #:*external*)
  (:import-from #:opl.graph.resolve #:overridden #:overrides #:subclasses)
  (:import-from #:opl.graph.edges #:callers #:edge-caller #:edge-file #:edge-line #:edge-certainty #:edge-rule #:edge-callee #:site-edges #:open-sites #:make-edge)
  (:export #:dependant #:dependant-tag #:dependant-file #:dependant-line #:dependant-hop #:dependant-certainty #:dependant-via
           #:dependant-weight #:dependants-of #:weaker #:dependant-rule #:+least-weight+ #:loading-place-p))
(in-package #:opl.change.reach)

(defstruct dependant
  "Somebody who depends on a root: TAG, nil for a module's own top; FILE and LINE of the call; HOP from 1; VIA the tags between,
nearest to the root first; CERTAINTY the weakest of the way; WEIGHT in (0, 1]: how much of the change arrives."
  tag (file 0) (line 0) (hop 1) (via '()) (certainty :exact) (rule nil) (weight 1.0 :type single-float))

(defparameter *certainty-weights* '((:exact . 1.0) (:likely . 0.85) (:possible . 0.4))
  "Chance that an edge is real, by certainty; from the oracle's precision of each.")
(defun certainty-weight (certainty) (cdr (assoc certainty *certainty-weights*)))

(defun weaker (a b)
  "The less certain of two certainties."
  (if (> (position a '(:exact :likely :possible)) (position b '(:exact :likely :possible))) a b))

(defconstant +hop-loss+ 0.6
  "Share of a change that reaches the next caller: chosen on the projects of eval/impact; 0.5 to 0.7 come out alike.")
(defconstant +most-dependants+ 4000 "Dependants looked at; what reaches more than that reaches everything.")
(defconstant +most-hops+ 12)

(defun enclosing-class (world tag)
  "The class that TAG is a member of, or nil."
  (let ((parent (opl.graph.world:tag-parent world tag)))
    (and parent (class-kind-p (opl.graph.world:tag-kind world parent)) parent)))

(defun stand-ins (world index tag)
  "(tag . certainty) of what stands for TAG besides itself: the members that it overrides, since a call of these may reach it,
what it is local to, and its class where the language calls it unnamed. Found once an index."
  (remembered (world :stand-ins tag) (find-stand-ins world index tag)))

(defun find-stand-ins (world index tag)
  (append (mapcar (lambda (over) (cons over :possible)) (ignore-errors (overridden world tag)))
          (loop for around = (opl.graph.world:tag-parent world tag) then (opl.graph.world:tag-parent world around)
                while (and around (name-case (opl.graph.world:tag-kind world around) (("function" "method" "constructor" "accessor") t) (t nil)))
                collect (cons around :likely))
          (let ((class (enclosing-class world tag)))
            (and class
                 (or (implicit-member-p (name-string (index-names index) (tag-name index tag)))
                     (logtest +test+ (def-flags (index-run index (tag-file tag)) (tag-def tag)))) ; subclasses run it too
                 (list (cons class :likely))))))

(defun start-tags (world index root)
  "(tag . certainty) of what one must ask the callers of for ROOT: itself, its other names, what stands for these."
  (let ((tag (root-tag root)))
    (when tag
      (let ((tags (cons tag (root-aliases index root))))
        (append (mapcar (lambda (each) (cons each :exact)) tags)
                (loop for each in tags append (stand-ins world index each)))))))

(defconstant +least-weight+ 0.004 "What arrives less than this is not followed further.")

(defconstant +namesake-weight+ 0.35
  "Chance that a call which cannot be resolved means the one definition of its name: a little above what the oracle shows for
unique names of methods, since a call from a test is what is asked for.")
(defconstant +own-name-weight+ 0.7 "The same for a call beside the definition.")
(defconstant +mention-weight+ 0.5 "Chance that who names a definition without calling it runs it.")
(defconstant +metaclass-weight+ 0.85 "Chance that a class which is made by another runs it: its making does, its constructor may be its own.")
(defconstant +most-namesakes+ 400 "Unresolved calls of one name beyond which the name says nothing.")

(defun edge-weight (index tag edge)
  "How much of a change of TAG arrives over EDGE: less over a call that only bears its name, the more things are called so."
  (case (edge-rule edge)
    (:name (* (name-rarity index (tag-name index tag)) (/ +namesake-weight+ (max 1 (definitions-called index (tag-name index tag))))))
    (:own-name (/ +own-name-weight+ (max 1 (members-in index (tag-file tag) (tag-name index tag)))))
    (:mention +mention-weight+)
    (:metaclass +metaclass-weight+)
    (t (certainty-weight (edge-certainty edge)))))

(defun definitions-called (index name)
  (let ((world (world-of index)))
    (remembered (world :definitions-called name)
      (let ((count 0)) (do-definitions (file def) (index name) (incf count)) count))))

(defun member-p (index tag) (/= +none+ (def-parent (index-run index (tag-file tag)) (tag-def tag))))

(defun names-file-p (index from tag)
  "Whether the file FROM may mean TAG by a bare name: a member can be called on any object, a function only where its file is
seen."
  (or (member-p index tag)
      (= from (tag-file tag))
      (member from (gethash (tag-file tag) (importers index)))))

(defun members-in (index file name)
  "How many members of FILE are called NAME: `this.vary' beside `res.vary =' does not mean `var vary = require (…)'."
  (let ((run (index-run index file)) (world (world-of index)))
    (remembered (world :members-in file name)
      (loop for def below (def-count run) count (and (= name (def-name run def)) (/= +none+ (def-parent run def)))))))

(defconstant +common-sites+ 20 "Calls of one name from which on it is a common one.")

(defun name-rarity (index name)
  "1 for a name with few call sites, less with many: `write' is called on what no program defines."
  (let ((world (world-of index)))
    (remembered (world :rarity name)
      (let ((count 0))
        (do-sites (file site) (index name) (incf count))
        (min 1.0 (sqrt (/ (float +common-sites+) (max 1 count))))))))

(defun own-namesakes (world index tag)
  "Edges, of rule :own-name, from the open calls of TAG's name in TAG's own file: `this.get ()' beside `req.get ='."
  (let* ((file (tag-file tag)) (run (index-run index file)) (name (tag-name index tag)))
    (when (member-p index tag)
      (loop for open in (open-sites world name)
            for site = (tag-def open)
            when (= file (tag-file open))
              collect (make-edge (opl.graph.edges:site-caller world file site) file (site-line run site) name tag :possible :own-name site)))))

(defparameter *declared-throughout* '(:csharp :java :kotlin :scala :swift :dart)
  "Families in which every name is declared somewhere: one that is bound nowhere in the repository comes from outside it. In others what
looks so may be ours after all: a test's `request (app).get' runs what app.get defines.")

(defun outside-receiver-p (world index file site)
  "Whether SITE of FILE calls a member of something from outside by name, as `int.TryParse (text)' and `Int32.TryParse (text)' do: that
is no definition of ours, whatever it is called."
  (let* ((run (index-run index file)) (callee (site-callee run site)))
    (when (and (member (language-family (index-language index file)) *declared-throughout*)
               (/= callee +none+) (= (node-op run callee) +op-member+))
      (let ((receiver (node-a run callee)))
        (when (= (node-op run receiver) +op-name+)
          (flet ((bound-nowhere-p (mode)
                   (null (nth-value 1 (locate-name world file (node-b run receiver) (node-a run receiver) mode)))))
            (with-trail ()
              (or (eq *external* (expression-value world file receiver))
                  (and (bound-nowhere-p :expression) (bound-nowhere-p :type))))))))))

(defun more-sites-p (index name most)
  "Whether calls written NAME are more than MOST."
  (let ((count 0)) (do-sites (file site) (index name) (when (> (incf count) most) (return t)))))

(defun namesakes (world index tag)
  "Edges, of rule :name, from the calls of TAG's name that resolution left open; none of a name that says nothing."
  (let ((name (tag-name index tag)))
    (unless (or (<= (length (name-string (index-names index) name)) 1) (more-sites-p index name +most-namesakes+))
      (loop for open in (open-sites world name)
            for file = (tag-file open) for site = (tag-def open)
            when (and (/= file (tag-file tag)) (names-file-p index file tag) (not (outside-receiver-p world index file site)))
              collect (make-edge (opl.graph.edges:site-caller world file site) file (site-line (index-run index file) site) name tag :possible :name site)))))

(defun mention-edges (index tag)
  "Edges, of rule :mention, or :metaclass of a class that is made by TAG, from where TAG is named without being called."
  (loop for mention in (mentions-of index tag (importers index))
        collect (make-edge (mention-tag mention) (mention-file mention) (mention-line mention) (tag-name index tag) tag :possible
                           (if (equal (mention-key mention) "metaclass") :metaclass :mention) nil)))

;;; What runs while a file is loaded

(defparameter *bodies-run* '(:python :ruby :elixir) "Families in which the body of a class runs when its file is loaded.")

(defun loading-place-p (index dependant)
  "Whether DEPENDANT stands where code runs while its file is loaded: outside definitions, in the value of a variable there, or, where
that runs too, in the body of a class. What a class is made from runs nothing by that."
  (let ((tag (dependant-tag dependant)))
    (or (null tag)
        (and (not (eq (dependant-rule dependant) :mention))
             (let* ((file (tag-file tag)) (run (index-run index file))
                    (bodies (member (language-family (index-language index file)) *bodies-run*)))
               (flet ((runs (def)
                        (name-case (def-kind run def)
                          (("function" "method" "constructor" "accessor") nil)
                          (("class" "module") bodies)
                          (("variable" "constant" "field" "property") (or bodies (= +none+ (def-parent run def))))
                          (t nil))))
                 (and (loop for def = (tag-def tag) then (def-parent run def)
                            until (= def +none+) always (runs def))
                      (or (not (class-kind-p (def-kind run (tag-def tag))))
                          (/= (dependant-line dependant) (tag-line index tag))
                          (eq (dependant-rule dependant) :metaclass)))))))))

(defconstant +least-mention+ 0.015 "What must arrive at a definition for files to be read for mentions of it.")

(defun arrivals (index tag edges)
  "((edge . share of the change that arrives over it) …)."
  (mapcar (lambda (edge) (cons edge (edge-weight index tag edge))) edges))

(defun map-incoming (function world index tag weight)
  "Calls FUNCTION with each edge that leads to TAG, at which WEIGHT arrives, and the share that goes over it: calls; where they could
matter, calls that only bear its name and mentions. Each kind is found once an index."
  (flet ((each (arrivals) (loop for (edge . share) in arrivals do (funcall function edge share))))
    (each (remembered (world :calls-to tag) (arrivals index tag (callers world tag :possible t))))
    (each (remembered (world :fixtures-of tag) (arrivals index tag (fixture-edges world index tag))))
    (when (> (* weight +own-name-weight+ +hop-loss+) (/ +least-weight+ 10))
      (each (remembered (world :own-names-of tag) (arrivals index tag (own-namesakes world index tag)))))
    (when (> (* weight +namesake-weight+ (name-rarity index (tag-name index tag)) +hop-loss+) (/ +least-weight+ 10))
      (each (remembered (world :names-of tag) (arrivals index tag (namesakes world index tag)))))
    (when (and (> weight +least-mention+) (not (fixture-p world index tag)))
      (each (remembered (world :mentions-of tag) (arrivals index tag (mention-edges index tag)))))))

;;; What is gone has no tag: whoever still calls its name and means nothing else

(defconstant +gone-weight+ 0.8 "Chance that a call which means nothing any more meant the definition that is gone.")

(defun gone-dependants (world index root)
  "Dependants of ROOT, which is deleted: open calls of its name, from its own file or one that imports it, or of a member from
anywhere."
  (let ((name (find-name (index-names index) (root-name root))) (file (index-file-number index (root-path root))) (found '()) (count 0))
    (when (and name (plusp (length (root-name root))))
      (do-sites (from site) (index name)
        (when (> (incf count) +most-namesakes+) (return))
        (when (and (or (root-scope root) (eql from file) (null file) (member from (gethash file (importers index))))
                   (null (site-edges world from site :possible t)))
          (push (make-dependant :tag (opl.graph.edges:site-caller world from site) :file from :line (site-line (index-run index from) site)
                                :certainty (if (root-scope root) :possible :likely) :rule :gone
                                :weight (/ +gone-weight+ (if (root-scope root) 2.0 1.0)))
                found))))
    (nreverse found)))

;;; Ways: always on from where most of the change arrives, so that a definition is met by its surest way first

(defstruct (way (:constructor make-way (weight order tag hop via certainty)))
  (weight 0.0 :type single-float) (order 0 :type fixnum) tag (hop 0 :type fixnum) via certainty)

(defun way-before-p (a b)
  (or (> (way-weight a) (way-weight b))
      (and (= (way-weight a) (way-weight b)) (< (way-order a) (way-order b)))))

(defun heap-push (way heap)
  (vector-push-extend way heap)
  (loop with i = (1- (fill-pointer heap))
        for parent = (floor (1- i) 2)
        while (and (plusp i) (way-before-p (aref heap i) (aref heap parent)))
        do (rotatef (aref heap i) (aref heap parent)) (setf i parent)))

(defun heap-pop (heap)
  (let ((top (aref heap 0)) (last (vector-pop heap)) (size (fill-pointer heap)))
    (when (plusp size)
      (setf (aref heap 0) last)
      (loop with i = 0
            for child = (1+ (* 2 i))
            while (< child size)
            do (when (and (< (1+ child) size) (way-before-p (aref heap (1+ child)) (aref heap child))) (incf child))
               (if (way-before-p (aref heap child) (aref heap i))
                   (progn (rotatef (aref heap i) (aref heap child)) (setf i child))
                   (return))))
    top))

(defun dependants-of (index roots &key (hops +most-hops+))
  "Everything that depends on ROOTS by calls and mentions, over at most HOPS of them, most affected first. Second value:
whether it was cut. Third: (tag . weight) of where ways end, since nothing is seen to call what they lead to."
  (with-texts () (follow index roots hops)))

(defun follow (index roots hops)
  (let ((world (world-of index)) (places (path-places index)) (settled (make-hash-table)) (met (make-hash-table)) (heap (make-array 64 :adjustable t :fill-pointer 0))
        (order 0) (count 0) (cut nil) (own (make-hash-table)) (ends '()))
    (flet ((start (tag hop via certainty weight)
             (unless (gethash tag settled)
               (heap-push (make-way weight (incf order) tag hop via certainty) heap))))
      (dolist (root roots)
        (loop for (tag . certainty) in (start-tags world index root)
              do (when (eq certainty :exact) (setf (gethash tag own) t)) ; what stands in for a root may call it as well
                 (start tag 0 '() certainty (certainty-weight certainty)))
        (unless (or (root-tag root) (eq (root-what root) :module))
          (dolist (dependant (gone-dependants world index root))
            (let ((caller (dependant-tag dependant)))
              (setf (gethash (or caller (- -1 (dependant-file dependant))) met) dependant)
              (when caller (start caller 1 '() (dependant-certainty dependant) (dependant-weight dependant)))))))
      (loop while (and (plusp (fill-pointer heap)) (not cut))
            do (let* ((way (heap-pop heap)) (tag (way-tag way)) (hop (way-hop way)) (via (way-via way)) (called nil))
                 (unless (or (gethash tag settled) (>= hop hops))
                   (setf (gethash tag settled) t)
                   (map-incoming
                    (lambda (edge share)
                     (unless (eql tag (edge-caller edge)) (setf called t))
                     (let* ((caller (edge-caller edge)) (key (or caller (- -1 (edge-file edge))))
                            (sure (weaker (way-certainty way) (edge-certainty edge)))
                            (arrives (* (way-weight way) share (if (zerop hop) 1.0 +hop-loss+)))
                            (known (gethash key met)))
                       (unless (or (< arrives (/ +least-weight+ 10)) (and caller (gethash caller own)) (and known (>= (dependant-weight known) arrives)))
                         (unless known (when (>= (incf count) +most-dependants+) (setf cut t)))
                         (setf (gethash key met)
                               (make-dependant :tag caller :file (edge-file edge) :line (edge-line edge) :hop (1+ hop) :via (reverse via)
                                               :certainty sure :rule (edge-rule edge) :weight arrives))
                         (when (and caller (> arrives +least-weight+))
                           (start caller (1+ hop) (cons caller via) sure arrives)
                           (loop for (other . certainty) in (stand-ins world index caller)
                                 do (start other (1+ hop) (cons caller via) (weaker sure certainty) (* arrives (certainty-weight certainty))))))))
                    world index tag (way-weight way))
                   (unless called (push (cons tag (way-weight way)) ends)))))
      (values (sort (loop for dependant being the hash-values of met collect dependant) (lambda (a b) (dependant-before-p places a b)))
              cut (telling-ends world index (nreverse ends))))))

(defun telling-ends (world index ends)
  "ENDS without those that something else stands for which is no end itself: what an override overrides, the function around."
  (let ((tags (make-hash-table)))
    (loop for (tag . nil) in ends do (setf (gethash tag tags) t))
    (remove-if-not (lambda (end) (loop for (other . nil) in (stand-ins world index (car end)) always (gethash other tags))) ends)))

(defun dependant-before-p (places a b)
  (let ((a-weight (dependant-weight a)) (b-weight (dependant-weight b)))
    (cond ((/= a-weight b-weight) (> a-weight b-weight))
          ((/= (dependant-file a) (dependant-file b)) (< (svref places (dependant-file a)) (svref places (dependant-file b))))
          (t (< (dependant-line a) (dependant-line b))))))
