;;;; Together: which files the history changed along with others, from the commits that the search room keeps.

(defpackage #:opl.change.together
  (:use #:cl #:opl.index.store #:opl.search.history)
  (:import-from #:opl.search.past #:past-of)
  (:import-from #:opl.search.commits #:current-history)
  (:export #:together-with))
(in-package #:opl.change.together)

(defconstant +broadest+ 30 "Files of a commit beyond which it says nothing of any two of them.")

(defun commit-breadth (history commit)
  (- (aref (history-file-starts history) (1+ commit)) (aref (history-file-starts history) commit)))

(defun telling-commit-p (history commit)
  "Whether COMMIT is no merge and neither of one file nor of very many."
  (and (<= 2 (commit-breadth history commit) +broadest+) (evenp (aref (history-breadths history) commit))))

(defun commits-by-file (index history files)
  "By file of INDEX: the telling commits of HISTORY that touched it. Made once an index."
  (memo (index :commits-by-file)
    (let ((table (make-array (index-file-count index) :initial-element '())))
      (dotimes (commit (history-count history) table)
        (when (telling-commit-p history commit)
          (do-commit-files (number) (history commit)
            (let ((file (aref files number)))
              (unless (= file opl.source.names:+none+)
                (unless (eql commit (first (svref table file))) (push commit (svref table file)))))))))))

(defun commit-weight (history commit) (/ 1.0 (sqrt (float (commit-breadth history commit)))))

(defun commit-sums (index history table)
  "By file: the weights of the commits that TABLE has of it. Made once an index."
  (memo (index :commit-sums)
    (map 'vector (lambda (commits) (loop for commit in commits sum (commit-weight history commit))) table)))

(defun together-with (index paths)
  "As `find-together'; the answer for the paths asked for last is kept with the index."
  (let* ((history (current-history (index-root index)))
         (kept (memo (index :together) (list nil))) (last (car kept)))
    (if (and last (eq history (first last)) (equal paths (second last)))
        (third last)
        (let ((found (find-together index paths)))
          (setf (car kept) (list history (copy-list paths) found))
          found))))

(defun find-together (index paths)
  "(path . strength between 0 and 1) of the files that commits changed along with PATHS: how often, against how often each
changes, a commit counting less the more it changed. Nothing without a history."
  (let ((history (current-history (index-root index))))
    (when (and history (plusp (history-count history)))
      (let* ((files (opl.search.past:past-files (past-of index history))) (table (commits-by-file index history files))
             (sources (loop for path in paths for file = (index-file-number index path) when file collect file))
             (commits (remove-duplicates (loop for file in sources append (svref table file)))) (shared (make-hash-table)) (total 0.0))
        (flet ((weight (commit) (commit-weight history commit)))
          (dolist (commit commits)
            (incf total (weight commit))
            (do-commit-files (number) (history commit)
              (let ((file (aref files number)))
                (unless (or (= file opl.source.names:+none+) (member file sources)) (incf (gethash file shared 0.0) (weight commit))))))
          (sort (loop for file being the hash-keys of shared using (hash-value value)
                      collect (cons (index-path index file)
                                    (min 1.0 (/ value (sqrt (* (+ 1.0 total) (+ 1.0 (svref (commit-sums index history table) file))))))))
                (lambda (a b) (or (> (cdr a) (cdr b)) (and (= (cdr a) (cdr b)) (string< (car a) (car b)))))))))))
