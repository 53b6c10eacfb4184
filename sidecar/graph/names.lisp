;;;; Names in the evaluator: what a name means where it is read, through scopes, imports, exports and re-exports. Part of the
;;;; package of types.lisp.

(in-package #:opl.graph.types)

(declaim (optimize (speed 1) (safety 1)))

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
  (let* ((view (view-of world file)) (run (view-run view)) (family (family-of world file)) (inner t) (implicit (family-implicit-self family)))
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
               (when (and class-p implicit (/= (scope-def run scope) +none+))
                 (when (eq implicit :innermost) (setf implicit nil))
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
