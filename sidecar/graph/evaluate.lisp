;;;; Nodes of expressions and types into values. Part of the package of types.lisp.

(in-package #:opl.graph.types)

(declaim (optimize (speed 1) (safety 1)))

;;; Nodes

(defun cells (run cell)
  "The nodes of the list that begins at CELL; +none+ for empty ones."
  (loop repeat 500 until (= cell +none+) collect (node-a run cell) do (setf cell (node-b run cell))))

(defun expression-value (world file node &optional env)
  "The value of expression NODE of FILE, or nil when it cannot be told."
  (if (= node +none+)
      nil
      (let ((view (view-of world file)))
        (memoised ((view-values view) node env 0)
          (evaluate-expression world file (view-run view) node env)))))

(defun evaluate-expression (world file run node env)
  (let ((op (node-op run node)) (a (node-a run node)) (b (node-b run node)))
    (flet ((expression (n) (expression-value world file n env)) (type (n) (type-value world file n env)))
      (macrolet ((op-case (&rest clauses)
                   `(cond ,@(loop for (keys . body) in clauses
                                  collect (if (eq keys t) `(t ,@body) `((or ,@(loop for key in keys collect `(= op ,key))) ,@body))))))
        (op-case
         ((+op-name+) (meaning-value world (locate-name world file b a :expression env) env))
         ((+op-member+) (let ((value (expression a)))
                          (if (eq value *external*)
                              value
                              (multiple-value-bind (meaning inner) (locate-member world value b)
                                (meaning-value world meaning (or inner env))))))
         ((+op-call+) (call-node-value world file run node env))
         ((+op-new+) (or (new-value world file run a env)))
         ((+op-literal+) (make-value :builtin :file (world-family world file) :name a))
         ((+op-self+) (self-value world file run a))
         ((+op-super+) (super-value world file run a env))
         ((+op-await+) (unwrap (expression a)))
         ((+op-cast+) (or (type a) (expression b)))
         ((+op-either+) (unite (list (expression a) (expression b))))
         ((+op-def+) (tag-value world (make-tag file a) env))
         ((+op-function+) (make-value :signature :file file :ref node :env env))
         ((+op-object+) (make-value :object :file file :ref node :env env))
         ((+op-tuple+) (make-value :builtin :file (world-family world file) :name (known "tuple")
                                            :arguments (mapcar #'expression (cells run a))))
         ((+op-array+) (make-value :builtin :file (world-family world file) :name (known "Array")
                                            :arguments (list (unite (mapcar #'expression (cells run a))))))
         ((+op-element+) (element-value world (expression a) (eql b 1)))
         ((+op-index+) (index-value world (expression a) run b))
         ((+op-pointer+ +op-spread+) (expression a))
         ((+op-apply+) (apply-expression world file run (expression a) b env))
         ((+op-callback+) (callback-value world file run node env))
         ((+op-typeof+) (expression a)))))))

(defun apply-expression (world file run value cell env)
  "VALUE with explicit type arguments."
  (let ((arguments (mapcar (lambda (n) (type-value world file n env)) (cells run cell))))
    (case (and value (value-kind value))
      (:function (let ((scope (class-scope-of world (value-tag value))))
                   (make-value :function :file (value-file value) :ref (value-ref value)
                                         :env (if (= scope +none+) env (extend-env env (value-file value) scope arguments)))))
      ((:class :instance) (make-value (value-kind value) :file (value-file value) :ref (value-ref value) :arguments arguments))
      (t value))))

(defun new-value (world file run node env)
  "The instance that constructing the type expression NODE gives."
  (let* ((applied (and (/= node +none+) (= (node-op run node) +op-apply+)))
         (value (if applied
                    (or (expression-value world file node env) (type-value world file node env))
                    (expression-value world file node env))))
    (if (or (null value) (value-is value :builtin))
        (type-value world file node env)
        (constructed-value world value))))

(defun constructed-value (world value)
  "The instance that constructing VALUE gives."
  (case (and value (value-kind value))
    ((:function :expando) (make-value :instance :file (value-file value) :ref (value-ref value)))
    (:class (instantiate value))
    (:union (let ((parts (remove nil (mapcar (lambda (part) (constructed-value world part)) (value-arguments value)))))
              (if (eq (value-name value) :fallback)
                  (apply #'fallback world parts)
                  (unite parts))))
    ((:instance :object) (construct-signature world value))
    (t value)))

(defun construct-signature (world value)
  (let ((callables (callables world value (known "new()"))))
    (and callables (call-result world (first callables)))))

(defun index-value (world value run index)
  "VALUE[INDEX]"
  (declare (ignorable world))
  (cond ((and (value-is value :builtin) (= (value-name value) (known "tuple"))
              (/= index +none+) (= (node-op run index) +op-literal+) (/= (node-b run index) +none+))
         (nth (node-b run index) (value-arguments value)))
        ((and (value-is value :object :instance :class :module) (/= index +none+) (= (node-op run index) +op-literal+)
              (/= (node-c run index) +none+))
         (multiple-value-bind (meaning env) (locate-member world value (node-c run index))
           (meaning-value world meaning env)))
        ((value-is value :function) value) ; type arguments in brackets
        (t (element-value world value nil))))

(defun self-value (world file run scope)
  "What `this' or `self' is within SCOPE: as bound there, or the class around."
  (let ((view (view-of world file)))
    (loop repeat 200
          until (= scope +none+)
          do (let ((binding (or (find-binding view scope (known "this")))) (def (scope-def run scope)))
               (when (and binding (/= (binding-kind run binding) +defined+))
                 (return (binding-meaning world file binding :expression nil)))
               (cond ((and (= (scope-kind run scope) +class-scope+) (/= def +none+))
                      (return (make-value :instance :file file :ref def)))
                     ((and (= (scope-kind run scope) +function-scope+) (/= def +none+)
                           (/= (def-parent run def) +none+) (not (logtest +local+ (def-flags run def))))
                      (return (owner-value world file run (def-parent run def) (logtest +static+ (def-flags run def)))))
                     ((and (= (scope-kind run scope) +function-scope+) (/= def +none+) (expando-p view def)
                           (= (def-kind run def) (known "function")))
                      (return (make-value :instance :file file :ref def)))))
             (setf scope (scope-parent run scope)))))

(defun owner-value (world file run owner static-p)
  "`this' in a member of OWNER: the class or one of its instances."
  (declare (ignorable world))
  (let ((kind (def-kind run owner)))
    (cond ((class-kind-p kind) (make-value (if static-p :class :instance) :file file :ref owner))
          ((function-kind-p kind) (make-value (if static-p :function :instance) :file file :ref owner))
          (t (tag-value world (make-tag file owner))))))

(defun super-value (world file run scope env)
  "The parents of the class around SCOPE."
  (let ((class (scope-class run scope)) (parents '()))
    (when (and class (family-linear (family-of world file)))
      (return-from super-value (make-value :super :file file :ref class)))
    (when class
      (do-parents (parent relation) (world (make-tag file class) env)
        (when (or (= relation +extends+) (= relation +mixes-in+)) (push parent parents))))
    (unite (nreverse parents))))

;;; Types

(defun type-value (world file node &optional env)
  "The value that an expression of type NODE has, or nil when it cannot be told."
  (if (= node +none+)
      nil
      (let ((view (view-of world file)))
        (memoised ((view-types view) node env 1)
          (evaluate-type world file (view-run view) node env)))))

(defun evaluate-type (world file run node env)
  (let ((op (node-op run node)) (a (node-a run node)) (b (node-b run node)))
    (flet ((type (n) (type-value world file n env)))
      (macrolet ((op-case (&rest clauses)
                   `(cond ,@(loop for (keys . body) in clauses
                                  collect (if (eq keys t) `(t ,@body) `((or ,@(loop for key in keys collect `(= op ,key))) ,@body))))))
        (op-case
         ((+op-name+) (named-type world file b a '() env))
         ((+op-member+) (member-type world file (type-or-module world file run a env) b '() env))
         ((+op-apply+) (applied-type world file run a (mapcar #'type (cells run b)) env))
         ((+op-literal+) (make-value :builtin :file (world-family world file) :name a))
         ((+op-union+ +op-intersection+) (unite (mapcar #'type (cells run a))))
         ((+op-either+) (unite (list (type a) (type b))))
         ((+op-function+) (make-value :signature :file file :ref node :env env))
         ((+op-object+) (make-value :object :file file :ref node :env env))
         ((+op-array+) (make-value :builtin :file (world-family world file) :name (known "Array") :arguments (list (type a))))
         ((+op-tuple+) (make-value :builtin :file (world-family world file) :name (known "tuple")
                                            :arguments (mapcar #'type (cells run a))))
         ((+op-pointer+ +op-spread+) (type a))
         ((+op-await+) (unwrap (type a)))
         ((+op-typeof+) (expression-value world file a env))
         ((+op-index+) (index-value world (type a) run b))
         ((+op-element+) (element-value world (type a) (eql b 1)))
         ((+op-self+) (self-value world file run a))
         ((+op-callback+) (callback-value world file run node env))
         ((+op-def+) (instantiate (tag-value world (make-tag file a) env)))
         (t (expression-value world file node env)))))))

(defun type-or-module (world file run node env)
  "The qualifier of a qualified type: a namespace or module is not turned into an instance."
  (if (= (node-op run node) +op-name+)
      (let ((meaning (locate-name world file (node-b run node) (node-a run node) :type env)))
        (or (meaning-value world meaning env) (type-value world file node env)))
      (type-value world file node env)))

(defun meaning-type (world meaning arguments env)
  "The value of a type whose name means MEANING, applied to ARGUMENTS."
  (let ((tag (if (consp meaning)
                 (or (find-if (lambda (tag) (let ((kind (tag-kind world tag))) (or (class-kind-p kind) (type-kind-p kind)))) meaning)
                     (first meaning))
                 meaning)))
    (cond ((null tag) nil)
          ((and (value-p tag) (eq (value-kind tag) :builtin))
           (or (funcall (family-apply-builtin (find-family (value-file tag))) world (value-name tag) arguments) tag))
          ((and (value-is tag :module) (family-file-types (family-of world (value-file tag)))) tag)
          ((value-p tag) (let ((value (instantiate tag)))
                           (if (and arguments (value-is value :instance) (null (value-arguments value)))
                               (make-value :instance :file (value-file value) :ref (value-ref value) :arguments arguments)
                               value)))
          (t (let* ((file (tag-file tag)) (def (tag-def tag)) (run (world-run world file)) (kind (def-kind run def))
                    (scope (def-body run def)))
               (cond ((class-kind-p kind) (make-value :instance :file file :ref def :arguments arguments))
                     ((or (= kind (known "alias")) (= kind (known "typedef")))
                      (type-value world file (def-type run def)
                                  (if (= scope +none+) '() (extend-env '() file scope arguments))))
                     ((function-kind-p kind) (make-value :instance :file file :ref def))
                     ((namespace-kind-p kind) (make-value :class :file file :ref def))
                     (t (instantiate (tag-value world tag env)))))))))

(defun named-type (world file scope name arguments env)
  (multiple-value-bind (meaning rule binding) (locate-name world file scope name :type env)
    (cond (meaning (meaning-type world meaning arguments env))
          ((or rule binding) nil)
          (t (let ((family (family-of world file)))
               (or (funcall (family-apply-builtin family) world name arguments)
                   (make-value :builtin :file (world-family world file) :name name :arguments arguments)))))))

(defun member-type (world file value name arguments env)
  (declare (ignorable file))
  (multiple-value-bind (meaning inner) (locate-member world value name)
    (if (value-is value :class :module :package)
        (meaning-type world meaning arguments (or inner env))
        (meaning-value world meaning (or inner env)))))

(defun applied-type (world file run node arguments env)
  (let ((op (node-op run node)))
    (cond ((= op +op-name+) (named-type world file (node-b run node) (node-a run node) arguments env))
          ((= op +op-member+)
           (member-type world file (type-or-module world file run (node-a run node) env) (node-b run node) arguments env))
          (t (type-value world file node env)))))
