;;;; sidecar/wire/fields.lisp

(defpackage #:opl.test.fields
  (:use #:cl #:opl.test #:opl.wire.fields)
  (:import-from #:opl.wire.conditions #:fault))

(in-package #:opl.test.fields)

(defun octets (text)
  (coerce (sb-ext:string-to-octets text :external-format :utf-8) '(simple-array (unsigned-byte 8) (*))))

(defun text-written (function &rest arguments)
  (let ((buffer (make-line-buffer 1)))
    (apply function buffer arguments)
    (sb-ext:octets-to-string (subseq (line-buffer-octets buffer) 0 (line-buffer-fill buffer)) :external-format :utf-8)))

(deftest numbers-are-written-in-digits
  (check-equal "0" (text-written #'put-natural 0))
  (check-equal "9007199254740991" (text-written #'put-natural 9007199254740991))
  (check-equal "0" (text-written #'put-decimal -1/10000000))
  (check-equal "-0.5" (text-written #'put-decimal -0.5d0))
  (check-equal "12.000001" (text-written #'put-decimal 12.000001d0))
  (check-equal "3" (text-written #'put-decimal 3)))

(deftest text-is-escaped-the-same-from-strings-and-octets
  (dolist (text (list "plain" (format nil "a~cb~cc~cd\\" #\Tab #\Newline #\Return) "ä😀" "" (string (code-char 0))))
    (check-equal (text-written #'put-text text) (text-written #'put-text (octets text)))))

(deftest octets-that-are-no-utf-8-become-replacement-characters
  (let ((bad (make-array 5 :element-type '(unsigned-byte 8) :initial-contents '(65 #xE4 66 #xED #xA0))))
    (check-equal (format nil "A~cB~:*~c~:*~c" (code-char #xFFFD)) (text-written #'put-text bad)))
  (check-equal (string (code-char #xFFFD)) (text-written #'put-text (string (code-char #xD800)))))

(deftest fields-come-back
  (let ((line (octets (format nil "1~c~ca\\tb~c\\x41\\\\" #\Tab #\Tab #\Tab))))
    (check-equal (list "1" "" (format nil "a~cb" #\Tab) "A\\") (split-fields line 0 (length line)))))

(deftest a-field-that-does-not-decode-is-a-fault
  (dolist (text '("a\\" "\\q" "\\x4" "\\xzz"))
    (check-error fault (split-fields (octets text) 0 (length (octets text))))))
