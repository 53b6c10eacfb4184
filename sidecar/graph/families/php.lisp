;;;; PHP for the graph: classes and functions by their qualified names, read through namespaces and `use'.

(defpackage #:opl.graph.families.php
  (:use #:cl #:opl.source.facts #:opl.graph.world #:opl.graph.family #:opl.graph.values #:opl.graph.types)
  (:import-from #:opl.graph.families.paths #:plain-path #:path-from)
  (:import-from #:opl.source.names #:+none+ #:known))
(in-package #:opl.graph.families.php)
(declaim (optimize (speed 1) (safety 1)))

(defun namespace-at (world run def)
  "The namespace, as text, that definition DEF of RUN stands in."
  (let ((found ""))
    (do-marks (value more) (run (known "namespace"))
      (when (<= more def) (setf found (if (= value +none+) "" (name-text world value)))))
    found))

(defun qualified (namespace name)
  (if (string= namespace "") name (concatenate 'string namespace "\\" name)))

(defun declarations (world)
  "Qualified names to tags; functions under their name with `()' after it; namespaces to :namespace."
  (remembered (world :php-declarations)
    (let ((table (make-hash-table :test 'equal)))
      (do-world-files (file) (world)
        (let ((run (world-run world file)))
          (when (and run (eq (world-family world file) :php))
            (dotimes (def (def-count run))
              (let ((kind (def-kind run def)))
                (when (and (or (class-kind-p kind) (= kind (known "function")))
                           (not (logtest +local+ (def-flags run def))))
                  (let* ((namespace (namespace-at world run def)) (name (qualified namespace (name-text world (def-name run def))))
                         (key (if (= kind (known "function")) (concatenate 'string name "()") name)))
                    (unless (gethash key table) (setf (gethash key table) (make-tag file def)))
                    (unless (string= namespace "")
                      (setf (gethash (concatenate 'string namespace "\\") table) :namespace)))))))))
      table)))

(defun declared (world name mode)
  "The class, or when MODE is :expression else the function, called NAME (qualified, without a first `\\')."
  (let ((table (declarations world)))
    (or (gethash name table)
        (and (eq mode :expression) (gethash (concatenate 'string name "()") table)))))

;;; Imports

(defun path-of-inclusion (world file text)
  (or (world-file-number world (path-from (directory-of (world-path world file)) text))
      (world-file-number world (plain-path text))))

(defun import-module-of (world file import)
  (let* ((run (world-run world file)) (text (name-text world (import-module run import))))
    (if (logtest +side-effect+ (import-flags run import))
        (or (path-of-inclusion world file text) :external)
        (cons :package text))))

(defun member-of-package (world package name)
  (declare (ignore name))
  (let ((text (value-name package)))
    (or (declared world text :expression)
        (and (gethash (concatenate 'string text "\\") (declarations world))
             (make-value :package :name text :file (value-file package)))
        *external*)))

;;; Names

(defun imported-text (world file name)
  "What `use' in FILE says that NAME, a text, stands for; nil when it says nothing."
  (let ((run (world-run world file)))
    (dotimes (import (import-count run))
      (let ((local (import-local run import)))
        (when (and (/= local +none+) (string-equal name (name-text world local)))
          (return (name-text world (import-module run import))))))))

(defun file-namespace (world file)
  (let ((run (world-run world file)))
    (do-marks (value more) (run (known "namespace"))
      (return (if (= value +none+) "" (name-text world value))))))

(defun outer-name-of (world file name mode)
  (let* ((text (name-text world name)) (slash (position #\\ text)) (namespace (or (file-namespace world file) "")))
    (cond ((eql slash 0) (or (declared world (subseq text 1) mode) *external*))
          (slash
           (let* ((first (subseq text 0 slash)) (rest (subseq text (1+ slash)))
                  (alias (if (string-equal first "namespace") namespace (imported-text world file first))))
             (or (declared world (if alias (qualified alias rest) (qualified namespace text)) mode) *external*)))
          (t (or (declared world (qualified namespace text) mode)
                 (and (eq mode :expression) (gethash (concatenate 'string text "()") (declarations world)))
                 (and (string= namespace "") (declared world text mode)))))))

(defun constructor-of (world tag file site)
  (declare (ignore file site))
  (let ((meaning (locate-own-member world tag (known "__construct"))))
    (if (consp meaning) (first meaning) meaning)))

(defun applied (world name arguments)
  (declare (ignore world arguments))
  (when (= name (known "this")) (make-value :builtin :file :php :name name)))

(defun called (world value name argument)
  (declare (ignore world value name argument))
  nil)

(defun called-as (world tag)
  "A class is made by `new static' and the like within it."
  (when (or (class-kind-p (tag-kind world tag)) (= (tag-kind world tag) (known "constructor")))
    (list (known "static") (known "self") (known "parent"))))

(define-family :php
  :called-as #'called-as
  :import-module #'import-module-of
  :package-member #'member-of-package
  :outer-name #'outer-name-of
  :constructor #'constructor-of
  :apply-builtin #'applied
  :builtin-call #'called
  :rebinds t :linear t
  :builtin-names '("get" "set" "has" "count" "current" "key" "next" "rewind" "valid" "format" "getMessage" "getCode" "getPrevious"
                   "getIterator" "offsetGet" "offsetSet" "offsetExists" "offsetUnset" "add" "remove" "push" "pop" "close" "read" "write"
                   "execute" "fetch" "prepare" "query" "method" "expects" "willReturn" "with" "will" "getMock" "run" "handle"))
