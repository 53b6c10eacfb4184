;;;; Impact: what a change touches, who depends on it, which tests exercise it, and what could not be known.

(defpackage #:opl.change.impact
  (:use #:cl #:opl.index.store #:opl.change.diff #:opl.change.roots #:opl.change.imports #:opl.change.reach #:opl.change.vocabulary #:opl.change.tests #:opl.change.doubts #:opl.change.outside)
  (:import-from #:opl.source.names #:name-string)
  (:import-from #:opl.source.language #:language-family)
  (:import-from #:opl.search.places #:test-path-p)
  (:export #:impact #:impact-of-diff #:impact-of-tags #:impact-roots #:impact-dependants #:impact-tests #:impact-files #:impact-reasons
           #:impact-full-suite #:impact-complete-p))
(in-package #:opl.change.impact)

(defstruct impact
  "ROOTS, their DEPENDANTS, ranked TESTS, changed FILES; REASONS why it is not complete; FULL-SUITE the reasons why only the whole
suite can tell."
  (roots '() :type list) (dependants '() :type list) (tests '() :type list) (files '() :type list) (reasons '() :type list)
  (full-suite '() :type list))

(defun impact-complete-p (impact)
  "Whether nothing is known that may have been missed, and no reason to run all tests."
  (and (null (impact-reasons impact)) (null (impact-full-suite impact))))

;;; Changes that no graph follows

(defun unplaced-reason (path)
  (format nil "~A changed, which is not code that the index follows (data, template, binary, or left out of the index)" path))

;;; Together

(defun roots-beyond-tests-p (index roots)
  "Whether any of ROOTS lies outside the tests: a changed test is told by itself."
  (loop for root in roots
        for file = (index-file-number index (root-path root))
        thereis (not (and file (test-file-p index file) (null (gethash file (importers index)))))))

(defun finish (index impact paths texts)
  (multiple-value-bind (dependants cut ends) (dependants-of index (impact-roots impact))
    ;; what hardly arrives still ranks tests, but is no answer to who depends on this
    (setf (impact-dependants impact) (remove +least-weight+ dependants :key #'dependant-weight :test #'>))
    (flet ((doubt (reason) (when reason (push reason (impact-reasons impact)))))
      (multiple-value-bind (tests unsure rest faint) (rank-tests index (impact-roots impact) paths dependants texts)
        (setf (impact-tests impact) tests)
        (when (and (impact-roots impact) (null tests)) (doubt "no test was found that calls, imports or names what changed; run the whole suite"))
        (when (and (roots-beyond-tests-p index (impact-roots impact)) tests)
          (when unsure (doubt "no call that is sure leads from a test to what changed; the tests are ranked by names, imports and history"))
          (doubt (faint-doubt faint))
          (doubt (end-doubt index ends rest))
          (doubt (module-doubt index (impact-roots impact) rest))))
      (when cut (doubt "more than 4,000 definitions depend on this; the list is cut"))
      (unless (index-complete-p index) (doubt (or (index-reason index) "the index is not complete"))))
    (setf (impact-reasons impact) (nreverse (impact-reasons impact)))
    impact))

(defun impact-of-diff (index text)
  "The impact of the diff TEXT. Signals `diff-error' when it is none."
  (let* ((findings (roots-of-diff index text)) (impact (make-impact :roots (findings-roots findings) :files (findings-files findings))))
    (dolist (path (findings-files findings))
      (let ((reason (outside-reason path)))
        (cond (reason (push reason (impact-full-suite impact)))
              ((and (member path (findings-unplaced findings) :test #'string=) (not (unread-p path)))
               (push (unplaced-reason path) (impact-full-suite impact)))
              ((and (test-path-p path) (index-file-number index path) (not (test-file-p index (index-file-number index path)))
                    (plusp (length (gethash (index-file-number index path) (importers index)))))
               nil))))
    (setf (impact-full-suite impact) (nreverse (impact-full-suite impact)))
    (dolist (remark (findings-remarks findings)) (push remark (impact-reasons impact)))
    (finish index impact (findings-files findings) (changed-texts (findings-changes findings)))))

(defun root-of-tag (index tag)
  (let* ((run (index-run index (tag-file tag))) (def (tag-def tag)))
    (opl.change.roots:definition-root index (tag-path index tag) run def (list (opl.source.facts:def-line run def)) :body tag)))

(defun impact-of-tags (index tags)
  "The impact of a change of the definitions TAGS, however it were."
  (let ((impact (make-impact :roots (mapcar (lambda (tag) (root-of-tag index tag)) tags)
                             :files (remove-duplicates (mapcar (lambda (tag) (tag-path index tag)) tags) :test #'string= :from-end t))))
    (finish index impact (impact-files impact) '())))
