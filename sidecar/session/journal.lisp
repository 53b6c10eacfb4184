;;;; The journal: one append-only file per session and process, so that several processes of one project
;;;; never write to one file.
;;;;
;;;; Durability: every line is handed to the kernel before APPEND-OBSERVATION returns, so it survives any
;;;; death of this process; it is forced to the disk (fsync) for notes and decisions and when a summary or
;;;; handover is made, so a power failure costs at most the observations since then.

(defpackage #:opl.session.journal
  (:use #:cl)
  (:import-from #:opl.wire.fields #:octets)
  (:import-from #:opl.session.observation
                #:observation #:make-observation #:observation-kind #:observation-subject #:observation-session
                #:observation-state #:observation-text #:line-octets #:read-observations #:now)
  (:export #:journal #:journal-path #:open-journal #:append-observation #:sync-journal #:close-journal
           #:journal-files #:journal-size-of #:read-journal #:prune-journals
           #:+journal-limit+))

(in-package #:opl.session.journal)

(declaim (optimize (speed 1) (safety 1)))

(defconstant +journal-limit+ (* 4 1024 1024)
  "Octets of one journal. Past it the file is written anew without its tool calls, oldest half first.")

(defconstant +folder-limit+ (* 32 1024 1024)
  "Octets of all journals of a project; past it the oldest of dead processes go, their notes excepted. Each start reads them: 1 s, 80 MB.")

(defconstant +age-limit-days+ 60
  "Days after which a journal goes, its notes excepted.")

(defparameter *lasting-kinds* '(:session :note :decision)
  "What is kept of a journal that goes for its age.")

(defstruct journal
  (path nil :type pathname)
  (descriptor -1 :type fixnum)
  (size 0 :type fixnum)
  (observation nil)
  (lock (sb-thread:make-mutex :name "journal")))

(defun file-part (text)
  "TEXT as part of a file name: letters, digits, - and _; other characters become -; at most 80."
  (let ((name (map 'string (lambda (c) (if (or (and (alphanumericp c) (< (char-code c) 128)) (find c "-_")) c #\-))
                   text)))
    (subseq name 0 (min 80 (length name)))))

(defun open-append (path)
  "A descriptor that appends to PATH, readable by its owner alone; children do not inherit it."
  (let ((descriptor (sb-posix:open (sb-ext:native-namestring path)
                                   (logior sb-posix:o-wronly sb-posix:o-creat sb-posix:o-append)
                                   #o600)))
    (sb-posix:fcntl descriptor sb-posix:f-setfd 1) ; FD_CLOEXEC, fcntl.h
    descriptor))

(defun write-all (descriptor octets)
  "Write all OCTETS; an error of the system is signalled."
  (declare (type octets octets))
  (let ((at 0))
    (loop while (< at (length octets))
          do (multiple-value-bind (count errno)
                 (sb-sys:with-pinned-objects (octets)
                   (sb-unix:unix-write descriptor octets at (- (length octets) at)))
               (cond (count (incf at count))
                     ((eql errno sb-unix:eintr))
                     (t (error "The journal cannot be written: ~A" (sb-int:strerror errno))))))))

(defun open-journal (folder observation)
  "A new journal in FOLDER for the session of OBSERVATION, which is of kind :SESSION and becomes its first line.
An error of the system is signalled."
  (let ((path (make-pathname :name (format nil "~A.~D.~D" (file-part (observation-subject observation))
                                           (sb-posix:getpid) (now))
                             :type "journal" :version nil :defaults folder)))
    (ensure-directories-exist path :mode #o700)
    (let ((journal (make-journal :path path :descriptor (open-append path) :observation observation)))
      (append-observation journal observation)
      journal)))

(defun append-observation (journal observation &key sync)
  "Append OBSERVATION; it is with the kernel when this returns, and on the disk too with SYNC."
  (let ((octets (line-octets observation)))
    (sb-thread:with-mutex ((journal-lock journal))
      (write-all (journal-descriptor journal) octets)
      (incf (journal-size journal) (length octets))
      (when sync
        (sb-posix:fsync (journal-descriptor journal)))
      (when (> (journal-size journal) +journal-limit+)
        (shrink journal)))
    nil))

(defun sync-journal (journal)
  "Force what was appended to the disk."
  (sb-thread:with-mutex ((journal-lock journal))
    (sb-posix:fsync (journal-descriptor journal)))
  nil)

(defun close-journal (journal)
  "Force the journal to the disk and close it."
  (sb-thread:with-mutex ((journal-lock journal))
    (unless (minusp (journal-descriptor journal))
      (ignore-errors (sb-posix:fsync (journal-descriptor journal)))
      (sb-posix:close (journal-descriptor journal))
      (setf (journal-descriptor journal) -1)))
  nil)

;;; Reading.

(defun file-octets (path start)
  "The octets of PATH from START on; none when the file is gone or shorter."
  (handler-case
      (with-open-file (stream path :element-type '(unsigned-byte 8))
        (let* ((size (max 0 (- (file-length stream) start)))
               (octets (make-array size :element-type '(unsigned-byte 8))))
          (file-position stream start)
          (let ((end (read-sequence octets stream)))
            (if (= end size) octets (subseq octets 0 end)))))
    (error () (make-array 0 :element-type '(unsigned-byte 8)))))

(defun journal-files (folder)
  "The journals in FOLDER, a list of pathnames in the order of their names; NIL when there are none."
  (sort (directory (make-pathname :name :wild :type "journal" :version nil :defaults folder) :resolve-symlinks nil)
        #'string< :key #'namestring))

(defun journal-size-of (path)
  "Octets of the journal PATH; NIL when it cannot be looked at."
  (ignore-errors (sb-posix:stat-size (sb-posix:stat (sb-ext:native-namestring path)))))

(defun read-journal (path function &optional (start 0))
  "Call FUNCTION with each whole observation of the journal PATH from octet START on. Returns the octet where
reading stopped, from which the next call may go on."
  (let ((octets (file-octets path start)))
    (+ start (read-observations octets 0 (length octets) function))))

;;; Bounds.

(defun write-anew (path observations)
  "Replace the file PATH by one of OBSERVATIONS, whole or not at all. Returns its size."
  (let* ((scratch (make-pathname :type "tmp" :defaults path))
         (descriptor (progn (ignore-errors (delete-file scratch)) (open-append scratch)))
         (size 0))
    (unwind-protect
         (progn
           (dolist (observation observations)
             (let ((octets (line-octets observation)))
               (write-all descriptor octets)
               (incf size (length octets))))
           (sb-posix:fsync descriptor))
      (sb-posix:close descriptor))
    (sb-posix:rename (sb-ext:native-namestring scratch) (sb-ext:native-namestring path))
    size))

(defun octets-of (observations)
  "About the octets that OBSERVATIONS take in a journal."
  (loop for observation in observations
        sum (+ 30 (length (observation-subject observation)) (length (observation-text observation)))))

(defun enough-p (fewer all)
  "True when FEWER of ALL observations leave room for a while: a journal that is full again at once is written anew at each line."
  (<= (octets-of fewer) (* 3/4 (octets-of all))))

(defun shrink (journal)
  "Write JOURNAL anew without the older half of its tool calls; without half of everything but lasting kinds, and at last of those too,
when that does not make room. The caller holds its lock."
  (let ((all '()))
    (read-journal (journal-path journal) (lambda (observation) (push observation all)))
    (setf all (nreverse all))
    (let* ((half (floor (length all) 2))
           (fewer (loop for observation in all
                        for index from 0
                        unless (and (< index half) (eq (observation-kind observation) :tool))
                          collect observation))
           (fewer (if (enough-p fewer all)
                      fewer
                      (loop for observation in all
                            for index from 0
                            when (or (>= index half) (member (observation-kind observation) *lasting-kinds*))
                              collect observation)))
           ;; Where nearly all is meant to last, the newer half is.
           (fewer (if (enough-p fewer all) fewer (cons (first all) (nthcdr (max 1 half) all)))))
      (sb-posix:close (journal-descriptor journal))
      (setf (journal-descriptor journal) -1)
      (unwind-protect
           (setf (journal-size journal) (write-anew (journal-path journal) fewer))
        (setf (journal-descriptor journal) (open-append (journal-path journal)))))))

(defun writer-alive-p (path)
  "True when the process that writes PATH (its number stands in the name) may still live."
  (let* ((name (pathname-name path))
         (end (position #\. name :from-end t))
         (start (and end (position #\. name :from-end t :end end)))
         (pid (and start (parse-integer name :start (1+ start) :end end :junk-allowed t))))
    (and pid
         (handler-case (progn (sb-posix:kill pid 0) t)
           (sb-posix:syscall-error (condition)
             (/= (sb-posix:syscall-errno condition) sb-posix:esrch))))))

(defun reduce-to-lasting (path)
  "Keep of the journal PATH what lasts; delete it when that is nothing but its head."
  (let ((lasting '()))
    (read-journal path (lambda (observation)
                         (when (member (observation-kind observation) *lasting-kinds*)
                           (push observation lasting))))
    (if (find :session lasting :key #'observation-kind :test-not #'eq)
        (write-anew path (nreverse lasting))
        (delete-file path))))

(defun file-size-and-age (path)
  (let ((stat (sb-posix:stat (sb-ext:native-namestring path))))
    (values (sb-posix:stat-size stat)
            (- (floor (now) 1000) (sb-posix:stat-mtime stat)))))

(defun prune-journals (folder)
  "Keep the journals of FOLDER within age and size. Files of living processes are left alone, and whatever
fails with one file leaves the others to be pruned. Returns how many were reduced or deleted."
  (let ((total 0) (pruned 0))
    (loop for (age size path)
            in (sort (loop for path in (journal-files folder)
                           for (size age) = (ignore-errors (multiple-value-list (file-size-and-age path)))
                           when size collect (list age size path))
                     #'< :key #'first)
          do (incf total size)
             (when (and (or (> age (* 86400 +age-limit-days+)) (> total +folder-limit+))
                        (not (writer-alive-p path)))
               (ignore-errors
                (reduce-to-lasting path)
                (decf total size)
                (incf pruned))))
    pruned))
