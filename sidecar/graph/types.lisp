;;;; The evaluator: from a node of a file to a value. Names are followed through scopes, imports and exports,
;;;; members through heritage, calls through declared or inferred returns. Every result is a function of the
;;;; facts alone; what a cycle or the depth limit cut short is not remembered.

(defpackage #:opl.graph.types
  (:use #:cl #:opl.source.facts #:opl.graph.world #:opl.graph.family #:opl.graph.values)
  (:import-from #:opl.source.names #:+none+ #:known)
  (:export #:with-trail #:expression-value #:type-value #:tag-value #:binding-meaning #:locate-name #:locate-member
           #:import-meaning #:import-file #:exported-meaning #:export-target #:class-kind-p #:type-kind-p #:function-kind-p
           #:heritage-tags #:call-result #:instantiate #:do-parents #:unwrap #:element-value #:meaning-value
           #:parameter-binding #:function-return #:class-scope-of #:variable-alias #:namespace-kind-p #:fallback #:locate-own-member #:locate-tag-member #:preferred))
(in-package #:opl.graph.types)

(declaim (optimize (speed 1) (safety 1)))
(declaim (ftype function callback-value call-node-value callables expression-value type-value locate-member
                locate-name binding-meaning import-meaning exported-meaning function-return meaning-value tag-value
                heritage-tags call-result self-value super-value evaluate-expression evaluate-type named-type assigned-value locate-tag-member))

;;; The trail: what is being evaluated, to cut cycles and depth

(defconstant +deepest+ 250
  "Evaluations within one another. Fluent chains of 100 calls occur in tests; a thread's control stack of 2 MB holds about 700.")

(defstruct trail
  (keys (make-array +deepest+ :initial-element 0) :type simple-vector)
  (depth 0 :type fixnum)
  (low most-positive-fixnum :type fixnum)        ; the outermost key that a cut led back to
  (steps 0 :type fixnum)                         ; evaluations since the outermost one began
  (provisional (make-hash-table) :type hash-table)) ; values that hold until the outermost one ends: a cycle was cut in them

(defconstant +most-steps+ 20000
  "Evaluations for one question, beyond which what is left counts as unknown: types that lead to each other in many ways
would otherwise be followed along every way. The most that an honest question of the oracle repositories took is under 3,000.")

(defvar *trail* nil)
(defmacro with-trail (() &body body)
  "BODY with a trail of its own unless the thread has one."
  `(let ((*trail* (or *trail* (make-trail)))) ,@body))

(defun call-guarded (key function)
  "The value of FUNCTION, or nil when KEY is under way. Second value: whether it may be remembered."
  (declare (type function function))
  ;; bound and not set: what is set outside of a binding belongs to all threads, and one would meet another's way as a cycle
  (unless *trail* (return-from call-guarded (let ((*trail* (make-trail))) (call-guarded key function))))
  (let* ((trail *trail*) (depth (trail-depth trail)) (keys (trail-keys trail))
         (at (loop for i of-type fixnum from (1- depth) downto 0 when (eql key (svref keys i)) return i)))
    (declare (type trail trail) (type fixnum depth key))
    (cond (at (setf (trail-low trail) (min (trail-low trail) at)) (values nil nil))
          ((or (= depth +deepest+) (> (incf (trail-steps trail)) +most-steps+)) (setf (trail-low trail) 0) (values nil nil))
          (t (setf (svref keys depth) key (trail-depth trail) (1+ depth))
             (let ((outer (trail-low trail)))
               (setf (trail-low trail) most-positive-fixnum)
               (let ((value (unwind-protect (funcall function)
                              (setf (trail-depth trail) depth)
                              (when (zerop depth)
                                (setf (trail-steps trail) 0)
                                (unless (zerop (hash-table-count (trail-provisional trail))) (clrhash (trail-provisional trail)))))))
                 (let ((whole (>= (trail-low trail) depth)))
                   (setf (trail-low trail)
                         (if whole outer (min outer (trail-low trail))))
                   (values value (or whole (zerop depth))))))))))

(defmacro guarded (key &body body)
  `(flet ((compute () ,@body)) (declare (dynamic-extent #'compute)) (call-guarded ,key #'compute)))

(defun provisional (key)
  (if *trail* (gethash key (trail-provisional *trail*)) (values nil nil)))
(defun note-provisional (key value)
  (when (and *trail* (plusp (trail-depth *trail*)) (not (find key (trail-keys *trail*) :end (trail-depth *trail*))))
    (setf (gethash key (trail-provisional *trail*)) value)))

(defmacro memoised ((vector index env mode) &body body)
  "BODY's value, kept at INDEX of VECTOR when ENV is empty."
  (let ((v (gensym)) (i (gensym)) (known (gensym)) (value (gensym)) (whole (gensym)) (key (gensym)))
    `(let* ((,v ,vector) (,i ,index) (,known (svref ,v ,i))
            (,key (logior (ash file 36) (ash ,i 2) ,mode)))
       (cond (,env (values (guarded ,key ,@body)))
             ((not (eql ,known 0)) ,known)
             (t (multiple-value-bind (,value ,known) (provisional ,key)
                  (if ,known
                      ,value
                      (multiple-value-bind (,value ,whole) (guarded ,key ,@body)
                        (if ,whole (setf (svref ,v ,i) ,value) (note-provisional ,key ,value))
                        ,value))))))))

;;; Kinds

(macrolet ((define (name documentation &rest kinds)
             `(progn (declaim (inline ,name))
                     (defun ,name (kind) ,documentation
                       (declare (type (unsigned-byte 32) kind))
                       (or ,@(loop for k in kinds collect `(= kind (known ,k))))))))
  (define class-kind-p "Whether definitions of KIND have members and instances."
    "class" "interface" "struct" "enum" "trait" "record" "type" "protocol" "annotation" "object" "union" "extension" "mixin")
  (define type-kind-p "Whether KIND names a type and no value." "interface" "alias" "typedef" "trait" "protocol")
  (define namespace-kind-p "Whether KIND holds definitions without being a type." "module" "namespace" "package")
  (define function-kind-p "Whether definitions of KIND are called."
    "function" "method" "constructor" "prototype" "macro" "generator"))

(defun preferred (view defs)
  "The definition among ordinals DEFS that stands for them all: a namespace only when there is nothing else, then the first
with a body, else the first."
  (let* ((run (view-run view))
         (defs (or (remove-if (lambda (def) (namespace-kind-p (def-kind run def))) defs) defs)))
    (or (find-if (lambda (def) (logtest +has-body+ (def-flags run def))) defs) (first defs))))

;;; Meanings. What a name or member stands for is a tag, a value, or a list of tags (overloads).

(defun meaning-value (world meaning &optional env)
  "The value of a meaning: a tag, a list of tags, a value or nil."
  (cond ((null meaning) nil)
        ((value-p meaning) meaning)
        ((consp meaning) (merged-value world meaning env))
        (t (tag-value world meaning env))))

(defun fields-first (world tags)
  "TAGS less the methods where a field bears the same name: what is read without being called is the field (Java, C#)."
  (flet ((method-p (tag) (function-kind-p (tag-kind world tag))))
    (if (and (some #'method-p tags) (notevery #'method-p tags) (family-overloads (family-of world (tag-file (first tags)))))
        (remove-if #'method-p tags)
        tags)))

(defun merged-value (world tags env)
  "The value of definitions of one name: overloads, or a function or class and the namespace that adds members to it."
  (let* ((spaces (remove-if-not (lambda (tag) (namespace-kind-p (tag-kind world tag))) tags))
         (others (fields-first world (if spaces (remove-if (lambda (tag) (member tag spaces)) tags) tags)))
         (best (or (find-if (lambda (tag) (logtest +has-body+ (tag-flags world tag))) others) (first others)))
         (value (and best (tag-value world best env))))
    (cond ((null spaces) value)
          ((null value) (tag-value world (first spaces) env))
          (t (make-value :union :name :fallback :arguments (list value (tag-value world (first spaces) env)))))))

(defun class-scope-of (world tag)
  "The scope of the body of the class TAG in its own file, or +none+."
  (def-body (world-run world (tag-file tag)) (tag-def tag)))

(defun def-binding (view def)
  "The binding that definition DEF made, or nil."
  (let ((run (view-run view)))
    (do-bindings-named (binding) (view (def-scope run def) (def-name run def))
      (when (and (= (binding-kind run binding) +defined+) (= (binding-target run binding) def))
        (return binding)))))

(declaim (inline expando-p))
(defun expando-p (view def)
  "Whether members were assigned to the variable or function DEF from outside its body."
  (= 1 (sbit (view-holders view) def)))

(defun tag-value (world tag &optional env)
  "The value of the definition TAG when its name stands in an expression."
  (let* ((file (tag-file tag)) (def (tag-def tag)) (view (view-of world file)))
    (memoised ((view-def-values view) def env 2)
      (let* ((run (view-run view)) (kind (def-kind run def)))
        (cond ((or (class-kind-p kind) (namespace-kind-p kind)) (make-value :class :file file :ref def))
              ((function-kind-p kind) (make-value :function :file file :ref def :env env))
              ((= kind (known "enumerator"))
               (and (/= (def-parent run def) +none+)
                    (make-value :instance :file file :ref (def-parent run def))))
              ((= kind (known "accessor")) (function-return world tag env))
              ((or (= kind (known "alias")) (= kind (known "typedef"))) (type-value world file (def-type run def) env))
              (t (variable-value world file view def env)))))))

(defun declared-type-p (run def binding)
  (or (and (/= (def-type run def) +none+) (/= (node-op run (def-type run def)) +op-typeof+))
      (and binding (/= (binding-type run binding) +none+))))

(defun variable-value (world file view def env)
  (let* ((run (view-run view)) (binding (and (/= (def-scope run def) +none+) (def-binding view def)))
         (value (or (and (/= (def-type run def) +none+) (type-value world file (def-type run def) env))
                    (and binding (family-rebinds (family-of world file))
                         (assigned-value world file view (def-scope run def) (def-name run def) env))
                    (and binding (/= (binding-type run binding) +none+)
                         (type-value world file (binding-type run binding) env))
                    (and binding (/= (binding-value run binding) +none+)
                         (expression-value world file (binding-value run binding) env)))))
    (if (and (not (value-is value :class :external)) (expando-p view def) (not (declared-type-p run def binding)))
        (make-value :expando :file file :ref def :arguments (list value))
        value)))
