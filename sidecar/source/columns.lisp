;;;; Columns: growable parallel arrays of (unsigned-byte 32), in sections. A worker fills the sections of one file,
;;;; `pack-sections' writes them one after the other into one vector (a run), each column as narrow as its numbers allow,
;;;; and the readers that `define-section' makes take that vector back apart. The same layout serves memory and snapshot.
;;;;
;;;; A run, in words from its start: its size; the counts of the sections; a descriptor for each column; the columns. A
;;;; descriptor is 4 * the column's place + its width: 0, one number stands for all rows; 1, 8 bits; 2, 16 bits; 3, 32 bits.
;;;; In narrow columns all ones stand for +none+. A large repository takes half the memory that full words would.

(defpackage #:opl.source.columns
  (:use #:cl)
  (:import-from #:opl.source.names #:u32-vector #:make-u32 #:+none+)
  (:export #:section #:make-section #:section-count #:section-columns
           #:define-section #:do-column #:run #:make-run #:run-words #:run-start #:pack-sections #:unpack-sections #:make-slab #:run-size #:section-numbers))
(in-package #:opl.source.columns)

(deftype index () '(integer 0 #.(ash most-positive-fixnum -2)))

(defstruct (section (:constructor %make-section))
  (count 0 :type (unsigned-byte 32))
  (columns (vector) :type simple-vector))          ; of u32-vector, all of one length

(defun make-section (columns)
  "An empty section of COLUMNS columns, with room for 64 rows at first."
  (%make-section :columns (coerce (loop repeat columns collect (make-u32 64)) 'simple-vector)))

(defun section-reset (section) (setf (section-count section) 0) section)

(defun section-grow (section)
  (let ((columns (section-columns section)))
    (dotimes (i (length columns))
      (let ((old (svref columns i)))
        (declare (type u32-vector old))
        (setf (svref columns i) (replace (make-u32 (* 2 (length old))) old))))))

(defstruct (run (:constructor make-run (words start)))
  "One file's sections: a header of section starts and counts at START of WORDS, then the columns."
  (words (make-u32 0) :type u32-vector :read-only t)
  (start 0 :type (unsigned-byte 62) :read-only t))

(defconstant +most-sections+ 16 "Room for counts in a run: readers are compiled before the last section is known.")

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defvar *sections* '()
    "Names of the sections in the order in which they are packed, first to last.")
  (defvar *section-widths* (make-hash-table))
  (defun section-number (name) (position name *sections*)))

(defun section-numbers ()
  "The names of the sections in order: the place of a name is its section's number in a run."
  (copy-list *sections*))

(defun descriptor-place (section column)
  "Where a run holds the descriptor of COLUMN, counted from 0, of SECTION."
  (+ 1 +most-sections+
     (loop for name in *sections* until (eq name section) sum (gethash name *section-widths*))
     column))

(declaim (inline column-number))
(defun column-number (words start descriptor i)
  "The number in row I of the column of DESCRIPTOR, of the run that starts at START of WORDS."
  (declare (type u32-vector words) (type (unsigned-byte 62) start) (type (unsigned-byte 32) descriptor i)
           (optimize (speed 2) (safety 0)))
  (let ((at (+ start (ash descriptor -2))))
    (declare (type (unsigned-byte 62) at))
    (case (logand descriptor 3)
      (3 (aref words (+ at i)))
      (2 (let ((value (logand #xFFFF (ash (aref words (+ at (ash i -1))) (- (ash (logand i 1) 4))))))
           (if (= value #xFFFF) +none+ value)))
      (1 (let ((value (logand #xFF (ash (aref words (+ at (ash i -2))) (- (ash (logand i 3) 3))))))
           (if (= value #xFF) +none+ value)))
      (t (aref words at)))))

(defmacro define-section (name (&rest columns) &optional documentation)
  "Defines a section of parallel columns. For a section `site' with columns `name' and `line':
  (add-site facts name line) => ordinal      appends a row, FACTS being a vector of sections by number
  (site-count run), (site-name run i) …      read a packed run
  (draft-site-count facts), (draft-site-name facts i) and its setf    read and mend a row before packing
  (drop-sites facts count)            leaves the first COUNT rows."
  (flet ((symbol (control &rest arguments)
           (intern (string-upcase (apply #'format nil control arguments)) *package*)))
    (eval-when (:compile-toplevel :load-toplevel :execute)
      (setf *sections* (append (remove name *sections*) (list name))
            (gethash name *section-widths*) (length columns)))
    `(progn
       (eval-when (:compile-toplevel :load-toplevel :execute)
         (unless (member ',name *sections*)
           (setf *sections* (append *sections* (list ',name))
                 (gethash ',name *section-widths*) ,(length columns))))
       (defun ,(symbol "add-~A" name) (facts ,@columns)
         ,@(when documentation (list documentation))
         (declare (type simple-vector facts) (type (unsigned-byte 32) ,@columns)
                  (optimize (speed 2) (safety 0)))
         (let* ((section (svref facts (load-time-value (section-number ',name) t)))
                (i (section-count section))
                (vectors (section-columns section)))
           (declare (type section section))
           (when (>= i (length (the u32-vector (svref vectors 0)))) (section-grow section))
           ,@(loop for column in columns for c from 0
                   collect `(setf (aref (the u32-vector (svref vectors ,c)) i) ,column))
           (setf (section-count section) (1+ i))
           i))
       (defun ,(symbol "drop-~As" name) (facts count)
         (setf (section-count (the section (svref facts (load-time-value (section-number ',name) t)))) count))
       (declaim (inline ,(symbol "~A-count" name) ,(symbol "draft-~A-count" name)))
       (defun ,(symbol "draft-~A-count" name) (facts)
         (section-count (the section (svref facts (load-time-value (section-number ',name) t)))))
       (defun ,(symbol "~A-count" name) (run)
         (declare (type run run) (optimize (speed 2) (safety 0)))
         (aref (run-words run) (+ (run-start run) 1 (the fixnum (load-time-value (section-number ',name) t)))))
       ,@(loop for column in columns for c from 0
               for reader = (symbol "~A-~A" name column)
               for draft = (symbol "draft-~A-~A" name column)
               append
               `((declaim (inline ,reader ,draft (setf ,draft)))
                 (defun ,draft (facts i)
                   (aref (the u32-vector
                              (svref (section-columns
                                      (the section (svref facts (load-time-value (section-number ',name) t))))
                                     ,c))
                         i))
                 (defun (setf ,draft) (value facts i)
                   (setf (aref (the u32-vector
                                    (svref (section-columns
                                            (the section (svref facts (load-time-value (section-number ',name) t))))
                                           ,c))
                               i)
                         value))
                 (defun ,reader (run i)
                   (declare (type run run) (type (unsigned-byte 32) i) (optimize (speed 2) (safety 0)))
                   (let ((words (run-words run)) (start (run-start run)))
                     (column-number words start
                                    (aref words (+ start (the fixnum (load-time-value (descriptor-place ',name ,c) t))))
                                    i)))))
       ',name)))

(defmacro do-column ((row number) (run section column) &body body)
  "BODY for each row of COLUMN, counted from 0, of SECTION in RUN, with ROW and its NUMBER: for passes over whole columns, which
need not ask for the width at each row. BODY is compiled four times; what it does seldom belongs into a function."
  (let ((words (gensym)) (start (gensym)) (count (gensym)) (descriptor (gensym)) (at (gensym)))
    (flet ((each (value)
             `(dotimes (,row ,count)
                (let ((,number ,value)) (declare (type (unsigned-byte 32) ,number)) ,@body)))
           (narrow (bits)
             (let ((rows (/ 32 bits)) (ones (1- (ash 1 bits))) (value (gensym)))
               `(let ((,value (logand ,ones (ash (aref ,words (+ ,at (ash ,row ,(- (1- (integer-length rows))))))
                                                 (- (* ,bits (logand ,row ,(1- rows))))))))
                  (if (= ,value ,ones) +none+ ,value)))))
      `(let* ((,words (run-words ,run)) (,start (run-start ,run))
              (,count (aref ,words (+ ,start 1 (the fixnum (load-time-value (section-number ',section) t)))))
              (,descriptor (aref ,words (+ ,start (the fixnum (load-time-value (descriptor-place ',section ,column) t)))))
              (,at (+ ,start (ash ,descriptor -2))))
         (declare (type u32-vector ,words) (type (unsigned-byte 61) ,start ,at) (type (unsigned-byte 32) ,count ,descriptor))
         (case (logand ,descriptor 3)
           (3 ,(each `(aref ,words (+ ,at ,row))))
           (2 ,(each (narrow 16)))
           (1 ,(each (narrow 8)))
           (t ,(each `(aref ,words ,at))))))))

(defun column-width (column count)
  "The width of the first COUNT numbers of COLUMN, as descriptors give it."
  (declare (type u32-vector column) (type index count) (optimize (speed 2) (safety 0)))
  (if (zerop count)
      0
      (let ((first (aref column 0)) (same t) (largest 0))
        (declare (type (unsigned-byte 32) first largest))
        (dotimes (i count)
          (let ((value (aref column i)))
            (unless (= value first) (setf same nil))
            (when (and (> value largest) (/= value +none+)) (setf largest value))))
        (cond (same 0) ((< largest #xFF) 1) ((< largest #xFFFF) 2) (t 3)))))

(declaim (inline column-words))
(defun column-words (width count)
  (declare (type index count))
  (ecase width (0 1) (1 (ash (+ count 3) -2)) (2 (ash (+ count 1) -1)) (3 count)))

(defun pack-column (words at column count width)
  "Writes the first COUNT numbers of COLUMN into WORDS from AT on."
  (declare (type u32-vector words column) (type index at count) (optimize (speed 2) (safety 0)))
  (flet ((narrow (bits rows mask)
           (declare (type (integer 8 16) bits) (type (integer 2 4) rows) (type (unsigned-byte 16) mask))
           (dotimes (i count)
             (multiple-value-bind (word part) (truncate i rows)
               (setf (aref words (+ at word))
                     (logior (aref words (+ at word))
                             (ldb (byte 32 0) (ash (logand mask (aref column i)) (the (integer 0 24) (* bits part))))))))))
    (ecase width
      (0 (setf (aref words at) (if (zerop count) 0 (aref column 0))))
      (1 (narrow 8 4 #xFF))
      (2 (narrow 16 2 #xFFFF))
      (3 (replace words column :start1 at :end2 count)))))

(defstruct (slab (:constructor make-slab ()))
  "Room for the runs of many files in one vector: SBCL copies small vectors twice until it takes them for lasting, large ones never."
  (words (make-u32 0) :type u32-vector) (at 0 :type index))

(defconstant +slab-words+ 1000000 "Words of a slab, 4 MB: what is left over at its end is little.")

(defun claim-words (slab size)
  "A vector with SIZE words that are 0, and where they begin: in SLAB, or a vector of its own when SLAB is nil or SIZE large."
  (declare (type index size))
  (cond ((or (null slab) (> size (floor +slab-words+ 8))) (values (make-u32 size) 0))
        (t (when (> (+ (slab-at slab) size) (length (slab-words slab)))
             (setf (slab-words slab) (make-u32 +slab-words+) (slab-at slab) 0))
           (let ((at (slab-at slab)))
             (incf (slab-at slab) size)
             (values (slab-words slab) at)))))

(defun pack-sections (facts &optional slab)
  "A run with the rows of all sections in FACTS, in SLAB or a vector of its own."
  (declare (type simple-vector facts))
  (let* ((widths (loop for section across facts
                       collect (loop for column across (section-columns section) collect (column-width column (section-count section)))))
         (header (+ 1 +most-sections+ (reduce #'+ widths :key #'length)))
         (size (+ header (loop for section across facts for row in widths
                               sum (loop for width in row sum (column-words width (section-count section))))))
         (at header) (descriptor (1+ +most-sections+)))
    (declare (type index at descriptor))
    (multiple-value-bind (words start) (claim-words slab size)
      (declare (type u32-vector words) (type index start))
      (setf (aref words start) size)
      (loop for section across facts for s of-type index from 0 for row in widths
            for count of-type index = (section-count section)
            do (setf (aref words (+ start 1 s)) count)
               (loop for column across (section-columns section) for width in row
                     do (setf (aref words (+ start descriptor)) (logior (ash at 2) width))
                        (incf descriptor)
                        (pack-column words (+ start at) column count width)
                        (incf at (the index (column-words width count)))))
      (make-run words start))))

(defun unpack-sections (run facts)
  "FACTS with the rows that RUN holds, ready to be added to and packed again."
  (let ((words (run-words run)) (start (run-start run)) (descriptor (1+ +most-sections+)))
    (loop for section across (the simple-vector facts) for s from 0
          for count = (aref words (+ start 1 s))
          do (loop while (< (length (the u32-vector (svref (section-columns section) 0))) count) do (section-grow section))
             (setf (section-count section) count)
             (loop for column across (section-columns section)
                   do (dotimes (row count)
                        (setf (aref (the u32-vector column) row) (column-number words start (aref words (+ start descriptor)) row)))
                      (incf descriptor)))
    facts))

(declaim (inline run-size))
(defun run-size (run)
  "How many words RUN takes."
  (aref (run-words run) (run-start run)))

(export '(make-facts facts-reset))
(defun make-facts ()
  "Empty sections, one of each kind defined, to be filled with what one file holds."
  (assert (<= (length *sections*) +most-sections+))
  (map 'simple-vector (lambda (name) (make-section (gethash name *section-widths*))) *sections*))
(defun facts-reset (facts) (map nil #'section-reset facts) facts)
