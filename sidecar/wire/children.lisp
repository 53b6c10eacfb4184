;;;; Programs the sidecar starts (ctags, git). Each is known here from start to end, so that none outlives the sidecar.

(defpackage #:opl.wire.children
  (:use #:cl)
  (:export #:with-child #:kill-child #:kill-children))

(in-package #:opl.wire.children)

(defvar *children* '() "The processes that run now.")
(sb-ext:defglobal **lock** (sb-thread:make-mutex :name "children"))
(defvar *closing* nil "True once the sidecar ends: nothing is started any more.")

(defun start (program arguments options)
  (sb-thread:with-recursive-lock (**lock**)
    (when *closing* (error "The sidecar is ending."))
    (let ((child (apply #'sb-ext:run-program program arguments :wait nil :search t options)))
      (push child *children*)
      child)))

(defun kill-child (child)
  "Kills CHILD and what it has started: a wrapper's program would hold the pipe open. SBCL gives each child a process group of its own."
  (when (sb-ext:process-alive-p child)
    #-win32 (ignore-errors (sb-ext:process-kill child sb-unix:sigkill :process-group))
    (ignore-errors (sb-ext:process-kill child #-win32 sb-unix:sigkill #+win32 9))))

(defun finish (child)
  "Ends CHILD when it still runs, closes its streams and forgets it."
  (kill-child child)
  (ignore-errors (sb-ext:process-wait child))
  (ignore-errors (sb-ext:process-close child))
  (sb-thread:with-recursive-lock (**lock**)
    (setf *children* (remove child *children*)))
  nil)

(defmacro with-child ((child program arguments &rest options) &body body)
  "Runs BODY with CHILD bound to a process that runs PROGRAM (looked up in PATH) with the list ARGUMENTS; OPTIONS are those of SB-EXT:RUN-PROGRAM
(:wait is nothing already). However BODY is left, the process has ended by then."
  `(call-with-child (lambda (,child) ,@body) ,program ,arguments (list ,@options)))

(defun call-with-child (function program arguments options)
  (let ((child nil))
    (unwind-protect
         (progn
           (sb-sys:without-interrupts
             (setf child (start program arguments options)))
           (funcall function child))
      (when child (finish child)))))

(defun kill-children ()
  "Kills every running child and starts none any more. For the end of the sidecar; does not wait."
  (setf *closing* t)
  (mapc #'kill-child *children*)
  nil)
