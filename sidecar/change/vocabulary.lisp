;;;; Vocabulary: which tests write the words of a change: the parts of a changed name (req.query of compileQueryParser), and the words in
;;;; the strings of a changed definition (a format, a key, a message that a test compares with).

(defpackage #:opl.change.vocabulary
  (:use #:cl #:opl.change.diff #:opl.index.store #:opl.source.facts #:opl.change.roots #:opl.change.imports #:opl.change.testfiles)
  (:import-from #:opl.source.names #:find-name)
  (:import-from #:opl.graph.world #:world-of #:remembered)
  (:import-from #:opl.search.places #:test-path-p)
  (:import-from #:opl.change.speech #:name-parts)
  (:export #:changed-texts #:test-words #:vocabulary-scores #:string-scores))
(in-package #:opl.change.vocabulary)

(defun test-words (index)
  "Table word -> list of (test . share) of the tests that it stands in, or whose companions it stands in."
  (memo (index :test-words)
    (let ((table (make-hash-table)) (tests (test-table index)))
      (flet ((note (file)
               (let ((run (index-run index file)))
                 (map-tests-at (lambda (test share)
                                 (dotimes (i (word-count run))
                                   (unless (eql test (car (first (gethash (word-name run i) table))))
                                     (push (cons test share) (gethash (word-name run i) table)))))
                               index file))))
        (mapc #'note (test-files index))
        (loop for file being the hash-keys of (companions index tests) do (note file)))
      table)))

(defconstant +word-share+ 0.5 "Of a word's rarity among tests: none is sure alone. Set by hand before the weights were fitted.")
(defconstant +least-word+ 3 "Letters of a word that says something.")

(defun add-word-score (scores index text weight)
  "Adds to SCORES, for each test that the word TEXT stands in, WEIGHT by how rare it is among tests."
  (let* ((name (find-name (index-names index) text)) (those (and name (gethash name (test-words index)))))
    (when those
      (let ((value (* +word-share+ weight (rarity (length those) (max 1 (length (test-files index)))))))
        (loop for (test . share) in those do (add-score scores test (* share value)))))))

(defun vocabulary-scores (index roots)
  "How far the words of each test are parts of the names of ROOTS."
  (let ((scores (make-scores)))
    (dolist (root roots scores)
      (loop for (text . weight) in (root-names index root)
            do (dolist (part (name-parts text))
                 (dolist (form (list part (concatenate 'string part "s") (string-capitalize part)))
                   (add-word-score scores index form weight)))))))

;;; Strings

(defun word-character-p (c) (or (alphanumericp c) (char= c #\_)))

(defun add-words (text start end words)
  "Enters the words of TEXT within [START, END) into the table WORDS."
  (loop
    (let* ((from (position-if #'word-character-p text :start start :end end)) (to (and from (or (position-if-not #'word-character-p text :start from :end end) end))))
      (unless from (return words))
      (when (and (>= (- to from) +least-word+) (not (digit-char-p (char text from)))) (setf (gethash (subseq text from to) words) t))
      (setf start to))))

(defparameter *comment-starts* '("#" "//" "*" "/*" "--" ";") "Beginnings of lines whose quotes are apostrophes.")

(defun comment-line-p (line)
  (let ((start (position-if-not (lambda (c) (find c '(#\Space #\Tab))) line)))
    (or (null start)
        (some (lambda (mark) (let ((end (+ start (length mark)))) (and (<= end (length line)) (string= mark line :start2 start :end2 end)))) *comment-starts*))))

(defun add-string-words (line words)
  "Enters the words between the quotes of LINE into the table WORDS."
  (unless (comment-line-p line)
    (loop with at = 0
          for open = (position-if (lambda (c) (find c "'\"`")) line :start at)
          for close = (and open (position (char line open) line :start (1+ open)))
          while close
          do (add-words line (1+ open) close words)
             (setf at (1+ close)))))

(defconstant +longest-definition+ 200 "Lines of a definition beyond which only what changed in it is read.")

(defun lines-to-read (root)
  "Numbers of the lines whose strings speak of ROOT: all of a definition that is not too long, else those that changed."
  (let ((last (or (root-end root) (root-line root))))
    (if (or (eq (root-what root) :module) (> (- last (root-line root)) +longest-definition+))
        (root-lines root)
        (loop for line from (root-line root) to last collect line))))

(defun root-strings (index root)
  "The words in the strings of ROOT, which stands in the tree. Found once an index for the same lines."
  (let ((world (world-of index)) (numbers (lines-to-read root)))
    (remembered (world :strings (root-path root) numbers)
      (let ((lines (file-lines index (root-path root))) (words (make-hash-table :test 'equal)))
        (dolist (number numbers) (when (and lines (<= 1 number (length lines))) (add-string-words (aref lines (1- number)) words)))
        (sort (loop for word being the hash-keys of words collect word) #'string<)))))

(defconstant +most-texts+ 2000 "Lines of a diff beyond which what they say is not looked at.")

(defun changed-texts (changes)
  "The lines that CHANGES, a parsed diff, take away or write, without their marks; none of files of tests, which are told by themselves."
  (let ((texts '()) (count 0))
    (dolist (change changes (nreverse texts))
      (unless (test-path-p (file-change-path change))
        (dolist (hunk (file-change-hunks change))
          (map-hunk-lines (lambda (mark text old new)
                            (declare (ignore old new))
                            (when (and (find mark "-+") (<= (incf count) +most-texts+)) (push text texts)))
                          hunk))))))

(defun string-scores (index roots texts)
  "How far the words of each test stand in the strings of ROOTS or of TEXTS, the lines that a diff takes away or writes."
  (let ((scores (make-scores)) (words (make-hash-table :test 'equal)))
    (dolist (text texts) (add-string-words text words))
    (dolist (root roots)
      (unless (eq (root-what root) :deleted) (dolist (word (root-strings index root)) (setf (gethash word words) t))))
    (dolist (word (sort (loop for word being the hash-keys of words collect word) #'string<) scores)
      (add-word-score scores index word 1.0))))
