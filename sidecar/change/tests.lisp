;;;; The test map: which tests would tell that a change is wrong, by every evidence there is, each with a name and a
;;;; weight: calls that reach the roots, names that are mentioned, titles, naming conventions, imports, what
;;;; changed together before, what failed before, and what was edited itself.

(defpackage #:opl.change.tests
  (:use #:cl #:opl.index.store #:opl.source.facts #:opl.change.roots #:opl.change.reach)
  (:import-from #:opl.source.names #:+none+ #:known #:name-string #:names-count #:find-name)
  (:import-from #:opl.source.language #:language-family #:path-name)
  (:import-from #:opl.search.places #:test-path-p #:path-stem #:path-components)
  (:export #:test-hit #:test-hit-file #:test-hit-path #:test-hit-score #:test-hit-names #:test-hit-reason #:test-hit-certainty #:test-hit-shares
           #:rank-tests #:test-file-p #:test-files #:*evidence-weights* #:*learned* #:*together*))
(in-package #:opl.change.tests)

(defstruct test-hit
  "A test FILE with its SCORE, the SHARES of each evidence as (name . share), the NAMES of the tests concerned (nil: all),
a REASON to be read, the CERTAINTY that it exercises the change."
  (file 0) (path "" :type string) (score 0.0 :type single-float) (shares '() :type list) (names '() :type list) (reason "" :type string)
  (certainty :possible))

(defparameter *evidence-weights*
  '((:edited . 4.0)                     ; the test itself was changed or is new
    (:learned . 3.0)                    ; it failed when this symbol changed before
    (:reach . 0.5)                      ; a call in it leads to a root
    (:words . 0.8)                      ; the name stands in it, in code or in a string
    (:mention . 0.8)                    ; it calls something by the name of a root or of what calls one
    (:title . 1.2)                      ; a test's title speaks of the root
    (:stem . 1.1)                       ; it is called as the changed file or symbol is
    (:together . 0.6)                   ; it was changed together with the file before
    (:imports . 0.4))                   ; it imports the changed file, directly or through others
  "Chosen on the mutants and fixes of eval/impact (five projects, three languages); halving or doubling one moves the first
rank by at most three points.")

(defvar *learned* nil "Function of (index roots) => list of (test path . strength in (0, 1]) from earlier runs, or nil.")
(defvar *together* nil "Function of (index paths) => list of (path . strength in (0, 1]) from the history, or nil.")

;;; Which files are tests

(defparameter *families-with-tests* '(:script :python :go :java :rust :ruby :php :elixir :kotlin)
  "Families whose extractors recognise test cases: a file without any holds helpers.")

(defun test-file-p (index file)
  "Whether FILE holds tests, rather than helpers of tests."
  (let ((path (index-path index file)))
    (and (language-family (index-language index file))
         (not (string= (path-name path) "conftest.py"))
         (if (member (language-family (index-language index file)) *families-with-tests*)
             (and (plusp (test-count (index-run index file)))
                  (or (not (lone-test-name-p path)) (imports-tests-p index file)))
             (test-path-p path)))))

(defun lone-test-name-p (path)
  "Whether only the name `tests.py' or `test.py', which programs that are about tests have too, makes PATH a test."
  (let ((components (path-components path)))
    (and (member (first (last components)) '("tests.py" "test.py") :test #'string=)
         (notany (lambda (folder) (member (string-downcase folder) '("test" "tests" "testing") :test #'string=)) (butlast components)))))

(defun imports-tests-p (index file)
  "Whether FILE imports a Python test framework."
  (let ((run (index-run index file)))
    (loop for import below (import-count run)
          thereis (let ((module (name-string (index-names index) (import-module run import))))
                    (or (member module '("unittest" "pytest" "nose" "django.test" "rest_framework.test") :test #'string=)
                        (eql 0 (search "unittest." module)) (search ".test" module))))))

(defun test-files (index)
  "Numbers of the test files, in order of path."
  (memo (index :test-files)
    (let ((files '())) (do-files (file) (index) (when (test-file-p index file) (push file files))) (nreverse files))))

(defun test-table (index)
  (memo (index :test-table)
    (let ((table (make-hash-table))) (dolist (file (test-files index) table) (setf (gethash file table) t)))))

;;; Scores by file, one table an evidence

(defun make-scores () (make-hash-table))
(defun raise-score (scores file value)
  (setf (gethash file scores) (max value (gethash file scores 0.0))))
(defun add-score (scores file value)
  "Adds VALUE in [0, 1] to FILE as one more chance that it tells: 1 - (1-a)(1-b)."
  (let ((before (gethash file scores 0.0))) (setf (gethash file scores) (- 1.0 (* (- 1.0 before) (- 1.0 (min 0.95 value)))))))

(defun reach-scores (index dependants)
  (let ((scores (make-scores)) (tests (test-table index)) (tops '()))
    (dolist (dependant dependants)
      (cond ((gethash (dependant-file dependant) tests)
             (add-score scores (dependant-file dependant) (* 0.6 (dependant-weight dependant))))
            ((null (dependant-tag dependant)) (push dependant tops))))
    (when tops (import-time-scores index scores tops))
    scores))

(defun import-time-scores (index scores tops)
  "What runs while a module is loaded reaches every test that loads it: TOPS are calls from the top of production files."
  (let ((weights (make-hash-table)))
    (dolist (top tops) (setf (gethash (dependant-file top) weights) (max (dependant-weight top) (gethash (dependant-file top) weights 0.0))))
    (loop for file being the hash-keys of weights using (hash-value weight)
          do (let ((distances (import-distances index (list file))))
               (dolist (test (test-files index))
                 (when (gethash test distances) (add-score scores test (* 0.3 weight))))))))

(defun mention-counts (index name)
  "Table test file -> call sites whose callee is written NAME (a number)."
  (let ((counts (make-hash-table)) (tests (test-table index)))
    (do-sites (file site) (index name)
      (when (gethash file tests) (incf (gethash file counts 0))))
    counts))

(defun constructor-p (root)
  "Whether making an object of its class runs ROOT."
  (or (string= (root-kind root) "constructor") (member (root-name root) '("__init__" "__new__" "__post_init__" "initialize" "__construct") :test #'string=)))

(defconstant +most-names+ 120 "Names of dependants that mentions are looked up for; further ones weigh less than the noise.")

(defun weighted-names (index roots dependants)
  "((name number . weight) …) of the roots and of production code that leads to them, the greatest weight of each name."
  (let ((table (make-hash-table)) (tests (test-table index)) (names (index-names index)))
    (flet ((note (name weight)
             (when (and name (> weight (gethash name table 0.0))) (setf (gethash name table) weight))))
      (dolist (root roots)
        (unless (eq (root-what root) :module)
          (note (find-name names (root-name root)) 1.0)
          (when (root-tag root)
            (let ((parent (def-parent (index-run index (tag-file (root-tag root))) (tag-def (root-tag root)))))
              (unless (= parent +none+)
                (note (def-name (index-run index (tag-file (root-tag root))) parent)
                      (if (constructor-p root) 1.0 0.4)))))))
      (dolist (dependant dependants)
        (let ((tag (dependant-tag dependant)))
          (when (and tag (not (gethash (dependant-file dependant) tests)))
            (note (tag-name index tag) (* 0.8 (dependant-weight dependant)))))))
    (let ((list (loop for name being the hash-keys of table using (hash-value weight) collect (cons name weight))))
      (setf list (sort list (lambda (a b) (or (> (cdr a) (cdr b)) (and (= (cdr a) (cdr b)) (string< (name-string names (car a)) (name-string names (car b))))))))
      (subseq list 0 (min +most-names+ (length list))))))

(defun rarity (count total)
  "1 for what one test file mentions, towards 0 for what all do."
  (/ (log (+ 1.0 (/ total (max 1.0 (float count))))) (log (+ 1.0 total))))

(defparameter *framework-prefixes* '("test_" "do_" "visit_" "handle_" "on_" "get_" "set_" "_")
  "What programs put before a name that their users write without it.")

(defun user-names (name)
  "NAME and what is left of it without such a beginning."
  (cons name (loop for prefix in *framework-prefixes*
                   when (and (> (length name) (+ 2 (length prefix))) (string= prefix name :end2 (length prefix)))
                     collect (subseq name (length prefix)))))

(defun wanted-words (index roots weighted)
  "Table name number -> weight of the words that speak of the change."
  (let ((table (make-hash-table)) (names (index-names index)))
    (flet ((note (text weight)
             (let ((number (find-name names text)))
               (when (and number (> weight (gethash number table 0.0))) (setf (gethash number table) weight)))))
      (loop for (name . weight) in weighted repeat 40
            do (dolist (text (user-names (name-string names name))) (note text (* 0.6 weight))))
      (dolist (root roots)
        (unless (eq (root-what root) :module)
          (dolist (text (user-names (root-name root))) (note text 1.0))
          (when (root-scope root) (note (subseq (root-scope root) (1+ (or (position #\. (root-scope root) :from-end t) -1))) 0.5)))))
    table))

(defun word-scores (index roots weighted)
  "How far the words of each test speak of the change: the rarer a word among tests, the more."
  (let* ((wanted (wanted-words index roots weighted)) (tests (test-files index)) (files (make-hash-table)) (scores (make-scores)))
    (dolist (file tests)
      (let ((run (index-run index file)))
        (dotimes (i (word-count run))
          (when (gethash (word-name run i) wanted) (push file (gethash (word-name run i) files))))))
    (loop for name being the hash-keys of files using (hash-value those)
          do (let ((share (* (gethash name wanted) (rarity (length those) (max 1 (length tests))))))
               (dolist (file those) (add-score scores file (* 0.8 share)))))
    scores))

(defun mention-scores (index weighted)
  (let ((scores (make-scores)) (total (max 1 (length (test-files index)))))
    (loop for (name . weight) in weighted
          do (let* ((counts (mention-counts index name)) (rare (rarity (hash-table-count counts) total)))
               (loop for file being the hash-keys of counts using (hash-value count)
                     do (add-score scores file (* 0.8 weight rare (/ count (+ 1.0 count)))))))
    scores))

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

(defun plain-root-name (root) (string-left-trim "_#$" (string-downcase (root-name root))))

(defun title-p (words wanted)
  (and words (loop for word in words
                   thereis (or (string= word wanted)
                               (and (> (length wanted) 3) (> (length word) (length wanted)) (search wanted word))))))

(defun title-scores (index roots)
  (let ((scores (make-scores)))
    (dolist (root roots scores)
      (unless (eq (root-what root) :module)
        (let ((wanted (plain-root-name root)))
          (when (> (length wanted) 2)
            (dolist (file (test-files index))
              (let ((hits (count-if (lambda (entry) (and entry (title-p (car entry) wanted))) (title-words index file))))
                (when (plusp hits) (add-score scores file (* 0.8 (/ hits (+ 0.5 hits)))))))))))))

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

(defun stem-score (test-stem test-path path root-names)
  (let ((stem (subject-stem path)) (own (bare-stem path)))
    (max (cond ((and (string= test-stem own) (member own *general-stems* :test #'string=)) 0.3)
               ((string= test-stem own) 1.0)
               ((string= test-stem stem) 0.9)
               ((and (> (length stem) 3) (or (search stem test-stem) (and (> (length test-stem) 3) (search test-stem stem)))) 0.5)
               (t 0.0))
         (loop for name in root-names
               maximize (cond ((string= name "") 0.0)
                              ((string= name test-stem) 0.95)
                              ((and (> (length name) 2) (ends-with-p name test-stem)) 0.85)
                              ((and (> (length name) 4) (search name test-stem)) 0.6)
                              (t 0.0)) into best
               finally (return (or best 0.0)))
         (if (string= (folder-of test-path) (folder-of path)) 0.15 0.0))))

(defun ends-with-p (suffix text) (let ((start (- (length text) (length suffix)))) (and (>= start 0) (string= suffix text :start2 start))))
(defun folder-of (path) (subseq path 0 (or (position #\/ path :from-end t) 0)))

(defun stem-scores (index paths roots)
  (let ((scores (make-scores))
        (names (remove-duplicates (loop for root in roots unless (eq (root-what root) :module)
                                        collect (bare (root-name root))
                                        when (root-scope root) collect (bare (subseq (root-scope root) (1+ (or (position #\. (root-scope root) :from-end t) -1)))))
                                  :test #'string=)))
    (dolist (file (test-files index) scores)
      (let* ((path (index-path index file)) (stem (bare-stem path))
             (score (loop for changed in paths maximize (stem-score stem path changed names) into best finally (return (or best 0.0)))))
        (when (plusp score) (raise-score scores file score))))))

;;; Imports

(defun import-scores (index paths)
  (let ((scores (make-scores)) (files (loop for path in paths for file = (index-file-number index path) when file collect file))
        (by-distance (make-hash-table)))
    (let ((distances (import-distances index files)))
      (dolist (file (test-files index))
        (let ((distance (gethash file distances))) (when distance (push file (gethash distance by-distance)))))
      (loop for distance being the hash-keys of by-distance using (hash-value tests)
            do (dolist (file tests)
                 (raise-score scores file (/ (rarity (length tests) (max 1 (length (test-files index)))) (max 1.0 (float distance)))))))
    scores))

(defun listed-scores (index pairs)
  (let ((scores (make-scores)) (tests (test-table index)))
    (loop for (path . strength) in pairs
          do (let ((file (index-file-number index path)))
               (when (and file (gethash file tests)) (raise-score scores file (float strength 1.0)))))
    scores))

(defun edited-scores (index paths)
  (let ((scores (make-scores)) (tests (test-table index)))
    (dolist (path paths scores)
      (let ((file (index-file-number index path))) (when (and file (gethash file tests)) (raise-score scores file 1.0))))))

;;; Names of single tests, reasons

(defun tests-around (index file lines)
  "Names of the innermost tests of FILE that hold one of LINES, with those around them joined by blanks."
  (let ((run (index-run index file)) (found '()))
    (dolist (line lines)
      (let ((best nil) (size most-positive-fixnum))
        (dotimes (test (test-count run))
          (let ((from (test-line run test)) (to (test-end run test)))
            (when (and (/= to +none+) (<= from line to) (< (- to from) size)) (setf best test size (- to from)))))
        (when best (pushnew best found))))
    (mapcar (lambda (test) (test-title index run test)) (sort found #'<))))

(defun test-title (index run test)
  (let ((names '()))
    (loop for each = test then (test-parent run each) repeat 16 until (= each +none+)
          do (push (name-string (index-names index) (test-name run each)) names))
    (format nil "~{~A~^ ~}" names)))

(defparameter *reasons*
  '((:edited . "was changed itself") (:learned . "failed before when this changed") (:reach . "calls lead to the change")
    (:mention . "calls something of that name") (:words . "the name stands in it") (:title . "a title speaks of it") (:stem . "is named after it")
    (:together . "changed together with it before") (:imports . "imports the changed file")))

(defun reason-text (shares)
  (format nil "~{~A~^; ~}" (loop for (evidence . nil) in shares repeat 2 collect (cdr (assoc evidence *reasons*)))))

;;; Together

(defun closure-files (index paths)
  (import-distances index (loop for path in paths for file = (index-file-number index path) when file collect file)))

(defun rank-tests (index roots paths dependants)
  "Test hits for ROOTS in the changed PATHS with their DEPENDANTS, most telling first: score, then path."
  (let* ((weighted (weighted-names index roots dependants))
         (tables (list (cons :edited (edited-scores index paths))
                       (cons :learned (listed-scores index (and *learned* (funcall *learned* index roots))))
                       (cons :reach (reach-scores index dependants))
                       (cons :mention (mention-scores index weighted))
                       (cons :words (word-scores index roots weighted))
                       (cons :title (title-scores index roots))
                       (cons :stem (stem-scores index paths roots))
                       (cons :together (listed-scores index (and *together* (funcall *together* index paths))))
                       (cons :imports (import-scores index paths))))
         (hits '()))
    (dolist (file (test-files index))
      (let* ((shares (loop for (evidence . table) in tables
                           for share = (* (cdr (assoc evidence *evidence-weights*)) (gethash file table 0.0))
                           when (plusp share) collect (cons evidence share)))
             (score (reduce #'+ shares :key #'cdr)))
        (when (and (plusp score) (telling-p shares))
          (let ((shares (stable-sort shares #'> :key #'cdr)))
            (push (make-test-hit :file file :path (index-path index file) :score (float score 1.0) :shares shares
                                 :reason (reason-text shares) :certainty (hit-certainty file dependants shares)
                                 :names (hit-names index file dependants))
                  hits)))))
    (sort hits (lambda (a b) (or (> (test-hit-score a) (test-hit-score b))
                                 (and (= (test-hit-score a) (test-hit-score b)) (string< (test-hit-path a) (test-hit-path b))))))))

(defun telling-p (shares)
  "Whether SHARES are enough to list a test at all: standing in the same folder is not."
  (or (assoc :edited shares) (assoc :learned shares) (assoc :reach shares) (assoc :mention shares) (assoc :words shares) (assoc :title shares) (assoc :imports shares)
      (let ((stem (cdr (assoc :stem shares)))) (and stem (> stem 0.2)))
      (assoc :together shares)))

(defun hit-certainty (file dependants shares)
  (let ((best nil))
    (dolist (dependant dependants)
      (when (= file (dependant-file dependant))
        (setf best (if best (if (eq (weaker best (dependant-certainty dependant)) best) (dependant-certainty dependant) best)
                       (dependant-certainty dependant)))))
    (or best (if (assoc :edited shares) :exact :possible))))

(defconstant +most-names-a-file+ 20 "Names of tests told of one file; a run of more is a run of the file.")

(defun hit-names (index file dependants)
  (let* ((lines (loop for dependant in dependants when (= file (dependant-file dependant)) collect (dependant-line dependant)))
         (names (tests-around index file lines)))
    (and (<= (length names) +most-names-a-file+) names)))
