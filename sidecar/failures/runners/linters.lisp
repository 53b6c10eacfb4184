(defpackage #:opl.failures.runners.linters
  (:use #:cl #:opl.failures.table #:opl.failures.report)
  (:shadowing-import-from #:opl.failures.pattern #:search))
(in-package #:opl.failures.runners.linters)

;;; tsc, eslint, mypy, and what stands alone of their like

(define-runner "tsc" (:kind :compiler :frames () :message :plain)
  (sign 10 path "(" integer "," integer "): error TS")
  (sign 10 path ":" integer ":" integer " - error TS")
  (sign 6 "Found " integer " error" (? "s"))
  (sign 10 "error TS" integer ": ")
  (on ((path text+) "(" (at integer) "," integer "): error " (code "TS" (of "0123456789")) ": " (message rest)) (begin-failure :path path :line at :message (format nil "~A: ~A" code message) :category "compile" :suite t))
  (on ((path text+) ":" (at integer) ":" integer " - error " (code "TS" (of "0123456789")) ": " (message rest)) (begin-failure :path path :line at :message (format nil "~A: ~A" code message) :category "compile" :suite t))
  (on ("error " (code "TS" (of "0123456789")) ": " (message rest)) (begin-failure :message (format nil "~A: ~A" code message) :category "compile" :suite t))
  (on ("Found " (n integer) " error" (? "s")) (end-failure) (total :failed n) (enter nil))
  (within (t) ((text (not-of " ") rest)) (end-failure))
  (finish (unless (count-of :failed) (total :failed (length (reading-failures *reading*))))))

(defun lint-rule (text)
  "The message and the rule of eslint's `Unexpected var   no-var`."
  (let ((gap (search "  " text :from-end t)))
    (if gap (values (string-right-trim " " (subseq text 0 gap)) (subseq text (+ gap 2))) (values text nil))))

(define-runner "eslint" (:kind :linter :frames () :message :plain)
  (sign 10 (? "✖ ") integer " problem" (? "s") " (" integer " error")
  (sign 4 blanks integer ":" integer blanks+ (or "error" "warning") blanks+)
  (on ((path (or "/" "./" (seq letter ":\\") (seq letter ":/")) (not-of "*\"<>|")) end) (if (or (find #\: path :start (min 2 (length path)))) reject (progn (stash :file path) (enter :file))))
  (on (blanks (at integer) ":" integer blanks+ (kind (or "error" "warning")) blanks+ (text rest))
    (multiple-value-bind (message rule) (lint-rule text)
      (if (and (string= kind "error") (stashed :file))
          (note-failure :test rule :path (stashed :file) :line at :message message :category (if (prefixp "Parsing error" message) "compile" "error"))
          t)))
  (on ((? "✖ ") (n integer) " problem" (? "s") " (" (errors integer) " error" (? "s")) (enter nil) (tally :problems n)
    (if (eql errors 0) (flag :passed) (total :failed n)) t))

(define-runner "mypy" (:kind :compiler :frames () :message :plain)
  (sign 10 "Found " integer " error" (? "s") " in " integer " file")
  (sign 4 path ".py:" integer ": error: ")
  (on ((path path ".py") ":" (at integer) ":" (? integer ":") " error: " (message rest)) (note-failure :path path :line at :message message :category "compile" :suite t))
  (on ("Found " (n integer) " error" (? "s") " in " integer " file") (total :failed n)))
