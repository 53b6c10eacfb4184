;;;; protocol/vectors on the sidecar's side; test/vectors/fields.test.ts is the other half.

(defpackage #:opl.test.vectors
  (:use #:cl #:opl.test)
  (:import-from #:opl.wire.conditions #:fault)
  (:import-from #:opl.wire.fields #:octets #:make-line-buffer #:line-buffer-octets #:line-buffer-fill #:put-text #:put-octet #:split-fields))

(in-package #:opl.test.vectors)

(defparameter *folder* (merge-pathnames "../../protocol/vectors/" *load-truename*))

(defun split (line character)
  (loop for start = 0 then (1+ end)
        for end = (position character line :start start)
        collect (subseq line start end)
        while end))

(defun rows (name)
  (with-open-file (in (merge-pathnames name *folder*) :external-format :utf-8)
    (loop for line = (read-line in nil)
          while line
          unless (or (string= line "") (char= (char line 0) #\#))
            collect (split line #\Tab))))

(defun from-hex (text)
  (let ((octets (make-array (floor (length text) 2) :element-type '(unsigned-byte 8))))
    (dotimes (index (length octets) octets)
      (setf (aref octets index) (parse-integer text :start (* 2 index) :end (+ 2 (* 2 index)) :radix 16)))))

(defun text-of (hex)
  (sb-ext:octets-to-string (from-hex hex) :external-format :utf-8))

(defun line-of (texts)
  (let ((buffer (make-line-buffer)))
    (loop for text in texts for first = t then nil
          do (unless first (put-octet buffer 9))
             (put-text buffer text))
    (subseq (line-buffer-octets buffer) 0 (line-buffer-fill buffer))))

(deftest fields-decode-and-encode-as-the-vectors-say
  (let ((rows (rows "fields.tsv")))
    (check (> (length rows) 10))
    (loop for (nil direction line fields) in rows
          for octets = (from-hex line)
          for texts = (mapcar #'text-of (split fields #\,))
          do (check-equal texts (split-fields octets 0 (length octets)))
             (when (string= direction "both")
               (check-equal octets (line-of texts))))))

(deftest invalid-fields-are-refused
  (let ((rows (rows "invalid.tsv")))
    (check (> (length rows) 10))
    (loop for (nil line) in rows
          for octets = (from-hex line)
          do (check-error fault (split-fields octets 0 (length octets))))))
