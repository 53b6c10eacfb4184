;;;; Files as octets: stat and read without streams, bounded, and never anything but a regular file.

(defpackage #:opl.source.octets
  (:use #:cl)
  (:import-from #:opl.source.names #:octets #:make-octets #:octets-string #:string-octets)
  (:export #:file-state #:read-octets-into #:octet-buffer #:make-octet-buffer #:octet-buffer-octets #:octet-buffer-size
           #:directory-entries #:regular #:folder #:link #:other #:native-join #:real-path
           #:current-seconds #:read-descriptor #:octets-name))
(in-package #:opl.source.octets)

(deftype index () '(integer 0 #.(ash most-positive-fixnum -2)))

(defmacro with-utf-8-names (&body body)
  "File names are UTF-8 whatever the locale says (a plugin host often runs under LANG=C)."
  `(let ((sb-alien::*default-c-string-external-format* :utf-8)) ,@body))

(defun native-join (root path)
  "ROOT and the relative PATH as one native name."
  (if (string= path "") root
      (if (char= (char root (1- (length root))) #\/) (concatenate 'string root path)
          (concatenate 'string root "/" path))))

(defun current-seconds ()
  "Seconds since 1970, whole ones, as stat gives them."
  (- (get-universal-time) #.(encode-universal-time 0 0 0 1 1 1970 0)))

(defun file-state (name)
  "What the native NAME is, links not followed: :regular :folder :link :other, its size in octets, its modification
time in seconds since 1970, its inode. Nil when there is nothing or it may not be looked at."
  (with-utf-8-names
    #-win32
    (multiple-value-bind (found dev ino mode nlink uid gid rdev size atime mtime) (sb-unix:unix-lstat name)
      (declare (ignore dev nlink uid gid rdev atime))
      (when found
        (values (case (logand mode #o170000) (#o100000 :regular) (#o040000 :folder) (#o120000 :link) (t :other))
                size mtime ino)))
    #+win32
    (let ((stat (ignore-errors (sb-posix:stat name))))
      (when stat
        (values (case (logand (sb-posix:stat-mode stat) #o170000) (#o100000 :regular) (#o040000 :folder) (t :other))
                (sb-posix:stat-size stat) (sb-posix:stat-mtime stat) 0)))))

(defstruct (octet-buffer (:constructor make-octet-buffer))
  "A vector reused for one file after another, and how many octets of it are the file's."
  (octets (make-octets 262144) :type octets)
  (size 0 :type index))

#-win32
(defun read-descriptor (fd buffer limit)
  "Fills BUFFER from the descriptor FD until its end or soon after LIMIT octets, and returns it; nil when reading fails."
  (declare (type fixnum fd limit))
  (let ((size 0))
    (declare (type index size))
    (loop
      (when (= size (length (octet-buffer-octets buffer)))
        (setf (octet-buffer-octets buffer)
              (replace (make-octets (* 2 size)) (octet-buffer-octets buffer))))
      (let* ((octets (octet-buffer-octets buffer))
             (count (sb-sys:with-pinned-objects (octets)
                      (sb-unix:unix-read fd (sb-sys:sap+ (sb-sys:vector-sap octets) size) (- (length octets) size)))))
        (cond ((null count) (return nil))
              ((zerop count) (setf (octet-buffer-size buffer) size) (return buffer))
              (t (incf size count) (when (> size limit) (setf (octet-buffer-size buffer) size) (return buffer))))))))

(defun read-octets-into (buffer name limit)
  "Fills BUFFER with the content of the regular file NAME. Nil when it cannot be read or is no regular file (a
pipe that took the file's place since it was listed is not waited for). Stops soon after LIMIT octets."
  (with-utf-8-names
    #-win32
    (let ((fd (sb-unix:unix-open name (logior sb-unix:o_rdonly #+linux #o4000 #+darwin 4) 0)))
      (when fd
        (unwind-protect
             (multiple-value-bind (found dev ino mode) (sb-unix:unix-fstat fd)
               (declare (ignore dev ino))
               (when (and found (= (logand mode #o170000) #o100000))
                 (read-descriptor fd buffer limit)))
          (sb-unix:unix-close fd))))
    #+win32
    (ignore-errors
     (with-open-file (in (sb-ext:parse-native-namestring name) :element-type '(unsigned-byte 8))
       (let ((size (min (file-length in) (1+ limit))))
         (when (> size (length (octet-buffer-octets buffer)))
           (setf (octet-buffer-octets buffer) (make-octets size)))
         (setf (octet-buffer-size buffer) (read-sequence (octet-buffer-octets buffer) in :end size))
         buffer)))))

(defun octets-name (octets &key (start 0) (end (length octets)))
  "The file name that OCTETS are between START and END. One that is no UTF-8 is spelled so that it can be told from others: what
lies outside ASCII as \\xHH; no file is found under that spelling."
  (let ((name (octets-string octets :start start :end end)))
    (if (and (find #\ufffd name) (not (equalp (string-octets name) (subseq octets start end))))
        (with-output-to-string (out)
          (loop for i from start below end
                for octet = (aref octets i)
                do (if (< octet 128) (write-char (code-char octet) out) (format out "\\x~2,'0X" octet))))
        name)))

#-win32
(defun entry-name (entry)
  "The name in ENTRY, of readdir(3)."
  (let ((octets (let ((sb-alien::*default-c-string-external-format* :latin-1)) (sb-posix:dirent-name entry))))
    (octets-name (map 'octets #'char-code octets))))

(defun directory-entries (name)
  "The names in the folder NAME, as `octets-name' spells them, without . and .., unsorted; nil when it cannot be read."
  (with-utf-8-names
    (handler-case
        #-win32
        (let ((dir (sb-posix:opendir name)) (entries '()))
          (unwind-protect
               (loop for entry = (sb-posix:readdir dir)
                     until (sb-alien:null-alien entry)
                     do (let ((entry-name (entry-name entry)))
                          (unless (or (string= entry-name ".") (string= entry-name ".."))
                            (push entry-name entries))))
            (sb-posix:closedir dir))
          entries)
      #+win32
      (mapcar (lambda (path) (string-right-trim "\\/" (file-namestring (string-right-trim "\\/" (sb-ext:native-namestring path)))))
              (directory (concatenate 'string name "/*.*") :resolve-symlinks nil))
      (error () nil))))

(defun real-path (name)
  "NAME with links resolved and no slash at the end, or NAME itself when that fails."
  (with-utf-8-names
    (let ((found (ignore-errors (sb-ext:native-namestring (truename (sb-ext:parse-native-namestring name))))))
      (let ((path (or found name)))
        (if (> (length path) 1) (string-right-trim "/" path) path)))))
