;;;; Mentions: what a task names outright. Definitions and uses of its identifiers as written, files by path, frames of a
;;;; trace, dotted modules, and three words in a row that a string literal holds.

(defpackage #:opl.search.mentions
  (:use #:cl #:opl.index.store #:opl.source.facts #:opl.search.tables #:opl.search.evidence #:opl.search.query #:opl.search.reading
        #:opl.search.places)
  (:import-from #:opl.source.names #:u32-vector #:name-string #:+none+)
  (:import-from #:opl.source.language #:path-name)
  (:import-from #:opl.search.text #:symbol-class #:trigram-count #:trigram-hash)
  (:import-from #:opl.search.inverted #:do-inverted)
  (:import-from #:opl.search.words #:words-phrases)
  (:export #:definition-scores #:use-scores #:path-scores #:module-scores #:phrase-scores #:word-weight))
(in-package #:opl.search.mentions)

(declaim (optimize (speed 1) (safety 1)))

(defparameter *region-interest* #(2.0 0.7 1.8 1.0 0.7)
  "What naming an identifier in title, prose, inline code, code, trace counts; the greatest holds. Recipe 2.6.")
(defparameter *class-interest* #(1.2 1.0 0.5) "What defining a type, a function, anything else counts. Recipe 2.6.")

(defun candidate-p (evidence file)
  (let ((tables (evidence-tables evidence)))
    (or (tables-only-p tables) (candidate-class-p (aref (tables-classes tables) file)))))

(defun word-weight (word)
  "How surely the task means WORD as a name, and how much it dwells on it. Recipe 2.6."
  (let ((interest (loop for count across (word-counts word) for interest across *region-interest*
                        maximize (if (plusp count) interest 0.0))))
    (* (word-shape-of word) interest)))

(defun definition-weight (word)
  (let* ((shape (word-shape-of word))
         (shape (if (and (<= 0.0 shape 0.3) (plusp shape) (or (word-inline-p word) (word-called-p word))) 0.6 shape))
         (interest (loop for count across (word-counts word) for interest across *region-interest*
                         maximize (if (plusp count) interest 0.0))))
    (if (< (length (word-text word)) 3)
        (* 0.1 interest)
        (* shape interest (+ 1.0 (* 0.2 (log (max 1 (word-total word)))))))))

(defun scope-name (index file def)
  "The name of the definition that DEF of FILE stands in, or nil."
  (let* ((run (index-run index file)) (parent (def-parent run def)))
    (and (/= parent +none+) (name-string (index-names index) (def-name run parent)))))

(defun best-definitions (evidence)
  "Tables slot -> (file -> worth of its best definition)."
  (let ((best (make-hash-table)) (index (evidence-index evidence)) (words (evidence-words evidence)))
    (loop for (file def slot) in (evidence-definitions evidence)
          do (let* ((word (svref words (- slot (evidence-term-count evidence))))
                    (files (or (gethash slot best) (setf (gethash slot best) (make-hash-table))))
                    (scope (and (word-qualifiers word) (scope-name index file def)))
                    (worth (* (svref *class-interest* (symbol-class (def-kind (index-run index file) def)))
                              (if (and scope (member scope (word-qualifiers word) :test #'string=)) 2.0 1.0))))
               (when (> worth (gethash file files 0.0)) (setf (gethash file files) worth))))
    best))

(defun sorted-keys (table) (sort (loop for key being the hash-keys of table collect key) #'<))

(defun definition-scores (evidence)
  "By file: definitions of the words the task names, the rarer the better. Recipe 2.6, `defx'."
  (unless (evidence-definitions evidence) (return-from definition-scores **nothing**))
  (let* ((scores (make-floats (evidence-file-count evidence))) (best (best-definitions evidence))
         (count (tables-candidates (evidence-tables evidence))) (whole (log (+ 1.0 (max 1 count)))))
    (dolist (slot (sorted-keys best) scores)
      (let* ((files (gethash slot best))
             (word (svref (evidence-words evidence) (- slot (evidence-term-count evidence))))
             (defining (max 1 (loop for file being the hash-keys of files count (candidate-p evidence file))))
             (rarity (expt (/ (log (+ 1.0 (/ (max 1 count) defining))) whole) 2)))
        (loop for file being the hash-keys of files using (hash-value worth)
              do (incf (aref scores file) (* (definition-weight word) worth rarity)))))))

(defun use-scores (evidence)
  "By file: uses in code of the words the task names. Recipe 2.6, `usex'."
  (declare (optimize (speed 2)))
  (when (zerop (the fixnum (evidence-use-count evidence))) (return-from use-scores **nothing**))
  (let* ((scores (make-floats (evidence-file-count evidence))) (uses (evidence-uses evidence)) (tables (evidence-tables evidence))
         (count (tables-candidates tables)) (whole (log (+ 1.0 (float (max 1 (the fixnum count))))))
         (average (aref (the floats (tables-averages tables)) +code-words+)) (term-count (evidence-term-count evidence))
         (frequencies (evidence-frequencies evidence))
         (worth (map 'floats (lambda (word) (the single-float (word-weight word))) (evidence-words evidence))))
    (declare (type floats scores worth) (type u32-vector uses frequencies) (type fixnum count term-count) (type single-float average whole))
    (loop for slot of-type fixnum from 0 below (length worth)
          do (let ((frequency (max 1 (aref frequencies (+ +code-words+ (* 9 (+ slot term-count)))))))
               (setf (aref worth slot) (* (aref worth slot) (/ (the single-float (log (+ 1.0 (/ (float count) (float frequency))))) whole)))))
    (loop for at of-type fixnum from 0 below (* 3 (the fixnum (evidence-use-count evidence))) by 3
          do (let* ((file (aref uses (+ at 1)))
                    (normal (/ (float (aref uses (+ at 2))) (+ 0.4 (* 0.6 (/ (field-length tables file +code-words+) average))))))
               (incf (aref scores file) (* (aref worth (- (aref uses at) term-count)) (/ normal (+ 1.2 normal))))))
    scores))

;;; Paths

(defun files-by-name (index)
  "File names in lower case -> file numbers in order of path."
  (memo (index :files-by-name)
    (let ((table (make-hash-table :test 'equal)))
      (do-files (file) (index)
        (push file (gethash (string-downcase (path-name (index-path index file))) table)))
      (loop for name being the hash-keys of table using (hash-value files)
            do (setf (gethash name table) (nreverse files)))
      table)))

(defun equal-tail (a b)
  "How many components the lists A and B, both from the last to the first, begin with in common."
  (loop for x in a for y in b while (string-equal x y) count t))

(defun mention-components (path)
  (reverse (remove-if (lambda (name) (member name '("" "." ".." "~") :test #'string=)) (path-components path))))

(defun matching-files (evidence path)
  "The files that PATH most likely means, and how well each fits: a list of (file . quality)."
  (let* ((index (evidence-index evidence)) (wanted (mention-components path)) (longest 0) (best '()))
    (dolist (file (and wanted (gethash (string-downcase (first wanted)) (files-by-name index))))
      (let ((tail (equal-tail wanted (reverse (path-components (index-path index file))))))
        (cond ((> tail longest) (setf longest tail best (list file)))
              ((= tail longest) (push file best)))))
    (let* ((sources (remove-if-not (lambda (file) (candidate-p evidence file)) best))
           (files (or sources best)))
      (loop for file in (reverse files)
            for length = (length (path-components (index-path index file)))
            collect (cons file (cond ((or (= longest length) (= longest (length wanted))) 1.0)
                                     ((= longest 1) 0.35)
                                     (t (min 1.0 (/ longest 3.0)))))))))

(defconstant +ambiguous+ 8 "Files a path may fit before it says nothing. Recipe 2.6.")

(defun path-scores (evidence)
  "Three vectors by file: paths named, paths in traces, the last frames. Recipe 2.6, `pth', `trace', `last'."
  (unless (task-mentions (evidence-task evidence)) (return-from path-scores (list **nothing** **nothing** **nothing**)))
  (let ((named (make-floats (evidence-file-count evidence))) (traced (make-floats (evidence-file-count evidence)))
        (last (make-floats (evidence-file-count evidence))) (frames '()))
    (dolist (mention (task-mentions (evidence-task evidence)))
      (let* ((matches (matching-files evidence (mention-path mention))) (count (length matches)))
        (when (<= 1 count +ambiguous+)
          (loop for (file . quality) in matches
                do (if (= (mention-region mention) +trace+)
                       (setf (aref traced file) (max (aref traced file) (/ quality count)))
                       (setf (aref named file) (min 2.0 (+ (aref named file) (/ quality count))))))
          (when (and (= (mention-region mention) +trace+) (<= count 3) (>= (cdr (first matches)) 0.5)
                     (candidate-p evidence (car (first matches))))
            (push matches frames)))))
    (loop for matches in frames for j from 0
          do (loop for (file) in matches
                   do (setf (aref last file) (max (aref last file) (/ (expt 0.8 j) (length matches))))))
    (list named traced last)))

;;; Dotted modules

(defparameter *transparent* '("src" "lib" "main" "java" "kotlin" "scala" "python" "source" "sources")
  "Folders that module names pass over.")

(defun plain-name (name) (string-downcase (substitute #\_ #\- name)))

(defun module-components (path)
  "The components by which code names the file PATH, last first: without extension, `index' and its like, and `src'."
  (let* ((components (reverse (path-components path))) (stem (path-stem (first components)))
         (folders (remove-if (lambda (name) (member name *transparent* :test #'string=)) (rest components))))
    (mapcar #'plain-name
            (if (member stem '("__init__" "index" "mod" "lib" "main") :test #'string=) folders (cons stem folders)))))

(defun files-by-module (index)
  "Last module component -> list of (file . components)."
  (memo (index :files-by-module)
    (let ((table (make-hash-table :test 'equal)) (classes (tables-classes (tables-of index))))
      (do-files (file) (index)
        (when (candidate-class-p (aref classes file))
          (let ((components (module-components (index-path index file))))
            (when components (push (cons file components) (gethash (first components) table))))))
      (loop for name being the hash-keys of table using (hash-value files)
            do (setf (gethash name table) (nreverse files)))
      table)))

(defconstant +module-ceiling+ 3.0 "What modules named may add up to. Recipe 2.6.")

(defun note-module (scores names import-p files)
  "Adds to SCORES what the chain NAMES says of FILES, whose last module component ends the chain's first part."
  (destructuring-bind (before after) names
    (loop for (file . components) in files
          do (let ((equal (equal-tail before components)) (whole (length components)))
               (when (or (>= equal 2) (= whole 1))
                 (setf (aref scores file)
                       (min +module-ceiling+
                            (+ (aref scores file)
                               (* (if import-p 0.4 0.6) (min 1.0 (/ equal (float (max 2 whole))))
                                  (if (and (< equal 2) (< equal whole)) 0.5 1.0)
                                  (if (plusp after) 1.3 1.0) (if (> after 2) 0.7 1.0))))))))))

(defun module-scores (evidence)
  "By file: dotted modules named. Recipe 2.6, `dm'."
  (unless (task-chains (evidence-task evidence)) (return-from module-scores **nothing**))
  (let ((scores (make-floats (evidence-file-count evidence))) (table (files-by-module (evidence-index evidence))))
    (dolist (chain (task-chains (evidence-task evidence)) scores)
      (let ((names (mapcar #'plain-name (chain-names chain))) (before '()))
        (loop for (name . rest) on names
              do (push name before)
                 (let ((files (gethash name table)))
                   (when (and files (<= (length files) 60))
                     (note-module scores (list before (length rest)) (chain-import-p chain) files))))))))

;;; Phrases

(defun phrase-hits (evidence)
  "For each file that holds phrases of the task: (file . list of phrases' places), the phrases, and how often candidates hold each."
  (let* ((trigrams (coerce (the list (task-trigrams (evidence-task evidence))) 'simple-vector)) (tables (evidence-tables evidence))
         (stale (tables-stale tables)) (places (make-hash-table)) (found (make-hash-table)) (frequencies (make-array (length trigrams) :initial-element 0)))
    (flet ((note (place file)
             (when (candidate-p evidence file) (incf (the fixnum (svref frequencies place))))
             (push place (gethash file found))))
      (loop for (hash) across trigrams for place of-type fixnum from 0
            do (setf (gethash hash places) place)
               (do-inverted (file) ((words-phrases (tables-words tables)) (the (unsigned-byte 32) hash))
                 (when (= 0 (sbit stale file)) (note place file))))
      (when places
        (dolist (file (tables-stale-files tables))
          (let ((run (index-run (evidence-index evidence) file)))
            (dotimes (i (the (unsigned-byte 32) (trigram-count run)))
              (let ((place (gethash (trigram-hash run i) places))) (when place (note place file))))))))
    (values (loop for file being the hash-keys of found using (hash-value places) collect (cons file (sort places #'<)))
            trigrams frequencies)))

(defun phrase-scores (evidence)
  "By file: three words in a row of the task that a string literal holds. Recipe 2.6, `sh'."
  (multiple-value-bind (found trigrams frequencies) (phrase-hits evidence)
    (unless found (return-from phrase-scores **nothing**))
    (let* ((scores (make-floats (evidence-file-count evidence))) (count (max 1 (tables-candidates (evidence-tables evidence))))
           (whole (log (+ 1.0 count))))
      (loop for (file . places) in found
            do (setf (aref scores file)
                     (log (+ 1.0 (loop for place in places
                                       sum (* (cdr (svref trigrams place))
                                              (/ (log (+ 1.0 (/ count (max 1 (svref frequencies place))))) whole)))))))
      scores)))
