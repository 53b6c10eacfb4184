;;;; Recall: which observations answer a few words. BM25 (Robertson and Zaragoza, The Probabilistic Relevance
;;;; Framework, 2009) over the words of each observation, without a list of stop words: in the notes of a
;;;; programmer test, run, update and fix carry meaning, and a word that carries none weighs little by itself.

(defpackage #:opl.session.recall
  (:use #:cl)
  (:import-from #:opl.session.observation
                #:observation #:observation-time #:observation-kind #:observation-subject #:observation-state
                #:observation-text #:observation-session #:observation-terms)
  (:import-from #:opl.session.memory #:observations #:all-observations #:current-session)
  (:export #:recall #:words))

(in-package #:opl.session.recall)

(declaim (optimize (speed 2) (safety 1)))

(deftype terms () '(simple-array (unsigned-byte 32) (*)))

(defparameter *saturation* 1.2 "BM25's k1, its usual value.")
(defparameter *length-weight* 0.5 "BM25's b; below the usual 0.75, for observations are short and of like length.")

(defparameter *current-weight* 2.0
  "What an observation of the current session counts more than one of another: the same text is found here first.")

(defparameter *kind-weights*
  '((:note . 1.5) (:decision . 1.4) (:request . 1.1) (:edit . 1.1) (:test . 1.1) (:tool . 0.7))
  "What some kinds count more or less than 1: what was asked to be remembered is meant to be found.")

;;; Words.

(defvar *term-numbers* (make-hash-table :test #'equal :synchronized t)
  "Word -> number. Grows with the vocabulary of the project's notes, which is small.")

(defun stem (word)
  "WORD without the endings that English inflects by, so that failing finds failed; crude, and the same for both sides."
  (declare (type simple-string word))
  (let ((length (length word)))
    (flet ((ends (suffix) (and (> length (+ 2 (length suffix)))
                               (string= suffix word :start2 (- length (length suffix)))))
           (cut (count) (subseq word 0 (- length count))))
      (let ((stem (cond ((ends "ies") (concatenate 'string (cut 3) "y"))
                        ((ends "sses") (cut 2))
                        ((ends "ing") (cut 3))
                        ((ends "ied") (concatenate 'string (cut 3) "y"))
                        ((ends "ed") (cut 2))
                        ((ends "es") (cut 2))
                        ((and (ends "s") (not (ends "ss")) (not (ends "us"))) (cut 1))
                        ((ends "e") (cut 1))
                        (t word))))
        ;; running, stopped: the doubled letter goes too.
        (let ((end (length stem)))
          (if (and (> end 3) (char= (char stem (- end 1)) (char stem (- end 2)))
                   (not (find (char stem (- end 1)) "ls"))
                   (not (eq stem word)))
              (subseq stem 0 (1- end))
              stem))))))

(defun hump-p (text index)
  "True when a new word of a compound name begins at INDEX."
  (declare (type simple-string text) (type fixnum index))
  (let ((before (char text (1- index))) (here (char text index)))
    (or (and (lower-case-p before) (upper-case-p here))
        (and (alpha-char-p before) (digit-char-p here))
        (and (digit-char-p before) (alpha-char-p here))
        (and (upper-case-p before) (upper-case-p here)
             (< (1+ index) (length text)) (lower-case-p (char text (1+ index)))))))

(defun map-words (function text)
  "Call FUNCTION with each word of TEXT, stemmed, in lower case: names whole, and their parts."
  (declare (type function function))
  (let ((text (coerce text 'simple-string)) (start 0))
    (declare (type fixnum start))
    (flet ((say (from to)
             (declare (type fixnum from to))
             (when (< from to)
               (funcall function (stem (string-downcase (subseq text from to)))))))
      (loop
        (let ((from (position-if #'alphanumericp text :start start)))
          (unless from (return))
          (let* ((to (or (position-if-not #'alphanumericp text :start from) (length text)))
                 (part from))
            (declare (type fixnum from to part))
            (loop for index from (1+ from) below to
                  do (when (hump-p text index)
                       (say part index)
                       (setf part index)))
            (say part to)
            (when (> part from)
              (say from to))
            (setf start to)))))))

(defun words (text)
  "The words of TEXT as recall compares them: a list, in order."
  (let ((words '()))
    (map-words (lambda (word) (push word words)) text)
    (nreverse words)))

(defun term-number (word)
  (or (gethash word *term-numbers*)
      (setf (gethash word *term-numbers*) (hash-table-count *term-numbers*))))

(defun terms-of (observation)
  "The term numbers of OBSERVATION, sorted out of its subject, state and text once."
  (or (observation-terms observation)
      (setf (observation-terms observation)
            (let ((numbers '()))
              (dolist (text (list (observation-subject observation) (observation-state observation)
                                  (observation-text observation)
                                  (string-downcase (symbol-name (observation-kind observation)))))
                (map-words (lambda (word) (push (term-number word) numbers)) text))
              (coerce (nreverse numbers) 'terms)))))

;;; Scoring.

(deftype marks () '(simple-array (unsigned-byte 8) (*)))

(defconstant +query-limit+ 200
  "Words of a query that are looked for.")

(defun marks-of (query)
  "For each term number the place of the term in QUERY, from 1 on; 0 for all others."
  (let ((marks (make-array (hash-table-count *term-numbers*) :element-type '(unsigned-byte 8) :initial-element 0)))
    (loop for term in query for place from 1 do (setf (aref marks term) place))
    marks))

(defun counts-of (terms marks size)
  "How often each of the SIZE terms that MARKS marks stands in TERMS, a vector; NIL when none does."
  (declare (type terms terms) (type marks marks) (optimize (speed 3)))
  (let ((counts nil))
    (loop for term across terms
          for place = (if (< term (length marks)) (aref marks term) 0)
          unless (zerop place)
            do (unless counts (setf counts (make-array size :element-type 'fixnum :initial-element 0)))
               (incf (aref (the (simple-array fixnum (*)) counts) (1- place))))
    counts))

(defun rarity (count total)
  "The weight of a term that COUNT of TOTAL observations hold (BM25's idf, the variant that is never negative)."
  (log (+ 1.0 (/ (+ (- total count) 0.5) (+ count 0.5)))))

(defun score-counts (counts rarities length average)
  "BM25 of an observation of LENGTH terms that holds the terms of a query COUNTS times."
  (let ((norm (+ (- 1.0 *length-weight*) (* *length-weight* (/ length (max 1.0 average))))))
    (loop for count across (the (simple-array fixnum (*)) counts)
          for rarity across rarities
          when (plusp count)
            sum (/ (* rarity count (+ 1.0 *saturation*))
                   (+ count (* *saturation* norm))))))

(defun scored (observations query)
  "A list of (score . observation) for the OBSERVATIONS that hold a term of QUERY. Every observation is looked at once."
  (let* ((marks (marks-of query)) (size (length query)) (total 0) (sum 0) (held '())
         (holders (make-array size :element-type 'fixnum :initial-element 0)))
    (declare (type fixnum total sum))
    (dolist (observation observations)
      (let* ((terms (terms-of observation)) (counts (counts-of terms marks size)))
        (incf total)
        (incf sum (length (the terms terms)))
        (when counts
          (push (cons counts observation) held)
          (dotimes (place size) (when (plusp (aref counts place)) (incf (aref holders place)))))))
    (let ((rarities (map 'vector (lambda (count) (rarity count total)) holders))
          (average (/ sum (max 1.0 total))))
      (loop for (counts . observation) in (nreverse held)
            collect (cons (score-counts counts rarities (length (the terms (observation-terms observation))) average)
                          observation)))))

(defun weight (observation current)
  (* (if (equal (observation-session observation) current) *current-weight* 1.0)
     (or (cdr (assoc (observation-kind observation) *kind-weights*)) 1.0)))

(defun query-terms (text)
  "The numbers of the words of TEXT that any observation holds."
  (let ((numbers (remove-duplicates (loop for word in (words text)
                                          for number = (gethash word *term-numbers*)
                                          when number collect number)
                                    :from-end t)))
    (subseq numbers 0 (min +query-limit+ (length numbers)))))

(defun better-p (one other)
  "The order of results: score, then the later one, then the text."
  (destructuring-bind (score . observation) one
    (destructuring-bind (other-score . other-observation) other
      (or (> score other-score)
          (and (= score other-score)
               (or (> (observation-time observation) (observation-time other-observation))
                   (and (= (observation-time observation) (observation-time other-observation))
                        (string< (observation-text observation) (observation-text other-observation)))))))))

(defun without-repetitions (scored)
  "SCORED without later results that say what an earlier one says."
  (let ((seen (make-hash-table :test #'equal)))
    (remove-if (lambda (entry)
                 (let ((key (list (observation-kind (cdr entry)) (observation-subject (cdr entry))
                                  (observation-state (cdr entry)) (observation-text (cdr entry)))))
                   (prog1 (gethash key seen)
                     (setf (gethash key seen) t))))
               scored)))

(defconstant +calls-limit+ 20000
  "Tool calls of other sessions that are looked at, the newest: they are most of what was observed, and tell least.")

(defun searched (session)
  "All observations but the oldest of the other sessions' tool calls."
  (let ((calls 0))
    (declare (type fixnum calls))
    (remove-if (lambda (observation)
                 (and (eq (observation-kind observation) :tool)
                      (not (equal (observation-session observation) session))
                      (> (incf calls) +calls-limit+)))
               (all-observations))))

(defun recall (query &key (limit 10) (session (current-session)) only)
  "The observations that answer QUERY, a text, best first: a list of (score . observation), at most LIMIT.
What was seen in SESSION comes before the same from another. With ONLY true other sessions are not looked
at. Nothing found gives NIL."
  (let* ((observations (if only (observations session) (searched session)))
         ;; The terms are numbered before the query is, so that it knows them.
         (query (progn (mapc #'terms-of observations) (query-terms query)))
         (weighed (loop for (score . observation) in (scored observations query)
                        collect (cons (* score (weight observation session)) observation)))
         (sorted (without-repetitions (sort weighed #'better-p))))
    (subseq sorted 0 (min limit (length sorted)))))
