;;;; What the host saw becomes observations: a request also states decisions, a diff is said in a line, a
;;;; test run settles which tests fail now.

(defpackage #:opl.session.intake
  (:use #:cl)
  (:import-from #:opl.session.observation
                #:observation-kind #:observation-subject #:observation-state #:observation-text #:one-line #:shorten)
  (:import-from #:opl.session.redact #:redact)
  (:import-from #:opl.session.memory #:observe #:observations)
  (:import-from #:opl.session.change #:describe-diff #:diff-line-numbers #:lines-of)
  (:import-from #:opl.session.decision #:decisions #:trivial-request-p)
  (:export #:take-in #:take-test-run #:*symbols-at* #:*read-log*))

(in-package #:opl.session.intake)

(declaim (optimize (speed 1) (safety 1)))

(defvar *symbols-at* nil
  "A function of a path and a list of lines that returns the names of the definitions they stand in, or NIL
while there is no index.")

(defvar *read-log* nil
  "A function of a command's output and exit status (an integer or NIL) that returns NIL when no tests speak in
it, else verdict, counts and failures as TAKE-TEST-RUN takes them; NIL while there is no parser.")

(defconstant +request-limit+ 1500
  "Characters of a request that are kept: what follows is pasted text.")

(defun changed-symbols (path diff)
  ;; An edit is remembered without its symbols rather than not at all.
  (and *symbols-at*
       (ignore-errors (funcall *symbols-at* path (diff-line-numbers diff)))))

(defun known-decision-p (text observations)
  (find-if (lambda (observation)
             (and (eq (observation-kind observation) :decision)
                  (string= (opl.session.observation:observation-text observation) text)))
           observations))

(defun take-decisions (session text keys)
  (let ((known (observations session)))
    (dolist (decision (decisions text))
      (unless (known-decision-p decision known)
        (apply #'observe session :decision :text decision keys)))))

(defun at-head (counts head)
  "COUNTS with the commit at which they hold: a verdict without its tree says little later."
  (if (string= head "") counts (format nil "~A at ~A" counts (subseq head 0 (min 10 (length head))))))

(defun take-output (session command text exit head)
  (when *read-log*
    ;; Any command's output comes here; one that cannot be read as a test log is remembered as a command alone.
    (multiple-value-bind (verdict counts failures) (ignore-errors (funcall *read-log* text exit))
      (when verdict
        (take-test-run session command verdict (at-head counts head) failures)))))

(defun take-verdict (session command verdict text head)
  "TEXT is a line of counts, then a line for each failing test: its name, TAB, where and why."
  (destructuring-bind (counts &rest tests) (lines-of text)
    (take-test-run session command verdict (at-head counts head)
                   (loop for line in tests
                         for tab = (position #\Tab line)
                         unless (string= line "")
                           collect (list (subseq line 0 tab) (if tab (subseq line (1+ tab)) ""))))))

(defun take-in (session kind &key (subject "") (state "") (text "") (parent "") (head ""))
  "Remember that KIND happened in SESSION. KIND is one of the kinds of observation, or :ANSWER, what the model
wrote, of which only the decisions are kept, or :OUTPUT, what the command SUBJECT printed, of which only the tests are.
The TEXT of an :EDIT may be a unified diff; of a :VERDICT it is the counts, then the failing tests, a line each."
  ;; Secrets go before anything is cut or folded: half a key is not known for one, and .env lines are known by their heads.
  (let ((keys (list :parent parent :head head))
        (subject (one-line (redact subject)))
        (text (if (eq kind :output) text (redact text :path (if (eq kind :edit) subject "")))))
    (case kind
      (:request
       (apply #'observe session :request :text (shorten (one-line text) +request-limit+) keys)
       (unless (trivial-request-p text)
         (take-decisions session text keys)))
      (:answer
       (take-decisions session text keys))
      (:output
       (take-output session subject text (parse-integer state :junk-allowed t) head))
      (:verdict
       (take-verdict session subject state text head))
      (:edit
       (apply #'observe session :edit :subject subject :state state
                                      :text (describe-diff text (changed-symbols subject text))
                                      keys))
      (t
       (apply #'observe session kind :subject subject :state state
                                     :text (if (member kind '(:note :decision)) text (one-line text))
                                     keys)))
    nil))

;;; Test runs.

(defun command-words (command)
  "The words of COMMAND that say what is run: options are left out."
  (remove-if (lambda (word) (or (string= word "") (char= #\- (char word 0))))
             (loop for start = 0 then (1+ end)
                   for end = (position #\Space command :start start)
                   collect (string-left-trim "./" (subseq command start end))
                   while end)))

(defun run-again-p (test command before)
  "True when a run of COMMAND runs TEST, an observation from a run of BEFORE: it is the same or a wider command, or one narrowed to what
TEST's name or place holds."
  (let ((more (set-difference (command-words command) (command-words before) :test #'string=)))
    (or (null more)
        (some (lambda (word)
                (or (search word (observation-subject test)) (search word (observation-text test))))
              more))))

(defun failing-in (observations command)
  "The tests whose last word is that they failed and that a run of COMMAND runs. Tests belong to the verdict before them."
  (let ((running "") (failing '()))
    (dolist (observation observations
                         (loop for (test . before) in (reverse failing)
                               when (run-again-p test command before) collect (observation-subject test)))
      (case (observation-kind observation)
        (:verdict (setf running (observation-subject observation)))
        (:test
         (setf failing (remove (observation-subject observation) failing
                               :key (lambda (entry) (observation-subject (car entry))) :test #'string=))
         (when (string= (observation-state observation) "failed")
           (push (cons observation running) failing)))))))

(defun take-test-run (session command verdict counts failures)
  "Remember a run of COMMAND that ended with VERDICT, a string; COUNTS is a text. FAILURES is a list of (test
where-and-why). Tests of earlier runs that this one ran again and that do not fail any more are fixed."
  (let ((before (failing-in (observations session) command)))
    (observe session :verdict :subject command :state verdict :text counts)
    (loop for (test text) in failures
          do (observe session :test :subject test :state "failed" :text text))
    ;; A run that was cut short says nothing of the tests it does not name.
    (when (member verdict '("passed" "failed") :test #'string=)
      (dolist (test before)
        (unless (find test failures :key #'first :test #'string=)
          (observe session :test :subject test :state "passed"))))))
