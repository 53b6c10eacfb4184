;;;; Imports turned round: who imports a file, and what runs when a file is loaded.

(defpackage #:opl.change.imports
  (:use #:cl #:opl.index.store #:opl.source.facts)
  (:import-from #:opl.source.names #:+none+ #:name-string)
  (:import-from #:opl.source.language #:language-family #:path-name)
  (:import-from #:opl.graph.world #:world-of #:remembered)
  (:import-from #:opl.graph.types #:import-file)
  (:export #:importers #:loaders #:map-importing #:path-places #:companions))
(in-package #:opl.change.imports)

(defun folder-of (path) (subseq path 0 (or (position #\/ path :from-end t) 0)))
(defun folder-above (folder) (folder-of folder))

(defun go-test-path-p (path)
  (let ((start (- (length path) 8))) (and (plusp start) (string= "_test.go" path :start2 start))))

(defun import-targets (index to)
  "The files that an import which leads to TO reaches: one, or those of a package."
  (cond ((integerp to) (list to))
        ((and (consp to) (eq (car to) :package))
         (let ((package (cdr to)))
           (cond ((stringp package)
                  (let ((files '())) (do-files-in-directory (each) (index package) (push each files)) files))
                 ;; Rust: a path that FILE, or a crate by name, begins, and that ends in no module
                 ((and (consp package) (atom (cdr package))) '())
                 ((and (consp package) (every #'integerp package)) package))))))

(defun fixture-files (index path)
  "The conftest.py of PATH's folder and of those above, which pytest loads for it."
  (loop for folder = (folder-of path) then (folder-above folder)
        for file = (index-file-number index (if (string= folder "") "conftest.py" (concatenate 'string folder "/conftest.py")))
        when (and file (string/= path (index-path index file))) collect file
        until (string= folder "")))

(defun imported-module (index run import entry)
  "The module that `from package import name' loads when NAME is one of the package whose __init__.py is at ENTRY, or nil."
  (let ((name (import-name run import)))
    (when (and (/= name +none+) (string= (path-name entry) "__init__.py"))
      (let ((start (format nil "~A/~A" (folder-of entry) (name-string (index-names index) name))))
        (or (index-file-number index (concatenate 'string start ".py"))
            (index-file-number index (concatenate 'string start "/__init__.py")))))))

(defun importers (index)
  "Table from a file number to the numbers of the files that import it: in so many words, as a Go test does its package, or as
pytest does for a test."
  (memo (index :importers)
    (let ((world (world-of index)))
      (let ((table (make-hash-table)))
        (do-files (file) (index)
          (let ((run (index-run index file)) (path (index-path index file)))
            (flet ((note (target) (unless (= target file) (pushnew file (gethash target table)))))
              (when (go-test-path-p path)
                (do-files-in-directory (other) (index (folder-of path))
                  (unless (go-test-path-p (index-path index other)) (note other))))
              (when (and (eq (language-family (index-language index file)) :python) (plusp (test-count run)))
                (mapc #'note (fixture-files index path)))
              (dotimes (import (import-count run))
                (let ((targets (import-targets index (ignore-errors (import-file world file import)))))
                  (mapc #'note targets)
                  (dolist (target targets)
                    (let ((module (imported-module index run import (index-path index target)))) (when module (note module)))))))))
        table))))

(defun package-entries (index path)
  "The __init__.py of the packages that the Python module at PATH lies in: loading it loads these first."
  (loop for folder = (folder-of path) then (folder-above folder)
        for file = (and (string/= folder "") (index-file-number index (concatenate 'string folder "/__init__.py")))
        while file
        unless (string= path (index-path index file)) collect file))

(defun loaders (index)
  "Table as `importers', of the files that load a file when they are loaded: a Python module's package's entry too."
  (memo (index :loaders)
    (let ((importers (importers index)))
      (let ((table (make-hash-table)))
        (maphash (lambda (file those) (setf (gethash file table) (copy-list those))) importers)
        (maphash (lambda (file those)
                   (when (eq (language-family (index-language index file)) :python)
                     (dolist (entry (package-entries index (index-path index file)))
                       (dolist (importer those)
                         (unless (= importer entry) (pushnew importer (gethash entry table)))))))
                 importers)
        table))))

(defun path-places (index)
  "By file number: where the file stands in the order of paths."
  (memo (index :path-places)
    (let ((places (make-array (index-file-count index) :initial-element 0)) (next 0))
      (do-files (each) (index) (setf (svref places each) (incf next)))
      places)))

(defconstant +far+ 255 "The distance of what does not import a file.")

(defun distances-to (index file table kind)
  "Octets: by file number, how many steps of TABLE, which is called KIND, lie between it and FILE. Found once an index."
  (let ((world (world-of index)))
    (remembered (world :distances kind file)
      (let ((distances (make-array (index-file-count index) :element-type '(unsigned-byte 8) :initial-element +far+)))
        (maphash (lambda (from steps) (setf (aref distances from) (min steps (1- +far+)))) (import-distances index (list file) table))
        distances))))

(defun map-importing (function index files tests &optional (kind :importers))
  "Calls FUNCTION with each of TESTS that imports one of FILES, directly or through others, and in how many steps; KIND :loaders: that
loads one."
  (let* ((table (if (eq kind :loaders) (loaders index) (importers index)))
         (all (loop for file in files collect (distances-to index file table kind))))
    (when all
      (dolist (test tests)
        (let ((least +far+))
          (dolist (distances all) (setf least (min least (aref (the (simple-array (unsigned-byte 8) (*)) distances) test))))
          (when (< least +far+) (funcall function test least)))))))

(defun import-distances (index files &optional (table (importers index)))
  "Table from file number to how many steps of TABLE lie between it and the nearest of FILES, which are at 0."
  (let ((distances (make-hash-table)) (queue files))
    (dolist (file files) (setf (gethash file distances) 0))
    (loop while queue
          do (let ((next '()))
               (dolist (file queue)
                 (dolist (importer (gethash file table))
                   (unless (gethash importer distances)
                     (setf (gethash importer distances) (1+ (gethash file distances)))
                     (push importer next))))
               (setf queue (nreverse next))))
    distances))

(defconstant +companion-tests+ 3 "A file that more tests than these load is a part of the program, not of one test.")
(defconstant +companion-walk+ 60 "Files that load a file beyond which it is not asked which of them are tests.")
(defconstant +companion-depth+ 3)

(defun few-tests-p (file importers tests)
  "Whether at most `+companion-tests+' of TESTS load FILE by the table IMPORTERS, however many files lie between."
  (let ((seen (list file)) (queue (list file)) (count 0))
    (loop while queue
          do (dolist (importer (gethash (pop queue) importers))
               (unless (member importer seen)
                 (push importer seen)
                 (cond ((not (gethash importer tests)) (setf queue (append queue (list importer))))
                       ((> (incf count) +companion-tests+) (return-from few-tests-p nil)))
                 (when (> (length seen) +companion-walk+) (return-from few-tests-p nil)))))
    t))

(defun companions (index tests)
  "Table from the number of a file that only few of TESTS (a table by file) load to these: the example, the fixture or the helper
through which a test exercises the program, which stands for the test."
  (memo (index :companions)
    (let ((importers (importers index)) (imports (make-hash-table)) (few (make-hash-table)) (table (make-hash-table)))
      (maphash (lambda (file those) (dolist (each those) (push file (gethash each imports)))) importers)
      (flet ((few-p (file)
               (multiple-value-bind (answer found) (gethash file few)
                 (if found answer (setf (gethash file few) (few-tests-p file importers tests))))))
        (loop for test being the hash-keys of tests
              do (let ((front (list test)) (seen (list test)))
                   (loop repeat +companion-depth+
                         do (setf front (loop for file in front
                                              append (loop for target in (gethash file imports)
                                                           unless (or (member target seen) (gethash target tests) (not (few-p target)))
                                                             do (push target seen) and collect target))))
                   (dolist (file seen) (unless (= file test) (push test (gethash file table)))))))
      table)))
