;;;; C: a name is a macro or function of the file, of what it includes, or the one function of that name that is
;;;; linked; what is called through a pointer is not known.

(defpackage #:opl.graph.families.c
  (:use #:cl #:opl.source.facts #:opl.graph.world #:opl.graph.family #:opl.graph.values #:opl.graph.types)
  (:local-nicknames (#:includes #:opl.index.includes))
  (:import-from #:opl.source.names #:+none+ #:known)
  (:export #:called-function #:included-file))
(in-package #:opl.graph.families.c)

(declaim (optimize (speed 1) (safety 1)))

;;; Includes

(defun includes (world) (remembered (world :c-includes) (includes:includes-in (world-index world))))

(defun included-file (world file text)
  "The file that FILE means by including TEXT, or nil."
  (includes:included-file (includes world) file text))

(defun includes-of (world file)
  "The files that FILE includes itself."
  (includes:includes-of (includes world) file))

(defun includers-of (world file)
  "Files that include FILE themselves."
  (gethash file (remembered (world :c-includers)
                  (let ((table (make-hash-table)))
                    (do-world-files (from) (world)
                      (when (and (member (world-family world from) '(:c :c++)) (world-run world from))
                        (dolist (to (includes-of world from)) (push from (gethash to table)))))
                    table))))

(defconstant +includers-asked+ 8 "Of a header that everything includes no more files than these are asked for what it sees.")

(defconstant +closures-kept+ 1024
  "Closures remembered, each in the place of its file's number: calls are resolved file by file, and a bit for each file of a large
repository is 10 kB.")

(deftype file-set () 'simple-bit-vector)

(defmacro kept-set ((world keyword file) &body body)
  "The file set BODY makes for FILE, remembered for as long as no other file takes its place. Found without a lock."
  (let ((table (gensym)) (place (gensym)) (kept (gensym)) (set (gensym)))
    `(let* ((,table (remembered (,world ,keyword) (make-array +closures-kept+ :initial-element nil)))
            (,place (mod ,file +closures-kept+)) (,kept (svref ,table ,place)))
       (declare (type simple-vector ,table))
       (if (and ,kept (eql ,file (car ,kept)))
           (the file-set (cdr ,kept))
           (let ((,set (progn ,@body)))
             (setf (svref ,table ,place) (cons ,file ,set))
             (the file-set ,set))))))

(defun include-closure (world file)
  "The set of FILE and all that it includes."
  (kept-set (world :c-closures file)
    (let ((bits (make-array (world-file-count world) :element-type 'bit :initial-element 0)) (queue (list file)))
      (setf (aref bits file) 1)
      (loop while queue
            do (dolist (next (includes-of world (pop queue)))
                 (when (zerop (aref bits next)) (setf (aref bits next) 1) (push next queue))))
      bits)))

(defun seen-by-includers (world file)
  "The set of what the files that include FILE see, and what those see that include these: parts of a source that are files of
their own, lists of macros to be defined by whoever includes them."
  (kept-set (world :c-seen-by-includers file)
    (let ((bits (make-array (world-file-count world) :element-type 'bit :initial-element 0)))
      (flet ((add (other) (bit-ior bits (include-closure world other) bits)))
        (loop for includer in (includers-of world file) repeat +includers-asked+
              do (add includer)
                 (loop for outer in (includers-of world includer) repeat +includers-asked+ do (add outer))))
      bits)))

(defun seen-through-includers-p (world file holder)
  "Whether HOLDER is seen in FILE because a file that includes FILE includes it too, or is it."
  (and (includers-of world file) (= 1 (aref (seen-by-includers world file) holder))))

;;; Calls

(defun local-name-p (world file scope name)
  "Whether NAME is a variable of the function whose scope SCOPE is in."
  (let ((view (view-of world file)) (run (world-run world file)))
    (loop repeat 20
          until (or (= scope +none+) (zerop scope))
          do (let ((binding (find-binding view scope name)))
               (when (and binding (= (binding-kind run binding) +variable+)) (return t)))
             (setf scope (scope-parent run scope)))))

(defun shared-length (a b) (or (mismatch a b) (min (length a) (length b))))

(defun nearest (world file tags)
  "The tag among TAGS in FILE's directory or nearest to it. Second value: whether another file is as near."
  (let ((path (world-path world file)) (best nil) (score -1) (tie nil))
    (dolist (tag tags)
      (let* ((other (world-path world (tag-file tag)))
             (near (count #\/ path :end (shared-length path other)))
             (near (+ (* 2 near) (if (string= (directory-of path) (directory-of other)) 1 0))))
        (cond ((> near score) (setf best tag score near tie nil))
              ((and (= near score) (/= (tag-file tag) (tag-file best))) (setf tie t)))))
    (values best tie)))

(defparameter *library*
  '("malloc" "calloc" "realloc" "free" "memcpy" "memset" "memmove" "memcmp" "strlen" "strcmp" "strncmp" "strcpy" "strncpy" "strcat"
    "strdup" "strchr" "strrchr" "strstr" "printf" "fprintf" "sprintf" "snprintf" "vsnprintf" "fopen" "fclose" "fread" "fwrite"
    "read" "write" "open" "close" "exit" "abort" "assert" "getenv" "isatty" "strtol" "strtod" "qsort" "time")
  "Functions of the C library that projects replace by macros under a condition, mostly one that does not hold.")

(defun library-name-p (world name)
  (let ((table (remembered (world :c-library)
                 (let ((table (make-hash-table)))
                   (dolist (text *library* table)
                     (let ((n (opl.source.names:find-name (world-names world) text))) (when n (setf (gethash n table) t))))))))
    (gethash name table)))

(defun called-function (world file name)
  "What a call of NAME in FILE means. Values: tag or nil, rule."
  (let ((closure (include-closure world file)) (macro nil) (own nil) (included '()) (linked '()) (declared nil) (far '()))
    (do-named (tag) (world name)
      (let* ((holder (tag-file tag)) (kind (tag-kind world tag)) (flags (tag-flags world tag)) (near (= 1 (aref closure holder))))
        (cond ((not (member (world-family world holder) '(:c :c++))))
              ((= kind (known "macro"))
               (when (logtest +has-body+ flags)
                 (cond ((not near) (push tag far))
                       ((or (null macro) (and (= holder file) (/= (tag-file macro) file))) (setf macro tag)))))
              ((= kind (known "prototype")) (when near (setf declared t)))
              ((not (member kind (list (known "function") (known "method")))))
              ((= holder file) (unless (and own (logtest +has-body+ (tag-flags world own))) (setf own tag)))
              (near (push tag included))
              ((not (logtest +private+ flags)) (push tag linked))
              (t (push tag far)))))
    (cond (macro (values macro (cond ((and (logtest +private+ (tag-flags world macro)) (library-name-p world name)) :ambiguous)
                                     ((= (tag-file macro) file) :same-file)
                                     (t :import))))
          (own (values own :same-file))
          (included (values (first (last included)) :import))
          ((and linked (null (rest linked))) (values (first linked) (if declared :declared :linked)))
          (linked (multiple-value-bind (tag tie) (nearest world file (nreverse linked))
                    (values tag (cond (tie :ambiguous)
                                      ((every (lambda (other) (= (tag-file other) (tag-file tag))) linked) (if declared :declared :linked))
                                      (declared :linked)
                                      (t :ambiguous)))))
          (far (let ((tag (find-if (lambda (tag) (seen-through-includers-p world file (tag-file tag))) (nreverse far))))
                 (and tag (values tag :import)))))))

(defun other-names (world)
  "Table from a name to the names that macros put in its place, each with the macro's file, and to those that it is put in
place of, with nil."
  (remembered (world :c-renames)
    (let ((table (make-hash-table)))
      (do-world-files (file) (world)
        (let ((run (world-run world file)))
          (when (and run (member (world-family world file) '(:c :c++)))
            (do-marks (name def) (run (known "renames"))
              (pushnew (cons name file) (gethash (def-name run def) table) :test #'equal)
              (pushnew (list (def-name run def)) (gethash name table) :test #'equal)))))
      table)))

(defun renamed-function (world file name)
  "The function that NAME means under another name that a macro of a file in sight gives it."
  (loop for (other . holder) in (gethash name (other-names world)) do
    (multiple-value-bind (tag rule)
        (and (or (null holder) (= 1 (aref (include-closure world file) holder))) (called-function world file other))
      (when (and tag (/= (tag-kind world tag) (known "macro")) (not (eq rule :ambiguous)))
        (return (values tag :linked))))))

(defun callee-of (world file site)
  (let* ((run (world-run world file)) (name (site-name run site)))
    (cond ((/= (site-callee run site) +none+) (values nil :pointer))
          ((local-name-p world file (site-scope run site) name) (values nil :variable))
          (t (multiple-value-bind (tag rule) (called-function world file name)
               (unless tag (multiple-value-setq (tag rule) (renamed-function world file name)))
               (values tag (or rule :unbound)))))))

(defun called-as (world tag)
  "What macros put the name of TAG in place of."
  (mapcar #'car (gethash (tag-name world tag) (other-names world))))

(define-family :c
  :called-as #'called-as
  :callee #'callee-of
  :guess nil)
