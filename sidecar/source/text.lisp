;;;; Text: what the octets of a file are before they are scanned. UTF-16 becomes UTF-8, a byte order mark goes,
;;;; binary, minified and oversized files are left out with the reason.

(defpackage #:opl.source.text
  (:use #:cl #:opl.source.octets #:opl.source.language)
  (:import-from #:opl.source.names #:octets #:make-octets #:octets-string #:string-octets #:octet-position #:octet-count)
  (:export #:load-text #:+source-limit+ #:+text-limit+))
(in-package #:opl.source.text)

(deftype index () '(integer 0 #.(ash most-positive-fixnum -2)))

(defconstant +source-limit+ 2097152
  "Octets of a source file at most. The largest that people wrote by hand and that we met (sqlite3.c aside) are near 1 MB.")
(defconstant +text-limit+ 262144 "Octets of a document or data file at most.")
(defconstant +minified-line+ 1000
  "Octets a line, on average, from which a file of more than 20,000 octets counts as made by a tool.")

(defun decode-utf-16 (octets size order)
  (let ((text (sb-ext:octets-to-string octets :start 2 :end (- size (mod size 2))
                                              :external-format (if (eq order :little) '(:utf-16le :replacement #\ufffd) '(:utf-16be :replacement #\ufffd)))))
    (string-octets text)))

(defun normalize (buffer)
  "Takes a byte order mark from BUFFER and makes UTF-8 of UTF-16."
  (let ((octets (octet-buffer-octets buffer)) (size (octet-buffer-size buffer)))
    (flet ((mark (&rest marks) (and (>= size (length marks)) (loop for octet in marks for i from 0 always (= octet (aref octets i))))))
      (cond ((mark #xEF #xBB #xBF)
             (replace octets octets :start2 3 :end2 size)
             (setf (octet-buffer-size buffer) (- size 3)))
            ((or (mark #xFF #xFE) (mark #xFE #xFF))
             (let ((decoded (decode-utf-16 octets size (if (mark #xFF #xFE) :little :big))))
               (when (> (length decoded) (length octets)) (setf (octet-buffer-octets buffer) (make-octets (length decoded))))
               (replace (octet-buffer-octets buffer) decoded)
               (setf (octet-buffer-size buffer) (length decoded))))))))

(defun binary-p (octets size)
  "Whether a NUL stands in the first 8,000 octets, which is git's test too."
  (declare (type octets octets) (type index size))
  (octet-position 0 octets 0 (min size 8000)))

(defun minified-p (octets size)
  (declare (type octets octets) (type index size))
  (and (> size 20000)
       (> (floor size (1+ (octet-count 10 octets 0 size))) +minified-line+)))

(defun first-line (octets size)
  (octets-string octets :end (min size 200 (or (position 10 octets :end size) size))))

(defparameter *c++-marks* (mapcar #'string-octets '("namespace " "template" "class " "public:" "private:" "protected:" "virtual " "std::" "constexpr "))
  "Texts at the start of a line of a header (blanks aside) that C does not have.")

(defun c++-header-p (octets size)
  "Whether a .h file is written in C++, by its own lines."
  (declare (type octets octets) (type index size))
  (loop with i of-type index = 0
        while (< i size)
        do (let* ((end (or (octet-position 10 octets i size) size))
                  (from (or (position-if-not (lambda (octet) (<= octet 32)) octets :start i :end end) end)))
             (when (loop for mark of-type octets in *c++-marks*
                         thereis (and (<= (+ from (length mark)) end)
                                      (loop for j from 0 below (length mark) always (= (aref mark j) (aref octets (+ from j))))))
               (return t))
             (setf i (1+ end)))))

(defun text-language (path octets size)
  "The language of the file PATH with the content OCTETS[0, SIZE), or nil."
  (let ((language (language-of-path path)))
    (cond ((null language) (and (> size 2) (= (aref octets 0) 35) (= (aref octets 1) 33)
                                (language-of-first-line (first-line octets size))))
          ((and (string= (language-name language) "C") (equal (extension-of path) "h") (c++-header-p octets size))
           (find-language "C++"))
          (t language))))

(defun generated-name-p (path)
  (let ((name (string-downcase (path-name path))))
    (or (search ".min." name) (search ".bundle." name)
        (member name '("package-lock.json" "yarn.lock" "pnpm-lock.yaml" "composer.lock" "cargo.lock" "poetry.lock" "gemfile.lock" "go.sum" "npm-shrinkwrap.json" "bun.lock")
                :test #'string=))))

(defun load-text (buffer root path size)
  "Reads the file PATH below ROOT, SIZE octets long when it was listed, into BUFFER. Values: its language or nil,
and the reason why it is left out or nil. A file in no language that is known gives nil and nil."
  (let* ((named (language-of-path path))
         (limit (if (and named (language-text-p named)) +text-limit+ +source-limit+)))
    (cond ((and (null named) (or (extension-of path) (zerop size))) nil)
          ((generated-name-p path) (values nil "made by a tool"))
          ((> size limit) (values nil (format nil "larger than ~:D octets" limit)))
          ((null (read-octets-into buffer (native-join root path) limit)) (values nil "cannot be read"))
          ((> (octet-buffer-size buffer) limit) (values nil (format nil "larger than ~:D octets" limit)))
          (t
           (normalize buffer)
           (let* ((octets (octet-buffer-octets buffer)) (size (octet-buffer-size buffer)))
             (cond ((binary-p octets size) (values nil (and named "binary")))
                   ((minified-p octets size) (values nil "minified"))
                   (t (text-language path octets size))))))))
