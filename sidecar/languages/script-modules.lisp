;;;; Imports and exports: ES modules, dynamic imports, CommonJS; and assignments to members, which make definitions.

(in-package #:opl.languages.script)
(declaim (optimize (speed 2) (safety 1)) (sb-ext:muffle-conditions sb-ext:compiler-note))

(defun add-module-import (r local name string flags &key (line (line-at r string)) (scope 0))
  "An import of NAME from the module whose specifier is token STRING, bound to LOCAL unless that is +none+."
  (let ((import (add-import (script-facts r) local name (string-name r string) scope flags line)))
    (unless (= local +none+) (bind r local +imported+ :scope scope :target import))
    import))

(defun module-reference (r string flags)
  "A node that stands for the whole module named by token STRING."
  (declare (type script r))
  (let* ((hidden (intern-text r (concatenate 'string "require " (string-content (script-tokens r) string)))))
    (add-module-import r hidden (known "*") string flags)
    (node r +op-name+ hidden 0)))

(defun require-call (r i)
  "require('x')"
  (declare (type script r) (type index i))
  (let ((close (closer r (1+ i))))
    (setf (script-p r) (min (script-limit r) (1+ close)))
    (module-reference r (+ 2 i) 0)))

(defun import-call (r i)
  "import('x')"
  (declare (type script r) (type index i))
  (let ((close (closer r (1+ i))) (string (+ 2 i)))
    (cond ((and (= (kind-at r string) +string+) (is r (1+ string) ")" ","))
           (setf (script-p r) (min (script-limit r) (1+ close)))
           (module-reference r string +dynamic+))
          (t (step-on r) (step-on r)
             (within (close) (parse-expression r))
             +none+))))

(defun parse-import (r)
  "An import declaration at `import'."
  (declare (type script r))
  (let* ((from (here r)) (end (statement-string r from)) (type-only 0))
    (step-on r)
    (when (and (at "type" "typeof") (or (after "{" "*") (and (word-p r (1+ (here r))) (or (not (after "from")) (is r (+ 2 (here r)) "from")))))
      (setf type-only +type-only+) (step-on r))
    (cond ((and (word-p r (here r)) (after "=")) (import-equals r type-only))
          ((null end) (step-on r))
          ((= (kind-at r (here r)) +string+)
           (add-module-import r +none+ +none+ (here r) +side-effect+) (setf (script-p r) (1+ end)))
          (t (import-clause r end type-only)
             (setf (script-p r) (1+ end))
             (when (and (at "with" "assert") (after "{")) (step-on r) (step-over r))))
    (skip-if ";")))

(defun statement-string (r i)
  "The specifier of the import or export at token I: the first string after `from', or right after; nil when there is none."
  (declare (type script r) (type index i))
  (let ((j (1+ i)))
    (declare (type index j))
    (loop while (< j (script-limit r))
          do (cond ((= (kind-at r j) +string+) (return (and (or (is r (1- j) "from" "import")) j)))
                   ((is r j "{") (setf j (1+ (closer r j))) (unless (is r j "from" ",") (return nil)))
                   ((is r j "import" "export" "const" "let" "var" "function" "class") (return nil))
                   ((or (identifier-at-p r j) (is r j "," "*")) (incf j))
                   (t (return nil))))))

(defun import-clause (r end type-only)
  (declare (type script r) (type index end))
  (loop while (< (here r) end)
        do (cond ((at "{") (let ((close (closer r (here r))))
                             (step-on r)
                             (within (close) (import-names r end type-only))))
                 ((at "*") (let ((local (+ 2 (here r))))
                             (when (word-p r local) (add-module-import r (name-at r local) (known "*") end (logior type-only +star+)))
                             (setf (script-p r) (1+ local))))
                 ((at "from" ",") (if (and (at "from") (after "from" ",")) (import-default r end type-only) (step-on r)))
                 ((word-p r (here r)) (import-default r end type-only))
                 (t (step-over r)))))

(defun import-default (r end type-only)
  (add-module-import r (name-here r) (known "default") end type-only :line (line-at r (here r)))
  (step-on r))

(defun word-or-string-name (r i)
  (if (= (kind-at r i) +string+) (string-name r i) (name-at r i)))

(defun import-names (r end type-only)
  "a, b as c, type D, default as e"
  (declare (type script r) (type index end))
  (loop while (more-p r)
        do (let ((only type-only))
             (when (and (at "type" "typeof") (or (word-p r (1+ (here r))) (= (kind-at r (1+ (here r))) +string+))
                        (not (and (after "as") (not (is r (+ 2 (here r)) "as")) (word-p r (+ 2 (here r))))))
               (setf only +type-only+) (step-on r))
             (let* ((token (here r)) (name (word-or-string-name r token)) (local name))
               (step-on r)
               (when (and (at "as") (more-p r)) (step-on r) (setf local (name-here r)) (step-on r))
               (unless (or (= name +none+) (= local +none+))
                 (add-module-import r local name end only :line (line-at r token))))
             (unless (skip-if ",") (when (more-p r) (step-over r))))))

(defun import-equals (r flags)
  "import x = require('y'); import x = A.B"
  (declare (type script r))
  (let ((local (name-here r)) (token (here r)))
    (incf (script-p r) 2)
    (cond ((and (at "require") (after "("))
           (let ((string (+ 2 (here r))))
             (when (= (kind-at r string) +string+) (add-module-import r local (known "*") string flags))
             (setf (script-p r) (min (script-limit r) (1+ (closer r (1+ (here r))))))))
          (t (bind r local +variable+ :scope (script-scope r) :value (qualified-name r))
             (setf token 0)))))

;;; Exports

(defun export-name (r name local &optional (module +none+))
  (add-exported (script-facts r) name local module))

(defun export-definition (r def)
  "DEF is exported under its own name."
  (declare (type u32 def))
  (unless (= def +none+)
    (flag r def +exported+)
    (when (= (script-owner r) +none+)
      (export-name r (draft-def-name (script-facts r) def) (draft-def-name (script-facts r) def)))))

(defun parse-export (r)
  "An export declaration at `export'."
  (declare (type script r))
  (let ((from (here r)))
    (step-on r)
    (cond ((at "default") (step-on r) (export-default r from))
          ((and (at "type") (after "{" "*")) (step-on r) (export-list r from))
          ((at "{" "*") (export-list r from))
          ((at "=") (step-on r) (export-whole r (parse-expression r)) (skip-if ";"))
          ((and (at "as") (after "namespace")) (incf (script-p r) 3))
          ((and (at "import") (word-p r (1+ (here r)))) (parse-import r))
          (t (export-declared r from)))))

(defun export-declared (r from)
  "What the declaration in hand binds in the scope in hand is exported."
  (declare (type script r) (type index from))
  (let* ((facts (script-facts r)) (first (draft-binding-count facts)) (scope (script-scope r)))
    (parse-declaration r from)
    (loop for binding from first below (draft-binding-count facts)
          do (when (= (draft-binding-scope facts binding) scope)
               (let ((kind (draft-binding-kind facts binding)) (name (draft-binding-name facts binding)))
                 (cond ((= kind +defined+) (export-definition r (draft-binding-target facts binding)))
                       ((and (= kind +variable+) (= (script-owner r) +none+)) (export-name r name name))))))))

(defun export-whole (r value)
  "export = VALUE; module.exports = VALUE"
  (declare (type script r) (type u32 value))
  (bind r (known "module.exports") +variable+ :scope 0 :value value)
  (export-name r (known "=") (known "module.exports")))

(defun export-default (r from)
  (declare (type script r) (type index from))
  (let ((facts (script-facts r)))
    (flet ((export-def (def)
             (flag r def (logior +exported+ +default-export+))
             (export-name r (known "default") (draft-def-name facts def))))
      (cond ((or (at "function") (and (at "async") (after "function")))
             (let ((def (parse-function-declaration r from)))
               (unless (= def +none+) (export-def def))))
            ((or (class-at-p r (here r)) (at "@") (and (at "abstract") (after "class")))
             (when (at "@") (parse-decorators r))
             (let* ((flags (if (skip-if "abstract") +abstract+ 0)) (named (and (word-p r (1+ (here r))) (not (after "extends" "implements"))))
                    (node (parse-class r from :declared t :flags flags)))
               (if named (export-def (draft-node-a facts node)) (export-default-value r node))))
            ((and (at "interface") (word-p r (1+ (here r)))) (export-def (parse-interface r from)))
            ((and (word-p r (here r)) (or (after ";") (new-line-p r (1+ (here r))) (>= (1+ (here r)) (script-limit r))) (not (at "this" "new")))
             (export-name r (known "default") (name-here r))
             (step-on r))
            (t (export-default-value r (expecting (nil) (parse-assignment r)))))
      (skip-if ";"))))

(defun export-default-value (r value)
  "The default export is VALUE, a node that has no name here."
  (declare (type script r) (type u32 value))
  (bind r (known "export default") +variable+ :scope 0 :value value)
  (export-name r (known "default") (known "export default")))

(defun export-list (r from)
  "{ a, b as c } with `from' or without; * from, * as x from."
  (declare (type script r) (type index from))
  (let* ((string (statement-string r from)) (module (if string (string-name r string) +none+)))
    (when string
      (add-import (script-facts r) +none+ +none+ module 0 +reexport+ (line-at r string)))
    (cond ((at "*")
           (if (after "as")
               (export-name r (word-or-string-name r (+ 2 (here r))) (known "*") module)
               (export-name r (known "*") (known "*") module)))
          (t (let ((close (closer r (here r))))
               (step-on r)
               (within (close)
                 (loop while (more-p r)
                       do (when (and (at "type") (word-p r (1+ (here r))) (not (after "as"))) (step-on r))
                          (let* ((local (word-or-string-name r (here r))) (name local))
                            (step-on r)
                            (when (skip-if "as") (setf name (word-or-string-name r (here r))) (step-on r))
                            (unless (= local +none+) (export-name r name local module)))
                          (unless (skip-if ",") (when (more-p r) (step-over r))))))))
    (when string
      (setf (script-p r) (1+ string))
      (when (and (at "with" "assert") (after "{")) (step-on r) (step-over r)))
    (skip-if ";")))

;;; Assignments: exports.x = …, module.exports = …, X.prototype.m = function, this.x = …

(defun exports-node-p (r node)
  (and (/= node +none+) (= (draft-node-op (script-facts r) node) +op-name+)
       (= (draft-node-a (script-facts r) node) (known "exports"))))

(defun note-assignment (r left from)
  "`=' after the expression LEFT, which begins at token FROM; the node of what is assigned."
  (declare (type script r) (type u32 left) (type index from))
  (let* ((target (1- (here r))) (facts (script-facts r))
         (op (if (= left +none+) +op-unknown+ (draft-node-op facts left))))
    (step-on r)
    (cond ((and (word-p r target) (or (= op +op-member+) (= op +op-name+)) (or (function-at-p r (here r)) (class-at-p r (here r)) (enclosed-function-at-p r (here r))))
           (assign-function r left op target from))
          ((exports-node-p r left)
           (let ((value (parse-assignment r)))
             (unless (exports-node-p r value) (export-whole r value))
             value))
          ((and (= op +op-index+) (function-at-p r (here r)))
           (parse-function-value r :this (indexed-receiver r (draft-node-a facts left))))
          (t (let ((value (expecting ((if (= left +none+) nil (lambda () (node r +op-typeof+ left)))) (parse-assignment r))))
               (when (= op +op-member+)
                 (if (and (/= value +none+) (= (draft-node-op facts value) +op-def+) (word-p r target))
                     (assign-again r left target from (draft-node-a facts value))
                     (assign-member r left (documented-value r value from))))
               value)))))

(defun assign-again (r left target from def)
  "LEFT = … = function: another name of the function DEF."
  (declare (type script r) (type u32 left def) (type index target from))
  (let* ((facts (script-facts r)) (object (draft-node-a facts left)) (exported (exports-node-p r object)))
    (multiple-value-bind (owner static) (if exported nil (member-owner r object))
      (let ((again (define r (name-at r target) (draft-def-kind facts def) target :from from :bind nil :scope (script-scope r)
                     :parent (or owner (script-def r)) :end (draft-def-end facts def)
                     :type (draft-def-type facts def)
                     :flags (logior (draft-def-flags facts def)
                                    (cond (owner (if static +static+ 0)) ((and exported (not (local-p r))) 0) (t +local+))))))
        (setf (draft-def-body facts again) (draft-def-body facts def))
        (when exported (export-assigned r (name-at r target) +none+ again))))))

(defun documented-value (r value from)
  "VALUE, or what the @type before token FROM says it is."
  (declare (type script r) (type u32 value) (type index from))
  (let ((type (if (script-typed r) +none+ (documented-type r from))))
    (if (= type +none+) value (node r +op-cast+ type value))))

(defun assign-member (r left value)
  "LEFT, a member, is given VALUE, which is no function."
  (declare (type script r) (type u32 left value))
  (let* ((facts (script-facts r)) (object (draft-node-a facts left)) (name (draft-node-b facts left)))
    (cond ((or (= object +none+) (= value +none+)))
          ((exports-node-p r object)
           (export-assigned r name value +none+))
          ((= (draft-node-op facts object) +op-self+)
           (let ((scope (this-scope r)))
             (when scope (bind r name +receiver+ :scope scope :value value)))))))

(defun export-assigned (r name value def)
  "exports.NAME = VALUE, or the definition DEF."
  (declare (type u32 def))
  (let ((hidden (intern-text r (format nil "exports.~A" (opl.source.names:name-string (script-names r) name)))))
    (if (= def +none+)
        (bind r hidden +variable+ :scope 0 :value value)
        (bind r hidden +defined+ :scope 0 :target def))
    (export-name r name hidden)))

(defun this-scope (r)
  "The scope of the class whose member, or the function which, is around `this'."
  (declare (type script r))
  (let ((facts (script-facts r)) (scope (script-scope r)) (function nil))
    (declare (type u32 scope))
    (loop repeat 100
          until (= scope +none+)
          do (let ((kind (draft-scope-kind facts scope)) (def (draft-scope-def facts scope)))
               (cond ((= kind +class-scope+) (return scope))
                     ((and (= kind +function-scope+) (/= def +none+) (null function)
                           (= (draft-def-kind facts def) (known "function")))
                      (setf function scope))
                     ((and (= kind +function-scope+) (/= def +none+) (draft-parent-body facts def))
                      (return (draft-parent-body facts def))))
               (setf scope (draft-scope-parent facts scope)))
          finally (return function))))

(defun draft-parent-body (facts def)
  "The scope of the function or class that DEF is a member of, or nil."
  (let ((parent (draft-def-parent facts def)))
    (and (/= parent +none+) (not (logtest +local+ (draft-def-flags facts def)))
         (let ((body (draft-def-body facts parent))) (and (/= body +none+) body)))))

(defconstant +definitions-looked-through+ 4000
  "Definitions looked through for the owner of an assigned member; more only stand in generated files.")

(defun find-drafted (r name)
  "The latest definition called NAME that is a variable, function or class, or nil."
  (declare (type script r) (type u32 name))
  (let ((facts (script-facts r)))
    (loop for def of-type fixnum from (1- (draft-def-count facts)) downto (max 0 (- (draft-def-count facts) +definitions-looked-through+))
          do (when (and (= (draft-def-name facts def) name)
                        (name-case (draft-def-kind facts def)
                          (("function" "class" "variable" "constant" "namespace") t) (t nil)))
               (return def)))))

(defun member-owner (r object)
  "The definition whose member an assignment to a member of OBJECT makes, and whether it is a static one; or nil."
  (declare (type script r) (type u32 object))
  (let ((facts (script-facts r)))
    (when (/= object +none+)
      (let ((op (draft-node-op facts object)))
        (cond ((= op +op-name+) (values (find-drafted r (draft-node-a facts object)) t))
              ((and (= op +op-member+) (= (draft-node-b facts object) (known "prototype")))
               (values (member-owner r (draft-node-a facts object)) nil))
              ((= op +op-self+)
               (let* ((scope (this-scope r)) (def (if scope (draft-scope-def facts scope) +none+)))
                 (values (and (/= def +none+) def) nil))))))))

(defun assign-function (r left op target from)
  "The function or class in hand is assigned to LEFT, whose last name is token TARGET."
  (declare (type script r) (type u32 left) (type index target from))
  (let* ((facts (script-facts r)) (object (if (= op +op-member+) (draft-node-a facts left) +none+))
         (exported (exports-node-p r object)) (whole (exports-node-p r left)) (class-p (class-at-p r (here r))))
    (when whole
      (let ((value (parse-assignment r))) (export-whole r value) (return-from assign-function value)))
    (multiple-value-bind (owner static) (if (or exported (= op +op-name+)) nil (member-owner r object))
      (let ((def (define r (name-at r target) (if class-p (known "class") (if owner (known "method") (known "function"))) target
                   :from from :bind nil :scope (script-scope r)
                   :parent (or owner (script-def r))
                   :flags (cond ((and owner (declared-member-p facts owner (name-at r target))) +local+)
                                (owner (if static +static+ 0)) ((and exported (not (local-p r))) 0) (t +local+)))))
        (when (= op +op-name+) (bind-again r (name-at r target) def))
        (when exported (flag r def +exported+) (export-assigned r (name-at r target) +none+ def))
        (prog1 (cond
                 (class-p (parse-class r (here r) :def def))
                 ((enclosed-function-at-p r (here r))
                  (setf (script-pending r) (cons (enclosed-function-at-p r (here r)) def))
                  (parse-assignment r))
                 (t
                   (parse-function-value r :def def :expected (and (null owner) (not exported) (lambda () (node r +op-typeof+ left)))
                                           :this (assigned-receiver r object owner static))))
          (finish r def))))))

(defun bind-again (r name def)
  "The variable NAME, declared without a value, is given the function DEF: a binding of its scope."
  (declare (type u32 name def))
  (let ((facts (script-facts r)))
    (loop for binding of-type fixnum from (1- (draft-binding-count facts)) downto (max 0 (- (draft-binding-count facts) 500))
          do (when (and (= (draft-binding-name facts binding) name) (= (draft-binding-kind facts binding) +variable+))
               (when (and (= (draft-binding-value facts binding) +none+) (= (draft-binding-type facts binding) +none+))
                 (bind r name +defined+ :scope (draft-binding-scope facts binding) :target def))
               (return)))))

(defun indexed-receiver (r object)
  "The node of `this' in a function assigned to OBJECT[…]."
  (declare (type u32 object))
  (let ((facts (script-facts r)))
    (cond ((= object +none+) nil)
          ((and (= (draft-node-op facts object) +op-member+) (= (draft-node-b facts object) (known "prototype")))
           (node r +op-new+ (draft-node-a facts object)))
          (t object))))

(defun declared-member-p (facts owner name)
  "Whether the class OWNER already has a member called NAME, which an assignment only gives its value."
  (declare (type fixnum owner) (type u32 name))
  (and (= (draft-def-kind facts owner) (known "class"))
       (loop for def of-type fixnum from (1+ owner) below (draft-def-count facts)
             thereis (and (= (draft-def-name facts def) name) (eql (draft-def-parent facts def) owner)))))

(defun assigned-receiver (r object owner static)
  "The node of `this' in a function assigned to a member of OBJECT that no definition of this file owns."
  (declare (ignore r))
  (and (null owner) static (/= object +none+) object))
