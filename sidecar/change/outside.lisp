;;;; Outside the graph: changes that no call or import shows, by the patterns of paths in protocol.tsv, which the host reads too.

(defpackage #:opl.change.outside
  (:use #:cl)
  (:import-from #:opl.wire.protocol #:outside-rules)
  (:import-from #:opl.search.places #:path-components)
  (:export #:outside-reason #:unread-p))
(in-package #:opl.change.outside)

(defun words (text)
  (loop with start = 0
        for end = (position #\Space text :start start)
        collect (subseq text start end)
        while end do (setf start (1+ end))))

(defun read-pattern (text)
  "(anchored folder name) of TEXT; FOLDER and NAME nil where TEXT does not say."
  (let* ((slash (position #\/ text :from-end t)) (anchored (char= #\/ (char text 0)))
         (name (subseq text (if slash (1+ slash) 0))))
    (list anchored (and slash (subseq text (if anchored 1 0) slash)) (and (string/= name "") name))))

(defparameter *rules*
  (loop for (kind why patterns) in (outside-rules)
        collect (list* (string= kind "outside") why (mapcar #'read-pattern (words patterns))))
  "(whether it reaches tests, why, pattern …) in the order in which they decide.")

(defun name-fits-p (glob name)
  "Whether NAME is GLOB with any characters for each *."
  (labels ((from (g n)
             (cond ((= g (length glob)) (= n (length name)))
                   ((char= #\* (char glob g)) (loop for end from n to (length name) thereis (from (1+ g) end)))
                   (t (and (< n (length name)) (char= (char glob g) (char name n)) (from (1+ g) (1+ n)))))))
    (from 0 0)))

(defun pattern-fits-p (pattern components)
  (destructuring-bind (anchored folder name) pattern
    (let ((folders (butlast components)))
      (and (or (null folder)
               (if anchored (equal folder (first folders)) (member folder folders :test #'string=)))
           (or (null name) (name-fits-p name (first (last components))))))))

(defun rule-of (path)
  (let ((components (path-components path)))
    (find-if (lambda (rule) (some (lambda (pattern) (pattern-fits-p pattern components)) (cddr rule))) *rules*)))

(defun outside-reason (path)
  "Why a change of PATH can reach tests that no call shows, or nil."
  (let ((rule (rule-of path))) (and rule (first rule) (format nil "~A changed (~A)" path (second rule)))))

(defun unread-p (path)
  "Whether PATH is a document or the setting of an editor, which changes no test."
  (let ((rule (rule-of path))) (and rule (not (first rule)))))
