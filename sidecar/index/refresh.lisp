;;;; Building and refreshing: from a listing and the index before it, the index of the tree as it is now. Whether a
;;;; file changed is a function of what it is (size, time, inode, content where time cannot tell), never of a hook.

(defpackage #:opl.index.refresh
  (:use #:cl #:opl.source.octets #:opl.source.files #:opl.index.store #:opl.index.reading)
  (:import-from #:opl.source.names #:make-names-arena #:+none+)
  (:import-from #:opl.source.text #:load-text)
  (:import-from #:opl.index.expansion #:expand)
  (:export #:build-index #:refresh-index #:look #:look-at #:change #:change-changed #:change-removed))
(in-package #:opl.index.refresh)

(defun entry-of (root path)
  "(path size mtime inode) of the regular file PATH, or nil."
  (multiple-value-bind (kind size mtime inode) (file-state (native-join root path))
    (and (eq kind :regular) (list path size mtime inode))))

(defun same-p (stamp entry root)
  "Whether the file of ENTRY is still what STAMP says. Where times cannot tell, its content is hashed."
  (destructuring-bind (path size mtime inode) entry
    (and (= size (stamp-size stamp)) (= mtime (stamp-mtime stamp)) (= inode (stamp-inode stamp))
         (or (< mtime (- (stamp-seen stamp) opl.index.reading:+racy-seconds+))
             (same-content-p stamp root path size)))))

(sb-ext:defglobal **buffer** (make-octet-buffer))
(sb-ext:defglobal **buffer-lock** (sb-thread:make-mutex :name "comparison buffer"))

(defun same-content-p (stamp root path size)
  (sb-thread:with-mutex (**buffer-lock**)
    (let ((now (current-seconds)))
      (multiple-value-bind (language) (load-text **buffer** root path size)
        (and language
             (plusp (stamp-hash stamp))
             (= (stamp-hash stamp) (content-hash (octet-buffer-octets **buffer**) (octet-buffer-size **buffer**)))
             (progn (setf (stamp-seen stamp) now) t))))))

;;; Looking

(defstruct change
  "What differs between an index and the tree: entries to be read, paths that are gone, whether files may have appeared."
  (changed '() :type list) (removed '() :type list) (relist nil))

(defun folder-time (root folder)
  "When FOLDER of a listing, or the file that decides what is listed, changed; -1 when it is not there."
  (multiple-value-bind (kind size mtime) (file-state (listed-native root folder))
    (declare (ignore size))
    (if (eq kind (if (rule-file-p folder) :regular :folder)) mtime -1)))

(defun folder-times (root folders)
  "(folder . time) of each of FOLDERS; a time so recent that another change might not alter it is noted as -2, which no folder
has: the next look lists the files again."
  (let ((now (current-seconds)))
    (loop for folder in folders
          collect (let ((mtime (folder-time root folder)))
                    (cons folder (cond ((minusp mtime) -1)
                                       ((>= mtime (- now opl.index.reading:+racy-seconds+)) -2)
                                       (t mtime)))))))

(defun ignore-rules-path-p (path)
  (let ((name (subseq path (1+ (or (position #\/ path :from-end t) -1)))))
    (or (string= name ".gitignore") (string= name ".gitmodules"))))

(defun folders-changed-p (index)
  "Whether a folder's time differs from when files were listed, or is so recent that it could not differ."
  (let ((root (index-root index)))
    (loop for (folder . time) in (index-folders index)
          thereis (/= time (folder-time root folder)))))

(defun look (index)
  "How the tree differs from INDEX, by stat alone: a change, or nil when nothing does."
  (let ((root (index-root index)) (changed '()) (removed '()) (relist (folders-changed-p index)))
    (flet ((compare (path stamp)
             (let ((entry (entry-of root path)))
               (cond ((null entry) (push path removed))
                     ((not (same-p stamp entry root))
                      (when (ignore-rules-path-p path) (setf relist t))
                      (push entry changed))))))
      (do-files (file) (index) (compare (index-path index file) (svref (index-stamps index) file)))
      (loop for path being the hash-keys of (index-stale-stamps index) using (hash-value stamp)
            do (when stamp (compare path stamp))))
    (and (or changed removed relist)
         (make-change :changed changed :removed removed :relist relist))))

(defconstant +asked-of-git+ 64 "New paths that git is asked about one by one; more are worth a listing.")

(defun new-entries (index paths excludes)
  "Entries of those of PATHS, files the index does not know, that belong into it; :unknown when only a listing can tell."
  (let ((paths (remove-if (lambda (path) (excluded-p path excludes)) paths)) (root (index-root index)))
    (cond ((null paths) '())
          ((or (not (eq :git (index-source index))) (index-reason index) (> (length paths) +asked-of-git+)) :unknown)
          (t (let ((listed (listed-names root paths)))
               (if (eq listed :unknown) :unknown (entries-of root listed)))))))

(defun look-at (index paths excludes)
  "`look', at PATHS alone. Git's rules decide about a path that the index does not know; where they cannot be asked for it alone,
a new listing is."
  (let ((root (index-root index)) (changed '()) (removed '()) (unknown '()) (relist nil))
    (when (some #'rule-file-p paths) (setf relist t paths (remove-if #'rule-file-p paths)))
    (dolist (path paths)
      (let* ((file (index-file-number index path))
             (stamp (if file (svref (index-stamps index) file) (gethash path (index-stale-stamps index))))
             (entry (entry-of root path)))
        (cond ((and entry (null stamp))
               (push path unknown)
               (when (ignore-rules-path-p path) (setf relist t)))
              ((and entry (not (same-p stamp entry root)))
               (when (ignore-rules-path-p path) (setf relist t))
               (push entry changed))
              ((and stamp (null entry))
               (when (ignore-rules-path-p path) (setf relist t))
               (push path removed)))))
    (when (and unknown (not relist))
      (let ((new (new-entries index unknown excludes)))
        (if (eq new :unknown) (setf relist t) (setf changed (nconc new changed)))))
    (and (or changed removed relist)
         (make-change :changed changed :removed removed :relist relist))))

;;; Making the next index

(defun grow (vector size) (if (< (length vector) size) (replace (make-array size :initial-element nil) vector) (copy-seq vector)))

(defun successor (index extra)
  "A copy of INDEX, with room for EXTRA files that have no number yet and no more, whose vectors may be written: what is kept by file
number grows by the count of files, and must not take a number without a path for a file's."
  (let ((size (+ (hash-table-count (index-numbers index)) extra)) (next (copy-index index)))
    (setf (index-paths next) (grow (index-paths index) size)
          (index-runs next) (grow (index-runs index) size)
          (index-languages next) (grow (index-languages index) size)
          (index-stamps next) (grow (index-stamps index) size)
          (index-extensions next) (make-hash-table :test 'eq :synchronized t)
          (index-lock next) (sb-thread:make-mutex :name "index")
          (index-generation next) (1+ (index-generation index)))
    next))

(defun drop-file (index file)
  (setf (svref (index-runs index) file) nil (svref (index-stamps index) file) nil))

(defun put-outcome (index outcome next-number)
  "Enters OUTCOME into INDEX. Values: the file number it changed or nil, and the next free number."
  (let* ((path (outcome-path outcome)) (numbers (index-numbers index))
         (file (gethash path numbers)) (stale (index-stale-stamps index)))
    (when (nth-value 1 (gethash path stale))
      (remhash path stale)
      (setf (index-skipped index) (delete path (index-skipped index) :key #'car :test #'string=)))
    (cond ((outcome-run outcome)
           (unless file
             (setf file next-number (gethash path numbers) file)
             (incf next-number))
           (setf (svref (index-paths index) file) path
                 (svref (index-runs index) file) (outcome-run outcome)
                 (svref (index-languages index) file) (outcome-language outcome)
                 (svref (index-stamps index) file) (outcome-stamp outcome))
           (values file next-number))
          (t
           (setf (gethash path stale) (outcome-stamp outcome))
           (when (outcome-reason outcome) (push (cons path (outcome-reason outcome)) (index-skipped index)))
           (when file (drop-file index file))
           (values file next-number)))))

(defun update (index outcomes removed)
  "The index after INDEX with OUTCOMES entered and the paths REMOVED gone."
  (let* ((numbers (index-numbers index))
         (next (successor index (count-if (lambda (outcome) (and (outcome-run outcome) (not (gethash (outcome-path outcome) numbers)))) outcomes)))
         (number (hash-table-count (index-numbers index))) (changed '()))
    ;; tables shared with the generation before must not change under its readers
    (setf (index-stale-stamps next) (copy-table (index-stale-stamps index))
          (index-skipped next) (copy-list (index-skipped index)))
    (dolist (outcome (sort outcomes #'string< :key #'outcome-path))
      (multiple-value-bind (file next-number) (put-outcome next outcome number)
        (setf number next-number)
        (when file (push file changed))))
    (dolist (path removed)
      (let ((file (gethash path (index-numbers next))))
        (when (remhash path (index-stale-stamps next))
          (setf (index-skipped next) (delete path (index-skipped next) :key #'car :test #'string=)))
        (when (and file (< file (length (index-runs next))) (svref (index-runs next) file))
          (drop-file next file)
          (push file changed))))
    (setf (index-skipped next) (skipped-by-path (index-skipped next)))
    (publish next changed (lambda (next changed) (expand next changed index)))))

(defun copy-table (table)
  (let ((copy (make-hash-table :test (hash-table-test table) :size (max 16 (hash-table-count table)))))
    (maphash (lambda (key value) (setf (gethash key copy) value)) table)
    copy))

(defun skipped-by-path (skipped) (sort skipped #'string< :key #'car))

(defun finish-listing (index listing ctags-reason)
  "INDEX, made to say what LISTING says of the tree besides its files."
  (setf (index-skipped index)
        (skipped-by-path (append (remove *name-unreadable* (index-skipped index) :key #'cdr :test #'string=) (listing-skipped listing)))
        (index-folders index) (folder-times (index-root index) (listing-folders listing))
        (index-source index) (listing-source listing)
        (index-reason index) (format nil "~@[~A~]~:[~; ~]~@[~A~]" (listing-reason listing)
                                     (and (listing-reason listing) ctags-reason) ctags-reason)
        (index-complete-p index) (not (or (listing-reason listing) ctags-reason)))
  (when (index-complete-p index) (setf (index-reason index) nil))
  index)

(defun entries-of (root paths) (loop for path in paths for entry = (entry-of root path) when entry collect entry))

(defun read-into (index ctags entries removed report)
  (multiple-value-bind (outcomes failed)
      (read-files (index-root index) (index-names index) ctags entries :report report)
    (let ((next (update index outcomes removed)))
      (dolist (path failed)
        (pushnew (cons path "ctags did not finish with it; what the scanner found is there") (index-skipped next)
                 :key #'car :test #'string=))
      (setf (index-skipped next) (skipped-by-path (index-skipped next)))
      next)))

(defun build-index (root ctags excludes &key report ctags-reason)
  "The index of ROOT from scratch. CTAGS: the program or nil, then CTAGS-REASON says why; EXCLUDES: patterns."
  (let* ((start (get-internal-real-time)) (root (real-path root))
         (listing (progn (when report (funcall report "listing" 0 0)) (list-files root excludes)))
         ;; folder times are taken before the files are read: what appears meanwhile is seen by the next look
         (empty (finish-listing (publish (make-index :root root :names (make-names-arena)) :all) listing ctags-reason))
         (folders (index-folders empty)))
    (let ((index (read-into empty ctags (entries-of root (listing-paths listing)) '() report)))
      (setf (index-folders index) folders
            (index-from index) :scratch
            (index-generation index) 1
            (index-seconds index) (/ (- (get-internal-real-time) start) internal-time-units-per-second))
      index)))

(defun refresh-index (index ctags excludes &key change ctags-reason report)
  "The index of the tree as it is now, given INDEX of an earlier moment; INDEX itself when nothing differs. CHANGE: what
`look' said, when it was asked already."
  (let ((change (or change (look index))))
    (if (null change)
        index
        (let* ((root (index-root index)) (entries (change-changed change)) (removed (change-removed change)) (listing nil) (times nil))
          (when (change-relist change)
            (setf listing (list-files root excludes)
                  times (folder-times root (listing-folders listing)))
            (multiple-value-setq (entries removed) (compare-listing index listing entries removed)))
          (let ((next (if (or entries removed) (read-into index ctags entries removed report) index)))
            ;; what was listed when is no part of any answer, so an index whose files are the same is kept
            (when listing
              (finish-listing next listing ctags-reason)
              (setf (index-folders next) times))
            next)))))

(defun compare-listing (index listing entries removed)
  "Entries to be read and paths that are gone, with LISTING's word on what there is."
  (let ((listed (make-hash-table :test 'equal)) (root (index-root index)) (known (index-stale-stamps index))
        (gone (make-hash-table :test 'equal)) (pending (make-hash-table :test 'equal)))
    (dolist (path (listing-paths listing)) (setf (gethash path listed) t))
    (dolist (path removed) (setf (gethash path gone) t))
    (flet ((check (path) (unless (gethash path listed) (setf (gethash path gone) t))))
      (do-files (file) (index) (check (index-path index file)))
      (loop for path being the hash-keys of known do (check path)))
    (setf entries (remove-if-not (lambda (entry) (gethash (first entry) listed)) entries))
    (dolist (entry entries) (setf (gethash (first entry) pending) t))
    (dolist (path (listing-paths listing))
      (unless (or (gethash path pending) (index-file-number index path) (nth-value 1 (gethash path known)))
        (let ((entry (entry-of root path))) (when entry (push entry entries)))))
    (values entries (loop for path being the hash-keys of gone collect path))))
