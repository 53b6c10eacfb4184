;;;; Languages whose functions share one space of names: shells, R, Julia, Lua, Perl, and a Lisp without packages. A name that the
;;;; file does not define is `likely' the one defined in the same folder, and `possible' when the only
;;;; definition of that name is elsewhere; what a sourced or required file defines is sure.

(defpackage #:opl.graph.families.global-names
  (:use #:cl #:opl.source.facts #:opl.graph.world #:opl.graph.family #:opl.graph.values #:opl.graph.types)
  (:import-from #:opl.graph.families.paths #:plain-path #:path-from)
  (:import-from #:opl.source.names #:+none+ #:known)
  (:export #:global-candidates #:outer-name-of))
(in-package #:opl.graph.families.global-names)
(declaim (optimize (speed 1) (safety 1)))

(defun global-p (world tag)
  (and (not (logtest +local+ (tag-flags world tag)))
       (let ((kind (tag-kind world tag)))
         (or (function-kind-p kind) (class-kind-p kind)))
       (let ((parent (tag-parent world tag)))
         (or (null parent)
             (let ((kind (tag-kind world parent)))
               (or (= kind (known "module")) (= kind (known "namespace"))))))))

(defun global-candidates (world file name)
  "The definitions of NAME that are seen all over, in FILE's family."
  (let ((family (world-family world file)))
    (remembered (world :global-names family name)
      (let ((found '()))
        (do-named (tag) (world name)
          (when (and (eq family (world-family world (tag-file tag))) (global-p world tag)) (push tag found)))
        (nreverse found)))))

(defun read-files (world file)
  "Files that FILE sources or includes."
  (remembered (world :sourced file)
    (let ((run (world-run world file)))
      (loop for import below (import-count run)
            for target = (import-file world file import)
            when (integerp target) collect target))))

(defun outer-name-of (world file name mode &optional (found (global-candidates world file name)))
  "The definition of NAME that is seen all over, among FOUND."
  (declare (ignore mode))
  (let* ((sourced (and found (read-files world file)))
         (read (remove-if-not (lambda (tag) (member (tag-file tag) sourced)) found))
         (directory (directory-of (world-path world file)))
         (near (remove-if-not (lambda (tag) (string= directory (directory-of (world-path world (tag-file tag))))) found)))
    (cond ((null found) nil)
          ((and read (null (rest read))) (values (first read) :import))
          ((and near (null (rest near))) (values (first near) :same-directory))
          ((null (rest found)) (values (first found) :unique)))))

;;; Where imports lead

(defun first-file (world paths) (loop for path in paths thereis (world-file-number world (plain-path path))))

(defun module-text (world file import) (name-text world (import-module (world-run world file) import)))

(defun sourced-file (world file import)
  "A path as a shell, R or Julia reads it: from the file's folder or the root."
  (let ((text (module-text world file import)))
    (or (first-file world (list (path-from (directory-of (world-path world file)) text) text)) :external)))

(defun lua-module (world file import)
  (let* ((stem (substitute #\/ #\. (module-text world file import))) (directory (directory-of (world-path world file))))
    (or (first-file world (loop for root in (list "" "lua/" "src/" "lib/" (concatenate 'string directory "/"))
                                append (list (concatenate 'string root stem ".lua") (concatenate 'string root stem "/init.lua"))))
        :external)))

(defun lua-exported (world file name)
  "The function NAME that FILE, a module, puts into the table it returns."
  (let ((run (world-run world file)) (found nil))
    (do-named (tag) (world name)
      (when (and (= (tag-file tag) file) (function-kind-p (tag-kind world tag)) (not (logtest +local+ (tag-flags world tag))))
        (let ((parent (def-parent run (tag-def tag))))
          (when (or (= parent +none+) (= (def-kind run parent) (known "variable"))) (setf found tag)))))
    found))

(defun perl-module (world file import)
  (let ((path (with-output-to-string (out)
                (loop with text = (module-text world file import)
                      for i from 0 below (length text)
                      do (if (char= (char text i) #\:) (when (char= (char text (1- i)) #\:) (write-char #\/ out)) (write-char (char text i) out))))))
    (or (first-file world (list (concatenate 'string "lib/" path ".pm") (concatenate 'string path ".pm"))) :external)))

(defun perl-name (world file name mode)
  "A package, or a function of the repository."
  (let ((packages '()))
    (do-named (tag) (world name)
      (when (= (tag-kind world tag) (known "package")) (push tag packages)))
    (if packages (car (last packages)) (outer-name-of world file name mode))))

;;; Packages of R and Julia: what stands in R/ or src/ is seen by all of the package, its tests among them

(defparameter *package-folders* '("R" "src" "ext" "test" "tests" "docs" "doc" "bench" "benchmark" "examples" "inst" "vignettes" "data-raw")
  "Folders right in a package.")

(defun package-root (path)
  "The folder of the package that the file PATH is in, with its slash; empty at the root."
  (loop for start = 0 then (1+ slash)
        for slash = (position #\/ path :start start)
        while slash
        do (when (member (subseq path start slash) *package-folders* :test #'string=) (return (subseq path 0 start)))
        finally (return (subseq path 0 start))))

(defun in-package-p (world root tag)
  (let ((path (world-path world (tag-file tag))))
    (loop for folder in '("R/" "src/")
            thereis (let ((start (concatenate 'string root folder))) (eql (mismatch start path) (length start))))))

(defun extends-other-p (world tag)
  "Whether TAG is written as a method of another module's function, Base.show(…): the bare name means that one."
  (do-marks (value more) ((world-run world (tag-file tag)) (known "extends"))
    (when (= more (tag-def tag)) (return (null (module-tag world (tag-file tag) (name-text world value)))))))

(defun module-tag (world file text)
  "The module called TEXT of FILE's family, or nil."
  (let ((family (world-family world file)))
    (remembered (world :module-tag family text)
      (let ((found nil) (name (opl.source.names:find-name (world-names world) text)))
        (when name
          (do-named (tag) (world name)
            (when (and (null found) (eq family (world-family world (tag-file tag))) (= (tag-kind world tag) (known "module")))
              (setf found tag))))
        found))))

(defun package-names (world file root name)
  "Definitions of NAME in the package at ROOT, of the languages of FILE's family."
  (remove-if-not (lambda (tag) (and (in-package-p world root tag) (not (extends-other-p world tag)))) (global-candidates world file name)))

(defun packaged-name (world file name mode)
  (let ((own (package-names world file (package-root (world-path world file)) name)))
    (cond (own (values (if (rest own) own (first own)) :package))
          ((module-tag world file (name-text world name)) (make-value :package :name (name-text world name) :file file))
          ((some (lambda (tag) (extends-other-p world tag)) (global-candidates world file name)) nil)
          (t (outer-name-of world file name mode)))))

(defun packaged-member (world package name)
  "NAME in the module that PACKAGE names: in the package whose file defines it."
  (let* ((module (module-tag world (value-file package) (value-name package)))
         (own (and module (package-names world (value-file package) (package-root (world-path world (tag-file module))) name))))
    (cond ((null own) *external*) ((rest own) own) (t (first own)))))

(defconstant +methods+ 12 "Methods of one name that a call may all mean; more say nothing.")

(defun all-methods (world file site tags)
  (declare (ignore world file site))
  (and (<= (length tags) +methods+) (values tags t)))

(defun macro-call-name (world tag)
  "Macros of Julia are called with an @ before their name."
  (and (= (tag-kind world tag) (known "macro"))
       (let ((name (opl.source.names:find-name (world-names world) (concatenate 'string "@" (name-text world (tag-name world tag)))))) (and name (list name)))))

(define-family :shell
  :import-module #'sourced-file :outer-name #'outer-name-of :guess nil)
(define-family (:r :julia)
  :import-module #'sourced-file :outer-name #'packaged-name :package-member #'packaged-member :select #'all-methods
  :called-as #'macro-call-name :guess nil)
(define-family :lua
  :import-module #'lua-module :exported #'lua-exported :outer-name #'outer-name-of)
(define-family :perl
  :import-module #'perl-module :outer-name #'perl-name :implicit-self t :linear t :rebinds t
  :builtin-names '("new" "get" "set" "print" "close" "open" "push" "keys" "values" "name" "run" "add" "param" "can" "isa"))
