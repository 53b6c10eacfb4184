;;;; Called as: the names that calls of a definition are written under. Call sites are kept by the name they bear, so whoever asks for
;;;; callers must know all of them: what resolution follows forward is turned round here, kind by kind.

(defpackage #:opl.graph.called-as
  (:use #:cl #:opl.source.facts #:opl.graph.world #:opl.graph.family #:opl.graph.types)
  (:import-from #:opl.source.names #:+none+ #:known)
  (:export #:call-names))
(in-package #:opl.graph.called-as)

(declaim (optimize (speed 1) (safety 1)))

(defun uncast (run node)
  "What NODE is a cast of: x of x as T."
  (loop while (and (/= node +none+) (= (node-op run node) +op-cast+)) do (setf node (node-b run node)))
  node)

(defun node-name (run node)
  "The name that NODE is, or the member's; nil for anything else."
  (and (/= node +none+)
       (cond ((= (node-op run node) +op-name+) (node-a run node))
             ((= (node-op run node) +op-member+) (node-b run node)))))

(defconstant +deepest-choice+ 8 "Of c ? a : (d || e) and the like.")

(defun map-value-names (function run node &optional (depth 0))
  "Calls FUNCTION with each name that the value NODE may be: x of x, a.x, x as T, c ? x : y, x || y, partial (x, …)."
  (let ((node (uncast run node)))
    (unless (or (= node +none+) (> depth +deepest-choice+))
      (let ((name (node-name run node)) (op (node-op run node)))
        (cond (name (funcall function name))
              ((= op +op-either+)
               (map-value-names function run (node-a run node) (1+ depth))
               (map-value-names function run (node-b run node) (1+ depth)))
              ((and (= op +op-call+) (eql (node-name run (node-a run node)) (known "partial")) (/= (node-b run node) +none+))
               (map-value-names function run (node-a run (node-b run node)) (1+ depth))))))))

(defun whole-p (name)
  "Whether NAME means a whole module: under what names that is known differs from file to file, see `module-locals'."
  (or (= name (known "default")) (= name (known "*"))))

(defmacro do-bound-values ((run binding) (world) &body body)
  "BODY for every variable of the repository that has a value, a top-level one, which is a definition too, among them."
  (let ((file (gensym)))
    `(do-world-files (,file) (,world)
       (let ((,run (world-run ,world ,file)))
         (dotimes (,binding (binding-count ,run))
           (when (and (/= (binding-value ,run ,binding) +none+) (member (binding-kind ,run ,binding) '(#.+variable+ #.+defined+)))
             ,@body))))))

(defun renamed (world)
  "Table from a name to the other names that it is imported, exported or kept under somewhere: lists of numbers."
  (remembered (world :renamed)
    (let ((table (make-hash-table)))
      (flet ((note (name local)
               (unless (or (= name local) (= local +none+) (= name +none+) (whole-p name) (whole-p local)) (pushnew local (gethash name table)))))
        (do-world-files (file) (world)
          (let ((run (world-run world file)))
            (dotimes (i (import-count run)) (note (import-name run i) (import-local run i)))
            (dotimes (i (exported-count run)) (note (exported-local run i) (exported-name run i)))))
        (do-bound-values (run i) (world) ; const b = a, const { a: b } = c
          (map-value-names (lambda (name) (note name (binding-name run i))) run (binding-value run i))))
      table)))

(defun made-by (world)
  "Table from the name of what is called to the names that what it gives is kept under: b of const b = a ()."
  (remembered (world :made-by)
    (let ((table (make-hash-table)))
      (do-bound-values (run i) (world)
        (let ((value (uncast run (binding-value run i))))
          (when (and (/= value +none+) (member (node-op run value) '(#.+op-call+ #.+op-new+)))
            (let ((maker (node-name run (node-a run value))) (name (binding-name run i)))
              (when (and maker (/= name +none+)) (pushnew name (gethash maker table)))))))
      table)))

;;; Whole modules

(defun spread-locals (world table)
  "What a file without definitions, which only hands on others (module.exports = require ('./lib/x')), is known as, these are too; so is
the default of what a file gives as its own (export { default } from './x')."
  (flet ((spread (locals to) (when (integerp to) (dolist (local locals) (pushnew local (gethash to table))))))
    (loop repeat 2
          do (do-world-files (from) (world)
               (let ((run (world-run world from)) (locals (gethash from table)))
                 (when locals
                   (when (zerop (def-count run)) (dotimes (i (import-count run)) (spread locals (import-file world from i))))
                   (dotimes (i (exported-count run))
                     (when (and (/= (exported-module run i) +none+) (whole-p (exported-local run i)) (whole-p (exported-name run i)))
                       (spread locals (export-target world from (exported-module run i)))))))))
    table))

(defun module-locals (world file)
  "Names under which the whole module FILE, or its default, is known elsewhere."
  (gethash file (remembered (world :module-locals)
                  (let ((table (make-hash-table)))
                    (flet ((note (local to)
                             (when (and (/= local +none+) (integerp to)) (pushnew local (gethash to table)))))
                      (do-world-files (from) (world)
                        (let ((run (world-run world from)))
                          (dotimes (i (import-count run))
                            (when (whole-p (import-name run i)) (note (import-local run i) (import-file world from i))))
                          (dotimes (i (exported-count run)) ; export { default as x } from './y'
                            (when (and (/= (exported-module run i) +none+) (whole-p (exported-local run i)) (not (whole-p (exported-name run i))))
                              (note (exported-name run i) (export-target world from (exported-module run i))))))))
                    (spread-locals world table)))))

;;; Together

(defun own-names (world tag)
  "Names under which TAG is called where it is not renamed: its own first."
  (let* ((kind (tag-kind world tag)) (parent (tag-parent world tag)) (class (class-kind-p kind)) (names (list (tag-name world tag))))
    (flet ((add (more) (setf names (append names more))))
      (when (and parent (= kind (known "constructor"))) (add (list (tag-name world parent) (known "super"))))
      (when class (add (list (known "super"))))
      (add (funcall (family-called-as (family-of world (tag-file tag))) world tag))
      (when (or class (logtest +default-export+ (tag-flags world tag)) (null parent)) (add (module-locals world (tag-file tag)))))
    names))

(defconstant +makers-followed+ 2 "Functions around a definition whose results it may be.")

(defun made-names (world tag depth)
  "Names of what calls of the function around TAG give, since that may be TAG."
  (let ((around (tag-parent world tag)))
    (when (and around (plusp depth) (function-kind-p (tag-kind world tag)) (function-kind-p (tag-kind world around)))
      (append (loop for name in (call-names world around (1- depth)) append (gethash name (made-by world)))
              (made-names world around (1- depth))))))

(defconstant +most-renamings+ 64 "Names followed from one definition over assignments and imports by name; all the names that it is sure to be
called by are followed, however many.")

(defun call-names (world tag &optional (makers +makers-followed+))
  "The names, numbers, under which TAG may be called: its own, its class's for a constructor, what it is renamed to, and what keeps it when
the function around it, or around that up to MAKERS, gives it."
  (let* ((names (remove-duplicates (append (own-names world tag) (made-names world tag makers)) :from-end t))
         (seen (make-hash-table)) (queue names) (tail '()) (more 0))
    (dolist (name names) (setf (gethash name seen) t))
    (loop
      (when (null queue) (setf queue (nreverse tail) tail '()))
      (when (or (null queue) (>= more +most-renamings+)) (return names))
      (dolist (other (gethash (pop queue) (renamed world)))
        (unless (or (gethash other seen) (>= more +most-renamings+))
          (setf (gethash other seen) t names (append names (list other)) more (1+ more))
          (push other tail))))))
