(defpackage #:opl.failures.runners.coverage
  (:use #:cl #:opl.failures.table)
  (:export #:coverage))
(in-package #:opl.failures.runners.coverage)

;;; Runs whose tests pass and that fail all the same: less code was covered than was asked for. No test failed, so each threshold is a
;;; failure of the whole (`suite`), named after what was counted.

(defun threshold-missed (what message)
  (end-failure)
  (flag :failed)
  (note-failure :test (format nil "coverage threshold: ~A" what) :suite t :category "assertion" :message message))

(define-rules coverage
  (on ("Jest: " (what text+) " coverage threshold for " (unit word) " (" text+ ") not met: " rest)
    (threshold-missed (format nil "~A ~A" (string-trim "\"" what) unit) line))
  (on ((? text) "ERROR: Coverage for " (unit word) " (" text+ "%) does not meet " (? (what word) " ") "threshold (" text+ "%)" (more rest))
    (threshold-missed (format nil "~@[~A ~]~A~A" what unit more) (trim line)))
  (on ((? text) "Required test coverage of " number "% not reached" rest)
    (threshold-missed "total" (trim line)))
  (on ((? text) "Coverage failure: total of " number text " is less than fail-under=" rest)
    (threshold-missed "total" (trim line)))
  (on ((or "# " "ℹ ") (? "Error: ") number "% " (unit word) " coverage does not meet threshold of " rest)
    (threshold-missed unit (trim line))))
