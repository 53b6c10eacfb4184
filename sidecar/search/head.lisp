;;;; Where HEAD stands, read from git's files: starting git for it costs a process of this size 20 to 50 ms, a tenth of what a
;;;; start may take. Whatever is not plainly there (a worktree's .git file, refs kept as a table) is left to git.

(defpackage #:opl.search.head
  (:use #:cl)
  (:import-from #:opl.source.names #:octets #:octets-string #:string-octets #:octet-position)
  (:import-from #:opl.source.octets #:native-join #:file-state #:make-octet-buffer #:octet-buffer-octets #:octet-buffer-size #:read-octets-into)
  (:export #:plain-git-folder #:plain-head))
(in-package #:opl.search.head)

(defconstant +reference-octets+ 4096 "HEAD and a branch's file hold one line; what is longer is none of git's.")
(defconstant +packed-octets+ 16000000 "packed-refs has some 70 octets a reference; with more than these git is asked.")

(defun file-octets (name limit)
  "The octets of the file NAME; nil when it cannot be read or has more than LIMIT."
  (let ((buffer (read-octets-into (make-octet-buffer) name limit)))
    (when (and buffer (<= (octet-buffer-size buffer) limit))
      (subseq (octet-buffer-octets buffer) 0 (octet-buffer-size buffer)))))

(defun first-line (name)
  (let ((octets (file-octets name +reference-octets+)))
    (and octets (string-right-trim '(#\Return #\Space) (octets-string octets :end (or (position 10 octets) (length octets)))))))

(defun commit-name-p (text)
  "Whether TEXT is the name of a commit, of SHA-1 or SHA-256."
  (and text (member (length text) '(40 64)) (every (lambda (c) (digit-char-p c 16)) text)))

(defun packed-commit (folder reference)
  "The commit of REFERENCE in packed-refs, whose lines are a commit, a space and a name."
  (let ((octets (file-octets (native-join folder "packed-refs") +packed-octets+)) (wanted (string-octets (format nil " ~A" reference))))
    (loop with start = 0
          for end = (and octets (octet-position 10 octets start (length octets)))
          while end
          do (let ((name (- end (length wanted))))
               (when (and (> name start) (not (mismatch wanted octets :start2 name :end2 end)))
                 (return (octets-string octets :start start :end name))))
             (setf start (1+ end)))))

(defun plain-git-folder (root)
  "The folder .git of ROOT when it is a folder with a HEAD; else nil, and git has to be asked."
  (let ((folder (native-join root ".git")))
    (and (eq :folder (file-state folder)) (eq :regular (file-state (native-join folder "HEAD"))) folder)))

(defun plain-head (folder)
  "The commit that HEAD of the git folder FOLDER stands on; nil when the files do not tell (no commit yet, another store of references)."
  (let* ((line (first-line (native-join folder "HEAD")))
         (reference (and line (eql 0 (search "ref: " line)) (string-left-trim " " (subseq line 5))))
         (commit (cond ((null reference) line)
                       ((first-line (native-join folder reference)))
                       (t (packed-commit folder reference)))))
    (and (commit-name-p commit) commit)))
