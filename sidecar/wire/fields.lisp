;;;; Fields of a line: octets in, text out, and back. The grammar is that of ctags' tags(5): TAB between fields, \\ \t \n \r for what would
;;;; break a line; \a \b \f \v and \xHH, which ctags writes, are read as well and never written.

(defpackage #:opl.wire.fields
  (:use #:cl)
  (:import-from #:opl.wire.conditions #:fail)
  (:export #:octets
           #:line-buffer #:make-line-buffer #:line-buffer-octets #:line-buffer-fill
           #:put-octet #:put-text #:put-slice #:put-natural #:put-decimal #:put-name
           #:split-fields #:unescape))

(in-package #:opl.wire.fields)

(declaim (optimize (speed 2) (safety 1)))

(deftype octets () '(simple-array (unsigned-byte 8) (*)))

(deftype index () '(integer 0 #.(ash most-positive-fixnum -3)))

(defstruct (line-buffer (:constructor make-line-buffer (&optional (size 4096)
                                                        &aux (octets (make-array size :element-type '(unsigned-byte 8))))))
  "Octets that grow: OCTETS up to FILL are written."
  (octets (make-array 0 :element-type '(unsigned-byte 8)) :type octets)
  (fill 0 :type index))

(defun reserve (buffer more)
  "Makes room for MORE octets and returns the octets of BUFFER."
  (declare (type line-buffer buffer) (type index more))
  (let* ((octets (line-buffer-octets buffer))
         (needed (+ (line-buffer-fill buffer) more)))
    (declare (type index needed))
    (if (<= needed (length octets))
        octets
        (let ((larger (make-array (max needed (* 2 (length octets))) :element-type '(unsigned-byte 8))))
          (replace larger octets :end2 (line-buffer-fill buffer))
          (setf (line-buffer-octets buffer) larger)))))

(declaim (inline put-octet))
(defun put-octet (buffer octet)
  "Appends OCTET as it stands."
  (declare (type line-buffer buffer) (type (unsigned-byte 8) octet))
  (let ((octets (reserve buffer 1)))
    (setf (aref octets (line-buffer-fill buffer)) octet)
    (incf (line-buffer-fill buffer))
    nil))

(defmacro with-appending ((push buffer room) &body body)
  "Runs BODY with (PUSH octet), which appends to BUFFER; at most ROOM times."
  (let ((octets (gensym)) (fill (gensym)) (owner (gensym)))
    `(let* ((,owner ,buffer)
            (,octets (reserve ,owner ,room))
            (,fill (line-buffer-fill ,owner)))
       (declare (type octets ,octets) (type index ,fill))
       (flet ((,push (octet)
                (declare (type (unsigned-byte 8) octet))
                (setf (aref ,octets ,fill) octet)
                (incf ,fill)))
         (declare (inline ,push))
         ,@body)
       (setf (line-buffer-fill ,owner) ,fill)
       nil)))

(declaim (inline escape-letter))
(defun escape-letter (octet)
  "The letter that stands for OCTET after a backslash, or 0."
  (declare (type (unsigned-byte 8) octet))
  (case octet (#.(char-code #\\) #.(char-code #\\)) (9 #.(char-code #\t)) (10 #.(char-code #\n)) (13 #.(char-code #\r)) (t 0)))

(defun utf-8-length (octets position end)
  "Length of the well-formed UTF-8 sequence of two octets or more at POSITION, or 0 (Unicode 15, table 3-7)."
  (declare (type octets octets) (type index position end))
  (let ((lead (aref octets position)))
    (flet ((tail (offset low high)
             (and (< (+ position offset) end) (<= low (aref octets (+ position offset)) high))))
      (declare (inline tail))
      (cond ((<= #xC2 lead #xDF) (if (tail 1 #x80 #xBF) 2 0))
            ((<= #xE0 lead #xEF)
             (if (and (tail 1 (if (= lead #xE0) #xA0 #x80) (if (= lead #xED) #x9F #xBF)) (tail 2 #x80 #xBF)) 3 0))
            ((<= #xF0 lead #xF4)
             (if (and (tail 1 (if (= lead #xF0) #x90 #x80) (if (= lead #xF4) #x8F #xBF)) (tail 2 #x80 #xBF) (tail 3 #x80 #xBF)) 4 0))
            (t 0)))))

(defun put-slice (buffer octets start end)
  "Appends OCTETS from START to END as one field's text, escaped; octets that are not UTF-8 become U+FFFD."
  (declare (type line-buffer buffer) (type octets octets) (type index start end))
  (with-appending (add buffer (* 3 (- end start)))
    (let ((position start))
      (declare (type index position))
      (loop while (< position end)
            do (let ((octet (aref octets position)))
                 (if (< octet #x80)
                     (let ((letter (escape-letter octet)))
                       (cond ((zerop letter) (add octet))
                             (t (add #.(char-code #\\)) (add letter)))
                       (incf position))
                     (let ((length (utf-8-length octets position end)))
                       (cond ((zerop length) (add #xEF) (add #xBF) (add #xBD) (incf position))
                             (t (loop repeat length do (add (aref octets position)) (incf position)))))))))))

(defmacro with-simple-string ((text) &body body)
  "Runs BODY, compiled once for each representation of strings, with TEXT known to be a simple string."
  `(let ((,text (if (typep ,text 'simple-string) ,text (coerce ,text 'simple-string))))
     (etypecase ,text
       ((simple-array character (*)) ,@body)
       (simple-base-string ,@body)
       (simple-string ,@body))))

(defun put-characters (buffer text)
  (declare (type line-buffer buffer) (type string text))
  (with-simple-string (text)
    (with-appending (add buffer (* 4 (length text)))
      (loop for character across text
            for given = (char-code character)
            ;; Lisp strings may hold surrogates, which UTF-8 cannot.
            for code of-type (unsigned-byte 21) = (if (<= #xD800 given #xDFFF) #xFFFD given)
            do (cond ((< code #x80)
                      (let ((letter (escape-letter code)))
                        (cond ((zerop letter) (add code))
                              (t (add #.(char-code #\\)) (add letter)))))
                     ((< code #x800) (add (logior #xC0 (ash code -6))) (add (logior #x80 (logand code #x3F))))
                     ((< code #x10000)
                      (add (logior #xE0 (ash code -12)))
                      (add (logior #x80 (logand (ash code -6) #x3F)))
                      (add (logior #x80 (logand code #x3F))))
                     (t
                      (add (logior #xF0 (logand #x07 (ash code -18))))
                      (add (logior #x80 (logand (ash code -12) #x3F)))
                      (add (logior #x80 (logand (ash code -6) #x3F)))
                      (add (logior #x80 (logand code #x3F)))))))))

(defun put-text (buffer text)
  "Appends TEXT (a string, or octets of UTF-8) as one field's text, escaped."
  (etypecase text
    (octets (put-slice buffer text 0 (length text)))
    (string (put-characters buffer text))))

(defun put-name (buffer keyword)
  "Appends the name of KEYWORD in lower case."
  (declare (type line-buffer buffer) (type symbol keyword))
  (put-characters buffer (string-downcase (symbol-name keyword))))

(defun put-natural (buffer number)
  "Appends NUMBER (not negative) in decimal digits."
  (declare (type line-buffer buffer) (type (unsigned-byte 62) number))
  (let ((digits 1))
    (declare (type (integer 1 20) digits))
    (loop for rest of-type (unsigned-byte 62) = (floor number 10) then (floor rest 10)
          until (zerop rest) do (incf digits))
    (let ((octets (reserve buffer digits))
          (fill (line-buffer-fill buffer)))
      (loop for place from (+ fill digits -1) downto fill
            do (multiple-value-bind (quotient digit) (floor number 10)
                 (setf (aref octets place) (+ 48 digit) number quotient)))
      (setf (line-buffer-fill buffer) (+ fill digits))
      nil)))

(defun put-decimal (buffer number)
  "Appends the real NUMBER rounded to six places, without trailing zeros and never with an exponent."
  (multiple-value-bind (whole fraction) (floor (abs (round (* (rational number) 1000000))) 1000000)
    (when (and (minusp number) (plusp (+ whole fraction)))
      (put-octet buffer 45))
    (put-natural buffer whole)
    (when (plusp fraction)
      (put-octet buffer 46)
      (loop for unit = 100000 then (floor unit 10)
            until (zerop fraction)
            do (multiple-value-bind (digit rest) (floor fraction unit)
                 (put-octet buffer (+ 48 digit))
                 (setf fraction rest))))))

;;; Reading

(defun escaped-octet (octets position end)
  "The octet written by the escape whose backslash is at POSITION, and the position after it; a fault when there is no such escape."
  (declare (type octets octets) (type index position end))
  (let ((letter (if (< (1+ position) end) (code-char (aref octets (1+ position))) #\Nul)))
    (flet ((hex (at) (and (< at end) (digit-char-p (code-char (aref octets at)) 16))))
      (values
       (case letter
         (#\\ 92) (#\t 9) (#\n 10) (#\r 13) (#\a 7) (#\b 8) (#\f 12) (#\v 11)
         (#\x (let ((high (hex (+ position 2))) (low (hex (+ position 3))))
                (if (and high low)
                    (+ (* 16 high) low)
                    (fail :bad-request "The escape \\x wants two hexadecimal digits."))))
         (t (if (>= (1+ position) end)
                (fail :bad-request "A field ends with a lone backslash; write \\\\ for a backslash.")
                (fail :bad-request "The escape \\~a is not known; write \\\\ for a backslash." letter))))
       (+ position (if (char= letter #\x) 4 2))))))

(defun unescape (octets start end)
  "The octets that the escaped field in OCTETS from START to END stands for, in a new vector; a fault when an escape is wrong."
  (declare (type octets octets) (type index start end))
  (let ((plain (make-array (- end start) :element-type '(unsigned-byte 8)))
        (fill 0)
        (position start))
    (declare (type index fill position))
    (loop while (< position end)
          do (let ((octet (aref octets position)))
               (if (= octet 92)
                   (multiple-value-bind (value next) (escaped-octet octets position end)
                     (setf (aref plain fill) value position next))
                   (setf (aref plain fill) octet position (1+ position)))
               (incf fill)))
    (if (= fill (length plain)) plain (subseq plain 0 fill))))

(defun check-utf-8 (octets)
  (declare (type octets octets))
  (let ((position 0))
    (declare (type index position))
    (loop while (< position (length octets))
          do (if (< (aref octets position) #x80)
                 (incf position)
                 (let ((length (utf-8-length octets position (length octets))))
                   (when (zerop length)
                     (fail :bad-request "A field is not UTF-8."))
                   (incf position length))))))

(defun text-of (octets)
  "OCTETS of UTF-8 as a string. Nearly all that comes is ASCII, for which SBCL's decoder takes five times as long as this."
  (declare (type octets octets) (optimize (speed 3)))
  (let ((text (make-string (length octets))))
    (dotimes (position (length octets) text)
      (let ((octet (aref octets position)))
        (when (>= octet #x80)
          (check-utf-8 octets)
          (return (sb-ext:octets-to-string octets :external-format :utf-8)))
        (setf (schar text position) (code-char octet))))))

(defun split-fields (octets start end)
  "The fields of the line in OCTETS from START to END (without its LF) as a list of strings; a fault when one does not decode."
  (declare (type octets octets) (type index start end))
  (loop for from of-type index = start then (1+ to)
        for to of-type index = (or (position 9 octets :start from :end end) end)
        collect (text-of (unescape octets from to))
        until (= to end)))
