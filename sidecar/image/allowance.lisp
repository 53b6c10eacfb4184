;;;; How much memory code may make the image need. The collector copies what lives, and finding no room for the copy it ends the process;
;;;; so code is stopped before that, in the thread that made the collector run, before it allocates anything more.

(defpackage #:opl.image.allowance
  (:use #:cl)
  (:export #:allow #:allowance #:over-allowance-p #:with-allowance #:check-room #:too-large))
(in-package #:opl.image.allowance)

(declaim (optimize (speed 1) (safety 1)))

(defparameter *share* 0.7
  "Part of the dynamic space that code may make the image need, the copy of what it made included. The rest is for what is allocated
between two collections, a twentieth or less (`opl.wire.memory'), and for other threads.")

(sb-ext:defglobal **allowance** nil "Octets in use above which code is stopped; nothing before code was evaluated.")

(defvar *stop* nil "In threads that run user code: function of no arguments that leaves it.")

(defun allow (usage)
  "Sets, and returns, the octets that may be in use when USAGE are in use now: what comes from now on is there twice while it is copied."
  (setf **allowance** (floor (+ usage (* *share* (sb-ext:dynamic-space-size))) 2)))

(defun allowance ()
  "Octets that may be in use, or nil before code was evaluated."
  **allowance**)

(defun over-allowance-p ()
  "Whether more octets are in use than are allowed; garbage counts until it is collected."
  (let ((allowance **allowance**)) (and allowance (> (sb-kernel:dynamic-usage) allowance))))

(define-condition too-large (storage-condition)
  ((octets :initarg :octets :reader octets))
  (:report (lambda (condition stream) (format stream "~D MB at once are more than there is room for." (floor (octets condition) 1000000)))))

(defun check-room (octets)
  "Signals TOO-LARGE when OCTETS more in use were more than is allowed."
  (when (and **allowance** (> (+ octets (sb-kernel:dynamic-usage)) **allowance**))
    (error 'too-large :octets octets)))

(defmacro with-allowance ((stop) &body body)
  "Runs BODY; when it makes the image need more than is allowed, calls the function STOP, which shall not return."
  `(let ((*stop* ,stop)) ,@body))

(defun look ()
  "To be called after each collection. SBCL 2.2.9 does so in the thread that ran out of its nursery: that thread eats, or eats along. Where
others call it, in later versions, the looks of `opl.image.evaluate' remain."
  (when (and *stop* (over-allowance-p))
    (funcall *stop*)))

(pushnew 'look sb-ext:*after-gc-hooks*)
