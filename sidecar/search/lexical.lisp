;;;; Lexical scores: BM25F over the eight fields of a file, the same for the title's terms alone, and each field for itself.

(defpackage #:opl.search.lexical
  (:use #:cl #:opl.index.store #:opl.search.tables #:opl.search.evidence)
  (:import-from #:opl.source.names #:u32-vector)
  (:export #:lexical-scores #:inverse-frequency #:+all-fields+ #:+title-alone+ #:+first-field+))
(in-package #:opl.search.lexical)

(declaim (optimize (speed 2) (safety 1)))

(defconstant +all-fields+ 0 "Place, among the scores, of BM25F over all fields.")
(defconstant +title-alone+ 1 "Of the same with the title's terms alone.")
(defconstant +first-field+ 2 "Of the first field's own BM25; the others follow.")
(defconstant +scores+ 10)

(defparameter *field-weights* (coerce '(6.0 1.5 3.0 2.5 1.0 1.0 0.5 0.7) 'floats)
  "What an occurrence counts in name, folders, types, functions, other definitions, code, comments, strings. Recipe 2.5.")
(defparameter *field-normalisation* (coerce '(0.3 0.3 0.4 0.4 0.4 0.6 0.6 0.6) 'floats)
  "How far the field's length counts (BM25's b). Recipe 2.5: length normalisation is worth 10 points of Acc@1.")
(defconstant +saturation+ 3.0 "BM25F's k1. Recipe 2.5.")
(defconstant +field-saturation+ 2.0 "k1 of a single field. Recipe 2.5.")

(declaim (inline inverse-frequency))
(defun inverse-frequency (count frequency)
  "BM25's idf of a term that FREQUENCY of COUNT candidates have."
  (declare (type fixnum count frequency))
  (log (+ 1.0 (/ (+ (float (max 0 (- count frequency))) 0.5) (+ (float frequency) 0.5)))))

(defun inverse-frequencies (evidence)
  "idf by slot * 9 + field."
  (let* ((frequencies (evidence-frequencies evidence)) (count (tables-candidates (evidence-tables evidence)))
         (values (make-floats (length frequencies))))
    (declare (type u32-vector frequencies) (type floats values))
    (dotimes (i (length values) values)
      (setf (aref values i) (inverse-frequency count (aref frequencies i))))))

(defun length-norms (evidence file norms)
  "One over BM25's length factor, by field, into NORMS."
  (declare (type floats norms) (type fixnum file))
  (let* ((tables (evidence-tables evidence)) (averages (tables-averages tables)) (normalisation *field-normalisation*)
         (run (index-run (evidence-index evidence) file)))
    (declare (type floats averages normalisation))
    (dotimes (field +fields+)
      (let ((b (aref normalisation field)))
        (setf (aref norms field)
              (/ 1.0 (+ (- 1.0 b) (* b (/ (float (the fixnum (field-length tables run file field))) (aref averages field))))))))))

(defun lexical-scores (evidence)
  "A vector of float vectors by file: see the places above."
  (declare (type evidence evidence))
  (let* ((size (evidence-file-count evidence))
         (scores (coerce (loop repeat +scores+ collect (make-floats size)) 'simple-vector))
         (hits (evidence-hits evidence)) (weights (evidence-weights evidence)) (title-weights (evidence-title-weights evidence))
         (inverse (inverse-frequencies evidence)) (norms (make-floats +fields+)) (current -1)
         (term-count (evidence-term-count evidence)) (field-weights *field-weights*))
    (declare (type u32-vector hits) (type floats weights title-weights inverse norms field-weights) (type fixnum current))
    (dotimes (hit (evidence-hit-count evidence))
      (let* ((at (* hit +stride+)) (file (aref hits at)) (slot (aref hits (+ at 1))) (frequency 0.0))
        (declare (type fixnum at) (type single-float frequency))
        (when (< slot term-count)
          (unless (= file current) (setf current file) (length-norms evidence file norms))
          (let ((weight (aref weights slot)))
            (dotimes (field +fields+)
              (let ((count (aref hits (+ at 2 field))))
                (unless (zerop count)
                  (let ((normal (* (float count) (aref norms field))))
                    (incf frequency (* (aref field-weights field) normal))
                    (incf (aref (the floats (svref scores (+ +first-field+ field))) file)
                          (* weight (aref inverse (+ (* 9 slot) field)) (/ normal (+ +field-saturation+ normal))))))))
            (let ((share (* (aref inverse (+ (* 9 slot) 8)) (/ frequency (+ +saturation+ frequency)))))
              (incf (aref (the floats (svref scores +all-fields+)) file) (* weight share))
              (incf (aref (the floats (svref scores +title-alone+)) file) (* (aref title-weights slot) share)))))))
    scores))
