;;;; The operation on the call graph that lists all of it, and its size for the totals of an index.

(defpackage #:opl.operations.calls
  (:use #:cl #:opl.graph.edges)
  (:import-from #:opl.index.workspace #:fresh-index)
  (:import-from #:opl.graph.world #:world-of #:world-path #:name-text)
  (:import-from #:opl.index.store #:tag-file #:tag-line #:tag-name #:memo #:index-extensions)
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
  "Calls of INDEX resolved as exact or likely, counted once for each index; and whether they were counted just now."
  (let ((known (memo (index :edge-count) nil)))
    (if known
        (values known nil)
        ;; counted outside the lock of `memo': the threads that resolve want it too
        (let ((count 0))
          (do-edges (edge (world-of index)) (when (edge-callee edge) (incf count)))
          (values (setf (gethash :edge-count (index-extensions index)) count) t)))))

(setf opl.operations.index:*edge-counter* #'edge-count)

;; Resolving every call of a large tree takes longer than a warm start may: the snapshot keeps their number.
(defun edge-count-part (index)
  (let ((count (memo (index :edge-count) nil)))
    (and count (list (make-array 1 :element-type '(unsigned-byte 32) :initial-element count)))))

(defun take-edge-count-part (index vectors)
  (when vectors (setf (gethash :edge-count (index-extensions index)) (aref (first vectors) 0))))

(setf opl.index.snapshot:*parts*
      (sort (cons (list "edge-count" 'edge-count-part 'take-edge-count-part)
                  (remove "edge-count" opl.index.snapshot:*parts* :key #'first :test #'string=))
            #'string< :key #'first))
