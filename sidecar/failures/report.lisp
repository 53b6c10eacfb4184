(defpackage #:opl.failures.report
  (:use #:cl)
  (:export #:frame #:make-frame #:frame-path #:frame-line #:frame-function #:frame-foreign
           #:failure #:make-failure #:failure-test #:failure-path #:failure-line #:failure-message
           #:failure-category #:failure-frames #:failure-suite
           #:report #:make-report #:report-runner #:report-verdict #:report-passed #:report-failed #:report-skipped
           #:report-failures #:report-tail #:report-runners))
(in-package #:opl.failures.report)

;;; What a captured log says, in one structure.

(defstruct frame
  "A place on a stack: PATH as printed with forward slashes, LINE or nil, FUNCTION or nil; FOREIGN when it lies outside the project."
  (path nil :type (or null string)) (line nil :type (or null (integer 0))) (function nil :type (or null string)) (foreign nil))

(defstruct failure
  "TEST is nil where a compiler or linter speaks; PATH and LINE nil where the log shows none; CATEGORY one of
\"assertion\" \"error\" \"compile\" \"setup\" \"timeout\" \"crash\"; SUITE true when a whole file failed rather than a test of it."
  (test nil :type (or null string)) (path nil :type (or null string)) (line nil :type (or null (integer 0)))
  (message "" :type string) (category nil :type (or null string)) (frames '() :type list) (suite nil))

(defstruct report
  "RUNNER is nil when none was recognised; the counts are nil where the log does not state them; TAIL holds the telling last
lines when VERDICT is \"unparsed\", else nil; RUNNERS all that were recognised, RUNNER first."
  (runner nil :type (or null string)) (verdict "unparsed" :type string)
  (passed nil :type (or null (integer 0))) (failed nil :type (or null (integer 0))) (skipped nil :type (or null (integer 0)))
  (failures '() :type list) (tail nil :type (or null string)) (runners '() :type list))
