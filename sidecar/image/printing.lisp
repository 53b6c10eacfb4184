;;;; Text of bounded size: what user code prints, and what its values print as. A value may be
;;;; circular, endless or a gigabyte long; the answer that shows it must not be.

(defpackage #:opl.image.printing
  (:use #:cl)
  (:export #:bounded-stream #:make-bounded-stream #:bounded-text
           #:print-value #:print-type
           #:+value-limit+ #:+output-limit+))

(in-package #:opl.image.printing)

(declaim (optimize (speed 1) (safety 1)))

(defconstant +value-limit+ 16000
  "Characters of a printed value that are kept: under a third of the 51,200 octets at which OpenCode
itself cuts a tool's answer, so that value, output and notes fit together.")

(defconstant +output-limit+ 16000
  "Characters of printed output that are kept, head and tail together; see +VALUE-LIMIT+.")

(defconstant +tail-share+ 4
  "One part in so many of a stream's limit is kept for the end of the text: errors stand there.")

(defconstant +integer-bits+ 32768
  "Integers longer than this are described, not printed: decimal conversion is quadratic.")

;;; A stream that keeps the head and the tail of what is written to it.

(defclass bounded-stream (sb-gray:fundamental-character-output-stream)
  ((head :type simple-string :reader head)
   (tail :type simple-string :reader tail)
   (total :initform 0 :type unsigned-byte :accessor total)
   (column :initform 0 :type unsigned-byte :accessor column)
   (full-tag :initarg :full-tag :initform nil :reader full-tag))
  (:documentation "Keeps the first and the last characters of what is written and counts the rest."))

(defun make-bounded-stream (limit &key full-tag)
  "A character output stream that keeps at most LIMIT characters. With FULL-TAG the head alone is
kept, and the write that passes LIMIT throws to that tag instead of dropping text."
  (let ((stream (make-instance 'bounded-stream :full-tag full-tag))
        (tail-size (if full-tag 0 (floor limit +tail-share+))))
    (setf (slot-value stream 'head) (make-string (- limit tail-size))
          (slot-value stream 'tail) (make-string tail-size))
    stream))

(defun store (stream string start end)
  (let* ((head (head stream))
         (tail (tail stream))
         (room (length head))
         (total (total stream)))
    (when (< total room)
      (let ((taken (min (- end start) (- room total))))
        (replace head string :start1 total :start2 start :end2 (+ start taken))
        (incf total taken)
        (incf start taken)))
    (when (and (< start end) (full-tag stream))
      (setf (total stream) (+ total (- end start)))
      (throw (full-tag stream) :full))
    (let ((size (length tail)))
      ;; Only the last SIZE characters can survive in the ring: skip straight to them.
      (when (and (plusp size) (> (- end start) size))
        (incf total (- end start size))
        (setf start (- end size)))
      (loop while (and (< start end) (plusp size))
            do (let* ((at (mod (- total room) size))
                      (taken (min (- end start) (- size at))))
                 (replace tail string :start1 at :start2 start :end2 (+ start taken))
                 (incf total taken)
                 (incf start taken)))
      (incf total (- end start)))
    (setf (total stream) total)))

(defmethod sb-gray:stream-write-char ((stream bounded-stream) character)
  (if (char= character #\Newline)
      (setf (column stream) 0)
      (incf (column stream)))
  (let ((one (make-string 1 :initial-element character)))
    (declare (dynamic-extent one))
    (store stream one 0 1))
  character)

(defmethod sb-gray:stream-write-string ((stream bounded-stream) string &optional (start 0) end)
  (let* ((end (or end (length string)))
         (newline (position #\Newline string :start start :end end :from-end t)))
    (if newline
        (setf (column stream) (- end newline 1))
        (incf (column stream) (- end start)))
    (store stream string start end)
    string))

(defmethod sb-gray:stream-line-column ((stream bounded-stream)) (column stream))
(defmethod sb-gray:stream-start-line-p ((stream bounded-stream)) (zerop (column stream)))

(defun bounded-cut (stream)
  "How many characters written to STREAM are no longer there; 0 when it holds everything."
  (max 0 (- (total stream) (length (head stream)) (length (tail stream)))))

(defun bounded-text (stream)
  "The text that STREAM holds; where characters were dropped, a line between head and tail says how many."
  (let* ((head (head stream))
         (tail (tail stream))
         (total (total stream))
         (room (length head))
         (size (length tail))
         (beyond (- total room)))
    (cond ((<= total room) (subseq head 0 total))
          ((zerop size) (format nil "~A~%[cut: more than ~:D characters]" head room))
          ((<= beyond size) (concatenate 'string head (subseq tail 0 beyond)))
          (t (let ((at (mod beyond size)))
               (format nil "~A~%[cut: ~:D characters here]~%~A~A" head (bounded-cut stream)
                       (subseq tail at) (subseq tail 0 at)))))))

;;; Values.

(defparameter *value-length* 100
  "Elements of a list or vector that are shown.")

(defparameter *value-depth* 8
  "Levels of nesting that are shown.")

(defun print-within (limit printer)
  "The text PRINTER writes to the stream it is given, cut at LIMIT characters with a note of the cut."
  (let* ((tag (list 'full))
         (stream (make-bounded-stream limit :full-tag tag)))
    (catch tag (funcall printer stream))
    (bounded-text stream)))

(defun size-note (value)
  "What *PRINT-LENGTH* hides of VALUE, as text, or an empty string when all of it is shown."
  (typecase value
    (string "")
    (vector (if (> (length value) *value-length*)
                (format nil "~%[~:D elements, the first ~D shown]" (length value) *value-length*)
                ""))
    (hash-table (format nil "~%[hash table of ~:D entries]" (hash-table-count value)))
    (cons (let ((length (ignore-errors (list-length value))))
            (if (and length (> length *value-length*))
                (format nil "~%[~:D elements, the first ~D shown]" length *value-length*)
                "")))
    (t "")))

(defun print-value (value &key (limit +value-limit+))
  "VALUE as its printed representation of at most LIMIT characters and a short note: circular
structure is marked #1=, long and deep structure is elided and counted. A print method that signals
gives a text that says so; one that never ends is the business of the caller's deadline."
  (if (and (integerp value) (> (integer-length value) +integer-bits+))
      (format nil "#<integer of ~:D bits>" (integer-length value))
      (let ((*print-circle* t)
            (*print-length* *value-length*)
            (*print-level* *value-depth*)
            (*print-pretty* t)
            (*print-right-margin* 100)
            (*print-readably* nil)
            (*print-escape* t))
        (handler-case
            (concatenate 'string
                         (print-within limit (lambda (stream) (prin1 value stream)))
                         (size-note value))
          (error (condition)
            (format nil "#<unprintable ~A: its print method failed: ~A>"
                    (print-type value)
                    (print-within 400 (lambda (stream)
                                        (handler-case (princ condition stream)
                                          (error () (princ (type-of condition) stream)))))))))))

(defun print-type (value)
  "The type of VALUE as a reader would name it, at most 200 characters."
  (let ((*print-length* 6) (*print-level* 3) (*print-circle* t) (*print-pretty* nil))
    (string-downcase
     (typecase value
       (null "null")
       (boolean "boolean")
       (fixnum "integer")
       (integer "integer")
       (cons (if (ignore-errors (list-length value)) "list" "cons"))
       (string (format nil "string of ~:D" (length value)))
       (function "function")
       (t (print-within 200 (lambda (stream) (prin1 (type-of value) stream))))))))
