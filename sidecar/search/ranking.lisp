;;;; From channels to an order: what each channel says is brought to one scale and added up by its weight.

(defpackage #:opl.search.ranking
  (:use #:cl #:opl.index.store #:opl.search.tables #:opl.search.evidence #:opl.search.rank)
  (:import-from #:opl.source.names #:u32-vector #:make-u32)
  (:export #:ranking #:rank #:ranking-files #:ranking-scores #:ranking-evidence #:ranking-total #:shares))
(in-package #:opl.search.ranking)

(declaim (optimize (speed 1) (safety 1)))

(defstruct ranking
  evidence
  (columns '() :type list)              ; of column
  (scores (make-floats 0) :type floats)
  (files '() :type (or list vector))    ; in order, those with any evidence
  (total 0 :type fixnum))

(defstruct column
  "What CHANNEL says of each file. What counts is a value divided by the GREATEST, at most 1; a prior's as it is."
  (channel nil :type channel)
  (values **nothing** :type floats)
  (greatest 1.0 :type single-float))

(declaim (inline scaled))
(defun scaled (value greatest prior-p)
  (declare (type single-float value greatest))
  (if prior-p value (min 1.0 (/ value greatest))))

(defun column-share (column file)
  "What COLUMN gives FILE."
  (let ((channel (column-channel column)))
    (* (channel-weight channel) (scaled (aref (column-values column) file) (column-greatest column) (channel-prior-p channel)))))

(defun columns (evidence)
  "The columns of the channels that say anything."
  (loop for channel in *channels*
        for values = (the floats (funcall (channel-function channel) evidence))
        for greatest = (if (channel-prior-p channel) 1.0 (greatest evidence values))
        unless (or (nothing-p values) (zerop greatest))
          collect (make-column :channel channel :values values :greatest greatest)))

(defparameter *unspoken* '("recently-changed" "imported" "imported-by-tests" "types-used" "together")
  "Channels that raise a file of which others speak, and bring none by themselves: the related block is for those.")

(defun evident-files (columns size)
  "A bit by file: whether any channel but the priors speaks for it."
  (declare (type fixnum size))
  (let ((bits (make-array size :element-type 'bit :initial-element 0)))
    (flet ((mark (values)
             (declare (optimize (speed 3) (safety 0)) (type floats values) (type simple-bit-vector bits))
             (dotimes (file (length values)) (when (> (aref values file) 0.0) (setf (sbit bits file) 1)))))
      (dolist (column columns bits)
        (let ((channel (column-channel column)))
          (unless (or (channel-prior-p channel) (member (channel-name channel) *unspoken* :test #'string=))
            (mark (column-values column))))))))

(defun sum-columns (columns size)
  (declare (type fixnum size))
  (let ((scores (make-floats size)))
    (flet ((add (values weight greatest prior-p)
             (declare (optimize (speed 3) (safety 0)) (type floats values scores) (type single-float weight greatest))
             (macrolet ((each (value) `(dotimes (file (length values))
                                         (let ((value (aref values file)))
                                           (unless (= value 0.0) (incf (aref scores file) (* weight ,value)))))))
               (if prior-p (each value) (each (min 1.0 (/ value greatest)))))))
      (dolist (column columns scores)
        (let ((channel (column-channel column)))
          (add (column-values column) (channel-weight channel) (column-greatest column) (channel-prior-p channel)))))))

(deftype sort-key () '(unsigned-byte 62))

(declaim (inline sort-key))
(defun sort-key (score place)
  "A number that is greater the greater SCORE is and, for equal ones, the smaller PLACE (below 2^24) is."
  (declare (type single-float score) (type (unsigned-byte 24) place))
  (let* ((bits (ldb (byte 32 0) (sb-kernel:single-float-bits (+ score 0.0)))) ; -0.0 is 0.0
         (ordered (if (logbitp 31 bits) (logxor bits #xFFFFFFFF) (logior bits #x80000000))))
    (logior (ash ordered 24) (- #xFFFFFF place))))

(defconstant +digit-bits+ 11)

(defun sort-pass (keys to shift)
  "One pass of a radix sort, greatest digit first: KEYS into TO by the digit at SHIFT; stable."
  (declare (type (simple-array sort-key (*)) keys to) (type (integer 0 48) shift) (optimize (speed 3) (safety 0)))
  (let ((starts (make-u32 (1+ (ash 1 +digit-bits+)))))
    (flet ((digit (key) (logxor (1- (ash 1 +digit-bits+)) (ldb (byte +digit-bits+ 0) (ash (the sort-key key) (- shift))))))
      (declare (inline digit))
      (loop for key across keys do (incf (aref starts (1+ (digit key)))))
      (loop for i of-type fixnum from 1 below (length starts) do (incf (aref starts i) (aref starts (1- i))))
      (loop for key across keys
            do (let* ((digit (digit key)) (at (aref starts digit)))
                 (setf (aref to at) key (aref starts digit) (1+ at)))))
    to))

(defun in-order (scores evident order)
  "The files of ORDER, which is by path, that EVIDENT marks, by score descending, then path. Sorted as numbers: thousands of files at each query."
  (declare (optimize (speed 3) (space 0) (safety 0)) (type floats scores) (type simple-bit-vector evident) (type u32-vector order))
  (let* ((count (count-if (lambda (file) (= 1 (sbit evident file))) order)) (at 0)
         (keys (make-array count :element-type 'sort-key)) (other (make-array count :element-type 'sort-key)) (files (make-u32 count)))
    (declare (type (unsigned-byte 32) at count) (type (simple-array sort-key (*)) keys other))
    (dotimes (place (length order))
      (let ((file (aref order place)))
        (when (= 1 (sbit evident file))
          (setf (aref keys at) (sort-key (aref scores file) (logand place #xFFFFFF)))
          (incf at))))
    ;; the keys came by place, so only the scores, in the upper 32 bits, are sorted
    (dolist (shift '(24 35 46))
      (sort-pass keys other shift)
      (rotatef keys other))
    (dotimes (i count files)
      (setf (aref files i) (aref order (- #xFFFFFF (logand (aref keys i) #xFFFFFF)))))))

(defun rank (evidence)
  "The files that EVIDENCE speaks for, best first: score descending, then path."
  (let* ((columns (columns evidence)) (size (evidence-file-count evidence)) (scores (sum-columns columns size))
         (files (in-order scores (evident-files columns size) (index-order (evidence-index evidence)))))
    (make-ranking :evidence evidence :columns columns :scores scores :files files :total (length files))))

(defun shares (ranking file)
  "What each channel gives FILE: a list of (name . share), greatest first, then by name; those that give nothing left out."
  (sort (loop for column in (ranking-columns ranking)
              for share = (column-share column file)
              unless (zerop share) collect (cons (channel-name (column-channel column)) share))
        (lambda (a b) (or (> (cdr a) (cdr b)) (and (= (cdr a) (cdr b)) (string< (car a) (car b)))))))
