;;;; The operations on the live image: evaluate and reset.

(defpackage #:opl.operations.image
  (:use #:cl)
  (:import-from #:opl.wire.conditions #:fail)
  (:import-from #:opl.wire.protocol #:define-operation #:emit)
  (:import-from #:opl.wire.server #:*at-start* #:note)
  (:import-from #:opl.image.keep #:load-kept)
  (:import-from #:opl.image.evaluate
                #:evaluate #:report #:+default-deadline+ #:evaluation-outcome #:evaluation-values
                #:evaluation-output #:evaluation-notes)
  (:import-from #:opl.image.world #:take-baseline #:reset))

(in-package #:opl.operations.image)

(defun fault-code (outcome)
  "The wire's code for the OUTCOME of an evaluation that gave no value."
  (ecase outcome
    ((:error :read-error :input :exit) :evaluation)
    (:deadline :deadline)
    (:cancelled :cancelled)
    ((:memory :stack) :exhausted)
    (:stuck :stuck)))

(define-operation evaluate (code deadline session)
  "One value row for each value of the last form, then what was printed, then remarks. An error's message carries what was printed before it."
  (let ((evaluation (evaluate code :deadline-seconds (if (plusp deadline) deadline +default-deadline+)
                                    :session session)))
    (unless (eq (evaluation-outcome evaluation) :value)
      (fail (fault-code (evaluation-outcome evaluation)) "~A" (report evaluation)))
    (loop for (text . type) in (evaluation-values evaluation)
          do (emit value text type))
    (unless (string= "" (evaluation-output evaluation))
      (emit output (evaluation-output evaluation)))
    (dolist (note (evaluation-notes evaluation))
      (emit remark note))))

(define-operation reset ()
  "Forgets what evaluated code defined, then the kept definitions are there again."
  (reset)
  (dolist (message (load-kept))
    (note "warning" "~A" message)))

;; After everything is loaded, before anything can be evaluated.
(setf *at-start* (append *at-start* (list 'take-baseline)))
