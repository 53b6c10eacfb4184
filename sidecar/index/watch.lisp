;;;; Watching folders: on Linux the kernel says what changed since it was last asked (inotify(7)), so that an answer need
;;;; not look at every file again. Elsewhere, on file systems whose changes may be made by another machine, and where the
;;;; kernel allows no more watches, there is no watch and the tree is looked at.

(defpackage #:opl.index.watch
  (:use #:cl)
  (:import-from #:opl.source.files #:rule-file-p #:listed-native #:*rule-files*)
  (:import-from #:opl.source.names #:octets #:make-octets #:octets-string)
  (:export #:watch #:watch-loose-p #:start-watch #:extend-watch #:watch-events #:stop-watch))
(in-package #:opl.index.watch)

(defstruct watch
  "An inotify descriptor and the folder of each watch. COMPLETE is nil once events were lost, LOOSE true while a folder of the
last listing may be without a watch."
  (descriptor -1 :type fixnum) (root "" :type string)
  (folders (make-hash-table) :type hash-table)   ; watch number -> folder, relative
  (numbers (make-hash-table :test 'equal) :type hash-table)
  (buffer (make-octets 65536) :type octets)
  (complete t) (loose t))

(defun watch-loose-p (watch)
  "Whether WATCH must be extended though the listing is the same: folders moved away, or nothing was listed since it began."
  (watch-loose watch))

(defparameter *most-folders* 20000
  "Folders watched at most: the Linux kernel's tree has 5,000; a watch takes the system about 1 kB, and a user's are counted.")

#+linux
(progn
  ;; <sys/inotify.h>
  (defconstant +nonblocking+ #o4000)
  (defconstant +close-on-exec+ #o2000000)
  (defconstant +changes+ #x3CE "MODIFY ATTRIB CLOSE_WRITE MOVED_FROM MOVED_TO CREATE DELETE")
  (defconstant +watch-options+ #x3000000 "ONLYDIR DONT_FOLLOW")
  (defconstant +self+ #xC00 "DELETE_SELF MOVE_SELF")
  (defconstant +overflow+ #x4000)
  (defconstant +ignored+ #x8000)
  (defconstant +unmounted+ #x2000)
  (defconstant +folder+ #x40000000)

  (defparameter *local-file-systems*
    ;; statfs(2)
    '(#xEF53 #x58465342 #x9123683E #x01021994 #x794C7630 #x2FC12FC1 #xF2F52010 #xCA451A4E #x3153464A #x52654973 #x858458F6)
    "ext, XFS, btrfs, tmpfs, overlayfs, ZFS, F2FS, bcachefs, JFS, ReiserFS, ramfs: what changes on them changes through this kernel.")

  (defun file-system (folder)
    "The type of the file system FOLDER lies on, as statfs(2) gives it, or nil."
    (let ((report (make-octets 256)))
      (sb-sys:with-pinned-objects (report)
        (and (zerop (sb-alien:alien-funcall
                     (sb-alien:extern-alien "statfs" (function sb-alien:int (sb-alien:c-string :external-format :utf-8) sb-sys:system-area-pointer))
                     folder (sb-sys:vector-sap report)))
             (ldb (byte 32 0) (sb-sys:sap-ref-word (sb-sys:vector-sap report) 0))))))

  (defun add-folder (watch folder)
    "True when FOLDER is watched now, or is gone; nil when the system allows no more."
    (let ((number (sb-alien:alien-funcall
                   (sb-alien:extern-alien "inotify_add_watch"
                                          (function sb-alien:int sb-alien:int (sb-alien:c-string :external-format :utf-8) sb-alien:unsigned-int))
                   (watch-descriptor watch) (listed-native (watch-root watch) folder)
                   (logior +changes+ +self+ +watch-options+))))
      (cond ((>= number 0)
             ;; the kernel gives a folder that was renamed its number again
             (let ((old (gethash number (watch-folders watch))))
               (when (and old (string/= old folder)) (remhash old (watch-numbers watch))))
             (setf (gethash number (watch-folders watch)) folder
                   (gethash folder (watch-numbers watch)) number))
            ;; ENOENT, ENOTDIR, ELOOP: it went away meanwhile, and the folder above says so
            (t (member (sb-alien:get-errno) '(2 20 40))))))

  (defun drop-below (watch folder)
    "Ends the watches of FOLDER, which moved to where nobody knows, and of all below: another may take its name."
    (let ((start (concatenate 'string folder "/")))
      (loop for (name . number) in (loop for name being the hash-keys of (watch-numbers watch) using (hash-value number)
                                         collect (cons name number))
            do (when (or (string= name folder) (eql (mismatch start name) (length start)))
                 (sb-alien:alien-funcall (sb-alien:extern-alien "inotify_rm_watch" (function sb-alien:int sb-alien:int sb-alien:int))
                                         (watch-descriptor watch) number)
                 (remhash number (watch-folders watch))
                 (remhash name (watch-numbers watch))))
      (setf (watch-loose watch) t))))

(defun watched-folder (name)
  "The folder to watch for NAME, of a listing: itself, or where a file lies that decides what is listed."
  (if (rule-file-p name) (subseq name 0 (position #\/ name :from-end t)) name))

(defun extend-watch (watch folders)
  "Watches those of FOLDERS, of a listing, that are not yet. Values: whether all are, and how many are new."
  (declare (ignorable watch folders))
  #-linux (values nil 0)
  #+linux
  (let ((new 0))
    (setf (watch-loose watch) nil)
    (dolist (folder (mapcar #'watched-folder folders) (values t new))
      (unless (gethash folder (watch-numbers watch))
        (unless (and (< (hash-table-count (watch-numbers watch)) *most-folders*) (add-folder watch folder))
          (return (values nil new)))
        (when (gethash folder (watch-numbers watch)) (incf new))))))

(defun start-watch (root folders)
  "A watch over FOLDERS of ROOT, or nil where there can be none. What changed before it returns may go unseen: look once after."
  (declare (ignorable root folders))
  #-linux nil
  #+linux
  (when (member (file-system root) *local-file-systems*)
    (let ((descriptor (sb-alien:alien-funcall (sb-alien:extern-alien "inotify_init1" (function sb-alien:int sb-alien:int))
                                              (logior +nonblocking+ +close-on-exec+))))
      (when (>= descriptor 0)
        (let ((watch (make-watch :descriptor descriptor :root root)))
          (cond ((extend-watch watch folders) watch)
                (t (stop-watch watch) nil)))))))

(defun stop-watch (watch)
  "Ends WATCH."
  (when (>= (watch-descriptor watch) 0)
    (sb-unix:unix-close (watch-descriptor watch))
    (setf (watch-descriptor watch) -1)))

#+linux
(defun take-events (watch buffer size note)
  "Calls NOTE with path and whether it is a folder for each event in BUFFER[0, SIZE)."
  (declare (type octets buffer) (type function note))
  (flet ((word (at) (logior (aref buffer at) (ash (aref buffer (+ at 1)) 8) (ash (aref buffer (+ at 2)) 16) (ash (aref buffer (+ at 3)) 24))))
    (loop with at = 0
          while (< at size)
          do (let* ((number (word at)) (mask (word (+ at 4))) (length (word (+ at 12)))
                    (folder (gethash number (watch-folders watch)))
                    (end (or (position 0 buffer :start (+ at 16) :end (+ at 16 length)) (+ at 16 length))))
               (cond ((logtest +overflow+ mask) (setf (watch-complete watch) nil))
                     ((null folder))
                     ((logtest +ignored+ mask)
                      (remhash number (watch-folders watch))
                      (setf (watch-loose watch) t)
                      (when (eql number (gethash folder (watch-numbers watch))) (remhash folder (watch-numbers watch))))
                     ((logtest (logior +self+ +unmounted+) mask)
                      (if (string= folder "") (setf (watch-complete watch) nil) (drop-below watch folder))
                      (funcall note folder t))
                     (t (let* ((name (octets-string buffer :start (+ at 16) :end end))
                               (path (if (string= folder "") name (concatenate 'string folder "/" name))))
                          ;; git's folder has much else in it
                          (unless (and (rule-file-p path) (not (member name *rule-files* :test #'string=)))
                            (funcall note path (logtest +folder+ mask))))))
               (incf at (+ 16 length))))))

(defun watch-events (watch)
  "What changed since the last call: paths of files, each once, and whether a folder came, went or was renamed. :lost in place
of paths when the kernel could not keep all events, or the root itself went."
  (declare (ignorable watch))
  #-linux (values :lost t)
  #+linux
  (let ((buffer (watch-buffer watch)) (paths (make-hash-table :test 'equal)) (folders nil))
    (loop
      (let ((count (sb-sys:with-pinned-objects (buffer)
                     (sb-unix:unix-read (watch-descriptor watch) (sb-sys:vector-sap buffer) (length buffer)))))
        (when (or (null count) (zerop count)) (return))
        (take-events watch buffer count
                     (lambda (path folder-p) (if folder-p (setf folders t) (setf (gethash path paths) t))))))
    (if (watch-complete watch)
        (values (sort (loop for path being the hash-keys of paths collect path) #'string<) folders)
        (values :lost t))))
