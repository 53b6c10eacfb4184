;;;; What user code may not do to the image: end it, write to the wire, read from the wire, or leave
;;;; threads behind that nobody can see. Threads that run user code are marked by *GUARDED*; the
;;;; encapsulations below act in those threads alone, and threads they start are marked in turn.

(defpackage #:opl.image.guard
  (:use #:cl)
  (:import-from #:sb-alien #:alien-funcall #:sap-alien #:void #:int #:system-area-pointer)
  (:import-from #:opl.image.printing #:make-bounded-stream #:bounded-text)
  (:import-from #:opl.image.allowance #:with-allowance #:check-room)
  (:export #:call-guarded #:close-guard-pages #:exit-refused
           #:live-threads #:kill-thread #:forget-threads #:threads #:thread-output))

(in-package #:opl.image.guard)

(declaim (optimize (speed 1) (safety 1)))

(defconstant +thread-limit+ 32
  "Threads of user code that may live at once; a loop that starts threads stops here, not at the
machine's memory.")

(defconstant +thread-output-limit+ 4000
  "Characters kept of what one such thread prints.")

(defconstant +kill-patience+ 1
  "Seconds to wait for a killed thread to unwind.")

(defvar *guarded* nil
  "True in threads that run user code.")

(define-condition exit-refused (serious-condition)
  ((call :initarg :call :reader refused-call))
  (:report (lambda (condition stream)
             (format stream "~A was not carried out: the image answers other requests too and stays. ~
                             Use lisp_reset to forget definitions."
                     (refused-call condition))))
  (:documentation "Signalled in place of ending the image."))

;;; The streams of a guarded thread.

(defun call-guarded (output function)
  "Call FUNCTION with every standard stream turned to the stream OUTPUT, input being an empty stream,
and with the calling thread marked as one that runs user code. Returns FUNCTION's values."
  (let* ((input (make-concatenated-stream))
         (both (make-two-way-stream input output))
         (*guarded* t)
         (*standard-input* input)
         (*standard-output* output)
         (*error-output* output)
         (*trace-output* output)
         (*query-io* both)
         (*debug-io* both)
         (*terminal-io* both)
         ;; The streams on the process's own descriptors: the wire may be one of them.
         (sb-sys:*stdin* input)
         (sb-sys:*stdout* output)
         (sb-sys:*stderr* output)
         (sb-sys:*tty* both))
    (funcall function)))

;;; Stacks. A thread whose stack was exhausted leaves a guard page open, and SBCL 2.2.9 gives its
;;; memory to the next thread as it is: the second exhaustion then ends the process. (Later versions
;;; mend this themselves when a thread ends.) So every guarded thread closes its pages before it ends.

(defun thread-sap ()
  (sb-vm::current-thread-offset-sap sb-vm::thread-this-slot))

(defun call-runtime (name protect)
  "Call the runtime's guard page function NAME for this thread, where the runtime has it."
  (let ((address (sb-sys:find-foreign-symbol-address name)))
    (when address
      (alien-funcall (sap-alien (sb-sys:int-sap address) (function void int system-area-pointer))
                     protect (thread-sap)))))

(defun close-guard-pages ()
  "Protect the guard pages of this thread's stacks again; without effect when they are."
  ;; The first octet of the state word is 0 while the control stack's guard page is open.
  (let* ((slot (find-symbol "THREAD-STATE-WORD-SLOT" :sb-vm))
         (offset (and slot (ash (symbol-value slot) sb-vm:word-shift))))
    (when (and offset (zerop (sb-sys:sap-ref-8 (thread-sap) offset)))
      (call-runtime "protect_control_stack_guard_page" 1)
      (call-runtime "protect_control_stack_return_guard_page" 0)
      (setf (sb-sys:sap-ref-8 (thread-sap) offset) 1)))
  (dolist (stack '("binding" "alien"))
    (call-runtime (format nil "protect_~A_stack_guard_page" stack) 1)
    (call-runtime (format nil "protect_~A_stack_return_guard_page" stack) 0)))

;;; Threads that user code starts.

(defstruct (started (:conc-name started-))
  (number 0 :type fixnum)
  thread
  output
  (ending nil))

(defvar *started* '()
  "The threads that user code started, newest first; ended ones stay until they are looked at or reset.")
(defvar *started-lock* (sb-thread:make-mutex :name "threads of user code"))
(defvar *started-count* 0)
(declaim (type fixnum *started-count*))

(defun alive-p (started)
  (let ((thread (started-thread started)))
    (and thread (sb-thread:thread-alive-p thread))))

(defun live-threads ()
  "The names of the threads that user code started and that still run, oldest first: a list of strings."
  (sb-thread:with-mutex (*started-lock*)
    (loop for started in (reverse *started*)
          when (alive-p started)
            collect (format nil "~D ~A" (started-number started)
                            (sb-thread:thread-name (started-thread started))))))

(defun run-started (started function arguments)
  "The body of a thread of user code: errors end it and are kept, nothing reaches a debugger."
  (let ((tag (list 'end)))
    (flet ((leave (condition hook)
             (declare (ignore hook))
             (setf (started-ending started)
                   (handler-case (format nil "ended by ~A: ~A" (type-of condition) condition)
                     (error () "ended by an error")))
             (throw tag nil)))
      (unwind-protect
           (catch tag
             (let ((sb-ext:*invoke-debugger-hook* #'leave)
                   (*debugger-hook* nil))
               (with-allowance ((lambda ()
                                  (setf (started-ending started) "stopped: it made the image hold too much memory")
                                  (throw tag nil)))
                 (multiple-value-prog1
                     (call-guarded (started-output started) (lambda () (apply function arguments)))
                   (setf (started-ending started) "returned")))))
        (close-guard-pages)))))

(defun make-guarded-thread (make-thread function keys)
  "Start FUNCTION in a thread that is guarded and listed. KEYS are those of SB-THREAD:MAKE-THREAD."
  (let* ((started (make-started :output (make-bounded-stream +thread-output-limit+)))
         (function (coerce function 'function))
         (arguments (getf keys :arguments))
         (arguments (if (listp arguments) arguments (list arguments))))
    (when (>= (length (live-threads)) +thread-limit+)
      (error "~D threads of yours are running, which is the limit. (threads) lists them, (kill-thread :all) ends them."
             +thread-limit+))
    (sb-thread:with-mutex (*started-lock*)
      (setf (started-number started) (incf *started-count*))
      (push started *started*)
      (setf *started* (subseq *started* 0 (min (length *started*) (* 4 +thread-limit+)))))
    (setf (started-thread started)
          (funcall make-thread
                   (lambda () (run-started started function arguments))
                   :name (or (getf keys :name)
                             (format nil "thread ~D" (started-number started)))))))

(defun threads ()
  "The threads that your code started: a list of (number name state output), oldest first; output is
what the thread printed. Nothing started gives an empty list."
  (sb-thread:with-mutex (*started-lock*)
    (loop for started in (reverse *started*)
          collect (list (started-number started)
                        (let ((thread (started-thread started)))
                          (if thread (sb-thread:thread-name thread) "starting"))
                        (cond ((alive-p started) :running)
                              ((started-ending started))
                              (t :ended))
                        (bounded-text (started-output started))))))

(defun thread-output (number)
  "What thread NUMBER printed, as a string; NIL when there is no such thread."
  (let ((row (find number (threads) :key #'first)))
    (and row (fourth row))))

(defun kill-thread (which)
  "End a thread that your code started: WHICH is its number, its name, or :ALL. Returns how many were ended."
  (let ((victims (sb-thread:with-mutex (*started-lock*)
                   (remove-if-not
                    (lambda (started)
                      (and (alive-p started)
                           (not (eq (started-thread started) sb-thread:*current-thread*))
                           (or (eq which :all)
                               (eql which (started-number started))
                               (and (stringp which)
                                    (equal which (sb-thread:thread-name (started-thread started)))))))
                    *started*))))
    (dolist (started victims)
      (setf (started-ending started) "killed")
      (ignore-errors (sb-thread:terminate-thread (started-thread started))))
    (dolist (started victims (length victims))
      (ignore-errors
       (sb-thread:join-thread (started-thread started) :default nil :timeout +kill-patience+)))))

(defun forget-threads ()
  "End every thread that user code started and forget what they printed. Returns how many were ended."
  (prog1 (kill-thread :all)
    (sb-thread:with-mutex (*started-lock*)
      (setf *started* (remove-if-not #'alive-p *started*)))))

;;; The encapsulations. SBCL's own ENCAPSULATE is what TRACE stands on: it changes the function that a
;;; name calls without redefining it, and package locks do not object.

(defun refuse-in-guarded (name)
  (sb-int:encapsulate name 'opl-guard
                      (lambda (function &rest arguments)
                        ;; A signal that ends the process may be handled in this thread too; handlers run with
                        ;; interrupts disabled, and are let through.
                        (if (and *guarded* sb-sys:*interrupts-enabled*)
                            (error 'exit-refused
                                   :call (format nil "(~(~A~)~{ ~(~S~)~})" name arguments))
                            (apply function arguments)))))

(defconstant +cons-octets+ 16)

(defun bound-lists ()
  "SBCL's runtime makes the list of MAKE-LIST in one piece, and when there is no room in the middle of it the process ends."
  (sb-int:encapsulate 'make-list 'opl-guard
                      (lambda (function size &rest keys)
                        (when (and *guarded* (typep size 'unsigned-byte)) (check-room (* +cons-octets+ size)))
                        (apply function size keys))))

(defun install ()
  "Put the guards in place; doing so twice is harmless."
  (bound-lists)
  (mapc #'refuse-in-guarded '(sb-ext:exit sb-ext:quit sb-ext:save-lisp-and-die sb-sys:os-exit))
  (sb-int:encapsulate 'sb-thread:make-thread 'opl-guard
                      (lambda (function code &rest keys)
                        (if *guarded*
                            (make-guarded-thread (lambda (&rest arguments) (apply function arguments))
                                                 code keys)
                            (apply function code keys)))))

(install)
