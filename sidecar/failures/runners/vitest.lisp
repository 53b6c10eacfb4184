(defpackage #:opl.failures.runners.vitest
  (:use #:cl #:opl.failures.table #:opl.failures.report)
  (:shadowing-import-from #:opl.failures.pattern #:search)
  (:import-from #:opl.failures.runners.jest #:tally-list))
(in-package #:opl.failures.runners.vitest)

;;; vitest's default, verbose, basic, dot and tree reporters, 0.x to 3.x: the details at the end are alike.

(defun heading (what)
  "The file and the names of `|project| src/a.test.ts > suite > test` or `a.test.js [ a.test.js ]`."
  (let* ((bracket (search " [ " what))
         (what (if bracket (subseq what 0 bracket) what))
         (parts (mapcar #'trim (split-on " > " what)))
         (blank (position #\Space (first parts) :from-end t)))
    (values (if blank (subseq (first parts) (1+ blank)) (first parts)) (rest parts))))

(defun open-heading (what)
  "Opens the failure of a FAIL line. Several headings in a row share one error."
  (multiple-value-bind (file names) (heading what)
    (let ((before (reading-open *reading*)))
      (if names
          (begin-failure :test (joined names) :path file)
          (begin-failure :test file :path file :suite t))
      (when (and before (null (draft-lines before)) (not (eq before (reading-open *reading*))))
        (stash :twins (acons before (reading-open *reading*) (stashed :twins))))
      t)))

(define-runner "vitest" (:kind :tests :frames (:js) :innermost :first)
  (sign 10 blanks (or "RUN" "DEV") blanks+ "v" integer "." integer)
  (sign 8 blanks "Test Files " blanks (of "0123456789"))
  (sign 10 blanks "Test Files " blanks "no tests")
  (sign 10 "No test files found, exiting with code ")
  (sign 10 (of "⎯ ") "Failed " (or "Tests" "Suites") " ")
  (sign 4 "> " (? text (of " /")) "vitest" (or end blank))
  (on (blanks (of "⎯") blanks (kind (or "Unhandled Rejection" "Unhandled Error" "Uncaught Exception" "Startup Error" "Unhandled Source Errors" "Typecheck Error" "Unhandled Errors")) " ")
    (cond ((string= kind "Unhandled Errors") (end-failure) (flag :failed))
          ((string= kind "Startup Error") (begin-failure :suite t :category "setup"))
          (t (flag :failed) (begin-failure :category "error" :test nil))))
  (on (blanks (of "⎯") blanks (? "Failed " rest)) (end-failure))
  (on (blanks (of "⎯") "[" integer "/" integer "]") (end-failure))
  (on (blanks "FAIL " blanks+ (what text+) end) (open-heading what))
  (on (blanks "Test Files " blanks (or (of "0123456789") "no tests")) (end-failure) (flag :ended))
  (on (blanks "Tests " blanks (counts (of "0123456789") text+) end) (end-failure)
    (tally-list counts "|" '(:passed :passed :failed :failed :skipped :skipped)))
  (on (blanks "Tests " blanks "no tests" end) (end-failure) (tally :passed 0) (flag :none-ran))
  (on ("No test files found") (flag :none-ran))
  (on ((? "✘ [ERROR] ") "failed to load config from " (path rest)) (begin-failure :path path :test path :suite t :category "setup" :message (format nil "failed to load config from ~A" path)))
  (within (t) ("This error originated in \"" (file text+) "\"")
    (when (pending) (setf (failure-test (pending)) file) (unless (failure-path (pending)) (setf (failure-path (pending)) file)))
    reject)
  (within (t) ("The latest test that might've caused the error is \"" (name text+) "\"")
    (when (pending) (setf (failure-test (pending)) (joined (rest (split-on " > " (concatenate 'string "x > " name)))))) reject)
  (finish
    ;; an empty suite is told of its file and of each of its blocks
    (dolist (draft (reading-failures *reading*))
      (when (and (search "No test found in suite" (format nil "~{~A~}" (draft-lines draft))) (not (failure-suite (draft-failure draft))))
        (drop-failure draft)))
    (loop for (before . after) in (stashed :twins)
          unless (draft-lines before) do (setf (draft-lines before) (draft-lines after)))))
