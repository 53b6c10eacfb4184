;;;; A session's facts as text within a budget of tokens: for the compaction of a session, and for a handover.

(defpackage #:opl.session.summary
  (:use #:cl)
  (:import-from #:opl.session.observation #:shorten)
  (:import-from #:opl.session.facts #:section #:make-section #:section-title #:section-items #:facts)
  (:export #:summary #:fitted-facts #:estimate-tokens))

(in-package #:opl.session.summary)

(declaim (optimize (speed 1) (safety 1)))

(defconstant +default-tokens+ 1500
  "Tokens of a summary when the caller names no budget.")

(defconstant +letters-per-token+ 5
  "Letters of a run that one token takes at least in today's vocabularies of 100,000 and more entries: English
words of up to five letters are nearly all one token.")

(defconstant +digits-per-token+ 3
  "Digits that one token takes.")

(defun estimate-tokens (text)
  "Tokens of TEXT, about: letters in runs, digits in threes, each other mark one; blanks go with the word that
follows them. Errs on the high side for prose, and is close for code."
  (let ((tokens 0) (letters 0) (digits 0))
    (flet ((close-runs ()
             (incf tokens (+ (ceiling letters +letters-per-token+) (ceiling digits +digits-per-token+)))
             (setf letters 0 digits 0)))
      (loop for character across text
            do (cond ((alpha-char-p character)
                      (when (plusp digits) (close-runs))
                      (incf letters)
                      ;; Scripts without blanks take about a token a character.
                      (when (> (char-code character) #x2E80) (close-runs)))
                     ((digit-char-p character)
                      (when (plusp letters) (close-runs))
                      (incf digits))
                     (t (close-runs)
                        (unless (char= character #\Space) (incf tokens)))))
      (close-runs))
    tokens))

(defconstant +shortest-item+ 60
  "Characters below which an item is dropped rather than cut further: less says nothing.")

(defconstant +longest-item+ 600
  "Characters of an item when there is room for all.")

(defparameter *worth*
  '(("Decisions" 140 3) ("Notes" 140 3) ("Requests" 100 3) ("Failing" 120 3) ("Edited" 90 3) ("Open" 90 2))
  "By the beginning of a section's title: characters below which its items are not cut, for the reason stands at the end of a decision, and
how many items it keeps for one of a section that is not named here.")

(defun worth-of (section)
  (or (rest (find-if (lambda (entry) (eql 0 (search (first entry) (section-title section)))) *worth*))
      (list +shortest-item+ 1)))

(defun cut-items (section limit)
  (mapcar (lambda (item) (shorten item (max limit (first (worth-of section))))) (section-items section)))

(defun render (sections limit)
  "SECTIONS as text, each item cut at LIMIT characters."
  (with-output-to-string (stream)
    (loop for section in sections
          for first = t then nil
          do (format stream "~:[~%~;~]~A~%~{- ~A~%~}" first (section-title section) (cut-items section limit)))))

(defun fits-p (sections limit tokens)
  (<= (estimate-tokens (render sections limit)) tokens))

(defun widest-limit (sections tokens)
  "The largest limit on an item's length with which SECTIONS fit TOKENS, or NIL when not even the shortest does."
  (when (fits-p sections +shortest-item+ tokens)
    (let ((low +shortest-item+) (high +longest-item+))
      (loop while (< low high)
            do (let ((middle (ceiling (+ low high) 2)))
                 (if (fits-p sections middle tokens)
                     (setf low middle)
                     (setf high (1- middle)))))
      low)))

(defun with-one-less (section)
  "SECTION without its second item, of two without the first: the first request is what the session is for, the last is what it is at."
  (let ((items (section-items section)))
    (make-section :title (section-title section)
                  :items (if (cddr items) (cons (first items) (cddr items)) (last items)))))

(defun drop-one (sections)
  "SECTIONS with one item less, from the section that has most for what it is worth; NIL when each has but one."
  (let ((victim nil) (most 0))
    (dolist (section sections)
      (let ((weight (/ (length (section-items section)) (second (worth-of section)))))
        ;; Of equals the later one.
        (when (and (rest (section-items section)) (>= weight most))
          (setf victim section most weight))))
    (when victim
      (mapcar (lambda (section) (if (eq section victim) (with-one-less section) section)) sections))))

(defun without-last (sections)
  "SECTIONS without the last of those that say least."
  (let ((victim (or (find 1 sections :key (lambda (section) (second (worth-of section))) :from-end t)
                    (first (last sections)))))
    (remove victim sections)))

(defun fitted-facts (observations tokens)
  "The facts of OBSERVATIONS cut to TOKENS: a list of sections whose items are as long as the budget allows. When they do not fit, oldest
items go from the sections that have most for their worth, then whole sections."
  (loop for sections = (facts observations) then (or (drop-one sections) (without-last sections))
        for limit = (and sections (widest-limit sections tokens))
        while sections
        when limit
          return (mapcar (lambda (section)
                           (make-section :title (section-title section) :items (cut-items section limit)))
                         sections)))

(defun summary (observations &key (tokens +default-tokens+))
  "The facts of OBSERVATIONS as text of at most TOKENS tokens (as ESTIMATE-TOKENS counts), and how many facts
there are in it. An empty text and 0 when there are none."
  (let* ((head (format nil "Facts recorded in this session (observed by the opl plugin, not written by a model):~%~%"))
         (sections (fitted-facts observations (max 0 (- tokens (estimate-tokens head))))))
    (if (null sections)
        (values "" 0)
        (values (concatenate 'string head (render sections most-positive-fixnum))
                (loop for section in sections sum (length (section-items section)))))))
