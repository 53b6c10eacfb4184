;;;; JavaScript and TypeScript: CommonJS beside ES modules, globals declared for the platform, what built-in
;;;; collections and promises hand to callbacks.

(defpackage #:opl.graph.families.script
  (:use #:cl #:opl.source.facts #:opl.graph.world #:opl.graph.family #:opl.graph.values #:opl.graph.types)
  (:import-from #:opl.graph.families.script-modules #:script-module #:declaration-twin #:declarations-p)
  (:import-from #:opl.source.names #:+none+ #:known #:name-case))
(in-package #:opl.graph.families.script)

(declaim (optimize (speed 1) (safety 1)))

;;; CommonJS: `=' is the export of what stands for the whole module

(defun whole-module (world file)
  "What `module.exports = …' or `export = …' of FILE gives, or nil."
  (let ((view (view-of world file)))
    (when (find-export view (known "="))
      (let ((binding (last-binding view 0 (known "module.exports"))))
        (and binding
             (let* ((run (view-run view)) (value (binding-value run binding))
                    (whole (or (and (/= value +none+) (= (node-op run value) +op-name+)
                                    (values (locate-name world file (node-b run value) (node-a run value) :expression)))
                               (binding-meaning world file binding :expression nil))))
               (if (> (exported-count run) 1) ; module.exports.x = … beside it
                   (fallback world whole (make-value :module :file file :name :rows))
                   whole)))))))

(defun exported (world file name)
  (let ((whole (whole-module world file)))
    (when (value-is whole :union)       ; its rows have been asked
      (setf whole (first (value-arguments whole))))
    (cond ((and whole (= name (known "default"))) whole)
          (whole (values (locate-member world (meaning-value world whole) name)))
          ((and (= name (known "default")) (plusp (exported-count (world-run world file)))
                (zerop (import-count (world-run world file))) nil)
           (make-value :module :file file)))))

;;; Names bound nowhere in the file

(defun script-p (run)
  "Whether a file is no module: its top-level names are everyone's."
  (and (zerop (import-count run)) (zerop (exported-count run))))

(defun globals (world)
  "Table from a name to the tags it has at the top of files that are no modules."
  (remembered (world :script-globals)
    (let ((table (make-hash-table)))
      (do-world-files (file) (world)
        (let ((run (world-run world file)))
          (when (and run (eq (world-family world file) :script) (script-p run))
            (dotimes (def (def-count run))
              (when (and (zerop (def-scope run def)) (= (def-parent run def) +none+)
                         (not (logtest +local+ (def-flags run def))))
                (push (make-tag file def) (gethash (def-name run def) table)))))))
      (maphash (lambda (name tags) (setf (gethash name table) (nreverse tags))) table)
      table)))

(defun outer-name (world file name mode)
  (if (or (= name (known "exports"))
          (and (eq mode :expression) (or (= name (known "Promise")) (= name (known "Object")) (= name (known "Array")))
               (null (gethash name (globals world)))))
      (cond ((/= name (known "exports")) ; the constructor itself, for its static methods
             (make-value :builtin :file :script :name (known "constructor") :arguments (list name)))
            ((whole-module world file))
            (t (make-value :module :file file)))
      (let ((tags (gethash name (globals world))))
        (cond ((null tags) nil)
              ((every (lambda (tag) (= (tag-file tag) (tag-file (first tags)))) tags)
               (let ((fitting (if (eq mode :type) tags (remove-if (lambda (tag) (type-kind-p (tag-kind world tag))) tags))))
                 (if (rest fitting) fitting (first fitting))))))))

;;; Fields that are only assigned: this.x = …

(defun assigned-field (world tag name)
  "The value of field NAME of class TAG when it is known by assignments to `this' alone."
  (let* ((file (tag-file tag)) (view (view-of world file)) (run (view-run view)) (scope (class-scope-of world tag)))
    (when (/= scope +none+)
      (do-bindings-named (binding) (view scope name)
        (when (and (= (binding-kind run binding) +receiver+) (/= name (known "this")))
          (let ((value (binding-meaning world file binding :expression nil)))
            (when value (return value))))))))

;;; Built-in types

(defun builtin-named (value &rest names)
  (member (value-name value) names))

(defun collection-p (value)
  (builtin-named value (known "Array") (known "tuple") (known "ReadonlyArray") (known "Set") (known "Map") (known "Iterable")
                 (known "IterableIterator") (known "Generator") (known "AsyncIterable") (known "NodeListOf") (known "ReadonlySet") (known "ReadonlyMap")))

(defun builtin-callback (world value name argument parameter)
  (cond ((builtin-named value (known "Promise") (known "PromiseLike"))
         (and (= name (known "then")) (= argument 0) (= parameter 0) (unwrap value)))
        ((collection-p value)
         (name-case name
           (("forEach" "map" "filter" "find" "some" "every" "findIndex" "flatMap" "findLast")
            (if (= argument 0)
                (cond ((= parameter 0) (element-value world value nil))
                      ((and (= parameter 1) (builtin-named value (known "Map"))) (element-value world value t)))
                nil))
           (("sort" "toSorted") (and (= argument 0) (element-value world value nil)))
           (("reduce" "reduceRight") (and (= argument 0) (= parameter 1) (element-value world value nil)))
           (t nil)))))

(defun array-of (value)
  (make-value :builtin :file :script :name (known "Array") :arguments (list value)))

(defun promise-of (value) (make-value :builtin :file :script :name (known "Promise") :arguments (list value)))

(defun static-call (world name argument)
  "Promise.all(x), Object.values(x), Array.from(x) …"
  (declare (type function argument))
  (flet ((elements (value) (if (value-is value :builtin) (value-arguments value) (list nil))))
    (name-case name
      (("all" "allSettled")
       (let ((list (funcall argument 0)))
         (promise-of (if (value-is list :builtin)
                         (make-value :builtin :file :script :name (value-name list) :arguments (mapcar #'unwrap (elements list)))
                         nil))))
      (("race" "any") (promise-of (unwrap (element-value world (funcall argument 0) nil))))
      (("resolve") (promise-of (unwrap (funcall argument 0))))
      (("values" "from") (array-of (element-value world (funcall argument 0) nil)))
      (("entries") (array-of (make-value :builtin :file :script :name (known "tuple")
                                                  :arguments (list nil (element-value world (funcall argument 0) nil)))))
      (("assign") (unite (list (funcall argument 0) (funcall argument 1))))
      (("create" "freeze" "seal" "setPrototypeOf") (instantiate (funcall argument 0)))
      (t nil))))

(defun builtin-call (world value name argument)
  (declare (type function argument))
  (cond ((builtin-named value (known "constructor")) (static-call world name argument))
        ((builtin-named value (known "Promise") (known "PromiseLike"))
         (name-case name
           ("then" (let ((result (unwrap (call-result world (funcall argument 0)))))
                     (make-value :builtin :file :script :name (known "Promise") :arguments (list result))))
           (("catch" "finally") value)
           (t nil)))
        ((builtin-named value (known "Map") (known "WeakMap") (known "ReadonlyMap"))
         (name-case name
           ("get" (second (value-arguments value)))
           ("values" (array-of (second (value-arguments value))))
           ("keys" (array-of (first (value-arguments value))))
           (("entries") (array-of (make-value :builtin :file :script :name (known "tuple") :arguments (value-arguments value))))
           ("set" value)
           (t nil)))
        ((collection-p value)
         (name-case name
           (("filter" "slice" "concat" "reverse" "sort" "splice" "toSorted" "toReversed" "values" "add" "flat") value)
           (("find" "pop" "shift" "at" "findLast" "next") (element-value world value nil))
           (("map") (array-of (call-result world (funcall argument 0))))
           (("flatMap") (let ((result (call-result world (funcall argument 0)))) (array-of (element-value world result nil))))
           (t nil)))))

(defun apply-builtin (world name arguments)
  (declare (ignorable world))
  (name-case name
    (("Readonly" "Partial" "Required" "NonNullable" "Pick" "Omit" "Exclude" "Extract" "DeepPartial" "NoInfer" "Ref" "UnwrapRef")
     (first arguments))
    ("Awaited" (and arguments (unwrap (first arguments))))
    ("ReturnType" (and (first arguments) (call-result world (first arguments))))
    ("InstanceType" (instantiate (first arguments)))
    ("ReadonlyArray" (array-of (first arguments)))
    (("any" "unknown" "never" "object" "void" "undefined" "null") nil)
    (t nil)))

(defparameter *builtin-names*
  '("map" "filter" "forEach" "reduce" "find" "some" "every" "push" "pop" "shift" "unshift" "slice" "splice" "concat" "join"
    "sort" "reverse" "includes" "indexOf" "keys" "values" "entries" "get" "set" "has" "delete" "add" "clear" "then" "catch"
    "finally" "toString" "valueOf" "replace" "split" "trim" "match" "test" "exec" "call" "apply" "bind" "on" "once" "emit" "off"
    "addEventListener" "removeEventListener" "dispatchEvent" "write" "end" "pipe" "read" "close" "open" "log" "error" "warn" "info"
    "next" "return" "throw" "json" "text" "body" "send" "request" "fetch" "resolve" "reject" "start" "stop" "run" "update"
    "create" "remove" "append" "prepend" "insert" "query" "parse" "stringify" "assign" "at" "flat" "flatMap" "fill" "max" "min"
    "charAt" "charCodeAt" "substring" "toLowerCase" "toUpperCase" "startsWith" "endsWith" "padStart" "padEnd" "equal" "expect"
    "focus" "blur" "click" "submit" "reset" "load" "save" "abort" "cancel" "toJSON" "toFixed" "findIndex" "lastIndexOf")
  "Methods of the language, of Node and of browsers, and names so common that a method of that name is anyone's.")

(define-family :script
  :import-module #'script-module
  :exported #'exported
  :whole-module #'whole-module
  :outer-name #'outer-name
  :twin #'declaration-twin
  :declarations-p #'declarations-p
  :assigned-field #'assigned-field
  :builtin-callback #'builtin-callback
  :builtin-call #'builtin-call
  :apply-builtin #'apply-builtin
  :default-name "default"
  :builtin-names *builtin-names*)
