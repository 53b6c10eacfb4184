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

(defun render (sections limit)
  "SECTIONS as text, each item cut at LIMIT characters."
  (with-output-to-string (stream)
    (loop for section in sections
          for first = t then nil
          do (format stream "~:[~%~;~]~A~%~{- ~A~%~}" first (section-title section)
                     (mapcar (lambda (item) (shorten item limit)) (section-items section))))))

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

(defun drop-one (sections)
  "SECTIONS with one item less: the oldest of the last section that has more than one, but a section's first
item goes after its second: the first request is what the session is for."
  (let ((victim (find-if (lambda (section) (rest (section-items section))) (reverse sections))))
    (when victim
      (mapcar (lambda (section)
                (if (eq section victim)
                    (make-section :title (section-title section)
                                  :items (let ((items (section-items section)))
                                           (if (cddr items)
                                               (cons (first items) (cddr items))
                                               (last items))))
                    section))
              sections))))

(defun fitted-facts (observations tokens)
  "The facts of OBSERVATIONS cut to TOKENS: a list of sections whose items are as long as the budget allows.
What is dropped, when even short items do not fit, goes from the last section on, oldest first."
  (loop for sections = (facts observations) then (drop-one sections)
        for limit = (and sections (widest-limit sections tokens))
        while sections
        when limit
          return (mapcar (lambda (section)
                           (make-section :title (section-title section)
                                         :items (mapcar (lambda (item) (shorten item limit))
                                                        (section-items section))))
                         sections)))

(defun summary (observations &key (tokens +default-tokens+))
  "The facts of OBSERVATIONS as text of at most TOKENS tokens (as ESTIMATE-TOKENS counts), and how many facts
there are in it. An empty text and 0 when there are none."
  (let* ((head (format nil "Facts recorded in this session (observed by the opl plugin, not written by a model):~%~%"))
         (sections (fitted-facts observations (max 0 (- tokens (estimate-tokens head))))))
    (if (null sections)
        (values "" 0)
        (values (concatenate 'string head (render sections +longest-item+))
                (loop for section in sections sum (length (section-items section)))))))
