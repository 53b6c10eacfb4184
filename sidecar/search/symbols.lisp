;;;; Symbols: in the best files, the definitions that a task is most likely about. Their text is read again from the file,
;;;; since lines are kept of no word; ten files of usual size take a few milliseconds.

(defpackage #:opl.search.symbols
  (:use #:cl #:opl.index.store #:opl.source.facts #:opl.search.tables #:opl.search.evidence #:opl.search.query #:opl.search.ranking)
  (:import-from #:opl.source.names #:octets #:u32-vector #:make-u32 #:make-octets #:+none+ #:name-string #:name-bounds #:names-octets
           #:with-names-locked
                #:octets-string)
  (:import-from #:opl.source.columns #:run)
  (:import-from #:opl.source.octets #:make-octet-buffer #:octet-buffer-octets #:octet-buffer-size)
  (:import-from #:opl.source.text #:load-text)
  (:import-from #:opl.search.terms #:map-terms #:word-start-p #:word-octet-p)
  (:import-from #:opl.search.text #:symbol-class)
  (:import-from #:opl.search.lexical #:inverse-frequency)
  (:import-from #:opl.search.mentions #:word-weight)
  (:export #:likely-symbols #:symbol-hit #:symbol-hit-file #:symbol-hit-def #:symbol-hit-score #:symbol-hit-octets #:symbol-hit-size
           #:signature-text))
(in-package #:opl.search.symbols)

(declaim (optimize (speed 2) (safety 1)))

(deftype index-number () '(integer 0 #.(ash most-positive-fixnum -3)))

(defstruct symbol-hit
  file def
  (score 0.0 :type single-float)
  (octets (make-octets 0) :type octets) (size 0 :type index-number)) ; the text of its file

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

(defconstant +symbol-files+ 10 "Best files whose definitions are looked at. Recipe 2.10.")
(defconstant +file-definitions+ 6000 "Definitions of one file that are looked at.")

;;; One file: which definition each line belongs to, and how often each holds each term

(defstruct region-counts
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
            (make-region-counts :defs (coerce defs 'u32-vector) :places places :lengths lengths :counts counts :octets octets :size size)))))))

;;; Scores

(defun name-slots (evidence name)
  "The slots of the terms of NAME, a name number: itself as a whole and its parts, each once."
  (declare (type (unsigned-byte 32) name))
  (let ((names (index-names (evidence-index evidence))))
    (multiple-value-bind (start end) (name-bounds names name)
      (remove-duplicates (slots-of-word evidence (with-names-locked (names) (names-octets names)) start end)))))

(defconstant +length-share+ 0.5 "How far a definition's length counts. Recipe 2.10.")
(defconstant +name-bonus+ 2.0 "What a term in the name adds to its occurrences. Recipe 2.10.")
(defconstant +scope-bonus+ 1.0 "The same in the name of the scope alone.")

(defun region-scores (evidence run regions place average inverse)
  "S, and S of the title alone, for the definition at PLACE. Recipe 2.10."
  (declare (type region-counts regions) (type fixnum place) (type single-float average) (type floats inverse) (type run run))
  (let* ((terms (evidence-term-count evidence))
         (def (aref (region-counts-defs regions) place)) (parent (def-parent run def))
         (own (name-slots evidence (def-name run def)))
         (scope (if (= parent +none+) '() (name-slots evidence (def-name run parent))))
         (norm (/ 1.0 (+ (- 1.0 +length-share+) (* +length-share+ (/ (float (aref (region-counts-lengths regions) place)) average)))))
         (sum 0.0) (title 0.0) (weights (evidence-weights evidence)) (title-weights (evidence-title-weights evidence))
         (counts (region-counts-counts regions)) (from (* place terms)))
    (declare (type single-float norm sum title) (type floats weights title-weights) (type fixnum terms from))
    (flet ((add (slot bonus)
             (declare (type fixnum slot) (type single-float bonus))
             (let* ((frequency (+ (* norm (float (aref counts (+ from slot)))) bonus))
                    (share (* (aref inverse slot) (/ frequency (+ 2.0 frequency)))))
               (incf sum (* (aref weights slot) share))
               (incf title (* (aref title-weights slot) share)))))
      (dolist (slot own) (add slot +name-bonus+))
      (dolist (slot scope) (unless (member slot own) (add slot +scope-bonus+)))
      (dotimes (slot terms)
        (unless (or (zerop (aref counts (+ from slot))) (member slot own) (member slot scope)) (add slot 0.0))))
    (values sum title)))

(defun mention-scores (evidence)
  "Name number -> (weight of the word . word) for the identifiers the task names."
  (let ((table (make-hash-table)) (names (index-names (evidence-index evidence))))
    (loop for word across (evidence-words evidence)
          do (let ((name (opl.source.names:find-name names (word-text word))))
               (when (and name (plusp (the single-float (word-weight word))))
                 (setf (gethash name table) (cons (min 2.0 (the single-float (word-weight word))) word)))))
    table))

(defun mention-score (evidence mentions run def)
  "How surely the task names DEF: more when it names its scope too."
  (declare (ignore evidence) (type run run))
  (let ((mention (gethash (def-name run def) mentions)) (parent (def-parent run def)))
    (if (null mention)
        0.0
        (* (the single-float (car mention))
           (if (and (/= parent +none+) (gethash (def-name run parent) mentions)) 1.5 1.0)))))

;;; What counts for a definition. A softmax over the definitions of the ten best files, fitted on development instances with gold
;;; functions and judged on repositories left out, rounded: all gold functions within ten for 46 in 100 where the recipe's constants gave 44.
(defconstant +file-share+ 0.5 "What the score of its file counts.")
(defconstant +words-share+ 2.3 "What the task's terms in it count.")
(defconstant +title-share+ 0.9 "What the title's count.")
(defconstant +named-share+ 0.4 "What being named counts.")
(defconstant +size-share+ 0.65 "What the logarithm of its words counts: fixes are made where there is much to fix.")
(defconstant +crowd-cost+ 0.65 "What the logarithm of how many definitions of its file hold a term takes: one of few is likelier than one of many.")
(defconstant +type-cost+ 2.4 "What is taken from a type, of which its functions say more.")
(defconstant +named-type-cost+ 0.5 "What being named takes from a type again: a fix is made in its functions.")

(defun size-of (regions def)
  "The logarithm of the words of DEF."
  (declare (type region-counts regions) (type (unsigned-byte 32) def))
  (log (+ 1.0 (float (aref (region-counts-lengths regions) (aref (region-counts-places regions) def))))))

(defun crowds (rows)
  "File -> the logarithm of how many of ROWS, whose first is a file, are its."
  (let ((crowds (make-hash-table)))
    (dolist (row rows) (incf (the fixnum (gethash (first row) crowds 0))))
    (maphash (lambda (file count) (setf (gethash file crowds) (log (+ 1.0 (float (the fixnum count)))))) crowds)
    crowds))

(defun likely-symbols (ranking files)
  "The definitions of FILES (numbers, best first) by likelihood, as a list of SYMBOL-HITs, best first. Recipe 2.10; a type
counts only as far as the task names it or no function of the file holds a term."
  (let* ((evidence (ranking-evidence ranking)) (index (evidence-index evidence)) (scores (ranking-scores ranking))
         (count (tables-candidates (evidence-tables evidence))) (terms (evidence-term-count evidence))
         (inverse (make-floats terms)) (frequencies (evidence-frequencies evidence)) (mentions (mention-scores evidence))
         (files (subseq files 0 (min +symbol-files+ (length files)))) (left +symbol-octets+) (parts '()) (rows '()) (cache (make-word-cache)))
    (declare (type fixnum left terms) (type u32-vector frequencies) (type floats scores))
    (dotimes (slot terms) (setf (aref inverse slot) (inverse-frequency count (aref frequencies (+ 8 (* 9 slot))))))
    (loop for file in (coerce files 'list)
          do (when (plusp left)
               (let ((regions (count-file evidence cache file)))
                 (when regions
                   (decf left (region-counts-size regions))
                   (push (cons file regions) parts)))))
    (setf parts (nreverse parts))
    (let* ((words (loop for (nil . regions) in parts sum (reduce #'+ (region-counts-lengths regions))))
           (pieces (loop for (nil . regions) in parts sum (length (region-counts-defs regions))))
           (average (max 1.0 (/ (float words 1.0) (max 1 pieces)))) (most 1e-6) (most-title 1e-6)
           (best (if parts (aref scores (car (first parts))) 0.0)))
      (declare (type fixnum words pieces) (type single-float most most-title best))
      (loop for (file . regions) in parts
            for run = (index-run index file)
            do (dotimes (place (length (region-counts-defs regions)))
                 (multiple-value-bind (sum title) (region-scores evidence run regions place average inverse)
                   (declare (type single-float sum title))
                   (let* ((def (aref (region-counts-defs regions) place)) (named (mention-score evidence mentions run def))
                          (type-p (zerop (the fixnum (symbol-class (def-kind run def))))))
                     (when (or (plusp sum) (plusp (the single-float named)))
                       (unless type-p
                         (setf most (max most sum) most-title (max most-title title)))
                       (push (list file regions def sum title named type-p) rows))))))
      (flet ((hit (row crowd)
               (destructuring-bind (file regions def sum title named type-p) row
                 (declare (type single-float sum title named))
                 (make-symbol-hit
                  :file file :def def :octets (region-counts-octets regions) :size (region-counts-size regions)
                  :score (- (+ (* +file-share+ (- (aref scores file) best))
                               (* +words-share+ (/ sum most)) (* +title-share+ (/ title most-title))
                               (* (if type-p (- +named-type-cost+) +named-share+) named)
                               (* +size-share+ (the single-float (size-of regions def))))
                            (* +crowd-cost+ (the single-float crowd))
                            (if type-p +type-cost+ 0.0))))))
        (stable-sort (loop with crowds = (crowds rows)
                           for row in (nreverse rows)
                           collect (hit row (gethash (first row) crowds)))
                     #'> :key #'symbol-hit-score)))))

(defconstant +signature-octets+ 200 "Octets of a signature that are shown.")

(defun signature-text (index file def octets size)
  "What DEF's declaration reads, on one line; the empty string when the text OCTETS[0, SIZE) no longer reaches that far."
  (declare (type octets octets) (type index-number size))
  (let* ((run (index-run index file)) (from (def-from run def)) (to (min (def-to run def) size (+ from +signature-octets+))))
    (if (or (>= from to) (= (def-to run def) +none+))
        ""
        (let ((text (octets-string octets :start from :end to)))
          (with-output-to-string (out)
            (let ((blank nil))
              (loop for c across (string-trim '(#\Space #\Tab #\Newline #\Return #\{ #\:) text)
                    do (if (member c '(#\Space #\Tab #\Newline #\Return))
                           (setf blank t)
                           (progn (when blank (write-char #\Space out) (setf blank nil)) (write-char c out))))))))))
