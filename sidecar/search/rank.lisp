;;;; The ranking: channels, each one source of evidence, brought to the same scale and added up by their weights. Every
;;;; weight stands in the one table below with its source; channels can be added, removed and re-weighted at run time.

(defpackage #:opl.search.rank
  (:use #:cl #:opl.index.store #:opl.search.tables #:opl.search.evidence #:opl.search.lexical #:opl.search.mentions #:opl.search.past
        #:opl.search.near #:opl.search.places)
  (:import-from #:opl.search.tests #:tested-scores)
  (:import-from #:opl.search.text #:text-count #:text-types #:text-functions #:text-lines #:text-flags #:+made-by-a-tool+)
  (:import-from #:opl.search.query #:task-text #:task-title #:word-shape-of #:word-text #:word-called-p #:word-inline-p #:word-marked-p)
  (:export #:channel #:channel-name #:channel-weight #:channel-source #:channel-prior-p #:channel-function #:channels
           #:find-channel #:add-channel #:remove-channel #:set-channel-weight #:reset-channels
           #:*channels* #:greatest #:about-tests-p))
(in-package #:opl.search.rank)

(declaim (optimize (speed 1) (safety 1)))

(defstruct channel
  (name "" :type string)
  (weight 0.0 :type single-float)
  (source "" :type string)              ; where the weight comes from
  (prior-p nil)                         ; taken as it is, not brought to the scale 0 … 1
  (function nil))                       ; of the evidence, giving a float vector by file, or nothing (see tables.lisp)

(defvar *built-in* '() "The channels of this file, in the order of the table.")
(defvar *channels* '() "The channels in force; replaced as a whole, so a ranking under way is not disturbed.")

(defmacro define-channel (name weight (evidence &key prior) source &body body)
  "Defines a channel whose BODY gives a float vector by file from EVIDENCE. SOURCE says where WEIGHT comes from."
  `(let ((channel (make-channel :name ,name :weight ,(float weight 1.0) :source ,source :prior-p ,prior
                                :function (lambda (,evidence) (declare (ignorable ,evidence)) ,@body))))
     (setf *built-in* (append (remove ,name *built-in* :key #'channel-name :test #'string=) (list channel))
           *channels* (append (remove ,name *channels* :key #'channel-name :test #'string=) (list channel)))
     ',name))

(defun channels () "The channels in force, in order." *channels*)
(defun find-channel (name) "The channel called NAME, or nil." (find name *channels* :key #'channel-name :test #'string-equal))

(defun add-channel (name weight function &key (source "added at run time") prior)
  "Adds a channel called NAME, or replaces the one of that name. FUNCTION takes the path of a file and the text of the task,
and gives a number; it is called for every file of the index. Returns the channel's name."
  (check-type name string) (check-type weight real)
  (let ((channel (make-channel :name name :weight (float weight 1.0) :source source :prior-p prior
                               :function (lambda (evidence) (by-path evidence function)))))
    (setf *channels* (append (remove name *channels* :key #'channel-name :test #'string-equal) (list channel)))
    name))

(defconstant +added-seconds+ 1/2 "Time that an added channel may take for one task; what it has not looked at by then has nothing from it.")

(defun by-path (evidence function)
  "What FUNCTION says of each path. One that fails says nothing: an answer never fails for an added channel."
  (let ((scores (make-floats (evidence-file-count evidence))) (index (evidence-index evidence))
        (text (task-text (evidence-task evidence)))
        (end (+ (get-internal-real-time) (* +added-seconds+ internal-time-units-per-second))))
    (do-files (file) (index)
      (when (> (get-internal-real-time) end) (return))
      (let ((value (handler-case (funcall function (index-path index file) text)
                     ((or error storage-condition) () (return)))))
        (when (realp value) (setf (aref scores file) (float value 1.0)))))
    scores))

(defun remove-channel (name)
  "Takes the channel NAME out of the ranking. Returns true when there was one."
  (let ((channel (find-channel name)))
    (when channel (setf *channels* (remove channel *channels*)) t)))

(defun set-channel-weight (name weight)
  "Gives the channel NAME another WEIGHT. Returns the weight it had; nil when there is no such channel."
  (let ((channel (find-channel name)))
    (when channel
      (let ((new (copy-channel channel)))
        (setf (channel-weight new) (float weight 1.0) (channel-source new) "set at run time"
              *channels* (substitute new channel *channels*))
        (channel-weight channel)))))

(defun reset-channels () "Puts back the channels and weights of the table." (setf *channels* (copy-list *built-in*)) t)

;;; What channels share within one ranking

(defmacro shared ((evidence key) &body body)
  (let ((table (gensym)) (value (gensym)) (found (gensym)))
    `(let ((,table (evidence-memo ,evidence)))
       (multiple-value-bind (,value ,found) (gethash ',key ,table)
         (if ,found ,value (setf (gethash ',key ,table) (progn ,@body)))))))

(defun lexical (evidence place) (svref (evidence-scores evidence) place))
(defun paths (evidence place) (nth place (shared (evidence paths) (path-scores evidence))))

(defun similar (evidence) (shared (evidence similar) (similar-commit-scores evidence)))
(defun messages (evidence) (shared (evidence messages) (message-scores evidence)))

(defun greatest (evidence scores)
  "The greatest of SCORES over the candidates; over all files when no candidate has any."
  (declare (optimize (speed 3) (safety 0)) (type floats scores))
  (let ((candidates 0.0) (all 0.0) (classes (tables-classes (evidence-tables evidence))) (order (index-order (evidence-index evidence))))
    (declare (type single-float candidates all) (type opl.source.names:octets classes) (type opl.source.names:u32-vector order))
    (unless (nothing-p scores)
      (loop for file across order
            do (let ((score (aref scores file)))
                 (when (> score candidates)
                   (when (> score all) (setf all score))
                   (when (candidate-class-p (aref classes file)) (setf candidates score))))))
    (if (plusp candidates) candidates all)))

(defparameter *first-weights* '(1.5 2.35 1.0 2.0 0.7 1.0 1.0)
  "What words, title, file name, paths named, traces, similar commits and messages count in finding the files whose neighbours are looked at.")

(defun first-scores (evidence)
  "By file: a first, rough sum, by which the files are chosen whose neighbours count as evidence."
  (shared (evidence first-scores)
    (let ((sum (make-floats (evidence-file-count evidence))) (any nil))
      (loop for weight single-float in *first-weights*
            for scores in (list (lexical evidence +all-fields+) (lexical evidence +title-alone+) (lexical evidence (+ +first-field+ +base+))
                                (paths evidence 0) (paths evidence 1) (similar evidence) (messages evidence))
            do (when (add-scaled sum weight evidence scores) (setf any t)))
      (if any sum **nothing**))))

(defun add-scaled (sum weight evidence scores)
  "Adds to SUM what SCORES say, brought to the scale 0 … 1, by WEIGHT. Returns true when they say anything."
  (declare (optimize (speed 3) (safety 0)) (type floats sum scores) (type single-float weight))
  (let ((greatest (greatest evidence scores)))
    (declare (type single-float greatest))
    (when (> greatest 0.0)
      (dotimes (file (length sum) t)
        (let ((score (aref scores file)))
          (unless (= score 0.0) (incf (aref sum file) (* weight (min 1.0 (/ score greatest))))))))))

(defun by-file (index function)
  "A float vector of what FUNCTION says of each file's number and run."
  (let ((scores (make-floats (index-file-count index))))
    (declare (type function function))
    (do-files (file) (index) (setf (aref scores file) (float (funcall function file (index-run index file)) 1.0)))
    scores))

(defmacro unchanging ((evidence key) (file run) &body body)
  "The vector of BODY's values by FILE and RUN, which no task changes: made once for an index."
  `(let ((index (evidence-index ,evidence)) (tables (evidence-tables ,evidence)))
     (declare (ignorable tables))
     (memo (index ,key)
       (by-file index (lambda (,file ,run) (declare (ignorable ,file ,run)) ,@body)))))

(defconstant +entry-definitions+ 3.0 "Types and functions with which an entry file counts half as one. Set by hand; of 287 development issues it moved one, to the first place.")

(defun definitions-of (run)
  (if (zerop (text-count run)) 0 (+ (text-types run 0) (text-functions run 0))))

;;; The table

(defparameter *recipe* "W1 of the recipe: rounded means of two listwise softmax fits on SWE-bench Lite")

(defparameter *fitted*
  "W1, refitted on 554 development instances of 34 repositories: how far the last gold file is above the file it must be above, smoothed,
held near the weights before, rounded. Over repositories left out, on 145 instances that no weight was chosen on before: -0.7 at 1, 0 at 3,
+1.3 at 5, +1.4 at 10, any at 5 +2.0")

(define-channel "words" 1.5 (evidence) *fitted* (lexical evidence +all-fields+))
(define-channel "title" 1.55 (evidence) *fitted* (lexical evidence +title-alone+))
(define-channel "file-name" 0.95 (evidence) *fitted* (lexical evidence (+ +first-field+ +base+)))
(define-channel "folders" 0.5 (evidence) *fitted* (lexical evidence (+ +first-field+ +folder+)))
(define-channel "types" 0.35 (evidence) *fitted* (lexical evidence (+ +first-field+ +types+)))
(define-channel "functions" 0.35 (evidence) *fitted* (lexical evidence (+ +first-field+ +functions+)))
(define-channel "other-definitions" 0.1 (evidence) *fitted* (lexical evidence (+ +first-field+ +others+)))
(define-channel "comments" 0.35 (evidence) *fitted* (lexical evidence (+ +first-field+ +comment-words+)))
(define-channel "strings" 0.2 (evidence) *fitted* (lexical evidence (+ +first-field+ +string-words+)))
(define-channel "pairs" 0.3 (evidence) *fitted* (lexical evidence +pairs-alone+))
(define-channel "roots" 0.05 (evidence) *fitted* (lexical evidence +roots-alone+))
(define-channel "tests-words" 0.1 (evidence) *fitted* (tested-scores (evidence-index evidence) (lexical evidence +all-fields+)))
(define-channel "tests-title" 0.3 (evidence) *fitted* (tested-scores (evidence-index evidence) (lexical evidence +title-alone+)))
(define-channel "definitions-named" 0.4 (evidence) *fitted* (definition-scores evidence))
(define-channel "uses-named" 0.2 (evidence) *fitted* (use-scores evidence))
(define-channel "paths-named" 3.0 (evidence) *fitted* (paths evidence 0))
(define-channel "trace" 0.65 (evidence) *recipe* (paths evidence 1))
(define-channel "last-frame" 0.55 (evidence) *fitted* (paths evidence 2))
(define-channel "modules-named" 0.4 (evidence) *fitted* (module-scores evidence))
(define-channel "phrases" 0.6 (evidence) *fitted* (phrase-scores evidence))
(define-channel "similar-commits" 1.25 (evidence) *fitted* (similar evidence))
(define-channel "messages" 1.4 (evidence) *fitted* (messages evidence))
(define-channel "recently-changed" 0.65 (evidence) *fitted* (recency-scores evidence))
(define-channel "same-issue" 1.9 (evidence) *fitted* (reference-scores evidence))
(define-channel "length" -0.7 (evidence :prior t) *fitted*
  (unchanging (evidence :prior-length) (file run)
    (if (zerop (text-count run)) 0.0 (/ (log (+ 1.0 (text-lines run 0))) 8.0))))
(define-channel "entry-file" -0.45 (evidence :prior t) *fitted*
  ;; an entry that defines much is no mere list of what its package holds
  (unchanging (evidence :prior-entry) (file run)
    (/ (sbit (tables-entries tables) file) (+ 1.0 (/ (definitions-of run) +entry-definitions+)))))
(define-channel "aside" -1.2 (evidence :prior t)
    "Recipe: -0.7; more, so that demos with the task's very words stay behind; no figure on the development instances changes"
  (unchanging (evidence :prior-aside) (file run) (if (= (aref (tables-classes tables) file) +aside+) 1 0)))

;;; A task that is nothing but a name asks where that is defined

(defstruct asked
  "The words of a task that may be nothing but names: how many, a name with marks being one, and how often each stands by itself."
  (count 0 :type fixnum) (free (make-hash-table :test 'equal) :type hash-table))

(defun asked-of (evidence)
  (shared (evidence asked)
    (let* ((asked (make-asked)) (free (asked-free asked)) (text (task-text (evidence-task evidence))))
      (flet ((note (text by) (opl.search.reading:map-words (lambda (from to)
                                                             (incf (asked-count asked) by)
                                                             (incf (gethash (subseq text from to) free 0) by))
                                                           text)))
        (note text 1)
        (opl.search.reading:map-marked-names
         (lambda (name)
           (when (find-if (lambda (word) (and (word-marked-p word) (string= (word-text word) name))) (evidence-words evidence))
             (note name -1)
             (incf (asked-count asked))
             (incf (gethash name free 0))))
         text))
      asked)))

(defun name-alone-p (word asked)
  "Whether WORD is a name that is ASKED for: one word alone is; of two or three, those that look like names, since `deploy bucket' is prose."
  (and (plusp (gethash (word-text word) (asked-free asked) 0))
       (or (= (asked-count asked) 1)
           (and (<= (asked-count asked) +name-words+)
                (or (> (word-shape-of word) 0.3) (word-called-p word) (word-inline-p word))))))

(defconstant +aside-name+ 0.25 "Of a definition in benchmarks, demos, scripts, where the program defines the name too.")
(defconstant +named-file+ 0.9 "Of a definition, for a file that bears the name itself.")

(defun raise-named-files (evidence asked scores)
  "Raises in SCORES the files whose names, without what follows the first point, are a name that is ASKED for."
  (declare (type floats scores))
  (let ((index (evidence-index evidence)) (classes (tables-classes (evidence-tables evidence))))
    (do-files (file) (index)
      (when (< (aref classes file) +aside+)
        (let* ((path (index-path index file)) (from (1+ (or (position #\/ path :from-end t) -1))) (to (or (position #\. path :start from) (length path))))
          (when (loop for word across (evidence-words evidence)
                      thereis (and (name-alone-p word asked) (string= (word-text word) path :start2 from :end2 to)))
            (setf (aref scores file) (max (aref scores file) +named-file+))))))))

(defun name-alone-scores (evidence)
  "By file: how surely it is where the name stands that the task of few words asks for. Tests and what is not the program's own count for
names that nothing else defines."
  (let* ((asked (asked-of evidence)) (named (if (<= 1 (asked-count asked) +name-words+) (evidence-definitions evidence) '()))
         (index (evidence-index evidence)) (tables (evidence-tables evidence)) (classes (tables-classes tables)) (own '()) (source '()))
    (flet ((own-p (file) (or (tables-only-p tables) (candidate-class-p (aref classes file))))
           (aside-p (file) (and (= (aref classes file) +aside+) (not (tables-only-p tables)))))
      (setf named (remove-if-not (lambda (place) (name-alone-p (svref (evidence-words evidence) (- (third place) (evidence-term-count evidence))) asked)) named))
      (when (null named) (return-from name-alone-scores **nothing**))
      (loop for (file nil slot) in named
            do (when (own-p file)
                 (pushnew slot own)
                 (unless (aside-p file) (pushnew slot source))))
      (let ((scores (make-floats (evidence-file-count evidence))))
        (loop for (file def slot) in named
              do (when (or (own-p file) (not (member slot own)))
                   (let ((worth (* (if (< (opl.search.text:symbol-class (opl.source.facts:def-kind (index-run index file) def)) 2) 1.0 0.7)
                                   (if (and (aside-p file) (member slot source)) +aside-name+ 1.0))))
                     (setf (aref scores file) (max (aref scores file) worth)))))
        (raise-named-files evidence asked scores)
        scores))))

(define-channel "name-alone" 8.0 (evidence)
    "So that a name is always found where it is defined: more than all other channels of one file together, measured on 200 names of each of twelve repositories"
  (name-alone-scores evidence))

;;; What a task is about decides how far tests and documents stand back

(defparameter *test-words* '("test" "tests" "testing" "spec" "specs" "fixture" "fixtures" "testcase" "e2e"))
(defparameter *document-words* '("doc" "docs" "documentation" "readme" "changelog" "docstring" "docstrings" "markdown" "typo" "manual" "guide" "tutorial"
                                 "config" "configuration" "yaml" "json" "toml" "css" "stylesheet" "html" "workflow" "dockerfile" "license"))
(defparameter *aside-words* '("example" "examples" "sample" "samples" "demo" "benchmark" "benchmarks" "bench" "script" "scripts" "tutorial" "tools" "locale" "locales"
                              "vendored" "vendor" "generated"))

(defun about-p (task words)
  "Whether the first line of TASK holds one of WORDS."
  (opl.search.reading:map-words
   (lambda (from to)
     (when (member (subseq (task-title task) from to) words :test #'string-equal) (return-from about-p t)))
   (task-title task))
  nil)

(defun about-tests-p (task) "Whether the first line of TASK asks for tests." (about-p task *test-words*))

(defun marks (evidence class-files words)
  "CLASS-FILES, 1 for each file of a class; 0 when the task is about such files, names that very file by path, or asks for a name it defines."
  (declare (type floats class-files))
  (let ((named (paths evidence 0)) (defining (name-alone-scores evidence)))
    (declare (type floats named defining))
    (if (or (tables-only-p (evidence-tables evidence)) (about-p (evidence-task evidence) words))
        **nothing**
        (let ((marks class-files))
          (declare (type floats marks))
          (unless (nothing-p named) (setf marks (map 'floats (lambda (mark name) (if (< name 0.99) mark 0.0)) marks named)))
          (unless (nothing-p defining) (setf marks (map 'floats (lambda (mark score) (if (zerop score) mark 0.0)) marks defining)))
          marks))))

(defmacro class-marks ((evidence key class) words)
  `(marks ,evidence
          (unchanging (,evidence ,key) (file run) (if (= (aref (tables-classes tables) file) ,class) 1 0))
          ,words))

(defparameter *prose-words* '("doc" "docs" "documentation" "readme" "changelog" "docstring" "docstrings" "typo" "manual" "guide" "tutorial")
  "A title with one of these asks for prose, which imports nothing and is imported by nothing.")

(defmacro near (evidence &body body)
  `(if (about-p (evidence-task ,evidence) *prose-words*)
       **nothing**
       (let ((first (first-scores ,evidence))) ,@body)))

(defparameter *near*
  "Chosen together on 409 development instances of 34 repositories (without: 44.0 / 63.8 / 70.4 / 80.4, with: 43.5 / 66.5 / 73.3 / 82.2 at 1, 3, 5, 10), then refitted with all others; flat around")

(define-channel "imported" 0.9 (evidence) *near* (near evidence (imported-scores evidence first nil)))
(define-channel "imported-by-tests" 0.6 (evidence) *near* (near evidence (imported-scores evidence first t)))
(define-channel "types-used" 0.7 (evidence) *near* (near evidence (used-scores evidence first)))
(define-channel "together" 0.35 (evidence) *near* (near evidence (together-scores evidence first)))
(define-channel "part" 1.2 (evidence) *near* (part-scores evidence))
(defparameter *standing-back* "Set so that such a file stands behind every source file with comparable evidence; no gold file of the 409 is one")

(define-channel "test" -4.0 (evidence :prior t) *standing-back* (class-marks (evidence :prior-test +tests+) *test-words*))
(define-channel "document" -5.0 (evidence :prior t) *standing-back* (class-marks (evidence :prior-document +documents+) *document-words*))
(define-channel "vendored" -5.0 (evidence :prior t) *standing-back* (class-marks (evidence :prior-vendored +foreign+) *aside-words*))
(define-channel "generated" -1.0 (evidence :prior t) *standing-back*
  (unchanging (evidence :prior-generated) (file run)
    (if (and (plusp (text-count run)) (logtest +made-by-a-tool+ (text-flags run 0))) 1 0)))
(define-channel "edited" 0.3 (evidence :prior t)
    "Small: about what a change of last week is worth; the issues measured have no session"
  (let ((scores (if (evidence-edited evidence) (make-floats (evidence-file-count evidence)) **nothing**)))
    (dolist (path (evidence-edited evidence) scores)
      (let ((file (index-file-number (evidence-index evidence) path)))
        (when file (setf (aref scores file) 1.0))))))
