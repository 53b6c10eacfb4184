(defpackage #:opl.failures.runners.go-specs
  (:use #:cl #:opl.failures.table #:opl.failures.report)
  (:shadowing-import-from #:opl.failures.pattern #:search)
  (:export #:ginkgo #:gocheck #:specs-told-p #:forget-specs))
(in-package #:opl.failures.runners.go-specs)

;;; Ginkgo and gopkg.in/check: one test function of go's runs a suite of theirs. What failed is told by the suite's own words; the function
;;; itself is then no failure of its own, like the parent of a failed subtest.

(defconstant +lines-of-a-spec+ 80 "Lines of a failed spec that are kept.")

(defun specs-told-p () "True when the suite of the test function that is being read has named its failures." (stashed :specs-told))
(defun forget-specs () "The test function has ended." (stash :specs-told nil))
(defun back () (end-failure) (enter (if (stashed :running) :output nil)))

(defun keep-line (line)
  (let ((lines (stashed :spec)))
    (when (< (length lines) +lines-of-a-spec+) (stash :spec (cons line lines)))
    t))

(defun end-block ()
  "Ginkgo repeats in its summary, in the same order, what it told in blocks."
  (when (stashed :spec) (stash :spec-blocks (cons (stashed :spec) (stashed :spec-blocks))))
  (stash :spec nil)
  (back))

(defparameter *nodes* '("[It] " "[BeforeEach] " "[JustBeforeEach] " "[AfterEach] " "[JustAfterEach] " "[BeforeAll] " "[AfterAll] " "[BeforeSuite] " "[AfterSuite] " "[SynchronizedBeforeSuite] " "[DeferCleanup (Each)] " "[Measure] ")
  "What Ginkgo puts before the part of a name in which a spec failed.")

(defun summed-spec (kind name)
  "A line of the summary: `[Fail] Cart when empty [It] has a total`."
  (let* ((name (trim name))
         (node (find-if (lambda (node) (search node name)) *nodes*)) (at (and node (search node name)))
         (plain (if at (concatenate 'string (subseq name 0 at) (subseq name (+ at (length node)))) name))
         (told (reverse (first (last (stashed :spec-blocks)))))
         ;; above it the block names the places of the containers
         (panicked (member-if (lambda (line) (search "Test Panicked" line)) told)))
    (stash :spec-blocks (butlast (stashed :spec-blocks)))
    (stash :specs-told t)
    (begin-failure :test plain :category (cond ((search "TIME" kind) "timeout") ((and node (not (search "[It]" node)) (not (search "[Measure]" node))) "setup")
                                              (panicked "error")))
    (dolist (line (or panicked told)) (add-line line))
    (let ((draft (reading-open *reading*))) (end-failure) (stash :spec-failure draft))
    t))

(define-rules ginkgo
  (on ("•" (? "!") " " (or "Failure" "Panic" "Timeout" "[FAILED]" "[PANICKED]" "[TIMEDOUT]") text "[" number " seconds]" end) (stash :spec nil) (end-failure) (enter :spec))
  (within (:spec) ("----------" (of "-") end) (end-block))
  (within (:spec) ("Summarizing " integer " Failure" rest) (end-block) (enter :summing))
  (within (:spec) ((text rest)) (keep-line text))
  (on ("Summarizing " integer " Failure") (end-failure) (enter :summing))
  (within (:summing) (blanks "[" (kind (or "Fail" "Panic!" "FAIL" "PANICKED!" "TIMEDOUT" "Timeout...")) "] " (name rest)) (summed-spec kind name))
  (within (:summing) (blanks (path path ".go") ":" (at integer) end)
    (let ((draft (stashed :spec-failure)))
      ;; a panic is placed in the runtime; the stack in its block knows better
      (when (and draft (not (search "/src/runtime/" path)) (not (search "/src/reflect/" path)))
        (setf (failure-path (draft-failure draft)) path (failure-line (draft-failure draft)) at))
      t))
  (on ("Ran " integer " of " integer " Specs in " rest) (back))
  (on ((or "FAIL!" "SUCCESS!") text "-- " (passed integer) " Passed | " (failed integer) " Failed | " (? integer " Flaked | ") (pending integer) " Pending | " (skipped integer) " Skipped")
    (tally :spec-passed passed) (tally :spec-failed failed) (tally :spec-skipped (+ pending skipped))))

(define-rules gocheck
  (on ((kind (or "FAIL" "PANIC")) ": " (path path ".go") ":" (at integer) ": " (name (not-of " ")) end)
    (stash :specs-told t)
    (begin-failure :test name :path path :line at :category (and (or (search ".SetUp" name) (search ".TearDown" name)) "setup"))
    (stash :check-placed nil)
    (enter :check))
  (within (:check) ((path path ".go") ":" (at integer) ":" end)
    (when (and (pending) (not (stashed :check-placed))) (stash :check-placed t) (setf (failure-path (pending)) path (failure-line (pending)) at)) t)
  (within (:check) ("----------" (of "-") end) (back))
  (on ((or "OOPS: " "OK: ") (passed integer) " passed" (counts rest))
    (flet ((n (word) (loop for part in (split-on "," counts) when (search word part) sum (or (parse-integer (trim part) :junk-allowed t) 0))))
      (tally :spec-passed passed) (tally :spec-failed (+ (n "FAILED") (n "PANICKED"))) (tally :spec-skipped (+ (n "skipped") (n "MISSED")))
      (back))))
