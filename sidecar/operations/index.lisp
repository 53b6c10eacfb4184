;;;; The operations on the index: open, index, status, refresh, search, symbols, calls, doctor.

(defpackage #:opl.operations.index
  (:use #:cl #:opl.index.store #:opl.index.workspace)
  (:import-from #:opl.wire.conditions #:fail)
  (:import-from #:opl.wire.protocol #:define-operation #:emit #:progress)
  (:import-from #:opl.source.names #:+none+ #:name-string #:names-count #:octets-string)
  (:import-from #:opl.source.facts #:def-count #:def-name #:def-kind #:def-line #:def-end #:def-parent #:def-flags #:+generated+)
  (:import-from #:opl.source.language #:language-name)
  (:import-from #:opl.source.octets #:make-octet-buffer #:octet-buffer-octets #:octet-buffer-size)
  (:import-from #:opl.source.text #:load-text)
  (:import-from #:opl.index.ctags #:check-ctags)
  (:import-from #:opl.index.find #:find-tags)
  (:export #:signature-text #:*edge-counter*))
(in-package #:opl.operations.index)

(defvar *edge-counter* nil
  "Function of an index, the cache folder and a function that waits for the snapshot => the number of calls resolved in it; set
by the graph.")

(defun emit-totals (index)
  (emit totals (index-live-count index) (tag-count index) (call-site-count index)
        (if *edge-counter*
            (funcall *edge-counter* index (workspace-cache *workspace*) (lambda () (wait-for-index :saved t)))
            0)
        (index-seconds index) (index-from index) (and (index-complete-p index) t) (index-reason index)))

(define-operation open (root ctags cache excludes)
  "Starts indexing beside the queries."
  (open-workspace root ctags cache excludes))

(defun languages-of (index)
  "(name files tags) of each language, most files first."
  (let ((table (make-hash-table :test 'equal)))
    (do-files (file) (index)
      (let ((row (or (gethash (language-name (index-language index file)) table)
                     (setf (gethash (language-name (index-language index file)) table) (list 0 0)))))
        (incf (first row)) (incf (second row) (def-count (index-run index file)))))
    (sort (loop for name being the hash-keys of table using (hash-value row) collect (cons name row))
          (lambda (a b) (or (> (second a) (second b)) (and (= (second a) (second b)) (string< (first a) (first b))))))))

(define-operation index (rebuild)
  "Waits until the index is whole."
  (when rebuild (rebuild))
  (wait-for-index :progress #'progress)
  (let ((index (fresh-index)))
    (emit-totals index)
    (loop for (name files tags) in (languages-of index) do (emit language name files tags))
    (loop for (path . reason) in (index-skipped index) do (emit skipped path reason))
    (wait-for-index :saved t)))

(define-operation ready (saved)
  "Waits until the index is whole."
  (wait-for-index :progress #'progress :saved saved))

(define-operation status ()
  "Where the index stands, at once."
  (let ((index (current-index)))
    (if (not (opened-p))
        (emit status :empty nil 0 0 0 0 nil)
        (destructuring-bind (stage done total) (workspace-stage *workspace*)
          (emit status (workspace-state *workspace*) (and (string/= stage "") stage) done total
                (if index (index-live-count index) 0) (if index (tag-count index) 0)
                (opl.index.workspace:workspace-reason *workspace*))))))

(define-operation refresh (paths)
  "Brings the index up to date with PATHS, or with the whole tree."
  (let ((start (get-internal-real-time)))
    (multiple-value-bind (index changed removed) (refresh-paths paths)
      (declare (ignore index))
      (emit refreshed changed removed (/ (- (get-internal-real-time) start) internal-time-units-per-second)))))

;;; Symbols

(defun scope-text (run names def)
  "The enclosing names of DEF joined by dots, or nil at the top."
  (let ((parent (def-parent run def)))
    (unless (= parent +none+)
      (let ((texts '()))
        (loop for p = parent then (def-parent run p)
              repeat 64 until (= p +none+)
              do (unless (logtest +generated+ (def-flags run p)) (push (name-string names (def-name run p)) texts)))
        (format nil "~{~A~^.~}" texts)))))

(defun order-of (run)
  "Definitions of RUN by line, then name number of rows."
  (let ((defs (make-array (def-count run) :element-type '(unsigned-byte 32))))
    (dotimes (i (length defs)) (setf (aref defs i) i))
    (if (loop for i from 1 below (length defs) always (<= (def-line run (1- i)) (def-line run i)))
        defs
        (stable-sort defs #'< :key (lambda (def) (def-line run def))))))

(define-operation symbols ()
  "Every definition, files by path, then by line."
  (let* ((index (fresh-index)) (names (index-names index)))
    (do-files (file) (index)
      (let ((run (index-run index file)) (path (index-path index file)))
        (loop for def across (order-of run)
              ;; a class without a name holds members, but nobody looks it up
              do (unless (logtest +generated+ (def-flags run def))
                   (emit tag path (name-string names (def-name run def)) (name-string names (def-kind run def))
                         (def-line run def) (let ((end (def-end run def))) (if (= end +none+) nil end))
                         (scope-text run names def))))))))

(defun squeeze (text)
  "TEXT with every run of white space as one blank."
  (let ((blank nil))
    (string-trim " " (with-output-to-string (out)
                       (loop for c across text
                             do (if (member c '(#\Space #\Tab #\Newline #\Return))
                                    (unless blank (write-char #\Space out) (setf blank t))
                                    (progn (write-char c out) (setf blank nil))))))))

(defun signature-text (index tag)
  "What the source says where TAG is declared, on one line; nil when it cannot be read any more."
  (multiple-value-bind (from to) (tag-signature-bounds index tag)
    (when (< from to)
      (let ((buffer (make-octet-buffer)) (path (tag-path index tag)))
        (when (load-text buffer (index-root index) path 0)
          (and (<= to (octet-buffer-size buffer))
               (string-right-trim " {:=" (squeeze (octets-string (octet-buffer-octets buffer) :start from :end to)))))))))

(defconstant +symbols-shown+ 50 "Symbols of a search that says no limit.")

(define-operation search (name limit)
  "Definitions whose name contains NAME in any case, then those of files whose path does."
  (let* ((index (fresh-index)) (wanted (string-trim " " name)) (names (index-names index)))
    (multiple-value-bind (hits total) (find-tags index wanted (if (plusp limit) limit +symbols-shown+))
      (emit answer (and (index-complete-p index) t) (index-reason index) total (index-live-count index)
            (format nil "names and paths of ~:D definitions in ~:D files" (tag-count index) (index-live-count index)))
      (loop for (score . tag) in hits
            do (emit symbol (tag-path index tag) (tag-line index tag) (tag-end index tag) (name-string names (tag-kind index tag))
                     (name-string names (tag-name index tag)) (let ((scope (tag-scope index tag))) (and (string/= scope "") scope))
                     (signature-text index tag) :match 0 score nil)))))

;;; The doctor

(define-operation doctor (ctags)
  "What the sidecar can see of its surroundings, one check a row."
  (emit check "sbcl" t (format nil "SBCL ~A" (lisp-implementation-version)) nil)
  (let ((threads (and (find :sb-thread *features*) t)))
    (emit check "threads" threads (if threads "yes" "no") (and (not threads) "install an SBCL built with threads; the packages of Debian, Fedora and Homebrew are")))
  (multiple-value-bind (version reason) (check-ctags ctags)
    (emit check "ctags" (and version t) (or version "none") reason))
  (let ((output (opl.index.ctags:program-output "git" '("--version"))))
    (emit check "git" (and output t) (if output (string-trim '(#\Newline) output) "none")
          (and (not output) "install git; without it files are found by walking, and history is not used")))
  (emit check "processors" t (format nil "~D" (opl.index.reading:processor-count)) nil)
  (emit check "heap" t (format nil "~:D MB" (floor (sb-ext:dynamic-space-size) 1048576)) nil))
