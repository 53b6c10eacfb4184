;;;; The operation on the call graph that lists all of it, and its size for the totals of an index.

(defpackage #:opl.operations.calls
  (:use #:cl #:opl.graph.edges)
  (:import-from #:opl.index.workspace #:fresh-index)
  (:import-from #:opl.graph.world #:world-of #:world-path #:name-text)
  (:import-from #:opl.index.store #:tag-file #:tag-line #:tag-name #:memo)
  (:import-from #:opl.wire.protocol #:define-operation #:emit))
(in-package #:opl.operations.calls)

(define-operation calls (possible)
  "Every call that was resolved, those that are only possible when POSSIBLE."
  (let* ((index (fresh-index)) (world (world-of index)))
    (do-edges (edge world :possible possible)
      (let ((caller (edge-caller edge)) (callee (edge-callee edge)))
        (emit edge (world-path world (edge-file edge))
              (if caller (name-text world (tag-name index caller)) "<module>")
              (edge-line edge)
              (world-path world (tag-file callee))
              (name-text world (edge-name edge))
              (tag-line index callee)
              (edge-certainty edge)
              (string-downcase (edge-rule edge)))))))

(defun edge-count (index)
  "Calls of INDEX resolved as exact or likely; counted once for each index."
  (or (memo (index :edge-count) nil)
      ;; counted outside the lock of `memo': the threads that resolve want it too
      (let ((count 0))
        (do-edges (edge (world-of index)) (when (edge-callee edge) (incf count)))
        (setf (gethash :edge-count (opl.index.store:index-extensions index)) count))))

(setf opl.operations.index:*edge-counter* #'edge-count)
