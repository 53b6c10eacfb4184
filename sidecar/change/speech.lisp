;;;; Speech: what the titles and the file name of a test say of the names that changed.

(defpackage #:opl.change.speech
  (:use #:cl #:opl.index.store #:opl.source.facts #:opl.change.roots #:opl.change.testfiles)
  (:import-from #:opl.source.names #:name-string #:find-name)
  (:import-from #:opl.source.language #:path-name)
  (:import-from #:opl.search.places #:path-stem #:path-components)
  (:export #:title-scores #:part-scores #:stem-scores #:spoken-names #:speech-beforehand #:name-parts #:+same-folder-share+))
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

;;; What counts how much, in [0, 1]. Set by hand before the weights of the evidence were fitted (tests.lisp).

(defconstant +titles-read+ 2000 "Tests of one file whose titles are read: what has more is made by a program.")
(defconstant +title-share+ 0.8 "Of a name, for any number of titles that say it.")
(defconstant +title-part-share+ 0.4 "Of a part of a name, for each title it stands in; twice that at most.")
(defconstant +single-part-share+ 0.5 "Of a name that is one part: it says less than several that come together.")
(defconstant +general-stem-share+ 0.3 "A test called index, as the file is.")
(defconstant +folder-stem-share+ 0.9 "A test called as the folder whose index or main the file is.")
(defconstant +part-stem-share+ 0.5 "A test whose name holds the file's, or is held by it.")
(defconstant +same-folder-share+ 0.15 "A test beside the file.")
(defconstant +name-stem-share+ 0.95 "A test file called as the symbol is.")
(defconstant +name-end-share+ 0.85 "A test file whose name ends in the symbol's.")
(defconstant +name-part-share+ 0.6 "A test file whose name holds the symbol's.")

(sb-ext:defglobal **title-words** (make-hash-table :test 'eq :weakness :key :synchronized t))

(defun title-words (index file)
  "List of (words . test ordinal) of FILE, kept as long as its run."
  (let ((run (index-run index file)))
    (or (gethash run **title-words**)
        (setf (gethash run **title-words**)
              (or (loop for test below (min +titles-read+ (test-count run))
                        collect (cons (words-of (name-string (index-names index) (test-name run test))) test))
                  '(nil))))))

(defun plain-name (text) (string-left-trim "_#$" (string-downcase text)))

;;; The titles of all tests turned round, once an index: word -> where it stands, and the words as one text for what is only
;;; a part of them

(defstruct (titles (:constructor make-titles (places text starts words)))
  "PLACES: table word -> list of (file . test ordinal). TEXT: the WORDS one after the other, a line each, from STARTS on."
  (places nil :type hash-table) (text "" :type (simple-array character (*))) (starts #() :type simple-vector) (words #() :type simple-vector))

(defun plain-string (text) (coerce text '(simple-array character (*))))

(defun title-places (index)
  (let ((places (make-hash-table :test 'equal)))
    (dolist (file (test-files index) places)
      (dolist (entry (title-words index file))
        (loop for (word . more) on (car entry)
              do (unless (member word more :test #'string=) (push (cons file (cdr entry)) (gethash word places))))))))

(defun titles (index)
  (memo (index :titles)
    (let* ((places (title-places index)) (starts '()) (at 0)
           (words (loop for word being the hash-keys of places collect word))
           (text (with-output-to-string (out)
                   (dolist (word words) (push at starts) (write-line word out) (incf at (1+ (length word)))))))
      (make-titles places (plain-string text) (coerce (nreverse starts) 'simple-vector) (coerce words 'simple-vector)))))

(defun part-position (part text from)
  "Where PART next stands in TEXT."
  (declare (type (simple-array character (*)) part text) (type fixnum from) (optimize speed))
  (let ((first (schar part 0)) (length (length part)))
    (loop with last fixnum = (- (length text) length)
          for at of-type fixnum from from to last
          do (when (and (char= first (schar text at))
                        (loop for i of-type fixnum from 1 below length always (char= (schar part i) (schar text (+ at i)))))
               (return at)))))

(defun words-with (titles part)
  "The words of TITLES that PART stands in."
  (let ((starts (titles-starts titles)) (text (titles-text titles)) (found '()) (low 0))
    (loop with from = 0
          for at = (part-position part text from)
          while at
          do (let ((high (length starts)))
               (loop while (< (1+ low) high)
                     do (let ((middle (floor (+ low high) 2))) (if (<= (svref starts middle) at) (setf low middle) (setf high middle))))
               (push (svref (titles-words titles) low) found)
               (setf from (if (< (1+ low) (length starts)) (svref starts (1+ low)) (length text)))))
    found))

(defun count-by-file (places)
  "((file . tests) …) of PLACES, lists of (file . test); one test counts once."
  (let ((seen (make-hash-table)) (counts (make-hash-table)))
    (loop for list in places
          do (loop for (file . test) in list
                   do (let ((key (+ (* 4096 file) test)))
                        (unless (gethash key seen) (setf (gethash key seen) t) (incf (gethash file counts 0))))))
    (loop for file being the hash-keys of counts using (hash-value count) collect (cons file count))))

(defun title-counts (index wanted loose)
  "((file . tests) …) whose titles say WANTED, or, LOOSE, a word that it is a part of. Found once an index."
  (let ((known (memo (index :title-counts) (make-hash-table :test 'equal :synchronized t))) (key (cons wanted loose)))
    (multiple-value-bind (counts found) (gethash key known)
      (if found
          counts
          (setf (gethash key known)
                (let ((titles (titles index)))
                  (count-by-file (if (and loose (> (length wanted) 3))
                                     (loop for word in (words-with titles (plain-string wanted)) collect (gethash word (titles-places titles)))
                                     (list (gethash wanted (titles-places titles)))))))))))

(defun title-scores (index spoken)
  "SPOKEN: (text . weight) of the names that a title may speak of."
  (let ((scores (make-scores)))
    (loop for (text . weight) in spoken
          for wanted = (plain-name text)
          do (when (> (length wanted) 2)
               (loop for (file . hits) in (title-counts index wanted (>= weight 1.0))
                     do (add-score scores file (* +title-share+ weight (/ hits (+ 0.5 hits)))))))
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
                (dotimes (test (min +titles-read+ (test-count run)))
                  (dolist (part (name-parts (name-string (index-names index) (test-name run test))))
                    (setf (gethash part table) (min (* 2 +title-part-share+) (+ +title-part-share+ (gethash part table 0.0))))))
                (dolist (part (name-parts (path-stem (path-name (index-path index file))))) (setf (gethash part table) 1.0))
                table)))))

(defun files-by-part (index)
  "Table part -> list of (test file . weight)."
  (memo (index :files-by-part)
    (let ((table (make-hash-table :test 'equal)))
      (dolist (file (test-files index) table)
        (loop for part being the hash-keys of (file-parts index file) using (hash-value weight)
              do (push (cons file weight) (gethash part table)))))))

(defun part-scores (index roots)
  "How much of the roots' names, part by part, the titles and the name of a test say: the rarer a part, the more."
  (let ((scores (make-scores)) (total (max 1 (length (test-files index)))) (files (files-by-part index)))
    (dolist (root roots scores)
      (loop for (text . weight) in (root-names index root)
            for parts = (name-parts text)
            do (let ((sums (make-hash-table)) (all (length parts)))
                 (dolist (part parts)
                   (let* ((those (gethash part files)) (rare (rarity (length those) total)))
                     (loop for (file . share) in those do (incf (gethash file sums 0.0) (* share rare)))))
                 (loop for file being the hash-keys of sums using (hash-value sum)
                       do (raise-score scores file (* weight (if (= all 1) +single-part-share+ 1.0) (/ sum all)))))))))

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

(defun within-p (part text)
  (and (plusp (length part)) (part-position part text 0) t))

(defun path-likeness (test-stem own stem)
  "How far TEST-STEM names a file whose stem is OWN and, by its folder, STEM."
  (cond ((and (string= test-stem own) (member own *general-stems* :test #'string=)) +general-stem-share+)
        ((string= test-stem own) 1.0)
        ((string= test-stem stem) +folder-stem-share+)
        ((and (> (length stem) 3) (or (within-p stem test-stem) (and (> (length test-stem) 3) (within-p test-stem stem)))) +part-stem-share+)
        (t 0.0)))

(defun name-likeness (test-stem name loose)
  "How far TEST-STEM speaks of NAME; LOOSE: a part of it will do."
  (cond ((string= name "") 0.0)
        ((string= name test-stem) +name-stem-share+)
        ((and (> (length name) 2) (ends-with-p name test-stem)) +name-end-share+)
        ((and loose (> (length name) 4) (within-p name test-stem)) +name-part-share+)
        (t 0.0)))

(defun ends-with-p (suffix text) (let ((start (- (length text) (length suffix)))) (and (>= start 0) (string= suffix text :start2 start))))
(defun folder-of (path) (subseq path 0 (or (position #\/ path :from-end t) 0)))

(defun stem-table (index)
  "List of (test file, its stem, its folder)."
  (memo (index :test-stems)
    (loop for file in (test-files index)
          collect (let ((path (index-path index file))) (list file (plain-string (bare-stem path)) (folder-of path))))))

(defun likenesses (index key function)
  "((test file . value) …) of the test files that FUNCTION of stem and folder gives more than nothing for; kept under KEY."
  (let ((known (memo (index :likenesses) (make-hash-table :test 'equal :synchronized t))))
    (multiple-value-bind (list found) (gethash key known)
      (if found
          list
          (setf (gethash key known)
                (loop for (file stem folder) in (stem-table index)
                      for value = (funcall function stem folder)
                      when (plusp value) collect (cons file value)))))))

(defun path-likenesses (index path)
  (let ((own (plain-string (bare-stem path))) (stem (plain-string (subject-stem path))) (home (folder-of path)))
    (likenesses index path (lambda (test-stem folder) (max (path-likeness test-stem own stem) (if (string= folder home) +same-folder-share+ 0.0))))))

(defun name-likenesses (index name loose)
  (let ((name (plain-string name)))
    (likenesses index (cons name loose) (lambda (test-stem folder) (declare (ignore folder)) (name-likeness test-stem name loose)))))

(defun stem-scores (index paths spoken)
  "How far the file name of each test speaks of the changed PATHS or of what is SPOKEN of."
  (let ((scores (make-scores)))
    (dolist (path paths)
      (loop for (file . value) in (path-likenesses index path) do (raise-score scores file value)))
    (loop for (text . weight) in spoken
          do (loop for (file . value) in (name-likenesses index (bare text) (>= weight 1.0)) do (raise-score scores file (* weight value))))
    scores))

(defun speech-beforehand (index)
  "Makes the tables of what the titles and names of INDEX's tests say."
  (titles index)
  (files-by-part index)
  (stem-table index)
  t)
