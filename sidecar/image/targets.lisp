;;;; What a query means by a name: "parse", "Lexer.parse", "src/lexer.ts:42", "src/lexer.ts:parse", "src/lexer.ts", or a tag.

(defpackage #:opl.image.targets
  (:use #:cl)
  (:local-nicknames (#:store #:opl.index.store) (#:world #:opl.graph.world))
  (:import-from #:opl.index.workspace #:fresh-index)
  (:import-from #:opl.source.names #:+none+ #:name-string #:names-count #:name-length)
  (:import-from #:opl.source.facts #:def-count #:def-line #:def-end #:def-parent)
  (:import-from #:opl.change.roots #:definitions-at)
  (:import-from #:opl.image.near #:near-names)
  (:export #:no-such-symbol #:no-such-file #:the-index #:the-world #:targets #:tags-of-file #:file-number #:tag-row #:own-path #:tag-label
           #:innermost-tags #:*index*))

(in-package #:opl.image.targets)

(declaim (optimize (speed 1) (safety 1)))

(defvar *index* nil
  "The index that queries read in place of the workspace's, or NIL. Bound by tests.")

(define-condition no-such-symbol (error)
  ((name :initarg :name :reader missing-name) (near :initarg :near :reader near))
  (:report (lambda (condition stream)
             (format stream "no such symbol, ~:[and none is near~;near: ~:*~{~A~^, ~}~] (asked for ~S)"
                     (near condition) (missing-name condition))))
  (:documentation "Signalled when a query names a definition that the index does not hold."))

(define-condition no-such-file (error)
  ((path :initarg :path :reader missing-path) (near :initarg :near :reader near))
  (:report (lambda (condition stream)
             (format stream "no such file in the index, ~:[and none is near~;near: ~:*~{~A~^, ~}~] (asked for ~S)"
                     (near condition) (missing-path condition))))
  (:documentation "Signalled when a query names a file that the index does not hold."))

(defun the-index ()
  "The index of the tree as it is now."
  (or *index* (fresh-index)))

(defun the-world ()
  "The graph over THE-INDEX."
  (world:world-of (the-index)))

;;; Nearness.

(defun map-defined-names (index function)
  (let ((names (store:index-names index)))
    (dotimes (number (names-count names))
      (when (and (<= (name-length names number) 80)
                 (block defined
                   (store:do-definitions (file def) (index number) (return-from defined t))
                   nil))
        (funcall function (name-string names number))))))

(defun missing-symbol (index name)
  (error 'no-such-symbol :name name
                         :near (near-names name (lambda (function) (map-defined-names index function)))))

(defun missing-file (index path)
  (flet ((base (path) (subseq path (1+ (or (position #\/ path :from-end t) -1)))))
    (let ((base (base path)) (near '()))
      (store:do-files (file) (index)
        (let ((candidate (store:index-path index file)))
          (when (and (< (length near) 5) (string-equal base (base candidate)))
            (push candidate near))))
      (error 'no-such-file :path path
                           :near (or (nreverse near)
                                     (near-names path (lambda (function)
                                                        (store:do-files (file) (index)
                                                          (funcall function (store:index-path index file))))
                                                 :count 3))))))

(defun file-number (index path)
  "The number of the file PATH; signals NO-SUCH-FILE."
  (or (store:index-file-number index path) (missing-file index path)))

;;; Places.

(defun tags-in (index file)
  (loop for def below (def-count (store:index-run index file)) collect (store:tag file def)))

(defun innermost-tags (index file lines)
  "The innermost definitions of FILE that the LINES, numbers from 1, stand in, without repetition, by line."
  (let* ((run (store:index-run index file)) (found '()))
    (dolist (line lines (sort found #'<))
      (let ((best nil) (best-line 0))
        (dotimes (def (def-count run))
          (let ((start (def-line run def)) (end (def-end run def)))
            (when (and (<= start line) (if (= end +none+) (= start line) (<= line end)) (>= start best-line))
              (setf best def best-line start))))
        (when best (pushnew (store:tag file best) found))))))

(defun tags-at (index path line)
  "What LINE of PATH means: the tags of the definitions that begin there, else of the innermost around it; NIL outside of any."
  (let ((file (file-number index path)))
    (mapcar (lambda (def) (store:tag file def)) (definitions-at (store:index-run index file) line))))

(defun top-level-tags (index file)
  (remove-if-not (lambda (tag) (= +none+ (def-parent (store:index-run index file) (store:tag-def tag))))
                 (tags-in index file)))

(defun line-suffix (text)
  "The path and line of a TEXT like src/a.ts:42, or NIL."
  (let* ((colon (position #\: text :from-end t))
         (line (and colon (< (1+ colon) (length text)) (parse-integer text :start (1+ colon) :junk-allowed t))))
    (when (and line (every #'digit-char-p (subseq text (1+ colon))))
      (values (subseq text 0 colon) line))))

;;; Names.

(defun last-part (text)
  "The name after the last of . :: # / in TEXT, and what stands before it."
  (let ((at (position-if (lambda (character) (find character ".#:/")) text :from-end t)))
    (if (and at (< (1+ at) (length text)))
        (values (subseq text (1+ at)) (string-right-trim ".#:/" (subseq text 0 at)))
        (values text ""))))

(defun in-scope-p (index tag scope)
  "True when the definitions around TAG end with SCOPE, whatever separates the names in it."
  (flet ((plain (text) (remove-if-not #'alphanumericp (string-downcase text))))
    (let ((around (plain (store:tag-scope index tag))) (scope (plain scope)))
      (and (<= (length scope) (length around))
           (string= scope (subseq around (- (length around) (length scope))))))))

(defun tags-named-in-any-case (index name)
  (let ((found '()))
    (map-defined-names index (lambda (candidate)
                               (when (string-equal candidate name)
                                 (setf found (append found (store:definition-tags index candidate))))))
    found))

(defun tags-of-file (index text)
  "The tags that a TEXT like src/a.ts:parse or src/a.ts:Lexer.parse means; NIL when it does not begin with the path of a file."
  (let* ((colon (position #\: text)) (file (and colon (store:index-file-number index (subseq text 0 colon)))))
    (when file
      (multiple-value-bind (name scope) (last-part (subseq text (1+ colon)))
        (remove-if-not (lambda (tag) (and (= file (store:tag-file tag)) (in-scope-p index tag scope))) (store:definition-tags index name))))))

(defun targets (index target)
  "The tags that TARGET means: a list, by path and line. A string is a name, a name with scope, a path with
line or with a name, or a path; a symbol is a name in any case; a number is a tag. Signals NO-SUCH-SYMBOL or NO-SUCH-FILE."
  (etypecase target
    ((unsigned-byte 62) (list target))
    (symbol (or (tags-named-in-any-case index (symbol-name target))
                (missing-symbol index (string-downcase (symbol-name target)))))
    (string
     (multiple-value-bind (path line) (line-suffix target)
       (cond (line (tags-at index path line))
             ((store:definition-tags index target))
             ((tags-of-file index target))
             ((store:index-file-number index target)
              (top-level-tags index (store:index-file-number index target)))
             (t (multiple-value-bind (name scope) (last-part target)
                  (or (remove-if-not (lambda (tag) (in-scope-p index tag scope)) (store:definition-tags index name))
                      (and (string= scope "") (tags-named-in-any-case index name))
                      (missing-symbol index target)))))))))

;;; How definitions are shown.

(defun tag-label (index tag)
  "The name of TAG with the names around it, joined by dots."
  (let ((scope (store:tag-scope index tag))
        (name (name-string (store:index-names index) (store:tag-name index tag))))
    (if (string= scope "") name (format nil "~A.~A" scope name))))

(defun own-path (path)
  "A copy of PATH: the printer shows a string that stands in two rows as #1=."
  (copy-seq path))

(defun tag-row (index tag)
  "TAG as a query shows it: (path line name kind)."
  (list (own-path (store:tag-path index tag)) (store:tag-line index tag) (tag-label index tag)
        (name-string (store:index-names index) (store:tag-kind index tag))))
