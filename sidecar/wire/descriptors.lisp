;;;; The file descriptors of the wire and the ways a host can vanish, as the operating system has them.

(defpackage #:opl.wire.descriptors
  (:use #:cl)
  (:import-from #:opl.wire.fields #:octets)
  (:export #:take-wire #:read-octets #:write-octets #:watch-host))

(in-package #:opl.wire.descriptors)

(defun redirect-streams ()
  "Binds every standard stream away from the wire: output goes to descriptor 2, which the host keeps for its log; input is empty."
  (let* ((err (sb-sys:make-fd-stream 2 :input nil :output t :buffering :line :external-format '(:utf-8 :replacement #\?)))
         (nothing (make-concatenated-stream))
         (both (make-two-way-stream nothing err)))
    (setf sb-impl::*stdin* nothing
          sb-impl::*stdout* err
          sb-impl::*stderr* err
          sb-impl::*tty* both
          *standard-input* nothing
          *standard-output* err
          *error-output* err
          *trace-output* err
          *debug-io* both
          *query-io* both
          *terminal-io* both)))

(defun take-wire ()
  "Moves the wire from descriptors 0 and 1 to two of its own and returns these; from then on 0 is empty and 1 is standard error, so that nothing,
not even C code or a child, can read or write the wire by accident."
  ;; File names are octets to a Unix; a bare locale must not turn them into something else.
  (setf sb-ext:*default-external-format* :utf-8
        sb-ext:*default-c-string-external-format* :utf-8)
  (redirect-streams)
  #+win32 (values 0 1)
  #-win32
  (let ((in (sb-posix:dup 0)) (out (sb-posix:dup 1)) (null (sb-posix:open "/dev/null" sb-posix:o-rdonly)))
    (dolist (descriptor (list in out))
      (sb-posix:fcntl descriptor sb-posix:f-setfd 1)) ; FD_CLOEXEC, fcntl.h
    (sb-posix:dup2 null 0)
    (sb-posix:dup2 2 1)
    (sb-posix:close null)
    (values in out)))

(defun retry-p (errno)
  "True when a call that failed with ERRNO is to be made again."
  (cond ((eql errno sb-unix:eintr) t)
        ;; Some hosts hand down descriptors that do not block.
        #-win32 ((member errno (list sb-unix:ewouldblock 11 35)) (sleep 1/200) t)))

(defun read-octets (descriptor buffer start)
  "Reads what there is, at least one octet, into BUFFER from START on; the count, 0 at the end of input or when the descriptor is broken."
  (declare (type octets buffer) (type fixnum start))
  (loop
    (multiple-value-bind (count errno)
        (sb-sys:with-pinned-objects (buffer)
          (sb-unix:unix-read descriptor (sb-sys:sap+ (sb-sys:vector-sap buffer) start) (- (length buffer) start)))
      (cond (count (return count))
            ((not (retry-p errno)) (return 0))))))

(defun write-octets (descriptor buffer end)
  "Writes BUFFER up to END; true when all was written, nothing when nobody reads any more."
  (declare (type octets buffer) (type fixnum end))
  (let ((start 0))
    (declare (type fixnum start))
    (loop while (< start end)
          do (multiple-value-bind (count errno)
                 (sb-sys:with-pinned-objects (buffer)
                   (sb-unix:unix-write descriptor (sb-sys:vector-sap buffer) start (- end start)))
               (cond (count (incf start (the fixnum count)))
                     ((not (retry-p errno)) (return-from write-octets nil)))))
    t))

(defun watch-host (leave)
  "Sees to it that LEAVE (a function) is called when the host is gone or asks for the end. The end of input, which the reader sees, is the first
sign; these are for a host killed while something keeps the descriptor open. SIGINT is the host's affair: a terminal sends it to both."
  #+win32 (declare (ignore leave))
  #-win32
  (flet ((on (signal function)
           (sb-sys:enable-interrupt signal (lambda (signal context code) (declare (ignore signal context code)) (funcall function)))))
    (on sb-unix:sigterm leave)
    (on sb-unix:sighup leave)
    (on sb-unix:sigint (lambda ()))
    ;; A function and not :ignore, which children would inherit: ctags is to die when its reader is gone.
    (on sb-unix:sigpipe (lambda ())))
  #+linux
  ;; PR_SET_PDEATHSIG (prctl(2)) with SIGTERM rather than SIGKILL, so that the handler can end ctags and git too.
  (sb-alien:alien-funcall
   (sb-alien:extern-alien "prctl" (function sb-alien:int sb-alien:int sb-alien:unsigned-long)) 1 sb-unix:sigterm)
  #-(or linux win32)
  (let ((host (sb-posix:getppid)))
    (sb-thread:make-thread (lambda () (loop (sleep 2) (unless (= host (sb-posix:getppid)) (funcall leave))))
                           :name "host watch"))
  nil)
