;;;; Elixir for the graph: modules by their full names, aliases, functions of imported modules.

(defpackage #:opl.graph.families.elixir
  (:use #:cl #:opl.source.facts #:opl.graph.world #:opl.graph.family #:opl.graph.values #:opl.graph.types)
  (:import-from #:opl.source.names #:+none+ #:known))
(in-package #:opl.graph.families.elixir)
(declaim (optimize (speed 1) (safety 1)))

(defun full-name (world tag)
  (let ((parent (tag-parent world tag)) (text (name-text world (tag-name world tag))))
    (if parent (concatenate 'string (full-name world parent) "." text) text)))

(defun modules (world)
  "Full names of modules and protocols to their tags."
  (remembered (world :elixir-modules)
    (let ((table (make-hash-table :test 'equal)))
      (do-world-files (file) (world)
        (let ((run (world-run world file)))
          (when (and run (eq (world-family world file) :elixir))
            (dotimes (def (def-count run))
              (when (or (= (def-kind run def) (known "module")) (= (def-kind run def) (known "protocol")))
                (let ((name (full-name world (make-tag file def))))
                  (unless (gethash name table) (setf (gethash name table) (make-tag file def)))))))))
      table)))

(defun aliased (world file first)
  "The full name that the alias FIRST, a text, stands for in FILE, or nil."
  (let ((run (world-run world file)))
    (dotimes (import (import-count run))
      (let ((local (import-local run import)))
        (when (and (/= local +none+) (string= first (name-text world local)))
          (return (name-text world (import-module run import))))))))

(defun module-tag (world file text)
  (let* ((dot (position #\. text)) (alias (aliased world file (subseq text 0 dot))))
    (or (gethash (if alias (if dot (concatenate 'string alias (subseq text dot)) alias) text) (modules world))
        (gethash text (modules world)))))

(defun imported-function (world file name)
  (let ((run (world-run world file)))
    (dotimes (import (import-count run))
      (when (logtest +star+ (import-flags run import))
        (let* ((module (module-tag world file (name-text world (import-module run import))))
               (meaning (and module (locate-own-member world module name))))
          (when meaning (return meaning)))))))

(defun outer-name-of (world file name mode)
  (declare (ignore mode))
  (let ((text (name-text world name)))
    (if (and (plusp (length text)) (upper-case-p (char text 0)))
        (module-tag world file text)
        (imported-function world file name))))

(defun import-module-of (world file import)
  (let ((run (world-run world file)))
    (if (= (import-local run import) +none+)
        :external
        (cons :package (name-text world (import-module run import))))))

(defun member-of-package (world package name)
  (declare (ignore name))
  (or (gethash (value-name package) (modules world)) *external*))

(defun first-clause (world file site tags)
  (declare (ignore world file site))
  (list (first tags)))

(define-family :elixir
  :import-module #'import-module-of
  :package-member #'member-of-package
  :outer-name #'outer-name-of
  :select #'first-clause
  :implicit-self :innermost :guess nil)
