;;;; How the process takes memory from the system.

(defpackage #:opl.wire.memory
  (:use #:cl)
  (:export #:prefer-large-pages))
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
