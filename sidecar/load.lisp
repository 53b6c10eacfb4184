;;;; Compiles what changed and loads everything:  sbcl --non-interactive --load sidecar/load.lisp
;;;;
;;;; Compiled files lie in the user's cache under a name made of what they depend on (their text, the texts of the files whose packages they
;;;; mention, SBCL's version), so nothing stale is ever loaded, several processes may load at once, and an edit costs only what sees it.
;;;; A warning is a failure here; build.lisp, which runs on users' machines with SBCLs not yet known, is lenient.

(require "sb-posix")

(defpackage #:opl.load
  (:use #:cl)
  (:export #:*strict* #:*report* #:*reading-key* #:load-system))

(in-package #:opl.load)

(defvar *strict* t "True: a warning while compiling is an error.")

(defvar *report* nil "Nothing, or a function of (done total file) called before each file is loaded.")

(defvar *reading-key* 0
  "A hash over the sources that decide what is read out of a file and kept. What another build kept is not to be taken for this one's.")

(defparameter *sidecar* (make-pathname :name nil :type nil :version nil :defaults *load-truename*)
  "The folder of this file.")

(deftype octets () '(simple-array (unsigned-byte 8) (*)))

(defun file-octets (path)
  (with-open-file (in path :element-type '(unsigned-byte 8))
    (let ((octets (make-array (file-length in) :element-type '(unsigned-byte 8))))
      (read-sequence octets in)
      octets)))

(defun file-text (path)
  (sb-ext:octets-to-string (file-octets path) :external-format :utf-8))

;;; FNV-1a, 64 bits (http://www.isthe.com/chongo/tech/comp/fnv/): the key tells builds apart, nobody attacks it.
(defun mix (hash octets)
  (declare (type (unsigned-byte 64) hash) (type octets octets) (optimize speed))
  (loop for octet across octets
        do (setf hash (ldb (byte 64 0) (* (logxor hash octet) 1099511628211))))
  hash)

(defun mix-text (hash text)
  (mix hash (coerce (sb-ext:string-to-octets text :external-format :utf-8) 'octets)))

(defun system-form ()
  (with-open-file (in (merge-pathnames "sidecar.asd" *sidecar*) :external-format :utf-8)
    (let ((*package* (find-package '#:opl.load)) (*read-eval* nil))
      (read in))))

(defun component-files (form)
  "The files of the system in order: a list of (name . path)."
  (loop for (nil name) in (getf (cddr form) :components)
        collect (cons name (merge-pathnames (concatenate 'string name ".lisp") *sidecar*))))

(defun words-after (prefix text)
  "Every distinct run of package-name characters in TEXT that begins with PREFIX."
  (let ((words '()))
    (loop for start = (search prefix text) then (search prefix text :start2 end)
          while start
          for end = (or (position-if-not (lambda (c) (or (alphanumericp c) (find c ".-"))) text :start start) (length text))
          do (pushnew (subseq text start end) words :test #'string=))
    words))

(defun declared-package (text)
  (let ((start (search "(defpackage #:" text)))
    (when start
      (let ((from (+ start (length "(defpackage #:"))))
        (subseq text from (position-if (lambda (c) (find c '(#\Space #\Newline #\))) ) text :start from))))))

(defun file-keys (files)
  "For each of FILES a hash over its text and, transitively, over the earlier files whose packages it mentions."
  (let ((packages '())
        (common (reduce (lambda (hash path) (mix hash (file-octets (merge-pathnames path *sidecar*))))
                        '("load.lisp" "../package.json")
                        :initial-value (mix-text 14695981039346656037 (lisp-implementation-version))))
        (table (file-octets (merge-pathnames "../protocol/protocol.tsv" *sidecar*))))
    (loop for (nil . path) in files
          for text = (file-text path)
          for own = (declared-package text)
          for key = (mix-text common text)
          do (dolist (word (sort (words-after "opl." text) #'string<))
               (loop for (package . other) in packages
                     when (string= package word)
                       do (setf key (mix-text key (princ-to-string other)))))
             (when (search "opl.wire.protocol" text)
               (setf key (mix key table)))
             (push (cons own key) packages)
          collect key)))

(defun writable-folder (folder)
  "FOLDER when a file can be made in it (it is made when missing), else nothing."
  (ignore-errors
   (ensure-directories-exist folder)
   (let ((probe (merge-pathnames (format nil "probe-~d" (sb-posix:getpid)) folder)))
     (with-open-file (out probe :direction :output :if-exists :supersede) (write-char #\x out))
     (delete-file probe)
     folder)))

(defun fasl-folder ()
  "Where compiled files go: OPL_FASL_DIR, the user's cache, the temporary folder; nothing when none of them can be written."
  (flet ((folder (variable &optional (below ""))
           (let ((value (sb-posix:getenv variable)))
             (and value (plusp (length value))
                  (writable-folder (sb-ext:parse-native-namestring (format nil "~a~a/" value below)
                                                                   nil *default-pathname-defaults* :as-directory t))))))
    (or (folder "OPL_FASL_DIR")
        (folder "XDG_CACHE_HOME" "/opencode-plugin-lisp/fasl")
        (folder "HOME" "/.cache/opencode-plugin-lisp/fasl")
        (folder "LOCALAPPDATA" "/opencode-plugin-lisp/fasl")
        (folder "TMPDIR" "/opencode-plugin-lisp-fasl")
        (writable-folder #p"/tmp/opencode-plugin-lisp-fasl/"))))

(defvar *compiling* nil "Whether a file is being compiled: the compiler deals itself with the errors in it.")
(defun compiling-p () *compiling*)

(defun compile-one (source fasl)
  "Compiles SOURCE into FASL by way of a name of its own, so that no other process sees half a file. True when FASL may be kept."
  (let ((scratch (make-pathname :name (format nil "~a-~d" (pathname-name fasl) (sb-posix:getpid)) :type "tmp" :defaults fasl)))
    (multiple-value-bind (output warnings failure)
        (let ((*compile-verbose* nil) (*compile-print* nil) (*compiling* t))
          ;; Notes tell where speed is lost; whoever tunes a file asks for them there.
          (handler-bind ((sb-ext:compiler-note #'muffle-warning))
            (compile-file source :output-file scratch :external-format :utf-8)))
      (when (or (null output) (and *strict* (or warnings failure)))
        (ignore-errors (delete-file scratch))
        (error "~a does not compile cleanly; see above." (enough-namestring source *sidecar*)))
      (if (or warnings failure)
          (progn (load output) (delete-file output) nil)
          (progn (rename-file output fasl) t)))))

(defun load-one (name source key folder)
  (if (null folder)
      (load source :external-format :utf-8)
      (let ((fasl (merge-pathnames (make-pathname :name (format nil "~a-~16,'0x" (substitute #\- #\/ name) key) :type "fasl") folder)))
        (when (or (probe-file fasl) (compile-one source fasl))
          (load fasl)))))

(defun reading-key (files keys)
  "The value of *reading-key* for FILES of these KEYS."
  (loop with rooms = '("source/" "languages/" "index/" "graph/" "search/")
        with hash = 0
        for (name . nil) in files for key in keys
        do (when (find-if (lambda (room) (eql 0 (search room name))) rooms) (setf hash (mix-text hash (princ-to-string key))))
        finally (return hash)))

(defun load-system ()
  "Compiles what changed and loads every file of sidecar.asd in order."
  (let* ((form (system-form))
         (files (component-files form))
         (keys (file-keys files))
         (folder (fasl-folder)))
    (setf *reading-key* (reading-key files keys))
    (dolist (contrib (getf (cddr form) :depends-on))
      (require contrib))
    (loop for (name . path) in files
          for key in keys
          for done from 0
          do (when *report* (funcall *report* done (length files) name))
             (load-one name path key folder))))

;; build.lisp wants the functions above and calls them itself.
(unless (member :opl-build *features*)
  (load-system))
