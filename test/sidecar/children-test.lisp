;;;; sidecar/wire/children.lisp: however the work with a child is left, the child has ended.

(defpackage #:opl.test.children
  (:use #:cl #:opl.test)
  (:import-from #:opl.wire.children #:with-child #:kill-child))

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

(deftest what-a-wrapper-started-is-gone-with-it
  ;; The program that a wrapper script started holds the pipe; a reader would wait for it.
  (let ((start (get-universal-time)))
    (with-child (child "sh" '("-c" "echo begun; sleep 600; true") :output :stream)
      (read-line (sb-ext:process-output child))
      (kill-child child)
      (check-equal nil (read-line (sb-ext:process-output child) nil)))
    (check (< (- (get-universal-time) start) 300))))
