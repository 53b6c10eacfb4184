;;;; The source text of what the user defines, remembered while it is evaluated: a compiled function
;;;; cannot give it back.

(defpackage #:opl.image.definitions
  (:use #:cl)
  (:export #:note-form #:definition-source #:forget-definitions))

(in-package #:opl.image.definitions)

(declaim (optimize (speed 1) (safety 1)))

(defconstant +source-limit+ 65536
  "Characters of one definition that are remembered; longer ones are data, not rules.")

(defvar *sources* (make-hash-table :test #'equal :synchronized t)
  "Name (a string as PRIN1 writes it in OPL-USER) -> source text of its last definition.")

(defun defined-name (form)
  "The symbol that FORM, a top-level form, defines, or NIL. Any operator named def… counts, so that
defining macros of the user's own work too."
  (when (and (consp form) (symbolp (first form)) (consp (cdr form)))
    (let ((operator (symbol-name (first form)))
          (name (second form)))
      (when (and (> (length operator) 3)
                 (string-equal "DEF" operator :end2 3)
                 (not (eq (first form) 'defpackage)))
        (cond ((and name (symbolp name)) name)
              ;; (defstruct (name …) …)
              ((and (consp name) (symbolp (first name)) (not (eq (first name) 'setf))) (first name)))))))

(defun note-form (form text)
  "Remember TEXT as the source of what FORM defines; a form that defines nothing is passed over."
  (let ((name (defined-name form)))
    (when (and name (<= (length text) +source-limit+))
      (setf (gethash (string name) *sources*) text))))

(defun definition-source (name)
  "The source text of the user's last definition of NAME (a symbol or string), or NIL when none is known."
  (values (gethash (string name) *sources*)))

(defun forget-definitions ()
  "Forget all sources."
  (clrhash *sources*))
