(defpackage #:opl.failures.formats
  (:use #:cl #:opl.failures.report)
  (:export #:parse-format))
(in-package #:opl.failures.formats)
(defun parse-format (path exit-code) (declare (ignore path exit-code)) nil)
