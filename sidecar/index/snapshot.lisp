;;;; Snapshots: the index's columns written in order to one file of the user's cache. A warm start is a few reads,
;;;; then a look at the tree. Written under a temporary name, synced, renamed; what is torn, foreign or of another
;;;; version is not trusted and built anew.
;;;;
;;;; Layout, all numbers little-endian: an octet text header, one (key . value) form a line, ended by an empty line
;;;; and padded to 8 octets; then the blocks in the order the header lists them, each padded to 8 octets; then the
;;;; header's length and checksum again, so that a file cut anywhere does not read as whole.

(defpackage #:opl.index.snapshot
  (:use #:cl #:opl.index.store)
  (:import-from #:opl.source.names #:octets #:u32-vector #:make-u32 #:make-octets #:names-columns #:names-from-columns #:+none+
                #:string-octets #:octets-string #:well-known-count)
  (:import-from #:opl.source.octets #:directory-entries #:file-state #:native-join #:current-seconds)
  (:import-from #:opl.source.columns #:make-run #:run-words #:run-start #:run-size #:section-numbers)
  (:import-from #:opl.source.language #:find-language #:language-name)
  (:export #:write-snapshot #:read-snapshot #:*parts* #:snapshot-name #:snapshot-identity #:write-blocks #:read-blocks #:*written*
           #:snapshot-of #:cache-name))
(in-package #:opl.index.snapshot)

(defvar *parts* '()
  "What other rooms keep with the index: list of (name writer reader). WRITER: function of the index => list of octet and u32
vectors, or nil for nothing. READER: function of the index and that list. In order of name.")

(defconstant +layout+ 5 "Raised when the layout below changes.")

(defun layout-key (version)
  "What must be equal for a snapshot to be read by this program."
  (format nil "~D ~A ~A ~D ~A ~36R" +layout+ version (lisp-implementation-version) (well-known-count)
          (sxhash (format nil "~S" (section-numbers))) opl.load:*reading-key*))

(defun cache-name (cache file)
  "The native name of FILE in the folder CACHE."
  (concatenate 'string (string-right-trim "/" cache) "/" file))

(defparameter *snapshot-file* "index.snapshot")
(defun snapshot-name (cache)
  "The native name of the snapshot in the folder CACHE."
  (cache-name cache *snapshot-file*))

;;; Blocks: vectors of (unsigned-byte 8), 16, 32 or 64, written as they lie in memory

(defun vector-octets (vector)
  (etypecase vector
    (octets (length vector))
    (u32-vector (* 4 (length vector)))
    ((simple-array (unsigned-byte 16) (*)) (* 2 (length vector)))
    ((simple-array (unsigned-byte 64) (*)) (* 8 (length vector)))))

(defun padded (octets) (* 8 (ceiling octets 8)))

(defun sum-words (vector)
  "A 62-bit sum over VECTOR's octets, sensitive to order: eight octets a step (FNV-1a's multiplication), the rest one by one."
  (declare (optimize (speed 3) (safety 0)))
  (let ((sum 14695981039346656037) (words (ash (the (unsigned-byte 60) (vector-octets vector)) -3)))
    (declare (type (unsigned-byte 64) sum) (type (unsigned-byte 60) words))
    (flet ((take (word)
             (declare (type (unsigned-byte 64) word))
             (setf sum (ldb (byte 64 0) (* (logxor sum word (ash sum -29)) 1099511628211)))))
      (declare (inline take))
      (macrolet ((over (type each)
                   `(let ((v vector))
                      (declare (type ,type v))
                      (dotimes (i words) (take (sb-kernel:%vector-raw-bits v i)))
                      (loop for i of-type (unsigned-byte 60) from (* ,each words) below (length v) do (take (aref v i))))))
        (etypecase vector
          (octets (over octets 8))
          (u32-vector (over u32-vector 2))
          ((simple-array (unsigned-byte 16) (*)) (over (simple-array (unsigned-byte 16) (*)) 4))
          ((simple-array (unsigned-byte 64) (*)) (over (simple-array (unsigned-byte 64) (*)) 1)))))
    (ldb (byte 62 0) sum)))

(defun write-all (fd sap count)
  (loop with at = 0
        while (< at count)
        do (let ((written (sb-unix:unix-write fd sap at (min (- count at) (ash 1 30)))))
             (when (or (null written) (zerop written)) (error "The disk is full or the cache folder cannot be written."))
             (incf at written))))

(defun write-vector (fd vector)
  (let* ((size (vector-octets vector)) (pad (- (padded size) size)))
    (sb-sys:with-pinned-objects (vector) (write-all fd (sb-sys:vector-sap vector) size))
    (when (plusp pad)
      (let ((zeros (make-octets 8))) (sb-sys:with-pinned-objects (zeros) (write-all fd (sb-sys:vector-sap zeros) pad))))))

(defun runs-block (index)
  "The runs of the live files one after another, in order of path, and the offset of each."
  (let* ((order (index-order index))
         (total (loop for file across order sum (run-size (index-run index file))))
         (block (make-u32 total)) (offsets (make-array (length order) :element-type '(unsigned-byte 64))) (at 0))
    (loop for file across order for i from 0
          for run = (index-run index file)
          for size = (run-size run)
          do (setf (aref offsets i) at)
             (replace block (run-words run) :start1 at :start2 (run-start run) :end2 (+ (run-start run) size))
             (incf at size))
    (values block offsets)))

(defun texts-block (texts)
  "TEXTS as octets, each ended by NUL (which no file name holds)."
  (let ((buffer (make-array 4096 :element-type '(unsigned-byte 8) :adjustable t :fill-pointer 0)))
    (dolist (text texts) (loop for octet across (string-octets (remove (code-char 0) text)) do (vector-push-extend octet buffer))
      (vector-push-extend 0 buffer))
    (coerce buffer 'octets)))

(defun stamps-block (stamps)
  (let ((block (make-array (* 5 (length stamps)) :element-type '(unsigned-byte 64))))
    (loop for stamp in stamps for i from 0 by 5
          do (setf (aref block i) (stamp-size stamp) (aref block (+ i 1)) (ldb (byte 64 0) (stamp-mtime stamp))
                   (aref block (+ i 2)) (stamp-inode stamp) (aref block (+ i 3)) (stamp-seen stamp)
                   (aref block (+ i 4)) (stamp-hash stamp)))
    block))

(defun signed (word) (if (logbitp 63 word) (- word (ash 1 64)) word))

(defun block-stamp (block i)
  (let ((at (* 5 i)))
    (make-stamp (aref block at) (signed (aref block (+ at 1))) (aref block (+ at 2)) (aref block (+ at 3)) (aref block (+ at 4)))))

(defun header-form (index version excludes ctags)
  (list :layout (layout-key version) :root (index-root index) :excludes excludes :ctags ctags :source (index-source index)
        :complete (and (index-complete-p index) t) :reason (index-reason index)))

(defun collect-blocks (index)
  "Vectors to be written, in order, and the forms that tell how to read them."
  (let* ((order (index-order index)) (paths (loop for file across order collect (index-path index file)))
         (languages (loop for file across order collect (language-name (index-language index file))))
         (stale (sort (loop for path being the hash-keys of (index-stale-stamps index) using (hash-value stamp)
                            when stamp collect (cons path stamp))
                      #'string< :key #'car)))
    (multiple-value-bind (name-octets name-starts) (names-columns (index-names index))
      (multiple-value-bind (runs offsets) (runs-block index)
        (values
         (append (list name-octets name-starts runs offsets (texts-block paths) (texts-block languages)
                       (stamps-block (loop for file across order collect (svref (index-stamps index) file)))
                       (texts-block (mapcar #'car stale)) (stamps-block (mapcar #'cdr stale))
                       (texts-block (mapcan (lambda (pair) (list (car pair) (cdr pair))) (copy-list (index-skipped index))))
                       (texts-block (mapcar #'car (index-folders index)))
                       (coerce (loop for (nil . time) in (index-folders index) collect (ldb (byte 64 0) time))
                               '(simple-array (unsigned-byte 64) (*))))
                 (loop for (nil writer nil) in *parts* append (copy-list (funcall writer index))))
         (loop for (name writer nil) in *parts* collect (cons name (length (funcall writer index)))))))))

(defun element-size (vector) (etypecase vector (octets 8) ((simple-array (unsigned-byte 16) (*)) 16) (u32-vector 32) (t 64)))

(defun snapshot-identity (index)
  "A number that tells the snapshot which INDEX was read from or written to from others; nil when there is none."
  (memo (index :snapshot-identity) nil))
(defun (setf snapshot-identity) (identity index)
  (sb-thread:with-recursive-lock ((index-lock index))
    (setf (gethash :snapshot-identity (index-extensions index)) identity)))

(defvar *snapshots* (make-hash-table :test 'eq :weakness :key :synchronized t)
  "By the index's table of file numbers, which all its generations share: the identity and the runs of the snapshot last read or written.")

(defun note-snapshot (index identity)
  "Keeps what `snapshot-of' tells, if the files of INDEX bear the numbers that they have in the snapshot."
  (let ((order (index-order index)))
    (when (and (= (length order) (index-file-count index)) (loop for file across order for i from 0 always (= file i)))
      (setf (gethash (index-numbers index) *snapshots*) (cons identity (copy-seq (index-runs index)))))))

(defun snapshot-of (index)
  "Values: the identity of the snapshot that INDEX comes from, and the runs it holds by file number; nil when there is none."
  (let ((known (gethash (index-numbers index) *snapshots*)))
    (values (car known) (cdr known))))

(defconstant +left-behind-seconds+ 600 "A temporary file that nobody wrote to for so long is of a process that was killed.")

(defun remove-left-behind (cache)
  "Deletes what processes killed while writing a snapshot left in CACHE: each is as large as a snapshot."
  (dolist (name (directory-entries cache))
    (when (eql 0 (search "index.snapshot." name))
      (let ((native (native-join cache name)))
        (multiple-value-bind (kind size mtime) (file-state native)
          (declare (ignore size))
          (when (and (eq kind :regular) (< mtime (- (current-seconds) +left-behind-seconds+)))
            (sb-unix:unix-unlink native)))))))

(defun write-blocks (cache file form blocks &key (durable t))
  "Writes FORM, a property list, and BLOCKS into FILE of the folder CACHE, whole or not at all. The checksum of its header, by which this
file is told from others; nil when it cannot be written (a full disk, a read-only folder). DURABLE: it has reached the disk."
  (let* ((name (cache-name cache file)) (temporary (format nil "~A.~D.~36R" (snapshot-name cache) (sb-posix:getpid) (random (ash 1 40) (make-random-state t)))))
    (handler-case
        (progn
          (ensure-directories-exist (sb-ext:parse-native-namestring name))
          (let* ((form (append form (list :blocks (mapcar (lambda (block) (list (element-size block) (length block) (sum-words block))) blocks))))
                 (text (string-octets (with-standard-io-syntax (let ((*package* (find-package '#:opl.index.snapshot))) (prin1-to-string form)))))
                 (header (concatenate 'octets text (make-list (- (padded (length text)) (length text)) :initial-element 32)))
                 (lead (make-array 2 :element-type '(unsigned-byte 64) :initial-contents (list (length header) (sum-words header))))
                 (fd (sb-unix:unix-open temporary (logior sb-unix:o_wronly sb-unix:o_creat sb-unix:o_trunc) #o600)))
            (unless fd (error "The cache folder cannot be written."))
            (unwind-protect
                 (progn (write-vector fd lead) (write-vector fd header)
                        (dolist (block blocks) (write-vector fd block))
                        (write-vector fd lead)
                        #-win32 (when durable (sb-posix:fsync fd)))
              (sb-unix:unix-close fd))
            (unless (sb-unix:unix-rename temporary name) (error "The name is taken."))
            (sum-words header)))
      (error () (ignore-errors (sb-unix:unix-unlink temporary)) nil))))

(defvar *written* '() "Functions of an index and the cache folder, called when a snapshot of it was written there.")

(defun write-snapshot (index cache version excludes ctags)
  "Writes INDEX into the folder CACHE; t, or nil when it cannot be written: then nothing is left behind. VERSION, EXCLUDES and CTAGS
must be the same for it to be read again."
  ;; what cannot be put into blocks is not kept, and costs neither the answer that waits nor the thread that saves
  (multiple-value-bind (blocks parts) (handler-case (collect-blocks index) (error () (return-from write-snapshot nil)))
    (let ((identity (write-blocks cache *snapshot-file* (append (header-form index version excludes ctags) (list :parts parts)) blocks)))
      (when identity
        (remove-left-behind cache)
        (setf (snapshot-identity index) identity)
        (note-snapshot index identity)
        (dolist (function *written*) (funcall function index cache))
        t))))

;;; Reading

(defun read-vector (fd size element)
  (let* ((vector (ecase element
                   ;; not filled first: all of it is read
                   (8 (make-array size :element-type '(unsigned-byte 8))) (16 (make-array size :element-type '(unsigned-byte 16))) (32 (make-array size :element-type '(unsigned-byte 32)))
                   (64 (make-array size :element-type '(unsigned-byte 64)))))
         (octets (vector-octets vector)) (pad (- (padded octets) octets)))
    (flet ((fill-from (target count)
             (sb-sys:with-pinned-objects (target)
               (loop with at = 0
                     while (< at count)
                     do (let ((got (sb-unix:unix-read fd (sb-sys:sap+ (sb-sys:vector-sap target) at) (min (- count at) (ash 1 30)))))
                          (when (or (null got) (zerop got)) (error "torn"))
                          (incf at got))))))
      (fill-from vector octets)
      (when (plusp pad) (fill-from (make-octets 8) pad)))
    vector))

(defun block-texts (block)
  (loop with start = 0
        for end = (position 0 block :start start)
        while end
        collect (octets-string block :start start :end end)
        do (setf start (1+ end))))

(defun checked-blocks (fd forms)
  (loop for (element length sum) in forms
        collect (let ((block (read-vector fd length element)))
                  (unless (= sum (sum-words block)) (error "damaged"))
                  block)))

(defun read-header (fd)
  (let* ((lead (read-vector fd 2 64)) (size (aref lead 0)))
    (when (> size (ash 1 26)) (error "foreign"))
    (let ((header (read-vector fd size 8)))
      (unless (= (aref lead 1) (sum-words header)) (error "foreign"))
      (values (with-standard-io-syntax
                (let ((*read-eval* nil) (*package* (find-package '#:opl.index.snapshot)))
                  (read-from-string (octets-string header))))
              lead))))

(defun index-of-blocks (form blocks)
  (destructuring-bind (name-octets name-starts runs offsets paths languages stamps stale-paths stale-stamps skipped folders folder-times
                       &rest rest) blocks
    (let* ((names (or (names-from-columns name-octets name-starts) (error "other names")))
           (paths (coerce (block-texts paths) 'simple-vector)) (count (length paths))
           (numbers (make-hash-table :test 'equal :size (max 16 count))) (stale (make-hash-table :test 'equal))
           (by-name (make-hash-table :test 'equal)))
      (flet ((language (name)
               (or (gethash name by-name) (setf (gethash name by-name) (or (find-language name) (error "other languages"))))))
        (dotimes (file count) (setf (gethash (svref paths file) numbers) file))
        (loop for path in (block-texts stale-paths) for i from 0
              do (setf (gethash path stale) (block-stamp stale-stamps i)))
        (let ((index (make-index
                      :root (getf form :root) :names names :paths paths
                      :runs (map 'simple-vector (lambda (offset) (make-run runs offset)) offsets)
                      :languages (map 'simple-vector #'language (block-texts languages))
                      :stamps (let ((vector (make-array count))) (dotimes (i count vector) (setf (svref vector i) (block-stamp stamps i))))
                      :numbers numbers :stale-stamps stale :source (getf form :source)
                      :skipped (loop for (path reason) on (block-texts skipped) by #'cddr collect (cons path reason))
                      :folders (loop for folder in (block-texts folders) for i from 0 collect (cons folder (signed (aref folder-times i))))
                      :complete-p (getf form :complete) :reason (getf form :reason) :from :snapshot :generation 1)))
          (publish index :all)
          (loop for (name . count) in (getf form :parts)
                for part = (assoc name *parts* :test #'string=)
                for vectors = (loop repeat count collect (pop rest))
                do (when part (funcall (third part) index vectors)))
          index)))))

(defun read-blocks (cache file expected-p)
  "Values: the form of FILE of the folder CACHE, its blocks, and its checksum; nil when it is not there, not whole, or EXPECTED-P, a
function of the form that is called first, does not want it."
  (let ((fd (sb-unix:unix-open (cache-name cache file) sb-unix:o_rdonly 0)))
    (when fd
      (unwind-protect
           (handler-case
               (multiple-value-bind (form lead) (read-header fd)
                 (when (funcall expected-p form)
                   (let ((blocks (checked-blocks fd (getf form :blocks))))
                     (unless (equalp lead (read-vector fd 2 64)) (error "torn"))
                     (values form blocks (aref lead 1)))))
             (error () nil))
        (sb-unix:unix-close fd)))))

(defun read-snapshot (root cache version excludes ctags)
  "The index of ROOT that was written into CACHE by a program of the same VERSION for the same EXCLUDES, or nil. CTAGS is a function
of what was written as its CTAGS; it is called last and says whether that is still so."
  (multiple-value-bind (form blocks identity)
      (read-blocks cache *snapshot-file*
                   (lambda (form)
                     (and (equal (getf form :layout) (layout-key version)) (equal (getf form :root) root) (equal (getf form :excludes) excludes))))
    (let ((index (and form (handler-case (index-of-blocks form blocks) (error () nil)))))
      (when index
        (setf (snapshot-identity index) identity)
        (note-snapshot index identity)
        (and (funcall ctags (getf form :ctags)) index)))))
