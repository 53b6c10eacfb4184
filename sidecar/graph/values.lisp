;;;; Values: what the evaluator makes of a node. nil is `not known'.
;;;;   :instance   of definition REF in FILE (class, interface, enum …); ARGUMENTS: its type arguments
;;;;   :class      the class (or namespace, enum) REF itself
;;;;   :function   definition REF, ENV: what its type parameters stand for
;;;;   :signature  a function type or anonymous function, node REF
;;;;   :object     an object literal or literal type, node REF
;;;;   :module     the file FILE as a module
;;;;   :package    NAME: whatever the family's `import-module' gave as (:package . NAME)
;;;;   :builtin    NAME (a number), ARGUMENTS: a type of the language or its library
;;;;   :union      ARGUMENTS: any of these
;;;;   :expando    a variable REF whose members were assigned one by one; ARGUMENTS: its own value alone
;;;;   :super      the parents of class REF, the first that has a member (languages that are `linear')
;;;;   :external   from outside the repository: has no members of ours

(defpackage #:opl.graph.values
  (:use #:cl)
  (:import-from #:opl.graph.world #:make-tag)
  (:import-from #:opl.source.names #:known #:name-case)
  (:export #:value #:value-p #:make-value #:value-kind #:value-file #:value-ref #:value-arguments #:value-env #:value-name
           #:value-tag #:value-is #:*external* #:value= #:unite
           #:frame #:extend-env #:env-argument))
(in-package #:opl.graph.values)

(defstruct (value (:constructor make-value (kind &key file ref arguments env name)))
  (kind nil :type symbol :read-only t)
  (file nil :read-only t)
  (ref nil :read-only t)
  (arguments '() :type list :read-only t)
  (env '() :type list :read-only t)
  (name nil :read-only t))

(defvar *external* (make-value :external)
  "Stands for whatever lies outside the repository: what is called on it resolves to nothing here.")

(declaim (inline value-is))
(defun value-is (value &rest kinds)
  "Whether VALUE is a value whose kind is among KINDS; nil for nil and for what is no value."
  (declare (dynamic-extent kinds))
  (and (value-p value) (member (value-kind value) kinds) t))

(defun value-tag (value)
  "The tag of the definition that VALUE is or is an instance of, or nil."
  (and value (member (value-kind value) '(:instance :class :function :expando))
       (make-tag (value-file value) (value-ref value))))

(defun value= (a b)
  "Whether two values mean the same thing, type arguments apart."
  (or (eq a b)
      (and a b (eq (value-kind a) (value-kind b)) (eql (value-file a) (value-file b))
           (eql (value-ref a) (value-ref b)) (equal (value-name a) (value-name b))
           (not (eq (value-kind a) :union)))))

(defun nothing-p (value)
  "Whether VALUE is of a type without members, which a union may be written with: T | null."
  (and (eq (value-kind value) :builtin)
       (name-case (or (value-name value) (known "null"))
         (("null" "undefined" "void" "never" "None" "nil") t)
         (t nil))))

(defun unite (values)
  "One value for any of VALUES; what is not known or has no members is left out."
  (let ((distinct '()))
    (dolist (value values)
      (dolist (part (if (value-is value :union) (value-arguments value) (list value)))
        (when (and part (not (nothing-p part))) (pushnew part distinct :test #'value=))))
    (cond ((null distinct) nil)
          ((null (rest distinct)) (first distinct))
          (t (make-value :union :arguments (nreverse distinct))))))

;;; An environment is a list of frames (file scope . arguments): what the type parameters bound in SCOPE stand for.

(defun extend-env (env file scope arguments)
  "ENV with ARGUMENTS standing for the type parameters bound in SCOPE of FILE; ENV itself when none of them is known."
  (if (and arguments (some #'identity arguments)) (acons (logior (ash file 32) scope) arguments env) env))
(defun env-argument (env file scope index)
  "What type parameter number INDEX of SCOPE stands for, and whether ENV says so."
  (let ((frame (assoc (logior (ash file 32) scope) env)))
    (if frame (values (nth index (cdr frame)) t) (values nil nil))))
