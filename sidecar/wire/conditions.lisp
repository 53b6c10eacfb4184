;;;; The conditions a request may end with.

(defpackage #:opl.wire.conditions
  (:use #:cl)
  (:export #:fault #:fault-code #:fault-message #:fail))

(in-package #:opl.wire.conditions)

(define-condition fault (error)
  ((code :initarg :code :reader fault-code
         :documentation "A keyword: one of the error rows of protocol.tsv.")
   (message :initarg :message :reader fault-message
            :documentation "What is wrong and what to do, for a person."))
  (:documentation "An error that is answered to the host under its own code. Any other error is answered as internal.")
  (:report (lambda (condition stream) (write-string (fault-message condition) stream))))

(defun fail (code control &rest arguments)
  "Signals a FAULT with CODE (a keyword, an error row of protocol.tsv) and the formatted message. Never returns."
  (error 'fault :code code :message (apply #'format nil control arguments)))
