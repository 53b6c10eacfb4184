;;;; The operation on the call graph that lists all of it, and its size for the totals of an index.

(defpackage #:opl.operations.calls
  (:use #:cl #:opl.graph.edges)
  (:import-from #:opl.index.workspace #:fresh-index)
  (:import-from #:opl.index.snapshot #:snapshot-identity #:cache-name)
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

;;; Resolving every call of a large tree takes longer than a warm start may: their number is kept beside the snapshot.

(defun count-file (cache) (cache-name cache "edge-count"))

(defun kept-count (index cache)
  "What was counted for the snapshot that INDEX is, or nil."
  (let ((identity (snapshot-identity index)))
    (when (and identity cache)
      (let ((words (ignore-errors
                    (with-open-file (in (sb-ext:parse-native-namestring (count-file cache)))
                      (with-standard-io-syntax (let ((*read-eval* nil)) (list (read in) (read in))))))))
        (and (eql identity (first words)) (typep (second words) '(unsigned-byte 62)) (second words))))))

(defun keep-count (index cache count)
  (let ((identity (snapshot-identity index)))
    (when (and identity cache)
      ;; half a file does not read as two numbers, or its first is no snapshot's
      (ignore-errors
       (with-open-file (out (sb-ext:parse-native-namestring (count-file cache)) :direction :output :if-exists :supersede)
         (format out "~D ~D~%" identity count))))))

(defun edge-count (index cache wait)
  "Calls of INDEX resolved as exact or likely, counted once for each index and kept in the folder CACHE. WAIT: called before it
is kept, returns once a snapshot that is being written is."
  (or (memo (index :edge-count) nil)
      (let ((kept (kept-count index cache)))
        (flet ((note (count) (setf (gethash :edge-count (index-extensions index)) count)))
          (if kept
              (note kept)
              ;; counted outside the lock of `memo': the threads that resolve want it too
              (let ((count 0))
                (do-edges (edge (world-of index)) (when (edge-callee edge) (incf count)))
                (funcall wait)
                (keep-count index cache count)
                (note count)))))))

(setf opl.operations.index:*edge-counter* #'edge-count)
