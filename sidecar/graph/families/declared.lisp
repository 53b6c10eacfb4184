;;;; Languages resolved by what they declare and no more: Kotlin, Scala, C#, Swift, Dart, Solidity, C++, Haskell,
;;;; SQL; in part Zig and OCaml (file-modules.lisp). Names of the file and of its package are certain; a name that one definition of the repository
;;;; bears alone is likely; members need a receiver whose type is written down.

(defpackage #:opl.graph.families.declared
  (:use #:cl #:opl.source.facts #:opl.graph.world #:opl.graph.family #:opl.graph.values #:opl.graph.types)
  (:import-from #:opl.source.names #:+none+ #:known #:find-name)
  (:import-from #:opl.graph.families.java #:select-by-arguments)
  (:import-from #:opl.graph.families.c #:called-function #:included-file)
  (:export #:outer-name-of #:accepts-p #:space-kind-p))
(in-package #:opl.graph.families.declared)

(declaim (optimize (speed 1) (safety 1)))

(defun package-of (world file)
  "The text of FILE's package or namespace, or nil."
  (remembered (world :declared-package file)
    (do-marks (value more) ((world-run world file) (known "package")) (return (name-text world value)))))

(defun space-kind-p (kind) (or (= kind (known "namespace")) (= kind (known "module")) (= kind (known "package"))))

(defun top-level-p (world tag)
  "Whether TAG stands in no class or function: at the top, or in a namespace."
  (let ((parent (tag-parent world tag)))
    (and (not (logtest +local+ (tag-flags world tag)))
         (or (null parent) (space-kind-p (tag-kind world parent))))))

(defun candidates (world file name)
  "Top-level definitions called NAME in the languages of FILE's family."
  (remembered (world :declared-names (world-family world file) name)
    (let ((found '()) (family (world-family world file)))
      (do-named (tag) (world name)
        (when (and (eq (world-family world (tag-file tag)) family) (top-level-p world tag)
                   (not (space-kind-p (tag-kind world tag))) (/= (tag-kind world tag) (known "extension"))
                   (not (= (tag-kind world tag) (known "prototype"))))
          (push tag found)))
      (nreverse found))))

(defun imported-text-p (world file text)
  "Whether FILE imports all of package TEXT."
  (let ((run (world-run world file)))
    (dotimes (import (import-count run))
      (when (and (logtest +star+ (import-flags run import)) (string= text (name-text world (import-module run import)))) (return t)))))

(defun outer-name-of (world file name mode)
  "What NAME means that FILE does not bind: definitions of its package or folder, or the only one there is. Second value: the rule."
  (declare (ignore mode))
  (let* ((all (candidates world file name)) (package (package-of world file)) (directory (directory-of (world-path world file)))
         (near (remove-if-not (lambda (tag)
                                (let ((other (package-of world (tag-file tag))))
                                  (if (and package other)
                                      (or (string= package other) (imported-text-p world file other))
                                      (string= directory (directory-of (world-path world (tag-file tag)))))))
                              all)))
    (cond ((null all) nil)
          (near (values (if (rest near) near (first near)) (if package :package :same-directory)))
          ((null (rest all)) (values (first all) :linked)))))

(defun import-module-of (world file import)
  (cons :package (name-text world (import-module (world-run world file) import))))

(defun member-of-package (world package name)
  "NAME in the package, or in the type, that the text of PACKAGE names."
  (let* ((text (value-name package)) (file (value-file package)) (all (candidates world file name))
         (inside (remove-if-not (lambda (tag) (equal text (package-of world (tag-file tag)))) all)))
    (cond (inside (if (rest inside) inside (first inside)))
          (t (let* ((dot (position #\. text :from-end t)) (owner (find-name (world-names world) (subseq text (if dot (1+ dot) 0))))
                    (types (and owner (remove-if-not (lambda (tag) (class-kind-p (tag-kind world tag))) (candidates world file owner)))))
               (if (and types (null (rest types)))
                   (values (locate-member world (make-value :class :file (tag-file (first types)) :ref (tag-def (first types))) name))
                   nil))))))

(defun extra-members-of (world tag name)
  "Members of TAG written in extensions of it, in its other parts, or outside of its file."
  (let ((found '()) (family (world-family world (tag-file tag))))
    (do-named (other) (world (tag-name world tag))
      (when (and (/= other tag) (eq (world-family world (tag-file other)) family) (class-kind-p (tag-kind world other)) (top-level-p world other)
                 (or (= (tag-kind world other) (known "extension"))
                     (and (eq family :csharp) (equal (package-of world (tag-file other)) (package-of world (tag-file tag))))))
        (let ((view (view-of world (tag-file other))))
          (do-members (def) (view (tag-def other) name) (push (make-tag (tag-file other) def) found)))))
    (nreverse found)))

;;; Extensions of types that are not the repository's: fun String.shorten(), static int Size(this string text), extension String { }

(defparameter *common-members*
  '("add" "addAll" "and" "append" "apply" "clear" "clone" "close" "collect" "compareTo" "contains" "copy" "count" "dispose" "equals" "exists" "filter"
    "find" "first" "flatMap" "fold" "forEach" "format" "get" "getOrElse" "hash" "hashCode" "indexOf" "insert" "isEmpty" "iterator" "join" "last" "length" "let"
    "map" "max" "min" "minus" "next" "or" "plus" "print" "println" "put" "read" "reduce" "remove" "repeat" "replace" "reversed" "run" "set" "shl" "shr" "size" "sort"
    "sorted" "split" "start" "startsWith" "substring" "endsWith" "flush" "delete" "value" "sum" "take" "times" "toByte" "toDouble" "toFloat" "toInt" "toList" "toLong" "toSet" "toShort" "toString" "trim" "update" "use"
    "with" "write" "xor" "Add" "Clear" "Contains" "Dispose" "Equals" "Exists" "First" "Format" "Get" "Insert" "Join" "Remove" "Replace" "Select" "Set" "Sort" "Split"
    "ToArray" "ToList" "ToString" "Trim" "Where" "Write")
  "Members that the types of the languages' own libraries have: a receiver of which nothing is known has them more likely than an extension.")

(defun extending (world file)
  "Ordinals of the functions of FILE that extend a type, as keys of a table."
  (remembered (world :extending file)
    (let ((table (make-hash-table)))
      (do-marks (value more) ((world-run world file) (known "extends")) (setf (gethash more table) value))
      table)))

(defun extension-p (world tag)
  "Whether TAG extends a type, by itself or in an extension of one that is from outside."
  (let ((parent (tag-parent world tag)))
    (or (gethash (tag-def tag) (extending world (tag-file tag)))
        (and parent (= (tag-kind world parent) (known "extension"))
             (notany (lambda (other) (class-kind-p (tag-kind world other))) (candidates world (tag-file tag) (tag-name world parent)))))))

(defun sees-p (world file tag)
  "Whether the code of FILE sees the extension TAG: it is of its package or one around that, or imported; in C#, where a project may import for
all of its files, of namespaces that begin alike; in Dart, whose imports are paths, of the same folder."
  (let ((own (package-of world file)) (other (package-of world (tag-file tag))) (family (world-family world file)))
    (cond ((eq family :dart) (string= (directory-of (world-path world file)) (directory-of (world-path world (tag-file tag)))))
          ((or (null other) (null own)) t)
          ((string= own other))
          ((eql 0 (search (concatenate 'string other ".") own)))
          ((eq family :csharp) (string= (subseq own 0 (position #\. own)) (subseq other 0 (position #\. other))))
          ((imported-text-p world file other))
          (t (let ((run (world-run world file)))
               (dotimes (import (import-count run))
                 (when (and (= (import-name run import) (tag-name world tag)) (string= other (name-text world (import-module run import)))) (return t))))))))

(defun extensions-called (world family name)
  "The extensions called NAME, when that is no member of a type as well."
  (remembered (world :extensions family name)
    (let ((found '()) (member-p (member (name-text world name) *common-members* :test #'string=)))
      (unless member-p
        (do-named (tag) (world name)
          (when (and (eq (world-family world (tag-file tag)) family) (function-kind-p (tag-kind world tag)) (not (logtest +local+ (tag-flags world tag))))
            (cond ((extension-p world tag) (push tag found))
                  ((tag-parent world tag) (setf member-p t))))))
      (if member-p '() (nreverse found)))))

(defun extension-of (world file site)
  "The extension that SITE calls: the one that FILE sees, whose receiver is not known."
  (let* ((found (extensions-called world (world-family world file) (site-name (world-run world file) site)))
         (seen (remove-if-not (lambda (tag) (sees-p world file tag)) found)))
    (and seen (null (rest seen)) seen)))

(defun constructor-of (world tag file site)
  (let ((found '()) (run (world-run world (tag-file tag))))
    (loop for def from (1+ (tag-def tag)) below (min (def-count run) (+ (tag-def tag) 400))
          do (when (and (= (def-parent run def) (tag-def tag)) (= (def-kind run def) (known "constructor"))) (push (make-tag (tag-file tag) def) found)))
    (first (if (rest found) (select-by-arguments world file site (nreverse found)) found))))

(defun accepts-p (world file site tag rule)
  (declare (ignore file site))
  (let ((kind (tag-kind world tag)))
    (and (not (eq rule :alias))
         (or (function-kind-p kind) (class-kind-p kind) (= kind (known "modifier")) (= kind (known "event")) (= kind (known "error"))
             (= kind (known "accessor")) (= kind (known "procedure"))))))

(define-family (:kotlin :scala :swift :dart :csharp :solidity)
  :import-module #'import-module-of
  :outer-name #'outer-name-of
  :package-member #'member-of-package
  :extra-members #'extra-members-of
  :extension #'extension-of
  :constructor #'constructor-of
  :select #'select-by-arguments
  :accepts #'accepts-p
  :overloads t :implicit-self t :call-constructs t :guess nil)

(define-family (:haskell :sql :terraform)
  :outer-name #'outer-name-of
  :accepts #'accepts-p
  :guess nil)

;;; C++: names as in C, members through classes

(defun outside-members (world tag name)
  "Definitions C::name of members of class TAG in files that do not hold the class."
  (let ((found '()))
    (do-named (other) (world name)
      (when (and (eq (world-family world (tag-file other)) :c++) (/= (tag-file other) (tag-file tag))
                 (receiver-p world other (tag-name world tag)))
        (push other found)))
    (nreverse found)))

(defun receiver-p (world tag class)
  (do-marks (value more) ((world-run world (tag-file tag)) (known "receiver"))
    (when (and (= more (tag-def tag)) (= value class)) (return t))))

(defun c++-name (world file name mode)
  (if (eq mode :type)
      (outer-name-of world file name mode)
      (multiple-value-bind (tag rule) (called-function world file name)
        (if tag (values tag rule) (outer-name-of world file name mode)))))

(define-family :c++
  :outer-name #'c++-name
  :extra-members #'outside-members
  :constructor #'constructor-of
  :select #'select-by-arguments
  :accepts #'accepts-p
  :overloads t :implicit-self t :call-constructs t :guess nil)
