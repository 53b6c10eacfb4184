;;;; The operation that a session's turn waits for: places. It takes the index and the history as they are; what could be newer is looked
;;;; for beside it. The tables that a ranking reads are made when an index is published, so that no turn pays for them.

(defpackage #:opl.operations.places
  (:use #:cl #:opl.index.store #:opl.search.answer)
  (:import-from #:opl.wire.protocol #:define-operation #:emit)
  (:import-from #:opl.index.workspace #:current-index #:wait-for-index #:*published*)
  (:import-from #:opl.search.commits #:current-history #:history-state)
  (:import-from #:opl.operations.change #:impact-beforehand)
  (:import-from #:opl.operations.context #:edited-paths #:emit-file #:emit-symbol))
(in-package #:opl.operations.places)

(defun answer-from (index task &rest keys)
  "The answer to TASK without what it takes to look around: related files and symbols are not listed unasked."
  (let ((root (index-root index)))
    (apply #'answer index (current-history root) task :neighbours nil :history-note (history-state root) keys)))

(define-operation places (session task limit)
  "Files and symbols that likely matter to a turn, best first, from the published index."
  (let* ((index (or (current-index) (wait-for-index)))
         (answer (answer-from index task :limit (max 1 limit) :edited (edited-paths session))))
    (emit answer (answer-complete-p answer) (answer-reason answer) (answer-total answer) (answer-indexed answer) (answer-searched answer))
    (mapc #'emit-file (answer-files answer))
    (dolist (row (answer-symbols answer)) (emit-symbol index row))))

;;; Tables beforehand

(defparameter *path-tables* '(:tests-by-stem :tests-by-file :files-by-name :files-by-module)
  "What the search room keeps with an index that paths alone decide: four fifths of what an edit would have made anew.")

(sb-ext:defglobal **before** nil)

(defun same-paths-p (before index)
  (and (eq (index-numbers before) (index-numbers index)) (<= (index-file-count before) (index-file-count index))
       (equalp (index-order before) (index-order index))))

(defun inherit (index)
  "Gives INDEX the tables that paths alone decide of the one published before it, when no file has come or gone."
  (let ((before (and **before** (sb-ext:weak-pointer-value **before**))))
    (when (and before (not (eq before index)) (same-paths-p before index))
      (sb-thread:with-recursive-lock ((opl.index.store:index-lock before))
        (dolist (key *path-tables*)
          (multiple-value-bind (table found) (gethash key (opl.index.store:index-extensions before))
            (when found (setf (gethash key (opl.index.store:index-extensions index)) table))))))
    (setf **before** (sb-ext:make-weak-pointer index))))

(defconstant +quiet-seconds+ 0.3 "Edits come in bursts: tables are made for an index that has stayed so long.")

(sb-ext:defglobal **wanted** nil "Whether the host has sessions: a command that asks one question does not pay for the next.")
(sb-ext:defglobal **warming** nil)
(sb-ext:defglobal **lock** (sb-thread:make-mutex :name "warming"))

(defun warm-when-quiet ()
  "Makes the tables of the published index once it has stayed for a while; ends when the one published is warm."
  (loop
    (let ((index (current-index)))
      (sleep +quiet-seconds+)
      (when (eq index (current-index))
        (when index
          ;; Only the tables are wanted; what is wrong with an answer shows when somebody asks for one.
          (ignore-errors (answer-from index "where is the main function"))
          (ignore-errors (impact-beforehand index)))
        (sb-thread:with-mutex (**lock**)
          (when (eq index (current-index))
            (setf **warming** nil)
            (return)))))))

(defun warm (&rest what)
  "Has the tables of the published index made beside everything else. WHAT is new, an index or a history, does not matter."
  (declare (ignore what))
  (sb-thread:with-mutex (**lock**)
    (when (and **wanted** (not (and **warming** (sb-thread:thread-alive-p **warming**))))
      (setf **warming** (sb-thread:make-thread #'warm-when-quiet :name "warming")))))

(define-operation warm ()
  "From now on, tables are made beforehand."
  (setf **wanted** t)
  (warm))

(pushnew 'warm *published*)
(pushnew 'inherit *published*)
(pushnew 'warm opl.search.commits:*on-change*)
