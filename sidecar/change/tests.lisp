;;;; The test map: which tests would tell that a change is wrong, by every evidence there is, each with a name and a
;;;; weight: calls that reach the roots, names that are mentioned, titles, naming conventions, imports, what
;;;; changed together before, what failed before, and what was edited itself.

(defpackage #:opl.change.tests
  (:use #:cl #:opl.index.store #:opl.source.facts #:opl.change.roots #:opl.change.imports #:opl.change.reach #:opl.change.testfiles #:opl.change.speech
        #:opl.change.vocabulary #:opl.change.together #:opl.change.loading)
  (:import-from #:opl.source.names #:+none+ #:name-string #:find-name)
  (:import-from #:opl.graph.world #:world-of #:remembered)
  (:export #:test-hit #:test-hit-file #:test-hit-path #:test-hit-score #:test-hit-names #:test-hit-reason #:test-hit-certainty #:test-hit-shares
           #:rank-tests #:test-file-p #:test-files #:*learned* #:tables-beforehand))
(in-package #:opl.change.tests)

(defstruct test-hit
  "A test FILE with its SCORE, the SHARES of each evidence as (name . share), the NAMES of the tests concerned (nil: all),
a REASON to be read, the CERTAINTY that it exercises the change."
  (file 0) (path "" :type string) (score 0.0 :type single-float) (shares '() :type list) (names '() :type list) (reason "" :type string)
  (certainty :possible))

(defparameter *evidence-weights*
  '((:edited . 10.0)                    ; the test itself was changed or is new
    (:learned . 5.0)                    ; it failed when this symbol changed before
    (:calls . 0.94)                     ; how much of the change arrives at the best call in it
    (:reach . 0.36)                     ; how many calls in it lead to a root
    (:names . 0.6)                      ; it calls or writes the names of the root and of what leads to it
    (:vocabulary . 0.82)                ; it writes words that the root's name is made of
    (:strings . 1.06)                   ; it writes words that the root has in its strings
    (:title . 0.46)                     ; a test's title speaks of the root
    (:parts . 0.8)                      ; its name and titles share parts with the root's name
    (:stem . 0.66)                      ; it is called as the changed file or symbol is
    (:together . 0.56)                  ; it was changed together with the file before
    (:imports . 0.24))                  ; it imports the changed file, directly or through others
  "Fitted by the likelihood of a failing test being drawn, with a penalty on great weights, over the mutants and fixes of eval/impact (five
projects, three languages). Fitted on four of the projects and held against the fifth, a failing test is first in 87 changes of 100 as with all
five, and among the first three in 96 rather than 97.")

(defconstant +sure-call+ 0.16 "How much of a change must arrive at some test for calls to be trusted.")
(defconstant +lone-stem-factor+ 1.45
  "How much more a test's file name counts where no call is to be trusted: fitted as *evidence-weights* were, and it helps on projects held
out; on those of eval/impact 1.3 to 1.6 come out alike.")

;;; What counts how much within one evidence, in [0, 1]. Set by hand, then *evidence-weights* were fitted over the whole.

(defconstant +call-share+ 0.6 "Of a reached call in a test: several are surer than one, none is sure alone.")
(defconstant +importer-share+ 0.5 "Of what arrives in a file, for a test that imports it.")
(defconstant +loading-share+ 0.3 "Of what runs while a file is loaded, for a test that loads it.")
(defconstant +least-arrival+ 0.01 "Below this nothing is said to arrive in a file.")
(defconstant +dependant-name-share+ 0.8 "Of a dependant's weight, for its name.")
(defconstant +enclosing-name-share+ 0.6 "The same for the name of what it stands in.")
(defconstant +leading-word-share+ 0.6 "Of the weight of a name that leads to a root, for the word alone.")
(defconstant +most-leading-words+ 40 "Names that lead to a root whose words are looked for.")
(defconstant +mention-share+ 0.8 "Of a word's or a call's rarity among tests.")
(defconstant +silent-import-share+ 0.1 "Of an import, for a test that says nothing of what changed.")
(defconstant +silent-past-share+ 0.5 "Of a common past, for such a test.")

(defvar *learned* nil "Function of (index roots) => list of (test path . strength in (0, 1]) from earlier runs, or nil.")

(defun called-scores (index dependants)
  "How many calls in each test lead to a root, and how much arrives by each."
  (let ((scores (make-scores)))
    (dolist (dependant dependants scores)
      (map-tests-at (lambda (test share) (add-score scores test (* +call-share+ share (dependant-weight dependant)))) index (dependant-file dependant)))))

(defun arrivals-by-file (index dependants)
  "((file weight . loaded) …): the greatest weight that arrives there, and the greatest that arrives where code runs while the
file is loaded, of the files of DEPENDANTS that hold no tests."
  (let ((files (make-hash-table)) (tests (test-table index)))
    (dolist (dependant dependants)
      (let ((file (dependant-file dependant)) (weight (dependant-weight dependant)))
        (unless (gethash file tests)
          (let ((entry (or (gethash file files) (setf (gethash file files) (cons 0.0 0.0)))))
            (setf (car entry) (max (car entry) weight))
            (when (loading-place-p index dependant) (setf (cdr entry) (max (cdr entry) weight)))))))
    (loop for file being the hash-keys of files using (hash-value entry) collect (cons file entry))))

(defun importing-tests (index file)
  (let ((world (world-of index)) (tests (test-table index)))
    (remembered (world :importing-tests file) (remove-if-not (lambda (each) (gethash each tests)) (gethash file (importers index))))))

(defun nearby-scores (index arrivals)
  "What may arrive at a test that imports a file at which some of the change does, the likelier the fewer tests import it."
  (let ((scores (make-scores)) (total (max 1 (length (test-files index)))))
    (loop for (file weight . nil) in arrivals
          do (let ((importing (and (> weight +least-arrival+) (importing-tests index file))))
               (when importing
                 (let ((share (* +importer-share+ weight (rarity (length importing) total))))
                   (dolist (test importing) (add-score scores test share))))))
    scores))

(defun loaded-scores (index arrivals)
  "What arrives at each test by code that runs while a file it loads is loaded."
  (let ((scores (make-scores)))
    (loop for (file nil . weight) in arrivals
          do (when (> weight +least-arrival+)
               (map-importing (lambda (test steps) (declare (ignore steps)) (add-score scores test (* +loading-share+ weight)))
                              index (list file) (test-files index) :loaders)))
    scores))

(defun joined-scores (&rest tables)
  "One table of scores out of several, each one more chance."
  (let ((scores (make-scores)))
    (dolist (table tables scores)
      (loop for file being the hash-keys of table using (hash-value value) do (add-score scores file value)))))

(defun near-scores (index dependants)
  "The greatest weight that arrives at a call in each test."
  (let ((scores (make-scores)))
    (dolist (dependant dependants scores)
      (map-tests-at (lambda (test share) (raise-score scores test (* share (dependant-weight dependant)))) index (dependant-file dependant)))))

(defun mention-counts (index name)
  "((test file . call sites) …), its companions' too, whose callee is written NAME (a number). Found once an index."
  (let ((world (world-of index)))
    (remembered (world :mention-counts name)
      (let ((counts (make-hash-table)))
        (do-sites (file site) (index name)
          (map-tests-at (lambda (test share) (incf (gethash test counts 0.0) share)) index file))
        (loop for file being the hash-keys of counts using (hash-value count) collect (cons file count))))))

(defconstant +most-names+ 120 "Names of dependants that mentions are looked up for; further ones weigh less than the noise.")

(defun weighted-names (index roots dependants)
  "((name number . weight) …) of the roots and of production code that leads to them, the greatest weight of each name."
  (let ((table (make-hash-table)) (tests (test-table index)) (names (index-names index)))
    (flet ((note (name weight)
             (when (and name (> weight (gethash name table 0.0))) (setf (gethash name table) weight))))
      (dolist (root roots)
        (loop for (text . weight) in (root-names index root) do (note (find-name names text) weight)))
      (dolist (dependant dependants)
        (let ((tag (dependant-tag dependant)))
          (when (and tag (not (gethash (dependant-file dependant) tests)))
            (note (tag-name index tag) (* +dependant-name-share+ (dependant-weight dependant)))
            ;; users write the class, or the function around a local one
            (let* ((run (index-run index (tag-file tag))) (around (def-parent run (tag-def tag))))
              (unless (= around +none+) (note (def-name run around) (* +enclosing-name-share+ (dependant-weight dependant)))))))))
    (let ((list (loop for name being the hash-keys of table using (hash-value weight) collect (cons name weight))))
      (setf list (sort list #'> :key #'cdr))
      ;; texts, which decide between equals, are only read of those that may be kept
      (let* ((least (if (> (length list) +most-names+) (cdr (nth (1- +most-names+) list)) 0.0))
             (texts (loop for entry in list while (>= (cdr entry) least) collect (cons (name-string names (car entry)) entry))))
        (setf texts (sort texts (lambda (a b) (or (> (cddr a) (cddr b)) (and (= (cddr a) (cddr b)) (string< (car a) (car b)))))))
        (loop for (nil . entry) in texts repeat +most-names+ collect entry)))))

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
      (loop for (name . weight) in weighted repeat +most-leading-words+
            do (dolist (text (user-names (name-string names name))) (note text (* +leading-word-share+ weight))))
      (dolist (root roots)
        (loop for (name . weight) in (root-names index root)
              do (dolist (text (user-names name)) (note text weight)))))
    table))

(defun word-scores (index roots weighted)
  "How far the words of each test speak of the change: the rarer a word among tests, the more."
  (let ((wanted (wanted-words index roots weighted)) (words (test-words index)) (total (max 1 (length (test-files index)))) (scores (make-scores)))
    (loop for name being the hash-keys of wanted using (hash-value weight)
          for those = (gethash name words)
          do (let ((value (* +mention-share+ weight (rarity (length those) total))))
               (loop for (test . share) in those do (add-score scores test (* share value)))))
    scores))

(defun mention-scores (index weighted)
  (let ((scores (make-scores)) (total (max 1 (length (test-files index)))))
    (loop for (name . weight) in weighted
          do (let* ((counts (mention-counts index name)) (rare (rarity (length counts) total)))
               (loop for (file . count) in counts
                     do (add-score scores file (* +mention-share+ weight rare (/ count (+ 1.0 count)))))))
    scores))

;;; Imports

(defun import-scores (index paths)
  (let ((scores (make-scores)) (files (loop for path in paths for file = (index-file-number index path) when file collect file))
        (by-distance (make-hash-table)))
    (map-importing (lambda (test steps) (push test (gethash steps by-distance))) index files (test-files index))
    (loop for distance being the hash-keys of by-distance using (hash-value tests)
          do (let ((value (/ (rarity (length tests) (max 1 (length (test-files index)))) (max 1.0 (float distance)))))
               (dolist (file tests) (raise-score scores file value))))
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

(defconstant +most-names-a-file+ 20 "Names of tests told of one file; a run of more is a run of the file.")

(defun innermost-tests (index file)
  "By line of FILE: the test with the fewest lines that holds it, or nil. Made once an index."
  (let ((world (world-of index)))
    (remembered (world :innermost-tests file)
      (let* ((run (index-run index file)) (tests (loop for test below (test-count run) unless (or (= +none+ (test-end run test)) (< (test-end run test) (test-line run test))) collect test))
             (at (make-array (1+ (loop for test in tests maximize (test-end run test) into last finally (return (or last 0)))) :initial-element nil)))
        (dolist (test (stable-sort (reverse tests) #'> :key (lambda (test) (- (test-end run test) (test-line run test)))) at)
          (fill at test :start (test-line run test) :end (1+ (test-end run test))))))))

(defun tests-around (index file lines)
  "Names of the innermost tests of FILE that hold one of LINES, with those around them joined by blanks; none when there are many."
  (let ((at (innermost-tests index file)) (found '()) (world (world-of index)))
    (dolist (line lines)
      (let ((test (and (< -1 line (length at)) (svref at line))))
        (when test (pushnew test found))
        (when (> (length found) +most-names-a-file+) (return-from tests-around '()))))
    (mapcar (lambda (test) (remembered (world :test-title file test) (test-title index (index-run index file) test))) (sort found #'<))))

(defun test-title (index run test)
  (let ((names '()))
    (loop for each = test then (test-parent run each) repeat 16 until (= each +none+)
          do (push (name-string (index-names index) (test-name run each)) names))
    (format nil "~{~A~^ ~}" names)))

(defparameter *reasons*
  '((:edited . "was changed itself") (:learned . "failed before when this changed") (:calls . "calls lead to the change")
    (:reach . "many calls lead to the change") (:names . "it writes the name") (:vocabulary . "it writes words of the name")
    (:strings . "it writes words of its strings") (:title . "a title speaks of it")
    (:parts . "its titles speak of such things") (:stem . "is named after it") (:together . "changed together with it before")
    (:imports . "imports the changed file")))

(defparameter *told-first* '(:edited :learned :calls) "Evidence that is told before what weighs more.")

(defun reason-of (evidence share)
  "What SHARE of the score by EVIDENCE says in words."
  ;; the most that lying in the same folder gives, and less than any name in common does
  (if (and (eq evidence :stem) (<= share (* +same-folder-share+ +lone-stem-factor+ (cdr (assoc :stem *evidence-weights*)))))
      "lies beside the changed file"
      (cdr (assoc evidence *reasons*))))

(defun reason-text (shares)
  (let ((told (stable-sort (copy-list shares) #'< :key (lambda (share) (or (position (car share) *told-first*) (length *told-first*))))))
    (format nil "~{~A~^; ~}" (loop for (evidence . share) in told repeat 2 collect (reason-of evidence share)))))

;;; Together

(defconstant +voice+ 0.1 "Below this a test does not write, call or title anything of what changed.")

(defun evidence-tables (index roots paths dependants texts)
  "(evidence . table from test file to a value in [0, 1]) for each evidence."
  (let* ((weighted (weighted-names index roots dependants)) (spoken (spoken-names index roots weighted)) (arrivals (arrivals-by-file index dependants))
         (called (called-scores index dependants)) (nearby (nearby-scores index arrivals)) (loaded (loaded-scores index arrivals)))
    (list (cons :called called) (cons :nearby nearby) (cons :loaded loaded)
          (cons :edited (edited-scores index paths))
          (cons :learned (listed-scores index (and *learned* (funcall *learned* index roots))))
          (cons :reach (joined-scores called nearby loaded))
          (cons :calls (near-scores index dependants))
          (cons :mention (mention-scores index weighted))
          (cons :words (word-scores index roots weighted))
          (cons :vocabulary (vocabulary-scores index roots))
          (cons :strings (string-scores index roots texts))
          (cons :title (title-scores index spoken))
          (cons :parts (part-scores index roots))
          (cons :stem (stem-scores index paths spoken))
          (cons :together (listed-scores index (together-with index paths)))
          (cons :imports (import-scores index paths)))))

(defun trusted-calls-p (tables files)
  "Whether enough of the change arrives at one of the test FILES over calls."
  (let ((calls (cdr (assoc :calls tables))))
    (loop for file in files thereis (>= (gethash file calls 0.0) +sure-call+))))

(defun test-shares (file tables trusted)
  "The evidence for the test FILE, weighed: (evidence . share), greatest first. An import and a common past say less of a test
that writes no name of what changed; a name after the changed file says more unless calls are TRUSTED."
  (flet ((value (evidence) (gethash file (cdr (assoc evidence tables)) 0.0)))
    (let* ((names (max (value :words) (value :mention))) (voice (max names (value :reach) (value :title)))
           (shares (loop for (evidence . weight) in *evidence-weights*
                         for value = (case evidence
                                       (:names names)
                                       (:calls (sqrt (value :calls)))
                                       (:stem (* (if trusted 1.0 +lone-stem-factor+) (value :stem)))
                                       (:imports (if (> voice +voice+) (value :imports) (* +silent-import-share+ (value :imports))))
                                       (:together (if (> voice +voice+) (value :together) (* +silent-past-share+ (value :together))))
                                       (t (value evidence)))
                         when (plusp value) collect (cons evidence (* weight value)))))
      (stable-sort shares #'> :key #'cdr))))

(defun ranked-hits (index tables)
  "Test hits by TABLES, most telling first: score, then path; without what `tell' adds."
  (let* ((hits '()) (places (path-places index)) (files (test-files index)) (trusted (trusted-calls-p tables files)))
    (dolist (file files)
      (let* ((shares (test-shares file tables trusted)) (score (reduce #'+ shares :key #'cdr)))
        (when (plusp score)
          (push (make-test-hit :file file :score (float score 1.0) :shares shares) hits))))
    (sort hits (lambda (a b) (or (> (test-hit-score a) (test-hit-score b))
                                 (and (= (test-hit-score a) (test-hit-score b)) (< (svref places (test-hit-file a)) (svref places (test-hit-file b)))))))))
