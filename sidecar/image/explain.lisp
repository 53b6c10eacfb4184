;;;; Conditions and stacks told to someone who cannot see a debugger.

(defpackage #:opl.image.explain
  (:use #:cl)
  (:import-from #:opl.image.printing #:make-bounded-stream #:bounded-text #:+value-limit+)
  (:import-from #:opl.image.near #:near-names)
  (:export #:explain-condition #:user-frames))

(in-package #:opl.image.explain)

(declaim (optimize (speed 1) (safety 1)))

(defconstant +message-limit+ 1200
  "Characters of a condition's own report that are kept.")

(defconstant +frame-limit+ 8
  "Frames of a backtrace that are shown.")

(defconstant +frame-width+ 120
  "Characters of one frame that are shown.")

(defun bounded (limit printer)
  (let* ((tag (list 'full))
         (stream (make-bounded-stream limit :full-tag tag)))
    (catch tag (funcall printer stream))
    (bounded-text stream)))

(defun report (condition)
  "What CONDITION says of itself; a report function of the user's may fail in its turn."
  (handler-case
      (let ((*print-length* 10) (*print-level* 4) (*print-circle* t) (*print-pretty* nil))
        (bounded +message-limit+ (lambda (stream) (princ condition stream))))
    (error () "(its report fails too)")))

(defun without-stream-line (text)
  "TEXT without what reader errors say of their stream: the caller knows what it sent."
  (let ((at (search "Stream: #<" text)))
    (if at (string-right-trim '(#\Space #\Newline) (subseq text 0 at)) text)))

(defun map-function-names (function)
  (do-symbols (symbol *package*)
    (when (fboundp symbol) (funcall function (string-downcase (symbol-name symbol))))))

(defun map-variable-names (function)
  (do-symbols (symbol *package*)
    (when (and (boundp symbol) (not (keywordp symbol)))
      (funcall function (string-downcase (symbol-name symbol))))))

(defun near-note (symbol map-names)
  (let ((near (and (symbolp symbol) (near-names (symbol-name symbol) map-names))))
    (if near (format nil " Near: ~{~A~^, ~}." near) "")))

(defun explain-condition (condition)
  "CONDITION as text: its type, what it says, and where a name was not found the names near it."
  (format nil "~A: ~A~A"
          (type-of condition)
          (without-stream-line (report condition))
          (typecase condition
            (undefined-function (near-note (cell-error-name condition) #'map-function-names))
            (unbound-variable (near-note (cell-error-name condition) #'map-variable-names))
            (sb-ext:package-lock-violation
             " The name belongs to the language or to the vocabulary; choose another.")
            (t ""))))

;;; Frames.

(defparameter *signalling* '(error cerror signal warn break eval invoke-debugger funcall apply)
  "Functions of the language whose frames tell nothing.")

(defun principal-name (name)
  "The symbol that tells whose function NAME is, or NIL."
  (cond ((symbolp name) name)
        ((not (consp name)) nil)
        ((member :in name) (principal-name (second (member :in name))))
        ((member (first name) '(setf sb-pcl::fast-method sb-pcl::slow-method sb-pcl::method))
         (principal-name (second name)))
        ((member (first name) '(flet labels)) (principal-name (second name)))))

(defun shown-p (name)
  "True when a frame of the function NAME belongs to user code, to the vocabulary, or to the language's
own functions that user code calls."
  (let* ((symbol (principal-name name))
         (package (and symbol (symbol-package symbol))))
    (and package
         (not (member symbol *signalling*))
         (let ((home (package-name package)))
           (cond ((string= home "COMMON-LISP")
                  (eq :external (nth-value 1 (find-symbol (symbol-name symbol) package))))
                 ((or (eql 0 (search "SB-" home))) nil)
                 ((eql 0 (search "OPL." home))
                  (find-symbol (symbol-name symbol) :opl.image.vocabulary))
                 (t t))))))

(defun without-missing-arguments (text)
  "TEXT with an ellipsis where the compiler kept no argument."
  (let ((at (or (search "#<unavailable argument>" text) (search "#<unused argument>" text))))
    (if at
        (without-missing-arguments
         (concatenate 'string (subseq text 0 at) "…"
                      (subseq text (1+ (position #\> text :start at)))))
        text)))

(defun frame-text (frame)
  (multiple-value-bind (name arguments) (sb-debug::frame-call frame)
    (let ((*print-length* 4) (*print-level* 2) (*print-circle* t) (*print-pretty* nil))
      (substitute #\Space #\Newline
                  (handler-case
                      (let ((text (without-missing-arguments
                                   (bounded +value-limit+
                                            (lambda (stream)
                                              (format stream "(~S~{ ~S~})" name
                                                      (if (listp arguments) arguments '())))))))
                        (if (> (length text) +frame-width+)
                            (concatenate 'string (subseq text 0 (1- +frame-width+)) "…")
                            text))
                    (error () (format nil "(~S …)" name)))))))

(defun user-frames ()
  "The calls of user code on this thread's stack, innermost first, at most 8, as text. The walk ends at
the evaluator's own frame."
  (let ((frames '()) (previous nil))
    (ignore-errors
     (sb-debug::map-backtrace
      (lambda (frame)
        (let* ((name (sb-di:debug-fun-name (sb-di:frame-debug-fun frame)))
               (principal (principal-name name)))
          (when (or (>= (length frames) +frame-limit+)
                    (and principal (string= (symbol-name principal) "EVALUATE-FORMS")))
            (return-from user-frames (nreverse frames)))
          (when (shown-p name)
            (let ((text (frame-text frame)))
              (unless (equal text previous)
                (push text frames))
              (setf previous text)))))))
    (nreverse frames)))
