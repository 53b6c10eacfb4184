(defpackage #:opl.failures.verdict
  (:use #:cl #:opl.failures.report)
  (:export #:verdict-of #:with-exit-code))
(in-package #:opl.failures.verdict)

(defun verdict-of-failures (failures ran failed)
  (let* ((compiles (count "compile" failures :key #'failure-category :test #'equal))
         (tests (count-if-not #'failure-suite failures)))
    (cond ((and (= compiles (length failures)) (not (and ran (plusp (or failed 0))))) "compile-error")
          ((and (plusp compiles) (zerop tests) (not ran)) "compile-error")
          ((or (plusp tests) ran) "failed")
          ((every (lambda (failure) (equal "setup" (failure-category failure))) failures) "setup-error")
          (t "failed"))))

(defun verdict-of (flags failures passed failed)
  "The verdict on what a log says: FLAGS noted by its tables, FAILURES, and the counts, nil where not stated."
  (let ((ran (plusp (or passed 0))))
    (flet ((flagged (&rest wanted) (intersection wanted flags)))
      (cond ((flagged :timeout :timed-out) "timeout")
            (failures (verdict-of-failures failures ran failed))
            ((plusp (or failed 0)) "failed")
            ((flagged :compile) "compile-error")
            ((flagged :setup) "setup-error")
            ((flagged :failed) "failed")
            ((or ran (flagged :passed)) "passed")
            ((or (flagged :none-ran :ok) (eql passed 0)) "no-tests-ran")
            (t "unparsed")))))

(defun with-exit-code (verdict exit-code failures)
  "VERDICT, but a command that ended with a failure's code did not pass, whatever was read: then \"unparsed\"."
  (if (and exit-code (/= 0 exit-code) (null failures) (string= verdict "passed")) "unparsed" verdict))
