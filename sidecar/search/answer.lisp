;;;; The answer to a task: ranked files, the likeliest symbols in each, related files by role, and how far it can be trusted.

(defpackage #:opl.search.answer
  (:use #:cl #:opl.index.store #:opl.search.query #:opl.search.ranking #:opl.search.symbols #:opl.search.related
        #:opl.search.explain #:opl.search.history #:opl.search.tables)
  (:import-from #:opl.source.facts #:def-line #:def-end #:def-name #:def-kind)
  (:import-from #:opl.search.lexical #:gather)
  (:import-from #:opl.source.names #:name-string #:+none+)
  (:export #:answer #:answer-complete-p #:answer-reason #:answer-total #:answer-indexed #:answer-searched #:answer-files #:answer-symbols
           #:answer-related
           #:file-row #:file-row-path #:file-row-score #:file-row-role #:file-row-hop #:file-row-reasons #:file-row-shares
           #:symbol-row #:symbol-row-path #:symbol-row-tag #:symbol-row-role #:symbol-row-hop #:symbol-row-score #:symbol-row-certainty
           #:symbol-row-signature))
(in-package #:opl.search.answer)

(declaim (optimize (speed 1) (safety 1)))

(defstruct answer complete-p reason (total 0) (indexed 0) (searched "") (files '()) (symbols '()) (related '()))
(defstruct file-row path (score 0.0) role (hop 0) (reasons '()) (shares '()))
(defstruct symbol-row path tag role (hop 0) (score 0.0) certainty signature)

(defparameter *most-symbols* '(8 5 5)
  "Symbols shown of the best files at most: of those that follow `+least-symbols+'. With six of each of three and four of the others a third
more were shown, and a gold function was within ten and shown at all as seldom or more seldom (240 development instances).")
(defconstant +least-symbols+ 2 "Symbols shown of each file whatever they score.")
(defconstant +near-best+ 2.5 "How far below its file's best score a further symbol is shown.")

(defconstant +symbol-offset+ 5.0 "Added to what is shown of a symbol's score, which is a difference: all but the least likely stay above 0.")

(defun shown-score (score) (max 0.001 score))

(defun signature-of (index hit)
  (let ((signature (signature-text index (symbol-hit-file hit) (symbol-hit-def hit) (symbol-hit-octets hit) (symbol-hit-size hit))))
    (and (string/= signature "") signature)))

(defun symbols-to-show (index hits files)
  "Of HITS, best first, two of each of FILES, a few more of the best; of those with one name and scope only the first."
  (let ((counts (make-hash-table)) (best (make-hash-table)) (seen (make-hash-table :test 'equal)))
    (loop for hit in hits
          for file = (symbol-hit-file hit) for count = (gethash file counts 0) for place = (position file files)
          for key = (let ((tag (tag file (symbol-hit-def hit)))) (list file (tag-name index tag) (tag-scope index tag)))
          when (and place
                    (not (gethash key seen))
                    (< count (or (nth place *most-symbols*) +least-symbols+))
                    (or (< count +least-symbols+) (>= (symbol-hit-score hit) (- (gethash file best) +near-best+))))
            collect hit
            and do (setf (gethash file counts) (1+ count) (gethash key seen) t)
                   (unless (gethash file best) (setf (gethash file best) (symbol-hit-score hit))))))

(defun searched (index history-note task)
  (format nil "names, definitions, words and strings of ~:D file~:P~A; ~A~:[~;; the task holds no word to search for~]"
          (index-live-count index) (if (index-skipped index) (format nil ", ~:D left out" (length (index-skipped index))) "")
          history-note (null (task-terms task))))

(defun symbol-rows (index ranking files)
  (let* ((hits (likely-symbols ranking files)) (shown (symbols-to-show index hits (coerce files 'list))))
    (loop for hit in shown
          collect (make-symbol-row :path (index-path index (symbol-hit-file hit)) :tag (tag (symbol-hit-file hit) (symbol-hit-def hit))
                                   :role :match :score (shown-score (+ +symbol-offset+ (symbol-hit-score hit)))
                                   :signature (signature-of index hit)))))

(defun file-rows (index ranking files explain)
  (let ((notes (note-files ranking files)))
    (loop for file in files
          collect (make-file-row :path (index-path index file) :score (shown-score (aref (ranking-scores ranking) file))
                                 :role (file-role ranking file) :reasons (reasons ranking notes file)
                                 :shares (and explain (shares ranking file))))))

(defun relation-rows (index relations)
  "File and symbol rows of RELATIONS."
  (flet ((called (tag) (name-string (index-names index) (tag-name index tag))))
    (values
     (loop for relation in relations
           for from = (relation-from relation)
           collect (make-file-row :path (index-path index (relation-file relation)) :score 0.0 :role (relation-role relation) :hop 1
                                  :reasons (list (cond ((null from) (relation-why relation))
                                                       (t (ecase (relation-role relation)
                                                            (:callee (format nil "~A calls ~A" (called from) (called (relation-tag relation))))
                                                            ((:caller :test) (format nil "~A calls ~A" (called (relation-tag relation)) (called from)))
                                                            (:defines (format nil "base of ~A" (called from)))))))))
     (loop for relation in relations
           when (relation-tag relation)
             collect (make-symbol-row :path (index-path index (relation-file relation)) :tag (relation-tag relation) :hop 1 :score 0.0
                                      :role (relation-role relation) :certainty (relation-certainty relation))))))

(defun answer (index history text &key (limit 10) (offset 0) explain edited (neighbours #'graph-neighbours) (history-note "no history"))
  "What INDEX and HISTORY (nil for none) say to the task TEXT: an ANSWER. LIMIT files after the first OFFSET; EXPLAIN adds each
channel's share; EDITED: paths edited in this session; NEIGHBOURS as `related-files' takes it, nil for no related block."
  (let* ((task (parse-task text)) (evidence (gather index history task :edited edited)) (ranking (rank evidence))
         (all (ranking-files ranking)) (start (min offset (length all)))
         (files (coerce (subseq all start (min (length all) (+ start limit))) 'list))
         (rows (file-rows index ranking files explain))
         (symbols (symbol-rows index ranking files))
         (relations (and neighbours files (zerop offset)
                         (related-files index files (mapcar #'symbol-row-tag symbols) :neighbours neighbours))))
    (multiple-value-bind (related-files related-symbols) (relation-rows index relations)
      (make-answer :complete-p (and (index-complete-p index) t) :reason (index-reason index)
                   :total (ranking-total ranking) :indexed (index-live-count index)
                   :searched (searched index history-note task)
                   :files (append rows related-files) :symbols (append symbols related-symbols) :related relations))))
