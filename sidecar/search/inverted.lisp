;;;; From a hash to the places that have it: names by term, files by phrase. Two passes over what has hashes, no sorting:
;;;; the upper half of a hash says in which of 65,536 buckets its places stand, the lower half is kept beside each place and
;;;; looked through, some hundred of them in a tree of millions of names.

(defpackage #:opl.search.inverted
  (:use #:cl)
  (:import-from #:opl.source.names #:u32-vector #:make-u32)
  (:export #:inverted #:make-inverted #:inverted-starts #:inverted-rests #:inverted-places #:build-inverted #:do-inverted #:inverted-octets))
(in-package #:opl.search.inverted)

(declaim (optimize (speed 3) (safety 0)))

(deftype index () '(integer 0 #.(ash most-positive-fixnum -2)))
(deftype u16-vector () '(simple-array (unsigned-byte 16) (*)))

(defconstant +buckets+ 65536)

(defstruct inverted
  (starts (make-u32 (1+ +buckets+)) :type u32-vector) ; bucket -> its first entry; one more at the end
  (rests (make-array 0 :element-type '(unsigned-byte 16)) :type u16-vector)
  (places (make-u32 0) :type u32-vector))

(defun sum-up (starts)
  (declare (type u32-vector starts))
  (loop for i of-type index from 1 below (length starts) do (incf (aref starts i) (aref starts (1- i)))))

(defmacro build-inverted ((add) &body body)
  "The inverted table of what BODY tells by calling (ADD hash place), places ascending. BODY runs twice and has to tell the same."
  (let ((counts (gensym)) (rests (gensym)) (places (gensym)) (hash (gensym)) (place (gensym)) (at (gensym)) (size (gensym)))
    `(let ((,counts (make-u32 (+ 2 +buckets+))))
       (declare (type u32-vector ,counts))
       (flet ((,add (,hash ,place)
                (declare (type (unsigned-byte 32) ,hash) (ignore ,place))
                (incf (aref ,counts (+ 2 (ash ,hash -16))))))
         (declare (inline ,add))
         ,@body)
       (sum-up ,counts)
       (let* ((,size (aref ,counts (1+ +buckets+))) (,rests (make-array ,size :element-type '(unsigned-byte 16))) (,places (make-u32 ,size)))
         (declare (type u16-vector ,rests) (type u32-vector ,places))
         ;; counts[b + 1] is where the next entry of bucket b goes; at the end it is where b + 1 begins
         (flet ((,add (,hash ,place)
                  (declare (type (unsigned-byte 32) ,hash ,place))
                  (let ((,at (aref ,counts (+ 1 (ash ,hash -16)))))
                    (setf (aref ,rests ,at) (logand ,hash 65535) (aref ,places ,at) ,place
                          (aref ,counts (+ 1 (ash ,hash -16))) (1+ ,at)))))
           (declare (inline ,add))
           ,@body)
         (make-inverted :starts ,counts :rests ,rests :places ,places)))))

(defmacro do-inverted ((place) (inverted hash) &body body)
  "BODY for each PLACE that has HASH, ascending; as often as it has it."
  (let ((table (gensym)) (rests (gensym)) (wanted (gensym)) (bucket (gensym)) (at (gensym)))
    `(let* ((,table ,inverted) (,wanted ,hash) (,bucket (ash ,wanted -16)) (,rests (inverted-rests ,table)))
       (declare (type (unsigned-byte 32) ,wanted) (type (simple-array (unsigned-byte 16) (*)) ,rests))
       (loop for ,at of-type (unsigned-byte 32) from (aref (inverted-starts ,table) ,bucket) below (aref (inverted-starts ,table) (1+ ,bucket))
             do (when (= (logand ,wanted 65535) (aref ,rests ,at))
                  (let ((,place (aref (inverted-places ,table) ,at))) (declare (ignorable ,place)) ,@body))))))

(defun inverted-octets (inverted)
  "Octets that INVERTED takes."
  (declare (type inverted inverted))
  (+ (* 4 (length (inverted-starts inverted))) (* 6 (length (inverted-places inverted)))))
