;;;; sidecar/image/keep.lisp

(defpackage #:opl.test.image.keep
  (:use #:cl #:opl.test #:opl.image.keep)
  (:import-from #:opl.image.evaluate #:evaluate #:evaluation-values #:evaluation-outcome #:evaluation-message)
  (:import-from #:opl.image.world #:take-baseline #:reset))

(in-package #:opl.test.image.keep)

(take-baseline)

(defun value (code)
  (car (first (evaluation-values (evaluate code)))))

(defmacro with-project ((folder) &body body)
  `(with-scratch-folder (,folder)
     (reset)
     (attach-kept ,folder)
     (unwind-protect (progn ,@body) (attach-kept nil))))

(deftest a-kept-definition-is-there-in-the-next-session
  (with-project (folder)
    (value "(defmacro doubled (x) `(* 2 ,x)) (defun rule (x) \"doc (with parens)\" (doubled x))")
    (value "(keep 'doubled) (keep 'rule)")
    (reset)
    (check-equal :error (evaluation-outcome (evaluate "(rule 4)")))
    (check-equal '() (attach-kept folder))
    (check-equal "8" (value "(rule 4)"))
    (check-equal "2" (value "(length (kept))"))))

(deftest keeping-again-replaces-and-keeps-the-place
  (with-project (folder)
    (value "(defun one () 1) (keep 'one) (defun two () 2) (keep 'two) (defun one () 11) (keep 'one)")
    (check-equal '("one" "two") (mapcar #'first (kept)))
    (reset)
    (attach-kept folder)
    (check-equal "11" (value "(one)"))))

(deftest dropping
  (with-project (folder)
    (value "(defun one () 1) (keep 'one)")
    (check-equal "T" (value "(drop 'one)"))
    (check-equal "NIL" (value "(drop 'one)"))
    (check-equal '() (kept))))

(deftest a-broken-one-is-set-aside-and-the-others-load
  (with-project (folder)
    (value "(defun good () :good) (keep 'good) (defun bad () :bad) (keep 'bad)")
    (with-open-file (stream (merge-pathnames "bad.lisp" folder) :direction :output :if-exists :supersede)
      (format stream ";;; kept 2 bad~%(defun bad ("))
    (reset)
    (let ((messages (attach-kept folder)))
      (check-equal 1 (length messages))
      (check (search "bad" (first messages))))
    (check-equal ":GOOD" (value "(good)"))
    (check (find :broken (kept) :key #'second))
    (check-equal '() (attach-kept folder))
    (check-equal "T" (value "(drop 'bad)"))))

(deftest one-that-never-ends-or-exits-does-not-block-the-start
  (with-project (folder)
    (value "(defun rule () 1) (keep 'rule)")
    (with-open-file (stream (merge-pathnames "rule.lisp" folder) :direction :output :if-exists :supersede)
      (format stream ";;; kept 1 rule~%(exit)"))
    (check-equal 1 (length (attach-kept folder)))))

(deftest what-has-no-source-cannot-be-kept
  (with-project (folder)
    (check (search "at top level" (evaluation-message (evaluate "(keep 'never-defined)")))))
  (value "(defun one () 1)")
  (check (search "No project" (evaluation-message (evaluate "(keep 'one)")))))

(deftest strange-names
  (with-project (folder)
    (value "(defun |a/../b c| () 3) (keep '|a/../b c|) (defstruct (point (:copier nil)) x) (keep 'point)")
    (reset)
    (check-equal '() (attach-kept folder))
    (check-equal "3" (value "(|a/../b c|)"))
    (check-equal "1" (value "(point-x (make-point :x 1))"))))

(deftest help-lists-the-words
  (check (search "(keep 'my-rule)" (opl.image.evaluate:evaluation-output (evaluate "(help)")))))
