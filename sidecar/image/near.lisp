;;;; Names near a mistyped one, for "no such symbol, near: …".

(defpackage #:opl.image.near
  (:use #:cl)
  (:export #:distance #:near-names))

(in-package #:opl.image.near)

(declaim (optimize (speed 1) (safety 1)))

(deftype index () '(integer 0 #.(floor most-positive-fixnum 8)))

(defconstant +longest+ 64
  "Characters of a name that are compared; a row of the table then fits the stack.")

(declaim (ftype (function (string string index) (values index &optional)) distance))
(defun distance (a b limit)
  "Edits (insert, delete, replace, swap neighbours) that turn A into B without regard to case, or
LIMIT + 1 when there are more than LIMIT. Only the first 64 characters are compared."
  (let* ((a (coerce (subseq a 0 (min (length a) +longest+)) 'simple-string))
         (b (coerce (subseq b 0 (min (length b) +longest+)) 'simple-string))
         (width (length b))
         (before (make-array (1+ +longest+) :element-type 'fixnum))
         (above (make-array (1+ +longest+) :element-type 'fixnum))
         (row (make-array (1+ +longest+) :element-type 'fixnum)))
    (declare (dynamic-extent before above row) (type (simple-array fixnum (*)) before above row))
    (when (> (abs (- (length a) width)) limit)
      (return-from distance (1+ limit)))
    (loop for j from 0 to width do (setf (aref above j) j))
    (loop for i from 1 to (length a)
          do (setf (aref row 0) i)
             (let ((least i))
               (declare (type fixnum least))
               (loop for j from 1 to width
                     for same = (char-equal (schar a (1- i)) (schar b (1- j)))
                     for cost of-type fixnum = (min (1+ (aref above j))
                                                    (1+ (aref row (1- j)))
                                                    (+ (aref above (1- j)) (if same 0 1)))
                     do (when (and (> i 1) (> j 1)
                                   (char-equal (schar a (1- i)) (schar b (- j 2)))
                                   (char-equal (schar a (- i 2)) (schar b (1- j))))
                          (setf cost (min cost (1+ (aref before (- j 2))))))
                        (setf (aref row j) cost
                              least (min least cost)))
               (when (> least limit)
                 (return-from distance (1+ limit))))
             (rotatef before above row))
    (min (aref above width) (1+ limit))))

(defun near-names (name map-names &key (count 5))
  "Up to COUNT names that NAME may stand for, nearest first, equally near ones in alphabetical order.
MAP-NAMES is called with a function of one name. A name that contains NAME, or that NAME contains,
counts as near; nothing near gives NIL."
  (declare (type function map-names) (type string name) (type index count))
  ;; Within one edit of a name of two letters lies every other such name.
  (when (< (length name) 3)
    (return-from near-names '()))
  (let* ((limit (floor (length name) 3))
         (found '())
         (seen (make-hash-table :test #'equal)))
    (declare (type index limit))
    (funcall map-names
             (lambda (candidate)
               (declare (type string candidate))
               (let ((score (distance name candidate limit)))
                 (when (and (> score limit)
                            (>= (length candidate) 3)
                            (or (search name candidate :test #'char-equal)
                                (search candidate name :test #'char-equal)))
                   (setf score limit))
                 (when (and (<= score limit) (not (gethash candidate seen)))
                   (setf (gethash candidate seen) t)
                   (push (cons score candidate) found)))))
    (mapcar #'cdr
            (subseq (sort found (lambda (one other)
                                  (or (< (the fixnum (car one)) (the fixnum (car other)))
                                      (and (= (the fixnum (car one)) (the fixnum (car other)))
                                           (string< (the string (cdr one)) (the string (cdr other)))))))
                    0 (min count (length found))))))
