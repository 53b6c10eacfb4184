;;;; Tables: what the ranking reads beside the runs. Some belong to all generations of an index: classes and terms of paths, the
;;;; words of files (see words.lisp). Some are made for each: how many candidates there are, how long each field is and on average.

(defpackage #:opl.search.tables
  (:use #:cl #:opl.index.store #:opl.search.text #:opl.search.places #:opl.search.words)
  (:import-from #:opl.source.names #:octets #:u32-vector #:make-u32)
  (:export #:tables #:tables-of #:tables-words #:tables-stale #:tables-stale-files #:tables-classes #:tables-starts #:tables-hashes
           #:tables-entries
           #:tables-candidates #:tables-averages #:field-length #:tables-norms #:tables-spare #:+fields+ #:floats #:make-floats #:**nothing** #:nothing-p
           #:+base+ #:+folder+ #:+types+ #:+functions+ #:+others+ #:+code-words+ #:+comment-words+ #:+string-words+
           #:candidate-class-p #:tables-only-p))
(in-package #:opl.search.tables)

(declaim (optimize (speed 2) (safety 1)))

(deftype floats () '(simple-array single-float (*)))
(declaim (ftype (function (fixnum) (values floats &optional)) make-floats))
(defun make-floats (size)
  "A score for each of SIZE files, all 0."
  (make-array size :element-type 'single-float :initial-element 0.0))

(declaim (type floats **nothing**))
(sb-ext:defglobal **nothing** (make-array 0 :element-type 'single-float)
  "In place of a vector by file in which no file has anything: most tasks leave most kinds of evidence out, and a tree has many files.")
(declaim (inline nothing-p))
(defun nothing-p (scores)
  "Whether SCORES is `**nothing**': no file has any."
  (declare (type floats scores)) (zerop (length scores)))

;;; The fields of a file, in the order in which they are counted
(defconstant +base+ 0 "The terms of its name.")
(defconstant +folder+ 1 "Those of the folders it stands in.")
(defconstant +types+ 2 "Names of the types it defines.")
(defconstant +functions+ 3 "Names of the functions it defines.")
(defconstant +others+ 4 "Names of what else it defines.")
(defconstant +code-words+ 5 "Words of its code.")
(defconstant +comment-words+ 6 "Words of its comments.")
(defconstant +string-words+ 7 "Words of its strings.")
(defconstant +fields+ 8 "How many fields there are.")

;;; Places, by file number, which stays with a path from one generation of the index to the next

(defstruct places
  (count 0 :type (unsigned-byte 32))
  (classes (make-array 64 :element-type '(unsigned-byte 8)) :type octets)
  (entries (make-array 64 :element-type 'bit) :type simple-bit-vector)
  (starts (make-u32 129) :type u32-vector)         ; two a file: where the terms of its name and of its folders begin
  (hashes (make-u32 1024) :type u32-vector)
  (lock (sb-thread:make-mutex :name "places")))

(defun add-place (places path)
  (let* ((file (places-count places)) (components (path-components path)) (at (aref (places-starts places) (* 2 file))))
    (declare (type (unsigned-byte 32) at))
    (when (>= (+ file 2) (length (places-classes places)))
      (let ((size (* 2 (length (places-classes places)))))
        (setf (places-classes places) (replace (make-array size :element-type '(unsigned-byte 8)) (places-classes places))
              (places-entries places) (replace (make-array size :element-type 'bit) (places-entries places))
              (places-starts places) (replace (make-u32 (1+ (* 2 size))) (places-starts places)))))
    (flet ((add (hash)
             (when (>= at (length (places-hashes places)))
               (setf (places-hashes places) (replace (make-u32 (* 2 (length (places-hashes places)))) (places-hashes places))))
             (setf (aref (places-hashes places) at) hash)
             (incf at)))
      (mapc #'add (component-terms (path-stem (car (last components)))))
      ;; `parser/index.ts' is known as parser
      (when (and (entry-file-p path) (rest components)) (mapc #'add (component-terms (car (last components 2)))))
      (setf (aref (places-starts places) (+ 1 (* 2 file))) at)
      (dolist (folder (butlast components)) (mapc #'add (component-terms folder)))
      (setf (aref (places-starts places) (+ 2 (* 2 file))) at))
    (setf (aref (places-classes places) file) (path-class path)
          (aref (places-entries places) file) (if (entry-file-p path) 1 0)
          (places-count places) (1+ file))))

(defvar *shared* (make-hash-table :test 'eq :weakness :key :synchronized t)
  "By the index's table of file numbers, which all its generations share: a SHARED.")

(defstruct shared
  (places (make-places) :type places)
  (words nil)                                      ; of words.lisp
  (runs (vector) :type simple-vector)              ; the runs that LENGTHS were read from
  (lengths (make-floats 0) :type floats))          ; file * 8 + field

(defun note-places (places index)
  (sb-thread:with-recursive-lock ((places-lock places))
    (when (< (places-count places) (index-file-count index))
      ;; a path that is gone has left no path in this generation, but its number still maps from the table
      (let ((paths (make-array (index-file-count index) :initial-element "")))
        (loop for path being the hash-keys of (index-numbers index) using (hash-value file)
              do (when (< file (length paths)) (setf (svref paths file) path)))
        (loop for file from (places-count places) below (length paths)
              do (add-place places (svref paths file))))))
  places)

;;; One generation's tables

(defstruct tables
  (words nil :type words)
  (stale nil :type simple-bit-vector)              ; by file: WORDS does not know it as it is
  (stale-files '() :type list)                     ; those of them that are there
  (classes nil :type octets) (entries nil :type simple-bit-vector) (starts nil :type u32-vector) (hashes nil :type u32-vector)
  (only-p nil)                                     ; true when there is no source at all: every file is a candidate
  (candidates 0 :type fixnum)
  (lengths nil :type floats)                       ; file * 8 + field
  (norms nil :type floats)                         ; likewise: one over BM25's length factor
  (averages nil :type floats)
  (spare '() :type list))                          ; room for counting, taken by one query at a time (see counting.lisp)

(declaim (inline candidate-class-p))
(defun candidate-class-p (class)
  "Whether files of CLASS stand for the program: counted in frequencies and averages."
  (<= class +aside+))

(declaim (inline field-length))
(defun field-length (tables file field)
  "The length of FIELD of FILE: words, definitions, or terms of the path."
  (declare (type tables tables) (type fixnum file field))
  (aref (tables-lengths tables) (+ (* file +fields+) field)))

(defun read-lengths (lengths places run file)
  (declare (type floats lengths) (type places places) (type (unsigned-byte 32) file))
  (let ((at (* file +fields+)) (starts (places-starts places)))
    (flet ((note (field length) (declare (type fixnum field length)) (setf (aref lengths (+ at field)) (float length))))
      (let ((start (aref starts (* 2 file))) (middle (aref starts (+ 1 (* 2 file)))) (end (aref starts (+ 2 (* 2 file)))))
        (note +base+ (- middle start))
        (note +folder+ (- end middle)))
      (unless (zerop (text-count run))
        (note +types+ (text-types run 0)) (note +functions+ (text-functions run 0)) (note +others+ (text-others run 0))
        (note +code-words+ (text-code run 0)) (note +comment-words+ (text-comments run 0)) (note +string-words+ (text-strings run 0))))))

(defun lengths-of (shared index)
  "The lengths of all fields; only those of files that were read again since the generation before are read."
  (let* ((size (index-file-count index)) (before (shared-runs shared)) (runs (index-runs index)) (lengths (make-floats (* size +fields+))))
    (replace lengths (shared-lengths shared))
    (dotimes (file size)
      (let ((run (svref runs file)))
        (unless (and (< file (length before)) (eq run (svref before file)))
          (fill lengths 0.0 :start (* file +fields+) :end (* (1+ file) +fields+))
          (when run (read-lengths lengths (shared-places shared) run file)))))
    (setf (shared-runs shared) runs (shared-lengths shared) lengths)))

(defparameter *field-normalisation* (coerce '(0.3 0.3 0.4 0.4 0.4 0.6 0.6 0.6) 'floats)
  "How far the field's length counts (BM25's b). Recipe 2.5: length normalisation is worth 10 points of Acc@1.")

(defun fill-averages (index tables)
  "The number of candidates, the average length of each of their fields, and what every field is divided by."
  (let ((sums (make-array +fields+ :element-type 'double-float :initial-element 0d0)) (count 0) (lengths (tables-lengths tables))
        (norms (make-floats (* (index-file-count index) +fields+))) (classes (tables-classes tables)) (only-p (tables-only-p tables)))
    (declare (type fixnum count) (type floats lengths norms))
    (do-files (file) (index)
      (when (or only-p (candidate-class-p (aref classes file)))
        (incf count)
        (dotimes (field +fields+) (incf (aref sums field) (float (aref lengths (+ (* file +fields+) field)) 1d0)))))
    (let ((averages (map 'floats (lambda (sum) (max 1e-6 (/ (float sum 1.0) (max 1 count)))) sums)) (normalisation *field-normalisation*))
      (declare (type floats averages normalisation))
      (do-files (file) (index)
        (dotimes (field +fields+)
          (let ((b (aref normalisation field)) (at (+ (* file +fields+) field)))
            (setf (aref norms at) (/ 1.0 (+ (- 1.0 b) (* b (/ (aref lengths at) (aref averages field)))))))))
      (setf (tables-candidates tables) count (tables-averages tables) averages (tables-norms tables) norms)
      tables)))

(defun tables-of (index)
  "The tables of INDEX, made at the first call for a generation: a few milliseconds, but seconds for the first of a tree of 70,000 files."
  (memo (index :search-tables)
    (let* ((shared (or (gethash (index-numbers index) *shared*)
                       (setf (gethash (index-numbers index) *shared*) (make-shared))))
           (places (note-places (shared-places shared) index)))
      (multiple-value-bind (words stale stale-files) (words-for (shared-words shared) index)
        (setf (shared-words shared) words)
        (fill-averages index
                       (make-tables :words words :stale stale :stale-files stale-files
                                    :classes (places-classes places) :entries (places-entries places)
                                    :starts (places-starts places) :hashes (places-hashes places)
                                    :only-p (notany (lambda (file) (candidate-class-p (aref (places-classes places) file))) (index-order index))
                                    :lengths (lengths-of shared index) :norms (make-floats 0) :averages (make-floats 0)))))))

(defun keep-words-with (index cache)
  "Keeps the words of INDEX, if they are made, with the snapshot of it that was written into CACHE."
  (let ((shared (gethash (index-numbers index) *shared*)))
    (when (and shared (shared-words shared)) (keep-words (shared-words shared) index cache))))
(pushnew 'keep-words-with opl.index.snapshot:*written*)
