;;;; Languages in which a file is a module of its own: Zig, whose files are structs and imported by path, and OCaml, whose files are
;;;; modules called after them.

(defpackage #:opl.graph.families.file-modules
  (:use #:cl #:opl.source.facts #:opl.graph.world #:opl.graph.family #:opl.graph.values #:opl.graph.types)
  (:import-from #:opl.graph.families.declared #:outer-name-of #:accepts-p #:space-kind-p)
  (:import-from #:opl.graph.families.paths #:plain-path #:path-from)
  (:import-from #:opl.source.language #:path-name))
(in-package #:opl.graph.families.file-modules)
(declaim (optimize (speed 1) (safety 1)))

;;; Zig: a file is a struct, imported by its path

(defun zig-modules (world)
  "Stems of files to the one file that has it, or nil: build.zig names modules in code, mostly after their file."
  (remembered (world :zig-modules)
    (let ((table (make-hash-table :test 'equal)))
      (do-world-files (file) (world)
        (when (eq (world-family world file) :zig)
          (let* ((name (path-name (world-path world file))) (stem (subseq name 0 (position #\. name :from-end t))))
            (multiple-value-bind (old found) (gethash stem table)
              (declare (ignore old))
              (setf (gethash stem table) (if found nil file))))))
      table)))

(defun zig-file (world file import)
  (let ((text (name-text world (import-module (world-run world file) import))))
    (or (world-file-number world (plain-path (path-from (directory-of (world-path world file)) text)))
        (and (not (find #\. text)) (gethash text (zig-modules world)))
        :external)))

(define-family :zig
  :import-module #'zig-file
  :outer-name #'outer-name-of
  :accepts #'accepts-p
  :all-exported t :implicit-self t :file-types t :guess nil)

;;; OCaml: a file is a module, called after it

(defun ocaml-modules (world)
  "Names of modules to the file that is the module: the code before its interface; nil where several files have the name."
  (remembered (world :ocaml-modules)
    (let ((table (make-hash-table :test 'equal)))
      (do-world-files (file) (world)
        (when (eq (world-family world file) :ocaml)
          (let* ((name (path-name (world-path world file))) (dot (position #\. name))
                 (module (string-capitalize (subseq name 0 dot) :end (min 1 (or dot 0)))) (code-p (string= ".ml" (subseq name (or dot 0)))))
            (push (cons file code-p) (gethash module table)))))
      (maphash (lambda (module files)
                 (let ((code (remove-if-not #'cdr files)))
                   (setf (gethash module table) (let ((files (or code files))) (and (null (rest files)) (car (first files)))))))
               table)
      table)))

(defun ocaml-file (world file import)
  (or (gethash (name-text world (import-module (world-run world file) import)) (ocaml-modules world)) :external))

(defun opened-name (world file name)
  (let ((run (world-run world file)))
    (dotimes (import (import-count run))
      (let* ((target (import-file world file import)) (meaning (and (integerp target) (exported-meaning world target name))))
        (when meaning (return (values meaning :import)))))))

(defun ocaml-name (world file name mode)
  (let ((text (name-text world name)))
    (if (and (plusp (length text)) (upper-case-p (char text 0)))
        (let ((target (gethash text (ocaml-modules world)))
              (modules (remembered (world :ocaml-inner-modules name)
                         (let ((found '()))
                           (do-named (tag) (world name)
                             (when (and (eq (world-family world (tag-file tag)) :ocaml) (space-kind-p (tag-kind world tag))) (push tag found)))
                           found))))
          (cond (target (make-value :module :file target))
                ((and modules (null (rest modules))) (first modules))))
        (multiple-value-bind (meaning rule) (opened-name world file name)
          (if meaning (values meaning rule) (outer-name-of world file name mode))))))

(define-family :ocaml
  :import-module #'ocaml-file
  :outer-name #'ocaml-name
  :accepts #'accepts-p
  :all-exported t :guess nil)
