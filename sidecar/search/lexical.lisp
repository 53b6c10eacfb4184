;;;; Lexical scores: BM25F over the eight fields of a file, the same for the title's terms alone, and each field for itself. Each
;;;; file's sums are added up term by term in one order, whether it is stale or not, so that they are equal to the last bit.

(defpackage #:opl.search.lexical
  (:use #:cl #:opl.index.store #:opl.search.tables #:opl.search.evidence #:opl.search.counting)
  (:import-from #:opl.source.names #:u32-vector #:make-u32)
  (:import-from #:opl.search.terms #:+whole+ #:+pair+)
  (:export #:gather #:inverse-frequency #:+all-fields+ #:+title-alone+ #:+first-field+ #:+pairs-alone+ #:+roots-alone+))
(in-package #:opl.search.lexical)

(declaim (optimize (speed 2) (safety 1)))

(defconstant +all-fields+ 0 "Place, among the scores, of BM25F over all fields.")
(defconstant +title-alone+ 1 "Of the same with the title's terms alone.")
(defconstant +first-field+ 2 "Of the first field's own BM25; the others follow.")
(defconstant +pairs-alone+ 10 "Of BM25F with pairs of words.")
(defconstant +roots-alone+ 11 "Of BM25F with roots.")
(defconstant +scores+ 12)

(defparameter *field-weights* (coerce '(6.0 1.5 3.0 2.5 1.0 1.0 0.5 0.7) 'floats)
  "What an occurrence counts in name, folders, types, functions, other definitions, code, comments, strings. Recipe 2.5.")
(defconstant +saturation+ 3.0 "BM25F's k1. Recipe 2.5.")
(defconstant +field-saturation+ 2.0 "k1 of a single field. Recipe 2.5.")

(declaim (inline inverse-frequency))
(defun inverse-frequency (count frequency)
  "BM25's idf of a term that FREQUENCY of COUNT candidates have."
  (declare (type fixnum count frequency))
  (log (+ 1.0 (/ (+ (float (max 0 (- count frequency))) 0.5) (+ (float frequency) 0.5)))))

(defun note-frequencies (evidence slot tally)
  "Counts the candidates that have SLOT, by field and anywhere."
  (declare (type fixnum slot) (optimize (speed 3) (safety 0)))
  (let* ((tables (evidence-tables evidence)) (classes (tables-classes tables)) (only-p (tables-only-p tables))
         (frequencies (evidence-frequencies evidence)) (from (* 9 slot)))
    (declare (type u32-vector frequencies) (type fixnum from))
    (do-counted (file row counts) (tally)
      (when (or only-p (candidate-class-p (aref classes file)))
        (dotimes (field +fields+)
          (unless (zerop (aref counts (+ row field))) (incf (aref frequencies (+ from field)))))
        (incf (aref frequencies (+ from 8)))))))

(declaim (inline scores-at))
(defun scores-at (scores place size)
  "The vector at PLACE of SCORES, made when there is nothing yet."
  (declare (type simple-vector scores))
  (let ((vector (svref scores place)))
    (declare (type floats vector))
    (if (nothing-p vector) (setf (svref scores place) (make-floats size)) vector)))

(defun score-term (evidence slot tally scores)
  "Adds to SCORES, float vectors by file or nothing, what the term at SLOT says."
  (declare (type fixnum slot) (type simple-vector scores) (optimize (speed 3) (safety 0)))
  (let* ((size (evidence-file-count evidence))
         (frequencies (evidence-frequencies evidence)) (count (tables-candidates (evidence-tables evidence))) (inverse (make-floats 9))
         (norms (tables-norms (evidence-tables evidence))) (field-weights *field-weights*) (kind (aref (evidence-kinds evidence) slot))
         (fields-p (<= kind +whole+)) (weight (aref (evidence-weights evidence) slot)) (title-weight (aref (evidence-title-weights evidence) slot))
         (whole (aref inverse 8)) (place (cond (fields-p +all-fields+) ((= kind +pair+) +pairs-alone+) (t +roots-alone+)))
         (sums (scores-at scores place size)) (titles-p (and fields-p (plusp title-weight)))
         (titles (if titles-p (scores-at scores +title-alone+ size) **nothing**)))
    (declare (type u32-vector frequencies) (type floats inverse norms field-weights sums titles) (type single-float weight title-weight whole) (type fixnum count))
    (dotimes (field 9) (setf (aref inverse field) (inverse-frequency count (aref frequencies (+ (* 9 slot) field)))))
    (setf whole (aref inverse 8))
    (do-counted (file row counts) (tally)
      (let ((frequency 0.0) (from (* file +fields+)))
        (declare (type single-float frequency) (type (unsigned-byte 40) from))
        (dotimes (field +fields+)
          (let ((count (aref counts (+ row field))))
            (unless (zerop count)
              (let ((normal (* (float count) (aref norms (+ from field)))))
                (incf frequency (* (aref field-weights field) normal))
                (when fields-p
                  (incf (aref (scores-at scores (+ +first-field+ field) size) file)
                        (* weight (aref inverse field) (/ normal (+ +field-saturation+ normal)))))))))
        (let ((share (* whole (/ frequency (+ +saturation+ frequency)))))
          (incf (aref sums file) (* weight share))
          (when titles-p (incf (aref titles file) (* title-weight share))))))))

(defun note-uses (evidence slot tally)
  "Keeps the uses in code of the word at SLOT."
  (declare (type (unsigned-byte 32) slot))
  (do-counted (file row counts) (tally)
    (let ((uses (aref counts (+ row +code-words+))) (at (* 3 (evidence-use-count evidence))))
      (unless (zerop uses)
        (when (>= (+ at 3) (length (evidence-uses evidence)))
          (setf (evidence-uses evidence) (replace (make-u32 (* 2 (length (evidence-uses evidence)))) (evidence-uses evidence))))
        (setf (aref (evidence-uses evidence) at) slot
              (aref (evidence-uses evidence) (+ at 1)) file
              (aref (evidence-uses evidence) (+ at 2)) uses)
        (incf (evidence-use-count evidence))))))

(defun note-definitions (evidence)
  "The definitions that bear the words as written: a list of (file def slot)."
  (let ((index (evidence-index evidence)) (found '()))
    (loop for names across (evidence-names evidence) for slot from (evidence-term-count evidence)
          do (dolist (name names)
               (do-definitions (file def) (index name) (push (list file def slot) found))))
    (setf (evidence-definitions evidence) (nreverse found))))

(defun gather (index history task &key edited)
  "The evidence for TASK in INDEX; HISTORY may be nil. EDITED: paths edited in this session."
  (let* ((evidence (prepare-evidence index history task :edited edited)) (terms (evidence-term-count evidence))
         (scores (make-array +scores+ :initial-element **nothing**)))
    (do-slots (slot tally evidence)
      (note-frequencies evidence slot tally)
      (cond ((>= slot terms) (note-uses evidence slot tally))
            ((plusp (tally-count tally)) (score-term evidence slot tally scores))))
    (setf (evidence-scores evidence) scores)
    (note-definitions evidence)
    evidence))
