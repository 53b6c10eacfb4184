(defpackage #:opl.failures.json
  (:use #:cl)
  (:export #:parse-json #:json-fault #:member-of #:path-of #:elements))
(in-package #:opl.failures.json)

(declaim (optimize (speed 1) (safety 1)))

;;; JSON from octets. Objects become (:object (key . value)…), arrays simple vectors, null :null, true and false :true and :false.

(define-condition json-fault (error) ((at :initarg :at :reader fault-at))
  (:report (lambda (condition stream) (format stream "This is no JSON: octet ~D is out of place." (fault-at condition)))))

(deftype octets () '(simple-array (unsigned-byte 8) (*)))

(defconstant +deepest+ 500 "Levels of nesting that are followed; reports of test runners have about ten.")

(defvar *octets*)
(defvar *at*)
(declaim (type octets *octets*) (type fixnum *at*))

(defun fault () (error 'json-fault :at *at*))

(declaim (inline peek))
(defun peek () (if (< *at* (length *octets*)) (aref *octets* *at*) 0))

(defun skip-blanks ()
  (loop while (and (< *at* (length *octets*)) (member (aref *octets* *at*) '(32 9 10 13))) do (incf *at*)))

(defun read-word (word value)
  (loop for c across word do (if (= (peek) (char-code c)) (incf *at*) (fault)))
  value)

(defun read-number ()
  (let ((start *at*))
    (loop while (find (code-char (peek)) "+-0123456789.eE") do (incf *at*))
    (when (= start *at*) (fault))
    (let ((text (map 'string #'code-char (subseq *octets* start *at*))))
      (if (every (lambda (c) (or (digit-char-p c) (char= c #\-))) text)
          (or (parse-integer text :junk-allowed t) (fault))
          (let ((point (position-if (lambda (c) (find c ".eE")) text)))
            ;; fractions are times, which nobody asks for
            (or (parse-integer text :end point :junk-allowed t) 0))))))

(defun read-code ()
  (let ((code (parse-integer (map 'string #'code-char (subseq *octets* *at* (min (length *octets*) (+ *at* 4)))) :radix 16 :junk-allowed t)))
    (incf *at* 4)
    (or code (fault))))

(defun read-text ()
  "The string that begins at the quotation mark."
  (incf *at*)
  (let* ((start *at*)
         (end (loop for i from *at* below (length *octets*)
                    do (case (aref *octets* i) (34 (return i)) (92 (incf i)))
                    finally (fault))))
    (cond ((not (find 92 *octets* :start start :end end))
           (setf *at* (1+ end))
           (sb-ext:octets-to-string *octets* :start start :end end :external-format :utf-8))
          (t (let ((plain (make-array (- end start) :element-type '(unsigned-byte 8) :fill-pointer 0 :adjustable t)))
               (loop while (< *at* end)
                     do (let ((octet (aref *octets* *at*)))
                          (incf *at*)
                          (if (/= octet 92)
                              (vector-push-extend octet plain)
                              (let ((escape (code-char (aref *octets* *at*))))
                                (incf *at*)
                                (if (char= escape #\u)
                                    (let ((code (read-code)))
                                      (when (and (<= #xD800 code #xDBFF) (= (peek) 92))
                                        (incf *at* 2)
                                        (setf code (+ #x10000 (ash (- code #xD800) 10) (- (read-code) #xDC00))))
                                      (unless (and (< -1 code #x110000) (not (<= #xD800 code #xDFFF))) (setf code #xFFFD))
                                      (loop for octet across (sb-ext:string-to-octets (string (code-char code)) :external-format :utf-8)
                                            do (vector-push-extend octet plain)))
                                    (vector-push-extend (case escape (#\n 10) (#\t 9) (#\r 13) (#\b 8) (#\f 12) (t (logand 255 (char-code escape)))) plain))))))
               (setf *at* (1+ end))
               (sb-ext:octets-to-string (coerce plain 'octets) :external-format :utf-8))))))

(defun read-value (depth)
  (when (> depth +deepest+) (fault))
  (skip-blanks)
  (case (code-char (peek))
    (#\{ (incf *at*)
     (skip-blanks)
     (let ((members '()))
       (if (= (peek) 125) (incf *at*)
           (loop (skip-blanks)
                 (unless (= (peek) 34) (fault))
                 (let ((key (read-text)))
                   (skip-blanks)
                   (unless (= (peek) 58) (fault))
                   (incf *at*)
                   (push (cons key (read-value (1+ depth))) members))
                 (skip-blanks)
                 (case (peek) (44 (incf *at*)) (125 (incf *at*) (return)) (t (fault)))))
       (cons :object (nreverse members))))
    (#\[ (incf *at*)
     (skip-blanks)
     (let ((items '()))
       (if (= (peek) 93) (incf *at*)
           (loop (push (read-value (1+ depth)) items)
                 (skip-blanks)
                 (case (peek) (44 (incf *at*)) (93 (incf *at*) (return)) (t (fault)))))
       (coerce (nreverse items) 'simple-vector)))
    (#\" (read-text))
    (#\t (read-word "true" :true))
    (#\f (read-word "false" :false))
    (#\n (read-word "null" :null))
    (t (read-number))))

(defun parse-json (octets &key (start 0))
  "The JSON value in OCTETS from START, and the position after it. Signals JSON-FAULT where there is none."
  (let ((*octets* octets) (*at* start))
    (let ((value (read-value 0)))
      (values value *at*))))

(defun member-of (object key)
  "The value of KEY in OBJECT; nil when OBJECT is none, has no KEY, or the value is null."
  (and (consp object) (eq (car object) :object)
       (let ((value (cdr (assoc key (cdr object) :test #'string=)))) (if (eq value :null) nil value))))

(defun path-of (object &rest keys)
  "The value found by going down KEYS from OBJECT, or nil."
  (dolist (key keys object) (setf object (member-of object key))))

(defun elements (value)
  "The elements of an array as a list; nil for anything else."
  (and (simple-vector-p value) (coerce value 'list)))
