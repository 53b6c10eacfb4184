;;;; Test files: which files hold tests, what stands for them, and tables of scores over them.

(defpackage #:opl.change.testfiles
  (:use #:cl #:opl.index.store #:opl.source.facts #:opl.change.imports)
  (:import-from #:opl.source.names #:name-string)
  (:import-from #:opl.source.language #:language-family #:path-name)
  (:import-from #:opl.search.places #:test-path-p #:path-components)
  (:import-from #:opl.change.roots #:code-p)
  (:export #:test-file-p #:test-files #:test-table #:map-tests-at #:make-scores #:raise-score #:add-score #:rarity))
(in-package #:opl.change.testfiles)

;;; Which files are tests

(defparameter *families-with-tests* '(:script :python :go :java :rust :ruby :php :elixir :kotlin)
  "Families whose extractors recognise test cases: a file without any holds helpers.")

(defun test-file-p (index file)
  "Whether FILE holds tests, rather than helpers of tests."
  (let ((path (index-path index file)))
    (and (code-p index file)
         (not (string= (path-name path) "conftest.py"))
         (if (member (language-family (index-language index file)) *families-with-tests*)
             (and (plusp (test-count (index-run index file)))
                  (or (not (lone-test-name-p path)) (imports-tests-p index file)))
             (test-path-p path)))))

(defun lone-test-name-p (path)
  "Whether only the name `tests.py' or `test.py', which programs that are about tests have too, makes PATH a test."
  (let ((components (path-components path)))
    (and (member (first (last components)) '("tests.py" "test.py") :test #'string=)
         (notany (lambda (folder) (member (string-downcase folder) '("test" "tests" "testing") :test #'string=)) (butlast components)))))

(defun imports-tests-p (index file)
  "Whether FILE imports a Python test framework."
  (let ((run (index-run index file)))
    (loop for import below (import-count run)
          thereis (let ((module (name-string (index-names index) (import-module run import))))
                    (or (member module '("unittest" "pytest" "nose" "django.test" "rest_framework.test") :test #'string=)
                        (eql 0 (search "unittest." module)) (search ".test" module))))))

(defun test-files (index)
  "Numbers of the test files, in order of path."
  (memo (index :test-files)
    (let ((files '())) (do-files (file) (index) (when (test-file-p index file) (push file files))) (nreverse files))))

(defun test-table (index)
  "The numbers of the test files as keys of a table, kept with INDEX."
  (memo (index :test-table)
    (let ((table (make-hash-table))) (dolist (file (test-files index) table) (setf (gethash file table) t)))))

;;; Scores by file

(defun make-scores ()
  "An empty table from file number to a value in [0, 1]."
  (make-hash-table))
(defun raise-score (scores file value)
  "Makes VALUE the score of FILE unless it has a higher one."
  (setf (gethash file scores) (max value (gethash file scores 0.0))))
(defun add-score (scores file value)
  "Adds VALUE in [0, 1] to FILE as one more chance that it tells: 1 - (1-a)(1-b)."
  (let ((before (gethash file scores 0.0))) (setf (gethash file scores) (- 1.0 (* (- 1.0 before) (- 1.0 (min 0.95 value)))))))

(defun rarity (count total)
  "1 for what one test file mentions, towards 0 for what all do."
  (/ (log (+ 1.0 (/ total (max 1.0 (float count))))) (log (+ 1.0 total))))

;;; Files that stand for tests

(defconstant +companion-share+ 0.6 "How much what a companion of a test does says of the test itself.")

(defun map-tests-at (function index file)
  "Calls FUNCTION with each test that FILE is or stands for, and how much."
  (let ((tests (test-table index)))
    (if (gethash file tests)
        (funcall function file 1.0)
        (dolist (test (gethash file (companions index tests))) (funcall function test +companion-share+)))))
