;;;; Members in the evaluator: those of classes through their parents, of objects, modules and unions; and what functions
;;;; give back. Part of the package of types.lisp.

(in-package #:opl.graph.types)

(declaim (optimize (speed 1) (safety 1)))

;;; Members

(defun own-members (world tag name)
  "Tags of the members called NAME written in definition TAG or added to it elsewhere; those with a body first."
  (let* ((file (tag-file tag)) (view (view-of world file)) (found '()))
    (do-members (def) (view (tag-def tag) name)
      (unless (or (logtest +local+ (def-flags (view-run view) def))
                  ;; a constructor that bears its class's name is no member that is asked for by it
                  (and (= (def-kind (view-run view) def) (known "constructor"))
                       (= name (def-name (view-run view) (tag-def tag)))))
        (push (make-tag file def) found)))
    (dolist (extra (funcall (family-extra-members (family-of world file)) world tag name)) (pushnew extra found))
    (setf found (nreverse found))
    (if (rest found)
        (let ((best (find-if (lambda (tag) (logtest +has-body+ (tag-flags world tag))) found)))
          (if best (cons best (remove best found)) found))
        found)))

(defun locate-own-member (world tag name)
  "The member NAME of TAG itself: a meaning, or nil."
  (let ((found (own-members world tag name))) (if (rest found) found (first found))))

(defmacro do-parents ((parent relation) (world tag &optional env) &body body)
  "BODY for the value of each parent of the class TAG, as an instance, with its RELATION."
  `(call-with-parents ,world ,tag ,env (lambda (,parent ,relation) (declare (ignorable ,relation)) ,@body)))

(defun call-with-parents (world tag env function)
  (declare (type function function))
  (let* ((file (tag-file tag)) (run (world-run world file)))
    (dotimes (row (heritage-count run))
      (when (= (heritage-def run row) (tag-def tag))
        (let ((parent (type-value world file (heritage-node run row) env)))
          (when parent (funcall function parent (heritage-relation run row))))))
    (dolist (extra (funcall (family-extra-heritage (family-of world file)) world tag))
      (funcall function (make-value :instance :file (tag-file extra) :ref (tag-def extra)) +implements+))))

(defun heritage-tags (world tag)
  "Tags of the direct parents of TAG that are in the repository, with their relations: list of (tag . relation)."
  (let ((found '()))
    (do-parents (parent relation) (world tag)
      (dolist (part (if (value-is parent :union) (value-arguments parent) (list parent)))
        (let ((tag (value-tag part))) (when tag (pushnew (cons tag relation) found :key #'car)))))
    (nreverse found)))

(defun locate-tag-member (world tag name &optional env (seen '()))
  "The member NAME of the class TAG, inherited ones included. Values: a meaning, the env its types are read in,
the tag of the class that has it."
  (unless (or (member tag seen) (> (length seen) 24))
    (let ((own (or (locate-own-member world tag name)
                   (funcall (family-assigned-field (family-of world (tag-file tag))) world tag name))))
      (if own
          (values own env tag)
          (do-parents (parent relation) (world tag env)
            (multiple-value-bind (meaning inner holder) (locate-member world parent name (cons tag seen))
              (when meaning (return-from locate-tag-member (values meaning inner holder)))))))))

(defun locate-member (world value name &optional (seen '()))
  "The member NAME of VALUE. Values: a meaning or nil, the env its types are read in, the class that has it."
  (case (and value (value-kind value))
    (:instance
     (let* ((tag (value-tag value)) (scope (class-scope-of world tag)))
       (multiple-value-bind (meaning env holder)
           (locate-tag-member world tag name
                              (if (= scope +none+) '() (extend-env (value-env value) (value-file value) scope (value-arguments value)))
                              seen)
         (values (of-class world meaning nil) env holder))))
    (:class (multiple-value-bind (meaning env holder) (locate-tag-member world (value-tag value) name '() seen)
              (values (of-class world meaning t) env holder)))
    (:super (do-parents (parent relation) (world (make-tag (value-file value) (value-ref value)))
              (multiple-value-bind (meaning env holder) (locate-member world parent name (cons -1 seen))
                (when meaning (return-from locate-member (values meaning env holder))))))
    (:function (locate-own-member world (value-tag value) name))
    (:module (exported-meaning world (value-file value) name))
    (:package (package-meaning world value name))
    (:object (object-member world value name))
    (:expando (or (locate-own-member world (value-tag value) name)
                  (locate-member world (first (value-arguments value)) name seen)))
    (:builtin (funcall (family-builtin-member (find-family (value-file value))) world value name))
    (:union (union-member world value name seen))))

(defun of-class (world meaning static-p)
  "MEANING without the members of instances, or of the class itself when STATIC-P is nil, where both have that name."
  (if (and (consp meaning) (integerp (first meaning)))
      (let ((fitting (remove-if-not (lambda (tag) (eq static-p (logtest +static+ (tag-flags world tag)))) meaning)))
        (cond ((null fitting) meaning) ((rest fitting) fitting) (t (first fitting))))
      meaning))

(defun union-member (world value name seen)
  "The member NAME of the parts of a union: one meaning when they agree, else all tags."
  (let ((meanings '()) (env nil))
    (dolist (part (value-arguments value))
      (multiple-value-bind (meaning inner) (locate-member world part name seen)
        (when meaning
          (when (eq (value-name value) :fallback) (return-from union-member (values meaning inner)))
          (pushnew meaning meanings :test #'equal)
          (unless env (setf env inner)))))
    (cond ((null meanings) nil)
          ((null (rest meanings)) (values (first meanings) env))
          (t (let ((tags (remove-duplicates
                          (loop for meaning in (reverse meanings)
                                append (cond ((value-p meaning) (let ((tag (value-tag meaning))) (and tag (list tag))))
                                             ((consp meaning) (list (first meaning)))
                                             (t (list meaning)))))))
               (values (if (rest tags) tags (or (first tags) (unite (remove-if-not #'value-p meanings)))) env))))))

(defun object-member (world value name)
  "The property NAME of an object literal or literal type."
  (let* ((file (value-file value)) (run (world-run world file)) (env (value-env value)))
    (loop repeat 2000
          for cell = (node-a run (value-ref value)) then (node-b run cell)
          until (= cell +none+)
          do (let* ((property (node-a run cell)) (op (if (= property +none+) +op-unknown+ (node-op run property))))
               (cond ((and (= op +op-property+) (= (node-b run property) name))
                      (return (values (property-meaning world file run property env) env)))
                     ((= op +op-spread+)
                      (let ((meaning (spread-member world file run property name env)))
                        (when meaning (return (values meaning env))))))))))

(defun spread-member (world file run property name env)
  "NAME among what the spread PROPERTY brings into an object, which may be the object itself again."
  (values (guarded (logior (ash 1 61) (logxor (ash file 40) (ash property 20) name))
            (values (locate-member world (expression-value world file (node-a run property) env) name)))))

(defun property-meaning (world file run property env)
  (let ((value (node-a run property)))
    (cond ((= value +none+) nil)
          ((= (node-op run value) +op-def+) (make-tag file (node-a run value)))
          ((eql 1 (node-c run property)) (type-value world file value env)) ; of a type
          ((= (node-op run value) +op-name+)
           (locate-name world file (node-b run value) (node-a run value) :expression env))
          (t (expression-value world file value env)))))

;;; Functions

(defun parameter-binding (world tag index)
  "Parameter number INDEX of function TAG, or its rest parameter: a binding ordinal and whether it is the rest."
  (let* ((run (world-run world (tag-file tag))) (scope (def-body run (tag-def tag))))
    (unless (= scope +none+) (find-parameter (view-of world (tag-file tag)) scope index))))

(defun unwrap (value)
  "What awaiting VALUE gives: the argument of a promise, else VALUE."
  (if (and (value-is value :builtin)
           (or (eql (value-name value) (known "Promise")) (eql (value-name value) (known "PromiseLike"))
               (eql (value-name value) (known "Awaitable")) (eql (value-name value) (known "Coroutine")))
           (value-arguments value))
      (first (last (value-arguments value)))
      (if (value-is value :union) (unite (mapcar #'unwrap (value-arguments value))) value)))

(defun element-value (world value key-p)
  "What iterating over VALUE gives, its keys when KEY-P; nil when not known."
  (declare (ignorable world))
  (case (and value (value-kind value))
    (:builtin (let ((arguments (value-arguments value)))
                (cond ((null arguments) nil)
                      ((= (value-name value) (known "tuple")) (unite arguments))
                      ((null (rest arguments)) (if key-p nil (first arguments)))
                      (key-p (first arguments))
                      (t (car (last arguments))))))
    (:instance (funcall (family-iterated (family-of world (value-file value))) world value))
    (:union (unite (mapcar (lambda (part) (element-value world part key-p)) (value-arguments value))))))

(defun function-return (world tag &optional env)
  "The value that calling function TAG gives: its declared type, or what its `return' bindings agree on."
  (let* ((file (tag-file tag)) (view (view-of world file)) (run (view-run view)) (def (tag-def tag))
         (declared (def-type run def)) (scope (def-body run def)))
    (cond ((funcall (family-returned (family-of world file)) world tag env))
          ((/= declared +none+) (type-value world file declared env))
          ((/= scope +none+) (inferred-return world file view scope env)))))

(defun inferred-return (world file view scope env)
  (let ((values '()) (run (view-run view)))
    (do-bindings-named (binding) (view scope (known "return"))
      (push (expression-value world file (binding-value run binding) env) values))
    (unite (nreverse values))))

(defun instantiate (value)
  "The instance of a class value; other values as they are."
  (case (and value (value-kind value))
    (:class (make-value :instance :file (value-file value) :ref (value-ref value) :arguments (value-arguments value)
                                  :env (value-env value)))
    (:union (if (eq (value-name value) :fallback) value (unite (mapcar #'instantiate (value-arguments value)))))
    (t value)))

(defun call-result (world value &optional (arity nil))
  "What calling VALUE gives."
  (declare (ignorable arity))
  (case (and value (value-kind value))
    (:function (function-return world (value-tag value) (value-env value)))
    (:signature
     (let* ((file (value-file value)) (run (world-run world file)) (node (value-ref value)) (result (node-b run node)))
       (cond ((= result +none+)
              (and (/= (node-c run node) +none+)
                   (inferred-return world file (view-of world file) (node-c run node) (value-env value))))
             ((= (node-op run result) +op-typeof+) (expression-value world file (node-a run result) (value-env value)))
             (t (type-value world file result (value-env value))))))
    (:class (instantiate value))
    ((:instance :object) (signature-result world value))
    (:expando (call-result world (first (value-arguments value))))
    (:union (unite (mapcar (lambda (part) (call-result world part)) (value-arguments value))))))

(defun signature-result (world value)
  "What calling an instance of an interface with call signatures gives."
  (let ((callables (callables world value)))
    (and callables (call-result world (first callables)))))
