;;;; Calls within the evaluator: which functions a value can be called as, what a call gives when type
;;;; parameters follow from its arguments, and what the parameters of a callback are, told by the function
;;;; that the callback is passed to. Part of the package of types.lisp, with which it is mutually recursive.

(in-package #:opl.graph.types)

(export '(callables parameter-value site-callables))

(defun scope-signatures (world value file scope name)
  "Signature values of the bindings NAME (`()' or `new()') right in SCOPE."
  (let* ((view (view-of world file)) (run (view-run view)) (found '())
         (env (extend-env (value-env value) file scope (value-arguments value))))
    (do-bindings-named (binding) (view scope name)
      (when (/= (binding-type run binding) +none+)
        (push (make-value :signature :file file :ref (binding-type run binding) :env env) found)))
    (nreverse found)))

(defun callables (world value &optional (name (known "()")) (depth 0))
  "The :function and :signature values that VALUE can be called as, in the order they are declared."
  (if (> depth 8)
      '()
      (case (and value (value-kind value))
        ((:function) (function-overloads world value))
        (:signature (list value))
        (:expando (callables world (first (value-arguments value)) name (1+ depth)))
        (:instance
         (let* ((tag (value-tag value)) (scope (class-scope-of world tag)))
           (append (and (/= scope +none+) (scope-signatures world value (value-file value) scope name))
                   (let ((inherited '()))
                     (do-parents (parent relation) (world tag)
                       (setf inherited (append inherited (callables world parent name (1+ depth)))))
                     inherited))))
        (:object (object-signatures world value name))
        (:class (let ((meaning (locate-own-member world (value-tag value) (known "constructor"))))
                  (loop for tag in (if (listp meaning) meaning (list meaning))
                        when (integerp tag)
                          collect (make-value :function :file (tag-file tag) :ref (tag-def tag)
                                                        :env (class-env world value)))))
        (:union (loop for part in (value-arguments value) append (callables world part name (1+ depth)))))))

(defun class-env (world value)
  (let ((scope (class-scope-of world (value-tag value))))
    (if (= scope +none+) '() (extend-env '() (value-file value) scope (value-arguments value)))))

(defun function-overloads (world value)
  "VALUE, a function, with its overloads: those declared before a body, or VALUE alone."
  (let* ((file (value-file value)) (def (value-ref value)) (view (view-of world file)) (run (view-run view)) (found '()))
    (flet ((add (other)
             (when (and (= (def-scope run other) (def-scope run def)) (= (def-parent run other) (def-parent run def))
                        (or (= other def) (function-kind-p (def-kind run other))))
               (push (make-value :function :file file :ref other :env (value-env value)) found))))
      (do-members (other) (view (def-parent run def) (def-name run def)) (add other)))
    (if (rest found)
        (let ((declared (remove-if (lambda (f) (logtest +has-body+ (def-flags run (value-ref f)))) found)))
          (nreverse (or declared found)))
        (list value))))

(defun object-signatures (world value name)
  (let* ((file (value-file value)) (run (world-run world file)))
    (loop for node in (cells run (node-a run (value-ref value)))
          when (and (/= node +none+) (= (node-op run node) +op-property+) (= (node-b run node) name))
            collect (make-value :signature :file file :ref (node-a run node) :env (value-env value)))))

;;; Parameters of a callable

(defun parameter-type (world callable index)
  "Values: file and type node of parameter number INDEX of CALLABLE, its env, whether it is the rest parameter;
nil when it has no such parameter, or no type for it."
  (let* ((file (value-file callable)) (run (world-run world file)) (env (value-env callable)))
    (if (eq (value-kind callable) :function)
        (multiple-value-bind (binding rest-p) (parameter-binding world (value-tag callable) index)
          (and binding (/= (binding-type run binding) +none+)
               (values file (binding-type run binding) env rest-p)))
        (loop for cell = (node-a run (value-ref callable)) then (node-b run cell)
              for i from 0
              until (= cell +none+)
              do (let* ((node (node-a run cell)) (rest-p (and (/= node +none+) (= (node-op run node) +op-spread+))))
                   (when (or (= i index) (and rest-p (<= i index)))
                     (return (and (/= node +none+) (values file (if rest-p (node-a run node) node) env rest-p)))))))))

(defun parameter-value (world callable index &optional (env-more '()))
  "The value of parameter number INDEX of CALLABLE, or nil."
  (multiple-value-bind (file node env rest-p) (parameter-type world callable index)
    (when file
      (let ((value (type-value world file node (append env-more env))))
        (if rest-p
            (if (and (value-is value :builtin) (eql (value-name value) (known "tuple")))
                (nth index (value-arguments value))
                (element-value world value nil))
            value)))))

(defun takes-arity-p (world callable arity)
  "Whether CALLABLE has a parameter for each of ARITY arguments."
  (or (= arity 0) (= arity +none+)
      (if (eq (value-kind callable) :function)
          (and (parameter-binding world (value-tag callable) (1- arity)) t)
          (let ((run (world-run world (value-file callable))) (count 0))
            (dolist (node (cells run (node-a run (value-ref callable))) (>= count arity))
              (when (and (/= node +none+) (= (node-op run node) +op-spread+)) (return t))
              (incf count))))))

;;; What type parameters follow from arguments

(defun type-parameters-p (world file scope)
  (let ((view (view-of world file)))
    (and (/= scope +none+) (find-type-parameter view scope 0) t)))

(defun callable-scope (world callable)
  "The scope in which the type parameters of CALLABLE are bound, or +none+."
  (if (eq (value-kind callable) :function)
      (class-scope-of world (value-tag callable))
      (node-c (world-run world (value-file callable)) (value-ref callable))))

(defun inferred-env (world callable argument-value)
  "The env of CALLABLE with what its own type parameters must be; ARGUMENT-VALUE: function of an argument's
place to its value."
  (declare (type function argument-value))
  (let* ((file (value-file callable)) (scope (callable-scope world callable)) (env (value-env callable)))
    (if (or (= scope +none+) (assoc (logior (ash file 32) scope) env) (not (type-parameters-p world file scope)))
        env
        (let ((found (make-array 8 :initial-element nil)))
          (dotimes (index 6)
            (multiple-value-bind (pfile node penv rest-p) (parameter-type world callable index)
              (declare (ignore penv))
              (when pfile
                (unify world file scope node (funcall argument-value index) found (if rest-p 1 0)))))
          (extend-env env file scope (coerce found 'list))))))

(defun unify (world file scope node value found depth)
  "Puts into FOUND what type parameters of SCOPE stand for when type NODE of FILE is to be VALUE."
  (when (and value (/= node +none+) (< depth 6))
    (let* ((run (world-run world file)) (op (node-op run node)))
      (flet ((each (cell values)
               (loop for inner in (cells run cell) for value in values
                     do (unify world file scope inner value found (1+ depth)))))
        (cond ((= op +op-name+)
               (let ((binding (find-binding (view-of world file) scope (node-a run node))))
                 (when (and binding (= (binding-kind run binding) +type-parameter+))
                   (let ((index (binding-index run binding)))
                     (when (and (< index 8) (null (aref found index))) (setf (aref found index) value))))))
              ((= op +op-apply+) (each (node-b run node) (value-arguments value)))
              ((= op +op-array+) (unify world file scope (node-a run node) (element-value world value nil) found (1+ depth)))
              ((or (= op +op-union+) (= op +op-intersection+))
               (dolist (inner (cells run (node-a run node))) (unify world file scope inner value found (1+ depth))))
              ((= op +op-function+)
               (when (and (value-is value :function :signature) (/= (node-b run node) +none+))
                 (unify world file scope (node-b run node) (call-result world value) found (1+ depth)))))))))

;;; The value of a call

(defun call-node-value (world file run node env)
  (let* ((callee (node-a run node)) (arguments (cells run (node-b run node))) (op (node-op run callee)))
    (flet ((argument (index)
             (let ((n (nth index arguments))) (and n (/= n +none+) (expression-value world file n env)))))
      (let ((receiver (and (= op +op-member+) (expression-value world file (node-a run callee) env))))
        (if (value-is receiver :builtin)
            (funcall (family-builtin-call (family-of world file)) world receiver (node-b run callee) #'argument)
            (let ((value (called-value world file run callee receiver (expression-value world file callee env) env)))
              (if (value-is value :package)
                  (funcall (family-builtin-call (family-of world file)) world value +none+ #'argument)
                  (result-of-call world (chosen-overload world file value (node-c run node)) (length arguments) #'argument receiver))))))))

(defun called-value (world file run callee receiver value env)
  "VALUE of CALLEE, or the method of that name where VALUE is the field beside it."
  (if (or (value-is value :function :class :package) (not (family-overloads (family-of world file))))
      value
      (let* ((op (node-op run callee)) (a (node-a run callee)) (b (node-b run callee))
             (meaning (cond ((= op +op-name+) (locate-name world file b a :expression env))
                            ((= op +op-member+) (locate-member world receiver b))))
             (method (and (consp meaning)
                          (find-if (lambda (tag) (and (integerp tag) (function-kind-p (tag-kind world tag)))) meaning))))
        (if method (tag-value world method env) value))))

(defun chosen-overload (world file value site)
  "VALUE, a function with overloads, or the one among them that the family chooses for SITE, as a value of its own."
  (let ((family (family-of world file)))
    (if (and (value-is value :function) (/= site +none+) (family-overloads family))
        (let* ((tags (locate-overloads world value))
               (chosen (and (rest tags) (first (funcall (family-select family) world file site tags)))))
          (if chosen
              (make-value :signature-of :file (tag-file chosen) :ref (tag-def chosen) :env (value-env value))
              value))
        value)))

(defun locate-overloads (world value)
  (let* ((file (value-file value)) (view (view-of world file)) (run (view-run view)) (def (value-ref value)) (found '()))
    (unless (= (def-parent run def) +none+)
      (do-members (other) (view (def-parent run def) (def-name run def))
        (when (and (= (def-scope run other) (def-scope run def)) (function-kind-p (def-kind run other)))
          (push (make-tag file other) found))))
    (nreverse found)))

(defun result-of-call (world value arity argument &optional receiver)
  (if (value-is value :class)
      (instantiate value)
      (let* ((callables (cond ((value-is value :signature-of) ; one overload, chosen
                               (list (make-value :function :file (value-file value) :ref (value-ref value) :env (value-env value))))
                              ((value-is value :function :signature :instance :object :union :expando)
                               (callables world value))))
             (callable (or (find-if (lambda (c) (takes-arity-p world c arity)) callables) (first callables))))
        (cond ((null callable) (call-result world value))
              (t (let ((result (call-result world (with-env callable (inferred-env world callable argument)))))
                   (if (and (value-is result :builtin) (eql (value-name result) (known "this"))) receiver result)))))))

(defun with-env (callable env)
  (if (eq env (value-env callable))
      callable
      (make-value (value-kind callable) :file (value-file callable) :ref (value-ref callable) :env env)))

;;; Callbacks

(defun callback-value (world file run node env)
  "The value of a parameter typed by what its function is passed to; see the node `callback'."
  (let ((site (node-a run node)) (argument (node-b run node)) (parameter (node-c run node)))
    (if (= site +none+)
        (function-parameter world (type-value world file argument env) parameter)
        (site-callback world file run site argument parameter env))))

(defun function-parameter (world type parameter)
  "The value of parameter number PARAMETER of a function of TYPE; TYPE itself when +none+."
  (if (= parameter +none+)
      type
      (unite (loop for callable in (callables world type)
                   for value = (parameter-value world callable parameter)
                   when value collect value))))

(defun site-callables (world file site &optional env)
  "What the call at SITE of FILE calls, as :function and :signature values."
  (let* ((run (world-run world file)) (callee (site-callee run site)) (how (site-how run site)))
    (if (= callee +none+)
        '()
        (let ((value (expression-value world file callee env)))
          (if (and (= how +construct+) (value-is value :instance :object))
              (callables world value (known "new()"))
              (callables world value))))))

(defun site-callback (world file run site argument parameter env)
  (let* ((callee (site-callee run site)) (arguments (cells run (site-arguments run site)))
         (receiver (and (/= callee +none+) (= (node-op run callee) +op-member+)
                        (expression-value world file (node-a run callee) env))))
    (if (value-is receiver :builtin)
        (and (/= parameter +none+)
             (funcall (family-builtin-callback (family-of world file)) world receiver (node-b run callee)
                      argument parameter))
        (let ((arity (site-arity run site)) (callables (site-callables world file site env)))
          (flet ((argument-value (index)
                   (let ((n (nth index arguments)))
                     (and n (/= n +none+) (/= index argument) (expression-value world file n env)))))
            (loop for callable in callables
                  do (when (or (null (rest callables)) (takes-arity-p world callable arity))
                       (let* ((type (parameter-value world callable argument
                                                     (inferred-env world callable #'argument-value)))
                              (value (function-parameter world type parameter)))
                         (when value (return value))))))))))
