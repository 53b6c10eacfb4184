;;;; The operation on captured logs: failures.

(defpackage #:opl.operations.failures
  (:use #:cl #:opl.failures.report)
  (:import-from #:opl.wire.conditions #:fail)
  (:import-from #:opl.wire.protocol #:define-operation #:emit)
  (:import-from #:opl.failures.parse #:parse-log))

(in-package #:opl.operations.failures)

(defun relative (path root)
  "PATH as seen from ROOT when it lies inside; nil for nil."
  (let* ((root (and root (string-right-trim "/\\" (substitute #\/ #\\ root))))
         (n (length root)))
    (if (and path root (> (length path) (1+ n)) (string= root path :end2 n) (char= #\/ (char path n)))
        (subseq path (1+ n))
        path)))

(defun emit-failure (number failure root)
  (emit failure number (failure-test failure) (relative (failure-path failure) root) (failure-line failure)
        (intern (string-upcase (or (failure-category failure) "error")) :keyword)
        (and (failure-suite failure) t) (failure-message failure))
  (dolist (frame (failure-frames failure))
    (emit frame number (relative (frame-path frame) root) (frame-line frame) (frame-function frame) (and (frame-foreign frame) t))))

(define-operation failures (log runner exit root)
  "What the log says of the tests that ran."
  (unless (probe-file (sb-ext:parse-native-namestring log))
    (fail :not-found "There is no file ~A; name the captured output of a test command." log))
  (let ((report (handler-case (parse-log (sb-ext:parse-native-namestring log) :runner runner :exit-code exit)
                  (file-error () (fail :not-found "~A cannot be read; name the captured output of a test command." log)))))
    (emit report (report-runner report) (intern (string-upcase (report-verdict report)) :keyword)
          (report-passed report) (report-failed report) (report-skipped report) (report-tail report) (report-runners report))
    (loop for failure in (report-failures report)
          for number from 1
          do (emit-failure number failure root))))
