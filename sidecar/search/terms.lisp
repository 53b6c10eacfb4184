;;;; Terms: what a name is found by. A name gives its parts (`HTTPServer': http, server), each in lower case and
;;;; lightly stemmed, itself as a whole when it has several parts (`=httpserver', never stemmed), each two parts in a row
;;;; (a pair, by which `default value' in prose finds defaultValue), and the first letters of long parts (a root, by which
;;;; `serialization' finds Serializer). A term is
;;;; known by a 32-bit hash alone: two of a repository's some 10^5 terms that meet one of a task's hundred by
;;;; accident are expected once in 400 tasks, and cost a wrong word among the hundred.

(defpackage #:opl.search.terms
  (:use #:cl)
  (:import-from #:opl.source.names #:octets #:u32-vector #:make-u32 #:make-octets #:names #:names-count
                #:names-octets #:name-bounds #:with-names-locked)
  (:export #:map-terms #:map-name-terms #:pair-hash #:+part+ #:+whole+ #:+pair+ #:+root+ #:term-hash
           #:part-count #:word-start-p #:word-octet-p #:map-parts))
(in-package #:opl.search.terms)

(declaim (optimize (speed 2) (safety 1)))

(deftype index () '(integer 0 #.(ash most-positive-fixnum -3)))

(defconstant +term-octets+ 96
  "Octets of a name that are looked at; what is longer is a hash, a key or a line of base64, not a word.")

(declaim (inline upper-p lower-p digit-p word-start-p word-octet-p))
(defun upper-p (octet) (<= 65 octet 90))
(defun lower-p (octet) (or (<= 97 octet 122) (>= octet 128)))
(defun digit-p (octet) (<= 48 octet 57))
(defun word-start-p (octet)
  "Whether OCTET may begin a name; all of UTF-8 beyond ASCII may."
  (or (<= 97 octet 122) (<= 65 octet 90) (= octet 95) (>= octet 128)))
(defun word-octet-p (octet)
  "Whether OCTET may be in a name."
  (or (word-start-p octet) (<= 48 octet 57)))

(declaim (inline mix))
(defun mix (hash octet)
  (declare (type (unsigned-byte 32) hash) (type (unsigned-byte 8) octet))
  (ldb (byte 32 0) (* (logxor hash octet) 16777619)))

(defconstant +seed+ 2166136261)
(defconstant +whole-seed+ (ldb (byte 32 0) (* (logxor 2166136261 61) 16777619)) "The seed after the octet of `='.")

(declaim (inline lower))
(defun lower (octet) (declare (type (unsigned-byte 8) octet)) (if (upper-p octet) (logior octet 32) octet))

(defun ends-with (octets start end text)
  (declare (type octets octets) (type index start end) (type simple-base-string text) (optimize (speed 3) (safety 0)))
  (let ((length (length text)))
    (and (>= (- end start) length)
         (loop for i of-type index below length
               always (= (lower (aref octets (+ (- end length) i))) (char-code (schar text i)))))))

(defun vowel-within-p (octets start end)
  (declare (type octets octets) (type index start end) (optimize (speed 3) (safety 0)))
  (loop for i of-type index from start below end
        thereis (case (lower (aref octets i)) ((97 101 105 111 117 121) t))))

(defun stem-end (octets start end)
  "Where the light stem of the word OCTETS[START, END) ends, and whether a `y' takes the place of what was cut.
Plurals, then -ing and -ed, then a final e: weaker than Porter's, which ranked worse on the issues measured
(Acc@5 79.4 against 82.5)."
  (declare (type octets octets) (type index start end) (optimize (speed 2) (safety 0)))
  (macrolet ((ends (text) `(ends-with octets start end (load-time-value (coerce ,text 'simple-base-string)))))
    (let ((y nil))
      (when (<= (- end start) 3) (return-from stem-end (values end nil)))
      (let ((last (lower (aref octets (1- end)))))
        (when (= last 115)                ; s
          (cond ((and (ends "ies") (> (- end start) 4)) (setf y t) (decf end 3))
                ((ends "sses") (decf end 2))
                ((or (ends "xes") (ends "ches") (ends "shes") (ends "zes")) (decf end 2))
                ((or (ends "ss") (ends "us") (ends "is")))
                (t (decf end)))))
      (when y (return-from stem-end (values end t)))
      (let ((cut (cond ((and (ends "ing") (>= (- end start) 6) (vowel-within-p octets start (- end 3))) 3)
                       ((and (ends "ed") (>= (- end start) 5) (vowel-within-p octets start (- end 2))) 2))))
        (when cut
          (decf end cut)
          (let ((last (lower (aref octets (1- end)))))
            (when (and (= last (lower (aref octets (- end 2)))) (not (member last '(108 115 122))))
              (decf end)))))
      (when (and (> (- end start) 4) (= (lower (aref octets (1- end))) 101)) (decf end))
      (values end nil))))

(declaim (inline term-hash))
(defun term-hash (octets start end)
  "The hash of the part OCTETS[START, END), stemmed and in lower case."
  (declare (type octets octets) (type index start end))
  (multiple-value-bind (stop y) (stem-end octets start end)
    (declare (type index stop))
    (let ((hash +seed+))
      (declare (type (unsigned-byte 32) hash))
      (loop for i of-type index from start below stop do (setf hash (mix hash (lower (aref octets i)))))
      (if y (mix hash 121) hash))))

(declaim (inline whole-hash))
(defun whole-hash (octets start end)
  "The hash of the whole name OCTETS[START, END): lower case, without underscores."
  (declare (type octets octets) (type index start end))
  (let ((hash +whole-seed+))
    (declare (type (unsigned-byte 32) hash))
    (loop for i of-type index from start below end
          for octet = (aref octets i)
          do (unless (or (= octet 95) (= octet 36)) (setf hash (mix hash (lower octet)))))
    hash))

(declaim (inline part-end))
(defun part-end (octets i end)
  "The end of the part that begins at I: a run of capitals up to the last before a small letter, a word with or
without a capital, or a run of digits; nil where none begins."
  (declare (type octets octets) (type index i end))
  (let ((octet (aref octets i)))
    (cond ((lower-p octet) (or (position-if-not #'lower-p octets :start i :end end) end))
          ((digit-p octet) (or (position-if-not #'digit-p octets :start i :end end) end))
          ((upper-p octet)
           (let ((j (or (position-if-not #'upper-p octets :start i :end end) end)))
             (declare (type index j))
             (cond ((or (= j end) (not (lower-p (aref octets j)))) j)
                   ((> (- j i) 1) (1- j))
                   (t (or (position-if-not #'lower-p octets :start j :end end) end)))))
          (t nil))))

(defun map-ideographs (octets start end function)
  "Pairs of three-octet characters: Chinese, Japanese and Korean write no spaces between words."
  (declare (type octets octets) (type index start end) (type function function))
  (loop for i of-type index from start by 3
        while (and (<= (+ i 6) end) (<= #xE3 (aref octets i) #xED))
        do (funcall function (term-hash octets i (+ i 6)))))

(declaim (inline map-parts))
(defun map-parts (function octets start end)
  "Calls FUNCTION with start and end of each part; the number of parts."
  (declare (type octets octets) (type index start end))
  (let ((i start) (parts 0))
    (declare (type index i parts))
    (loop while (< i end)
          do (let ((stop (part-end octets i end)))
               (cond (stop (incf parts) (funcall function i stop) (setf i (the index stop)))
                     (t (incf i)))))
    parts))

(defun map-terms (function octets start end)
  "Calls FUNCTION with the hash of each term of the name OCTETS[START, END) and true for the whole name, which comes
first; a part counts from two octets on and not when all digits."
  (declare (type function function) (type octets octets) (type index start end))
  (let* ((end (min end (+ start +term-octets+)))
         (parts (map-parts (lambda (from to) (declare (ignore from to))) octets start end)))
    (declare (type index end))
    (when (>= parts 2) (funcall function (whole-hash octets start end) t))
    (map-parts (lambda (from to)
                 (declare (type index from to))
                 (when (and (>= (- to from) 2) (not (digit-p (aref octets from))))
                   (funcall function (term-hash octets from to) nil)
                   (when (and (>= (- to from) 9) (<= #xE3 (aref octets from) #xED))
                     (map-ideographs octets from to (lambda (hash) (funcall function hash nil))))))
               octets start end)
    nil))

(defconstant +part+ 0 "One part of a name.")
(defconstant +whole+ 1 "A name of several parts as it stands.")
(defconstant +pair+ 2 "Two parts in a row.")
(defconstant +root+ 3 "The first letters of a long part.")

(defconstant +root-letters+ 5)
(defconstant +rooted-letters+ 6 "Letters from which a part has a root.")

(declaim (inline pair-hash root-hash))
(defun pair-hash (first second)
  "The hash of the pair of the parts with the hashes FIRST and SECOND."
  (declare (type (unsigned-byte 32) first second))
  (ldb (byte 32 0) (+ (ldb (byte 32 0) (* first 16777619)) (logxor second #x9E3779B9))))
(defun root-hash (octets start)
  (declare (type octets octets) (type index start))
  (let ((hash (ldb (byte 32 0) (* (logxor +seed+ 94) 16777619))))
    (declare (type (unsigned-byte 32) hash))
    (loop for i of-type index from start repeat +root-letters+ do (setf hash (mix hash (lower (aref octets i)))))
    hash))

(declaim (inline map-name-terms))
(defun map-name-terms (function octets start end)
  "Calls FUNCTION with the hash and the kind of each term of the name OCTETS[START, END): parts as `map-terms' gives them, each followed
by its pair and its root, the whole last."
  (declare (type octets octets) (type index start end))
  (let* ((end (min end (+ start +term-octets+))) (before 0) (before-p nil))
    (declare (type index end) (type (unsigned-byte 32) before))
    (when (>= (the index (map-parts
                          (lambda (from to)
                            (declare (type index from to))
                            (if (or (digit-p (aref octets from)) (< (- to from) 2))
                                (setf before-p nil)
                                (let ((hash (term-hash octets from to)))
                                  (funcall function hash +part+)
                                  (when before-p (funcall function (pair-hash before hash) +pair+))
                                  (when (>= (- to from) +rooted-letters+) (funcall function (root-hash octets from) +root+))
                                  (when (and (>= (- to from) 9) (<= #xE3 (aref octets from) #xED))
                                    (map-ideographs octets from to (lambda (hash) (funcall function hash +part+))))
                                  (setf before hash before-p t))))
                          octets start end))
              2)
      (funcall function (whole-hash octets start end) +whole+))
    nil))

(defun part-count (string)
  "The number of parts of the name STRING."
  (let ((octets (opl.source.names:string-octets string)))
    (map-parts (lambda (from to) (declare (ignore from to))) octets 0 (length octets))))
