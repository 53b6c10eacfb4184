;;;; sidecar/session/intake.lisp

(defpackage #:opl.test.session.intake
  (:use #:cl #:opl.test #:opl.session.intake)
  (:import-from #:opl.session.memory #:attach-memory #:observations)
  (:import-from #:opl.session.observation #:observation-kind #:observation-subject #:observation-state #:observation-text)
  (:import-from #:opl.session.facts #:facts #:section-title #:section-items))

(in-package #:opl.test.session.intake)

(defmacro with-memory (&body body)
  `(with-scratch-folder (folder)
     (attach-memory folder)
     (unwind-protect (progn ,@body) (attach-memory nil))))

(defun kinds () (mapcar #'observation-kind (observations "s")))

(defun section (title)
  (let ((section (find title (facts (observations "s")) :key #'section-title :test #'string=)))
    (and section (section-items section))))

(deftest a-request-states-its-decisions-once
  (with-memory
    (take-in "s" :request :text "We use tabs here. Fix the parser.")
    (check-equal '(:request :decision) (kinds))
    (take-in "s" :answer :text "I read it. We use tabs here.")
    (check-equal '(:request :decision) (kinds))
    (take-in "s" :answer :text "The tests are green.")
    (check-equal '(:request :decision) (kinds))))

(deftest an-edit-names-its-symbols
  (with-memory
    (let ((diff (format nil "--- a/x.ts~%+++ b/x.ts~%@@ -1,2 +1,2 @@~% function f() {~%-  a~%+  b~%")))
      (take-in "s" :edit :subject "x.ts" :state "change" :text diff)
      (check-equal '("x.ts: f: +1 -1 | was: a | now: b") (section "Edited files and symbols"))
      (let ((*symbols-at* (lambda (path lines) (check-equal "x.ts" path) (check-equal '(2) lines) '("Box.f"))))
        (take-in "s" :edit :subject "x.ts" :state "change" :text diff))
      (check (search "Box.f: +1 -1" (first (section "Edited files and symbols"))))
      (let ((*symbols-at* (lambda (path lines) (declare (ignore path lines)) (error "no index"))))
        (take-in "s" :edit :subject "y.ts" :state "change" :text diff))
      (check-equal 2 (length (section "Edited files and symbols"))))))

(deftest tests-that-fail-no-more-are-fixed
  (with-memory
    (take-test-run "s" "npm test" "failed" "2 of 9" '(("a" "a.ts:1 no") ("b" "b.ts:2 no")))
    (take-test-run "s" "npm run lint" "failed" "" '(("lint" "x")))
    (check-equal '("a: a.ts:1 no" "b: b.ts:2 no" "lint: x") (section "Failing tests"))
    (take-test-run "s" "npm test" "failed" "1 of 9" '(("b" "b.ts:2 no")))
    (check-equal '("lint: x" "b: b.ts:2 no") (section "Failing tests"))
    (check-equal '("a") (section "Fixed tests"))
    (take-test-run "s" "npm test" "timeout" "" '())
    (check-equal 2 (length (section "Failing tests")))
    (take-test-run "s" "npm test" "passed" "9 of 9" '())
    (check-equal '("lint: x") (section "Failing tests"))
    (check-equal '("a" "b") (section "Fixed tests"))
    (check (find "npm test: passed, 9 of 9" (section "Last test runs") :test #'string=))))

(deftest a-verdict-carries-its-tests-and-its-commit
  (with-memory
    (take-in "s" :verdict :subject "npm test" :state "failed" :head "0123456789abcdef"
                          :text (format nil "1 passed, 1 failed~%adds~Ctest/a.ts:3 expected 1" #\Tab))
    (check-equal '("adds: test/a.ts:3 expected 1") (section "Failing tests"))
    (check-equal '("npm test: failed, 1 passed, 1 failed at 0123456789") (section "Last test runs"))
    (take-in "s" :verdict :subject "npm test" :state "passed" :text "2 passed, 0 failed")
    (check-equal '("adds") (section "Fixed tests"))))

(deftest secrets-go-before-texts-are-cut-and-folded
  (with-memory
    (let ((long (format nil "~A and MAIN_ID=Zx81-Qq77" (make-string 1480 :initial-element #\a))))
      (take-in "s" :request :text (format nil "my settings:~%STRIPE_ID=Zx81-Qq77~%please look at them"))
      (take-in "s" :request :text (substitute #\Newline #\  long :count 3))
      (take-in "s" :tool :subject "bash" :text (format nil "cat > .env <<EOF~%PLAIN=Zx81-Qq77~%EOF"))
      (take-in "s" :edit :subject ".env" :state "change" :text (format nil "@@ -1 +1 @@~%-PLAIN=Zx81-Qq77~%+PLAIN=Zx81-Qq78~%"))
      (take-in "s" :verdict :subject "npm test" :state "failed" :text (format nil "1 failed~%adds~Capi_key=\"Zx81-Qq77\"" #\Tab))
      (dolist (observation (observations "s"))
        (check (not (search "Zx81-Qq7" (format nil "~A ~A" (observation-subject observation) (observation-text observation)))))))))

(deftest a-wider-run-and-a-narrower-one-settle-tests-too
  (with-memory
    (take-test-run "s" "pytest -q tests/test_a.py" "failed" "" '(("tests/test_a.py::one" "x")))
    (take-test-run "s" "pytest tests/test_b.py" "passed" "" '())
    (check-equal '("tests/test_a.py::one: x") (section "Failing tests"))
    (take-test-run "s" "pytest -x" "passed" "" '())
    (check-equal '() (section "Failing tests"))
    (take-test-run "s" "npm test" "failed" "" '(("adds" "test/add.test.ts:3 expected 1") ("takes" "test/take.test.ts:4 expected 2")))
    (take-test-run "s" "npm test -- ./test/add.test.ts" "passed" "" '())
    (check-equal '("takes: test/take.test.ts:4 expected 2") (section "Failing tests"))
    (take-test-run "s" "npm run lint" "passed" "" '())
    (check-equal 1 (length (section "Failing tests")))))
