;;;; sidecar/wire/children.lisp: however the work with a child is left, the child has ended.

(defpackage #:opl.test.children
  (:use #:cl #:opl.test)
  (:import-from #:opl.wire.children #:with-child))

(in-package #:opl.test.children)

(deftest a-child-is-gone-when-its-work-is-left
  (let ((kept nil))
    (check-error error (with-child (child "sleep" '("600"))
                         (setf kept child)
                         (check (sb-ext:process-alive-p child))
                         (error "the work fails")))
    (check (not (sb-ext:process-alive-p kept)))))

(deftest what-a-child-writes-can-be-read
  (check-equal "said" (with-child (child "echo" '("said") :output :stream)
                        (read-line (sb-ext:process-output child)))))

(deftest a-program-that-does-not-exist-is-an-error
  (check-error error (with-child (child "/nowhere/program" '()) child)))
