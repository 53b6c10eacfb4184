;;;; Tables: what the ranking reads beside the runs. Per arena: the terms of every name, and of every path; per published
;;;; index: how many candidates there are and how long their fields are on average. All but the averages only ever grow, so
;;;; an index refreshed file by file ranks as one built anew: what a run says is read from the run at each query.

(defpackage #:opl.search.tables
  (:use #:cl #:opl.index.store #:opl.search.text #:opl.search.places)
  (:import-from #:opl.source.names #:octets #:u32-vector #:make-u32 #:names)
  (:import-from #:opl.source.language #:path-name)
  (:import-from #:opl.search.inverted #:make-name-terms #:note-names #:name-terms #:name-terms-octets)
  (:export #:tables #:tables-of #:tables-terms #:tables-classes #:tables-starts #:tables-hashes #:tables-entries
           #:tables-candidates #:tables-averages #:tables-octets #:field-length #:+fields+ #:floats #:make-floats
           #:+base+ #:+folder+ #:+types+ #:+functions+ #:+others+ #:+code-words+ #:+comment-words+ #:+string-words+
           #:candidate-class-p #:tables-only-p #:base-bounds #:folder-bounds))
(in-package #:opl.search.tables)

(declaim (optimize (speed 2) (safety 1)))

(deftype floats () '(simple-array single-float (*)))
(declaim (ftype (function (fixnum) (values floats &optional)) make-floats))
(defun make-floats (size) (make-array size :element-type 'single-float :initial-element 0.0))

;;; The fields of a file, in the order in which they are counted
(defconstant +base+ 0 "The terms of its name.")
(defconstant +folder+ 1 "Those of the folders it stands in.")
(defconstant +types+ 2)
(defconstant +functions+ 3)
(defconstant +others+ 4)
(defconstant +code-words+ 5)
(defconstant +comment-words+ 6)
(defconstant +string-words+ 7)
(defconstant +fields+ 8)

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

(defvar *places* (make-hash-table :test 'eq :weakness :key :synchronized t)
  "By the index's table of file numbers, which all its generations share: places and name terms.")

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
  (terms nil :type name-terms)
  (classes nil :type octets) (entries nil :type simple-bit-vector) (starts nil :type u32-vector) (hashes nil :type u32-vector)
  (only-p nil)                                     ; true when there is no source at all: every file is a candidate
  (candidates 0 :type fixnum)
  (averages nil :type floats))

(declaim (inline candidate-class-p base-bounds folder-bounds))
(defun candidate-class-p (class) (<= class +aside+))
(defun base-bounds (tables file)
  (let ((starts (tables-starts tables))) (values (aref starts (* 2 file)) (aref starts (+ 1 (* 2 file))))))
(defun folder-bounds (tables file)
  (let ((starts (tables-starts tables))) (values (aref starts (+ 1 (* 2 file))) (aref starts (+ 2 (* 2 file))))))

(defun field-length (tables run file field)
  "The length of FIELD of FILE: words, definitions, or terms of the path."
  (declare (type tables tables) (type fixnum file field))
  (if (or (= field +base+) (= field +folder+))
      (multiple-value-bind (start end) (if (= field +base+) (base-bounds tables file) (folder-bounds tables file))
        (- end start))
      (if (zerop (text-count run))
          0
          (ecase field
            (#.+types+ (text-types run 0)) (#.+functions+ (text-functions run 0)) (#.+others+ (text-others run 0))
            (#.+code-words+ (text-code run 0)) (#.+comment-words+ (text-comments run 0)) (#.+string-words+ (text-strings run 0))))))

(defun averages (index tables)
  "The number of candidates and the average length of each of their fields."
  (let ((sums (make-array +fields+ :initial-element 0)) (count 0))
    (declare (type fixnum count))
    (do-files (file) (index)
      (when (or (tables-only-p tables) (candidate-class-p (aref (tables-classes tables) file)))
        (incf count)
        (dotimes (field +fields+)
          (incf (the fixnum (svref sums field)) (the fixnum (field-length tables (index-run index file) file field))))))
    (setf (tables-candidates tables) count
          (tables-averages tables)
          (map 'floats (lambda (sum) (declare (type fixnum sum)) (max 1e-6 (/ (float sum) (max 1 count)))) sums))
    tables))

(defun tables-of (index)
  "The tables of INDEX, made at the first call for a generation: a few milliseconds, once a published index."
  (memo (index :search-tables)
    (destructuring-bind (places . terms)
        (or (gethash (index-numbers index) *places*)
            (setf (gethash (index-numbers index) *places*) (cons (make-places) (make-name-terms))))
      (note-places places index)
      (note-names terms (index-names index))
      (let ((tables (make-tables :terms terms :classes (places-classes places) :entries (places-entries places)
                                 :starts (places-starts places) :hashes (places-hashes places)
                                 :averages (make-floats +fields+))))
        (setf (tables-only-p tables)
              (notany (lambda (file) (candidate-class-p (aref (tables-classes tables) file))) (index-order index)))
        (averages index tables)))))

(defun tables-octets (tables)
  "Octets that TABLES take."
  (+ (name-terms-octets (tables-terms tables)) (length (tables-classes tables))
     (* 4 (+ (length (tables-starts tables)) (length (tables-hashes tables))))))
