;;;; sidecar/operations/memory.lisp: what a command printed becomes tests, and the tree's changes become edits.

(defpackage #:opl.test.operations.memory
  (:use #:cl #:opl.test)
  (:import-from #:opl.session.intake #:take-in)
  (:import-from #:opl.session.memory #:attach-memory #:observations)
  (:import-from #:opl.session.facts #:facts #:section-title #:section-items)
  (:import-from #:opl.operations.memory))

(in-package #:opl.test.operations.memory)

(defun section (title)
  (let ((section (find title (facts (observations "s")) :key #'section-title :test #'string=)))
    (and section (section-items section))))

(defparameter *failed*
  (format nil "~{~A~%~}"
          '("============================= test session starts =============================="
            "collected 2 items" "" "tests/test_a.py .F                                    [100%]" ""
            "=================================== FAILURES ==================================="
            "___________________________________ test_two ___________________________________" ""
            "    def test_two():" ">       assert 1 == 2" "E       assert 1 == 2" "" "tests/test_a.py:5: AssertionError"
            "=========================== short test summary info ============================"
            "FAILED tests/test_a.py::test_two - assert 1 == 2"
            "========================= 1 failed, 1 passed in 0.02s ==========================")))

(defparameter *passed*
  (format nil "~{~A~%~}"
          '("============================= test session starts ==============================" "collected 2 items" ""
            "tests/test_a.py ..                                    [100%]" ""
            "============================== 2 passed in 0.02s ===============================")))

(deftest test-runs-in-the-shell-are-read
  (with-scratch-folder (folder)
    (attach-memory folder)
    (unwind-protect
         (progn
           (take-in "s" :output :subject "pytest -q" :state "1" :text *failed* :head "0123456789abcdef")
           (check (search "test_two" (first (section "Failing tests"))))
           (check (search "tests/test_a.py:5" (first (section "Failing tests"))))
           (check (search "1 passed, 1 failed at 0123456789" (first (section "Last test runs"))))
           (take-in "s" :output :subject "ls" :state "0" :text (format nil "a.py~%b.py~%"))
           (check-equal 1 (length (section "Last test runs")))
           (take-in "s" :output :subject "pytest -q" :state "0" :text *passed*)
           (check-equal '() (section "Failing tests"))
           (check-equal 1 (length (section "Fixed tests"))))
      (attach-memory nil))))
