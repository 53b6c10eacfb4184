;;;; From scored tests to the list that is told: what cannot reach the change goes, the rest ends where little is to be expected, and each
;;;; that stays has its reason and the names of single tests. Part of the package of tests.lisp.

(in-package #:opl.change.tests)

;;; Where the list ends. Chosen on eval/impact for the fewest tests at 98 changes of 100 whose failing tests are all listed; with ends chosen on four
;;; of its projects it is 95 of 100 on the fifth, so these are a little wider than the narrowest.

(defconstant +fewest+ 3 "Tests that are listed whatever they score.")
(defconstant +least-share+ 0.05 "Share of the best score below which no test is listed.")
(defconstant +silent-share+ 0.25 "The same for a test at which hardly any of the change arrives, when calls are to be trusted.")
(defparameter *least-arrivals* '((:called . 0.05) (:loaded . 0.12) (:nearby . 0.15))
  "What must arrive at a test by its own calls, by what runs while a file is loaded, or by an import of a file that the change reaches.")

(defun unsure-p (hits tables)
  "Whether hardly anything arrives at any of HITS over calls."
  (not (trusted-calls-p tables (mapcar #'test-hit-file hits))))

(defun tell (index hits dependants)
  "HITS with the path, the reason, the certainty and the names of single tests, which only those that are listed need."
  (let ((calls (calls-by-file dependants)))
    (dolist (hit hits hits)
      (let ((own (gethash (test-hit-file hit) calls)))
        (setf (test-hit-path hit) (index-path index (test-hit-file hit))
              (test-hit-reason hit) (reason-text (test-hit-shares hit))
              (test-hit-certainty hit) (hit-certainty own (test-hit-shares hit))
              (test-hit-names hit) (hit-names index (test-hit-file hit) own))))))

(defun arrives-p (file tables)
  "Whether enough of the change arrives at the test FILE."
  (loop for (evidence . least) in *least-arrivals* thereis (>= (gethash file (cdr (assoc evidence tables)) 0.0) least)))

(defun anything-arrives-p (file tables) (plusp (gethash file (cdr (assoc :reach tables)) 0.0)))

(defun listed-hits (hits tables)
  "HITS, most telling first, without those from which little is to be expected. Where no call is to be trusted, a test stays to which
anything arrives at all, however little; and every test where nothing arrives anywhere, since then the graph knows nothing."
  (let* ((best (if hits (best-without-edits hits) 0.0)) (unsure (unsure-p hits tables))
         (blind (loop for hit in hits never (anything-arrives-p (test-hit-file hit) tables))))
    (loop for hit in hits for place from 1
          for share = (if (plusp best) (/ (test-hit-score hit) best) 1.0)
          when (or (<= place +fewest+)
                   (>= share +silent-share+)
                   (and (>= share +least-share+) (or blind (if unsure (anything-arrives-p (test-hit-file hit) tables) (arrives-p (test-hit-file hit) tables)))))
            collect hit)))

(defconstant +faint-way+ 0.002 "How much of a change arrives at a test that one can leave out and yet claim that nothing is missing: on the
projects of eval/impact the least that arrived at a failing test which was left out is 0.005.")

(defun reaching-hits (index paths dependants hits)
  "HITS without those whose test loads nothing that changed; a sure call, an edit or an earlier failure speaks against that."
  (let ((loading (tests-that-load index paths)) (sure (sure-files dependants)))
    (if loading
        (remove-if-not (lambda (hit)
                         (let ((file (test-hit-file hit)) (shares (test-hit-shares hit)))
                           (or (gethash file loading) (gethash file sure) (assoc :edited shares) (assoc :learned shares))))
                       hits)
        hits)))

(defun unlisted (index listed)
  "The test files of INDEX that none of the hits LISTED stands for."
  (let ((table (make-hash-table)))
    (dolist (hit listed) (setf (gethash (test-hit-file hit) table) t))
    (remove-if (lambda (file) (gethash file table)) (test-files index))))

(defun rank-tests (index roots paths dependants texts)
  "Test hits for ROOTS in the changed PATHS with their DEPENDANTS and the changed TEXTS, most telling first: score, then path. What adds nothing or cannot reach the
change is left out. Second value: whether no call that could be trusted leads from a test to the change. Third: the test files that are not
listed. Fourth: how many of these some way leads from all the same."
  (let* ((tables (evidence-tables index roots paths dependants texts)) (hits (reaching-hits index paths dependants (ranked-hits index tables)))
         (listed (listed-hits hits tables))
         (rest (unlisted index listed))
         (calls (cdr (assoc :calls tables))))
    (values (tell index listed dependants) (unsure-p hits tables) rest
            (count-if (lambda (file) (> (gethash file calls 0.0) +faint-way+)) rest))))

(defun best-without-edits (hits)
  "The best of the scores less what being edited and earlier failures give, which say nothing of the rest."
  (flet ((rest-of (hit)
           (- (test-hit-score hit)
              (loop for (evidence . share) in (test-hit-shares hit) when (member evidence '(:edited :learned)) sum share))))
    (reduce #'max (mapcar #'rest-of hits))))

;;; Beforehand

(defun tables-beforehand (index)
  "Makes the tables of INDEX that every ranking of tests reads, whatever changed: who imports whom, and what tests say."
  (loaders index)
  (path-places index)
  (companions index (test-table index))
  (test-words index)
  (speech-beforehand index)
  t)

(defun calls-by-file (dependants)
  (let ((table (make-hash-table)))
    (dolist (dependant dependants table) (push dependant (gethash (dependant-file dependant) table)))))

(defun hit-certainty (calls shares)
  "The surest of CALLS, the dependants in the test."
  (let ((best nil))
    (dolist (call calls)
      (setf best (if (and best (eq (weaker best (dependant-certainty call)) (dependant-certainty call))) best (dependant-certainty call))))
    (or best (if (assoc :edited shares) :exact :possible))))

(defun hit-names (index file calls)
  (tests-around index file (remove-duplicates (mapcar #'dependant-line calls))))
