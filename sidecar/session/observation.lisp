;;;; One thing seen in a session, and its line in the journal: the same fields and escapes as on the wire.

(defpackage #:opl.session.observation
  (:use #:cl)
  (:import-from #:opl.wire.fields
                #:octets #:line-buffer #:make-line-buffer #:line-buffer-octets #:line-buffer-fill
                #:put-text #:put-natural #:put-octet #:put-name #:split-fields)
  (:export #:observation #:make-observation #:observation-time #:observation-kind #:observation-subject
           #:observation-state #:observation-text #:observation-session
           #:+kinds+ #:kind-named #:now #:line-octets #:read-observations
           #:shorten #:one-line))

(in-package #:opl.session.observation)

(declaim (optimize (speed 1) (safety 1)))

(defparameter +kinds+
  '(:session :request :decision :note :edit :tool :test :verdict :failure :impact :todo :compacted :handover)
  "What an observation can be. SESSION opens a journal: subject the session's id, state its parent's, text
the HEAD. REQUEST: what the user asked. DECISION: a choice and its reason. NOTE: what was asked to be
remembered. EDIT: subject the path, state add, change or delete, text what changed. TOOL: subject the
tool, text its call. TEST: subject the test, state failed or passed, text where and why. VERDICT: subject
the command, state the verdict, text the counts. FAILURE: something that went wrong. IMPACT: subject a
symbol, state open or done, text who calls it. TODO: state pending, in_progress or completed. COMPACTED
and HANDOVER: what happened to the session's own text.")

(defconstant +text-limit+ 4000
  "Characters of an observation's text that are kept: what is longer is a log, and logs are not memory.")

(defstruct observation
  (time 0 :type (unsigned-byte 62))
  (kind :note :type keyword)
  (subject "" :type string)
  (state "" :type string)
  (text "" :type string)
  ;; Not in the line: the journal's first line says it for all.
  (session "" :type string)
  ;; Term numbers, filled by recall.
  (terms nil))

(defun kind-named (name)
  "The kind called NAME (a string, any case), or NIL."
  (find name +kinds+ :test #'string-equal))

(defun now ()
  "Milliseconds since 1970."
  (multiple-value-bind (seconds microseconds) (sb-ext:get-time-of-day)
    (+ (* 1000 seconds) (floor microseconds 1000))))

(defun shorten (text limit)
  "TEXT with at most LIMIT characters, an ellipsis standing for what was cut."
  (if (<= (length text) limit)
      text
      (concatenate 'string (string-right-trim " " (subseq text 0 (max 0 (1- limit)))) "…")))

(defun one-line (text)
  "TEXT with every run of white space made one blank."
  (with-output-to-string (stream)
    (let ((gap nil) (begun nil))
      (loop for character across text
            do (if (member character '(#\Space #\Tab #\Newline #\Return #\Page #\No-break_space))
                   (setf gap begun)
                   (progn (when gap (write-char #\Space stream))
                          (setf gap nil begun t)
                          (write-char character stream)))))))

(defun line-octets (observation)
  "The line of OBSERVATION, its LF included, as octets."
  (let ((buffer (make-line-buffer 256)))
    (put-natural buffer (observation-time observation))
    (put-octet buffer 9)
    (put-name buffer (observation-kind observation))
    (dolist (text (list (observation-subject observation)
                        (observation-state observation)
                        (shorten (observation-text observation) +text-limit+)))
      (put-octet buffer 9)
      (put-text buffer text))
    (put-octet buffer 10)
    (subseq (line-buffer-octets buffer) 0 (line-buffer-fill buffer))))

(defun compact (text)
  "TEXT in a quarter of the space where all of it is ASCII: tens of megabytes are remembered."
  (declare (type simple-string text))
  (if (every (lambda (character) (typep character 'base-char)) text) (coerce text 'simple-base-string) text))

(defun parse-line (octets start end)
  "The observation in the line of OCTETS from START to END, or NIL when it is none."
  (handler-case
      (destructuring-bind (time kind subject state text &rest more) (split-fields octets start end)
        ;; A later version may write more fields; they are not for this one.
        (declare (ignore more))
        (let ((kind (kind-named kind)))
          (and kind
               (make-observation :time (parse-integer time) :kind kind
                                 :subject (compact subject) :state (compact state) :text (compact text)))))
    (error () nil)))

(defun read-observations (octets start end function)
  "Call FUNCTION with each observation in OCTETS from START to END. Lines that are none are passed over;
a last line without its LF is torn or still being written, and is left. Returns where reading stopped."
  (declare (type octets octets) (type fixnum start end) (type function function)
           ;; POSITION goes inline
           (optimize (speed 2) (space 0)))
  (loop for from of-type fixnum = start then (1+ to)
        for to = (position 10 octets :start from :end end)
        while to
        do (let ((observation (parse-line octets from to)))
             (when observation (funcall function observation)))
        finally (return from)))
