;;;; Ruby for the graph: constants are global and found wherever they are defined, as autoloading finds them;
;;;; a class or module may be opened again in any file, and its members are those of all its parts.

(defpackage #:opl.graph.families.ruby
  (:use #:cl #:opl.source.facts #:opl.graph.world #:opl.graph.family #:opl.graph.values #:opl.graph.types)
  (:import-from #:opl.graph.families.paths #:path-from)
  (:import-from #:opl.source.names #:+none+ #:known))
(in-package #:opl.graph.families.ruby)
(declaim (optimize (speed 1) (safety 1)))

(defun holder-p (kind) (or (= kind (known "class")) (= kind (known "module"))))

(defun written-within (world run def)
  "What stands before the name of DEF in `class A::B::C', or nil."
  (do-marks (value more) (run (known "within"))
    (when (= more def) (return (name-text world value)))))

(defun qualified-name (world tag)
  "The path of TAG, A::B::C."
  (remembered (world :ruby-path tag)
    (let* ((run (world-run world (tag-file tag))) (text (name-text world (tag-name world tag)))
           (within (written-within world run (tag-def tag))) (parent (tag-parent world tag)))
      (when within (setf text (concatenate 'string within "::" text)))
      (if parent (concatenate 'string (qualified-name world parent) "::" text) text))))

(defun holders (world)
  "Paths of classes and modules to the tags of all places where they are opened, in order of file."
  (remembered (world :ruby-holders)
    (let ((table (make-hash-table :test 'equal)))
      (do-world-files (file) (world)
        (let ((run (world-run world file)))
          (when (and run (eq (world-family world file) :ruby))
            (dotimes (def (def-count run))
              (when (holder-p (def-kind run def))
                (push (make-tag file def) (gethash (qualified-name world (make-tag file def)) table)))))))
      (maphash (lambda (path tags) (setf (gethash path table) (nreverse tags))) table)
      table)))

(defun parts (world tag)
  "Tags of all places where the class or module TAG is opened, when there are several; nil when it is opened once."
  (and (holder-p (tag-kind world tag))
       (let ((tags (gethash (qualified-name world tag) (holders world)))) (and (rest tags) tags))))

(defun members-of-parts (world path tags)
  "Names to the tags of the members of TAGS, the parts of what is called PATH."
  (remembered (world :ruby-members path)
    (let ((table (make-hash-table)))
      (dolist (part tags)
        (let ((run (world-run world (tag-file part))))
          (dotimes (def (def-count run))
            (when (and (= (def-parent run def) (tag-def part)) (not (logtest +local+ (def-flags run def))))
              (push (make-tag (tag-file part) def) (gethash (def-name run def) table))))))
      (maphash (lambda (name tags) (setf (gethash name table) (opl.index.store:sorted-tags (world-index world) tags))) table)
      table)))

(defun members-elsewhere (world tag name)
  (let ((parts (parts world tag)))
    (and parts (gethash name (members-of-parts world (qualified-name world tag) parts)))))

(defvar *asking* '() "Paths of classes whose parents are being collected.")

(defun parents-elsewhere (world tag)
  "The parents that the other parts of TAG name."
  (let ((parts (parts world tag)) (path (and (holder-p (tag-kind world tag)) (qualified-name world tag))))
    (when (and parts (not (member path *asking* :test #'string=)))
      (remove tag
              (if *asking*
                  (collect-parents world path parts)
                  (remembered (world :ruby-parents path) (collect-parents world path parts)))))))

(defun collect-parents (world path parts)
  (let ((*asking* (cons path *asking*)) (found '()))
    (dolist (part parts (nreverse found))
      (loop for (parent) in (heritage-tags world part)
            do (unless (member parent parts) (pushnew parent found))))))

(defun outermost (world tag)
  (let ((path (qualified-name world tag))) (subseq path 0 (search "::" path))))

(defun file-outermost (world file)
  "The names of the outermost modules that FILE opens."
  (remembered (world :ruby-outermost file)
    (let ((run (world-run world file)) (found '()))
      (dotimes (def (def-count run) found)
        (when (and (= (def-parent run def) +none+) (holder-p (def-kind run def)))
          (pushnew (outermost world (make-tag file def)) found :test #'string=))))))

(defparameter *from-outside*
  '("after" "allow" "around" "attr_accessor" "attr_reader" "attr_writer" "before" "catch" "context" "describe" "desc" "double" "eq" "expect" "fail" "feature" "file"
    "format" "gets" "include" "extend" "instance_double" "is_expected" "it" "lambda" "let" "let!" "loop" "namespace" "open" "p" "pending" "pp" "print" "private"
    "proc" "protected" "public" "puts" "raise" "rand" "require" "require_relative" "scenario" "setup" "shared_context" "shared_examples" "should" "skip" "sleep"
    "spy" "stub" "subject" "system" "task" "teardown" "test" "throw" "trap" "warn" "xit")
  "Words without a receiver that Ruby itself, RSpec, minitest or rake define.")

(defun test-path-p (path)
  (some (lambda (folder) (or (eql 0 (search folder path)) (search (concatenate 'string "/" folder) path))) '("spec/" "test/" "tests/" "features/")))

(defun word-alone (world file name)
  "What NAME, called without a receiver, means when the class around has no such method: the one that a file defines for all, or, in tests, that
a module defines, which something includes for them. Any other is possible."
  (let ((only (remembered (world :ruby-only name)
                (let ((found '()))
                  (unless (member (name-text world name) *from-outside* :test #'string=)
                    (do-named (tag) (world name)
                      (when (and (eq (world-family world (tag-file tag)) :ruby) (function-kind-p (tag-kind world tag)) (not (logtest +local+ (tag-flags world tag))))
                        (push tag found))))
                  (and found (null (rest found)) (first found))))))
    (when only
      (let ((holder (tag-parent world only)))
        (values only
                (if (or (null holder) (and (= (tag-kind world holder) (known "module")) (test-path-p (world-path world file)))) :linked :unique))))))

;;; Modules from outside that the repository opens classes of: class Minitest::Test

(defun foreign-spaces (world)
  "Paths that stand before `::' in the path of a class opened here, as keys of a table."
  (remembered (world :ruby-spaces)
    (let ((table (make-hash-table :test 'equal)) (holders (holders world)))
      (loop for path being the hash-keys of holders
            do (loop for at = (search "::" path) then (search "::" path :start2 (+ at 2))
                     while at
                     do (unless (gethash (subseq path 0 at) holders) (setf (gethash (subseq path 0 at) table) t))))
      table)))

(defun space-value (world file path)
  (and (gethash path (foreign-spaces world)) (make-value :package :name path :file file)))

(defun member-of-space (world space name)
  "The class or module NAME that is opened in the module from outside that SPACE names."
  (let ((path (concatenate 'string (value-name space) "::" (name-text world name))))
    (or (first (gethash path (holders world))) (space-value world (value-file space) path) *external*)))

(defun outer-name-of (world file name mode)
  "The constant NAME, wherever it is defined, or the method."
  (if (capital-p world name)
      (or (constant-named world file name) (space-value world file (name-text world name)))
      (and (eq mode :expression) (word-alone world file name))))

(defun constant-named (world file name)
  (when (capital-p world name)
    (remembered (world :ruby-constant file name)
      (let ((found '()))
        (do-named (tag) (world name)
          (when (and (eq (world-family world (tag-file tag)) :ruby)
                     (or (holder-p (tag-kind world tag)) (= (tag-kind world tag) (known "constant"))))
            (push tag found)))
        (setf found (nreverse found))
        (or (one-of-a-kind world found)
            (let ((outermost (file-outermost world file)))
              (one-of-a-kind world (remove-if-not (lambda (tag) (member (outermost world tag) outermost :test #'string=)) found))))))))

(defun capital-p (world name)
  (let ((names (world-names world)))
    (and (plusp (opl.source.names:name-length names name)) (<= 65 (opl.source.names:name-octet names name 0) 90))))

(defun one-of-a-kind (world tags)
  "The first of TAGS when they are all parts of the same thing; nil otherwise."
  (and tags
       (let ((path (qualified-name world (first tags))))
         (every (lambda (tag) (string= path (qualified-name world tag))) (rest tags)))
       (first tags)))

(defun import-module-of (world file import)
  (let* ((run (world-run world file)) (text (name-text world (import-module run import)))
         (name (if (and (> (length text) 3) (string= ".rb" text :start2 (- (length text) 3))) text (concatenate 'string text ".rb"))))
    (if (logtest +relative+ (import-flags run import))
        (or (world-file-number world (path-from (directory-of (world-path world file)) name)) :external)
        (or (loop for folder in '("lib/" "" "app/" "test/" "spec/")
                  thereis (world-file-number world (concatenate 'string folder name)))
            :external))))

(defun constructor-of (world tag file site)
  (declare (ignore file site))
  (let ((meaning (locate-own-member world tag (known "initialize"))))
    (if (consp meaning) (first meaning) meaning)))

(defun called-as (world tag)
  "A class is made by `new', and what an override overrides is called by `super'."
  (let ((kind (tag-kind world tag)))
    (cond ((or (class-kind-p kind) (= kind (known "module")) (= kind (known "constructor"))) (list (known "new")))
          ((tag-parent world tag) (list (known "super"))))))

(define-family :ruby
  :called-as #'called-as
  :import-module #'import-module-of
  :outer-name #'outer-name-of
  :package-member #'member-of-space
  :extra-members #'members-elsewhere
  :extra-heritage #'parents-elsewhere
  :constructor #'constructor-of
  :implicit-self :innermost :rebinds t :linear t
  :builtin-names '("each" "map" "select" "reject" "find" "first" "last" "push" "pop" "shift" "unshift" "insert" "delete" "size" "length"
                   "count" "empty?" "any?" "all?" "none?" "include?" "key?" "keys" "values" "merge" "merge!" "fetch" "dig" "to_s" "to_i"
                   "to_a" "to_h" "to_sym" "to_proc" "inspect" "dup" "clone" "freeze" "nil?" "is_a?" "kind_of?" "respond_to?" "send"
                   "public_send" "instance_variable_get" "instance_variable_set" "method" "methods" "call" "new" "name" "class" "split"
                   "join" "gsub" "sub" "strip" "start_with?" "end_with?" "match" "match?" "scan" "format" "read" "write" "close" "open"
                   "puts" "print" "run" "start" "stop" "get" "set" "add" "update" "index" "sort" "sort_by" "group_by" "reduce" "inject"
                   "flatten" "compact" "uniq" "reverse" "zip" "each_with_index" "times" "tap" "then" "hash" "eql?" "==" "<=>" "[]" "[]="))
