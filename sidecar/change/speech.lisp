;;;; Speech: what the titles and the file name of a test say of the names that changed.

(defpackage #:opl.change.speech
  (:use #:cl #:opl.index.store #:opl.source.facts #:opl.change.roots #:opl.change.testfiles)
  (:import-from #:opl.source.names #:name-string #:find-name)
  (:import-from #:opl.source.language #:path-name)
  (:import-from #:opl.search.places #:path-stem #:path-components)
  (:export #:title-scores #:part-scores #:stem-scores #:spoken-names))
(in-package #:opl.change.speech)

;;; Titles

(defun words-of (text)
  "The words of TEXT in lower case, whole and in their parts."
  (let ((words '()))
    (loop with i = 0
          while (< i (length text))
          do (let* ((start (position-if (lambda (c) (or (alphanumericp c) (char= c #\_))) text :start i))
                    (end (and start (or (position-if-not (lambda (c) (or (alphanumericp c) (char= c #\_))) text :start start) (length text)))))
               (unless start (return))
               (push (string-downcase (subseq text start end)) words)
               (setf i end)))
    words))

(sb-ext:defglobal **title-words** (make-hash-table :test 'eq :weakness :key :synchronized t))

(defun title-words (index file)
  "List of (words . test ordinal) of FILE, kept as long as its run."
  (let ((run (index-run index file)))
    (or (gethash run **title-words**)
        (setf (gethash run **title-words**)
              (or (loop for test below (min 2000 (test-count run))
                        collect (cons (words-of (name-string (index-names index) (test-name run test))) test))
                  '(nil))))))

(defun plain-name (text) (string-left-trim "_#$" (string-downcase text)))

(defun title-p (words wanted loose)
  (and words (loop for word in words
                   thereis (or (string= word wanted)
                               (and loose (> (length wanted) 3) (> (length word) (length wanted)) (search wanted word))))))

(defun title-scores (index spoken)
  "SPOKEN: (text . weight) of the names that a title may speak of."
  (let ((scores (make-scores)))
    (loop for (text . weight) in spoken
          for wanted = (plain-name text)
          do (when (> (length wanted) 2)
               (dolist (file (test-files index))
                 (let ((hits (count-if (lambda (entry) (and entry (title-p (car entry) wanted (>= weight 1.0)))) (title-words index file))))
                   (when (plusp hits) (add-score scores file (* 0.8 weight (/ hits (+ 0.5 hits)))))))))
    scores))

(defconstant +most-spoken+ 16 "Names of roots and dependants that titles and file names are held against.")
(defconstant +least-spoken+ 0.15)

(defun distinctness (index text)
  "1 for a name that one or two things bear, less the more do."
  (let ((name (find-name (index-names index) text)) (count 0))
    (when name (do-definitions (file def) (index name) (incf count)))
    (if (<= count 2) 1.0 (sqrt (/ 2.0 count)))))

(defun spoken-names (index roots weighted)
  "(text . weight) of ROOTS' names and of the nearest of their dependants, greatest weight first."
  (let ((spoken '()))
    (flet ((note (text weight)
             (let ((known (assoc text spoken :test #'string=)))
               (if known (setf (cdr known) (max weight (cdr known))) (push (cons text weight) spoken)))))
      (dolist (root roots)
        (loop for (text . weight) in (root-names index root) do (note text (* weight (distinctness index text)))))
      (loop for (name . weight) in weighted
            do (when (>= weight +least-spoken+)
                 (let ((text (name-string (index-names index) name))) (note text (* weight (distinctness index text)))))))
    (setf spoken (sort spoken (lambda (a b) (or (> (cdr a) (cdr b)) (and (= (cdr a) (cdr b)) (string< (car a) (car b)))))))
    (subseq spoken 0 (min +most-spoken+ (length spoken)))))

;;; Parts of names: compileQueryParser speaks of queries as test/req.query.js does

(defparameter *silent-parts*
  '("test" "spec" "should" "with" "when" "the" "and" "for" "not" "get" "set" "has" "does" "from" "into" "new" "init" "self" "this" "return" "can" "all" "add" "make" "create")
  "Parts of names and words of titles that say nothing of what is tested.")

(defun name-parts (text)
  "The parts of an identifier or a path's stem in lower case, plural's s off, without what says nothing."
  (let ((parts '()) (start 0) (end (length text)))
    (flet ((take (to)
             (when (> (- to start) 2)
               (let* ((part (string-downcase (subseq text start to))) (length (length part)))
                 (when (and (> length 3) (char= (char part (1- length)) #\s) (char/= (char part (- length 2)) #\s)) (setf part (subseq part 0 (1- length))))
                 (unless (member part *silent-parts* :test #'string=) (pushnew part parts :test #'string=))))
             (setf start to)))
      (loop for i from 0 below end
            for c = (char text i)
            do (cond ((not (alphanumericp c)) (take i) (setf start (1+ i)))
                     ((and (upper-case-p c) (> i start) (or (not (upper-case-p (char text (1- i)))) (and (< (1+ i) end) (lower-case-p (char text (1+ i)))))) (take i))))
      (take end))
    parts))

(sb-ext:defglobal **file-parts** (make-hash-table :test 'eq :weakness :key :synchronized t))

(defun file-parts (index file)
  "Table part -> weight of the test FILE: 1 of its own name, less of titles; kept as long as its run."
  (let ((run (index-run index file)))
    (or (gethash run **file-parts**)
        (setf (gethash run **file-parts**)
              (let ((table (make-hash-table :test 'equal)))
                (dotimes (test (min 2000 (test-count run)))
                  (dolist (part (name-parts (name-string (index-names index) (test-name run test))))
                    (setf (gethash part table) (min 0.8 (+ 0.4 (gethash part table 0.0))))))
                (dolist (part (name-parts (path-stem (path-name (index-path index file))))) (setf (gethash part table) 1.0))
                table)))))

(defun part-frequencies (index)
  (memo (index :part-frequencies)
    (let ((counts (make-hash-table :test 'equal)))
      (dolist (file (test-files index) counts)
        (loop for part being the hash-keys of (file-parts index file) do (incf (gethash part counts 0)))))))

(defun part-scores (index roots)
  "How much of the roots' names, part by part, the titles and the name of a test say: the rarer a part, the more."
  (let ((scores (make-scores)) (total (max 1 (length (test-files index)))) (counts (part-frequencies index)))
    (dolist (root roots scores)
      (loop for (text . weight) in (root-names index root)
            for parts = (remove-if-not (lambda (part) (gethash part counts)) (name-parts text))
            for all = (length (name-parts text))
            do (when parts
                 (dolist (file (test-files index))
                   (let ((sum 0.0) (table (file-parts index file)))
                     (dolist (part parts) (incf sum (* (gethash part table 0.0) (rarity (gethash part counts) total))))
                     (when (plusp sum) (raise-score scores file (* weight (if (= all 1) 0.5 1.0) (/ sum all)))))))))))

;;; Conventions: the same stem in a folder of tests or beside the file; a test called as the symbol

(defparameter *test-affixes* '("test_" "test-" "tests_" "_test" "-test" ".test" "_tests" ".tests" "_spec" ".spec" "-spec" "test" "tests" "spec" "testcase" "it" ".e2e" ".cy")
  "What a test's file name has beside the name of what it tests, in lower case.")

(defun bare-stem (path)
  "The stem of PATH's name in lower case without the affixes of tests and without separators."
  (let ((stem (string-downcase (path-stem (path-name path)))))
    (dolist (affix *test-affixes*)
      (let ((length (length affix)))
        (cond ((and (> (length stem) length) (string= affix stem :start2 (- (length stem) length)))
               (setf stem (subseq stem 0 (- (length stem) length))))
              ((and (> (length stem) length) (string= affix stem :end2 length))
               (setf stem (subseq stem length))))))
    (remove-if-not #'alphanumericp stem)))

(defun bare (text) (remove-if-not #'alphanumericp (string-downcase text)))

(defparameter *general-stems* '("index" "main" "mod" "lib" "init" "utils" "util" "common" "types" "core" "base")
  "Stems that say nothing of what a file is about; its folder's name stands for it.")

(defun subject-stem (path)
  (let ((stem (bare-stem path)) (folders (butlast (path-components path))))
    (if (and (member stem *general-stems* :test #'string=) folders) (bare (first (last folders))) stem)))

(defun stem-score (test-stem test-path path own stem names)
  "How far TEST-STEM names the changed PATH, whose stems are OWN and, by its folder, STEM, or one of NAMES: (bare text . weight)."
  (max (cond ((and (string= test-stem own) (member own *general-stems* :test #'string=)) 0.3)
             ((string= test-stem own) 1.0)
             ((string= test-stem stem) 0.9)
             ((and (> (length stem) 3) (or (search stem test-stem) (and (> (length test-stem) 3) (search test-stem stem)))) 0.5)
             (t 0.0))
       (loop for (name . weight) in names
             maximize (* weight (cond ((string= name "") 0.0)
                            ((string= name test-stem) 0.95)
                            ((and (> (length name) 2) (ends-with-p name test-stem)) 0.85)
                            ((and (>= weight 1.0) (> (length name) 4) (search name test-stem)) 0.6)
                                      (t 0.0))) into best
             finally (return (or best 0.0)))
       (if (string= (folder-of test-path) (folder-of path)) 0.15 0.0)))

(defun ends-with-p (suffix text) (let ((start (- (length text) (length suffix)))) (and (>= start 0) (string= suffix text :start2 start))))
(defun folder-of (path) (subseq path 0 (or (position #\/ path :from-end t) 0)))

(defun file-stem (index file)
  (let ((stems (memo (index :test-stems) (make-hash-table :synchronized t))))
    (or (gethash file stems) (setf (gethash file stems) (bare-stem (index-path index file))))))

(defun stem-scores (index paths spoken)
  (let ((scores (make-scores)) (names (loop for (text . weight) in spoken collect (cons (bare text) weight)))
        (places (loop for path in paths collect (list path (bare-stem path) (subject-stem path)))))
    (dolist (file (test-files index) scores)
      (let* ((path (index-path index file)) (stem (file-stem index file))
             (score (loop for changed in places maximize (stem-score stem path (first changed) (second changed) (third changed) names) into best finally (return (or best 0.0)))))
        (when (plusp score) (raise-score scores file score))))))
