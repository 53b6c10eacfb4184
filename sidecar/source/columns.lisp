;;;; Columns: growable parallel arrays of (unsigned-byte 32), in sections. A worker fills the sections of
;;;; one file, `pack-sections' writes them one after the other into one vector (a run), and the readers that
;;;; `define-section' makes take that vector back apart. The same layout serves memory and snapshot.

(defpackage #:opl.source.columns
  (:use #:cl)
  (:import-from #:opl.source.names #:u32-vector #:make-u32 #:+none+)
  (:export #:section #:make-section #:section-count #:section-columns #:section-reset
           #:define-section #:run #:make-run #:run-words #:run-start #:pack-sections #:run-size #:section-numbers))
(in-package #:opl.source.columns)

(deftype index () '(integer 0 #.(ash most-positive-fixnum -2)))

(defstruct (section (:constructor %make-section))
  (count 0 :type (unsigned-byte 32))
  (columns (vector) :type simple-vector))          ; of u32-vector, all of one length

(defun make-section (columns)
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

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defvar *sections* '()
    "Names of the sections in the order in which they are packed, first to last.")
  (defvar *section-widths* (make-hash-table))
  (defun section-number (name) (position name *sections*)))

(defun section-numbers () (copy-list *sections*))

(defmacro define-section (name (&rest columns) &optional documentation)
  "Defines a section of parallel columns. For a section `site' with columns `name' and `line':
  (add-site facts name line) => ordinal      appends a row, FACTS being a vector of sections by number
  (site-count run), (site-name run i) …      read a packed run
  (draft-site-count facts), (draft-site-name facts i) and its setf    read and mend a row before packing."
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
       (declaim (inline ,(symbol "~A-count" name) ,(symbol "draft-~A-count" name)))
       (defun ,(symbol "draft-~A-count" name) (facts)
         (section-count (the section (svref facts (load-time-value (section-number ',name) t)))))
       (defun ,(symbol "~A-count" name) (run)
         (declare (type run run) (optimize (speed 2) (safety 0)))
         (aref (run-words run)
               (+ (run-start run) 1 (* 2 (the fixnum (load-time-value (section-number ',name) t))))))
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
                   (let* ((words (run-words run)) (start (run-start run))
                          (header (+ start 1 (* 2 (the fixnum (load-time-value (section-number ',name) t)))))
                          (count (aref words header)))
                     (declare (type (unsigned-byte 62) start header))
                     (aref words (+ start (aref words (1+ header)) (* ,c count) i))))))
       ',name)))

(defun pack-sections (facts)
  "A run of its own with the rows of all sections in FACTS. Word 0 is the size in words; then, for each
section, its count and the offset of its first column."
  (declare (type simple-vector facts))
  (let* ((header (1+ (* 2 (length facts))))
         (size (+ header (loop for section across facts
                               sum (* (section-count section) (length (section-columns section))))))
         (words (make-u32 size)) (at header))
    (declare (type index at) (type u32-vector words))
    (setf (aref words 0) size)
    (loop for section across facts for s from 0
          for count of-type index = (section-count section)
          do (setf (aref words (+ 1 (* 2 s))) count (aref words (+ 2 (* 2 s))) at)
             (loop for column across (section-columns section)
                   do (replace words (the u32-vector column) :start1 at :end2 count)
                      (incf at count)))
    (make-run words 0)))

(declaim (inline run-size))
(defun run-size (run) (aref (run-words run) (run-start run)))

(export '(make-facts facts-reset))
(defun make-facts ()
  "Empty sections, one of each kind defined, to be filled with what one file holds."
  (map 'simple-vector (lambda (name) (make-section (gethash name *section-widths*))) *sections*))
(defun facts-reset (facts) (map nil #'section-reset facts) facts)
