;;;; Reading files into runs: workers share a queue of batches, each of one language; while ctags tags the next
;;;; batch of a worker, the worker scans the one before.

(defpackage #:opl.index.reading
  (:use #:cl #:opl.source.octets #:opl.source.text #:opl.index.ctags #:opl.index.tags)
  (:import-from #:opl.source.names #:octets #:+none+ #:hash-octets)
  (:import-from #:opl.source.columns #:make-facts #:facts-reset #:pack-sections #:make-slab)
  (:import-from #:opl.source.scanner #:make-scanner #:scan)
  (:import-from #:opl.source.language #:language-ctags #:language-family #:language-of-path)
  (:import-from #:opl.languages.extractor #:extract #:extractor-ctags-kinds)
  (:import-from #:opl.index.store #:make-stamp)
  (:export #:*passes* #:read-files #:outcome #:outcome-path #:outcome-run #:outcome-language #:outcome-stamp #:outcome-reason
           #:facts-of-octets #:processor-count #:content-hash #:+racy-seconds+))
(in-package #:opl.index.reading)

(defvar *passes* '()
  "Functions of (tokens facts names path), called for each file after its extractor, in order: other rooms' facts.")

(defstruct outcome
  "What became of PATH: a RUN in LANGUAGE, or the REASON why it was left out; neither when no language is known."
  (path "" :type string) run language stamp reason)

(defun processor-count ()
  "Processors that may be used, 1 when the system does not say."
  (max 1 (min 16 (or #+(or linux darwin)
                     (ignore-errors (sb-alien:alien-funcall
                                     (sb-alien:extern-alien "sysconf" (function sb-alien:long sb-alien:int)) #+linux 84 #+darwin 58))
                     #+win32 (ignore-errors (parse-integer (sb-posix:getenv "NUMBER_OF_PROCESSORS")))
                     1))))

(defun content-hash (octets size)
  "62 bits of FNV-1a over OCTETS[0, SIZE): tells contents apart, resists nobody."
  (declare (type octets octets) (type (unsigned-byte 62) size) (optimize (speed 3) (safety 0)))
  (let ((hash 1469598103934665603))
    (declare (type (unsigned-byte 62) hash))
    (loop for i of-type (unsigned-byte 62) from 0 below size
          do (setf hash (ldb (byte 62 0) (* (logxor hash (aref octets i)) 1099511628211))))
    hash))

(defconstant +racy-seconds+ 2
  "A file changed within so many seconds of being read may change again without its time telling; its content is then hashed.")

;;; Batches

(defstruct batch
  (entries '() :type list)              ; (path size mtime inode)
  (language nil)                        ; ctags' name, or nil when it is not asked
  (tagging nil))                        ; thread that will answer with what ctags said

(defconstant +smallest-batch+ 1000000)
(defconstant +largest-batch+ 24000000
  "Octets of a batch. Starting ctags costs 4 ms in a small process and, since the system copies the page tables of a large
one, 50 ms once a gigabyte is in use: so batches grow with the repository, and stay small enough that workers end together.")
(defconstant +batch-files+ 4000)

(defun asked-language (path)
  "What ctags is told the file PATH is, or nil when its language leaves ctags nothing to find."
  (let ((language (language-of-path path)))
    (and language (language-ctags language)
         (extractor-ctags-kinds (language-family language))
         (language-ctags language))))

(defun make-batches (entries)
  "ENTRIES in batches of one language each."
  (let* ((open (make-hash-table :test 'equal)) (batches '())
         (limit (max +smallest-batch+ (min +largest-batch+ (floor (reduce #'+ entries :key #'second) (* 8 (processor-count)))))))
    (dolist (entry entries)
      (let* ((language (asked-language (first entry)))
             (state (or (gethash language open) (setf (gethash language open) (list (make-batch :language language) 0 0)))))
        (destructuring-bind (batch files octets) state
          (push entry (batch-entries batch))
          (setf (second state) (1+ files) (third state) (+ octets (second entry)))
          (when (or (>= (second state) +batch-files+) (>= (third state) limit))
            (push batch batches)
            (remhash language open)))))
    (loop for (batch) being the hash-values of open do (push batch batches))
    (dolist (batch batches) (setf (batch-entries batch) (nreverse (batch-entries batch))))
    (sort (nreverse batches) #'string< :key (lambda (batch) (first (first (batch-entries batch)))))))

;;; One worker

(defstruct worker
  (scanner (make-scanner)) (facts (make-facts)) (buffer (make-octet-buffer)) (seen (make-seen))
  (slab nil))                           ; for the runs of a worker that reads many files

(defstruct work
  "What the workers share."
  (root "" :type string) names ctags (queue '() :type list) (lock (sb-thread:make-mutex :name "work"))
  (done 0 :type fixnum) (total 0 :type fixnum) (outcomes '() :type list) (report nil) (current "" :type string)
  (failed '() :type list) (fault nil) (progress-at 0))

(defun read-one (worker work entry tagged from)
  "Values: the outcome of ENTRY, and where the next file's tags begin."
  (destructuring-bind (path size mtime inode) entry
    (let* ((buffer (worker-buffer worker)) (seen (current-seconds)))
      (setf (work-current work) path)
      (multiple-value-bind (language reason) (load-text buffer (work-root work) path size)
        (flet ((stamp ()
                 (make-stamp size mtime inode seen
                             (if (and language (>= mtime (- seen +racy-seconds+)))
                                 (content-hash (octet-buffer-octets buffer) (octet-buffer-size buffer))
                                 0))))
          (if (null language)
              (values (make-outcome :path path :reason reason :stamp (stamp)) (skip-tags tagged from path))
              (let* ((facts (facts-reset (worker-facts worker))) (names (work-names work))
                     (stamp (stamp))
                     (tokens (scan (worker-scanner worker) (octet-buffer-octets buffer) (octet-buffer-size buffer) language names)))
                (extract tokens facts names path)
                (when tagged
                  (setf from (merge-tags facts tokens names tagged from path (worker-seen worker)
                                         (extractor-ctags-kinds (language-family language)))))
                (dolist (pass *passes*) (funcall pass tokens facts names path))
                (values (make-outcome :path path :run (pack-sections facts (worker-slab worker)) :language language :stamp stamp) from))))))))

(defun skip-tags (tagged from path)
  (if tagged (map-tags (lambda (&rest tag) (declare (ignore tag)) nil) tagged from path) from))

(defun guarded-read (worker work entry tagged from)
  "`read-one', where a fault of ours costs that file alone."
  (handler-case (read-one worker work entry tagged from)
    ((or error storage-condition) (condition)
      (setf (worker-scanner worker) (make-scanner) (worker-facts worker) (make-facts))
      (values (make-outcome :path (first entry)
                            :stamp (make-stamp (second entry) (third entry) (fourth entry) (current-seconds) 0)
                            :reason (format nil "could not be read: ~A" (type-of condition)))
              (skip-tags tagged from (first entry))))))

(defun start-tagging (work batch)
  (when (and (batch-language batch) (work-ctags work))
    (setf (batch-tagging batch)
          (let ((program (work-ctags work)) (root (work-root work)) (language (batch-language batch))
                (paths (mapcar #'first (batch-entries batch)))
                (octets (reduce #'+ (batch-entries batch) :key #'second)))
            (sb-thread:make-thread (lambda () (tag-batch program root language paths octets)) :name "ctags")))))

(defun take-batch (work)
  (let ((batch (sb-thread:with-mutex ((work-lock work)) (pop (work-queue work)))))
    (when batch (start-tagging work batch))
    batch))

(defun read-batch (worker work batch)
  (let* ((tagged (and (batch-tagging batch) (sb-thread:join-thread (batch-tagging batch) :default nil)))
         (failed (and tagged (tagged-failed tagged))) (from 0) (outcomes '()) (count 0))
    (dolist (entry (batch-entries batch))
      (multiple-value-bind (outcome next)
          (guarded-read worker work entry (and tagged (not (member (first entry) failed :test #'string=)) tagged) from)
        (setf from next)
        (push outcome outcomes)
        (when (= 0 (mod (incf count) 16)) (advance work 16))))
    (sb-thread:with-mutex ((work-lock work))
      (setf (work-outcomes work) (nconc outcomes (work-outcomes work))
            (work-failed work) (append failed (work-failed work)))
      (incf (work-done work) (mod count 16)))))

(defun advance (work count)
  (sb-thread:with-mutex ((work-lock work)) (incf (work-done work) count)))

(defun run-worker (work)
  (handler-case
      (let* ((worker (make-worker :slab (make-slab))) (batch (take-batch work))
             (opl.index.tags:*line-starts* (opl.source.names:make-u32 4096)))
        (loop while batch
              do (let ((next (take-batch work)))
                   (read-batch worker work batch)
                   (setf batch next))))
    (error (condition) (setf (work-fault work) (princ-to-string condition)))))

(defconstant +stall-seconds+ 10 "Without a file done for so long, the progress says which file is in work.")

(defun watch (work threads)
  "Reports progress until all THREADS have ended."
  (let ((last -1) (since (get-universal-time)))
    (loop while (some #'sb-thread:thread-alive-p threads)
          do (let ((done (work-done work)))
               (when (/= done last) (setf last done since (get-universal-time)))
               (when (work-report work)
                 (funcall (work-report work)
                          (if (> (- (get-universal-time) since) +stall-seconds+)
                              (format nil "still at ~A" (work-current work))
                              "reading")
                          done (work-total work))))
             (loop repeat 5 while (some #'sb-thread:thread-alive-p threads) do (sleep 0.01)))))

(defun read-files (root names ctags entries &key report)
  "Reads ENTRIES, a list of (path size mtime inode), with the ctags program CTAGS or without when nil. Values: the outcomes in
no order, and the paths that ctags failed on. REPORT: a function of (stage done total) called from this thread now and then."
  (if (and entries (null (rest entries)) (not (and ctags (asked-language (first (first entries))))))
      (let ((work (make-work :root root :names names)))
        (values (list (nth-value 0 (guarded-read (spare-worker) work (first entries) nil 0))) '()))
      (let* ((work (make-work :root root :names names :ctags ctags :queue (make-batches entries)
                              :total (length entries) :report report))
             (threads (loop repeat (min (processor-count) (max 1 (length (work-queue work))))
                            collect (sb-thread:make-thread #'run-worker :arguments (list work) :name "reader"))))
        (unwind-protect (watch work threads)
          (setf (work-queue work) '())
          (mapc (lambda (thread) (sb-thread:join-thread thread :default nil)) threads))
        (when (work-fault work) (error "Reading failed: ~A" (work-fault work)))
        (values (work-outcomes work) (work-failed work)))))

(sb-ext:defglobal **spare** nil)
(defun spare-worker ()
  "A worker kept for single files, so that a refresh does not make its buffers anew."
  (or **spare** (setf **spare** (make-worker))))

(defun facts-of-octets (octets size language names path)
  "A run with what OCTETS[0, SIZE) say as the file PATH in LANGUAGE: a version of a file that is not in the tree. No ctags."
  (let ((tokens (scan (make-scanner) octets size language names)))
    (pack-sections (extract tokens (make-facts) names path))))
