;;;; The operation on the call graph: calls.

(defpackage #:opl.operations.graph
  (:use #:cl #:opl.index.store #:opl.index.workspace)
  (:import-from #:opl.wire.protocol #:define-operation #:emit)
  (:import-from #:opl.source.names #:name-string)
  (:import-from #:opl.source.facts #:def-name #:def-line)
  (:import-from #:opl.graph.world #:world-of)
  (:import-from #:opl.graph.edges #:map-edges #:edge-caller #:edge-file #:edge-line #:edge-callee #:edge-certainty #:edge-rule))
(in-package #:opl.operations.graph)

(defun edge-count (index)
  "Calls of INDEX resolved as exact or likely; counted once for each index."
  (memo (index :edge-count)
    (let ((count 0)) (map-edges (lambda (edge) (when (edge-callee edge) (incf count))) (world-of index)) count)))

(setf opl.operations.index:*edge-counter* #'edge-count)

(define-operation calls (possible)
  "Every resolved call, files by path, then by place."
  (let* ((index (fresh-index)) (names (index-names index)))
    (map-edges
     (lambda (edge)
       (let ((callee (edge-callee edge)) (caller (edge-caller edge)))
         (when callee
           (emit edge (index-path index (edge-file edge))
                 (if caller (name-string names (tag-name index caller)) "<module>")
                 (edge-line edge) (tag-path index callee) (name-string names (tag-name index callee)) (tag-line index callee)
                 (edge-certainty edge) (string-downcase (edge-rule edge))))))
     (world-of index) :possible possible)))
