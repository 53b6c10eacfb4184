;;;; The server: the only code that touches the wire. One thread reads and never works; requests run in lanes (protocol.tsv): queries several
;;;; at once, work one after another, evaluations one after another in a thread of their own.

(defpackage #:opl.wire.server
  (:use #:cl)
  (:import-from #:opl.wire.conditions #:fault #:fault-code #:fault-message)
  (:import-from #:opl.wire.fields #:octets #:line-buffer #:make-line-buffer #:line-buffer-octets #:line-buffer-fill
                #:put-octet #:put-text #:put-natural #:split-fields)
  (:import-from #:opl.wire.protocol #:+protocol-version+ #:+sidecar-version+ #:limit #:error-codes #:operation-lane
                #:run-operation #:reply #:make-reply #:reply-buffer #:reply-cancelled)
  (:import-from #:opl.wire.descriptors #:take-wire #:read-octets #:write-octets #:watch-host)
  (:import-from #:opl.wire.children #:kill-children)
  (:import-from #:opl.wire.memory #:arrange-memory)
  (:export #:main #:*at-start* #:*at-end* #:note))

(in-package #:opl.wire.server)

(defvar *root* nil "The folder given as --root when the sidecar was started, a native name, or nothing.")

(defvar *at-start* '() "Functions called without arguments, each in the order of this list, before the first request is read.")

(defconstant +query-threads+ 4 "Queries that run at once: enough that a slow one does not hold up the others; memory for each is its stack alone.")

(defconstant +end-seconds+ 1 "So long `*at-end*' may take: the host kills a process that is there after two and a half.")
(defvar *at-end* '() "Functions called without arguments after the end of input, once what was accepted has answered; they have a second together.")
(defconstant +drain-seconds+ 1 "After the end of input, what was accepted may still answer for so long.")

(defconstant +progress-interval+ (floor internal-time-units-per-second 20) "Progress lines of one request keep this distance: no terminal shows more.")

(defvar *wire-in* 0)
(defvar *wire-out* 1)

;;; Writing: whole lines under one lock, never interrupted in mid line.

(sb-ext:defglobal **output** (sb-thread:make-mutex :name "output"))

(defun leave (code)
  "Ends the process at once, and with it everything it started."
  (kill-children)
  (sb-ext:exit :code code :abort t))

(defun send-buffer (buffer)
  (declare (type line-buffer buffer))
  (sb-sys:without-interrupts
    (sb-thread:with-mutex (**output**)
      (unless (write-octets *wire-out* (line-buffer-octets buffer) (line-buffer-fill buffer))
        ;; Nobody reads any more.
        (leave 0)))
    (setf (line-buffer-fill buffer) 0)))

(defun put-line (buffer &rest fields)
  (loop for field in fields for first = t then nil
        do (unless first (put-octet buffer 9))
           (etypecase field
             (string (put-text buffer field))
             ((integer 0) (put-natural buffer field))))
  (put-octet buffer 10))

(defun send-line (&rest fields)
  (let ((buffer (make-line-buffer 256)))
    (apply #'put-line buffer fields)
    (send-buffer buffer)))

(defun note (level control &rest arguments)
  "Writes a formatted note of LEVEL (\"note\" or \"warning\") to the host's log as an event."
  (send-line "0" "row" "note" level (apply #'format nil control arguments)))

;;; Requests and lanes

(defstruct request
  (id "" :type string) (operation "" :type string) (fields '() :type list)
  (thread nil) (reply nil) (ended nil))

(defstruct lane
  (limit 1 :type fixnum) (queue '() :type list) (threads 0 :type fixnum) (idle 0 :type fixnum)
  (waiting (sb-thread:make-waitqueue)))

(sb-ext:defglobal **lock** (sb-thread:make-mutex :name "requests"))
(defvar *requests* (make-hash-table :test #'equal) "Id -> request, from its arrival to its last line.")
(defvar *lanes* (list (cons "query" (make-lane :limit +query-threads+)) (cons "work" (make-lane)) (cons "evaluation" (make-lane))))

(defvar *request* nil "The request that runs in this thread.")

(defun finish (request &rest fields)
  "Sends the last line of REQUEST, once."
  (sb-sys:without-interrupts
    (when (sb-thread:with-mutex (**lock**)
            (remhash (request-id request) *requests*)
            (not (shiftf (request-ended request) t)))
      (let ((buffer (reply-buffer (request-reply request))))
        (apply #'put-line buffer (request-id request) fields)
        (send-buffer buffer)))))

(defun finish-badly (request code message)
  "Ends REQUEST with an error; rows not yet written are dropped, for half a reply is none."
  (setf (line-buffer-fill (reply-buffer (request-reply request))) 0)
  (finish request "error" (string-downcase (if (member code (error-codes)) code :internal)) message))

(defun reporter (request)
  (let ((last (- +progress-interval+)))
    (lambda (stage done total)
      (let ((now (get-internal-real-time)))
        (when (or (>= (- now last) +progress-interval+) (= done total))
          (setf last now)
          (send-line (request-id request) "progress" stage done total))))))

(defun describe-error (condition)
  (handler-case (format nil "~a (~(~a~))" condition (type-of condition))
    (error () (format nil "~(~a~)" (type-of condition)))))

(defun run (request)
  "Runs REQUEST in this thread and sends its last line whatever happens."
  (catch 'cancelled
    (let ((*request* request))
      (handler-case
          (progn
            (run-operation (request-reply request) (request-operation request) (request-fields request))
            (finish request "ok"))
        (fault (fault) (finish-badly request (fault-code fault) (fault-message fault)))
        (sb-kernel::control-stack-exhausted ()
          (finish-badly request :exhausted "The stack ran out; the request nests too deeply."))
        (storage-condition ()
          (finish-badly request :exhausted "Memory ran out; ask for less at once, or give the sidecar more with OPL_HEAP_MB."))
        (error (condition)
          (finish-badly request :internal (format nil "A fault of the sidecar in ~a: ~a. Please report it; OPL_DEBUG=FILE writes a log."
                                                  (request-operation request) (describe-error condition)))))))
  (unless (request-ended request)
    (finish-badly request :cancelled "The request was cancelled.")))

(defun next-request (lane)
  (sb-thread:with-mutex (**lock**)
    (loop while (null (lane-queue lane))
          do (incf (lane-idle lane))
             (sb-thread:condition-wait (lane-waiting lane) **lock**)
             (decf (lane-idle lane)))
    (let ((request (pop (lane-queue lane))))
      (setf (request-thread request) sb-thread:*current-thread*)
      request)))

(defun start-thread (lane name)
  (incf (lane-threads lane))
  (sb-thread:make-thread (lambda () (loop (run (next-request lane)))) :name name))

(defun submit (request lane-name)
  (let ((lane (cdr (assoc lane-name *lanes* :test #'string=))))
    (sb-thread:with-mutex (**lock**)
      (setf (gethash (request-id request) *requests*) request
            (lane-queue lane) (append (lane-queue lane) (list request)))
      (when (and (< (lane-threads lane) (lane-limit lane))
                 (> (length (lane-queue lane)) (lane-idle lane)))
        (start-thread lane lane-name))
      (sb-thread:condition-notify (lane-waiting lane)))))

(defun cancel (id)
  "Ends the request ID: at once when it still waits, by unwinding its thread when it runs. An unknown id is one that has just ended."
  (let ((request nil) (waited nil))
    (sb-thread:with-mutex (**lock**)
      (setf request (gethash id *requests*))
      (when request
        (setf (reply-cancelled (request-reply request)) t)
        (loop for (nil . lane) in *lanes*
              when (member request (lane-queue lane))
                do (setf (lane-queue lane) (remove request (lane-queue lane)) waited t))))
    (cond ((null request))
          (waited (finish-badly request :cancelled "The request was cancelled."))
          (t (ignore-errors
              (sb-thread:interrupt-thread (request-thread request)
                                          (lambda () (when (eq *request* request) (throw 'cancelled nil)))))))))

;;; Reading

(defun accept (fields)
  "Takes the request whose line had FIELDS."
  (destructuring-bind (id &optional operation &rest arguments) fields
    (flet ((refuse (code control &rest arguments)
             (send-line id "error" code (apply #'format nil control arguments))))
      (cond ((string= id "cancel") (when operation (cancel operation)))
            ((not (and (<= 1 (length id) 15) (every #'digit-char-p id) (char/= (char id 0) #\0)))
             (send-line "0" "error" "bad-request" "A request begins with its id, a number from 1."))
            ((null operation) (refuse "bad-request" "A request is an id, an operation and its arguments, separated by TAB."))
            ((sb-thread:with-mutex (**lock**) (gethash id *requests*)) (refuse "bad-request" "The id ~a is still in use." id))
            ((>= (hash-table-count *requests*) (limit "requests"))
             (refuse "busy" "~d requests wait already; send fewer at once." (limit "requests")))
            (t (let ((request (make-request :id id :operation operation :fields arguments)))
                 (setf (request-reply request)
                       (make-reply :id id :report (reporter request)
                                   :flush (lambda (reply) (send-buffer (reply-buffer reply)))))
                 ;; What has no lane is answered by the same path: run-operation says that it does not exist.
                 (submit request (or (operation-lane operation) "query"))))))))

(defun line-id (octets start end)
  "The id at the head of a line that does not decode, or \"0\"."
  (let ((digits (or (position-if-not (lambda (octet) (<= 48 octet 57)) octets :start start :end end) end)))
    (if (and (< 0 (- digits start) 16) (or (= digits end) (= (aref octets digits) 9)))
        (map 'string #'code-char (subseq octets start digits))
        "0")))

(defun take-line (octets start end)
  (handler-case (accept (split-fields octets start end))
    (fault (fault)
      (send-line (line-id octets start end) "error" (string-downcase (fault-code fault)) (fault-message fault)))))

(defun read-lines ()
  "Reads requests until the end of input. Half a line at the end is dropped: its sender died in the middle of it."
  (let* ((limit (limit "line-octets"))
         (buffer (make-array 65536 :element-type '(unsigned-byte 8)))
         (fill 0)
         (refused nil))
    (declare (type octets buffer) (type fixnum fill limit))
    (loop
      (when (= fill (length buffer))
        (let ((larger (make-array (min (* 2 fill) (1+ limit)) :element-type '(unsigned-byte 8))))
          (setf buffer (replace larger buffer))))
      (let ((count (read-octets *wire-in* buffer fill)))
        (when (zerop count) (return))
        (let ((start 0) (scan fill))
          (incf fill count)
          (loop for end = (position 10 buffer :start scan :end fill)
                while end
                do (if refused (setf refused nil) (take-line buffer start end))
                   (setf start (1+ end) scan start))
          (replace buffer buffer :start2 start :end2 fill)
          (decf fill start))
        (when (>= fill limit)
          (unless refused
            (send-line (line-id buffer 0 fill) "error" "too-long"
                       (format nil "A line is longer than ~d octets; send large text as the path of a file." limit)))
          (setf refused t fill 0))))))

(defun drain ()
  "Lets what was accepted answer, but not for long."
  (loop repeat (* +drain-seconds+ 100)
        until (zerop (hash-table-count *requests*))
        do (sleep 1/100)))

(defun end ()
  (let ((thread (sb-thread:make-thread (lambda () (dolist (function *at-end*) (ignore-errors (funcall function)))) :name "end")))
    (sb-thread:join-thread thread :timeout +end-seconds+ :default nil)))

(defun argument (name)
  (second (member name sb-ext:*posix-argv* :test #'string=)))

(defun main ()
  "Serves one host until the end of input, then ends the process. Called as the core's first and only function."
  (sb-ext:disable-debugger)
  (arrange-memory)
  (multiple-value-setq (*wire-in* *wire-out*) (take-wire))
  (setf *root* (argument "--root"))
  (watch-host (lambda () (leave 0)))
  (mapc #'funcall *at-start*)
  (send-line "hello" +protocol-version+ +sidecar-version+ (lisp-implementation-version) (sb-posix:getpid))
  (read-lines)
  (drain)
  (when *at-end* (end))
  (leave 0))
