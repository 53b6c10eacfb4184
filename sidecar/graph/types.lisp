;;;; The evaluator: from a node of a file to a value. Names are followed through scopes, imports and exports,
;;;; members through heritage, calls through declared or inferred returns. Every result is a function of the
;;;; facts alone; what a cycle or the depth limit cut short is not remembered.

(defpackage #:opl.graph.types
  (:use #:cl #:opl.source.facts #:opl.graph.world #:opl.graph.family #:opl.graph.values)
  (:import-from #:opl.source.names #:+none+ #:known)
  (:export #:with-trail #:expression-value #:type-value #:tag-value #:binding-meaning #:locate-name #:locate-member
           #:import-meaning #:import-file #:exported-meaning #:class-kind-p #:type-kind-p #:function-kind-p
           #:heritage-tags #:call-result #:instantiate #:do-parents #:unwrap #:element-value #:meaning-value
           #:parameter-binding #:function-return #:class-scope-of #:variable-alias #:namespace-kind-p #:fallback #:locate-own-member #:locate-tag-member #:preferred))
(in-package #:opl.graph.types)

(declaim (optimize (speed 1) (safety 1)))
(declaim (ftype function callback-value call-node-value callables expression-value type-value locate-member
                locate-name binding-meaning import-meaning exported-meaning function-return meaning-value tag-value
                heritage-tags call-result self-value super-value evaluate-expression evaluate-type named-type))

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
  (let* ((trail (or *trail* (setf *trail* (make-trail)))) (depth (trail-depth trail)) (keys (trail-keys trail))
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

(defun merged-value (world tags env)
  "The value of definitions of one name: overloads, or a function or class and the namespace that adds members to it."
  (let* ((spaces (remove-if-not (lambda (tag) (namespace-kind-p (tag-kind world tag))) tags))
         (others (if spaces (remove-if (lambda (tag) (member tag spaces)) tags) tags))
         (best (or (find-if (lambda (tag) (logtest +has-body+ (tag-flags world tag))) others) (first others)))
         (value (and best (tag-value world best env))))
    (cond ((null spaces) value)
          ((null value) (tag-value world (first spaces) env))
          (t (make-value :union :name :fallback :arguments (list value (tag-value world (first spaces) env)))))))

(defun class-scope-of (world tag)
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

;;; Names

(defun fitting-binding (view scope name mode &optional rebinds)
  "The binding of NAME right in SCOPE that an expression, or a type, means by it; nil when there is none.
Second value: all definitions it stands for. REBINDS: a function or class defined here stands in for an import
of that name, which may fail."
  (let ((run (view-run view)) (chosen nil) (defs '()))
    (do-bindings-named (binding) (view scope name)
      (if (= (binding-kind run binding) +defined+)
          (let ((type-p (type-kind-p (def-kind run (binding-target run binding)))))
            (when (or (eq mode :type) (not type-p))
              (push (binding-target run binding) defs)
              (when (or (null chosen)
                        (and rebinds (= (binding-kind run chosen) +imported+)
                             (let ((kind (def-kind run (binding-target run binding))))
                               (or (function-kind-p kind) (class-kind-p kind))))
                        (and (eq mode :type)
                             (not (type-or-class-p (view-run view) chosen))
                             (type-or-class-p (view-run view) binding)))
                (setf chosen binding))))
          (unless (or (and chosen (not (blank-binding-p run chosen))) (and (eq mode :expression) (= (binding-kind run binding) +type-parameter+)))
            (setf chosen binding))))
    (values chosen (nreverse defs))))

(defun blank-binding-p (run binding)
  "Whether BINDING is a variable of which nothing is known: a later binding of the name says more."
  (and (= (binding-kind run binding) +variable+) (= (binding-type run binding) +none+) (= (binding-value run binding) +none+)))

(defun type-or-class-p (run binding)
  (or (/= (binding-kind run binding) +defined+)
      (let ((kind (def-kind run (binding-target run binding)))) (or (type-kind-p kind) (class-kind-p kind)))))

(defun locate-name (world file scope name mode &optional env)
  "What NAME means, read in SCOPE of FILE. MODE: :expression or :type. Values: a meaning (a tag, a list of tags,
a value or nil), a rule, and the binding when it is one of FILE's. A rule of nil: bound nowhere."
  (let* ((view (view-of world file)) (run (view-run view)) (family (family-of world file)) (inner t))
    (loop repeat 200
          until (= scope +none+)
          do (let ((class-p (= (scope-kind run scope) +class-scope+)))
               (multiple-value-bind (binding defs)
                   (if (and class-p (not (family-implicit-self family)) (not (eq mode :type))
                            (not (and inner (family-class-names family))))
                       nil
                       (fitting-binding view scope name mode (family-rebinds family)))
                 (when binding
                   (return-from locate-name (binding-result world file view binding defs mode env (not inner)))))
               (when (and class-p (family-implicit-self family) (/= (scope-def run scope) +none+))
                 (let ((meaning (locate-tag-member world (make-tag file (scope-def run scope)) name)))
                   (when meaning (return-from locate-name (values meaning :implicit-self))))))
             (setf scope (scope-parent run scope)
                   inner nil))
    (outer-meaning world file family name mode)))

(defun binding-result (world file view binding defs mode env outer)
  (let ((run (view-run view)))
    (cond ((= (binding-kind run binding) +defined+)
           (let ((tags (mapcar (lambda (def) (make-tag file def)) defs)))
             (values (if (rest tags)
                         (let ((best (make-tag file (preferred view defs)))) (cons best (remove best tags)))
                         (first tags))
                     (if (and outer (= (binding-scope run binding) 0)) :same-file :local)
                     binding)))
          ((= (binding-kind run binding) +imported+)
           (values (import-meaning world file (binding-target run binding)) :import binding))
          (t (values (or (and (zerop (binding-scope run binding)) (= (binding-kind run binding) +variable+)
                              (= (binding-type run binding) +none+)
                              (variable-alias world file run binding))
                         (binding-meaning world file binding mode env))
                     :variable binding)))))

(defun variable-alias (world file run binding)
  "What a variable of the module that is another name of a definition means, or nil: exports.a = b; export const { a } = b."
  (let ((value (binding-value run binding)))
    (when (/= value +none+)
      (let ((op (node-op run value)))
        (loop while (= op +op-cast+)
              do (setf value (node-b run value)) (if (= value +none+) (return-from variable-alias nil) (setf op (node-op run value))))
        (with-trail ()
          (values
           (guarded (logior (ash file 36) (ash value 2) 3 (ash 1 61))
             (cond ((= op +op-name+)
                    (unless (= (node-a run value) (binding-name run binding))
                      (values (locate-name world file (node-b run value) (node-a run value) :expression))))
                   ((= op +op-member+)
                    (values (locate-member world (expression-value world file (node-a run value)) (node-b run value))))
                   ((= op +op-def+) (make-tag file (node-a run value)))))))))))

(defun outer-meaning (world file family name mode)
  (let ((type (and (eq mode :type) (funcall (family-outer-type family) world file name))))
    (if type
        (values type :package)
        (multiple-value-bind (meaning rule) (funcall (family-outer-name family) world file name mode)
          (values meaning (and meaning (or rule :package)))))))

(defun binding-meaning (world file binding mode env)
  "The value of a parameter, variable or type parameter."
  (declare (ignorable mode))
  (let* ((view (view-of world file)) (run (view-run view)) (kind (binding-kind run binding)))
    (cond ((= kind +type-parameter+)
           (multiple-value-bind (argument found)
               (env-argument env file (binding-scope run binding) (binding-index run binding))
             (cond ((and found argument) argument)
                   ((/= (binding-type run binding) +none+) (type-value world file (binding-type run binding) env))
                   ((/= (binding-value run binding) +none+) (type-value world file (binding-value run binding) env)))))
          ((/= (binding-type run binding) +none+) (type-value world file (binding-type run binding) env))
          (t (or (and (or (= kind +parameter+) (= kind +optional-parameter+))
                      (funcall (family-parameter (family-of world file)) world file binding))
                 (if (family-rebinds (family-of world file))
                     (assigned-value world file view (binding-scope run binding) (binding-name run binding) env)
                     (and (/= (binding-value run binding) +none+)
                          (expression-value world file (binding-value run binding) env))))))))

(defconstant +assignments+ 8 "Assignments to one variable that are looked at; more occur in generated code.")

(defun assigned-value (world file view scope name env)
  "What a variable NAME of SCOPE may be: the type one of its bindings declares, else any of what is assigned to it."
  (let ((run (view-run view)) (values '()) (count 0))
    (do-bindings-named (binding) (view scope name)
      (cond ((= (binding-kind run binding) +imported+))
            ((/= (binding-type run binding) +none+)
             (let ((value (type-value world file (binding-type run binding) env)))
               (when value (return-from assigned-value value))))
            ((and (/= (binding-value run binding) +none+) (< count +assignments+))
             (incf count)
             (push (expression-value world file (binding-value run binding) env) values))))
    (unite (nreverse values))))

;;; Imports and exports

(defun import-file (world file import)
  "Where IMPORT of FILE leads: a file number, (:package . any), :external, or nil when that is not known."
  (funcall (family-import-module (family-of world file)) world file import))

(defun import-meaning (world file import)
  "What the local name of IMPORT stands for: a meaning, `*external*' for what is from outside, nil if unknown."
  (let ((memo (view-imports (view-of world file))) (env '()))
    (memoised (memo import env 3)
    (let* ((run (world-run world file)) (target (import-file world file import)) (name (import-name run import)))
      (cond ((eq target :external) *external*)
            ((null target) nil)
            ((consp target)
             (let ((package (make-value :package :name (cdr target) :file file)))
               (if (or (= name +none+) (= name (known "*")))
                   package
                   (package-meaning world package name))))
            ((or (= name +none+) (= name (known "*")))
             (whole-meaning world target))
            (t (with-twin world target name (exported-meaning world target name))))))))

(defun fallback (world &rest meanings)
  "A meaning that is the first of MEANINGS; a member that it does not know is looked for in the next."
  (let ((known (remove-duplicates (remove nil meanings) :test #'equal :from-end t)))
    (if (rest known)
        (make-value :union :name :fallback
                           :arguments (remove-duplicates (remove nil (mapcar (lambda (meaning) (meaning-value world meaning)) known))
                                                         :test #'value= :from-end t))
        (first known))))

(defun with-twin (world target name meaning)
  "MEANING of NAME exported by TARGET. Where the code of a module and the declarations of its types are two files, what the
declarations say comes first and the code behind it."
  (let ((twin (funcall (family-twin (family-of world target)) world target)))
    (if twin
        (let ((other (exported-meaning world twin name)))
          (if (funcall (family-declarations-p (family-of world target)) world target)
              (fallback world meaning other)
              (fallback world other meaning)))
        meaning)))

(defun whole-meaning (world file)
  "What importing the module FILE as a whole gives."
  (flet ((whole (file)
           (or (funcall (family-whole-module (family-of world file)) world file) (make-value :module :file file))))
    (let ((twin (funcall (family-twin (family-of world file)) world file)))
      (cond ((null twin) (whole file))
            ((funcall (family-declarations-p (family-of world file)) world file) (fallback world (whole file) (whole twin)))
            (t (fallback world (whole twin) (whole file)))))))

(defun package-meaning (world package name)
  (funcall (family-package-member (family-of world (value-file package))) world package name))

(defun exported-meaning (world file name &optional (seen '()))
  "What NAME means to those who import it from FILE: a meaning, or nil. Follows re-exports."
  (values (guarded (logior (ash 1 61) (ash file 36) (ash name 2) 1) (find-exported world file name seen))))

(defun find-exported (world file name seen)
  (unless (or (member file seen) (> (length seen) 30))
    (let* ((view (view-of world file)) (run (view-run view)) (family (family-of world file)))
      (or (do-exports (row) (view name)
            (let ((meaning (export-row-meaning world file view row (cons file seen))))
              (when meaning (return meaning))))
          (and (family-all-exported family) (module-name-meaning world file name))
          (funcall (family-exported family) world file name)
          (unless (= name (known "default"))
            (do-exports (row) (view (known "*"))
              (let ((meaning (and (= (exported-local run row) (known "*"))
                                  (let ((target (export-target world file (exported-module run row))))
                                    (and (integerp target) (exported-meaning world target name (cons file seen)))))))
                (when meaning (return meaning)))))))))

(defun export-target (world file module)
  "Where the specifier MODULE of an export of FILE leads, as `import-file' says."
  (let ((run (world-run world file)))
    (dotimes (import (import-count run))
      (when (= (import-module run import) module) (return (import-file world file import))))))

(defun module-name-meaning (world file name)
  "What the top-level NAME of FILE means, or nil."
  (let ((view (view-of world file)))
    (when (plusp (scope-count (view-run view)))
      (multiple-value-bind (binding defs) (fitting-binding view 0 name :type (family-rebinds (family-of world file)))
        (and binding (values (binding-result world file view binding defs :type nil nil)))))))

(defun export-row-meaning (world file view row seen)
  (let* ((run (view-run view)) (local (exported-local run row)) (module (exported-module run row)))
    (cond ((= module +none+) (module-name-meaning world file local))
          (t (let ((target (export-target world file module)))
               (cond ((eq target :external) *external*)
                     ((not (integerp target)) nil)
                     ((= local (known "*")) (make-value :module :file target))
                     (t (exported-meaning world target local seen))))))))

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
