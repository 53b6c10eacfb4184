;;;; sidecar/failures/runners/: each table has captured inputs in logs/<runner>/<name>.txt, and beside each what it says, <name>.expected.
;;;; OPL_WRITE_EXPECTED=1 writes the expectations anew; look at the difference before it is committed.

(defpackage #:opl.test.failures.runners
  (:use #:cl #:opl.test #:opl.failures.report)
  (:import-from #:opl.failures.parse #:parse-log)
  (:import-from #:opl.failures.table #:all-runners #:runner-name))

(in-package #:opl.test.failures.runners)

(defvar *logs* (merge-pathnames "logs/" (make-pathname :name nil :type nil :version nil :defaults *load-truename*)))

(defun inputs (runner)
  (directory (merge-pathnames (format nil "~a/*.txt" runner) *logs*)))

(defun facts-of (report)
  (list :runner (report-runner report) :verdict (report-verdict report)
        :passed (report-passed report) :failed (report-failed report) :skipped (report-skipped report)
        :failures (mapcar (lambda (failure)
                            (list (failure-test failure) (failure-path failure) (failure-line failure) (failure-category failure)
                                  (let ((message (failure-message failure)))
                                    (subseq message 0 (or (position #\Newline message) (length message))))))
                          (report-failures report))))

(defun expectation (file)
  (with-open-file (in (make-pathname :type "expected" :defaults file) :external-format :utf-8)
    (let ((*read-eval* nil)) (read in))))

(defun write-expectation (file facts)
  (with-open-file (out (make-pathname :type "expected" :defaults file) :direction :output :if-exists :supersede :external-format :utf-8)
    (let ((*print-right-margin* 140) (*print-pretty* t)) (with-standard-io-syntax (let ((*print-pretty* t) (*print-right-margin* 140) (*print-readably* nil)) (format out "~s~%" facts))))))

(deftest every-runner-s-table-has-a-captured-input-and-reads-it
  (dolist (runner (remove "none" (mapcar #'runner-name (all-runners)) :test #'string=))
    (check (list runner :has (inputs runner)))
    (unless (inputs runner) (check (null (list :no-captured-input-of runner))))
    (dolist (file (inputs runner))
      (let ((facts (facts-of (parse-log file))))
        (when (sb-posix:getenv "OPL_WRITE_EXPECTED") (write-expectation file facts))
        (check-equal (list (pathname-name file) runner) (list (pathname-name file) (getf facts :runner)))
        (check-equal (expectation file) facts)))))

(deftest a-failing-exit-code-is-never-a-pass
  (let ((log (merge-pathnames "plain.log" *logs*)))
    (with-open-file (out log :direction :output :if-exists :supersede) (format out "OK (3 tests, 3 assertions)~%"))
    (unwind-protect
         (progn (check-equal "passed" (report-verdict (parse-log log)))
                (check-equal "unparsed" (report-verdict (parse-log log :exit-code 1)))
                (check (report-tail (parse-log log :exit-code 1))))
      (delete-file log))))

(deftest what-nothing-understands-is-unparsed-with-its-tail
  (with-scratch-folder (folder)
    (let ((log (merge-pathnames "log" folder)))
      (with-open-file (out log :direction :output) (format out "one~%two~%"))
      (check-equal "unparsed" (report-verdict (parse-log log)))
      (check-equal (format nil "one~%two") (report-tail (parse-log log))))))
