(defpackage #:opl.failures.runners.jest
  (:use #:cl #:opl.failures.table #:opl.failures.report)
  (:shadowing-import-from #:opl.failures.pattern #:search)
  (:export #:tally-list))
(in-package #:opl.failures.runners.jest)

;;; jest's default and verbose reporters, all versions since 20; create-react-app and others that wrap it.

(defun tally-list (text separator words)
  "Tallies `4 failed, 1 skipped, 1 passed, 6 total`: WORDS maps the list's words to counts. The words not said count as 0."
  (dolist (key '(:passed :failed :skipped)) (tally key 0))
  (dolist (part (split-on separator text) t)
    (let* ((part (trim part)) (blank (position #\Space part)))
      (when blank
        (let ((count (parse-integer part :end blank :junk-allowed t))
              (key (getf words (intern-word (subseq part (1+ blank))))))
          (when (and count key) (tally key count)))))))

(defun intern-word (word)
  "The keyword of a word of a summary, nil for any other."
  (let ((word (string-right-trim " ()0123456789" word)))
    (cdr (assoc word '(("passed" . :passed) ("failed" . :failed) ("skipped" . :skipped) ("todo" . :todo) ("pending" . :pending) ("errors" . :errors) ("error" . :errors)
                       ("total" . :total) ("flaky" . :flaky))
                :test #'string=))))

(defun file-in (text)
  "The test file named in a `FAIL project path (5.2 s)` line's rest."
  (let* ((text (trim text))
         (paren (search " (" text))
         (text (if (and paren (suffixp ")" text) (digit-char-p (char text (+ paren 2)))) (trim (subseq text 0 paren)) text))
         (blank (position #\Space text :from-end t)))
    (if blank (subseq text (1+ blank)) text)))

(defun title-of (text) (joined (split-on " › " (trim text))))

(define-runner "jest" (:kind :tests :frames (:js) :innermost :first)
  (sign 10 "Test Suites: " (? (of "0123456789")))
  (sign 10 "Ran all test suites")
  (sign 10 "No tests found, exiting with code ")
  (sign 10 blanks "Jest encountered an unexpected token")
  (sign 10 "  ● Test suite failed to run")
  (sign 7 "  ● " word)
  (sign 6 "Tests:" blanks+ integer " " (or "failed" "passed" "skipped" "todo") text " total" end)
  (sign 3 (? " ") "FAIL " blanks path (or ".js" ".ts" ".jsx" ".tsx" ".mjs" ".cjs"))
  (sign 10 "● " (or "Validation Error" "Unrecognized CLI Parameter" "Multiple configurations found" "Invalid testPattern" "Unrecognized CLI Parameters"))
  (sign 10 "  ●  process.exit called with ")
  (sign 4 "> " (? text (of " /")) "jest" (or end blank))
  (sign 4 "> react-scripts test")
  (on ((? " ") (or "FAIL" "PASS" "RUNS") " " blanks (what text+) end)
    (if (or (find #\. what) (find #\/ what))
        (progn (end-failure) (stash :file (file-in what)))
        reject))
  (on ("Summary of all failing tests") (end-failure) (stash :again t))
  (on ("  ● Console") (end-failure))
  (on ("  ●  process.exit called with " (code rest))
    (begin-failure :test (stashed :file) :path (stashed :file) :suite t :category "crash" :message (format nil "process.exit called with ~A" code)))
  (on ("  ● Test suite failed to run")
    (begin-failure :test (stashed :file) :path (stashed :file) :suite t :merge (stashed :again)))
  (on ("  ● " (title rest))
    ;; a test that failed in several hooks is told once for each
    (begin-failure :test (title-of title) :path (stashed :file) :merge t))
  (on ("● " (title (or "Validation Error" "Deprecation Warning" "Configuration Error" "Multiple configurations found" "Validation Warning" "Unrecognized CLI Parameter" "Invalid testPattern")))
    (if (not (suffixp "Warning" title)) (begin-failure :suite t :category "setup" :message title) (end-failure)))
  ;; the github-actions reporter
  (on ("Errors thrown in " (file rest)) (end-failure) (stash :file (trim file)))
  (on ("Test Suites:" rest) (end-failure))
  (on ("Tests:" blanks+ (counts rest)) (end-failure)
    (tally-list counts "," '(:passed :passed :failed :failed :skipped :skipped)))
  (on ((or "Snapshot Summary" "Ran all test suites" "Snapshots:" "Time:      " " › " "Jest did not exit" "npm ERR!" "npm error" "error Command failed" "##[error]")) (end-failure))
  (on ("No tests found") (flag :none-ran))
  (include opl.failures.runners.coverage:coverage)
  (on ("Jest: " text "threshold") (end-failure) (flag :failed))
  (within (t) ((or "----------" "=============================== Coverage")) (end-failure)))
