;;;; The operation on the search room: context.

(defpackage #:opl.operations.context
  (:use #:cl #:opl.index.store #:opl.search.answer #:opl.search.related)
  (:import-from #:opl.wire.protocol #:define-operation #:emit)
  (:import-from #:opl.index.workspace #:fresh-index)
  (:import-from #:opl.source.names #:name-string)
  (:import-from #:opl.search.commits #:follow-head #:history-within #:history-state)
  (:export #:edited-paths #:emit-file #:emit-symbol))
(in-package #:opl.operations.context)

(defconstant +history-seconds+ 15
  "So long an answer waits for the history that is still being read: Django's 34,000 commits take 7 s on an idle core, and
history is worth 4 points of Acc@3. A later answer does not wait.")

(defun edited-paths (&optional (session (and opl.session.memory:*memory* (opl.session.memory:current-session))))
  "Paths edited in SESSION, by default the current one, or nothing when no memory is attached."
  (let ((session (and opl.session.memory:*memory* session)))
    (and session
         (remove-duplicates
          (loop for observation in (opl.session.memory:observations session)
                when (eq :edit (opl.session.observation:observation-kind observation))
                  collect (opl.session.observation:observation-subject observation))
          :test #'string=))))

(defun emit-symbol (index row)
  "Sends ROW of an answer as a row `symbol'; its place and kind are those of INDEX."
  (let* ((tag (symbol-row-tag row)) (names (index-names index)) (scope (tag-scope index tag)))
    (emit symbol (symbol-row-path row) (tag-line index tag) (tag-end index tag) (name-string names (tag-kind index tag))
          (name-string names (tag-name index tag)) (and (string/= scope "") scope) (symbol-row-signature row)
          (symbol-row-role row) (symbol-row-hop row) (symbol-row-score row) (symbol-row-certainty row))))

(defun emit-relation (index relation)
  "The call that RELATION stands for, from caller to callee; nothing for tests by name and base classes."
  (let ((from (relation-from relation)) (to (relation-tag relation)) (line (relation-line relation)))
    (when (and from to line)
      (unless (eq (relation-role relation) :callee) (rotatef from to))
      (flet ((called (tag) (name-string (index-names index) (tag-name index tag))))
        (emit related (tag-path index from) (called from) line (tag-path index to) (called to) (tag-line index to)
              (relation-certainty relation))))))

(defun emit-file (row)
  "Sends ROW of an answer as a row `ranked-file'."
  (emit ranked-file (file-row-path row) (file-row-score row) (file-row-role row) (file-row-hop row) (file-row-reasons row)))

(define-operation context (task limit offset explain)
  "Files and symbols that answer a task, best first; then related ones by role."
  (let* ((index (fresh-index)) (root (index-root index)))
    (follow-head root (index-live-count index))
    (let* ((history (history-within root +history-seconds+))
           (answer (answer index history task :limit (if (plusp limit) limit 10) :offset offset :explain explain :edited (edited-paths)
                                              :history-note (history-state root))))
      (emit answer (answer-complete-p answer) (answer-reason answer) (answer-total answer) (answer-indexed answer) (answer-searched answer))
      (dolist (row (answer-files answer)) (emit-file row))
      (dolist (row (answer-files answer))
        (loop for (channel . share) in (file-row-shares row) do (emit channel (file-row-path row) channel share)))
      (dolist (row (answer-symbols answer)) (emit-symbol index row))
      (dolist (relation (answer-related answer)) (emit-relation index relation)))))
