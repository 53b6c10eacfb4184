;;;; The names that a term stands in: the terms of all names of an arena, sorted by their hash. Names that came since the
;;;; sorting are kept as they came, until they are many. A query asks for its own terms instead of passing over millions of names.

(defpackage #:opl.search.inverted
  (:use #:cl #:opl.source.names)
  (:import-from #:opl.search.terms #:map-name-terms #:+term-octets+)
  (:export #:name-terms #:make-name-terms #:note-names #:name-terms-octets #:name-terms-columns #:columns-count #:do-term-names #:do-recent-terms))
(in-package #:opl.search.inverted)

(declaim (optimize (speed 2) (safety 1)))

(deftype index () '(integer 0 #.(ash most-positive-fixnum -2)))

(defstruct columns
  "Never changed once others can see it, but that RECENT-HASHES and RECENT-STARTS may hold more than COUNT says."
  (count 0 :type (unsigned-byte 32))               ; names seen
  (sorted 0 :type (unsigned-byte 32))              ; of these, from 0, the ones that KEYS and NAMES know
  (keys (make-u32 0) :type u32-vector)             ; hashes of terms, ascending
  (names (make-u32 0) :type u32-vector)            ; beside each the name it is a term of, ascending for one hash
  (recent-starts (make-u32 64) :type u32-vector)   ; name - SORTED -> its first term; one more at the end
  (recent-hashes (make-u32 256) :type u32-vector))

(defstruct name-terms
  (columns (make-columns) :type columns)
  (lock (sb-thread:make-mutex :name "terms")))

(defconstant +most-name-terms+ (* 3 +term-octets+) "Terms of one name, more than any can have.")
(defconstant +most-recent-names+ 4096 "Names kept as they came; beyond, when they are an eighth of all, everything is sorted anew.")

(defun widened (vector wanted)
  (declare (type u32-vector vector) (type index wanted))
  (if (<= wanted (length vector)) vector (replace (make-u32 (max wanted (floor (* 3 (length vector)) 2))) vector)))

(defmacro do-name-terms ((hash names octets name) &body body)
  (let ((kind (gensym)) (start (gensym)) (end (gensym)))
    `(multiple-value-bind (,start ,end) (name-bounds ,names ,name)
       (map-name-terms (lambda (,hash ,kind) (declare (ignore ,kind) (type (unsigned-byte 32) ,hash)) ,@body) ,octets ,start ,end))))

(defconstant +digit-bits+ 11)
(defconstant +digits+ (ash 1 +digit-bits+))

(defun sort-pass (keys names to-keys to-names shift)
  "One pass of a radix sort: KEYS and NAMES beside them into the other two, by the digit at SHIFT; stable."
  (declare (type u32-vector keys names to-keys to-names) (type (integer 0 22) shift) (optimize (speed 3) (safety 0)))
  (let ((starts (make-u32 (1+ +digits+))))
    (flet ((digit (key) (logand (1- +digits+) (ash (the (unsigned-byte 32) key) (- shift)))))
      (declare (inline digit))
      (loop for key across keys do (incf (aref starts (1+ (digit key)))))
      (loop for i from 1 to +digits+ do (incf (aref starts i) (aref starts (1- i))))
      (dotimes (i (length keys))
        (let* ((key (aref keys i)) (digit (digit key)) (at (aref starts digit)))
          (setf (aref to-keys at) key (aref to-names at) (aref names i)
                (aref starts digit) (1+ at)))))))

(defun sorted-columns (names count)
  "The columns of the first COUNT of NAMES, all sorted."
  (let* ((octets (with-names-locked (names) (names-octets names))) (at 0)
         (keys (make-u32 (+ +most-name-terms+ (* 3 count)))) (holders (make-u32 (length keys))))
    (declare (type octets octets) (type index at) (type u32-vector keys holders))
    (dotimes (name count)
      (setf keys (widened keys (+ at +most-name-terms+)) holders (widened holders (+ at +most-name-terms+)))
      (do-name-terms (hash names octets name)
        (setf (aref keys at) hash (aref holders at) name) (incf at)))
    (let* ((keys (subseq keys 0 at)) (holders (subseq holders 0 at)) (other-keys (make-u32 at)) (other-holders (make-u32 at)))
      (loop for shift from 0 below 32 by +digit-bits+
            do (sort-pass keys holders other-keys other-holders shift)
               (rotatef keys other-keys) (rotatef holders other-holders))
      (make-columns :count count :sorted count :keys keys :names holders))))

(defun extended-columns (columns names count)
  "COLUMNS with the names that came since, up to COUNT, beside the sorted ones."
  (let* ((octets (with-names-locked (names) (names-octets names))) (sorted (columns-sorted columns)) (seen (columns-count columns))
         (starts (widened (columns-recent-starts columns) (+ 1 (- count sorted)))) (hashes (columns-recent-hashes columns))
         (at (aref starts (- seen sorted))))
    (declare (type octets octets) (type u32-vector starts hashes) (type (unsigned-byte 32) at seen sorted count))
    (loop for name of-type (unsigned-byte 32) from seen below count
          do (setf hashes (widened hashes (+ at +most-name-terms+)))
             (do-name-terms (hash names octets name) (setf (aref hashes at) hash) (incf at))
             (setf (aref starts (1+ (- name sorted))) at))
    (make-columns :count count :sorted sorted :keys (columns-keys columns) :names (columns-names columns)
                  :recent-starts starts :recent-hashes hashes)))

(defun note-names (terms names)
  "Takes in those of NAMES that TERMS has not seen. Returns TERMS."
  (declare (type name-terms terms) (type names names))
  (sb-thread:with-recursive-lock ((name-terms-lock terms))
    (let* ((count (names-count names)) (columns (name-terms-columns terms)) (recent (- count (columns-sorted columns))))
      (when (> count (columns-count columns))
        (setf (name-terms-columns terms)
              (if (> recent (max +most-recent-names+ (floor count 8)))
                  (sorted-columns names count)
                  (extended-columns columns names count))))))
  terms)

(defun name-terms-octets (terms)
  "Octets that TERMS takes."
  (let ((columns (name-terms-columns terms)))
    (* 4 (+ (length (columns-keys columns)) (length (columns-names columns))
            (length (columns-recent-starts columns)) (length (columns-recent-hashes columns))))))

(defun first-place (keys hash)
  "Where the keys from HASH on begin in KEYS."
  (declare (type u32-vector keys) (type (unsigned-byte 32) hash) (optimize (speed 3) (safety 0)))
  (let ((low 0) (high (length keys)))
    (declare (type index low high))
    (loop while (< low high)
          do (let ((middle (ash (+ low high) -1)))
               (if (< (aref keys middle) hash) (setf low (1+ middle)) (setf high middle))))
    low))

(defmacro do-term-names ((name columns hash) &body body)
  "BODY for each sorted NAME that the term with HASH stands in; twice for one it stands in twice."
  (let ((keys (gensym)) (names (gensym)) (wanted (gensym)) (at (gensym)))
    `(let ((,keys (columns-keys ,columns)) (,names (columns-names ,columns)) (,wanted ,hash))
       (declare (type u32-vector ,keys ,names) (type (unsigned-byte 32) ,wanted))
       (loop for ,at of-type index from (first-place ,keys ,wanted) below (length ,keys)
             while (= ,wanted (aref ,keys ,at))
             do (let ((,name (aref ,names ,at))) ,@body)))))

(defmacro do-recent-terms ((name hash columns) &body body)
  "BODY for each NAME that came since the sorting and HASH of a term of it."
  (let ((c (gensym)) (starts (gensym)) (hashes (gensym)) (sorted (gensym)) (i (gensym)) (k (gensym)))
    `(let* ((,c ,columns) (,starts (columns-recent-starts ,c)) (,hashes (columns-recent-hashes ,c)) (,sorted (columns-sorted ,c)))
       (declare (type u32-vector ,starts ,hashes))
       (dotimes (,i (- (columns-count ,c) ,sorted))
         (let ((,name (+ ,sorted ,i)))
           (declare (type (unsigned-byte 32) ,name))
           (loop for ,k of-type index from (aref ,starts ,i) below (aref ,starts (1+ ,i))
                 do (let ((,hash (aref ,hashes ,k))) ,@body)))))))
