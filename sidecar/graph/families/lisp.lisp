;;;; Lisps for the graph. Common Lisp: what a name means in a package, through what that imports and uses. Clojure: namespaces,
;;;; which are files, with their aliases. Emacs Lisp: one space of names for all. Scheme: the files that are loaded or required.

(defpackage #:opl.graph.families.lisp
  (:use #:cl #:opl.source.facts #:opl.graph.world #:opl.graph.family #:opl.graph.values #:opl.graph.types)
  (:import-from #:opl.graph.families.global-names #:global-candidates #:outer-name-of)
  (:import-from #:opl.graph.families.paths #:plain-path #:path-from)
  (:import-from #:opl.source.language #:path-name #:extension-of)
  (:import-from #:opl.source.names #:known))
(in-package #:opl.graph.families.lisp)
(declaim (optimize (speed 1) (safety 1)))

(defun lisp-p (world file) (eq (world-family world file) :lisp))
(defun text-before (text) (subseq text 0 (position #\Space text)))
(defun text-after (text) (let ((at (position #\Space text))) (if at (subseq text (1+ at)) "")))

;;; Packages

(defstruct package-facts
  name file
  (uses '()) (exports (make-hash-table)) (imports (make-hash-table :test 'equal)) (nicknames (make-hash-table :test 'equal))) ; numbers of names; name -> package; nickname -> package

(defun read-package (world file def)
  (let* ((run (world-run world file)) (facts (make-package-facts :name (name-text world (def-name run def)) :file file)))
    (flet ((each (key function) (do-marks (value more) (run key) (when (= more def) (funcall function (name-text world value))))))
      (each (known "uses") (lambda (name) (push name (package-facts-uses facts))))
      (each (known "imports-from")
            (lambda (text) (setf (gethash (text-after text) (package-facts-imports facts)) (text-before text))))
      (each (known "local-nickname")
            (lambda (text) (setf (gethash (text-before text) (package-facts-nicknames facts)) (text-after text))))
      (do-marks (value more) (run (known "exports")) (when (= more def) (setf (gethash value (package-facts-exports facts)) t))))
    (setf (package-facts-uses facts) (reverse (package-facts-uses facts)))
    facts))

(defun packages (world)
  "Names and nicknames of packages to what is known of them."
  (remembered (world :lisp-packages)
    (let ((table (make-hash-table :test 'equal)))
      (do-world-files (file) (world)
        (when (lisp-p world file)
          (let ((run (world-run world file)))
            (dotimes (def (def-count run))
              (when (= (def-kind run def) (known "package"))
                (let ((facts (read-package world file def)))
                  (unless (gethash (package-facts-name facts) table)
                    (setf (gethash (package-facts-name facts) table) facts)
                    (do-marks (value more) (run (known "nickname"))
                      (when (and (= more def) (not (gethash (name-text world value) table)))
                        (setf (gethash (name-text world value) table) facts))))))))))
      table)))

(defun package-of-file (world file)
  "The name of the package that FILE is in, or nil."
  (do-marks (value more) ((world-run world file) (known "package")) (return (name-text world value))))

(defun packages-of-files (world)
  "By file: the package it is in, as `packages' knows it, or its name."
  (remembered (world :lisp-packages-of-files)
    (let ((places (make-array (world-file-count world) :initial-element nil)))
      (do-world-files (file) (world)
        (when (lisp-p world file)
          (let ((name (package-of-file world file)))
            (setf (svref places file) (and name (or (gethash name (packages world)) name))))))
      places)))

(defun defined-in (world package name)
  "Definitions of NAME, a number, in the files of PACKAGE, facts or a name."
  (let ((places (packages-of-files world)))
    (remove-if-not (lambda (tag) (equalp-package package (svref places (tag-file tag)))) (functions-called world name))))

(defun functions-called (world name)
  (remembered (world :lisp-functions name)
    (let ((found '()))
      (do-named (tag) (world name)
        (when (and (lisp-p world (tag-file tag)) (function-tag-p world tag)) (push tag found)))
      (nreverse found))))

(defun equalp-package (a b)
  (or (eq a b) (and (stringp a) (stringp b) (string= a b))))

(defun function-tag-p (world tag)
  "Whether a call of TAG's name means TAG: the functions of a structure and of a class are among its definitions."
  (let ((kind (tag-kind world tag)) (flags (tag-flags world tag)))
    (and (not (logtest +local+ flags))
         (or (function-kind-p kind) (class-kind-p kind) (= kind (known "macro")) (and (= kind (known "field")) (logtest +exported+ flags))))))

(defun exported-p (package name)
  "Whether those who use PACKAGE see NAME; one that exports nothing here may do so elsewhere."
  (let ((exports (package-facts-exports package))) (or (zerop (hash-table-count exports)) (gethash name exports))))

(defun found-in (world package name &optional seen)
  "The definitions that NAME, a number, stands for in PACKAGE: its own, what it imports, what the packages it uses define."
  (or (defined-in world package name)
      (and (package-facts-p package) (not (member package seen))
           (let ((from (gethash (name-text world name) (package-facts-imports package))) (seen (cons package seen)))
             (flet ((found (name-of-package used)
                      (let ((other (gethash name-of-package (packages world))))
                        (and other (or (not used) (exported-p other name)) (found-in world other name seen)))))
               (if from
                   (found from nil)
                   (loop for used in (package-facts-uses package) thereis (found used t))))))))

(defun package-called (world file name)
  "The package that NAME, a text, stands for in FILE, or nil."
  (let* ((own (svref (packages-of-files world) file))
         (nicknamed (and (package-facts-p own) (gethash name (package-facts-nicknames own)))))
    (gethash (or nicknamed name) (packages world))))

(defun one-or-all (tags) (if (rest tags) tags (first tags)))

;;; Namespaces and other modules

(defun stem-of (path) (let ((name (path-name path))) (subseq name 0 (position #\. name :from-end t))))

(defun namespaces (world)
  "Names of namespaces of Clojure, of packages, and of files of Emacs Lisp to files."
  (remembered (world :lisp-namespaces)
    (let ((table (make-hash-table :test 'equal)))
      (flet ((note (name file) (unless (gethash name table) (setf (gethash name table) file))))
        (do-world-files (file) (world)
          (when (lisp-p world file)
            (let ((run (world-run world file)))
              (dotimes (def (def-count run))
                (when (member (def-kind run def) '(#.(known "namespace") #.(known "package")))
                  (note (name-text world (def-name run def)) file))))
            (when (equal (extension-of (world-path world file)) "el") (note (stem-of (world-path world file)) file)))))
      table)))

(defparameter *scheme-endings* '("" ".scm" ".sld" ".sls" ".ss" ".rkt" ".lisp" ".el" ".clj"))

(defun import-module-of (world file import)
  (let* ((text (name-text world (import-module (world-run world file) import))) (directory (directory-of (world-path world file))))
    (or (gethash text (namespaces world))
        (loop for ending in *scheme-endings*
              for path = (concatenate 'string text ending)
                thereis (or (world-file-number world (plain-path (path-from directory path))) (world-file-number world (plain-path path))))
        :external)))

;;; Names

(defun dialect (world file)
  "The Lisp that FILE is written in, by its ending."
  (let ((extension (extension-of (world-path world file))))
    (cond ((member extension '("clj" "cljs" "cljc" "bb" "edn") :test #'equal) :clojure)
          ((equal extension "el") :emacs)
          ((equal extension "rkt") :racket)
          ((member extension '("scm" "ss" "sld" "sls") :test #'equal) :scheme)
          (t :common))))

(defun shared-name (world file name)
  "What NAME means where files share one space of names: in Emacs Lisp all of them do."
  (let* ((dialect (dialect world file))
         (found (remove-if-not (lambda (tag) (eq dialect (dialect world (tag-file tag)))) (global-candidates world file name))))
    (if (and found (null (rest found)) (eq dialect :emacs))
        (values (first found) :linked)
        (outer-name-of world file name :expression found))))

(defun starred-name (world file name)
  "What a namespace that FILE takes over as a whole defines as NAME."
  (let ((run (world-run world file)))
    (dotimes (import (import-count run))
      (when (logtest +star+ (import-flags run import))
        (let* ((target (import-file world file import)) (meaning (and (integerp target) (exported-meaning world target name))))
          (when meaning (return meaning)))))))

(defun outer-meaning-of (world file name mode)
  "What NAME, bound nowhere in FILE, means."
  (declare (ignore mode))
  (let ((own (svref (packages-of-files world) file)) (dialect (dialect world file)))
    (cond ((eq dialect :clojure)
           (or (starred-name world file name)
               (let ((target (gethash (name-text world name) (namespaces world)))) (and target (make-value :module :file target)))))
          ((eq dialect :emacs) (shared-name world file name))
          ((find-package-value world file name))
          (own
           (let ((found (found-in world own name)))
             ;; what a package that is known neither has nor takes from another is from outside
             (cond (found (one-or-all found))
                   ((package-facts-p own) nil)
                   (t (shared-name world file name)))))
          (t (shared-name world file name)))))

(defun find-package-value (world file name)
  "The package called NAME as what stands before a colon; only where no definition bears the name."
  (let ((package (package-called world file (name-text world name))))
    (and package
         (null (found-in world (svref (packages-of-files world) file) name))
         (make-value :package :name (package-facts-name package) :file file))))

(defun package-member-of (world value name)
  (let ((package (gethash (value-name value) (packages world))))
    (or (and package (one-or-all (found-in world package name))) *external*)))

(defun generic-first (world file site tags)
  "Of definitions of one name: what is no method; all methods when there is nothing else."
  (declare (ignore file site))
  (let ((other (find-if-not (lambda (tag) (= (tag-kind world tag) (known "method"))) tags)))
    (if other (list other) (values tags t))))

(define-family :lisp
  :import-module #'import-module-of :outer-name #'outer-meaning-of :package-member #'package-member-of :select #'generic-first
  :all-exported t :guess nil)
