;;;; Names: every identifier, keyword, operator, kind and path component of a repository, interned once
;;;; in an arena of octets, so that the rest of the sidecar compares (unsigned-byte 32) numbers.

(defpackage #:opl.source.names
  (:use #:cl)
  (:export #:octets #:u32-vector #:make-octets #:make-u32 #:+none+
           #:known #:name-case #:well-known-count
           #:names #:make-names-arena #:names-count #:intern-octets #:intern-string #:find-name
           #:name-string #:name-length #:name-octet #:name-bounds #:names-octets
           #:lexicon #:make-lexicon #:lexicon-reset #:lexicon-intern #:lexicon-count #:lexicon-globalize
           #:lexicon-uses #:lexicon-starts #:lexicon-ends #:string-octets #:octets-string #:with-names-locked
           #:names-columns #:names-from-columns #:octet-position #:octet-count #:hash-octets #:well-known-number))
(in-package #:opl.source.names)

(deftype octets () '(simple-array (unsigned-byte 8) (*)))
(deftype u32-vector () '(simple-array (unsigned-byte 32) (*)))
(deftype index () '(integer 0 #.(ash most-positive-fixnum -2)))

(defconstant +none+ #xFFFFFFFF
  "The (unsigned-byte 32) that stands for `nothing': no mate, no scope, no type.")

(declaim (inline make-octets make-u32))
(defun make-octets (size)
  "SIZE octets, all 0."
  (make-array size :element-type '(unsigned-byte 8) :initial-element 0))
(defun make-u32 (size &optional (initial 0))
  "SIZE words of 32 bits, all INITIAL."
  (make-array size :element-type '(unsigned-byte 32) :initial-element initial))

;; SBCL's own `position' and `count' take the slow road on octets with bounds: ten times as long as these loops.

(declaim (ftype (function ((unsigned-byte 8) octets index index) (or null index)) octet-position)
         (ftype (function ((unsigned-byte 8) octets index index) index) octet-count))
(defun octet-position (octet octets start end)
  "Where OCTET first stands in OCTETS[START, END), or nil."
  (declare (optimize (speed 3) (safety 0)))
  (loop for i of-type index from start below end
        when (= (aref octets i) octet) do (return i)))
(defun octet-count (octet octets start end)
  "How often OCTET stands in OCTETS[START, END)."
  (declare (optimize (speed 3) (safety 0)))
  (let ((count 0)) (declare (type index count))
    (loop for i of-type index from start below end
          do (when (= (aref octets i) octet) (incf count)))
    count))

(defun string-octets (string)
  "STRING in UTF-8."
  (sb-ext:string-to-octets string :external-format :utf-8))
(defun octets-string (octets &key (start 0) (end (length octets)))
  "The text of OCTETS between START and END; octets that are no UTF-8 become U+FFFD."
  (declare (type octets octets))
  (sb-ext:octets-to-string octets :start start :end end
                                  :external-format '(:utf-8 :replacement #\ufffd)))

;;; Well-known names: those the code itself speaks of. They get the first numbers of every arena, in the
;;; order in which the source files were loaded, so that `(known "class")' is a constant at run time.

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defvar *well-known* (make-array 512 :adjustable t :fill-pointer 0))
  (defvar *well-known-numbers* (make-hash-table :test 'equal))
  (defun well-known-number (string)
    "The number of STRING in every arena, given to it when first asked for: while compiling or loading only."
    (or (gethash string *well-known-numbers*)
        (setf (gethash string *well-known-numbers*)
              (vector-push-extend (coerce string 'simple-string) *well-known*)))))

(defmacro known (string)
  "The number that STRING, a literal, has in every names arena."
  (check-type string string)
  `(the (unsigned-byte 32) (load-time-value (well-known-number ,string) t)))

(defmacro name-case (name &body clauses)
  "`case' over a name's number; keys are literal strings or lists of them, `t' the default."
  (let ((n (gensym "NAME")))
    `(let ((,n ,name))
       (declare (type (unsigned-byte 32) ,n) (ignorable ,n))
       (cond ,@(loop for (keys . body) in clauses
                     collect (if (member keys '(t otherwise))
                                 `(t ,@body)
                                 `((or ,@(loop for key in (if (listp keys) keys (list keys))
                                               collect `(= ,n (known ,key))))
                                   ,@body)))))))

(defun well-known-count ()
  "How many names have the same number in every arena: the numbers below this one."
  (length *well-known*))

;;; The arena

(defstruct (names (:constructor %make-names))
  (octets (make-octets 65536) :type octets)
  (starts (make-u32 8192) :type u32-vector)     ; starts[n] .. starts[n+1] are the octets of name n
  (hashes (make-u32 8192) :type u32-vector)
  (count 0 :type (unsigned-byte 32))
  (table (make-u32 16384 +none+) :type u32-vector) ; open addressing, at most half full
  (lock (sb-thread:make-mutex :name "names")))

(defmethod print-object ((names names) stream)
  (print-unreadable-object (names stream :type t) (format stream "~D" (names-count names))))

(defmacro with-names-locked ((names) &body body)
  "BODY while no other thread adds to NAMES; may be nested."
  `(sb-thread:with-recursive-lock ((names-lock ,names)) ,@body))

(declaim (inline hash-octets))
(defun hash-octets (octets start end)
  "FNV-1a, 32 bits (Fowler, Noll, Vo)."
  (declare (type octets octets) (type index start end) (optimize (speed 3) (safety 0)))
  (let ((hash 2166136261))
    (declare (type (unsigned-byte 32) hash))
    (loop for i of-type index from start below end
          do (setf hash (ldb (byte 32 0) (* (logxor hash (aref octets i)) 16777619))))
    hash))

(defun grow-u32 (vector size)
  (declare (type u32-vector vector))
  (replace (make-u32 size) vector))

(defun rehash (names)
  (let* ((size (* 2 (length (names-table names)))) (mask (1- size)) (table (make-u32 size +none+))
         (hashes (names-hashes names)))
    (declare (type u32-vector table hashes) (type index mask) (optimize (speed 2) (safety 0)))
    (dotimes (n (names-count names))
      (let ((slot (logand (aref hashes n) mask)))
        (declare (type index slot))
        (loop until (= (aref table slot) +none+) do (setf slot (logand (1+ slot) mask)))
        (setf (aref table slot) n)))
    (setf (names-table names) table)))

(defun same-octets-p (a a-start b b-start length)
  (declare (type octets a b) (type index a-start b-start length) (optimize (speed 3) (safety 0)))
  (loop for i of-type index from a-start below (the index (+ a-start length))
        for j of-type index from b-start
        always (= (aref a i) (aref b j))))

(defun probe (names octets start end hash)
  "The number of the name, or the slot where it would go as a second value."
  (declare (type names names) (type octets octets) (type index start end) (type (unsigned-byte 32) hash)
           (optimize (speed 3) (safety 0)))
  (let* ((table (names-table names)) (mask (1- (length table))) (slot (logand hash mask))
         (hashes (names-hashes names)) (starts (names-starts names)) (arena (names-octets names))
         (length (- end start)))
    (declare (type index slot mask length))
    (loop
      (let ((n (aref table slot)))
        (when (= n +none+) (return (values nil slot)))
        (when (and (= (aref hashes n) hash)
                   (= (- (aref starts (1+ n)) (aref starts n)) length)
                   (same-octets-p arena (aref starts n) octets start length))
          (return (values n slot)))
        (setf slot (logand (1+ slot) mask))))))

(defun add-name (names octets start end hash slot)
  (declare (type names names) (type octets octets) (type index start end slot)
           (optimize (speed 2) (safety 0)))
  (let* ((n (names-count names)) (at (aref (names-starts names) n)) (length (- end start)))
    (declare (type index at length))
    (when (> (+ at length) (length (names-octets names)))
      (setf (names-octets names)
            (replace (make-octets (max (* 2 (length (names-octets names))) (+ at length)))
                     (names-octets names))))
    (when (>= (+ n 2) (length (names-starts names)))
      (setf (names-starts names) (grow-u32 (names-starts names) (* 2 (length (names-starts names)))))
      (setf (names-hashes names) (grow-u32 (names-hashes names) (* 2 (length (names-hashes names))))))
    (replace (names-octets names) octets :start1 at :start2 start :end2 end)
    (setf (aref (names-starts names) (1+ n)) (+ at length)
          (aref (names-hashes names) n) hash
          (aref (names-table names) slot) n
          (names-count names) (1+ n))
    (when (> (* 2 (names-count names)) (length (names-table names))) (rehash names))
    n))

(defun intern-octets (names octets start end &optional (hash (hash-octets octets start end)))
  "The number of the name OCTETS[START, END), added when new. Locks NAMES."
  (declare (type names names) (type octets octets) (type index start end))
  (with-names-locked (names)
    (multiple-value-bind (n slot) (probe names octets start end hash)
      (or n (add-name names octets start end hash slot)))))

(defun intern-string (names string)
  "The number of STRING in NAMES, added when new."
  (let ((octets (string-octets string))) (intern-octets names octets 0 (length octets))))

(defun find-name (names string)
  "The number of STRING in NAMES, or nil when no file has it."
  (let ((octets (string-octets string)))
    (with-names-locked (names)
      (values (probe names octets 0 (length octets) (hash-octets octets 0 (length octets)))))))

(defun make-names-arena ()
  "An arena that holds the well-known names alone."
  (let ((names (%make-names)))
    (loop for string across *well-known* do (intern-string names string))
    names))

(declaim (inline name-bounds name-length name-octet))
(defun name-bounds (names n)
  "Values: where name number N begins in `names-octets' and the octet behind it."
  (declare (type names names) (type (unsigned-byte 32) n))
  (let ((starts (names-starts names))) (values (aref starts n) (aref starts (1+ n)))))
(defun name-length (names n)
  "Octets, not characters, of name number N."
  (multiple-value-bind (start end) (name-bounds names n) (- end start)))
(defun name-octet (names n i)
  "Octet I of name number N; I is not checked."
  (aref (names-octets names) (+ (aref (names-starts names) n) i)))

(defun name-string (names n)
  "The text of name N; the empty string for `nothing'."
  (if (= n +none+)
      ""
      (multiple-value-bind (start end) (name-bounds names n)
        (octets-string (names-octets names) :start start :end end))))

(defun names-columns (names)
  "What a snapshot keeps of NAMES: the octets used, and the ends of each name."
  (with-names-locked (names)
    (let ((count (names-count names)))
      (values (subseq (names-octets names) 0 (aref (names-starts names) count))
              (subseq (names-starts names) 0 (1+ count))))))

(defun names-from-columns (octets starts)
  "The arena that `names-columns' was taken of, or nil when its well-known names are not today's."
  (declare (type octets octets) (type u32-vector starts))
  (let* ((count (1- (length starts)))
         (size (loop for size = 16384 then (* 2 size) when (> size (* 2 count)) return size))
         (hashes (make-u32 (length starts))))
    (dotimes (n count)
      (setf (aref hashes n) (hash-octets octets (aref starts n) (aref starts (1+ n)))))
    (let ((names (%make-names :octets octets :starts starts :hashes hashes :count count
                              :table (make-u32 (floor size 2)))))
      (rehash names)
      (and (>= count (well-known-count))
           (loop for n from 0 for string across *well-known* always (string= string (name-string names n)))
           names))))

;;; A lexicon: the distinct names of one file, numbered as they come, emptied for the next file. Workers
;;; intern into it without a lock and carry the few hundred distinct names over to the arena at the end.

(defstruct (lexicon (:constructor %make-lexicon))
  (table (make-u32 4096 0) :type u32-vector)      ; 1 + local number, 0 is empty
  (starts (make-u32 2048) :type u32-vector)
  (ends (make-u32 2048) :type u32-vector)
  (hashes (make-u32 2048) :type u32-vector)
  (uses (make-u32 2048) :type u32-vector)         ; occurrences, packed as section `word' does
  (count 0 :type (unsigned-byte 32)))

(defun make-lexicon ()
  "An empty lexicon, to be used for file after file (see `lexicon-reset')."
  (%make-lexicon))

(defun lexicon-reset (lexicon)
  "Empties LEXICON; a table that one large file made grow is let go."
  (declare (type lexicon lexicon))
  (if (> (length (lexicon-table lexicon)) 65536)
      (setf (lexicon-table lexicon) (make-u32 4096 0))
      (fill (lexicon-table lexicon) 0))
  (fill (lexicon-uses lexicon) 0)
  (setf (lexicon-count lexicon) 0)
  lexicon)

(defun lexicon-grow (lexicon)
  (let ((size (* 2 (length (lexicon-starts lexicon)))))
    (macrolet ((grow (&rest slots)
                 `(progn ,@(loop for slot in slots collect `(setf (,slot lexicon) (grow-u32 (,slot lexicon) size))))))
      (grow lexicon-starts lexicon-ends lexicon-hashes lexicon-uses))
    (let* ((table (make-u32 (* 2 size) 0)) (mask (1- (length table))))
      (declare (type u32-vector table) (type index mask))
      (dotimes (n (lexicon-count lexicon))
        (let ((slot (logand (aref (lexicon-hashes lexicon) n) mask)))
          (loop until (zerop (aref table slot)) do (setf slot (logand (1+ slot) mask)))
          (setf (aref table slot) (1+ n))))
      (setf (lexicon-table lexicon) table))))

(defun lexicon-intern (lexicon octets start end)
  "The local number of OCTETS[START, END)."
  (declare (type lexicon lexicon) (type octets octets) (type index start end)
           (optimize (speed 3) (safety 0)))
  (let* ((hash (hash-octets octets start end)) (table (lexicon-table lexicon))
         (mask (1- (length table))) (slot (logand hash mask)) (length (- end start))
         (hashes (lexicon-hashes lexicon)) (starts (lexicon-starts lexicon)) (ends (lexicon-ends lexicon)))
    (declare (type index mask slot length))
    (loop
      (let ((n (aref table slot)))
        (when (zerop n) (return))
        (decf n)
        (when (and (= (aref hashes n) hash) (= (- (aref ends n) (aref starts n)) length)
                   (same-octets-p octets (aref starts n) octets start length))
          (return-from lexicon-intern n))
        (setf slot (logand (1+ slot) mask))))
    (let ((n (lexicon-count lexicon)))
      (setf (aref starts n) start (aref ends n) end (aref hashes n) hash
            (aref (lexicon-uses lexicon) n) 0
            (aref table slot) (1+ n)
            (lexicon-count lexicon) (1+ n))
      (when (>= (+ n 2) (length starts)) (lexicon-grow lexicon))
      n)))

(defun lexicon-globalize (lexicon octets names)
  "A vector from the local numbers of LEXICON, whose names stand in OCTETS, to those of NAMES."
  (declare (type lexicon lexicon) (type octets octets))
  (let* ((count (lexicon-count lexicon)) (map (make-u32 count)) (starts (lexicon-starts lexicon))
         (ends (lexicon-ends lexicon)) (hashes (lexicon-hashes lexicon)))
    (declare (type u32-vector map starts ends hashes))
    (with-names-locked (names)
      (dotimes (n count)
        (let ((hash (aref hashes n)))
          (multiple-value-bind (global slot) (probe names octets (aref starts n) (aref ends n) hash)
            (setf (aref map n)
                  (or global (add-name names octets (aref starts n) (aref ends n) hash slot)))))))
    map))
