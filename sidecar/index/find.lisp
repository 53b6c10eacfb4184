;;;; Finding definitions by a part of their name or of their file's path, in any case: one pass over the octets of all names,
;;;; then the definitions of those that hit, best first, no further than was asked for.

(defpackage #:opl.index.find
  (:use #:cl #:opl.index.store)
  (:import-from #:opl.source.names #:octets #:u32-vector #:names-octets #:names-count #:name-bounds #:name-string #:+none+ #:string-octets)
  (:import-from #:opl.source.facts #:def-count #:def-name #:def-parent)
  (:export #:find-tags))
(in-package #:opl.index.find)

(declaim (optimize (speed 1) (safety 1)))

(defconstant +longest-name+ 200 "Octets; what is longer is no name that anybody looks for.")

(declaim (inline folded))
(defun folded (octet)
  "OCTET in lower case, if it is a letter of ASCII."
  (declare (type (unsigned-byte 8) octet))
  (if (<= 65 octet 90) (logior octet 32) octet))

(defun names-containing (names wanted function)
  "Calls FUNCTION with the number of each name of NAMES that contains WANTED, octets in lower case; letters of ASCII in any case."
  (declare (type octets wanted) (type function function) (optimize (speed 3) (safety 0)))
  (let* ((octets (names-octets names)) (count (names-count names)) (length (length wanted)) (first (aref wanted 0))
         (other (if (<= 97 first 122) (logxor first 32) first)))
    (declare (type octets octets) (type fixnum count length) (type (unsigned-byte 8) first other))
    (dotimes (n count)
      (multiple-value-bind (start end) (name-bounds names n)
        (declare (type fixnum start end))
        (when (<= length (- end start) +longest-name+)
          (loop for i of-type fixnum from start to (- end length)
                do (let ((octet (aref octets i)))
                     (when (and (or (= octet first) (= octet other))
                                (loop for k of-type fixnum from 1 below length
                                      always (= (folded (aref octets (+ i k))) (aref wanted k))))
                       (funcall function n)
                       (return)))))))))

(defun contains-p (text wanted)
  "Whether the string TEXT contains WANTED, in any case."
  (declare (type simple-string text wanted))
  (let ((length (length wanted)) (first (char-downcase (char wanted 0))))
    (macrolet ((look (type)
                 `(let ((text text))
                    (declare (type ,type text) (optimize (speed 2) (safety 0)))
                    (loop for i of-type fixnum from 0 to (- (length text) length)
                            thereis (and (char= first (char-downcase (schar text i)))
                                         (loop for k of-type fixnum from 1 below length
                                               always (char-equal (schar text (+ i k)) (schar wanted k))))))))
      (etypecase text
        ((simple-array character (*)) (look (simple-array character (*))))
        (simple-base-string (look simple-base-string))))))

(defun match-score (name wanted)
  "1 for the name itself, less for a beginning, least for a part; longer names below shorter ones."
  (let ((share (/ (length wanted) (max 1 (length name)))))
    (cond ((string= name wanted) 1.0)
          ((string-equal name wanted) 0.95)
          ((eql 0 (search wanted name :test #'char-equal)) (+ 0.5 (* 0.3 share)))
          (t (* 0.5 share)))))

(defconstant +path-score+ 0.1 "Of what only stands in a file whose path contains the words.")

(defun scored-names (index wanted)
  "(score . name number) of the names that contain WANTED."
  (let* ((names (index-names index)) (found '()) (folded (string-octets (string-downcase wanted))))
    (flet ((note (name) (push (cons (match-score (name-string names name) wanted) name) found)))
      (if (every (lambda (c) (< (char-code c) 128)) wanted)
          (names-containing names folded #'note)
          (dotimes (name (names-count names))
            (let ((text (name-string names name))) (when (contains-p text wanted) (note name))))))
    found))

(defun path-tags (index wanted named)
  "Definitions at the top of files whose path contains WANTED, those called by a number in the table NAMED left out."
  (let ((tags '()))
    (when (or (find #\/ wanted) (> (length wanted) 2))
      (do-files (file) (index)
        (when (contains-p (index-path index file) wanted)
          (let ((run (index-run index file)))
            (dotimes (def (def-count run))
              (when (and (= (def-parent run def) +none+) (not (gethash (def-name run def) named)))
                (push (tag file def) tags)))))))
    tags))

(defun find-tags (index wanted limit)
  "The LIMIT best (score . tag) of the definitions whose name, or whose file's path, contains WANTED, and how many there are.
Equal ones in order of path and line."
  (when (string= wanted "") (return-from find-tags (values '() 0)))
  (let* ((wanted (coerce wanted 'simple-string)) (scored (scored-names index wanted)) (named (make-hash-table)) (groups (make-hash-table))
         (total 0) (found '()) (count 0))
    (flet ((add (score tag) (push tag (gethash score groups)) (incf total)))
      (loop for (score . name) in scored
            do (setf (gethash name named) t)
               (do-definitions (file def) (index name) (add score (tag file def))))
      (dolist (tag (path-tags index wanted named)) (add +path-score+ tag)))
    (loop for score in (sort (loop for score being the hash-keys of groups collect score) #'>)
          while (< count limit)
          do (loop for tag in (sort (gethash score groups) (lambda (a b) (tag< index a b))) while (< count limit)
                   do (push (cons score tag) found) (incf count)))
    (values (nreverse found) total)))
