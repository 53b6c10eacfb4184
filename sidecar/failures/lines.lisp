(defpackage #:opl.failures.lines
  (:use #:cl)
  (:export #:needle-table #:make-needles #:needles-in #:scan-lines #:clean-line #:make-lent #:octets))
(in-package #:opl.failures.lines)

(declaim (optimize (speed 2) (safety 1)))

;;; A log is read in blocks of octets. One automaton (Aho and Corasick's) finds the needles of all the patterns that
;;; are looked for while the ends of lines are sought, so that a line without a needle costs one table look-up per octet.

(deftype octets () '(simple-array (unsigned-byte 8) (*)))
(deftype transitions () '(simple-array (unsigned-byte 16) (*)))
(deftype masks () '(simple-array (unsigned-byte 62) (*)))

(defconstant +block+ (* 256 1024) "Octets read at a time.")
(defconstant +longest-line+ (* 64 1024) "Octets of a line that are looked at; what follows is noise of some program's dump.")

;;; States are numbered so that the ones that mean something are the highest: those where a needle ends, and one state that the octets
;;; which end or break a line lead to. The loop over the octets has one comparison then.

(defstruct (needle-table (:constructor %needles (next masks first special)))
  (next nil :type transitions)
  (masks nil :type masks)
  (first 0 :type (unsigned-byte 16))
  (special 0 :type (unsigned-byte 16)))

(defun string-octets (string) (coerce (sb-ext:string-to-octets string :external-format :utf-8) 'octets))

(defun trie-of (needles)
  "The trie of NEEDLES with failure links followed: transitions, masks, the number of states."
  (let* ((states (1+ (loop for (needle) in needles sum (length (string-octets needle)))))
         (next (make-array (* 256 states) :element-type '(unsigned-byte 16) :initial-element 0))
         (masks (make-array states :element-type '(unsigned-byte 62) :initial-element 0))
         (fail (make-array states :element-type 'fixnum :initial-element 0))
         (count 1) (queue '()))
    (assert (< states 65534))
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
    (values next masks count)))

(defun make-needles (needles)
  "The automaton for NEEDLES, a list of (string . mask); a line's mask is the union of those of the needles in it."
  (multiple-value-bind (next masks count) (trie-of needles)
    (let* ((number (make-array count :element-type '(unsigned-byte 16)))
           (special count)
           (first (count-if #'zerop masks :end count))
           (plain -1) (ending (1- first))
           (renumbered (make-array (* 256 (1+ count)) :element-type '(unsigned-byte 16) :initial-element 0))
           (renumbered-masks (make-array (1+ count) :element-type '(unsigned-byte 62) :initial-element 0)))
      ;; the root has no mask, so it stays 0
      (dotimes (state count)
        (setf (aref number state) (if (zerop (aref masks state)) (incf plain) (incf ending))))
      (dotimes (state count)
        (let ((new (aref number state)))
          (setf (aref renumbered-masks new) (aref masks state))
          (dotimes (octet 256)
            (setf (aref renumbered (+ (* 256 new) octet))
                  (if (member octet '(10 13 27)) special (aref number (aref next (+ (* 256 state) octet))))))))
      (%needles renumbered renumbered-masks first special))))

(defun needles-in (table text end)
  "The union of the masks of TABLE's needles in the first END characters of TEXT."
  (declare (type (simple-array character (*)) text) (fixnum end) (optimize (speed 3) (safety 0)) (sb-ext:muffle-conditions sb-ext:compiler-note))
  (let ((next (needle-table-next table)) (masks (needle-table-masks table)) (special (needle-table-special table)) (state 0) (mask 0))
    (declare (type (unsigned-byte 16) state special) (type (unsigned-byte 62) mask))
    (dotimes (i end mask)
      (let ((code (char-code (schar text i))))
        (setf state (if (< code 128) (aref next (logior (ash state 8) code)) 0))
        (if (= state special) (setf state 0) (setf mask (logior mask (aref masks state))))))))

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
      ((#\] #\_ #\P #\^ #\X)
       (loop while (and (< i end) (/= 7 (aref buffer i)) (/= 10 (aref buffer i))
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
        (first (needle-table-first table)) (special (needle-table-special table))
        (state 0) (mask 0) (line start) (i start))
    (declare (type (unsigned-byte 16) state first special) (type (unsigned-byte 62) mask) (type (unsigned-byte 62) line i end))
    (loop
      (let ((before 0))
        (declare (type (unsigned-byte 16) before))
        (loop
          (when (>= i end) (return-from scan-block line))
          (setf before state
                state (aref next (logior (ash state 8) (aref buffer i))))
          (incf i)
          (when (>= state first) (return)))
        (cond ((/= state special) (setf mask (logior mask (aref masks state))))
              ((= 27 (aref buffer (1- i))) (setf i (escape-end buffer (1- i) end) state before))
              (t (when (or (/= mask 0) (funcall always))
                   (funcall function buffer line (1- i) mask))
                 (setf state 0 mask 0)
                 (when (and (= 13 (aref buffer (1- i))) (< i end) (= 10 (aref buffer i))) (incf i))
                 (setf line i)))))))

(defun never () nil)

(defun scan-lines (path table function &key (always #'never) (over-p #'never) (limit most-positive-fixnum))
  "Calls FUNCTION with an octet vector, start, end and mask for each line of the file at PATH that holds a needle of TABLE,
or for each at all while ALWAYS returns true. A carriage return ends a line too: progress is redrawn after it. Ends early when OVER-P,
asked for each block, returns true, and after the block in which the LIMITth octet stands."
  (declare (function function always over-p) (fixnum limit))
  (with-open-file (in path :element-type '(unsigned-byte 8))
    (let ((buffer (make-array (+ +block+ +longest-line+) :element-type '(unsigned-byte 8)))
          (kept 0) (done 0))
      (declare (fixnum kept done))
      (loop
        (when (or (>= done limit) (funcall over-p)) (return))
        (let* ((filled (read-sequence buffer in :start kept :end (+ kept +block+)))
               (line (scan-block buffer 0 filled table function always)))
          (declare (fixnum filled line))
          (incf done +block+)
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
  "The position after a time stamp at START, else START: `2022-07-17T23:24:47.1444471Z `, the same in brackets, and what GitLab puts
behind it (`01O `)."
  (declare (type octets buffer) (fixnum start end))
  (flet ((at (offset) (if (< (+ start offset) end) (aref buffer (+ start offset)) 0)))
    (declare (inline at))
    (let ((bracket (if (= 91 (at 0)) 1 0)))
      (unless (and (digit-octet-p (at bracket)) (digit-octet-p (at (+ 3 bracket))) (= 45 (at (+ 4 bracket))) (= 45 (at (+ 7 bracket))) (= 84 (at (+ 10 bracket)))
                   (= 58 (at (+ 13 bracket))) (= 58 (at (+ 16 bracket))))
        (return-from stamp-end start))
      (let* ((z (position 90 buffer :start start :end (min end (+ start 34))))
             (after (and z (+ z 1 bracket))))
        (cond ((or (null after) (> after end) (and (= bracket 1) (/= 93 (aref buffer (1- after))))) start)
              ((= after end) end)
              ((/= 32 (aref buffer after)) start)
              ((and (< (+ after 4) end) (digit-octet-p (aref buffer (+ after 1))) (digit-octet-p (aref buffer (+ after 2)))
                    (member (aref buffer (+ after 3)) '(79 69)) (member (aref buffer (+ after 4)) '(32 43)))
               (+ after 5))
              (t (1+ after)))))))

(defun job-end (buffer start end)
  "The position after `job<TAB>step<TAB>` before a time stamp at START, else START."
  (declare (type octets buffer) (fixnum start end))
  (let* ((limit (min end (+ start 200)))
         (tab (position 9 buffer :start start :end limit))
         (second (and tab (> tab start) (position 9 buffer :start (1+ tab) :end limit))))
    (if second
        (let ((after (stamp-end buffer (1+ second) end)))
          (if (> after (1+ second)) after start))
        start)))

(defun plainly-unprefixed-p (buffer start end)
  "True for most lines: they begin neither with a stamp nor an escape, and no TAB is near."
  (declare (type octets buffer) (fixnum start end) (optimize (speed 3) (safety 0)))
  (and (< start end)
       (let ((octet (aref buffer start)))
         (not (or (digit-octet-p octet) (= octet 91) (= octet 27) (= octet #xEF))))
       (loop for i of-type fixnum from start below (min end (+ start 200)) never (= 9 (aref buffer i)))))

(defun prefix-end (buffer start end)
  "The position after what hosted runners put before a line: a byte order mark, `job<TAB>step<TAB>`, time stamps."
  (declare (type octets buffer) (fixnum start end))
  (when (plainly-unprefixed-p buffer start end) (return-from prefix-end start))
  (when (and (< (+ start 2) end) (= #xEF (aref buffer start)) (= #xBB (aref buffer (1+ start))) (= #xBF (aref buffer (+ start 2))))
    (incf start 3))
  (loop
    (let* ((plain (loop with at fixnum = start
                        while (and (< at end) (= 27 (aref buffer at))) do (setf at (escape-end buffer at end))
                        finally (return at)))
           (after (stamp-end buffer plain end))
           (after (if (= after plain) start after))
           (after (if (= after start) (job-end buffer start end) after)))
      (when (= after start) (return start))
      (setf start after))))

;;; Nearly all lines are looked at once and forgotten. As new strings they cost more than looking at them does, so a reader of a log
;;; lends one string of each length again and again.

(defconstant +longest-lent+ 512 "Characters of a line from which on it is a string of its own; few are longer.")
(deftype lent () '(simple-vector #.+longest-lent+))

(defun make-lent () "Strings to lend, for one reader." (make-array +longest-lent+ :initial-element nil))

(declaim (inline string-of))
(defun string-of (length lent)
  "A string of LENGTH to write into: one of LENT's, or a new one."
  (declare (type (or null lent) lent) (fixnum length))
  (if (and lent (< length +longest-lent+))
      (or (svref lent length) (setf (svref lent length) (make-string length)))
      (make-string length)))

(declaim (ftype (function (octets fixnum fixnum &optional (or null lent)) (simple-array character (*))) clean-line))
(defun clean-line (buffer start end &optional lent)
  "The characters of the line between START and END of BUFFER without escape sequences and hosted runners' prefixes.
Octets that are no UTF-8 stand for themselves (Latin-1). With LENT (see MAKE-LENT) the string holds until the next call only."
  (declare (type octets buffer) (fixnum start end) (optimize (speed 3) (safety 0)) (sb-ext:muffle-conditions sb-ext:compiler-note))
  (let* ((start (prefix-end buffer start end))
         (line (string-of (- end start) lent))
         (fill 0) (i start))
    (declare (fixnum start fill i) (type (simple-array character (*)) line))
    (flet ((continuation (offset)
             (let ((at (+ i offset)))
               (declare (fixnum at))
               (and (< at end) (= #x80 (logand #xC0 (aref buffer at))) (logand #x3F (aref buffer at))))))
      (declare (inline continuation))
      (loop while (< i end)
            ;; nearly all octets are printable ASCII
            do (loop while (and (< i end) (<= 32 (aref buffer i) 127))
                     do (setf (schar line fill) (code-char (aref buffer i)))
                        (incf fill) (incf i))
               (when (>= i end) (return))
               (let ((octet (aref buffer i)))
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
    (if (= fill (length line)) line (replace (the (simple-array character (*)) (string-of fill lent)) line))))
