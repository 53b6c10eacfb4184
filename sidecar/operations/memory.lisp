;;;; The operations on what is remembered: attach, observe, recall, remember, summary, handover-facts, sessions.

(defpackage #:opl.operations.memory
  (:use #:cl)
  (:import-from #:opl.wire.conditions #:fail)
  (:import-from #:opl.wire.protocol #:define-operation #:emit)
  (:import-from #:opl.session.observation
                #:observation-time #:observation-kind #:observation-subject #:observation-state
                #:observation-text #:observation-session #:now #:shorten #:one-line)
  (:import-from #:opl.session.redact #:redact)
  (:import-from #:opl.session.memory
                #:*memory* #:memory-trouble #:attach-memory #:family-observations #:observation-count #:last-time #:remember #:sessions #:current-session
                #:latest-session #:session-parent-of #:session-head-of #:sync-session)
  (:import-from #:opl.session.intake #:take-in #:*symbols-at* #:*read-log*)
  (:import-from #:opl.failures.parse #:parse-log)
  (:import-from #:opl.failures.report
                #:report-runner #:report-verdict #:report-passed #:report-failed #:report-failures
                #:failure-test #:failure-path #:failure-line #:failure-message)
  (:import-from #:opl.index.store #:index-file-number #:index-file-count #:index-run #:index-path #:tag)
  (:import-from #:opl.index.workspace #:current-index #:fresh-index)
  (:import-from #:opl.image.targets #:innermost-tags #:tag-label)
  (:import-from #:opl.session.recall #:recall)
  (:import-from #:opl.session.facts #:section-title #:section-items #:*callers-of*)
  (:import-from #:opl.source.facts #:def-count)
  (:import-from #:opl.graph.world #:world-of)
  (:import-from #:opl.graph.edges #:callers #:edge-file #:edge-line)
  (:import-from #:opl.session.summary #:summary #:fitted-facts #:estimate-tokens)
  (:import-from #:opl.image.keep #:attach-kept))

(in-package #:opl.operations.memory)

(defun folder-below (cache name)
  (and cache
       (sb-ext:parse-native-namestring (format nil "~A/~A/" cache name) nil *default-pathname-defaults* :as-directory t)))

(define-operation attach (cache)
  "Fixes where this project's memory and kept definitions lie and reads both. What could not be read is said in remarks; memory works without."
  (attach-memory (folder-below cache "sessions"))
  (dolist (message (attach-kept (folder-below cache "kept")))
    (emit remark message)))

;;; Test runs, from what a command printed.

(defun call-with-log (text function)
  "Call FUNCTION with the path of a file of its own that holds TEXT and is gone afterwards."
  (multiple-value-bind (descriptor path)
      (sb-posix:mkstemp (format nil "~A/opl-output-XXXXXX" (or (sb-posix:getenv "TMPDIR") "/tmp")))
    (unwind-protect
         (progn
           (with-open-stream (stream (sb-sys:make-fd-stream descriptor :output t :buffering :full :external-format :utf-8))
             (write-string text stream))
           (funcall function path))
      (sb-posix:unlink path))))

(defun failure-row (failure)
  "What failed, and where and why, as two texts."
  (let ((path (failure-path failure)))
    (list (or (failure-test failure) path "build")
          (format nil "~@[~A~]~@[:~D~]~:[~; ~]~A" path (and path (failure-line failure)) path
                  ;; What is cut first may leave half a secret.
                  (shorten (one-line (redact (failure-message failure))) 200)))))

(defun read-log (text exit)
  "What TEXT, a command's output, says of tests: verdict, counts and failures; NIL when no runner speaks in it."
  (let ((report (call-with-log text (lambda (path) (parse-log path :exit-code exit)))))
    (when (and (report-runner report) (string/= "unparsed" (report-verdict report)))
      (values (report-verdict report)
              (format nil "~A: ~:[?~;~:*~D~] passed, ~:[?~;~:*~D~] failed" (report-runner report)
                      (report-passed report) (report-failed report))
              (mapcar #'failure-row (report-failures report))))))

(setf *read-log* 'read-log)

(defvar *index-seen* nil
  "The index up to which changes of the tree were taken in.")

(defconstant +changes-limit+ 30
  "Changed files that are remembered one by one; more at once is a checkout, and remembered as one.")

(defun changes-between (before after)
  "What differs between two indexes of one root: a list of (path . state), by path."
  (let ((changes '()))
    (flet ((run-of (index file) (and (< file (index-file-count index)) (index-run index file))))
      (dotimes (file (max (index-file-count before) (index-file-count after)))
        (let ((old (run-of before file)) (new (run-of after file)))
          (unless (eq old new)
            (push (cons (index-path (if new after before) file)
                        (cond ((null old) "add") ((null new) "delete") (t "change")))
                  changes)))))
    (sort changes #'string< :key #'car)))

(defun take-tree-changes (session except)
  "Remember as edits what changed in the tree since the last look, by a command or outside of the session; EXCEPT
is a path that is told otherwise, or NIL."
  (when (current-index)
    (let* ((index (fresh-index))
           (changes (and *index-seen* (not (eq index *index-seen*))
                         (remove except (changes-between *index-seen* index) :key #'car :test #'equal))))
      (setf *index-seen* index)
      (if (<= (length changes) +changes-limit+)
          (loop for (path . state) in changes
                do (take-in session :edit :subject path :state state :text "by a command or outside of this session"))
          (take-in session :tool :subject "tree" :text (format nil "~D files changed at once" (length changes)))))))

(defun symbols-at (path lines)
  "The definitions of PATH that LINES stand in, as text; NIL while the first index is being made."
  (let* ((index (and (current-index) (fresh-index)))
         (file (and index (index-file-number index path))))
    (and file
         (mapcar (lambda (tag) (tag-label index tag)) (innermost-tags index file lines)))))

(setf *symbols-at* 'symbols-at)

;;; Who calls what was edited.

(defconstant +callers-seconds+ 1.5
  "So long the callers of edited symbols may be looked for in one answer; a compaction waits for it.")

(defvar *callers-until* nil
  "When looking for callers ends, in internal real time.")

(defmacro with-callers-limited (&body body)
  `(let ((*callers-until* (+ (get-internal-real-time) (* +callers-seconds+ internal-time-units-per-second))))
     (when (current-index) (ignore-errors (fresh-index)))
     ,@body))

(defun callers-of (path name)
  "The places outside of PATH that surely or likely call its definition NAME: a list of (path . line), in the order of the graph."
  (let* ((index (and (or (null *callers-until*) (< (get-internal-real-time) *callers-until*)) (current-index)))
         (file (and index (index-file-number index path))))
    (and file
         (let ((world (world-of index)) (places '()))
           (dotimes (def (def-count (index-run index file)) (nreverse places))
             (let ((tag (tag file def)))
               (when (string= name (tag-label index tag))
                 (dolist (edge (callers world tag :possible nil))
                   (unless (= (edge-file edge) file)
                     (pushnew (cons (index-path index (edge-file edge)) (edge-line edge)) places :test #'equal))))))))))

(setf *callers-of* 'callers-of)

(define-operation observe (session parent head kind subject state text)
  "Remembers that something happened. Answers when it is written down."
  ;; What the tree's changes tell comes beside the observation, which is written down without it too.
  (case kind
    (:edit (ignore-errors (take-tree-changes session subject)))
    (:output (ignore-errors (take-tree-changes session nil)))
    (:request (unless *index-seen* (setf *index-seen* (current-index)))))
  (take-in session kind :parent (or parent "") :head (or head "")
                        :subject (or subject "") :state (or state "") :text text)
  (when (memory-trouble *memory*)
    (emit remark (memory-trouble *memory*))))

(defun age (time)
  "Seconds since TIME, in milliseconds since 1970."
  (max 0 (floor (- (now) time) 1000)))

(define-operation recall (session query limit)
  "What was observed that answers the query, best first, the current session's before the same of another."
  (let ((session (or session (current-session))))
    (loop for (score . observation) in (recall query :limit limit :session session)
          do (emit recalled
                   score
                   (age (observation-time observation))
                   (equal session (observation-session observation))
                   (observation-kind observation)
                   (observation-subject observation)
                   (observation-state observation)
                   (observation-text observation)
                   (observation-session observation)))))

(define-operation remember (session text)
  "Stores a note."
  (remember text session))

(define-operation summary (session tokens)
  "The session's facts as text within a budget; forces the journal to the disk."
  (let ((session (or session (current-session))))
    (sync-session session)
    (multiple-value-bind (text facts) (with-callers-limited (summary (family-observations session) :tokens tokens))
      (emit summary text facts (estimate-tokens text)))))

(defun emit-session (id)
  (let ((count (observation-count id)))
    (emit session id (session-parent-of id) (session-head-of id) (and (plusp count) (age (last-time id))) count)))

(define-operation handover-facts (session tokens)
  "The facts for a handover: of the named session, or of the one that was active last in this project, whatever process it ran in."
  (let ((id (or session (latest-session))))
    (when id
      (sync-session id)
      (emit-session id)
      (dolist (section (with-callers-limited (fitted-facts (family-observations id) tokens)))
        (dolist (item (section-items section))
          (emit fact (section-title section) item))))))

(define-operation sessions ()
  "The sessions known for this project, the last active first."
  (mapc #'emit-session (sessions)))
