;;;; Tests by name: which test files bear the name of which source file.

(defpackage #:opl.search.tests
  (:use #:cl #:opl.index.store #:opl.search.places #:opl.search.tables)
  (:import-from #:opl.source.language #:path-name)
  (:export #:tests-of #:tested-scores))
(in-package #:opl.search.tests)

(declaim (optimize (speed 1) (safety 1)))

(defparameter *affixes* '(("test_" . "") ("" . "_test") ("" . ".test") ("" . ".spec") ("" . "_spec") ("" . "test") ("" . "tests") ("test" . "") ("" . "-test") ("" . "_tests"))
  "What a test's name has before and after the name of what it tests.")

(defun tested-stem (stem affix)
  "The stem that the test file's STEM tests by AFFIX; nil when it does not bear it."
  (declare (type simple-string stem))
  (let* ((before (car affix)) (after (cdr affix)) (end (- (length stem) (length after))))
    (and (< (length before) end) (string= before stem :end2 (length before)) (string= after stem :start2 end)
         (subseq stem (length before) end))))

(defun tests-by-stem (index)
  "Stem of what is tested, lower case -> test files, in order of affix, then of path."
  (memo (index :tests-by-stem)
    (let ((table (make-hash-table :test 'equal)) (classes (tables-classes (tables-of index))) (stems '()))
      (do-files (file) (index)
        (when (= +tests+ (aref classes file))
          (push (cons (coerce (string-downcase (path-stem (path-name (index-path index file)))) 'simple-string) file) stems)))
      (setf stems (nreverse stems))
      (dolist (affix *affixes*)
        (loop for (stem . file) in stems
              do (let ((tested (tested-stem stem affix))) (when tested (push file (gethash tested table))))))
      (loop for stem being the hash-keys of table using (hash-value files) do (setf (gethash stem table) (nreverse files)))
      table)))

(defun shared-folders (a b) (length (intersection (path-components a) (path-components b) :test #'string=)))

(defun tests-of (index file)
  "Test files that bear the name of FILE, the nearest first."
  (let* ((path (index-path index file)) (stem (path-stem (path-name path))) (table (tests-by-stem index)))
    (when (entry-file-p path) (setf stem (or (car (last (butlast (path-components path)))) stem)))
    (stable-sort (copy-list (gethash (string-downcase stem) table))
                 #'> :key (lambda (test) (shared-folders path (index-path index test))))))

(defconstant +tests-a-file+ 4 "Tests of one file that count.")

(defun tests-by-file (index)
  "By file number: the nearest of its tests."
  (memo (index :tests-by-file)
    (let ((tests (make-array (index-file-count index) :initial-element '())) (classes (tables-classes (tables-of index))))
      (do-files (file) (index)
        (when (candidate-class-p (aref classes file))
          (let ((found (tests-of index file)))
            (setf (svref tests file) (subseq found 0 (min +tests-a-file+ (length found)))))))
      tests)))

(defun tested-scores (index scores)
  "By file: the greatest of SCORES, a float vector by file, among the tests that bear its name."
  (declare (type floats scores))
  (declare (type floats scores) (optimize (speed 2)))
  (if (nothing-p scores)
      scores
      (let ((values (make-floats (length scores))))
        (loop for tests across (the simple-vector (tests-by-file index)) for file of-type fixnum from 0
              do (dolist (test tests) (setf (aref values file) (max (aref values file) (aref scores (the fixnum test))))))
        values)))
