;;;; Go: packages are directories, found by the module paths of go.mod; methods may stand in any file of their
;;;; type's package; embedded types lend their members; a type called is a conversion.

(defpackage #:opl.graph.families.go
  (:use #:cl #:opl.source.facts #:opl.graph.world #:opl.graph.family #:opl.graph.values #:opl.graph.types)
  (:import-from #:opl.source.names #:+none+ #:known #:find-name))
(in-package #:opl.graph.families.go)

(declaim (optimize (speed 1) (safety 1)))

;;; Packages

(defun clause-name (world file)
  "The name number of FILE's package clause, or nil."
  (do-marks (value more) ((world-run world file) (known "package")) (return value)))

(defun test-package-p (world name)
  "Whether NAME, of a package clause, is that of a package of tests beside the one of the directory."
  (let ((text (name-text world name))) (and (> (length text) 5) (string= "_test" text :start2 (- (length text) 5)))))

(defstruct table
  (names (make-hash-table) :type hash-table)       ; name -> tags of top-level definitions
  (methods (make-hash-table) :type hash-table))    ; type name, method name -> tags

(declaim (inline method-key))
(defun method-key (type name) (logior (ash type 32) name))

(defun package-tables (world directory)
  "The packages of DIRECTORY: list of (name number . table)."
  (remembered (world :go-packages directory)
    (let ((tables '()))
      (do-files-in-directory (file) (world directory)
        (let ((name (and (eq (world-family world file) :go) (world-run world file) (clause-name world file))))
          (when name
            (let ((entry (or (assoc name tables) (first (push (cons name (make-table)) tables)))))
              (add-file world file (cdr entry))))))
      (nreverse tables))))

(defun add-file (world file table)
  (let ((run (world-run world file)))
    (dotimes (def (def-count run))
      (when (and (zerop (def-scope run def)) (= (def-parent run def) +none+) (/= (def-kind run def) (known "method")))
        (push (make-tag file def) (gethash (def-name run def) (table-names table)))))
    (do-marks (type def) (run (known "receiver"))
      (push (make-tag file def) (gethash (method-key type (def-name run def)) (table-methods table))))))

(defun own-table (world file)
  "The table of FILE's own package, or nil."
  (let ((name (clause-name world file)))
    (and name (cdr (assoc name (package-tables world (directory-of (world-path world file))))))))

(defun imported-table (world directory)
  "The table of the package that importing DIRECTORY gives, or nil."
  (cdr (find-if-not (lambda (entry) (test-package-p world (car entry))) (package-tables world directory))))

(defun table-meaning (table name)
  (let ((tags (and table (gethash name (table-names table))))) (if (rest tags) (reverse tags) (first tags))))

;;; Imports

(defun modules (world)
  "The modules of the repository: list of (path . directory), the longest path first."
  (remembered (world :go-modules)
    (let ((found '()))
      (do-world-files (file) (world)
        (when (and (eq (world-family world file) :go-module) (world-run world file))
          (do-marks (value more) ((world-run world file) (known "module"))
            (push (cons (name-text world value) (directory-of (world-path world file))) found))))
      (sort found #'> :key (lambda (entry) (length (car entry)))))))

(defun join (directory rest) (if (string= directory "") rest (if (string= rest "") directory (format nil "~A/~A" directory rest))))

(defun directory-of-import (world path)
  "The directory that the import PATH leads to, or nil."
  (or (loop for (module . directory) in (modules world)
            for size = (length module)
            do (when (and (>= (length path) size) (string= module path :end2 size)
                          (or (= (length path) size) (char= (char path size) #\/)))
                 (return (join directory (subseq path (min (length path) (1+ size)))))))
      (let ((vendored (join "vendor" path))) (and (package-tables world vendored) vendored))
      (and (null (modules world)) (suffix-directory world path))))

(defun suffix-directory (world path)
  "Without a go.mod: the directory that the longest end of PATH names."
  (loop for slash = (position #\/ path) then (position #\/ path :start (1+ slash))
        while slash
        do (let ((rest (subseq path (1+ slash)))) (when (package-tables world rest) (return rest)))))

(defun import-module-of (world file import)
  (let* ((path (name-text world (import-module (world-run world file) import)))
         (directory (remembered (world :go-import path) (or (directory-of-import world path) :none))))
    (if (and (stringp directory) (imported-table world directory)) (cons :package directory) :external)))

(defun member-of-package (world package name) (table-meaning (imported-table world (value-name package)) name))

(defun outer-name-of (world file name mode)
  (declare (ignore mode))
  (or (table-meaning (own-table world file) name)
      (let ((run (world-run world file)))
        (dotimes (import (import-count run))
          (let ((star (logtest +star+ (import-flags run import))))
            (when (or star (not (logtest +side-effect+ (import-flags run import))))
              (let ((target (import-module-of world file import)))
                (when (consp target)
                  (let ((tables (package-tables world (cdr target))))
                    (cond (star
                           (let ((meaning (table-meaning (imported-table world (cdr target)) name)))
                             (when meaning (return meaning))))
                          ;; a package whose name is not the last part of its path
                          ((assoc name tables)
                           (return (make-value :package :name (cdr target) :file file)))))))))))))

;;; Members

(defun embedded-name (run node)
  "The name that the embedded type NODE has as a field."
  (loop repeat 6
        do (let ((op (node-op run node)))
             (cond ((= op +op-name+) (return (node-a run node)))
                   ((= op +op-member+) (return (node-b run node)))
                   ((or (= op +op-pointer+) (= op +op-apply+)) (setf node (node-a run node)))
                   (t (return nil))))))

(defun extra-members-of (world tag name)
  (let* ((file (tag-file tag)) (run (world-run world file)) (def (tag-def tag)))
    (append
     (and (zerop (def-scope run def))
          (let ((table (own-table world file)))
            (and table (gethash (method-key (def-name run def) name) (table-methods table)))))
     (dotimes (row (heritage-count run) '())
       (when (and (= (heritage-def run row) def) (eql name (embedded-name run (heritage-node run row))))
         (let ((tag (with-trail () (value-tag (type-value world file (heritage-node run row))))))
           (return (and tag (list tag)))))))))

(defun iterated-instance (world value)
  "What ranging over, or indexing, a value of a defined type gives: as its underlying type does."
  (let* ((file (value-file value)) (run (world-run world file)) (type (def-type run (value-ref value))))
    (and (= (def-kind run (value-ref value)) (known "type"))
         (element-value world (type-value world file type) nil))))

(defun accepts-p (world file site tag rule)
  "A type called is a conversion; a function value called by another name is a value."
  (declare (ignore file site))
  (let ((kind (tag-kind world tag)))
    (not (or (eq rule :alias) (class-kind-p kind) (= kind (known "alias")) (= kind (known "constant"))))))

(define-family :go
  :import-module #'import-module-of
  :outer-name #'outer-name-of
  :package-member #'member-of-package
  :extra-members #'extra-members-of
  :iterated #'iterated-instance
  :accepts #'accepts-p
  :guess nil)
