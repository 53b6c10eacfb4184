;;;; Why a file is in an answer, in a few words, strongest first.

(defpackage #:opl.search.explain
  (:use #:cl #:opl.index.store #:opl.search.tables #:opl.search.evidence #:opl.search.query #:opl.search.ranking #:opl.search.history #:opl.search.past)
  (:import-from #:opl.source.names #:u32-vector #:+none+)
  (:import-from #:opl.search.lexical #:inverse-frequency)
  (:import-from #:opl.search.counting #:slots-of-file)
  (:import-from #:opl.search.places #:path-class #:+tests+)
  (:export #:reasons #:file-role #:note-files))
(in-package #:opl.search.explain)

(declaim (optimize (speed 1) (safety 1)))

(defun terms-by-file (evidence files)
  "For each of FILES the terms that say most, as texts: a table."
  (let ((table (make-hash-table)) (count (tables-candidates (evidence-tables evidence))) (terms (evidence-term-count evidence)))
    (dolist (file files table)
      (let ((texts '())
            (found (loop for slot in (slots-of-file evidence file)
                         when (< slot terms)
                           collect (cons (* (aref (evidence-weights evidence) slot)
                                            (inverse-frequency count (aref (evidence-frequencies evidence) (+ 8 (* 9 slot)))))
                                         (term-text (svref (evidence-terms evidence) slot))))))
        (loop for (nil . text) in (stable-sort found #'> :key #'car)
              until (= (length texts) 3)
              do (pushnew text texts :test #'string-equal))
        (setf (gethash file table) (nreverse texts))))))

(defconstant +few-words+ 3 "Words of a task up to which a plain word may be a name that is asked for.")

(defun definitions-by-file (evidence)
  "For each file the task's words that it defines: those that look like names; all of them when the task is a few words."
  (let ((table (make-hash-table)) (few-p (<= (length (task-words (evidence-task evidence))) +few-words+)))
    (loop for (file nil slot) in (evidence-definitions evidence)
          do (let ((word (svref (evidence-words evidence) (- slot (evidence-term-count evidence)))))
               (when (or few-p (> (word-shape-of word) 0.3)) (pushnew (word-text word) (gethash file table) :test #'string=))))
    table))

(defun note-files (ranking files)
  "What `reasons' needs to know of FILES, worked out once for all of them."
  (let ((evidence (ranking-evidence ranking)))
    (list (terms-by-file evidence files) (definitions-by-file evidence) (similar-commits evidence))))

(defun similar-commit-of (evidence similar file)
  "The first eight digits of the most similar commit that changed FILE, or nil."
  (let ((history (evidence-history evidence)))
    (when (and history similar)
      (let ((files (opl.search.past:past-files (past-of (evidence-index evidence) history))))
        (loop for (commit) in similar
              do (do-commit-files (number) (history commit)
                   (when (= file (aref files number))
                     (return-from similar-commit-of (format nil "~(~8,'0x~)" (aref (history-shas history) commit))))))))))

(defun reason (name evidence notes file)
  "What the channel NAME says of FILE, or nil when that goes without saying."
  (destructuring-bind (terms definitions similar) notes
    (flet ((is (&rest names) (member name names :test #'string=)))
      (cond ((is "title" "words" "file-name" "folders" "types" "functions" "other-definitions" "comments" "strings" "uses-named" "pairs" "roots")
             (let ((texts (gethash file terms))) (and texts (format nil "~{~A~^, ~}" texts))))
            ((is "definitions-named" "name-alone")
             (let ((names (reverse (gethash file definitions)))) (and names (format nil "defines ~{~A~^, ~}" (subseq names 0 (min 3 (length names)))))))
            ((is "paths-named") "named by path")
            ((is "trace" "last-frame") "in the trace")
            ((is "modules-named") "its module is named")
            ((is "tests-words" "tests-title") "its tests speak of the task")
            ((is "phrases") "holds words of the task as text")
            ((is "similar-commits" "messages")
             (let ((sha (similar-commit-of evidence similar file))) (and sha (format nil "changed by ~A, like the task" sha))))
            ((is "imported") "imported by files that fit")
            ((is "imported-by-tests") "imported by tests that fit")
            ((is "types-used") "its types are used by files that fit")
            ((is "together") "changed along with files that fit")
            ((is "part") "in the part that the title names")
            ((is "same-issue") "changed for the same issue")
            ((is "edited") "edited in this session")
            ((is "recently-changed" "length" "entry-file" "aside" "test" "document" "vendored" "generated") nil)
            (t name)))))

(defconstant +telling+ 0.12 "Share of a score from which a channel is worth a reason.")

(defun reasons (ranking notes file)
  "At most three reasons why FILE is in the ranking."
  (let* ((shares (shares ranking file)) (sum (max 0.01 (loop for (nil . share) in shares when (plusp share) sum share))) (texts '()))
    (loop for (name . share) in shares
          until (= (length texts) 3)
          do (when (or (>= share (* +telling+ sum)) (string= name "edited"))
               (let ((text (reason name (ranking-evidence ranking) notes file)))
                 (when text (pushnew text texts :test #'string=)))))
    (nreverse texts)))

(defun file-role (ranking file)
  "The role of FILE by what speaks most for it."
  (let ((named 0.0) (words 0.0) (past 0.0))
    (loop for (name . share) in (shares ranking file)
          do (cond ((member name '("words" "comments" "strings" "phrases" "uses-named" "other-definitions") :test #'string=) (incf words share))
                   ((member name '("similar-commits" "messages" "recently-changed" "same-issue" "together") :test #'string=) (incf past share))
                   ((plusp share) (incf named share))))
    (cond ((= +tests+ (path-class (index-path (evidence-index (ranking-evidence ranking)) file))) :test)
          ((and (> past named) (> past words)) :history)
          ((> named (* 0.4 words)) :match)
          (t :lexical))))
