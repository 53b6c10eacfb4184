;;;; Regions: in the best files, how often each definition holds each term of a task. Their text is read again from the file,
;;;; since lines are kept of no word; ten files of usual size take a few milliseconds.

(defpackage #:opl.search.regions
  (:use #:cl #:opl.index.store #:opl.source.facts #:opl.search.evidence)
  (:import-from #:opl.source.names #:octets #:u32-vector #:make-u32 #:make-octets #:+none+)
  (:import-from #:opl.source.columns #:run)
  (:import-from #:opl.source.octets #:make-octet-buffer #:octet-buffer-octets #:octet-buffer-size)
  (:import-from #:opl.source.text #:load-text)
  (:import-from #:opl.search.terms #:map-terms #:word-start-p #:word-octet-p)
  (:import-from #:opl.search.text #:symbol-class)
  (:export #:regions #:regions-defs #:regions-places #:regions-lengths #:regions-counts #:regions-octets #:regions-size #:count-file
           #:make-word-cache #:index-number #:+symbol-octets+))
(in-package #:opl.search.regions)

(declaim (optimize (speed 2) (safety 1)))

(deftype index-number () '(integer 0 #.(ash most-positive-fixnum -3)))

(defconstant +symbol-octets+ 1500000 "Octets that are read of the best files together.")

(defun read-file-text (index file)
  "The octets of FILE as they are now, and how many; nil when it cannot be read."
  (let ((path (index-path index file)))
    (multiple-value-bind (type size) (opl.source.octets:file-state (opl.source.octets:native-join (index-root index) path))
      (when (and (eq type :regular) (< (the fixnum size) +symbol-octets+))
        ;; room for the file and no more: large vectors cost more to make than to fill
        (let ((buffer (make-octet-buffer :octets (make-octets (1+ (the fixnum size))))))
          (when (load-text buffer (index-root index) path size)
            (values (octet-buffer-octets buffer) (octet-buffer-size buffer))))))))

(defvar *read-text* #'read-file-text "The function of (index file) that gives a file's octets and size.")
(defun file-text (index file) (funcall (the function *read-text*) index file))

(defconstant +file-definitions+ 6000 "Definitions of one file that are looked at.")

;;; One file: which definition each line belongs to, and how often each holds each term

(defstruct regions
  (defs (make-u32 0) :type u32-vector)             ; ordinals of the definitions that count
  (places (make-u32 0) :type u32-vector)           ; def -> its place in DEFS, +none+
  (lengths (make-u32 0) :type u32-vector)          ; words of each
  (counts (make-octets 0) :type octets)            ; place * terms + slot, at most 255
  (octets (make-octets 0) :type octets)            ; the text itself
  (size 0 :type index-number))

(defconstant +local-lines+ 4 "Lines from which a function within a function can be an answer: modules of JavaScript are often one function.")

(defun shown-kind-p (run def)
  "Whether DEF can be an answer: a type or something called, not a short local, a field or a forward declaration."
  (declare (type run run))
  (let ((class (symbol-class (def-kind run def))))
    (declare (type fixnum class))
    (and (< class 2)
         (or (not (logtest +local+ (def-flags run def)))
             (and (= class 1) (/= (def-end run def) +none+)
                  (>= (- (def-end run def) (def-line run def)) (1- +local-lines+)))))))

(defun last-line (run def following)
  "The end of DEF, else the line before the FOLLOWING definition, else its own."
  (let ((end (def-end run def)) (line (def-line run def)))
    (cond ((/= end +none+) (max end line))
          (following (max line (1- (the fixnum following))))
          (t line))))

(defun definition-order (run)
  "The definitions that count, by line, outer before inner."
  (declare (type run run))
  (let ((defs (loop for def of-type (unsigned-byte 32) from 0 below (min +file-definitions+ (def-count run))
                    when (shown-kind-p run def) collect def)))
    (sort defs (lambda (a b) (or (< (def-line run a) (def-line run b))
                                 (and (= (def-line run a) (def-line run b))
                                      (> (the fixnum (last-line run a nil)) (the fixnum (last-line run b nil)))))))))

(defun paint-lines (run defs lines)
  "A vector from line to the place of its innermost definition, plus 1."
  (let ((owners (make-u32 (+ 2 lines))))
    (loop for (def . rest) on defs for place of-type (unsigned-byte 32) from 1
          do (let ((end (last-line run def (and rest (def-line run (first rest))))))
               (declare (type fixnum end))
               (loop for line from (def-line run def) to (min end lines) do (setf (aref owners line) place))))
    owners))

(defconstant +cached-words+ 2048 "Places of the words seen last; a file of usual size has a tenth of that.")

(defstruct word-cache
  "The slots that a word answers to, by a hash of the word as written: most words of a file occur many times."
  (keys (make-array +cached-words+ :element-type '(unsigned-byte 62) :initial-element 0) :type (simple-array (unsigned-byte 62) (*)))
  (slots (make-array +cached-words+ :initial-element '()) :type simple-vector))

(defun slots-of-word (evidence octets start end)
  (let ((table (evidence-slot-table evidence)) (slots '()))
    (map-terms (lambda (hash whole-p)
                 (declare (ignore whole-p))
                 (let ((slot (slot-of table hash))) (when slot (push slot slots))))
               octets start end)
    slots))

(defun count-terms (evidence cache octets size owners counts lengths)
  "Counts the task's terms in the words of OCTETS[0, SIZE), line by line, for the owner of the line."
  (declare (type octets octets counts) (type index-number size) (type u32-vector owners lengths) (type word-cache cache)
           (optimize (speed 3) (safety 0)))
  (let ((i 0) (line 1) (terms (evidence-term-count evidence)) (last (1- (length owners)))
        (keys (word-cache-keys cache)) (cached (word-cache-slots cache)))
    (declare (type index-number i line last terms))
    (loop while (< i size)
          do (let ((octet (aref octets i)))
               (cond ((= octet 10) (incf line) (incf i))
                     ((word-start-p octet)
                      (let ((from i) (owner (aref owners (min line last))) (key 1469598103934665603))
                        (declare (type (unsigned-byte 62) key))
                        (loop while (and (< i size) (word-octet-p (aref octets i)))
                              do (setf key (ldb (byte 62 0) (* (logxor key (aref octets i)) 1099511628211)))
                                 (incf i))
                        (unless (zerop owner)
                          (incf (aref lengths (1- owner)))
                          (let ((place (logand (logxor key (ash key -29)) (1- +cached-words+))))
                            (unless (= key (aref keys place))
                              (setf (aref keys place) key (svref cached place) (slots-of-word evidence octets from i)))
                            (dolist (slot (svref cached place))
                              (let ((at (+ (* (1- owner) terms) (the index-number slot))))
                                (declare (type index-number at))
                                (when (< (aref counts at) 255) (incf (aref counts at)))))))))
                     ((word-octet-p octet) (loop while (and (< i size) (word-octet-p (aref octets i))) do (incf i)))
                     (t (incf i)))))))

(defun count-lines (octets size)
  (declare (type octets octets) (type index-number size) (optimize (speed 3) (safety 0)))
  (let ((lines 1))
    (declare (type index-number lines))
    (dotimes (i size lines) (when (= 10 (aref octets i)) (incf lines)))))

(defun count-file (evidence cache file)
  "The regions of FILE with their counts; nil when it has no definitions or cannot be read."
  (let* ((index (evidence-index evidence)) (run (index-run index file)) (defs (definition-order run)))
    (when defs
      (multiple-value-bind (octets size) (file-text index file)
        (when octets
          (let* ((lines (count-lines octets size)) (owners (paint-lines run defs lines)) (places (make-u32 (def-count run) +none+))
                 (count (length defs)) (counts (make-octets (* count (max 1 (evidence-term-count evidence))))) (lengths (make-u32 count)))
            (loop for def in defs for place from 0 do (setf (aref places def) place))
            (count-terms evidence cache octets size owners counts lengths)
            (make-regions :defs (coerce defs 'u32-vector) :places places :lengths lengths :counts counts :octets octets :size size)))))))
