;;;; Loading: which tests load what changed. One that does not cannot run the change, whatever its words say.

(defpackage #:opl.change.loading
  (:use #:cl #:opl.index.store #:opl.change.imports #:opl.change.testfiles #:opl.change.reach)
  (:import-from #:opl.source.language #:language-family)
  (:export #:tests-that-load #:sure-files))
(in-package #:opl.change.loading)

(defparameter *families-that-import* '(:script :python :go)
  "Families in which a file reaches another only by loading it, so that a test which loads no changed file cannot run the change.")

(defun tests-that-load (index paths)
  "Table of the test files that load one of PATHS, directly or through others; nil when loading says nothing: a file of a language that
finds others by itself, or one that no test is seen to load."
  (let ((files (loop for path in paths for file = (index-file-number index path) when file collect file)) (table (make-hash-table)))
    (when (and files (loop for file in files always (member (language-family (index-language index file)) *families-that-import*)))
      (map-importing (lambda (test steps) (declare (ignore steps)) (setf (gethash test table) t)) index files (test-files index) :loaders)
      (and (plusp (hash-table-count table)) table))))

(defun sure-files (dependants)
  "Table of the files from which a call leads to the change that is more than possible."
  (let ((table (make-hash-table)))
    (dolist (dependant dependants table)
      (unless (eq (dependant-certainty dependant) :possible) (setf (gethash (dependant-file dependant) table) t)))))
