;;;; universal-ctags: batches of files of one language on its standard input, tags on its standard output, a time
;;;; limit a batch; a batch that runs out of it is halved until the one bad file is found.

(defpackage #:opl.index.ctags
  (:use #:cl)
  (:import-from #:opl.source.names #:octets #:make-octets #:octets-string #:string-octets #:octet-position)
  (:import-from #:opl.source.octets #:make-octet-buffer #:octet-buffer-octets #:octet-buffer-size)
  (:import-from #:opl.wire.children #:with-child #:kill-child)
  (:export #:check-ctags #:program-mark #:tag-batch #:tagged #:tagged-failed #:*ctags-runs*
           #:map-tags #:*batch-seconds* #:program-output #:unescape))
(in-package #:opl.index.ctags)

(defvar *ctags-runs* 0 "How often ctags was started by this process, for tests and for the doctor.")

(defvar *batch-seconds* 20
  "A batch takes ctags a second or two for every 10 MB; one that needs 20 seconds, and 2 more for each MB, is stuck.")
(defconstant +single-seconds+ 3 "The same for the halves of a stuck batch.")
(defconstant +most-tags+ 20000 "Tags of one file at most; what makes more is data.")

(defparameter *advice*
  #+darwin "install it with: brew install universal-ctags (the ctags of Xcode is another program)"
  #+win32 "install it with: winget install UniversalCtags.Ctags (or: choco install universal-ctags)"
  #-(or darwin win32) "install it with: apt-get install universal-ctags (dnf install ctags, apk add ctags, pacman -S ctags); or set OPL_CTAGS to one")

(defconstant +program-seconds+ 10 "So long a program may take to say what it is.")

(defun program-output (program arguments)
  "What PROGRAM prints for ARGUMENTS, at most 64 kB, and its exit status, :late when it took too long; nil when it cannot be run."
  (handler-case
      (with-child (child program arguments :input nil :output :stream :error nil)
        (let* ((buffer (make-octet-buffer)) (fd (sb-sys:fd-stream-fd (sb-ext:process-output child)))
               (watch (sb-thread:make-thread
                       (lambda () (sleep +program-seconds+) (ignore-errors (kill-child child))) :name "ctags limit")))
          (unwind-protect
               (progn (opl.source.octets:read-descriptor fd buffer 65536)
                      (sb-ext:process-wait child)
                      (values (octets-string (octet-buffer-octets buffer) :end (octet-buffer-size buffer))
                              (if (eq :signaled (sb-ext:process-status child)) :late (sb-ext:process-exit-code child))))
            (ignore-errors (sb-thread:terminate-thread watch)))))
    (error () nil)))

(defun check-ctags (program)
  "Whether PROGRAM is universal-ctags. Values: its version line or nil, and what to do when it is not."
  (multiple-value-bind (output status) (program-output program '("--options=NONE" "--version")) ; the user's own options may be ones it stumbles over
    (let ((line (and output (subseq output 0 (or (position #\Newline output) (length output))))))
      (cond ((null output) (values nil (format nil "~A is not installed or does not start; ~A" program *advice*)))
            ((eq status :late) (values nil (format nil "~A did not say its version within ~D s; ~A" program +program-seconds+ *advice*)))
            ((and (eql status 0) (search "Universal Ctags" output)) (values line nil))
            ((search "Exuberant" output)
             (values nil (format nil "~A is Exuberant Ctags, which knows too little; ~A" program *advice*)))
            (t (values nil (format nil "~A is another ctags (BSD's, it seems); ~A" program *advice*)))))))

(defun compiled-p (name)
  "Whether the file NAME is a program by itself: a script may call another program tomorrow."
  (let ((buffer (opl.source.octets:read-octets-into (make-octet-buffer) name 1)))
    (and buffer (> (octet-buffer-size buffer) 1) (/= (aref (octet-buffer-octets buffer) 0) #.(char-code #\#)))))

(defun program-mark (program)
  "Which file PROGRAM is, its size and time: while they are the same it says the same version. Nil where that is not sure: a script, a
program that is not found as a shell finds it, Windows."
  #+win32 (progn program nil)
  #-win32
  (flet ((mark (name)
           (when (ignore-errors (sb-posix:access name sb-posix:x-ok) t)
             (let ((file (opl.source.octets:real-path name)))
               (multiple-value-bind (type size time) (opl.source.octets:file-state file)
                 (and (eq type :regular) (compiled-p file) (list file size time)))))))
    (if (find #\/ program)
        (mark program)
        (loop with path = (or (sb-posix:getenv "PATH") "")
              for start = 0 then (1+ end)
              for end = (or (position #\: path :start start) (length path))
              for name = (opl.source.octets:native-join (if (= start end) "." (subseq path start end)) program)
              when (eq :regular (opl.source.octets:file-state (opl.source.octets:real-path name))) return (mark name)
              while (< end (length path))))))

(defun arguments (language)
  (list "--options=NONE" (format nil "--language-force=~A" language) "--sort=no" "--excmd=number" "--fields=KeSst"
        "--output-format=u-ctags" "--pseudo-tags=" "--extras=-F" "--pattern-length-limit=0" "-f" "-" "-L" "-"))

(defstruct tagged
  "What ctags said of a batch: tag lines in the order of the files, and the files it could not be asked about."
  (octets (make-octets 0) :type octets) (size 0 :type fixnum) (failed '() :type list))

(defun listable-p (path)
  "A name with a line end cannot be given in a list."
  (not (find #\Newline path)))

(defun list-name (path) (if (char= (char path 0) #\-) (concatenate 'string "./" path) path))

(defun run-ctags (program root language paths seconds)
  "Tag lines as an octet buffer, or nil when ctags failed or took longer than SECONDS."
  (incf *ctags-runs*)
  (handler-case
      (with-child (child program (arguments language) :directory root :input :stream :output :stream :error nil
                                                      :external-format :utf-8)
        (let* ((buffer (make-octet-buffer)) (late nil)
               (fd (sb-sys:fd-stream-fd (sb-ext:process-output child)))
               (reader (sb-thread:make-thread
                        (lambda () (opl.source.octets:read-descriptor fd buffer (* 512 1024 1024)))
                        :name "ctags output")))
          (unwind-protect
               (progn
                 (ignore-errors
                  (let ((input (sb-ext:process-input child)))
                    (dolist (path paths) (write-line (list-name path) input))
                    (finish-output input)
                    (close input)))
                 (when (eq :late (sb-thread:join-thread reader :timeout seconds :default :late)) (setf late t)))
            (when late
              (kill-child child)
              ;; what a wrapper script started may hold the pipe open after the script is gone
              (when (eq :late (sb-thread:join-thread reader :timeout 0.2 :default :late))
                (ignore-errors (sb-thread:terminate-thread reader))
                (sb-thread:join-thread reader :timeout 1 :default nil))))
          (unless late
            (sb-ext:process-wait child)
            (and (eql 0 (sb-ext:process-exit-code child)) buffer))))
    (error () nil)))

(defun append-buffer (tagged buffer)
  (let* ((size (octet-buffer-size buffer)) (total (+ (tagged-size tagged) size)))
    (when (> total (length (tagged-octets tagged)))
      (setf (tagged-octets tagged)
            (if (zerop (tagged-size tagged))
                (octet-buffer-octets buffer)
                (replace (make-octets (* 2 total)) (tagged-octets tagged)))))
    (unless (eq (tagged-octets tagged) (octet-buffer-octets buffer))
      (replace (tagged-octets tagged) (octet-buffer-octets buffer) :start1 (tagged-size tagged) :end2 size))
    (setf (tagged-size tagged) total)))

(defun halves (paths)
  (let ((middle (ceiling (length paths) 2))) (list (subseq paths 0 middle) (subseq paths middle))))

(defun tag-batch (program root language paths octets)
  "What ctags says of PATHS, all written in LANGUAGE (ctags' name), in their order; they hold OCTETS altogether."
  (let ((tagged (make-tagged)))
    (labels ((ask (paths seconds)
               (when paths
                 (let ((buffer (run-ctags program root language paths seconds)))
                   (cond (buffer (append-buffer tagged buffer))
                         ((rest paths) (dolist (half (halves paths)) (ask half +single-seconds+)))
                         (t (push (first paths) (tagged-failed tagged))))))))
      (ask (remove-if-not #'listable-p paths) (+ *batch-seconds* (floor octets 500000)))
      (setf (tagged-failed tagged)
            (nreverse (append (tagged-failed tagged) (remove-if #'listable-p paths)))))
    tagged))

;;; Reading the lines

(defun unescape (octets start end)
  "The field OCTETS[START, END) with tags(5)' escapes undone."
  (declare (type octets octets) (type fixnum start end))
  (if (not (octet-position 92 octets start end))
      (octets-string octets :start start :end end)
      (let ((text (octets-string octets :start start :end end)))
        (with-output-to-string (out)
          (loop with i = 0 while (< i (length text))
                do (let ((c (char text i)) (next (and (< (1+ i) (length text)) (char text (1+ i)))))
                     (cond ((and (char= c #\\) next)
                            (write-char (case next (#\t #\Tab) (#\n #\Newline) (#\r #\Return) (t next)) out)
                            (incf i 2))
                           (t (write-char c out) (incf i)))))))))

(declaim (inline field-end))
(defun field-end (octets start end)
  (declare (type octets octets) (type fixnum start end))
  (or (octet-position 9 octets start end) end))

(defun key-at (octets start end key)
  "The start of the value when the field that begins at START has KEY (octets with the colon), or nil."
  (declare (type octets octets key) (type fixnum start end))
  (and (<= (+ start (length key)) end)
       (loop for i of-type fixnum from 0 below (length key) always (= (aref key i) (aref octets (+ start i))))
       (+ start (length key))))

(defun number-at (octets start end)
  (declare (type octets octets) (type fixnum start end))
  (loop with n of-type fixnum = 0
        for i of-type fixnum from start below end
        for octet = (aref octets i)
        while (and (<= 48 octet 57) (< n 100000000))
        do (setf n (+ (* 10 n) (- octet 48)))
        finally (return n)))

(defparameter *end-key* (string-octets "end:"))
(defparameter *plain-keys* (mapcar #'string-octets '("end:" "signature:" "typeref:" "access:" "line:" "file:" "inherits:" "implementation:" "extras:" "roles:")))

(defun map-tags (function tagged from path)
  "Calls FUNCTION for each tag of PATH that stands in TAGGED from offset FROM on, lines of one file being together, with
octets, name start, name end, kind start, kind end, line, end line or nil, scope start and end or nil. The offset of the
first line of another file. At most +most-tags+ of a file are told; the rest is passed over."
  (declare (type function function) (type fixnum from))
  (let* ((octets (tagged-octets tagged)) (size (tagged-size tagged)) (count 0)
         (wanted (string-octets (list-name path))) (plain (string-octets path)) (escaped (find #\\ path)) (i from))
    (declare (type octets octets wanted) (type fixnum i size count))
    (flet ((ours-p (start end)
             (or (let ((offset (key-at octets start end wanted))) (and offset (= offset end)))
                 (and (> (length wanted) (length plain))
                      (let ((offset (key-at octets start end plain))) (and offset (= offset end))))
                 (and (or escaped (octet-position 92 octets start end))
                      (string= (unescape octets start end) (list-name path))))))
      (loop
        (when (>= i size) (return size))
        (let* ((line-end (or (octet-position 10 octets i size) size))
               (name-end (field-end octets i line-end))
               (path-start (min (1+ name-end) line-end)) (path-end (field-end octets path-start line-end)))
          (unless (ours-p path-start path-end) (return i))
          (let* ((address (min (1+ path-end) line-end)) (line (number-at octets address line-end))
                 (kind-start (min (1+ (field-end octets address line-end)) line-end))
                 (kind-end (field-end octets kind-start line-end)) (end nil) (scope-start nil) (scope-end nil))
            (loop for start = (1+ kind-end) then (1+ (field-end octets start line-end))
                  while (< start line-end)
                  do (let ((value (key-at octets start line-end *end-key*)))
                       (cond (value (setf end (number-at octets value line-end)))
                             ((loop for key in *plain-keys* thereis (key-at octets start line-end key)))
                             (t (let ((colon (octet-position 58 octets start (field-end octets start line-end))))
                                  (when colon (setf scope-start (1+ colon) scope-end (field-end octets start line-end))))))))
            (when (<= (incf count) +most-tags+)
              (funcall function octets i name-end kind-start kind-end line end scope-start scope-end)))
          (setf i (1+ line-end)))))))
