;;;; History: what the ancestors of HEAD say of files. Each commit is kept as its time, the terms of its message, the issues
;;;; it refers to and the files it changed, in flat columns, oldest first, so that new commits are appended and a task's
;;;; terms are found by one pass. Nothing is kept of commits that HEAD does not descend from.

(defpackage #:opl.search.history
  (:use #:cl)
  (:import-from #:opl.source.names #:octets #:u32-vector #:make-u32 #:make-octets #:names #:make-names-arena #:intern-octets
                #:names-count #:name-string #:octets-string #:string-octets #:names-columns #:names-from-columns)
  (:import-from #:opl.search.terms #:map-terms #:word-start-p #:word-octet-p)
  (:import-from #:opl.search.plain #:plain-word-p)
  (:import-from #:opl.search.places #:source-path-p)
  (:export #:history #:make-history #:history-count #:history-times #:history-shas #:history-lengths #:history-term-starts
           #:history-terms #:history-file-starts #:history-breadths #:history-references
           #:history-reference-count #:history-names #:history-path #:history-head #:history-note #:history-octets #:copy-history
           #:history-kept #:make-log-reader #:feed-log #:finish-log #:newest-time #:do-commit-files
           #:history-columns #:history-from-columns #:+commits+))
(in-package #:opl.search.history)

(declaim (optimize (speed 2) (safety 1)))

(deftype index () '(integer 0 #.(ash most-positive-fixnum -3)))

(defconstant +commits+ 60000
  "Newest commits that are read. Django's 31,000 take 3 MB; the cap keeps any history within 8 MB.")
(defconstant +message-octets+ 4000 "Octets of a message that are read for words.")
(defconstant +message-terms+ 200 "Distinct terms kept of one message.")
(defconstant +commit-files+ 40 "Files kept of one commit; what touches more says little of any.")

(defstruct history
  (head "" :type string)                           ; the commit it was read from
  (note "" :type string)                           ; what was used, for people
  (count 0 :type (unsigned-byte 32))
  (times (make-u32 256) :type u32-vector)          ; of the commit, seconds since 1970
  (shas (make-u32 256) :type u32-vector)           ; first eight digits
  (lengths (make-u32 256) :type u32-vector)        ; words of the message
  (breadths (make-u32 256) :type u32-vector)       ; source files changed; one more bit, the lowest, for a merge
  (term-starts (make-u32 256) :type u32-vector)
  (terms (make-u32 4096) :type u32-vector)         ; hashes, each once a commit
  (file-starts (make-u32 256) :type u32-vector)
  (files (make-u32 1024) :type u32-vector)         ; path numbers
  (reference-count 0 :type (unsigned-byte 32))
  (references (make-u32 256) :type u32-vector)     ; pairs: number of an issue, commit
  (names (make-names-arena) :type names))          ; of paths

(defun history-path (history number)
  "The path that has NUMBER in HISTORY; the file may be gone since."
  (name-string (history-names history) number))

(defun history-octets (history)
  "Octets that HISTORY takes, the paths' table aside."
  (* 4 (+ (* 6 (history-count history)) (length (history-terms history)) (length (history-files history))
          (length (history-references history)))))

(defun newest-time (history)
  "The time of the newest commit; 0 without any."
  (let ((times (history-times history)))
    (loop for i below (history-count history) maximize (aref times i))))

(defmacro ensure (place wanted)
  `(when (> ,wanted (length ,place))
     (setf ,place (replace (make-u32 (max ,wanted (floor (* 3 (length ,place)) 2))) ,place))))

;;; One commit

(defparameter *plain-hashes*
  (let ((table (make-hash-table)))
    (loop for word being the hash-keys of opl.search.plain:*plain-words*
          do (let ((octets (string-octets word)))
               (map-terms (lambda (hash whole-p) (unless whole-p (setf (gethash hash table) t))) octets 0 (length octets))))
    table)
  "Terms that are kept of no message: plain words.")

(defun trailer-p (octets start end)
  "Whether the line OCTETS[START, END) is a trailer: `Signed-off-by: …', `Change-Id: …', `Cc: …'."
  (declare (type octets octets) (type index start end))
  (let ((colon (position 58 octets :start start :end (min end (+ start 30)))))
    (and colon (> colon start)
         (every (lambda (octet) (or (= octet 45) (<= 97 (logior octet 32) 122))) (subseq octets start colon))
         (or (find 45 octets :start start :end colon)
             (and (= (- colon start) 2) (= (logior 32 (aref octets start)) 99))))))

(defun merge-line-p (octets start end)
  "Whether the line is `Merge pull request …' or `Merge branch …', of which only the number counts."
  (let ((mark (load-time-value (string-octets "Merge "))))
    (and (>= (- end start) 6) (loop for octet across mark for i from start always (= octet (aref octets i))))))

(defun note-reference (history number)
  (let ((at (* 2 (history-reference-count history))))
    (ensure (history-references history) (+ at 2))
    (setf (aref (history-references history) at) (min number #xFFFFFFFF)
          (aref (history-references history) (1+ at)) (history-count history))
    (incf (history-reference-count history))))

(defun note-references (history octets start end)
  (declare (type octets octets) (type index start end))
  (loop for at = (position 35 octets :start start :end end) then (position 35 octets :start (1+ at) :end end)
        while at
        do (let ((number 0) (digits 0))
             (declare (type (unsigned-byte 40) number) (type fixnum digits))
             (loop for i from (1+ at) below (min end (+ at 9))
                   while (<= 48 (aref octets i) 57)
                   do (setf number (+ (* 10 number) (- (aref octets i) 48))) (incf digits))
             (when (plusp digits) (note-reference history number)))))

(defun note-term (history hash from)
  "Adds HASH to the commit's terms, which begin at FROM, unless it is there or plain. Returns the end of the terms."
  (declare (type history history) (type (unsigned-byte 32) hash) (type index from))
  (let* ((terms (history-terms history)) (end (aref (history-term-starts history) (1+ (history-count history)))))
    (when (and (< (- end from) +message-terms+)
               (not (find hash terms :start from :end end))
               (not (gethash hash *plain-hashes*)))
      (ensure (history-terms history) (1+ end))
      (setf (aref (history-terms history) end) hash
            (aref (history-term-starts history) (1+ (history-count history))) (1+ end)))))

(defun note-line-words (history octets start end from)
  "The words of one line of a message; their number."
  (declare (type octets octets) (type index start end from))
  (let ((i start) (words 0))
    (declare (type index i words))
    (loop
      (loop while (and (< i end) (not (word-octet-p (aref octets i)))) do (incf i))
      (when (>= i end) (return words))
      (let ((word i))
        (loop while (and (< i end) (word-octet-p (aref octets i))) do (incf i))
        (when (word-start-p (aref octets word))
          (incf words)
          (map-terms (lambda (hash whole-p) (declare (ignore whole-p)) (note-term history hash from)) octets word i))))))

(defun note-message (history octets start end)
  "The words of the message OCTETS[START, END), and what it refers to. Returns how many words."
  (declare (type octets octets) (type index start end))
  (let* ((end (min end (+ start +message-octets+))) (words 0) (i start)
         (from (aref (history-term-starts history) (history-count history))))
    (declare (type index end words i))
    (setf (aref (history-term-starts history) (1+ (history-count history))) from)
    (note-references history octets start end)
    (loop while (< i end)
          do (let ((stop (or (position 10 octets :start i :end end) end)))
               (unless (or (trailer-p octets i stop) (merge-line-p octets i stop))
                 (incf words (note-line-words history octets i stop from)))
               (setf i (1+ stop))))
    words))

(defun note-files (history octets start end)
  "The paths in OCTETS[START, END), separated by NUL or line ends. Returns how many of them are source."
  (declare (type octets octets) (type index start end))
  (let* ((count (history-count history)) (from (aref (history-file-starts history) count)) (at from) (i start) (sources 0))
    (declare (type index at i sources))
    (loop while (< i end)
          do (let ((stop (or (position-if (lambda (octet) (or (= octet 0) (= octet 10))) octets :start i :end end) end)))
               (when (> stop i)
                 (let ((number (intern-octets (history-names history) octets i stop)))
                   (when (source-number-p history number) (incf sources))
                   (when (< (- at from) +commit-files+)
                     (ensure (history-files history) (1+ at))
                     (setf (aref (history-files history) at) number)
                     (incf at))))
               (setf i (1+ stop))))
    (setf (aref (history-file-starts history) (1+ count)) at)
    sources))

(defvar *classes* (make-hash-table :test 'eq :weakness :key :synchronized t)
  "Per arena of paths: a bit vector, whether each is source, and how many are decided.")

(defun source-number-p (history number)
  (let* ((names (history-names history))
         (entry (or (gethash names *classes*)
                    (setf (gethash names *classes*) (cons (make-array 256 :element-type 'bit) 0)))))
    (when (>= number (length (the simple-bit-vector (car entry))))
      (setf (car entry) (replace (make-array (* 2 (1+ number)) :element-type 'bit) (the simple-bit-vector (car entry)))))
    (loop while (<= (the fixnum (cdr entry)) number)
          do (setf (sbit (car entry) (cdr entry)) (if (source-path-p (name-string names (cdr entry))) 1 0))
             (incf (the fixnum (cdr entry))))
    (= 1 (sbit (car entry) number))))

(defun note-commit (history octets start end accept)
  "Appends the record OCTETS[START, END): sha, time and parents, \\x02, message, \\x02, paths. ACCEPT: a function of the sha,
or nil for any."
  (declare (type octets octets) (type index start end))
  (let* ((head-end (position 2 octets :start start :end end))
         (message-end (and head-end (position 2 octets :start (1+ head-end) :end end)))
         (blank (and head-end (position 32 octets :start start :end head-end)))
         (sha (and blank (octets-string octets :start start :end blank))))
    (when (and message-end sha (or (null accept) (funcall (the function accept) sha)))
      (let* ((count (history-count history))
             (time (or (parse-integer (octets-string octets :start (1+ blank) :end head-end) :junk-allowed t) 0))
             (parents (count 32 octets :start (1+ blank) :end head-end)))
        (ensure (history-times history) (1+ count)) (ensure (history-shas history) (1+ count))
        (ensure (history-lengths history) (1+ count)) (ensure (history-breadths history) (1+ count))
        (ensure (history-term-starts history) (+ 2 count)) (ensure (history-file-starts history) (+ 2 count))
        (setf (aref (history-times history) count) (max 0 (min time #xFFFFFFFF))
              (aref (history-shas history) count) (or (parse-integer sha :end (min 8 (length sha)) :radix 16 :junk-allowed t) 0)
              (aref (history-lengths history) count) (note-message history octets (1+ head-end) message-end)
              (aref (history-breadths history) count)
              (+ (* 2 (note-files history octets (1+ message-end) end)) (if (> parents 1) 1 0)))
        (incf (history-count history))
        (setf (history-head history) sha)))))

;;; A stream of records, each begun by \x01, fed in pieces

(defstruct (log-reader (:constructor make-log-reader (history &optional accept)))
  (history nil :type history) accept
  (pending (make-octets 65536) :type octets) (size 0 :type index))

(defun feed-log (reader octets end)
  "Takes the next piece OCTETS[0, END) of the log; whole records in it become commits."
  (declare (type octets octets) (type index end))
  (let ((size (log-reader-size reader)))
    (when (> (+ size end) (length (log-reader-pending reader)))
      (setf (log-reader-pending reader)
            (replace (make-octets (max (+ size end) (* 2 (length (log-reader-pending reader))))) (log-reader-pending reader))))
    (replace (log-reader-pending reader) octets :start1 size :end2 end)
    (setf size (+ size end))
    (let ((pending (log-reader-pending reader)) (i 0))
      (declare (type octets pending) (type index i size))
      (loop
        (let ((next (position 1 pending :start (min size (1+ i)) :end size)))
          (unless next (return))
          (when (= 1 (aref pending i)) (note-commit (log-reader-history reader) pending (1+ i) next (log-reader-accept reader)))
          (setf i next)))
      (replace pending pending :start2 i :end2 size)
      (setf (log-reader-size reader) (- size i)))))

(defun finish-log (reader)
  "Takes the last record. Returns the history."
  (let ((pending (log-reader-pending reader)) (size (log-reader-size reader)))
    (when (and (plusp size) (= 1 (aref pending 0)))
      (note-commit (log-reader-history reader) pending 1 size (log-reader-accept reader)))
    (setf (log-reader-size reader) 0)
    (log-reader-history reader)))

(defmacro do-commit-files ((file) (history commit) &body body)
  "Runs BODY with the number of each path that COMMIT changed."
  (let ((i (gensym)))
    `(loop for ,i from (aref (history-file-starts ,history) ,commit) below (aref (history-file-starts ,history) (1+ ,commit))
           do (let ((,file (aref (history-files ,history) ,i))) ,@body))))

;;; Another branch

(defun history-kept (history keep-p)
  "A history of those commits of HISTORY for whose first eight digits, a number, KEEP-P is true. Paths are shared."
  (declare (type function keep-p))
  (let ((kept (make-history :names (history-names history))) (at 0) (places (make-u32 (max 1 (history-count history)) opl.source.names:+none+)))
    (declare (type index at))
    (macrolet ((take (starts column)
                 `(let ((from (aref (,starts history) commit)) (to (aref (,starts history) (1+ commit))) (end (aref (,starts kept) at)))
                    (ensure (,column kept) (+ end (- to from)))
                    (replace (,column kept) (,column history) :start1 end :start2 from :end2 to)
                    (setf (aref (,starts kept) (1+ at)) (+ end (- to from))))))
      (dotimes (commit (history-count history))
        (when (funcall keep-p (aref (history-shas history) commit))
          (ensure (history-times kept) (1+ at)) (ensure (history-shas kept) (1+ at)) (ensure (history-lengths kept) (1+ at))
          (ensure (history-breadths kept) (1+ at)) (ensure (history-term-starts kept) (+ 2 at)) (ensure (history-file-starts kept) (+ 2 at))
          (setf (aref (history-times kept) at) (aref (history-times history) commit)
                (aref (history-shas kept) at) (aref (history-shas history) commit)
                (aref (history-lengths kept) at) (aref (history-lengths history) commit)
                (aref (history-breadths kept) at) (aref (history-breadths history) commit)
                (aref places commit) at)
          (take history-term-starts history-terms)
          (take history-file-starts history-files)
          (incf at))))
    (setf (history-count kept) at)
    (loop for i from 0 below (* 2 (history-reference-count history)) by 2
          for place = (aref places (aref (history-references history) (1+ i)))
          do (unless (= place opl.source.names:+none+)
               (let ((end (* 2 (history-reference-count kept))))
                 (ensure (history-references kept) (+ end 2))
                 (setf (aref (history-references kept) end) (aref (history-references history) i)
                       (aref (history-references kept) (1+ end)) place)
                 (incf (history-reference-count kept)))))
    kept))

;;; The snapshot's view

(defun history-columns (history)
  "What a snapshot keeps of HISTORY: a list of u32 vectors, the octets of the paths, head and note."
  (let ((count (history-count history)))
    (multiple-value-bind (octets starts) (names-columns (history-names history))
      (values (list (subseq (history-times history) 0 count) (subseq (history-shas history) 0 count)
                    (subseq (history-lengths history) 0 count) (subseq (history-breadths history) 0 count)
                    (subseq (history-term-starts history) 0 (1+ count))
                    (subseq (history-terms history) 0 (aref (history-term-starts history) count))
                    (subseq (history-file-starts history) 0 (1+ count))
                    (subseq (history-files history) 0 (aref (history-file-starts history) count))
                    (subseq (history-references history) 0 (* 2 (history-reference-count history)))
                    starts)
              octets (history-head history) (history-note history)))))

(defun history-from-columns (columns octets head note)
  "The history that `history-columns' was taken of, or nil when it does not fit."
  (destructuring-bind (times shas lengths breadths term-starts terms file-starts files references starts) columns
    (let ((names (names-from-columns octets starts)) (count (length times)))
      (and names (= count (length shas) (length lengths) (length breadths) (1- (length term-starts)) (1- (length file-starts)))
           (make-history :head head :note note :count count :times times :shas shas :lengths lengths :breadths breadths
                         :term-starts term-starts :terms terms :file-starts file-starts :files files
                         :references references :reference-count (floor (length references) 2) :names names)))))
