;;;; What a session's observations amount to: its facts, by section. Of things that change, a test's state,
;;;; an open impact, a to-do, only the last word counts.

(defpackage #:opl.session.facts
  (:use #:cl)
  (:import-from #:opl.session.observation
                #:observation #:observation-time #:observation-kind #:observation-subject #:observation-state
                #:observation-text #:one-line #:shorten)
  (:import-from #:opl.session.decision #:trivial-request-p)
  (:export #:section #:section-title #:section-items #:facts #:edited-symbols #:failing #:*callers-of*))

(in-package #:opl.session.facts)

(declaim (optimize (speed 1) (safety 1)))

(defstruct section
  "TITLE says what ITEMS, a list of strings in the order of their time, are."
  (title "" :type string)
  (items '() :type list))

(defun of-kind (kind observations)
  (remove kind observations :key #'observation-kind :test-not #'eq))

(defun distinct (strings)
  "STRINGS without repetitions; the later one stays, for it is the later word."
  (remove-duplicates (remove "" strings :test #'string=) :test #'string-equal))

(defun texts (observations)
  (distinct (mapcar (lambda (observation) (one-line (observation-text observation))) observations)))

(defun last-by-subject (observations)
  "The last observation of each subject, in the order of their time."
  (remove-duplicates observations :key #'observation-subject :test #'string=))

(defun with-subject (observation)
  (let ((subject (observation-subject observation))
        (text (one-line (observation-text observation))))
    (cond ((string= text "") subject)
          ((string= subject "") text)
          (t (format nil "~A: ~A" subject text)))))

;;; Edits: one item a file.

(defun work-edits (observations)
  "The edits of OBSERVATIONS but those of the handover documents, which are about the work and none of it."
  (let ((documents (mapcar #'observation-subject (of-kind :handover observations))))
    (remove-if (lambda (edit) (member (observation-subject edit) documents :test #'string=))
               (of-kind :edit observations))))

(defun edits-by-path (observations)
  "A list of (path . edits), in the order of each path's last edit."
  (let ((table (make-hash-table :test #'equal)) (order '()))
    (dolist (observation (work-edits observations))
      (let ((path (observation-subject observation)))
        (setf order (cons path (remove path order :test #'string=)))
        (push observation (gethash path table))))
    (mapcar (lambda (path) (cons path (reverse (gethash path table)))) (reverse order))))

(defun edited-symbols (observations)
  "What was edited: a list of (path state change…), each change a line of what was done, in the order of each
path's last edit."
  (loop for (path . edits) in (edits-by-path observations)
        collect (list* path (observation-state (first (last edits))) (texts edits))))

(defun edit-items (observations)
  (loop for (path state . changes) in (edited-symbols observations)
        collect (format nil "~A~@[ (~A)~]~@[: ~{~A~^; ~}~]" path
                        ;; That a file changed goes without saying.
                        (find state '("add" "delete" "rename") :test #'string=) changes)))

;;; Tests.

(defun failing (observations)
  "The last observations of the tests that fail now, a list in the order of time."
  (remove "failed" (last-by-subject (of-kind :test observations)) :key #'observation-state :test-not #'string=))

(defun fixed (observations)
  "The last observation of each test that failed once and passed at last."
  (let ((tests (of-kind :test observations)))
    (remove-if-not (lambda (observation)
                     (and (string= (observation-state observation) "passed")
                          (find-if (lambda (other)
                                     (and (string= (observation-subject other) (observation-subject observation))
                                          (string= (observation-state other) "failed")))
                                   tests)))
                   (last-by-subject tests))))

(defconstant +paths-shown+ 4
  "Paths named in one item; more are counted.")

(defun paths-text (paths)
  "PATHS in a row, at most four by name."
  (format nil "~{~A~^, ~}~@[ and ~D more~]" (subseq paths 0 (min +paths-shown+ (length paths)))
          (and (> (length paths) +paths-shown+) (- (length paths) +paths-shown+))))

(defun edited-after (observation observations)
  "The paths that were edited after OBSERVATION, in the order of their first edit since."
  (let ((edits (work-edits observations)))
    (remove-duplicates (loop for later in (rest (member observation observations))
                             when (member later edits) collect (observation-subject later))
                       :test #'string= :from-end t)))

(defun verdict-items (observations)
  "The last run of each command, and what was edited since: what it said does not hold for that."
  (loop for observation in (last-by-subject (of-kind :verdict observations))
        for later = (edited-after observation observations)
        collect (format nil "~A: ~A~@[, ~A~]~@[; edited since: ~A~]" (observation-subject observation) (observation-state observation)
                        (let ((text (one-line (observation-text observation)))) (and (string/= text "") text))
                        (and later (paths-text later)))))

(defun unsettled (kind done observations)
  "The last word on each subject of KIND whose state is none of DONE."
  (remove-if (lambda (observation) (member (observation-state observation) done :test #'string-equal))
             (last-by-subject (of-kind kind observations))))

(defun request-texts (observations)
  (distinct (remove-if #'trivial-request-p
                       (mapcar (lambda (observation) (one-line (observation-text observation)))
                               (of-kind :request observations)))))

;;; Failures that still tell something.

(defun prefix-p (prefix text)
  (let ((prefix (string-right-trim "…" prefix))) (eql 0 (search prefix text))))

(defun settled-p (failure later)
  "True when the command of FAILURE ran well afterwards, as LATER observations tell."
  (let ((command (observation-subject failure)))
    (find-if (lambda (observation)
               (and (eq (observation-kind observation) :tool)
                    (prefix-p command (observation-text observation))
                    (not (search " (exit " (observation-text observation)))))
             later)))

(defun failure-items (observations)
  "The failures met, without those that say nothing (no output: grep has found nothing), those of commands that ran well later, and test
runs, whose verdicts and tests stand elsewhere."
  (let ((runs (mapcar #'observation-subject (of-kind :verdict observations))))
    (distinct (loop for (failure . later) on observations
                    when (and (eq (observation-kind failure) :failure)
                              (not (prefix-p "(exit " (string-left-trim " " (observation-text failure))))
                              (not (member (observation-subject failure) runs :test #'string=))
                              (not (settled-p failure later)))
                      collect (with-subject failure)))))

;;; Open impact: who calls what was edited, and was not looked at since.

(defvar *callers-of* nil
  "A function of a path and the name of a definition in it, as edits name them, that returns the places of its callers in other files,
a list of (path . line), most certain first; NIL while there is no index.")

(defconstant +symbols-asked+ 40
  "Edited symbols whose callers are asked for, the ones edited last.")

(defun symbols-of-edit (edit)
  "The names at the head of EDIT's text, as describe-diff puts them: a, b: +2 -1."
  (let* ((text (observation-text edit)) (end (search ": +" text)))
    (and end
         (loop for start = 0 then (+ comma 2)
               for comma = (search ", " text :start2 start :end2 end)
               collect (subseq text start (or comma end))
               while comma))))

(defun last-edits-by-symbol (observations)
  "A list of (edit name later): the last edit of each symbol of a file that was there before, and the observations after it."
  (let ((seen '()) (found '()))
    (loop for (observation . later) on observations
          do (when (and (eq (observation-kind observation) :edit) (string= (observation-state observation) "change"))
               (dolist (name (symbols-of-edit observation))
                 (push (list observation name later) found))))
    (loop for entry in found
          for key = (cons (observation-subject (first entry)) (second entry))
          unless (member key seen :test #'equal)
            do (push key seen) and collect entry)))

(defun names-path-p (text path)
  "True when TEXT names PATH, which may stand at the end of a longer one: src/a.py in /repo/src/a.py, and not in mysrc/a.py."
  (loop for at = (search path text) then (search path text :start2 (1+ at))
        while at
        thereis (or (zerop at) (not (or (alphanumericp (char text (1- at))) (find (char text (1- at)) "_-."))))))

(defun looked-at-p (path observations)
  "True when OBSERVATIONS hold an edit of PATH or a call whose text names it."
  (find-if (lambda (observation)
             (case (observation-kind observation)
               (:edit (string= path (observation-subject observation)))
               (:tool (names-path-p (observation-text observation) path))))
           observations))

(defun impact-items (observations)
  "Callers of edited symbols in files that were neither edited nor looked at since, unless tests have passed since: one item a symbol."
  (and *callers-of*
       (loop for (edit name later) in (last-edits-by-symbol observations)
             repeat +symbols-asked+
             for places = (and (notany (lambda (observation)
                                         (and (eq (observation-kind observation) :verdict) (string= (observation-state observation) "passed")))
                                       later)
                               (remove-if (lambda (place)
                                            (or (looked-at-p (car place) later)
                                                (find (car place) (of-kind :edit observations) :key #'observation-subject :test #'string=)))
                                          (ignore-errors (funcall *callers-of* (observation-subject edit) name))))
             when places
               collect (format nil "~A (~A) is called from ~A" name (observation-subject edit)
                               (paths-text (loop for (path . line) in places collect (format nil "~A:~D" path line)))))))

(defun facts (observations)
  "The facts of OBSERVATIONS, a list in the order of time: a list of sections, those without items left out, in the order in which one
takes over work: what is wanted, what was settled, what was done, what is open."
  (flet ((make (title items) (make-section :title title :items items)))
    (remove nil
            (list (make "Requests of the user" (request-texts observations))
                  (make "Decisions" (texts (of-kind :decision observations)))
                  (make "Notes to remember" (texts (of-kind :note observations)))
                  (make "Edited files and symbols" (edit-items observations))
                  (make "Failing tests" (mapcar #'with-subject (failing observations)))
                  (make "Fixed tests" (mapcar #'observation-subject (fixed observations)))
                  (make "Last test runs" (verdict-items observations))
                  (make "Open impact (callers not looked at since the edit)"
                        (append (mapcar #'with-subject (unsettled :impact '("done" "checked") observations))
                                (impact-items observations)))
                  (make "Open to-do items"
                        (mapcar #'with-subject (unsettled :todo '("completed" "cancelled") observations)))
                  (make "Failures met" (failure-items observations)))
            :key #'section-items)))
