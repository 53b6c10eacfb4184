;;;; lisp_eval: code from the agent, run in a thread of its own with a deadline. Whatever the code
;;;; does, the caller gets an `evaluation` that says what happened, and the next one works.

(defpackage #:opl.image.evaluate
  (:use #:cl)
  (:import-from #:sb-alien #:extern-alien #:int)
  (:import-from #:opl.image.printing
                #:make-bounded-stream #:bounded-text #:print-value #:print-type #:+output-limit+ #:+value-limit+)
  (:import-from #:opl.image.allowance #:allow #:allowance #:over-allowance-p #:with-allowance #:too-large)
  (:import-from #:opl.image.guard #:call-guarded #:close-guard-pages #:exit-refused #:live-threads #:kill-thread)
  (:import-from #:opl.image.definitions #:note-form)
  (:import-from #:opl.image.world #:current-package #:user-package #:remember-package #:user-package-p)
  (:import-from #:opl.image.explain #:explain-condition #:user-frames)
  (:import-from #:opl.session.memory #:*asking-session*)
  (:export #:evaluate
           #:evaluation #:evaluation-outcome #:evaluation-values
           #:evaluation-output #:evaluation-message #:evaluation-frames #:evaluation-notes #:report
           #:+default-deadline+))

(in-package #:opl.image.evaluate)

(declaim (optimize (speed 1) (safety 1)))

(defconstant +default-deadline+ 30
  "Seconds an evaluation may take when the caller names no deadline.")

(defconstant +tick+ 0.02
  "Seconds between two looks at cancellation, deadline and memory while code runs.")

(defconstant +patience+ 3
  "Seconds given to code to unwind after it was interrupted; then it is interrupted once more, then given up.")

(defstruct evaluation
  "What came of evaluating code. OUTCOME is one of :VALUE :ERROR :READ-ERROR :INPUT :EXIT :DEADLINE
:CANCELLED :MEMORY :STACK :STUCK. VALUES is a list of (text . type), one for each value of the last
form, set when the outcome is :VALUE. OUTPUT is what was printed. MESSAGE says what went wrong and what to do. FRAMES are the user's calls, innermost
first. NOTES are lines worth knowing: running threads, another current package."
  (outcome :value :type keyword)
  (values '() :type list)
  (output "" :type string)
  (message "" :type string)
  (frames '() :type list)
  (notes '() :type list))

(defvar *lock* (sb-thread:make-mutex :name "lisp_eval")
  "Evaluations take turns: they share one package and one set of definitions.")

;;; Inside the evaluation's thread.

(defvar *history* (list nil nil nil)
  "The values of *, ** and *** between evaluations.")

(defun line-and-column (code position)
  (let ((end (min position (length code))))
    (values (1+ (count #\Newline code :end end))
            (- end (or (let ((newline (position #\Newline code :end end :from-end t)))
                         (and newline (1+ newline)))
                       0)))))

(defun read-failure (code start position condition)
  "The outcome for code that the reader could not read; START is where the form in question begins."
  (let ((unfinished (typep condition 'end-of-file)))
    (multiple-value-bind (line column) (line-and-column code (if unfinished start position))
      (make-evaluation
       :outcome :read-error
       :message (if unfinished
                    (format nil "The form that begins at line ~D, column ~D is not finished: a closing parenthesis, quote or |# is missing. Nothing of it was evaluated."
                            line column)
                    (format nil "Cannot read line ~D near column ~D: ~A"
                            line column (explain-condition condition)))))))

(defun skip-blank (code position)
  (or (position-if-not (lambda (character)
                         (member character '(#\Space #\Tab #\Newline #\Return #\Page)))
                       code :start (min position (length code)))
      (length code)))

(defun evaluate-forms (code)
  "Read and evaluate the forms of CODE one after the other, so that a form sees the package and the
reader of those before it. Returns the list of values of the last, or an evaluation on a read error."
  (let ((position 0) (values '()) (end (list 'end)))
    (loop
      (let* ((start (skip-blank code position))
             (form (handler-bind
                       ((error (lambda (condition)
                                 (return (read-failure code start position condition)))))
                     (with-input-from-string (stream code :start start :index position)
                       ;; :INDEX is set on a normal exit alone, so keep the position on errors too.
                       (unwind-protect (read stream nil end)
                         (setf position (or (ignore-errors (file-position stream)) start)))))))
        (when (eq form end)
          (return values))
        (setf - form
              values (multiple-value-list (eval form)))
        (note-form form (subseq code start (min position (length code))))
        (setf *** ** ** * * (first values))))))

(defun quiet-compilation (function)
  "Call FUNCTION without the compiler's notes and style warnings: redefinition is normal here, and an
undefined function is reported when it is called."
  (handler-bind ((sb-ext:compiler-note #'muffle-warning)
                 (style-warning (lambda (warning)
                                  (when (find-restart 'muffle-warning warning)
                                    (muffle-warning warning)))))
    (funcall function)))

(defun call-with-fresh-reader (function)
  "Call FUNCTION with standard reader and printer variables and the package that the last evaluation
left; changes to all but the package end with the call."
  (let ((package (current-package))
        (policy sb-c::*policy*))
    (with-standard-io-syntax
      (let* ((*package* package)
             (*readtable* (copy-readtable nil))
             (*read-eval* nil)
             (*print-readably* nil)
             (*print-pretty* t)
             (*print-circle* t)
             (*print-length* 1000)
             (*print-level* 20)
             (*compile-print* nil)
             (*load-verbose* nil)
             (sb-ext:*evaluator-mode* :compile)
             (sb-c::*policy* policy)
             (* (first *history*)) (** (second *history*)) (*** (third *history*))
             (- nil) (+ nil) (/ '()))
        (unwind-protect
             (multiple-value-prog1 (funcall function)
               (setf *history* (list * ** ***)))
          (remember-package *package*))))))

(defconstant +other-value-limit+ 2000
  "Characters kept of a second and later value; the first has +VALUE-LIMIT+.")

(defun printed-values (values)
  "A list of (text . type) for VALUES."
  (unless (package-name *package*)
    ;; The code deleted the package it was read in, and nothing prints without one.
    (setf *package* (user-package)))
  (loop for value in values
        for limit = +value-limit+ then +other-value-limit+
        repeat multiple-values-limit
        collect (cons (print-value value :limit limit) (print-type value))))

(defun outcome-of (condition)
  (typecase condition
    (exit-refused :exit)
    ((or sb-kernel::heap-exhausted-error too-large) :memory)
    ;; Control, binding and alien stack.
    (storage-condition :stack)
    (end-of-file (if (member (stream-error-stream condition) (list *standard-input* *terminal-io*)) :input :error))
    (t :error)))

(defun failure (condition)
  "The evaluation for CONDITION, made where it was signalled, so that the stack is still there."
  (let ((outcome (outcome-of condition)))
    (make-evaluation
     :outcome outcome
     :message (case outcome
                (:stack "The stack is exhausted: the recursion is too deep or never ends. The image is unharmed.")
                (:memory "Out of memory: the code asked for more than there is. It was stopped; the image is unharmed.")
                (:input "The code asked for input, and nobody can type here. Give the value in the code.")
                (t (explain-condition condition)))
     ;; Walking the frames needs stack, and there is none left when it is exhausted.
     :frames (if (member outcome '(:stack :memory)) '() (user-frames)))))

(defun interruption (outcome deadline)
  "The evaluation for code that is stopped for the reason OUTCOME; made in the thread that ran it."
  (make-evaluation
   :outcome outcome
   :frames (if (eq outcome :memory) '() (user-frames))
   :message
   (ecase outcome
     (:deadline (format nil "Stopped after ~D second~:P: the code did not finish. Definitions made before it stay." deadline))
     (:cancelled "Cancelled. Definitions made before it stay.")
     (:memory (format nil "Stopped: the image held more than ~D MB. What the code had built is let go."
                      (floor (allowance) 1000000))))))

(defun run (code output tag)
  "Evaluate CODE in this thread and return an evaluation without its output. TAG is the catch tag that
an interruption throws an evaluation to."
  (catch tag
    (flet ((leave (condition hook)
             (declare (ignore hook))
             (throw tag (failure condition))))
      (call-guarded
       output
       (lambda ()
         ;; The debugger's hook, not a handler: only what no handler of the user's took is an error.
         (let ((sb-ext:*invoke-debugger-hook* #'leave)
               (*debugger-hook* nil))
           (with-allowance ((lambda () (throw tag (interruption :memory nil))))
             (call-with-fresh-reader
              (lambda ()
                (let ((result (quiet-compilation (lambda () (evaluate-forms code)))))
                  (if (evaluation-p result)
                      result
                      (make-evaluation :values (printed-values result)))))))))))))

;;; Outside of it.

(defun let-stack-exhaustion-be-an-error ()
  "Clear the runtime's lose-on-corruption switch. With it the runtime ends the process when a stack is
exhausted (SBCL 2.2.9, handle_guard_page_triggered) instead of signalling, and user code may recurse
as deep as it likes. It stays set until code is evaluated for the first time."
  (setf (extern-alien "lose_on_corruption_p" int) 0))

(defun reason-to-stop (started deadline cancel-predicate)
  (cond ((and cancel-predicate (funcall cancel-predicate)) :cancelled)
        ((> (- (get-internal-real-time) started) (* deadline internal-time-units-per-second)) :deadline)
        ((over-allowance-p) :memory)))

(defun stop (thread tag done outcome deadline)
  "Make THREAD throw an evaluation to TAG; true when it ended. Clean-up forms of the user's may loop in
their turn, so it is interrupted again before it is given up."
  (loop repeat 3
        do (ignore-errors
            (sb-thread:interrupt-thread
             ;; The code may have ended just now, by itself or stopped for its memory: then nobody catches TAG any more.
             thread (lambda ()
                      (let ((evaluation (interruption outcome deadline)))
                        (handler-case (throw tag evaluation) (control-error () nil))))))
        thereis (sb-thread:wait-on-semaphore done :timeout +patience+)))

(defun stuck (outcome)
  (make-evaluation
   :outcome :stuck
   :message (format nil "The code was told to stop (~(~A~)) and does not: it runs with interrupts off or in foreign code. The Lisp image must be restarted."
                    outcome)))

(defun notes ()
  (let ((threads (live-threads))
        (package (current-package)))
    (append
     (when threads
       (list (format nil "~D thread~:P of yours still run~:[~;s~]: ~{~A~^, ~}. (kill-thread :all) ends them."
                     (length threads) (= 1 (length threads))
                     (subseq threads 0 (min 5 (length threads))))))
     (unless (user-package-p package)
       (list (format nil "The current package is ~A; (in-package :opl-user) goes back." (package-name package)))))))

(defun without-runtime-remark (text)
  "TEXT without the line that SBCL itself prints when a stack is exhausted."
  (let ((at (search "Control stack guard page temporarily disabled" text)))
    (if at
        (concatenate 'string (subseq text 0 at)
                     (let ((end (position #\Newline text :start at)))
                       (if end (subseq text (1+ end)) "")))
        text)))

(defconstant +worth-saying+ 50000000 "Octets that are still held after code was stopped, from which that is said.")

(defconstant +worth-collecting+ 0.2 "Part of the dynamic space by which code has made the use grow, from which its garbage is collected when it has ended.")

(defconstant +room+ 0.47
  "Part of the dynamic space up to which all may be collected at once: the worst case is that all of it lives and is copied.")

(defun collect ()
  "Frees what nothing refers to any more, young before old, as long as there is room for copies."
  (flet ((room-p () (< (sb-kernel:dynamic-usage) (* +room+ (sb-ext:dynamic-space-size)))))
    (loop for generation from 0 to 2
          until (room-p)
          do (sb-ext:gc :gen generation))
    (when (room-p) (sb-ext:gc :full t))))

(defun release-memory (evaluation usage)
  "Lets go of what the code of EVALUATION had built, its threads included; says what is still held. USAGE: octets in use before it."
  (setf *history* (list nil nil nil))
  (let ((ended (kill-thread :all)))
    (collect)
    (let ((held (- (sb-kernel:dynamic-usage) usage)))
      (setf (evaluation-message evaluation)
            (format nil "~A~[~:;~:* Its ~D thread~:P ~:*~[~;was~:;were~] ended.~]~@[ Variables still hold ~D MB of it; lisp_reset lets go of them.~]"
                    (evaluation-message evaluation) ended (and (> held +worth-saying+) (floor held 1000000)))))))

(defun make-room ()
  "Ends threads that earlier code left when they have filled what code is allowed: the code that comes next shall not be stopped for them."
  (when (and (over-allowance-p) (live-threads))
    (kill-thread :all)
    (collect)))

(defun supervise (code deadline cancel-predicate output session)
  (let* ((tag (list 'interrupted))
         (done (sb-thread:make-semaphore))
         (result nil)
         (started (get-internal-real-time))
         (thread (sb-thread:make-thread
                  (lambda ()
                    (unwind-protect (let ((*asking-session* session)) (setf result (run code output tag)))
                      (close-guard-pages)
                      (sb-thread:signal-semaphore done)))
                  :name "lisp_eval")))
    ;; The caller's thread may be unwound while it waits; the code must not run on behind its back.
    (let ((settled nil))
      (unwind-protect
           (loop until (setf settled (sb-thread:wait-on-semaphore done :timeout +tick+))
                 do (let ((reason (reason-to-stop started deadline cancel-predicate)))
                      (when reason
                        (setf settled t)
                        (unless (stop thread tag done reason deadline)
                          (setf result (stuck reason)))
                        (return))))
        (unless settled
          (stop thread tag done :cancelled deadline))))
    (or result
        (make-evaluation :outcome :error
                         :message "The code ended its own thread before it gave a value."))))

(defun evaluate (code &key (deadline-seconds +default-deadline+) cancel-predicate session)
  "Evaluate the forms in the string CODE and return an EVALUATION; never signals for anything CODE
does. After DEADLINE-SECONDS, or once the function CANCEL-PREDICATE returns true (it is called about
fifty times a second), the code is stopped. SESSION is the id of the session that asks, or NIL. Definitions, the current package and *, **, *** persist."
  (sb-thread:with-mutex (*lock*)
    (let-stack-exhaustion-be-an-error)
    (let* ((output (make-bounded-stream +output-limit+))
           (usage (progn (make-room) (sb-kernel:dynamic-usage)))
           (evaluation (progn (allow usage) (supervise code deadline-seconds cancel-predicate output session))))
      (cond ((eq (evaluation-outcome evaluation) :memory) (release-memory evaluation usage))
            ;; Garbage that grew old would count against those who come later.
            ((> (- (sb-kernel:dynamic-usage) usage) (* +worth-collecting+ (sb-ext:dynamic-space-size))) (collect)))
      (setf (evaluation-output evaluation) (without-runtime-remark (bounded-text output))
            (evaluation-notes evaluation) (notes))
      evaluation)))

(defun report (evaluation)
  "What went wrong in EVALUATION as the text someone reads: the message, the user's calls, what was
printed before."
  (format nil "~A~@[~%In:~{~%  ~A~}~]~:[~%Printed before it:~%~A~;~]"
          (evaluation-message evaluation)
          (evaluation-frames evaluation)
          (string= "" (evaluation-output evaluation))
          (evaluation-output evaluation)))
