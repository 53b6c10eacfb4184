;;;; Resolution: from a call site to the definitions it calls, with a certainty and the rule that decided.
;;;;
;;;; How to add a family of languages
;;;;  1. The extractor (sidecar/languages/) writes facts. Conventions beside those of source/facts.lisp:
;;;;     - what a function returns without saying its type: a binding named "return" of kind +variable+ in the
;;;;       function's scope, its VALUE the expression returned (the first four returns are enough);
;;;;     - what `this'/`self' means where it is not the class around: a binding named "this" in that scope;
;;;;     - a value's type known by its initial value alone: TYPE of the def = node typeof(a = the expression);
;;;;     - type parameters: bindings of kind +type-parameter+ with INDEX in the scope (BODY) of their class, alias or
;;;;       function, TYPE = constraint, VALUE = default;
;;;;     - call signatures of an interface: bindings named "()" (construct: "new()") in its scope, TYPE = function node;
;;;;     - a parameter that is a pattern: a parameter named "{0}" … by index, the names in it variables whose VALUE is
;;;;       a member node of it;
;;;;     - an unannotated parameter of a function passed on: TYPE = callback(site, argument, parameter); for a function
;;;;       given where a type is expected: callback(+none+, type node, parameter);
;;;;     - a function or class assigned to a member of a definition (`x.y = function', Go methods of the same file,
;;;;       Ruby `def x.y'): a def whose PARENT is that definition, without +local+; nested functions have +local+.
;;;;     - index nodes: c of a literal node that is a string = the name of its text; b of one that is a number = it;
;;;;     - property nodes: c = 1 when `a' is a type.
;;;;  2. graph/families/<family>.lisp: one `define-family' (slots explained in family.lisp). Most need `import-module'
;;;;     (specifier -> file), `outer-name' (same package, globals), `builtin-names'.
;;;;  3. Nothing here reads files or keeps state: only facts and `remembered' tables derived from them.

(defpackage #:opl.graph.resolve
  (:use #:cl #:opl.source.facts #:opl.graph.world #:opl.graph.family #:opl.graph.values #:opl.graph.types)
  (:import-from #:opl.source.names #:+none+ #:known #:find-name)
  (:export #:resolve-site #:cast-of #:subclasses #:superclasses #:overrides #:overridden))
(in-package #:opl.graph.resolve)

(declaim (optimize (speed 1) (safety 1)))

;;; Rules and how sure they are. Measured on the oracle repositories; see bench/.

(defparameter *certainties*
  '((:local . :exact) (:same-file . :exact) (:import . :exact) (:package . :exact) (:module . :exact) (:self . :exact)
    (:implicit-self . :exact) (:super . :exact) (:static . :exact) (:typed . :exact) (:construct . :exact)
    (:object . :exact) (:alias . :likely) (:typed-union . :likely) (:inferred . :possible) (:overloads . :likely)
    (:same-directory . :likely) (:declared . :exact) (:linked . :likely) (:extension . :likely) (:ambiguous . :possible) (:passed . :possible) (:unique . :possible) (:member-unique . :possible) (:override . :possible)))

(defun site-rule-certainty (rule) (or (cdr (assoc rule *certainties*)) :likely))

;;; What a node stands for

(defun node-meaning (world file node &optional (depth 0))
  "Values: meaning of the expression NODE of FILE as a definition (tag, list of tags, value or nil), the rule."
  (if (or (= node +none+) (> depth 6))
      nil
      (let* ((run (world-run world file)) (op (node-op run node)) (a (node-a run node)) (b (node-b run node)))
        (cond ((= op +op-name+) (name-meaning world file b a depth))
              ((= op +op-member+) (member-meaning world file run a b))
              ((= op +op-super+) (values (super-constructors world file node) :super))
              ((= op +op-def+) (values (make-tag file a) :local))
              ((or (= op +op-apply+) (= op +op-pointer+)) (node-meaning world file a (1+ depth)))
              ((= op +op-cast+) (node-meaning world file b (1+ depth)))
              (t (values (expression-value world file node) :inferred))))))

(defun name-meaning (world file scope name depth)
  (multiple-value-bind (meaning rule binding) (locate-name world file scope name :expression)
    (if (and binding (eq rule :variable))
        (local-variable-meaning world file binding meaning depth)
        (values meaning rule))))

(defun local-variable-meaning (world file binding meaning depth)
  "A local variable that is another name of a definition; what a parameter calls is not known."
  (let* ((run (world-run world file)) (kind (binding-kind run binding)) (value (binding-value run binding)))
    (cond ((/= kind +variable+) nil)
          ((family-rebinds (family-of world file)) (alias-meaning world file binding depth))
          ((= value +none+) nil)
          ((member (node-op run value) '(#.+op-name+ #.+op-member+ #.+op-def+))
           (multiple-value-bind (inner rule) (node-meaning world file value (1+ depth))
             (values inner (and rule (cond ((= (node-op run value) +op-def+) rule)
                                           ((member rule '(:module :import)) :import) ; const { x } = require('y')
                                           (t :alias))))))
          ((value-is meaning :function :class) (values meaning :inferred)))))

(defun receiver-rule (world file run node value)
  "How surely the receiver NODE is VALUE."
  (declare (ignorable world file))
  (let ((op (node-op run node)))
    (case (value-kind value)
      (:class :static)
      ((:module :package) :module)
      (:union :typed-union)
      ((:object :expando) :object)
      (t (cond ((= op +op-self+) :self)
               ((= op +op-super+) :super)
               (t :typed))))))

(defun member-meaning (world file run receiver name)
  "What member NAME of the expression RECEIVER is."
  (let ((value (expression-value world file receiver)))
    (cond ((null value) (values nil :unknown-receiver))
          ((eq value *external*) nil)
          (t (let ((meaning (locate-member world value name)))
               (values meaning (and meaning (receiver-rule world file run receiver value))))))))

(defun super-constructors (world file node)
  (let ((value (expression-value world file node)))
    ;; an interface constructs nothing: the class beside it is from outside
    (remove-if (lambda (tag) (or (null tag) (= (tag-kind world tag) (known "interface"))))
               (mapcar #'value-tag (if (value-is value :union) (value-arguments value) (list value))))))

(defun alias-meaning (world file binding depth)
  "What a local variable, all that it is bound to looked at, calls: the one function or class of the repository
among its names."
  (let* ((view (view-of world file)) (run (view-run view)) (found '()))
    (flet ((add (meaning)
             (dolist (tag (meaning-tags world meaning))
               (let ((kind (tag-kind world tag)))
                 (when (or (function-kind-p kind) (class-kind-p kind)) (pushnew tag found))))))
      (do-bindings-named (other) (view (binding-scope run binding) (binding-name run binding))
        (let ((value (binding-value run other)))
          (cond ((= (binding-kind run other) +imported+) (add (import-meaning world file (binding-target run other))))
                ((/= (binding-kind run other) +variable+))
                ((/= (binding-type run other) +none+) (add (type-value world file (binding-type run other))))
                ((= value +none+))
                ((member (node-op run value) '(#.+op-name+ #.+op-member+ #.+op-def+))
                 (let ((meaning (node-meaning world file value (1+ depth))))
                   (add meaning)
                   (add (meaning-value world (if (consp meaning) (first meaning) meaning)))))
                (t (add (expression-value world file value)))))))
    (if (and found (null (rest found))) (values (first found) :alias) nil)))

;;; From a meaning to tags

(defun meaning-tags (world meaning)
  "Tags of the definitions that MEANING stands for."
  (declare (ignorable world))
  (cond ((null meaning) '())
        ((integerp meaning) (list meaning))
        ((consp meaning) (remove-if-not #'integerp meaning))
        ((and (value-is meaning :union) (eq (value-name meaning) :fallback))
         (let* ((all (loop for part in (value-arguments meaning) append (meaning-tags world part)))
                (tags (or (remove-if (lambda (tag) (namespace-kind-p (tag-kind world tag))) all) all)))
           (let ((best (or (find-if (lambda (tag) (logtest +has-body+ (tag-flags world tag))) tags) (first tags))))
             (and best (list best)))))
        ((value-is meaning :union) (loop for part in (value-arguments meaning) append (meaning-tags world part)))
        ((value-is meaning :function :class) (list (value-tag meaning)))
        ((value-is meaning :expando) (list (value-tag meaning)))))

(defun variable-kind-p (kind)
  (or (= kind (known "variable")) (= kind (known "constant"))))

(defun through-variables (world tags rule)
  "TAGS with a variable replaced by the function that is its value. One whose value is unknown, or from outside, is nothing
that can be called here, but for functions wrapped by another (const f = debounce(() => …)). Second value: the rule then."
  (let ((alias nil))
    (values
     (loop for tag in tags
           append (cond ((not (variable-kind-p (tag-kind world tag))) (list tag))
                        ((logtest +has-body+ (tag-flags world tag))
                         ;; what wrapping a function gives is called under this name, or it is the function's own value
                         (when (logtest +local+ (tag-flags world tag)) (setf alias :alias))
                         (list tag))
                        ((cast-of world tag) (list tag))
                        (t (let ((called (variable-calls world tag)))
                             (setf alias (cond ((computed-p world tag) :inferred) (alias) ((required-p world tag) :import) (t :alias)))
                             called))))
     (or alias rule))))

(defun defining-binding (view def)
  "The binding that definition DEF made, or nil."
  (let ((run (view-run view)))
    (do-bindings-named (binding) (view (def-scope run def) (def-name run def))
      (when (and (= (binding-kind run binding) +defined+) (= (binding-target run binding) def))
        (return binding)))))

(defun cast-of (world tag)
  "Tags of the functions that the variable TAG of a module is said to be of another type: const f = g as F. It is F that a
call of f meets; that g answers is possible."
  (let* ((file (tag-file tag)) (view (view-of world file)) (run (view-run view)) (binding (defining-binding view (tag-def tag)))
         (value (if binding (binding-value run binding) +none+)))
    (and (/= value +none+) (= (node-op run value) +op-cast+) (/= (node-a run value) +none+)
         (remove-if-not (lambda (alias) (function-kind-p (tag-kind world alias)))
                        (meaning-tags world (variable-alias world file run binding))))))

(defun variable-calls (world tag)
  "Tags of what calling the variable TAG calls: the function it is another name of, or that is its value."
  (let* ((file (tag-file tag)) (view (view-of world file)) (run (view-run view))
         (binding (defining-binding view (tag-def tag)))
         (alias (and binding (variable-alias world file run binding))))
    (if (and (integerp alias) (/= alias tag) (function-kind-p (tag-kind world alias)))
        (list alias)
        (let ((value (tag-value world tag)))
          (when (value-is value :expando) (setf value (first (value-arguments value))))
          (cond ((value-is value :function :class) (list (value-tag value)))
                ((and (value-is value :union) (eq (value-name value) :fallback)) (meaning-tags world value))
                ((or (eq value *external*) (eq (world-family world (tag-file tag)) :script)) '())
                (t (list tag)))))))

(defun required-p (world tag)
  "Whether variable TAG is a module, const x = require('x')."
  (let* ((file (tag-file tag)) (view (view-of world file)) (run (view-run view)) (binding (defining-binding view (tag-def tag)))
         (value (if binding (binding-value run binding) +none+)))
    (and (/= value +none+) (= (node-op run value) +op-name+) (imported-module world file view (node-a run value)) t)))

(defun computed-p (world tag)
  "Whether variable TAG has what a call gives as its value, or a module that only hands on another one (CommonJS, where type
checkers lose the thread too): a function that comes of it is only one of those it may be."
  (let* ((file (tag-file tag)) (view (view-of world file)) (run (view-run view)) (binding (defining-binding view (tag-def tag)))
         (value (if binding (binding-value run binding) +none+)))
    (and (/= value +none+)
         (or (= (node-op run value) +op-call+)
             (and (= (node-op run value) +op-name+)
                  (let ((target (imported-module world file view (node-a run value))))
                    (and target (hands-on-p world target))))))))

(defun imported-module (world file view name)
  "The file that NAME, bound at the top of FILE, is imported from as a whole, or nil."
  (let* ((run (view-run view)) (binding (find-binding view 0 name)))
    (and binding (= (binding-kind run binding) +imported+)
         (let ((target (import-file world file (binding-target run binding)))) (and (integerp target) target)))))

(defun hands-on-p (world file)
  "Whether FILE says module.exports = require(…)."
  (let* ((view (view-of world file)) (run (view-run view)) (binding (last-binding view 0 (known "module.exports"))))
    (and binding (= (binding-kind run binding) +variable+) (/= (binding-value run binding) +none+)
         (= (node-op run (binding-value run binding)) +op-name+)
         (imported-module world file view (node-a run (binding-value run binding)))
         t)))

(defun passed-tags (world tags)
  "Those of TAGS that are functions: what is handed on by name and may be called later."
  (remove-if-not (lambda (tag)
                   (or (function-kind-p (tag-kind world tag)) (logtest +has-body+ (tag-flags world tag))))
                 tags))

(defun called-tags (world file site tags)
  "TAGS as far as SITE can call them: overloads are chosen among. Second value: whether the choice is not sure."
  (let ((family (family-of world file)))
    (if (and (rest tags) (every (lambda (tag) (= (tag-name world tag) (tag-name world (first tags)))) tags))
        (multiple-value-bind (chosen unsure) (funcall (family-select family) world file site tags)
          (values (or chosen (list (first tags))) unsure))
        tags)))

(defun accepted-tags (world file site tags rule)
  "TAGS less those that the family says no call means."
  (let ((accepts (family-accepts (family-of world file))))
    (declare (type function accepts))
    (remove-if-not (lambda (tag) (funcall accepts world file site tag rule)) tags)))

(defun constructed (world file site tags)
  "TAGS with the constructor that SITE means for a class. Second value: whether the choice is not sure."
  (let ((family (family-of world file)) (unsure nil))
    (values (mapcar (lambda (tag)
                      (or (and (class-kind-p (tag-kind world tag))
                               (multiple-value-bind (constructor doubtful) (funcall (family-constructor family) world tag file site)
                                 (when doubtful (setf unsure t))
                                 constructor))
                          tag))
                    tags)
            unsure)))

;;; Guesses

(defun builtin-name-p (world family name)
  (let ((table (remembered (world :builtin-names (family-name family))
                 (let ((table (make-hash-table)))
                   (dolist (text (family-builtin-names family) table)
                     (let ((n (find-name (world-names world) text))) (when n (setf (gethash n table) t))))))))
    (gethash name table)))

(defun unique-member (world file name)
  "The one member called NAME in the repository, in FILE's family, or nil."
  (let ((family (family-of world file)) (found nil))
    (when (and (family-guess family) (not (builtin-name-p world family name)))
      (do-named (tag) (world name)
        (when (and (function-kind-p (tag-kind world tag)) (tag-parent world tag)
                   (not (logtest +local+ (tag-flags world tag)))
                   (eq (world-family world (tag-file tag)) (world-family world file)))
          (if found (return-from unique-member nil) (setf found tag)))))
    found))

;;; Sites

(defun callee-meaning (world file site callee)
  "What is called at SITE: as the family says, else as the node CALLEE does. Values: meaning, rule."
  (multiple-value-bind (meaning rule) (funcall (family-callee (family-of world file)) world file site)
    (if (or meaning rule) (values meaning rule) (node-meaning world file callee))))

(defun resolve-site (world file site)
  "What the call at SITE (an ordinal) of FILE calls. Values: tags (nil when nothing of the repository is known
to be called), certainty (:exact :likely :possible), rule (a keyword)."
  (with-trail ()
    (let* ((run (world-run world file)) (callee (site-callee run site)) (how (site-how run site)))
      (multiple-value-bind (meaning rule) (callee-meaning world file site callee)
        (multiple-value-bind (tags unsure) (called-tags world file site (accepted-tags world file site (meaning-tags world meaning) rule))
          ;; a function that a variable of a module has by calculation; properties typed as a function are as good as it
          (when (and (value-is meaning :function) (not (eq rule :local)) (eq (world-family world file) :script))
            (setf rule (if (member rule '(:object :typed :typed-union)) :alias :inferred)))
          (multiple-value-setq (tags rule) (through-variables world tags rule))
          (when (= how +pass+) (setf tags (passed-tags world tags) rule (and tags :passed)))
          (cond (tags
                 (when (or (= how +construct+) (= how +super-call+) (family-call-constructs (family-of world file)))
                   (multiple-value-bind (made doubtful) (constructed world file site tags)
                     (setf tags made unsure (or unsure doubtful))))
                 (setf rule (if (or unsure (and (rest tags) (member rule '(:typed :self :import :same-file)))) :overloads rule))
                 (values tags (site-rule-certainty rule) rule))
                ((and (/= callee +none+) (= (node-op run callee) +op-member+)
                      (setf tags (funcall (family-extension (family-of world file)) world file site)))
                 (values tags (site-rule-certainty :extension) :extension))
                ((eq rule :unknown-receiver)
                 (let ((guess (unique-member world file (site-name run site))))
                   (and guess (values (list guess) :possible :member-unique))))))))))
