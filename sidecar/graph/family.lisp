;;;; Families: what resolution has to know of a group of languages beyond the rules that all share. One
;;;; `define-family' a family of extractors, in graph/families/; each slot left out has the meaning said here.

(defpackage #:opl.graph.family
  (:use #:cl)
  (:import-from #:opl.graph.world #:world-family)
  (:export #:define-family #:family #:family-of #:find-family #:family-name
           #:family-import-module #:family-exported #:family-outer-name #:family-outer-type #:family-extra-members #:family-extra-heritage
           #:family-constructor #:family-select #:family-accepts #:family-overloads #:family-callee #:family-extension #:family-builtin-member
           #:family-builtin-callback #:family-builtin-call #:family-apply-builtin
           #:family-package-member #:family-twin #:family-declarations-p #:family-whole-module #:family-assigned-field
           #:family-builtin-names #:family-call-constructs #:family-implicit-self #:family-all-exported
           #:family-guess #:family-rebinds #:family-class-names #:family-linear
           #:family-parameter #:family-returned #:family-iterated #:family-called-as #:family-file-types))
(in-package #:opl.graph.family)

(defstruct family
  (name nil :type symbol)
  ;; (world file import) => file number | (:package . any) | :external | nil (not known where it leads)
  (import-module (constantly nil) :type function)
  ;; (world file name) => a value or tag that NAME stands for outside of module FILE, beyond `exported' facts;
  ;; asked after those; nil when there is none
  (exported (constantly nil) :type function)
  ;; (world file) => what importing FILE as a whole gives when that is not the module itself (module.exports = …)
  (whole-module (constantly nil) :type function)
  ;; (world file) => the file that declares the types of FILE (x.d.ts of x.js), or nil
  (twin (constantly nil) :type function)
  ;; (world file) => whether FILE only declares what another one is the code of
  (declarations-p (constantly nil) :type function)
  ;; (world tag name) => value of a field of class TAG that is known by assignments alone; asked last
  (assigned-field (constantly nil) :type function)
  ;; (world file name mode) => tag, value, list of tags, or nil: what a name bound nowhere in FILE means; MODE is
  ;; :expression or :type. A second value, where given, is the rule that decided instead of :package
  (outer-name (constantly nil) :type function)
  ;; (world file name) => the same for a name that stands where a type does; asked before `outer-name'
  (outer-type (constantly nil) :type function)
  ;; (world tag name) => tags of members of the class TAG written elsewhere (Go, Rust, partial classes)
  (extra-members (constantly nil) :type function)
  ;; (world tag) => tags of parents of TAG that are said elsewhere (`impl Trait for T')
  (extra-heritage (constantly nil) :type function)
  ;; (world tag file site) => the tag that constructing class TAG calls; nil: the class itself
  (constructor (constantly nil) :type function)
  ;; (world file site tags) => the tags among TAGS, overloads, that the call may mean; nil: by arity
  (select (constantly nil) :type function)
  ;; (world file site) => meaning and rule of what is called, asked first; nil: as the callee's node says
  (callee (constantly nil) :type function)
  ;; (world file site) => tags of functions written outside of the type whose members they are called as; asked when the
  ;; receiver is not known or has no such member
  (extension (constantly nil) :type function)
  ;; (world file site tag rule) => whether the call can mean TAG, found by RULE
  (accepts (constantly t) :type function)
  ;; (world value name) => value of member NAME of a :builtin VALUE (its arguments are type arguments)
  (builtin-member (constantly nil) :type function)
  ;; (world value name argument) => value of calling method NAME of a :builtin VALUE; ARGUMENT: function of an
  ;; argument's place to its value; VALUE may be a :package that is called itself, NAME then +none+
  (builtin-call (constantly nil) :type function)
  ;; (world value name argument parameter) => value of a callback's parameter, the callback being argument
  ;; number ARGUMENT of the builtin method NAME of VALUE
  (builtin-callback (constantly nil) :type function)
  ;; (world name arguments) => value of the builtin generic type NAME applied to ARGUMENTS, or nil
  (apply-builtin (constantly nil) :type function)
  ;; (world value name) => tag or value of NAME in a :package VALUE
  (package-member (constantly nil) :type function)
  ;; (world file binding) => value of a parameter that says no type of its own, or nil
  (parameter (constantly nil) :type function)
  ;; (world tag env) => value of calling function TAG, asked first; nil: as it declares or returns
  (returned (constantly nil) :type function)
  ;; (world value) => what iterating over an :instance gives, or nil
  (iterated (constantly nil) :type function)
  ;; (world tag) => names, numbers, that calls of TAG are written under besides its own and what it is renamed to
  (called-as (constantly '()) :type function)
  ;; method names that builtin types have: never guessed. A list of strings, turned into a table of names
  (builtin-names '() :type list)
  (overloads nil)                       ; functions of one name differ by their parameters: `select' tells what a call gives
  (call-constructs nil)                 ; T(x) makes a T
  (implicit-self nil)                   ; a bare name may be a member of the class around it; :innermost: of no further one
  (all-exported nil)                    ; every top-level name of a module is seen from outside
  (rebinds nil)                         ; a variable is any of what is assigned to it, not only the first
  (class-names nil)                     ; right in a class's body its members are names
  (linear nil)                          ; `super' means the first parent that has the member
  (file-types nil)                      ; a file is a type, whose members are what it defines
  (guess t)                             ; a method name unique in the repository is `possible'
  (default-name nil))                   ; "default" when modules have a default export

(defvar *families* (make-hash-table :test 'eq))

(defmacro define-family (name &rest slots &key &allow-other-keys)
  "Defines (again) the family NAME, a keyword or a list of them. SLOTS as in the structure `family'."
  `(dolist (name ',(if (listp name) name (list name)))
     (setf (gethash name *families*) (make-family :name name ,@slots))))

(defvar *plain* (make-family :name :plain :guess nil))
(defun find-family (name)
  "The family called NAME; one without rules of its own when there is none."
  (gethash name *families* *plain*))
(declaim (inline family-of))
(defun family-of (world file)
  "The family of FILE's language."
  (find-family (world-family world file)))
