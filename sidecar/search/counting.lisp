;;;; Counting: for each term and identifier of a task, one after the other, how often every file has it in each of its fields.

(defpackage #:opl.search.counting
  (:use #:cl #:opl.index.store #:opl.search.tables #:opl.search.evidence #:opl.search.inverted #:opl.search.occurrences #:opl.search.words)
  (:import-from #:opl.source.names #:octets #:u32-vector #:make-u32 #:names #:names-octets #:name-bounds #:with-names-locked #:+none+)
  (:import-from #:opl.source.columns #:run #:do-column)
  (:import-from #:opl.source.facts #:word-uses #:def-kind)
  (:import-from #:opl.search.terms #:map-name-terms #:+root+)
  (:import-from #:opl.search.query #:term-hash #:term-kind)
  (:import-from #:opl.search.text #:symbol-class #:uses-code #:uses-comments #:uses-strings)
  (:export #:tally-count #:do-slots #:do-counted #:slots-of-file))
(in-package #:opl.search.counting)

(declaim (optimize (speed 2) (safety 1)))

(deftype index-number () '(integer 0 #.(ash most-positive-fixnum -3)))

;;; What the slot at hand has, by file

(defstruct (tally (:constructor make-tally (places)))
  (places (make-u32 0) :type u32-vector)           ; file -> its place, from 1 on; 0 for none
  (files (make-u32 256) :type u32-vector)          ; place - 1 -> file
  (count 0 :type (unsigned-byte 32))
  (counts (make-u32 2048) :type u32-vector))       ; (place - 1) * 8 + field

(defun tally-grow (tally)
  (flet ((doubled (vector) (replace (make-u32 (* 2 (length vector))) vector)))
    (setf (tally-files tally) (doubled (tally-files tally)) (tally-counts tally) (doubled (tally-counts tally)))))

(declaim (inline tally-row))
(defun tally-row (tally file)
  "Where the counts of FILE begin."
  (declare (type tally tally) (type (unsigned-byte 32) file) (optimize (speed 3) (safety 0)))
  (let ((place (aref (tally-places tally) file)))
    (when (zerop place)
      (let ((count (tally-count tally)))
        (when (= count (length (tally-files tally))) (tally-grow tally))
        (setf place (1+ count)
              (tally-count tally) place
              (aref (tally-places tally) file) place
              (aref (tally-files tally) count) file)
        (fill (tally-counts tally) 0 :start (* +fields+ count) :end (* +fields+ place))))
    (the index-number (* +fields+ (1- place)))))

(defun tally-clear (tally)
  (declare (type tally tally) (optimize (speed 3) (safety 0)))
  (let ((places (tally-places tally)) (files (tally-files tally)))
    (dotimes (i (tally-count tally)) (setf (aref places (aref files i)) 0))
    (setf (tally-count tally) 0)))

(defun add-list (tally tables list)
  "Adds what the files hold, of those of the LIST of a name that are not stale."
  (declare (type tally tally) (type tables tables) (type (unsigned-byte 32) list) (optimize (speed 3) (safety 0)))
  (let ((occurrences (words-occurrences (tables-words tables))) (stale (tables-stale tables)))
    (declare (type occurrences occurrences))
    (do-occurrences (file code comments strings definitions) (occurrences list)
      (when (= 0 (sbit stale file))
        (let* ((at (tally-row tally file)) (counts (tally-counts tally)))
          (incf (aref counts (+ at +code-words+)) code)
          (incf (aref counts (+ at +comment-words+)) comments)
          (incf (aref counts (+ at +string-words+)) strings)
          (unless (zerop definitions)
            (incf (aref counts (+ at +types+)) (definitions-of-class definitions 0))
            (incf (aref counts (+ at +functions+)) (definitions-of-class definitions 1))
            (incf (aref counts (+ at +others+)) (definitions-of-class definitions 2))))))))

;;; What is not looked up: terms of paths, and stale files

(defun slots-of-name (evidence octets name)
  "The slots that NAME answers to, each once. OCTETS: those of the index's names."
  (declare (type octets octets) (type (unsigned-byte 32) name))
  (let* ((table (evidence-slot-table evidence)) (word (gethash name (evidence-name-slots evidence))) (slots (and word (list word))))
    (multiple-value-bind (start end) (name-bounds (the names (index-names (evidence-index evidence))) name)
      (map-name-terms (lambda (hash kind)
                        (declare (ignore kind) (type (unsigned-byte 32) hash))
                        (let ((slot (slot-of table hash))) (when slot (pushnew slot slots))))
                      octets start end))
    slots))

(declaim (inline map-path-slots))
(defun map-path-slots (function evidence file)
  "Calls FUNCTION with each slot that a term of FILE's path answers to, and the field it stands in."
  (declare (type function function) (type (unsigned-byte 32) file))
  (let* ((tables (evidence-tables evidence)) (hashes (tables-hashes tables)) (starts (tables-starts tables)) (table (evidence-slot-table evidence))
         (middle (aref starts (+ 1 (* 2 file)))))
    (declare (type u32-vector hashes starts))
    (loop for k of-type index-number from (aref starts (* 2 file)) below (aref starts (+ 2 (* 2 file)))
          do (let ((slot (slot-of table (aref hashes k))))
               (when slot (funcall function slot (if (< k middle) +base+ +folder+)))))))

(defun map-run-slots (function evidence octets run)
  "Calls FUNCTION with a slot, a field and how often RUN has that slot there."
  (declare (type function function) (type run run))
  (do-column (row name) (run opl.source.facts::word 0)
    (let ((slots (slots-of-name evidence octets name)))
      (when slots
        (let ((uses (word-uses run row)))
          (dolist (slot slots)
            (funcall function slot +code-words+ (uses-code uses))
            (funcall function slot +comment-words+ (uses-comments uses))
            (funcall function slot +string-words+ (uses-strings uses)))))))
  (do-column (def name) (run opl.source.facts::def 0)
    (unless (= name +none+)
      (dolist (slot (slots-of-name evidence octets name))
        (funcall function slot (+ +types+ (the (integer 0 2) (symbol-class (def-kind run def)))) 1)))))

(defun all-octets (evidence)
  (let ((names (index-names (evidence-index evidence)))) (with-names-locked (names) (names-octets names))))

(defun note-paths (extras evidence)
  "Adds to EXTRAS, by slot, what paths hold, as numbers: file, field, count in 32, 8, 16 bits."
  (declare (type simple-vector extras) (optimize (speed 3) (safety 0)))
  (loop for file of-type (unsigned-byte 32) across (the u32-vector (index-order (evidence-index evidence)))
        do (map-path-slots (lambda (slot field)
                             (declare (type (unsigned-byte 16) slot field))
                             (push (logior (ash file 24) (ash field 16) 1) (svref extras slot)))
                           evidence file)))

(defun note-stale (extras evidence)
  "Likewise what stale files hold."
  (let ((index (evidence-index evidence)) (octets (all-octets evidence)))
    (dolist (file (tables-stale-files (evidence-tables evidence)))
      (map-run-slots (lambda (slot field count)
                       (declare (type fixnum slot field) (type (unsigned-byte 16) count))
                       (unless (zerop count)
                         (push (logior (ash (the (unsigned-byte 32) file) 24) (ash field 16) count) (svref extras slot))))
                     evidence octets (index-run index file)))))

(defun extras (evidence)
  (let ((extras (make-array (1+ (slot-count evidence)) :initial-element '())))
    (note-paths extras evidence)
    (note-stale extras evidence)
    extras))

;;; Slot by slot

(defconstant +most-rooted-names+ 5000
  "Names beyond which a root is passed over: it says little, and in a tree of four million names looking at all that begin with `confi' takes
as long as everything else. On the instances measured no root that says anything has as many.")

(defun passed-over-p (tables term)
  (and (= (the fixnum (term-kind term)) +root+)
       (let ((names 0))
         (declare (type fixnum names))
         (do-inverted (list) ((words-terms (tables-words tables)) (the (unsigned-byte 32) (term-hash term)))
           (incf names))
         (> names +most-rooted-names+))))

(defun add-term (tally tables term)
  "Adds what the files hold of the names that TERM stands in."
  (let ((last +none+))
    (declare (type (unsigned-byte 32) last))
    (do-inverted (list) ((words-terms (tables-words tables)) (the (unsigned-byte 32) (term-hash term)))
      ;; `a_b_a' has the term a twice
      (unless (= list last)
        (setf last list)
        (add-list tally tables list)))))

(defun fill-tally (tally evidence slot extras)
  (declare (type tally tally) (type fixnum slot))
  (let ((tables (evidence-tables evidence)))
    (if (< slot (evidence-term-count evidence))
        (let ((term (svref (evidence-terms evidence) slot)))
          (when (passed-over-p tables term) (return-from fill-tally nil))
          (add-term tally tables term))
        (dolist (name (svref (evidence-names evidence) (- slot (evidence-term-count evidence))))
          (let ((list (occurrences-of (words-occurrences (tables-words tables)) name)))
            (unless (= list +none+) (add-list tally tables list)))))
    (dolist (extra (svref extras slot))
      (declare (type (unsigned-byte 56) extra))
      (let ((row (tally-row tally (ash extra -24))))
        (incf (aref (tally-counts tally) (+ row (ldb (byte 8 16) extra))) (ldb (byte 16 0) extra))))))

(defun borrow-tally (evidence)
  "An empty tally, one that an earlier query has given back if there is one: fresh memory costs more than all counting."
  (or (sb-ext:atomic-pop (tables-spare (evidence-tables evidence))) (make-tally (make-u32 (evidence-file-count evidence)))))

(defun give-back (tally evidence)
  "Keeps TALLY, which is empty, for the next query."
  (sb-ext:atomic-push tally (tables-spare (evidence-tables evidence))))

(defmacro do-slots ((slot tally evidence) &body body)
  "BODY for each SLOT of EVIDENCE, ascending, with the TALLY of the files that have it."
  (let ((e (gensym)) (extras (gensym)))
    `(let* ((,e ,evidence) (,extras (extras ,e)) (,tally (borrow-tally ,e)))
       (dotimes (,slot (slot-count ,e))
         (fill-tally ,tally ,e ,slot ,extras)
         ,@body
         (tally-clear ,tally))
       ;; a query that was broken off leaves its counts in it: that one is not given back
       (give-back ,tally ,e))))

(defmacro do-counted ((file row counts) (tally) &body body)
  "BODY for each FILE of TALLY; its counts by field begin at ROW of COUNTS."
  (let ((i (gensym)) (files (gensym)))
    `(let ((,files (tally-files ,tally)) (,counts (tally-counts ,tally)))
       (declare (type u32-vector ,files ,counts))
       (dotimes (,i (tally-count ,tally))
         (let ((,file (aref ,files ,i)) (,row (* +fields+ ,i)))
           (declare (type (unsigned-byte 32) ,file) (type index-number ,row))
           ,@body)))))

(defun slots-of-file (evidence file)
  "The slots that FILE has anywhere, ascending."
  (let ((slots '()))
    (map-path-slots (lambda (slot field) (declare (ignore field)) (pushnew slot slots)) evidence file)
    (map-run-slots (lambda (slot field count) (declare (ignore field count)) (pushnew slot slots))
                   evidence (all-octets evidence) (index-run (evidence-index evidence) file))
    (sort slots #'<)))
