;;;; Evidence: which terms and identifiers of a task are looked for, by slot, and what was found of them. lexical.lisp fills it.

(defpackage #:opl.search.evidence
  (:use #:cl #:opl.index.store #:opl.search.tables #:opl.search.query #:opl.search.reading)
  (:import-from #:opl.source.facts #:def-kind)
  (:import-from #:opl.search.text #:symbol-class)
  (:import-from #:opl.source.names #:octets #:u32-vector #:make-u32 #:find-name #:string-octets #:+none+)
  (:import-from #:opl.search.terms #:map-name-terms #:+whole+)
  (:export #:evidence #:prepare-evidence #:evidence-index #:evidence-task #:evidence-tables #:evidence-terms #:evidence-words
           #:evidence-uses #:evidence-use-count #:evidence-scores #:evidence-frequencies #:evidence-definitions #:evidence-term-count
           #:slot-count
           #:evidence-weights #:evidence-title-weights #:evidence-kinds #:evidence-file-count #:evidence-history
           #:evidence-names #:evidence-name-slots
           #:evidence-memo #:evidence-edited #:+name-words+ #:slot-of #:evidence-slot-table))
(in-package #:opl.search.evidence)

(declaim (optimize (speed 2) (safety 1)))

(deftype index-number () '(integer 0 #.(ash most-positive-fixnum -3)))

(defconstant +most-terms+ 480 "Terms of a task that are looked for, the weightiest; a long log has more.")
(defconstant +most-words+ 200 "Whole identifiers that are looked for as written.")

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
  (names (vector) :type simple-vector)             ; slot - term-count -> the names of that word, as numbers
  (name-slots (make-hash-table) :type hash-table)  ; name -> the slot of the word that it is
  (uses (make-u32 192) :type u32-vector)           ; slot of a word, file, uses in its code, and so on
  (use-count 0 :type index-number)
  (scores (vector) :type simple-vector)            ; of float vectors by file: see lexical.lisp
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

(defun whole-terms (words terms)
  "Of WORDS with marks, the terms that they are as a whole, but for those among TERMS: their parts are among them already."
  (loop for word in words
        for octets = (string-octets (word-text word))
        for term = nil
        do (map-name-terms (lambda (hash kind)
                             (when (and (= (the fixnum kind) +whole+) (not (find hash terms :key #'term-hash)))
                               (setf term (make-term :hash hash :kind +whole+ :text (word-text word) :counts (word-counts word) :plain-p nil))))
                           octets 0 (length octets))
        when term collect term and do (push term terms)))

(defun choose-terms (task marked)
  "The weightiest terms with their weights; plain words when there is nothing else. MARKED: words with marks that are names."
  (let* ((weighed (loop for term in (append (whole-terms marked (task-terms task)) (task-terms task))
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

;;; Which names are the words

(defparameter *spellings* '("~A" "~A?" "~A!" "~A=" "$~A" "#~A" "@~A")
  "What a name may have beside the word that people write: Ruby's marks, sigils, private members.")

(defun find-word-names (evidence)
  "Fills NAMES and NAME-SLOTS; a name is of one word only, the weightiest."
  (let ((index (evidence-index evidence)) (slots (evidence-name-slots evidence)))
    (setf (evidence-names evidence)
          (map 'simple-vector
               (let ((slot (1- (evidence-term-count evidence))))
                 (lambda (word)
                   (incf slot)
                   (loop for spelling in *spellings*
                         for name = (find-name (index-names index) (format nil spelling (word-text word)))
                         when (and name (not (gethash name slots)))
                           collect name and do (setf (gethash name slots) slot))))
               (evidence-words evidence)))))

(declaim (inline slot-count))
(defun slot-count (evidence)
  "How many slots the task's terms and words take, terms first."
  (+ (evidence-term-count evidence) (length (evidence-words evidence))))

(defconstant +most-marked+ 40 "Names with marks that are looked for; a task that names more is a list of them.")

(defun marked-words (index task any-kind-p)
  "The words of TASK with marks in them that are defined in INDEX, as a type or a function or, ANY-KIND-P true, as anything."
  (flet ((defined-p (word)
           (let ((name (find-name (index-names index) (word-text word))))
             (when name
               (do-definitions (file def) (index name)
                 (when (or any-kind-p (< (the fixnum (symbol-class (def-kind (index-run index file) def))) 2))
                   (return-from defined-p t)))))))
    (let ((words (remove-if-not #'defined-p (task-marked task))))
      (subseq words 0 (min +most-marked+ (length words))))))

(defconstant +name-words+ 3 "Words of a task that may be nothing but names.")

(defun few-words-p (task)
  "Whether TASK may be nothing but names."
  (let ((count 0) (before #\Space))
    (declare (type fixnum count))
    (flet ((blank-p (c) (member c '(#\Space #\Tab #\Newline))))
      (loop for c across (the string (task-text task))
            do (when (and (blank-p before) (not (blank-p c)) (> (incf count) +name-words+)) (return-from few-words-p nil))
               (setf before c)))
    t))

(defun prepare-evidence (index history task &key edited)
  "What is to be looked for in INDEX for TASK; HISTORY may be nil. EDITED: paths edited in this session."
  (let* ((marked (marked-words index task (few-words-p task))) (chosen (choose-terms task marked))
         (words (coerce (append marked (choose-words task)) 'simple-vector)) (terms (map 'simple-vector #'cdr chosen))
         (evidence (make-evidence :index index :task task :tables (tables-of index) :history history :file-count (index-file-count index)
                                  :terms terms :words words :term-count (length terms) :edited edited
                                  :weights (map 'floats #'car chosen) :title-weights (map 'floats #'title-weight terms) :kinds (map 'octets #'term-kind terms)
                                  :slot-table (make-slot-table terms) :frequencies (make-u32 (* 9 (+ 1 (length terms) (length words)))))))
    (find-word-names evidence)
    evidence))
