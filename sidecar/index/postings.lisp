;;;; Rows by name: for a section with a name column, where each name occurs, as two columns sorted by name. Built
;;;; by counting, once for a whole index; files read again since are looked at one by one (see store.lisp).

(defpackage #:opl.index.postings
  (:use #:cl #:opl.source.columns)
  (:import-from #:opl.source.names #:u32-vector #:make-u32 #:+none+)
  (:export #:rows-by-name #:make-rows-by-name #:rows-by-name-files #:rows-by-name-rows #:build-rows-by-name
           #:rows-bounds))
(in-package #:opl.index.postings)

(defstruct rows-by-name
  (starts (make-u32 1) :type u32-vector)           ; name number -> first entry; one more at the end
  (files (make-u32 0) :type u32-vector)
  (rows (make-u32 0) :type u32-vector))

(defun build-rows-by-name (runs order name-count count-of name-of)
  "RUNS a vector of runs or nil by file number; ORDER the file numbers in the order wanted within a name;
COUNT-OF (run) and NAME-OF (run row) read the section."
  (declare (type simple-vector runs) (type u32-vector order) (type function count-of name-of)
           (optimize (speed 2)))
  (let ((starts (make-u32 (+ name-count 2))))
    (declare (type u32-vector starts))
    (loop for file across order
          for run = (svref runs file)
          when run
            do (dotimes (row (the (unsigned-byte 32) (funcall count-of run)))
                 (let ((name (funcall name-of run row)))
                   (declare (type (unsigned-byte 32) name))
                   (unless (= name +none+) (incf (aref starts (+ name 2)))))))
    (loop for n of-type fixnum from 1 below (length starts) do (incf (aref starts n) (aref starts (1- n))))
    (let* ((total (aref starts (1- (length starts)))) (files (make-u32 total)) (rows (make-u32 total)))
      (declare (type u32-vector files rows))
      ;; starts[n+1] is where the next entry of n goes; at the end it is where n+1 begins
      (loop for file across order
            for run = (svref runs file)
            when run
              do (dotimes (row (the (unsigned-byte 32) (funcall count-of run)))
                   (let ((name (funcall name-of run row)))
                     (declare (type (unsigned-byte 32) name))
                     (unless (= name +none+)
                       (let ((at (aref starts (1+ name))))
                         (setf (aref files at) file (aref rows at) row
                               (aref starts (1+ name)) (1+ at)))))))
      (make-rows-by-name :starts starts :files files :rows rows))))

(declaim (inline rows-bounds))
(defun rows-bounds (postings name)
  "First entry of NAME and the one after its last."
  (declare (type rows-by-name postings) (type (unsigned-byte 32) name))
  (let ((starts (rows-by-name-starts postings)))
    (if (< (1+ name) (length starts))
        (values (aref starts name) (aref starts (1+ name)))
        (values 0 0))))
