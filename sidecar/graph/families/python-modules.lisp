;;;; Where Python's imports lead: modules and packages by dotted name (src/ layouts, relative imports), and what a package's
;;;; __init__ lends on.

(defpackage #:opl.graph.families.python-modules
  (:use #:cl #:opl.source.facts #:opl.graph.world #:opl.graph.family #:opl.graph.values #:opl.graph.types)
  (:import-from #:opl.source.names #:+none+ #:known #:find-name)
  (:export #:join #:import-module-of #:lent #:member-of-package #:outer-name-of))
(in-package #:opl.graph.families.python-modules)
(declaim (optimize (speed 1) (safety 1)))

;;; Modules: dotted name -> list of (file . folder that the name counts from)

(defun python-path-p (path)
  (let ((dot (position #\. path :from-end t)))
    (and dot (or (string= ".py" path :start2 dot) (string= ".pyi" path :start2 dot)) dot)))

(defun join (folder name)
  "The path of NAME in FOLDER; \"\" is the root."
  (if (string= folder "") name (concatenate 'string folder "/" name)))

(defun package-p (world folder)
  "Whether FOLDER has an __init__."
  (or (world-file-number world (join folder "__init__.py")) (world-file-number world (join folder "__init__.pyi"))))

(defun module-names (world path dot)
  "The names under which the module at PATH, whose extension begins at DOT, may be imported: (name . folder)."
  (let* ((stem (subseq path 0 dot)) (folder (directory-of path)) (found '())
         (init (string= "__init__" (subseq stem (if (string= folder "") 0 (1+ (length folder))))))
         (module (if init folder stem)) (root (if init (directory-of folder) folder)))
    (loop while (and (string/= root "") (package-p world root)) do (setf root (directory-of root)))
    (when (string= module "") (return-from module-names '()))
    ;; from the folder that holds the outermost package on, and from those above it: packages without __init__
    (loop (push (cons (substitute #\. #\/ (if (string= root "") module (subseq module (1+ (length root))))) root) found)
          (when (string= root "") (return (nreverse found)))
          (setf root (directory-of root)))))

(defun modules (world)
  (remembered (world :python-modules)
    (let ((table (make-hash-table :test 'equal)))
      (do-world-files (file) (world)
        (let* ((path (world-path world file)) (dot (and (world-run world file) (python-path-p path))))
          (when dot
            (loop for (name . root) in (module-names world path dot)
                  do (push (cons file root) (gethash name table))))))
      (maphash (lambda (name list) (setf (gethash name table) (nreverse list))) table)
      table)))

(defun within-p (folder path)
  "Whether PATH lies in FOLDER or deeper."
  (or (string= folder "")
      (and (> (length path) (length folder)) (char= (char path (length folder)) #\/)
           (string= folder path :end2 (length folder)))))

(defparameter *source-folders* '("src" "lib" "python" "python3")
  "Folders that setuptools, poetry and hatch put on the path by convention.")

(defun folder-name (folder) (subseq folder (1+ (or (position #\/ folder :from-end t) -1))))

(defun on-path-rank (world root path entry)
  "How likely the folder ROOT is on the path of modules for the file at PATH; nil: not at all."
  (cond ((and (string/= root "") (within-p root path)) (+ 10 (length root)))
        ((member (folder-name root) *source-folders* :test #'string=) 8)
        ((string= root "") 7)
        ((or (world-file-number world (join root "setup.py")) (world-file-number world (join root "pyproject.toml"))) 6)
        ((string= "__init__" (let ((name (folder-name (world-path world (car entry))))) (subseq name 0 (min 8 (length name))))) 3)
        ((package-p world (directory-of (world-path world (car entry)))) 2)))

(defun module-file (world path name)
  "The file of module NAME as the file at PATH would import it, or nil."
  (let ((best nil) (best-rank 0))
    (dolist (entry (gethash name (modules world)) best)
      (let ((rank (on-path-rank world (cdr entry) path entry)))
        (when (and rank (> rank best-rank)) (setf best (car entry) best-rank rank))))))

(defun submodule (world folder name)
  "The module NAME in FOLDER: its file, a folder of modules as (:package . folder), or nil."
  (let ((stem (join folder name)))
    (or (world-file-number world (concatenate 'string stem ".py"))
        (package-p world stem)
        (world-file-number world (concatenate 'string stem ".pyi"))
        (and (files-in-directory world stem) (cons :package stem)))))

(defun relative-module (world path dots rest)
  "The module REST (dotted, may be empty) DOTS up from the file at PATH."
  (let ((folder (directory-of path)))
    (loop repeat (1- dots)
          do (when (string= folder "") (return-from relative-module nil))
             (setf folder (directory-of folder)))
    (if (string= rest "")
        (or (package-p world folder) (cons :package folder))
        (let ((stem (substitute #\/ #\. rest)))
          (submodule world (if (position #\/ stem) (join folder (directory-of stem)) folder) (folder-name stem))))))

(defparameter *typing-modules*
  '("typing" "typing_extensions" "collections" "collections.abc" "contextlib" "contextvars" "builtins" "_typeshed" "queue" "asyncio"
    "weakref" "copy" "functools" "itertools" "dataclasses" "concurrent.futures" "multiprocessing" "types")
  "Modules of the standard library whose generic types and functions the evaluator knows.")

(defun import-module-of (world file import)
  "What the module named by the row IMPORT of FILE is in the repository; nil for a row that names none."
  (let* ((run (world-run world file)) (module (import-module run import)))
    (if (= module +none+)
        nil
        (module-target world file (name-text world module)))))

(defun module-target (world file text)
  (let* ((path (world-path world file)) (dots (or (position #\. text :test-not #'char=) (length text))))
    (if (plusp dots)
        (relative-module world path dots (remove #\Space (subseq text dots)))
        (or (module-file world path text)
            (if (member text *typing-modules* :test #'string=) (cons :package "typing") :external)))))

;;; Names that a module lends on

(defvar *lending* '() "Files whose `import *' are being followed.")

(defun star-modules (world file)
  "Files from which FILE imports everything."
  (remembered (world :python-stars file)
    (let ((run (world-run world file)) (found '()))
      (dotimes (import (import-count run) (nreverse found))
        (when (logtest +star+ (import-flags run import))
          (let ((target (import-file world file import))) (when (integerp target) (push target found))))))))

(defun from-stars (world file name)
  (unless (member file *lending*)
    (let ((*lending* (cons file *lending*)))
      (dolist (target (star-modules world file))
        (let ((meaning (exported-meaning world target name))) (when meaning (return meaning)))))))

(defun module-or-package (target)
  (cond ((integerp target) (make-value :module :file target))
        ((consp target) (make-value :package :name (cdr target) :file nil))))

(defun lent (world file name)
  "What NAME is in FILE though FILE does not define it: from a star import, or a submodule when FILE is an __init__.py."
  (or (from-stars world file name)
      (let ((path (world-path world file)))
        (when (search "__init__.py" path :from-end t)
          (module-or-package (submodule world (directory-of path) (name-text world name)))))))

(defun member-of-package (world package name)
  "What NAME is in PACKAGE, a value of kind :package, or nil."
  (let ((folder (value-name package)))
    (cond
      ((consp folder) nil)
      ((equal folder "typing")
       (if (gethash name (function-names world))
           (make-value :package :name (cons :function (name-text world name)) :file (value-file package))
           (make-value :builtin :file :python :name name)))
      (t (module-or-package (submodule world folder (name-text world name)))))))

;;; Functions that every module knows

(defparameter *functions*
  '("next" "iter" "list" "sorted" "reversed" "tuple" "set" "frozenset" "enumerate" "zip" "filter" "type" "min" "max" "dict"
    "copy" "deepcopy" "replace" "partial" "chain" "closing" "aclosing" "nullcontext" "wait_for" "create_task" "ensure_future" "shield")
  "Functions of Python and its library whose result follows from their arguments.")
(defparameter *own-functions* 15 "How many of them need no import.")

(defun outer-name-of (world file name mode)
  "What NAME, unbound in FILE, stands for: from a star import or, where MODE is :expression, a builtin; else nil."
  (or (from-stars world file name)
      (and (eq mode :expression)
           (< (the fixnum (gethash name (function-names world) *own-functions*)) *own-functions*)
           (make-value :package :name (cons :function (name-text world name)) :file file))))

(defun function-names (world)
  (remembered (world :python-functions)
    (let ((table (make-hash-table)))
      (loop for text in *functions* for i from 0
            do (let ((name (find-name (world-names world) text))) (when name (setf (gethash name table) i))))
      table)))
