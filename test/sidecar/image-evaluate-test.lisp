;;;; sidecar/image/evaluate.lisp: whatever the code does, there is an answer, and the next call works.

(defpackage #:opl.test.image.evaluate
  (:use #:cl #:opl.test #:opl.image.evaluate)
  (:import-from #:opl.image.world #:take-baseline #:reset))

(in-package #:opl.test.image.evaluate)

(take-baseline)

(defun run (code &rest keys)
  (apply #'evaluate code keys))

(defun value (code)
  "The first value of CODE as text."
  (car (first (evaluation-values (run code)))))

(defun outcome (code &rest keys)
  "The outcome of CODE, after checking that the next call works."
  (let ((evaluation (apply #'run code keys)))
    (check-equal "3" (value "(+ 1 2)"))
    (evaluation-outcome evaluation)))

(defun contains (part text)
  (search part text :test #'char-equal))

(deftest value-type-and-output
  (let ((evaluation (run "(print 'hello) (format *error-output* \"to the error stream\") (values (list 1 2) \"two\")")))
    (check-equal :value (evaluation-outcome evaluation))
    (check-equal '(("(1 2)" . "list") ("\"two\"" . "string of 3")) (evaluation-values evaluation))
    (check (contains "HELLO" (evaluation-output evaluation)))
    (check (contains "to the error stream" (evaluation-output evaluation)))))

(deftest no-form-and-no-value
  (check-equal '() (evaluation-values (run "")))
  (check-equal '() (evaluation-values (run "; only a comment")))
  (check-equal '() (evaluation-values (run "(values)"))))

(deftest several-forms-on-several-lines-and-state-that-stays
  (check-equal "12" (value (format nil "(defvar *kept* 5)~%(defun twice (x) (* 2 x))~%~%(+ 2 (twice *kept*))")))
  (check-equal "10" (value "(twice *kept*)"))
  (check-equal "10" (value "*"))
  (check-equal "11" (value "(1+ *)")))

(deftest later-forms-see-the-package-and-definitions-of-earlier-ones
  (check-equal "7" (value "(defpackage :one-more (:use :cl)) (in-package :one-more) (defmacro seven () 7) (seven)"))
  (let ((evaluation (run "(seven)")))
    (check-equal "7" (car (first (evaluation-values evaluation))))
    (check (contains "ONE-MORE" (first (evaluation-notes evaluation)))))
  (check-equal "T" (value "(in-package :opl-user) (eq *package* (find-package :opl-user))")))

(deftest errors-come-with-the-calls-that-led-there
  (let ((evaluation (run "(defun inner (x) (+ 1 (parse-integer x))) (defun outer (x) (+ 1 (inner x))) (outer \"no number\")")))
    (check-equal :error (evaluation-outcome evaluation))
    (check (contains "no number" (evaluation-message evaluation)))
    (check (some (lambda (frame) (contains "INNER" frame)) (evaluation-frames evaluation)))
    (check (some (lambda (frame) (contains "OUTER" frame)) (evaluation-frames evaluation)))
    (check (notany (lambda (frame) (contains "SB-" frame)) (evaluation-frames evaluation)))
    (check (<= (length (evaluation-frames evaluation)) 8))))

(deftest an-error-keeps-what-was-printed-before-it
  (check (contains "first" (report (run "(princ \"first\") (error \"then\")"))))
  (check (contains "then" (report (run "(princ \"first\") (error \"then\")")))))

(deftest names-not-found-have-neighbours
  (run "(defun find-the-thing () 1)")
  (check (contains "find-the-thing" (evaluation-message (run "(fnid-the-thing)"))))
  (check-equal :error (outcome "(fnid-the-thing)"))
  (check (contains "unbound" (evaluation-message (run "nowhere-set")))))

(deftest what-cannot-be-read-is-located
  (let ((evaluation (run (format nil "(list 1)~%(list 2"))))
    (check-equal :read-error (evaluation-outcome evaluation))
    (check (contains "line 2, column 0" (evaluation-message evaluation))))
  (dolist (code '(")" "(foo:bar)" "(sb-ext:no-such-name)" "#<object>" "#.(+ 1 2)" "\"open" "#|" "(a . )" "#\\nosuchcharacter"))
    (check-equal :read-error (outcome code))))

(deftest endless-code-is-stopped
  (check-equal :deadline (outcome "(loop)" :deadline-seconds 0.3))
  (check-equal :deadline (outcome "(loop (print 'again))" :deadline-seconds 0.3))
  (check-equal :deadline (outcome "(sleep 100)" :deadline-seconds 0.3))
  (check-equal :deadline (outcome "(handler-case (loop) (serious-condition () 1))" :deadline-seconds 0.3))
  (check-equal :deadline (outcome "(loop (ignore-errors (loop)))" :deadline-seconds 0.3)))

(deftest endless-code-says-where-it-was
  (check (some (lambda (frame) (contains "SPINNING" frame))
               (evaluation-frames (run "(defun spinning () (loop (sleep 0.01))) (list (spinning))" :deadline-seconds 0.3)))))

(deftest cleanup-forms-that-loop-are-stopped-too
  (check-equal :deadline (outcome "(unwind-protect (loop) (loop))" :deadline-seconds 0.3)))

(deftest cancelling-stops
  (let ((asked 0))
    (check-equal :cancelled (outcome "(loop)" :cancel-predicate (lambda () (> (incf asked) 5))))))

(deftest unwinding-the-caller-stops-the-code
  (let ((thread (sb-thread:make-thread
                 (lambda () (catch 'cancelled (run "(defvar *ticks* 0) (loop (incf *ticks*) (sleep 0.01))"))))))
    (sleep 0.3)
    (sb-thread:interrupt-thread thread (lambda () (throw 'cancelled :cancelled)))
    (check-equal :cancelled (sb-thread:join-thread thread))
    (check-equal (value "*ticks*") (progn (sleep 0.1) (value "*ticks*")))))

(deftest runaway-recursion-again-and-again
;; Recursion that also allocates can meet the stack's end inside SBCL's allocator, which no handler outlives ("exhausted while
  ;; pseudo-atomic"): that process ends and the host starts another (test/channel/real.test.ts).
  (loop repeat 5
        do (check-equal :stack (outcome "(labels ((f (x) (1+ (f x)))) (f 1))"))
           (check-equal :stack (outcome "(defun down (x) (1+ (down (logand 255 (1+ x))))) (down 1)"))))

(deftest recursion-caught-by-the-code-itself
  (loop repeat 3
        do (check-equal ":CAUGHT" (value "(labels ((f (x) (1+ (f x)))) (handler-case (f 1) (storage-condition () :caught)))"))))

(deftest memory-without-end
  (check-equal :memory (outcome "(loop collect (make-array 1000000))"))
  (check-equal :memory (outcome "(let ((all '())) (loop (push (list 1 2 3) all)))"))
  (check-equal :memory (outcome "(make-array 100000000000)")))

(deftest circular-and-enormous-values
  (check-equal "#1=(1 2 . #1#)" (value "(let ((x (list 1 2))) (setf (cddr x) x) x)"))
  (check (contains "1,000,000 elements, the first 100 shown" (value "(loop for i below 1000000 collect i)")))
  (check (contains "cut: more than" (value "(make-string 1000000 :initial-element #\\x)")))
  (check (< (length (value "(make-string 1000000 :initial-element #\\x)")) 17000))
  (check (< (length (value "(let (x) (dotimes (i 100000 x) (setf x (list x))))")) 17000))
  (check-equal "#<integer of 280,736 bits>" (value "(expt 7 100000)"))
  (check (contains "hash table of 3 entries"
                   (value "(let ((h (make-hash-table))) (dotimes (i 3 h) (setf (gethash i h) i)))"))))

(deftest enormous-output-keeps-head-and-tail
  (let ((output (evaluation-output (run "(dotimes (i 100000) (print i))"))))
    (check (< (length output) 17000))
    (check (contains "cut:" output))
    (check (contains "99999" output))))

(deftest print-methods-that-fail-or-never-end
  (check (contains "its print method failed"
                   (value "(defclass shy () ()) (defmethod print-object ((o shy) s) (error \"no\")) (make-instance 'shy)")))
  (check-equal :deadline
               (outcome "(defclass long () ()) (defmethod print-object ((o long) s) (loop)) (make-instance 'long)"
                        :deadline-seconds 0.3)))

(deftest nobody-types
  (dolist (code '("(read-line)" "(read)" "(y-or-n-p \"sure?\")" "(read-line *terminal-io*)" "(read-char *query-io*)"
                  "(read-line sb-sys:*stdin*)"))
    (check-equal :input (outcome code))))

(deftest the-image-does-not-exit
  (dolist (code '("(exit)" "(quit)" "(sb-ext:exit)" "(sb-ext:exit :code 3 :abort t)" "(ignore-errors (exit))"
                  "(sb-ext:save-lisp-and-die \"/nonexistent/core\")"))
    (check-equal :exit (outcome code)))
  (check (contains "stays" (evaluation-message (run "(exit)")))))

(deftest the-debugger-and-restarts-do-not-hang
  (check-equal :error (outcome "(break)"))
  (check-equal :error (outcome "(invoke-restart 'abort)"))
  (check-equal :error (outcome "(sb-thread:abort-thread)"))
  (check-equal :error (outcome "(throw 'nowhere 1)"))
  (check-equal ":USED" (value "(restart-case (invoke-restart 'mine) (mine () :used))")))

(deftest threads-of-the-code-are-listed-and-end
  (run "(kill-thread :all)")
  (let ((evaluation (run "(sb-thread:make-thread (lambda () (princ \"from afar\") (loop (sleep 0.1))) :name \"far\")")))
    (check (contains "far" (first (evaluation-notes evaluation)))))
  (sleep 0.1)
  (check-equal "(\"far\" :RUNNING \"from afar\")" (value "(rest (find \"far\" (threads) :key #'second :test #'string=))"))
  (check-equal "1" (value "(kill-thread \"far\")"))
  (check-equal '() (evaluation-notes (run "1")))
  (check-equal :error (outcome "(loop (sb-thread:make-thread (lambda () (sleep 100))))"))
  (check-equal "32" (value "(kill-thread :all)"))
  (check (contains "boo" (value "(sb-thread:join-thread (sb-thread:make-thread (lambda () (error \"boo\")) :name \"dies\") :default nil) (third (find \"dies\" (threads) :key #'second :test #'string=))"))))

(deftest reader-and-printer-settings-end-with-the-call
  (run "(setf *print-base* 2 *read-base* 2 *print-length* 1)")
  (check-equal "10" (value "10"))
  (run "(setf (readtable-case *readtable*) :preserve)")
  (check-equal "1" (value "(car '(1))"))
  (run "(set-macro-character #\\$ (lambda (s c) (declare (ignore s c)) 1))")
  (check-equal "$" (value "'|$|"))
  (run "(declaim (optimize (safety 0)))")
  (check-equal :error (outcome "(funcall (compile nil '(lambda (x) (car x))) 1)")))

(deftest the-language-and-the-vocabulary-cannot-be-redefined
  (check-equal :error (outcome "(defun car (x) x)"))
  (check-equal :error (outcome "(defun help () 1)"))
  (check-equal :error (outcome "(defun opl.image.evaluate:evaluate (x) x)")))

(deftest the-users-package-comes-back
  (run "(delete-package :opl-user)")
  (check-equal "3" (value "(+ 1 2)"))
  (check-equal "\"OPL-USER\"" (value "(package-name *package*)")))

(deftest reset-forgets-everything-of-the-user
  (run "(defun gone () 1) (defvar *gone* 2) (defclass gone () ()) (defmacro gone-too () 3) (defpackage :gone-package)
        (defmethod print-object ((x gone) s) 1) (defmethod print-object ((x (eql 77)) s) (princ \"hijacked\" s))
        (deftype gone-type () 'integer) (sb-thread:make-thread (lambda () (sleep 100)))
        (in-package :gone-package)")
  (check (equal '(t 1) (let ((values (multiple-value-list (reset)))) (list (plusp (first values)) (second values)))))
  (check-equal "77" (value "77"))
  (check-equal :error (outcome "(gone)"))
  (check-equal :error (outcome "*gone*"))
  (check-equal :error (outcome "(gone-too)"))
  (check-equal "(NIL NIL)" (value "(list (find-class 'gone nil) (find-package :gone-package))"))
  (check-equal "(T \"OPL-USER\" NIL)" (value "(list (typep 1 'integer) (package-name *package*) (threads))")))

(deftest code-that-has-just-ended-is-not-told-to-stop
  ;; a throw to where nobody catches any more would end the process
  (let* ((done (sb-thread:make-semaphore))
         (thread (sb-thread:make-thread (lambda () (sleep 0.2) (sb-thread:signal-semaphore done) :ended))))
    (check (opl.image.evaluate::stop thread (list 'nobody) done :memory 1))
    (check-equal :ended (sb-thread:join-thread thread :default :died))))
