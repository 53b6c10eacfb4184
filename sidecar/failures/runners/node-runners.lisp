(defpackage #:opl.failures.runners.node-runners
  (:use #:cl #:opl.failures.table #:opl.failures.report)
  (:shadowing-import-from #:opl.failures.pattern #:search))
(in-package #:opl.failures.runners.node-runners)

;;; uvu and lab

(define-runner "uvu" (:kind :tests :frames (:js) :innermost :first)
  (sign 6 blanks "FAIL  " (? word "  ") "\"" text "\"" end)
  (sign 6 "  Total:" blanks+ integer end)
  (sign 4 "  Passed:" blanks+ integer end)
  (on ("   FAIL  " (? (suite (not-of "\"")) blanks+) "\"" (name text+) "\"" end)
    (begin-failure :test (if suite (format nil "~A > ~A" (trim suite) name) name)))
  (within (t) (" " (not-of " ") text "(" integer " / " integer ")" end) (end-failure))
  (on ("  Total:" blanks+ (n integer) end) (end-failure) (stash :total n) (tally :all n) (when (eql n 0) (flag :none-ran)) t)
  (on ("  Passed:" blanks+ (n integer) end) (tally :passed n))
  (on ("  Skipped:" blanks+ (n integer) end) (tally :skipped n))
  ;; the total leaves the skipped out
  (finish (when (count-of :all) (total :failed (max 0 (- (count-of :all) (or (count-of :passed) 0)))) (tally :skipped 0))))

(define-runner "lab" (:kind :tests :frames (:js) :innermost :first)
  (sign 8 integer " of " integer " tests failed")
  (sign 8 integer " tests passed" end)
  (sign 4 "Test duration: " integer " ms")
  (sign 3 "Leaks: No issues")
  (on ("Failed tests:" end) (end-failure) (enter :failed))
  (within (:failed) ("  " integer ") " (name text+) ":" end) (begin-failure :test name))
  (within (:failed) (blanks "actual expected" end) t)
  (on ((failed integer) " of " (n integer) " tests failed" (? " (" (skipped integer) " skipped)"))
    (leave) (tally :failed failed) (tally :passed (- n failed)) (tally :skipped (or skipped 0)))
  (on ((n integer) " tests passed" (? " (" (skipped integer) " skipped)") end) (leave) (tally :passed n) (tally :failed 0) (tally :skipped (or skipped 0))))
