;;;; Occurrences: for each name the files that hold it, as a list of octets in order of file number: how many there are, then an
;;;; entry for each. An entry is the distance to the file before, then an octet: the uses in code up to 30 (31: a number follows), and whether uses in comments, uses in
;;;; strings, and definitions follow. Two and a half octets an entry, 1.5 MB for the 600,000 of django.

(defpackage #:opl.search.occurrences
  (:use #:cl #:opl.source.facts)
  (:import-from #:opl.source.names #:octets #:make-octets #:u32-vector #:make-u32 #:+none+)
  (:import-from #:opl.source.columns #:run #:do-column)
  (:import-from #:opl.search.text #:symbol-class #:uses-code #:uses-comments #:uses-strings)
  (:export #:occurrences #:make-occurrences #:occurrences-starts #:occurrences-octets #:build-occurrences #:occurrences-of #:do-occurrences
           #:occurrences-octet-count #:definitions-of-class))
(in-package #:opl.search.occurrences)

(declaim (optimize (speed 3) (safety 0)))

(deftype index () '(integer 0 #.(ash most-positive-fixnum -3)))

(defstruct occurrences
  (starts (make-u32 0) :type u32-vector)           ; name -> where its list begins; +none+ for one that no file holds
  (octets (make-octets 0) :type octets))

(defconstant +with-comments+ 32)
(defconstant +with-strings+ 64)
(defconstant +with-definitions+ 128)
(defconstant +many+ 31)

(defconstant +class-bits+ 10 "Bits for the definitions of one class that bear one name in one file.")
(defconstant +most-definitions+ (1- (ash 1 +class-bits+)) "Beyond these, they are not counted.")

(declaim (inline definitions-of-class))
(defun definitions-of-class (definitions class)
  "How many of the packed DEFINITIONS are of CLASS, 0 to 2."
  (declare (type (unsigned-byte 32) definitions) (type (integer 0 2) class))
  (ldb (byte +class-bits+ (* class +class-bits+)) definitions))

;;; What one file holds

(defun count-definitions (run counts)
  "Adds to COUNTS, by name, the definitions of RUN, packed."
  (declare (type run run) (type u32-vector counts))
  (flet ((note (def name)
           (declare (type (unsigned-byte 32) def name))
           (let ((shift (* +class-bits+ (the (integer 0 2) (symbol-class (def-kind run def))))) (packed (aref counts name)))
             (declare (type (integer 0 20) shift))
             (when (< (logand +most-definitions+ (ash packed (- shift))) +most-definitions+)
               (setf (aref counts name) (+ packed (the (unsigned-byte 32) (ash 1 shift))))))))
    (declare (notinline note))
    (do-column (def name) (run opl.source.facts::def 0)
      (unless (= name +none+) (note def name)))))

(declaim (inline map-names))
(defun map-names (function run counts)
  "Calls FUNCTION with each name that RUN holds as a word or defines, its uses and its definitions, both packed. COUNTS: zeros by name."
  (declare (type run run) (type u32-vector counts) (type function function))
  (count-definitions run counts)
  (flet ((tell (name uses)
           (declare (type (unsigned-byte 32) name uses))
           (let ((definitions (aref counts name)))
             (unless (zerop definitions) (setf (aref counts name) 0))
             (funcall function name uses definitions))))
    (declare (notinline tell))
    (do-column (row name) (run opl.source.facts::word 0) (tell name (word-uses run row)))
    ;; names that something else than the text has made
    (do-column (def name) (run opl.source.facts::def 0)
      (unless (or (= name +none+) (zerop (aref counts name))) (tell name 0)))))

;;; Numbers as octets: seven bits each, the last below 128

(declaim (inline number-size write-number))
(defun number-size (number)
  (declare (type (unsigned-byte 32) number))
  (cond ((< number 128) 1) ((< number 16384) 2) ((< number 2097152) 3) ((< number 268435456) 4) (t 5)))

(defun write-number (number octets at)
  "Where the next octet goes."
  (declare (type (unsigned-byte 32) number) (type octets octets) (type index at))
  (loop (when (< number 128)
          (setf (aref octets at) number)
          (return (1+ at)))
        (setf (aref octets at) (logior 128 (logand number 127)) number (ash number -7))
        (incf at)))

(defmacro read-number (octets at)
  "The number at AT, a place, which moves behind it."
  (let ((octet (gensym)) (number (gensym)) (shift (gensym)))
    `(let ((,octet (aref ,octets ,at)))
       (declare (type (unsigned-byte 8) ,octet))
       (incf ,at)
       (if (< ,octet 128)
           ,octet
           (let ((,number (logand ,octet 127)) (,shift 7))
             (declare (type (unsigned-byte 32) ,number) (type (integer 0 35) ,shift))
             (loop (setf ,octet (aref ,octets ,at))
                   (incf ,at)
                   (setf ,number (logand #xFFFFFFFF (logior ,number (ash (logand ,octet 127) ,shift))))
                   (when (< ,octet 128) (return ,number))
                   (incf ,shift 7)))))))

(defun entry-size (distance uses definitions)
  (declare (type (unsigned-byte 32) distance uses definitions))
  (flet ((when-any (number) (if (zerop number) 0 (number-size number))))
    (declare (inline when-any))
    (let ((code (uses-code uses)))
      (+ (number-size distance) 1 (if (< code +many+) 0 (number-size code))
         (when-any (uses-comments uses)) (when-any (uses-strings uses)) (when-any definitions)))))

(defun write-entry (octets at distance uses definitions)
  "Where the next entry goes."
  (declare (type octets octets) (type index at) (type (unsigned-byte 32) distance uses definitions))
  (let ((code (uses-code uses)) (comments (uses-comments uses)) (strings (uses-strings uses)))
    (setf at (write-number distance octets at))
    (setf (aref octets at) (logior (min code +many+) (if (zerop comments) 0 +with-comments+) (if (zerop strings) 0 +with-strings+)
                                   (if (zerop definitions) 0 +with-definitions+)))
    (incf at)
    (when (>= code +many+) (setf at (write-number code octets at)))
    (unless (zerop comments) (setf at (write-number comments octets at)))
    (unless (zerop strings) (setf at (write-number strings octets at)))
    (unless (zerop definitions) (setf at (write-number definitions octets at)))
    at))

(defun build-occurrences (runs name-count)
  "The occurrences of the names below NAME-COUNT in RUNS, a vector by file number; nil where there is no file."
  (declare (type simple-vector runs) (type (unsigned-byte 32) name-count))
  (let ((starts (make-u32 name-count)) (counts (make-u32 name-count)) (last (make-u32 name-count)) (files (make-u32 name-count)) (size 0))
    (declare (type u32-vector starts counts last files) (type (unsigned-byte 32) size))
    (flet ((pass (function)
             (declare (type function function))
             (fill last 0)
             (dotimes (file (length runs))
               (let ((run (svref runs file)))
                 (when run
                   (map-names (lambda (name uses definitions)
                                (declare (type (unsigned-byte 32) name uses definitions))
                                (funcall function name (- (the (unsigned-byte 32) file) (aref last name)) uses definitions)
                                (setf (aref last name) file))
                              run counts))))))
      (pass (lambda (name distance uses definitions)
              (declare (type (unsigned-byte 32) name distance uses definitions))
              (incf (aref files name))
              (incf (aref starts name) (the (unsigned-byte 8) (entry-size distance uses definitions)))))
      (dotimes (name name-count)
        (let ((count (aref files name)) (octets (aref starts name)))
          (cond ((zerop count) (setf (aref starts name) +none+))
                (t (setf (aref starts name) size)
                   (incf size (the (unsigned-byte 32) (+ octets (the (unsigned-byte 8) (number-size count)))))))))
      (let ((octets (make-octets size)) (ends (copy-seq starts)))
        (dotimes (name name-count)
          (unless (zerop (aref files name)) (setf (aref ends name) (write-number (aref files name) octets (aref ends name)))))
        (pass (lambda (name distance uses definitions)
                (declare (type (unsigned-byte 32) name distance uses definitions))
                (setf (aref ends name) (write-entry octets (aref ends name) distance uses definitions))))
        (make-occurrences :starts starts :octets octets)))))

(declaim (inline occurrences-of))
(defun occurrences-of (occurrences name)
  "Where the list of NAME begins, +none+ when no file holds it."
  (declare (type occurrences occurrences) (type (unsigned-byte 32) name))
  (let ((starts (occurrences-starts occurrences))) (if (< name (length starts)) (aref starts name) +none+)))

(defmacro do-occurrences ((file code comments strings definitions) (occurrences start) &body body)
  "BODY for each FILE of the list at START, ascending, with the uses and the packed DEFINITIONS of its name."
  (let ((octets (gensym)) (at (gensym)) (head (gensym)))
    `(let* ((,octets (occurrences-octets ,occurrences)) (,file 0) (,at ,start))
       (declare (type octets ,octets) (type (unsigned-byte 32) ,file) (type (unsigned-byte 33) ,at))
       (loop repeat (the (unsigned-byte 32) (read-number ,octets ,at))
             do (setf ,file (logand #xFFFFFFFF (+ ,file (the (unsigned-byte 32) (read-number ,octets ,at)))))
                (let* ((,head (aref ,octets ,at)) (,code (logand ,head +many+)) (,comments 0) (,strings 0) (,definitions 0))
                  (declare (type (unsigned-byte 32) ,code ,comments ,strings ,definitions))
                  (incf ,at)
                  (when (= ,code +many+) (setf ,code (read-number ,octets ,at)))
                  (when (logtest ,head +with-comments+) (setf ,comments (read-number ,octets ,at)))
                  (when (logtest ,head +with-strings+) (setf ,strings (read-number ,octets ,at)))
                  (when (logtest ,head +with-definitions+) (setf ,definitions (read-number ,octets ,at)))
                  ,@body)))))

(defun occurrences-octet-count (occurrences)
  "Octets that OCCURRENCES take."
  (declare (type occurrences occurrences))
  (+ (length (occurrences-octets occurrences)) (* 4 (length (occurrences-starts occurrences)))))
