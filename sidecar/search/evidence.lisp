;;;; Evidence: where a task's terms occur. One pass over the words and definitions of every run, file by file; there are no
;;;; inverted lists, so nothing has to be kept in step with the files. A name is looked up in a table of marks; for django
;;;; (600,000 rows) the pass takes a millisecond or two, and it costs no memory between queries.

(defpackage #:opl.search.evidence
  (:use #:cl #:opl.index.store #:opl.search.tables #:opl.search.query #:opl.search.reading)
  (:import-from #:opl.source.names #:octets #:u32-vector #:make-u32 #:find-name)
  (:import-from #:opl.source.columns #:run #:do-column)
  (:import-from #:opl.search.inverted #:name-terms-columns #:columns-count #:do-term-names #:do-recent-terms)
  (:import-from #:opl.search.text #:symbol-class #:uses-code #:uses-comments #:uses-strings)
  (:export #:evidence #:gather #:evidence-index #:evidence-task #:evidence-tables #:evidence-terms #:evidence-words
           #:evidence-hits #:evidence-hit-count #:evidence-frequencies #:evidence-definitions #:evidence-term-count
           #:evidence-weights #:evidence-title-weights #:evidence-kinds #:evidence-file-count #:evidence-history #:+stride+
           #:evidence-marks #:evidence-group-starts #:evidence-group-slots #:evidence-any-frequency #:term-weight
           #:evidence-memo #:evidence-edited #:slot-of #:make-slot-table #:evidence-slot-table #:evidence-wanted-p
           #:evidence-named #:*region-weights*))
(in-package #:opl.search.evidence)

(declaim (optimize (speed 2) (safety 1)))

(deftype index-number () '(integer 0 #.(ash most-positive-fixnum -3)))
(deftype u16-vector () '(simple-array (unsigned-byte 16) (*)))

(defconstant +most-terms+ 480 "Terms of a task that are looked for, the weightiest; a long log has more.")
(defconstant +most-words+ 200 "Whole identifiers that are looked for as written.")
(defconstant +most-slots+ 12 "Slots one name may answer to: itself as written, its whole, parts, pairs and roots.")

(defconstant +stride+ 10 "Numbers a hit takes: file, slot, and the counts of the eight fields.")

(defparameter *region-weights* #(3.0 1.0 1.5 0.45 0.3)
  "What an occurrence counts in title, prose, inline code, code, trace. Recipe 2.5, by experiment on SWE-bench Lite.")
(defconstant +whole-weight+ 1.5 "A whole identifier counts this much more than a part. Recipe 2.5.")
(defconstant +plain-weight+ 0.05 "Plain words, only when a task holds nothing else.")

(defstruct evidence
  index task tables history
  (file-count 0 :type fixnum)
  (terms (vector) :type simple-vector)             ; slot -> term
  (words (vector) :type simple-vector)             ; slot - term-count -> word
  (term-count 0 :type fixnum)
  (weights (make-floats 0) :type floats)
  (title-weights (make-floats 0) :type floats)
  (kinds (make-array 0 :element-type '(unsigned-byte 8)) :type octets) ; of the terms
  (slot-table nil)
  (marks (make-array 0 :element-type '(unsigned-byte 16)) :type u16-vector) ; name -> group, 0 for none
  (marked (make-array 0 :element-type 'bit) :type simple-bit-vector) ; name -> whether it has one: small enough for a processor's cache
  (group-starts (make-u32 0) :type u32-vector)
  (group-slots (make-u32 0) :type u32-vector)
  (hits (make-u32 (* 1024 +stride+)) :type u32-vector)
  (hit-count 0 :type index-number)
  (frequencies (make-u32 0) :type u32-vector)      ; slot * 9 + field: candidates that have it there; field 8: anywhere
  (definitions '() :type list)                     ; (file def slot) of words as written
  (edited '() :type list)
  (memo (make-hash-table :test 'eq)))              ; what channels share

;;; Which terms

(defun term-weight (term)
  "The weight of TERM in the task, 0 for a plain word. Recipe 2.5."
  (if (term-plain-p term)
      0.0
      (* (sqrt (loop for count across (term-counts term) for weight across (the simple-vector *region-weights*)
                     sum (* (the fixnum count) (the single-float weight)) of-type single-float))
         (if (term-whole-p term) +whole-weight+ 1.0))))

(defun title-weight (term)
  (if (term-plain-p term)
      0.0
      (* (sqrt (float (the fixnum (svref (term-counts term) +title+)))) (if (term-whole-p term) +whole-weight+ 1.0))))

(defun choose-terms (task)
  "The weightiest terms with their weights; plain words when there is nothing else."
  (let* ((weighed (loop for term in (task-terms task)
                        for weight of-type single-float = (term-weight term)
                        when (plusp weight) collect (cons weight term)))
         (weighed (or weighed
                      (and (null (task-mentions task)) (null (task-references task)) (null (task-commits task))
                           (loop for term in (task-terms task) collect (cons +plain-weight+ term))))))
    (setf weighed (stable-sort weighed #'> :key #'car))
    (subseq weighed 0 (min +most-terms+ (length weighed)))))

(defun word-interest (word) (* (max 0.05 (word-shape-of word)) (word-total word)))

(defun choose-words (task)
  (let ((words (remove-if (lambda (word) (and (zerop (word-shape-of word)) (cdr (task-words task)))) (task-words task))))
    (if (> (length words) +most-words+)
        (subseq (stable-sort (copy-list words) #'> :key #'word-interest) 0 +most-words+)
        words)))

;;; Slots by hash

(defstruct (slot-table (:constructor %make-slot-table))
  (filter (make-array 65536 :element-type 'bit :initial-element 0) :type (simple-bit-vector 65536))
  (keys (make-u32 2048) :type (simple-array (unsigned-byte 32) (2048)))
  (slots (make-u32 2048) :type (simple-array (unsigned-byte 32) (2048)))) ; slot + 1, 0 for none

(defun make-slot-table (terms)
  (let ((table (%make-slot-table)))
    (loop for term across (the simple-vector terms) for slot of-type fixnum from 0
          for hash of-type (unsigned-byte 32) = (term-hash term)
          do (setf (sbit (slot-table-filter table) (logand hash 65535)) 1)
             (let ((at (logand (ash hash -4) 2047)))
               (loop until (zerop (aref (slot-table-slots table) at)) do (setf at (logand (1+ at) 2047)))
               (setf (aref (slot-table-keys table) at) hash (aref (slot-table-slots table) at) (1+ slot))))
    table))

(declaim (inline slot-of))
(defun slot-of (table hash)
  "The slot of the term with HASH, or nil."
  (declare (type slot-table table) (type (unsigned-byte 32) hash))
  (and (= 1 (sbit (slot-table-filter table) (logand hash 65535)))
       (let ((at (logand (ash hash -4) 2047)))
         (loop
           (let ((slot (aref (slot-table-slots table) at)))
             (cond ((zerop slot) (return nil))
                   ((= hash (aref (slot-table-keys table) at)) (return (1- slot)))
                   (t (setf at (logand (1+ at) 2047)))))))))

;;; Marks: for each name the group of slots it answers to

(defstruct groups
  "Sets of slots by number from 1 on; KEYS tells whether a set is there already by a hash of its slots."
  (keys (make-hash-table)) (count 0 :type (unsigned-byte 16))
  (starts (make-u32 1024) :type u32-vector) (slots (make-u32 4096) :type u32-vector))

(defun group-of (groups slots count)
  "The number of the group of the first COUNT of SLOTS; 0 when there are 65,000 already."
  (declare (type groups groups) (type u32-vector slots) (type (integer 0 16) count))
  (let ((key 0))
    (declare (type (unsigned-byte 62) key))
    (dotimes (i count) (setf key (ldb (byte 62 0) (* (logxor key (1+ (aref slots i))) 1099511628211))))
    (or (gethash key (groups-keys groups))
        (let ((number (1+ (groups-count groups))))
          (if (> number 65000)
              0
              (let ((at (aref (groups-starts groups) number)))
                (when (>= (+ number 2) (length (groups-starts groups)))
                  (setf (groups-starts groups) (replace (make-u32 (* 2 (length (groups-starts groups)))) (groups-starts groups))))
                (when (>= (+ at 16) (length (groups-slots groups)))
                  (setf (groups-slots groups) (replace (make-u32 (* 2 (length (groups-slots groups)))) (groups-slots groups))))
                (replace (groups-slots groups) slots :start1 at :end2 count)
                (setf (aref (groups-starts groups) (1+ number)) (+ at count)
                      (groups-count groups) number
                      (gethash key (groups-keys groups)) number)))))))

(defparameter *spellings* '("~A" "~A?" "~A!" "~A=" "$~A" "#~A" "@~A")
  "What a name may have beside the word that people write: Ruby's marks, sigils, private members.")

(defun joined-group (groups joins group slot scratch)
  "The number of GROUP with SLOT in it as well; GROUP itself where there is no room. JOINS remembers."
  (declare (type groups groups) (type (unsigned-byte 16) group) (type (unsigned-byte 32) slot) (type u32-vector scratch))
  (let ((key (logior (ash group 32) slot)))
    (or (gethash key joins)
        (setf (gethash key joins)
              (let* ((starts (groups-starts groups)) (slots (groups-slots groups)) (start (aref starts group)) (size (- (aref starts (1+ group)) start)))
                (if (or (>= size +most-slots+) (find slot slots :start start :end (+ start size))) ; `a_b_a' holds a once
                    group
                    (progn
                      (replace scratch slots :start2 start :end2 (+ start size))
                      (setf (aref scratch size) slot)
                      (let ((number (group-of groups scratch (1+ size)))) (if (zerop number) group number)))))))))

(defun mark-names (evidence)
  "Fills marks and groups."
  (let* ((columns (name-terms-columns (tables-terms (evidence-tables evidence)))) (count (columns-count columns))
         (marks (make-array count :element-type '(unsigned-byte 16) :initial-element 0))
         (marked (make-array count :element-type 'bit :initial-element 0))
         (table (evidence-slot-table evidence)) (groups (make-groups)) (joins (make-hash-table)) (scratch (make-u32 16))
         (names (index-names (evidence-index evidence))))
    (declare (type (unsigned-byte 32) count))
    (flet ((add (name slot)
             (declare (type (unsigned-byte 32) name slot))
             (setf (aref marks name) (joined-group groups joins (aref marks name) slot scratch)
                   (sbit marked name) 1)))
      (declare (inline add))
      (loop for word across (evidence-words evidence) for slot of-type fixnum from (evidence-term-count evidence)
            do (dolist (spelling *spellings*)
                 (let ((name (find-name names (format nil spelling (word-text word)))))
                   (when (and name (< (the fixnum name) count) (zerop (aref marks name))) (add name slot)))))
      (loop for term across (the simple-vector (evidence-terms evidence)) for slot of-type (unsigned-byte 32) from 0
            do (let ((last 0) (mark 0))
                 ;; most names of a term have no other
                 (declare (type (unsigned-byte 16) last mark))
                 (do-term-names (name columns (the (unsigned-byte 32) (term-hash term)))
                   (let ((before (aref marks name)))
                     (when (or (zerop mark) (/= before last))
                       (setf last before mark (joined-group groups joins before slot scratch)))
                     (setf (aref marks name) mark (sbit marked name) 1)))))
      (do-recent-terms (name hash columns)
        (let ((slot (slot-of table hash))) (when slot (add name slot)))))
    (setf (evidence-marks evidence) marks (evidence-marked evidence) marked
          (evidence-group-starts evidence) (groups-starts groups) (evidence-group-slots evidence) (groups-slots groups))))

;;; The pass

(defstruct counter
  "What the file at hand holds: counts by slot and field, and which slots were touched."
  (counts (make-u32 0) :type u32-vector) (touched (make-u32 1024) :type u32-vector) (touched-count 0 :type (integer 0 1024)))

(declaim (inline add-count))
(defun add-count (counter slot field amount)
  (declare (type counter counter) (type (unsigned-byte 32) slot amount) (type fixnum field))
  (let* ((counts (counter-counts counter)) (at (* slot 9)))
    (when (zerop (aref counts (+ at 8)))
      (setf (aref counts (+ at 8)) 1
            (aref (counter-touched counter) (counter-touched-count counter)) slot)
      (incf (counter-touched-count counter)))
    (incf (aref counts (+ at field)) amount)))

(defun count-words-of (evidence counter run)
  (declare (type evidence evidence) (type counter counter) (type run run) (optimize (speed 3) (safety 0)))
  (let* ((marks (evidence-marks evidence)) (marked (evidence-marked evidence)) (limit (length marks)) (starts (evidence-group-starts evidence))
         (slots (evidence-group-slots evidence)))
    (flet ((take (row group)
             (declare (type (unsigned-byte 32) row) (type (unsigned-byte 16) group))
             (let ((uses (opl.source.facts:word-uses run row)))
               (loop for k of-type index-number from (aref starts group) below (aref starts (1+ group))
                     do (let ((slot (aref slots k)))
                          (add-count counter slot +code-words+ (uses-code uses))
                          (add-count counter slot +comment-words+ (uses-comments uses))
                          (add-count counter slot +string-words+ (uses-strings uses)))))))
      (declare (notinline take))
      (do-column (row name) (run opl.source.facts::word 0)
        (when (and (< name limit) (= 1 (sbit marked name)))
          (take row (aref marks name)))))))

(defun count-definitions-of (evidence counter run file)
  (declare (type evidence evidence) (type counter counter) (type run run) (optimize (speed 3) (safety 0)))
  (let* ((marks (evidence-marks evidence)) (marked (evidence-marked evidence)) (limit (length marks)) (starts (evidence-group-starts evidence))
         (slots (evidence-group-slots evidence)) (term-count (evidence-term-count evidence)))
    (flet ((take (def group)
             (declare (type (unsigned-byte 32) def) (type (unsigned-byte 16) group))
             (let ((field (+ +types+ (the (integer 0 2) (symbol-class (opl.source.facts:def-kind run def))))))
               (loop for k of-type index-number from (aref starts group) below (aref starts (1+ group))
                     do (let ((slot (aref slots k)))
                          (when (>= slot term-count)
                            (push (list file def slot) (evidence-definitions evidence)))
                          (add-count counter slot field 1))))))
      (declare (notinline take))
      (do-column (def name) (run opl.source.facts::def 0)
        (when (and (< name limit) (= 1 (sbit marked name)))
          (take def (aref marks name)))))))

(defun count-path-of (evidence counter file)
  (declare (type evidence evidence) (type counter counter) (type fixnum file))
  (let* ((tables (evidence-tables evidence)) (hashes (tables-hashes tables)) (table (evidence-slot-table evidence)))
    (flet ((count-range (start end field)
             (loop for k of-type fixnum from start below end
                   do (let ((slot (slot-of table (aref hashes k))))
                        (when slot (add-count counter slot field 1))))))
      (multiple-value-bind (start end) (base-bounds tables file) (count-range start end +base+))
      (multiple-value-bind (start end) (folder-bounds tables file) (count-range start end +folder+)))))

(defun flush (evidence counter file candidate-p)
  "Makes hits of what COUNTER holds and empties it."
  (declare (type evidence evidence) (type counter counter) (type (unsigned-byte 32) file) (optimize (speed 3) (safety 0)))
  (let* ((touched (counter-touched counter)) (counts (counter-counts counter)) (frequencies (evidence-frequencies evidence))
         (at (* +stride+ (evidence-hit-count evidence))) (needed (+ at (* +stride+ (counter-touched-count counter)))))
    (declare (type index-number at needed))
    (when (> needed (length (evidence-hits evidence)))
      (setf (evidence-hits evidence) (replace (make-u32 (* 2 needed)) (evidence-hits evidence))))
    (let ((hits (evidence-hits evidence)))
      (dotimes (i (counter-touched-count counter))
        (let* ((slot (aref touched i)) (from (* 9 slot)))
          (declare (type index-number from))
          (setf (aref hits at) file (aref hits (+ at 1)) slot)
          (dotimes (field +fields+)
            (let ((count (aref counts (+ from field))))
              (setf (aref hits (+ at 2 field)) count)
              (unless (zerop count)
                (when candidate-p (incf (aref frequencies (+ from field))))
                (setf (aref counts (+ from field)) 0))))
          (when candidate-p (incf (aref frequencies (+ from 8))))
          (setf (aref counts (+ from 8)) 0)
          (incf at +stride+))))
    (incf (evidence-hit-count evidence) (counter-touched-count counter))
    (setf (counter-touched-count counter) 0)))

(defun gather (index history task &key edited)
  "The evidence for TASK in INDEX; HISTORY may be nil. EDITED: paths edited in this session."
  (let* ((tables (tables-of index)) (chosen (choose-terms task)) (words (coerce (choose-words task) 'simple-vector))
         (terms (map 'simple-vector #'cdr chosen)) (slots (+ (length terms) (length words)))
         (evidence (make-evidence :index index :task task :tables tables :history history :file-count (index-file-count index)
                                  :terms terms :words words :term-count (length terms) :edited edited
                                  :weights (map 'floats #'car chosen) :title-weights (map 'floats #'title-weight terms) :kinds (map 'octets #'term-kind terms)
                                  :slot-table (make-slot-table terms) :frequencies (make-u32 (* 9 (1+ slots)))))
         (counter (make-counter :counts (make-u32 (* 9 (1+ slots))))) (classes (tables-classes tables)))
    (mark-names evidence)
    (do-files (file) (index)
      (let ((run (index-run index file)))
        (count-words-of evidence counter run)
        (count-definitions-of evidence counter run file)
        (count-path-of evidence counter file)
        (unless (zerop (counter-touched-count counter))
          (flush evidence counter file (or (tables-only-p tables) (candidate-class-p (aref classes file)))))))
    (setf (evidence-definitions evidence) (nreverse (evidence-definitions evidence)))
    evidence))
