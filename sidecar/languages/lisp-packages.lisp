;;;; Lisp: what files take from one another: packages of Common Lisp, namespaces of Clojure, what is required or loaded. Part of the
;;;; package of lisp.lisp.

(in-package #:opl.languages.lisp)
(declaim (optimize (speed 1) (safety 1)) (sb-ext:muffle-conditions sb-ext:compiler-note))

(defun keyword-p (r i) (name-begins-p r (name-at r i) 58))
(defun plain-name-p (r i) (and (identifier-at-p r i) (not (keyword-p r i)) (not (is r i "nil" "NIL" "t" "T" "."))))
(defun names-p (r i) (or (identifier-at-p r i) (= (kind-at r i) +string+)))

;;; Imports

(defun bare-import (r module line flags)
  (opl.source.facts:add-import (reading-facts r) +none+ (known "*") module 0 flags line))

(defun vector-spec (r open use)
  "[a.b :as u :refer [x y]]; USE true: of `:use', which imports all that it does not say."
  (declare (type index open))
  (let* ((close (closer r open)) (first (1+ open)) (module (name-at r first)) (line (line-at r first)) (said nil))
    (declare (type index close first))
    (when (identifier-at-p r first)
      (loop for i of-type index from (1+ first) below close
            do (cond ((and (is r i ":as" ":as-alias") (identifier-at-p r (1+ i)))
                      (setf said t)
                      (add-imported r (name-at r (1+ i)) (known "*") module 0 line))
                     ((and (is r i ":refer" ":only" ":refer-macros") (opens-p r (1+ i)))
                      (setf said t)
                      (loop for j of-type index from (+ i 2) below (the index (closer r (1+ i)))
                            do (when (identifier-at-p r j) (add-imported r (name-at r j) (name-at r j) module 0 line))))
                     ((and (is r i ":refer") (is r (1+ i) ":all")) (setf said t) (bare-import r module line +star+))))
      (unless said (bare-import r module line (if use +star+ +side-effect+))))))

(defun list-spec (r open)
  "(srfi srfi-1), a module of Scheme: its words with slashes between."
  (declare (type index open))
  (let ((words (loop for i of-type index from (1+ open) below (the index (closer r open))
                     while (names-p r i) collect (text-of r i))))
    (when words (bare-import r (intern-text r (format nil "~{~A~^/~}" words)) (line-at r open) +side-effect+))))

(defun imports (r i single)
  "(:use a.b), (require 'x), (:require [a.b :as c]), (use-modules (a b)). SINGLE: one at most."
  (declare (type reading r) (type index i))
  (let ((close (closer r i)) (use (is r (1+ i) ":use" ":use-macros")) (j (+ i 2)))
    (declare (type index close j))
    (loop while (< j close)
          do (cond ((opens-p r j)
                    (if (is r j "[") (vector-spec r j use) (list-spec r j))
                    (setf j (1+ (the index (closer r j)))))
                   ((or (= (kind-at r j) +string+) (plain-name-p r j))
                    (bare-import r (intern-text r (text-of r j)) (line-at r j) (if use +star+ +side-effect+))
                    (when single (return))
                    (incf j))
                   (t (incf j))))))

;;; Packages of Common Lisp: what they use and import is noted as marks of the file that defines them, with the package's ordinal

(defun clause-names (r open)
  "The names in the clause of a package at OPEN, after its first word, with the tokens they stand in."
  (declare (type index open))
  (loop for i of-type index from (+ open 2) below (the index (closer r open))
        when (names-p r i) collect (cons (designator (text-of r i)) i)))

(defun package-clause (r open def)
  (declare (type index open))
  (let ((names (clause-names r open)))
    (flet ((note (key text) (mark r key (intern-text r text) def))
           (import-from (name) (bare-import r (intern-text r name) (line-at r open) +side-effect+)))
      (cond ((is r (1+ open) ":use" ":use-reexport" ":mix" ":reexport" ":mix-reexport")
             (loop for (name) in names do (note (known "uses") name) (import-from name)))
            ((is r (1+ open) ":import-from" ":shadowing-import-from")
             (when names
               (import-from (car (first names)))
               (loop for (name) in (rest names) do (note (known "imports-from") (format nil "~A ~A" (car (first names)) name)))))
            ((is r (1+ open) ":local-nicknames")
             (loop for ((nickname) (name)) on names by #'cddr
                   when name do (note (known "local-nickname") (format nil "~A ~A" nickname name)) (import-from name)))
            ((is r (1+ open) ":export") (loop for (name) in names do (note (known "exports") name)))
            ((is r (1+ open) ":nicknames") (loop for (name) in names do (note (known "nickname") name)))))))

(defun package-definition (r i def)
  (declare (type index i))
  (loop with close of-type index = (closer r i) with j of-type index = (+ i 2)
        while (< j close)
        do (cond ((opens-p r j) (package-clause r j def) (setf j (1+ (the index (closer r j)))))
                 (t (incf j)))))
