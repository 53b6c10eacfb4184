;;;; How the process takes memory from the system and when it looks for garbage.

(defpackage #:opl.wire.memory
  (:use #:cl)
  (:export #:arrange-memory))
(in-package #:opl.wire.memory)

(defun prefer-large-pages ()
  "Asks Linux for pages of 2 MB in the heap (madvise(2), MADV_HUGEPAGE): reading the snapshot of a large tree touches hundreds of
megabytes once, and a fault for each 4 kB takes longer than reading does. Does nothing where the system has no such pages."
  #+linux
  (let ((start sb-vm:dynamic-space-start))
    (sb-alien:alien-funcall
     (sb-alien:extern-alien "madvise" (function sb-alien:int sb-alien:unsigned-long sb-alien:unsigned-long sb-alien:int))
     start (sb-ext:dynamic-space-size) 14))
  (values))

(defconstant +nursery-octets+ 100000000
  "Octets that are allocated between two collections. SBCL's own choice, a twentieth of the heap (200 MB), touches so many fresh
pages that resolving the calls of Go's 7,000 files takes 2.2 s of processor time instead of 1.2 s; with 50 MB more survives.")

(defun arrange-memory ()
  "To be called once, when the process starts."
  (setf (sb-ext:bytes-consed-between-gcs) (min +nursery-octets+ (sb-ext:bytes-consed-between-gcs))
        ;; what outlives one collection here outlives most: copied once instead of twice, Go's tree takes a tenth less time and 100 MB less
        (sb-ext:generation-number-of-gcs-before-promotion 0) 0)
  (prefer-large-pages))
