;;;; The words of all files as an index of its own: what a term occurs in, name by name, and the files that hold a phrase. Made once for a set of runs. Files that are read again later are stale in it: passed over, and their runs looked
;;;; through at each query, so an index refreshed file by file answers as one made anew, until there are so many that all is made anew.

(defpackage #:opl.search.words
  (:use #:cl #:opl.index.store #:opl.search.inverted #:opl.search.occurrences)
  (:import-from #:opl.source.names #:octets #:u32-vector #:names #:names-count #:names-octets #:name-bounds #:with-names-locked #:+none+)
  (:import-from #:opl.source.facts #:word-count)
  (:import-from #:opl.search.terms #:map-name-terms)
  (:import-from #:opl.search.text #:trigram-count #:trigram-hash)
  (:import-from #:opl.index.snapshot #:snapshot-of #:write-blocks #:read-blocks)
  (:import-from #:opl.index.workspace #:*workspace* #:workspace-cache)
  (:export #:words #:words-for #:keep-words #:words-terms #:words-occurrences #:words-phrases))
(in-package #:opl.search.words)

(declaim (optimize (speed 2) (safety 1)))

(defstruct words
  (runs (vector) :type simple-vector)              ; by file, as they were read; nil where there was no file
  (row-count 0 :type fixnum)
  (terms nil :type inverted)                       ; term -> where the list of each name that has it begins in OCCURRENCES
  (occurrences nil :type occurrences)
  (phrases nil :type inverted))                    ; hash of three words in a row -> files

(defun lists-by-term (names count occurrences)
  (declare (type names names) (type (unsigned-byte 32) count) (optimize (speed 3) (safety 0)))
  (let ((octets (with-names-locked (names) (names-octets names))))
    (declare (type octets octets))
    (build-inverted (add)
      (dotimes (name count)
        (let ((list (occurrences-of occurrences name)))
          (unless (= list +none+)
            (multiple-value-bind (start end) (name-bounds names name)
              (map-name-terms (lambda (hash kind) (declare (ignore kind) (type (unsigned-byte 32) hash)) (add hash list)) octets start end))))))))

(defun files-by-phrase (runs)
  (declare (type simple-vector runs) (optimize (speed 3)))
  (build-inverted (add)
    (dotimes (file (length runs))
      (let ((run (svref runs file)))
        (when run
          (dotimes (i (the (unsigned-byte 32) (trigram-count run)))
            (add (trigram-hash run i) (the (unsigned-byte 32) file))))))))

(defun row-count (runs)
  (loop for run across (the simple-vector runs) when run sum (the fixnum (word-count run)) of-type fixnum))

(defun read-words (index)
  (let* ((count (names-count (index-names index))) (runs (copy-seq (index-runs index))) (occurrences (build-occurrences runs count)))
    (make-words :runs runs :row-count (row-count runs)
                :terms (lists-by-term (index-names index) count occurrences)
                :occurrences occurrences
                :phrases (files-by-phrase runs))))

;;; Kept beside the snapshot, for reading it again takes a twentieth of what making it does

(defconstant +words-layout+ 1 "Raised when the blocks below, or the terms of a name, change.")
(defparameter *worth-keeping* 8000000 "Octets from which it is kept; less is made in a fifth of a second.")
(defparameter *words-file* "index.words")

(defun same-runs-p (a b)
  (declare (type simple-vector a b))
  (and (= (length a) (length b)) (every #'eq a b)))

(defun keep-words (words index cache)
  "Writes WORDS into the folder CACHE, if they are those of the snapshot of INDEX and large enough."
  (multiple-value-bind (identity runs) (snapshot-of index)
    (when (and identity cache (>= (words-octets words) *worth-keeping*) (same-runs-p runs (words-runs words)))
      (flet ((vectors (inverted) (list (inverted-starts inverted) (inverted-rests inverted) (inverted-places inverted))))
        (write-blocks cache *words-file* (list :layout +words-layout+ :snapshot identity)
                      (append (list (occurrences-starts (words-occurrences words)) (occurrences-octets (words-occurrences words)))
                              (vectors (words-terms words)) (vectors (words-phrases words)))
                      :durable nil)))))

(defun kept-words (index cache)
  "The words that were kept for the snapshot of INDEX, or nil."
  (multiple-value-bind (identity runs) (snapshot-of index)
    (when (and identity cache)
      (let ((blocks (nth-value 1 (read-blocks cache *words-file*
                                              (lambda (form) (and (eql (getf form :layout) +words-layout+) (eql (getf form :snapshot) identity)))))))
        (when blocks
          (destructuring-bind (starts octets term-starts term-rests term-places phrase-starts phrase-rests phrase-places) blocks
            (make-words :runs runs :row-count (row-count runs)
                        :occurrences (make-occurrences :starts starts :octets octets)
                        :terms (make-inverted :starts term-starts :rests term-rests :places term-places)
                        :phrases (make-inverted :starts phrase-starts :rests phrase-rests :places phrase-places))))))))

(defun make-anew (index)
  "The words of INDEX: kept ones, as long as not too many of their files are stale, or new ones, which are kept."
  (let* ((cache (and *workspace* (workspace-cache *workspace*))) (kept (kept-words index cache)))
    (if (and kept (stale-files kept index))
        kept
        (let ((words (read-words index)))
          (keep-words words index cache)
          words))))

(defconstant +most-stale-rows+ 20000
  "Words of stale files beyond which, when they are a tenth of all too, everything is read anew: looking through as many takes 2 ms.")

(defun stale-files (words index)
  "A bit by file, and the files that are stale and there; nil when they are too many."
  (let* ((known (words-runs words)) (runs (index-runs index)) (size (index-file-count index)) (rows 0)
         (most (max +most-stale-rows+ (floor (words-row-count words) 10)))
         (bits (make-array size :element-type 'bit :initial-element 0)) (files '()))
    (declare (type fixnum rows most) (type simple-vector known runs))
    (dotimes (file size (values bits files))
      (let ((run (svref runs file)))
        (unless (and (< file (length known)) (eq run (svref known file)))
          (setf (sbit bits file) 1)
          (when run
            (push file files)
            (when (> (incf rows (the fixnum (word-count run))) most) (return nil))))))))

(defun words-for (words index)
  "The words of INDEX, WORDS itself when they still serve (nil: there are none yet); a bit by file for those that are stale; the stale files."
  (multiple-value-bind (bits files) (and words (stale-files words index))
    (if bits
        (values words bits files)
        (let ((words (make-anew index)))
          (multiple-value-bind (bits files) (stale-files words index) (values words bits files))))))

(defun words-octets (words)
  "Octets that WORDS take."
  (+ (inverted-octets (words-terms words)) (occurrences-octet-count (words-occurrences words)) (inverted-octets (words-phrases words))))
