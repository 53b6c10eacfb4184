(defpackage #:opl.failures.runners.node-tap
  (:use #:cl #:opl.failures.table #:opl.failures.report)
  (:shadowing-import-from #:opl.failures.pattern #:search))
(in-package #:opl.failures.runners.node-tap)

;;; The reporters of node-tap (the `tap` command, 15 and newer), and tap-spec, which prints TAP for people.

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defparameter *thin* (coerce (list #\Space (code-char #x200B)) 'string) "What stands around the words of versions 15 and 16."))

(defun tap-line-counts (passed failed skipped)
  (total :passed (or passed 0)) (total :failed (or failed 0)) (total :skipped (or skipped 0)))

(defun counts-of (text)
  "The counts of `5 failed, 1 passed, 1 skip, of 8`, with whose words the next version says `1 pass  5 fail`."
  (flet ((n (word)
           (let ((at (search word text)))
             (and at (parse-integer text :start (1+ (or (position-if-not #'digit-char-p text :end at :from-end t) -1)) :end at :junk-allowed t)))))
    (tap-line-counts (n " pass") (n " fail") (n " skip"))))

(defun summary-p (what)
  "True of ` FAIL  a.test.js 5 failed 1 skip of 8 820ms`, the file's own line behind its failures."
  (and (search " of " what) (suffixp "s" (trim what))))

(define-runner "node-tap" (:kind :tests :frames (:js) :innermost :first :contains ("tap"))
  (sign 10 "Asserts:  " text integer text "of " integer)
  (sign 4 "Suites:   " text integer " of " integer " completed")
  (sign 4 "Suites:   " integer " pass" text integer " of " integer " complete")
  (sign 10 blanks "Failed Tests: There " (or "was " "were ") integer " failure")
  (sign 5 blanks "total:" blanks+ integer end)
  (on ("Asserts:" (counts rest))
    (end-failure) (enter nil)
    (let ((counts (remove (code-char #x200B) counts))) (when (search " of " counts) (counts-of counts)))
    t)
  (on ("Suites:" rest) (end-failure) (enter nil))
  ;; 15 and 16: ` FAIL  file`, ` ✖ assertion`, the test's name last
  (on ((? (of #.*thin*)) "FAIL" (of #.*thin*) (what rest))
    (end-failure)
    (if (summary-p what) (enter :summary) (progn (stash :file (string-trim '(#\Space #\ZERO_WIDTH_SPACE) what)) (enter :failure))))
  (on ((? (of #.*thin*)) (or "SKIP" "TODO" "PASS" "RUNS") (of #.*thin*) rest) (end-failure) (enter :summary))
  (within (:failure) (" ✖ " (name rest)) (begin-failure :path (stashed :file) :test name :message name) (enter :details))
  (within (:details) ("  test: " (name rest))
    (let* ((file (stashed :file)) (name (if (and file (prefixp file name)) (trim (subseq name (length file))) name)))
      (when (pending) (setf (failure-test (pending)) name)))
    t)
  (within (:details) ((? blanks "> ") integer " | " rest) t)
  (within (:details) ("    " (place path ".js:" integer ":" integer) end) (add-line (concatenate 'string "    at " place)))
  (within (:summary) (end) (enter nil))
  (within (:summary) (" " (or "✖ " "☐ " "~ " "✓ ") rest) t)
  ;; 18 and newer: ` ✖ suite > test > assertion`
  (on (" ✖ " (name text+) " " (path path) ":" (at integer) ":" integer end)
    (note-failure :test name :message name :path path :line at :merge t))
  (on (" ✖ " (name rest)) (begin-failure :test name :message name :merge t) (enter :details))
  ;; tap-spec
  (on ("  Failed Tests: There " rest) (end-failure) (enter :failed-tests))
  (within (:failed-tests) ("    " (name (not-of " ✖") rest)) (end-failure) (stash :suite (trim name)))
  (within (:failed-tests) ("      ✖ " (name rest)) (note-failure :test (format nil "~@[~A > ~]~A" (stashed :suite) name) :message name))
  (on ("  total:" blanks+ integer end) (end-failure) (enter nil) (tap-line-counts 0 0 0))
  (on ("  passing:" blanks+ (n integer) end) (total :passed n))
  (on ("  failing:" blanks+ (n integer) end) (total :failed n)))
