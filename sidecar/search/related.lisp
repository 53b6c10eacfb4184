;;;; Related files: a third of what a ranking misses is called by, or the base of, or a caller of what it found. These are
;;;; shown in a block of their own, by role; mixed into the score they did not help.

(defpackage #:opl.search.related
  (:use #:cl #:opl.index.store #:opl.source.facts #:opl.search.places #:opl.search.tables)
  (:local-nicknames (#:world #:opl.graph.world) (#:edges #:opl.graph.edges))
  (:import-from #:opl.source.names #:+none+ #:name-string)
  (:import-from #:opl.search.tests #:tests-of)
  (:export #:related-files #:relation #:relation-role #:relation-tag #:relation-file #:relation-from #:relation-certainty
           #:relation-why #:relation-line #:graph-neighbours))
(in-package #:opl.search.related)

(declaim (optimize (speed 1) (safety 1)))

(defstruct relation
  "FILE, and in it the definition TAG (nil for the file as a whole), stands in ROLE to the definition FROM."
  role file tag from (certainty :likely) (weight 0.0) (why "") line)

(defconstant +common-name+ 300 "Call sites of a name from which on its callers are not looked for: every file would be one.")
(defconstant +edges-a-tag+ 40 "Edges of one definition that are followed.")

(defun few-sites-p (index tag)
  (let ((count 0))
    (do-sites (file site) (index (tag-name index tag))
      (when (> (incf count) +common-name+) (return-from few-sites-p nil)))
    t))

(defun base-types (world tag)
  "Tags of the classes that the class TAG, or the class around it, is made from."
  (let* ((index (world:world-index world)) (run (index-run index (tag-file tag)))
         (class (if (plusp (heritage-count run)) (tag-def tag) +none+)) (found '()))
    (loop repeat 4 until (= class +none+)
          do (dotimes (i (heritage-count run))
               (when (= class (heritage-def run i))
                 (let* ((node (heritage-node run i)) (op (node-op run node))
                        (name (cond ((= op +op-name+) (node-a run node)) ((= op +op-member+) (node-b run node))
                                    ((and (= op +op-apply+) (= +op-name+ (node-op run (node-a run node)))) (node-a run (node-a run node))))))
                   (when name
                     (let ((tags '()))
                       (do-definitions (file def) (index name)
                         (when (zerop (opl.search.text:symbol-class (def-kind (index-run index file) def))) (push (tag file def) tags)))
                       (when (= 1 (length tags)) (pushnew (first tags) found)))))))
             (setf class (def-parent run class)))
    (nreverse found)))

(defun graph-neighbours (index tag)
  "What calls, is called by, or is the base of the definition TAG: a list of (role tag certainty line), the line that of the call."
  (let ((world (world:world-of index)) (found '()))
    (loop for edge in (edges:callees world tag) repeat +edges-a-tag+
          do (when (edges:edge-callee edge) (push (list :callee (edges:edge-callee edge) (edges:edge-certainty edge) (edges:edge-line edge)) found)))
    (when (few-sites-p index tag)
      (loop for edge in (edges:callers world tag) repeat +edges-a-tag+
            do (when (edges:edge-caller edge) (push (list :caller (edges:edge-caller edge) (edges:edge-certainty edge) (edges:edge-line edge)) found))))
    (dolist (base (base-types world tag)) (push (list :defines base :likely nil) found))
    (nreverse found)))

;;; The block

(defparameter *role-weights* '((:defines . 1.2) (:callee . 1.0) (:caller . 0.7) (:test . 0.6))
  "How much nearer one role is than another: a third of the misses were callees and bases of the best files.")

(defun note-relation (table relation)
  (let ((old (gethash (relation-file relation) table)))
    (cond ((null old) (setf (gethash (relation-file relation) table) relation))
          (t (let ((sum (+ (relation-weight old) (relation-weight relation))))
               (when (> (relation-weight relation) (relation-weight old)) (setf (gethash (relation-file relation) table) relation))
               (setf (relation-weight (gethash (relation-file relation) table)) sum))))))

(defun related-files (index shown symbols &key (neighbours #'graph-neighbours) (limit 6))
  "At most LIMIT relations, nearest first, from SYMBOLS (tags, likeliest first) to files that are not SHOWN. NEIGHBOURS: a function
of index and tag that gives a list of (role tag certainty line); nil for none."
  (let ((table (make-hash-table)) (classes (tables-classes (tables-of index))))
    (when neighbours
      (loop for from in symbols for place from 0 repeat 6
            do (loop for (role other certainty line) in (handler-case (funcall neighbours index from) (error () '()))
                     for file = (tag-file other)
                     do (unless (member file shown)
                          (let ((role (if (= +tests+ (aref classes file)) :test role)))
                            (note-relation table
                                           (make-relation :role role :file file :tag other :from from :certainty certainty :line line
                                                          :weight (* (cdr (assoc role *role-weights*)) (expt 0.8 place)
                                                                     (if (eq certainty :exact) 1.0 0.6)))))))))
    (loop for file in shown repeat 3 for place from 0
          do (loop for test in (tests-of index file) repeat 2
                   do (unless (member test shown)
                        (note-relation table (make-relation :role :test :file test :weight (* 0.6 (expt 0.8 place)) :why "bears its name")))))
    (let ((relations (loop for relation being the hash-values of table collect relation)))
      (setf relations (sort relations (lambda (a b) (or (> (relation-weight a) (relation-weight b))
                                                        (and (= (relation-weight a) (relation-weight b))
                                                             (string< (index-path index (relation-file a)) (index-path index (relation-file b))))))))
      (subseq relations 0 (min limit (length relations))))))
