;;;; What a session's observations amount to: its facts, by section. Of things that change, a test's state,
;;;; an open impact, a to-do, only the last word counts.

(defpackage #:opl.session.facts
  (:use #:cl)
  (:import-from #:opl.session.observation
                #:observation #:observation-time #:observation-kind #:observation-subject #:observation-state
                #:observation-text #:one-line #:shorten)
  (:import-from #:opl.session.decision #:trivial-request-p)
  (:export #:section #:section-title #:section-items #:facts #:edited-symbols #:failing))

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

(defun edits-by-path (observations)
  "A list of (path . edits), in the order of each path's last edit."
  (let ((table (make-hash-table :test #'equal)) (order '()))
    (dolist (observation (of-kind :edit observations))
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

(defun verdict-items (observations)
  (loop for observation in (last-by-subject (of-kind :verdict observations))
        collect (format nil "~A: ~A~@[, ~A~]" (observation-subject observation) (observation-state observation)
                        (let ((text (one-line (observation-text observation)))) (and (string/= text "") text)))))

(defun unsettled (kind done observations)
  "The last word on each subject of KIND whose state is none of DONE."
  (remove-if (lambda (observation) (member (observation-state observation) done :test #'string-equal))
             (last-by-subject (of-kind kind observations))))

(defun request-texts (observations)
  (distinct (remove-if #'trivial-request-p
                       (mapcar (lambda (observation) (one-line (observation-text observation)))
                               (of-kind :request observations)))))

(defun facts (observations)
  "The facts of OBSERVATIONS, a list in the order of time: a list of sections, those without items left out,
most telling first."
  (flet ((make (title items) (make-section :title title :items items)))
    (remove nil
            (list (make "Decisions" (texts (of-kind :decision observations)))
                  (make "Notes to remember" (texts (of-kind :note observations)))
                  (make "Failing tests" (mapcar #'with-subject (failing observations)))
                  (make "Fixed tests" (mapcar #'observation-subject (fixed observations)))
                  (make "Edited files and symbols" (edit-items observations))
                  (make "Open impact (callers not yet looked at)"
                        (mapcar #'with-subject (unsettled :impact '("done" "checked") observations)))
                  (make "Failures met" (distinct (mapcar #'with-subject (of-kind :failure observations))))
                  (make "Last test runs" (verdict-items observations))
                  (make "Open to-do items"
                        (mapcar #'with-subject (unsettled :todo '("completed" "cancelled") observations)))
                  (make "Requests of the user" (request-texts observations)))
            :key #'section-items)))
