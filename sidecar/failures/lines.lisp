(defpackage #:opl.failures.lines
  (:use #:cl)
  (:export #:needle-table #:make-needles #:scan-lines #:clean-line #:octets #:+longest-line+))
(in-package #:opl.failures.lines)

(declaim (optimize (speed 2) (safety 1)))

;;; A log is read in blocks of octets. One automaton (Aho and Corasick's) finds the needles of all the patterns that
;;; are looked for while the ends of lines are sought, so that a line without a needle costs one table look-up per octet.

(deftype octets () '(simple-array (unsigned-byte 8) (*)))
(deftype transitions () '(simple-array (unsigned-byte 16) (*)))
(deftype masks () '(simple-array (unsigned-byte 62) (*)))

(defconstant +block+ (* 256 1024) "Octets read at a time.")
(defconstant +longest-line+ (* 64 1024) "Octets of a line that are looked at; what follows is noise of some program's dump.")

(defstruct (needle-table (:constructor %needles (next masks)))
  (next nil :type transitions)
  (masks nil :type masks))

(defun string-octets (string) (coerce (sb-ext:string-to-octets string :external-format :utf-8) 'octets))

(defun make-needles (needles)
  "The automaton for NEEDLES, a list of (string . mask); a line's mask is the union of those of the needles in it."
  (let* ((states (1+ (loop for (needle) in needles sum (length (string-octets needle)))))
         (next (make-array (* 256 states) :element-type '(unsigned-byte 16) :initial-element 0))
         (masks (make-array states :element-type '(unsigned-byte 62) :initial-element 0))
         (fail (make-array states :element-type 'fixnum :initial-element 0))
         (count 1) (queue '()))
    (assert (< states 65536))
    (loop for (needle . mask) in needles
          for state = 0
          do (loop for octet across (string-octets needle)
                   for place = (+ (* 256 state) octet)
                   do (when (zerop (aref next place))
                        (setf (aref next place) count)
                        (incf count))
                      (setf state (aref next place)))
             (setf (aref masks state) (logior (aref masks state) mask)))
    (loop for octet below 256
          for state = (aref next octet)
          unless (zerop state) do (push state queue))
    (setf queue (nreverse queue))
    (let ((tail (last queue)))
      (loop while queue
            do (let ((state (first queue)))
                 (loop for octet below 256
                       for place = (+ (* 256 state) octet)
                       for child = (aref next place)
                       for back = (aref next (+ (* 256 (aref fail state)) octet))
                       do (cond ((zerop child) (setf (aref next place) back))
                                (t (setf (aref fail child) back
                                         (aref masks child) (logior (aref masks child) (aref masks back)))
                                   (setf (cdr tail) (list child) tail (cdr tail)))))
                 (pop queue))))
    (%needles next masks)))

(defun escape-end (buffer start end)
  "The position after the terminal's escape sequence that starts at START in BUFFER."
  (declare (type octets buffer) (fixnum start end))
  (let ((i (1+ start)))
    (declare (fixnum i))
    (when (>= i end) (return-from escape-end end))
    (case (code-char (aref buffer i))
      (#\[ (incf i)
       (loop while (and (< i end) (<= #x20 (aref buffer i) #x3F)) do (incf i))
       (min end (if (and (< i end) (<= #x40 (aref buffer i) #x7E)) (1+ i) i)))
      (#\] (loop while (and (< i end) (/= 7 (aref buffer i)) (/= 10 (aref buffer i))
                            (not (and (= 27 (aref buffer i)) (< (1+ i) end) (= 92 (aref buffer (1+ i))))))
                 do (incf i))
       (cond ((>= i end) end)
             ((= 7 (aref buffer i)) (1+ i))
             ((= 27 (aref buffer i)) (+ i 2))
             (t i)))
      ((#\( #\) #\# #\%) (min end (+ i 2)))
      (t (min end (1+ i))))))

(defun scan-block (buffer start end table function always)
  "Calls FUNCTION with BUFFER, start, end and mask of each whole line between START and END that holds a needle (with ALWAYS
returning true: of every line). Returns the start of the last line, which is not whole."
  (declare (type octets buffer) (fixnum start end) (function function always)
           (optimize (speed 3) (safety 0)) (sb-ext:muffle-conditions sb-ext:compiler-note))
  (let ((next (needle-table-next table)) (masks (needle-table-masks table))
        (state 0) (mask 0) (line start) (i start))
    (declare (type (unsigned-byte 16) state) (type (unsigned-byte 62) mask) (fixnum line i))
    (loop
      (when (>= i end) (return line))
      (let ((octet (aref buffer i)))
        (cond ((> octet 27)
               (setf state (aref next (logior (ash state 8) octet))
                     mask (logior mask (aref masks state)))
               (incf i))
              ((or (= octet 10) (= octet 13))
               (when (or (/= mask 0) (funcall always))
                 (funcall function buffer line i mask))
               (setf state 0 mask 0)
               (incf i)
               (when (and (= octet 13) (< i end) (= 10 (aref buffer i))) (incf i))
               (setf line i))
              ((= octet 27) (setf i (escape-end buffer i end)))
              (t (setf state (aref next (logior (ash state 8) octet))
                       mask (logior mask (aref masks state)))
                 (incf i)))))))

(defun never () nil)

(defun scan-lines (path table function &optional (always #'never))
  "Calls FUNCTION with an octet vector, start, end and mask for each line of the file at PATH that holds a needle of TABLE,
or for each at all while ALWAYS returns true. A carriage return ends a line too: progress is redrawn after it."
  (declare (function function always))
  (with-open-file (in path :element-type '(unsigned-byte 8))
    (let ((buffer (make-array (+ +block+ +longest-line+) :element-type '(unsigned-byte 8)))
          (kept 0))
      (declare (fixnum kept))
      (loop
        (let* ((filled (read-sequence buffer in :start kept :end (+ kept +block+)))
               (line (scan-block buffer 0 filled table function always)))
          (declare (fixnum filled line))
          (when (= filled kept)
            (when (plusp kept)
              ;; the last line has no end
              (setf (aref buffer kept) 10)
              (scan-block buffer 0 (1+ kept) table function always))
            (return))
          (setf kept (- filled line))
          (when (>= kept +longest-line+) (setf kept (1- +longest-line+)))
          (replace buffer buffer :start1 0 :start2 line :end2 (+ line kept)))))))

;;; octets -> characters

(defun digit-octet-p (octet)
  (declare (type (unsigned-byte 8) octet))
  (<= 48 octet 57))

(defun stamp-end (buffer start end)
  "The position after a hosted runner's time stamp `2022-07-17T23:24:47.1444471Z ` at START, else START."
  (declare (type octets buffer) (fixnum start end))
  (flet ((at (offset) (if (< (+ start offset) end) (aref buffer (+ start offset)) 0)))
    (if (and (digit-octet-p (at 0)) (digit-octet-p (at 3)) (= 45 (at 4)) (= 45 (at 7)) (= 84 (at 10)) (= 58 (at 13)) (= 58 (at 16)))
        (let ((z (position 90 buffer :start start :end (min end (+ start 32)))))
          (cond ((null z) start)
                ((and (< (1+ z) end) (= 32 (aref buffer (1+ z)))) (+ z 2))
                ((= (1+ z) end) end)
                (t start)))
        start)))

(defun prefix-end (buffer start end)
  "The position after what a hosted runner puts before a line: a byte order mark, `job<TAB>step<TAB>`, a time stamp."
  (declare (type octets buffer) (fixnum start end))
  (when (and (< (+ start 2) end) (= #xEF (aref buffer start)) (= #xBB (aref buffer (1+ start))) (= #xBF (aref buffer (+ start 2))))
    (incf start 3))
  (let ((after (stamp-end buffer start end)))
    (when (> after start) (return-from prefix-end after))
    (let* ((limit (min end (+ start 200)))
           (tab (position 9 buffer :start start :end limit))
           (second (and tab (> tab start) (position 9 buffer :start (1+ tab) :end limit))))
      (if second
          (let ((after (stamp-end buffer (1+ second) end)))
            (if (> after (1+ second)) after start))
          start))))

(defun clean-line (buffer start end)
  "The characters of the line between START and END of BUFFER without escape sequences and hosted runners' prefixes.
Octets that are no UTF-8 stand for themselves (Latin-1)."
  (declare (type octets buffer) (fixnum start end) (optimize (speed 3) (safety 0)) (sb-ext:muffle-conditions sb-ext:compiler-note))
  (let* ((start (prefix-end buffer start end))
         (line (make-string (- end start)))
         (fill 0) (i start))
    (declare (fixnum start fill i) (type (simple-array character (*)) line))
    (flet ((continuation (offset)
             (let ((at (+ i offset)))
               (declare (fixnum at))
               (and (< at end) (= #x80 (logand #xC0 (aref buffer at))) (logand #x3F (aref buffer at))))))
      (declare (inline continuation))
      (loop while (< i end)
            do (let ((octet (aref buffer i)))
                 (cond ((= octet 27) (setf i (escape-end buffer i end)))
                       ((< octet #x80) (unless (or (= octet 8) (= octet 0)) (setf (schar line fill) (code-char octet)) (incf fill)) (incf i))
                       (t (multiple-value-bind (code width)
                              (let ((a (continuation 1)) (b (continuation 2)) (c (continuation 3)))
                                (cond ((and a (<= #xC2 octet #xDF)) (values (logior (ash (logand octet #x1F) 6) (the fixnum a)) 2))
                                      ((and a b (<= #xE0 octet #xEF))
                                       (values (logior (ash (logand octet #x0F) 12) (ash (the (unsigned-byte 6) a) 6) (the fixnum b)) 3))
                                      ((and a b c (<= #xF0 octet #xF4))
                                       (values (logior (ash (logand octet 7) 18) (ash (the (unsigned-byte 6) a) 12) (ash (the (unsigned-byte 6) b) 6) (the fixnum c)) 4))
                                      (t (values octet 1))))
                            (declare (fixnum code width))
                            (when (or (>= code #x110000) (<= #xD800 code #xDFFF)) (setf code #xFFFD))
                            (setf (schar line fill) (code-char code))
                            (incf fill)
                            (incf i width)))))))
    (if (= fill (length line)) line (subseq line 0 fill))))
