;;;; Python for the graph: the types of the standard library that hold others, generators, pytest's fixtures.
;;;; Where imports lead: python-modules.lisp.

(defpackage #:opl.graph.families.python
  (:use #:cl #:opl.source.facts #:opl.graph.world #:opl.graph.family #:opl.graph.values #:opl.graph.types #:opl.graph.families.python-modules)
  (:import-from #:opl.source.names #:+none+ #:known #:find-name)
  (:export #:parameter-fixture #:fixture-name))
(in-package #:opl.graph.families.python)
(declaim (optimize (speed 1) (safety 1)))

;;; Types of the library

(defun builtin (name &rest arguments) (make-value :builtin :file :python :name name :arguments arguments))

(defun class-of-instance (value)
  (case (and value (value-kind value))
    (:instance (make-value :class :file (value-file value) :ref (value-ref value) :arguments (value-arguments value)))
    (:union (unite (mapcar #'class-of-instance (value-arguments value))))))

(defun applied (world name arguments)
  "The type that NAME of the library, or no one's, applied to ARGUMENTS is; nil: nothing special."
  (let ((text (name-text world name)) (first (first arguments)))
    (flet ((one-of (&rest names) (member text names :test #'string=)))
      (cond ((string= text "Self") (builtin (known "this")))
            ((one-of "Optional" "Annotated" "ClassVar" "Final" "Required" "NotRequired" "ReadOnly" "InitVar" "Awaitable"
                     "TypeGuard" "Unpack")
             first)
            ((string= text "Union") (unite arguments))
            ((one-of "Type" "type") (class-of-instance first))
            ((one-of "Coroutine") (car (last arguments)))
            ((one-of "Generator" "AsyncGenerator") (builtin name first))
            ((and (string= text "tuple") (rest arguments)) (apply #'builtin (known "tuple") arguments))
            ((and (string= text "Tuple") arguments) (apply #'builtin (known "tuple") arguments))
            (arguments (apply #'builtin name arguments))))))

(defun called (world value name argument)
  "Calling method NAME of the library type VALUE, or the function VALUE of Python itself."
  (if (value-is value :package)
      (let ((function (value-name value)))
        (if (and (consp function) (eq (car function) :function)) (called-function world (cdr function) argument) nil))
      (let* ((arguments (value-arguments value)) (first (first arguments)) (last (car (last arguments)))
             (text (name-text world name)))
        (flet ((one-of (&rest names) (member text names :test #'string=)))
          (cond ((null arguments) nil)
                ((one-of "__enter__" "__aenter__" "__next__" "__anext__" "popleft" "get_nowait") first)
                ((one-of "get" "pop" "setdefault" "__getitem__" "popitem") last)
                ((one-of "values") (builtin (known "list") last))
                ((one-of "keys") (builtin (known "list") first))
                ((one-of "items") (builtin (known "list") (builtin (known "tuple") first last)))
                ((one-of "copy" "__iter__" "__aiter__" "union" "difference") value))))))

(defun called-function (world function argument)
  (declare (type function argument))
  (flet ((is (&rest names) (member function names :test #'string=)) (argument (i) (funcall argument i)))
    (cond ((is "next" "min" "max") (element-value world (argument 0) nil))
          ((is "type") (class-of-instance (argument 0)))
          ((is "dict" "copy" "deepcopy" "replace" "partial" "wait_for" "create_task" "ensure_future" "shield") (argument 0))
          ((is "closing" "aclosing" "nullcontext") (builtin (known "ContextManager") (argument 0)))
          ((is "filter") (listed (element-value world (argument 1) nil)))
          ((is "enumerate") (listed (builtin (known "tuple") nil (element-value world (argument 0) nil))))
          ((is "zip") (listed (builtin (known "tuple") (element-value world (argument 0) nil) (element-value world (argument 1) nil))))
          (t (listed (element-value world (argument 0) nil))))))

(defun listed (value) (builtin (known "list") value))

;;; Functions that do not return what they say

(defun marked-p (run def key)
  (do-marks (value more) (run key) (when (= more def) (return t))))

(defun yielded (world file scope env)
  "What the function whose scope is SCOPE yields, and whether it yields at all."
  (let* ((view (view-of world file)) (run (view-run view)) (values '()) (any nil))
    (do-bindings-named (binding) (view scope (known "yield"))
      (setf any t)
      (push (expression-value world file (binding-value run binding) env) values))
    (values (unite (nreverse values)) any)))

(defun returned-by (world tag env)
  (let* ((file (tag-file tag)) (run (world-run world file)) (def (tag-def tag)) (scope (def-body run def)) (type (def-type run def)))
    (unless (= scope +none+)
      (cond ((marked-p run def (known "contextmanager"))
             ;; one that neither says nor yields anything returns another's: as `function-return' finds it
             (and (or (/= type +none+) (find-binding (view-of world file) scope (known "yield")))
                  (builtin (known "ContextManager") (product world tag env))))
            ((= type +none+)
             (multiple-value-bind (value any) (yielded world file scope env)
               (and any value (builtin (known "Generator") value))))))))

(defun product (world tag env)
  "What the function TAG hands out one by one when it is a generator, else what it returns."
  (let* ((file (tag-file tag)) (run (world-run world file)) (def (tag-def tag)) (scope (def-body run def)) (type (def-type run def)))
    (multiple-value-bind (value any) (yielded world file scope env)
      (cond ((/= type +none+)
             (let ((declared (type-value world file type env)))
               (if (or any (value-is declared :builtin)) (or (element-value world declared nil) (and (not any) declared)) declared)))
            (any value)
            (t (function-return world tag env))))))

(defun member-function (world value name)
  "The function NAME (a number) of the instance VALUE, or nil."
  (let ((meaning (locate-member world value name)))
    (if (consp meaning) (first meaning) meaning)))

(defun iterated-instance (world value)
  "What a loop over the instance VALUE gives: an item of what `__iter__' returns, or what `__next__' does when that is VALUE
again or another iterator."
  (let ((iterate (or (member-function world value (known "__iter__")) (member-function world value (known "__aiter__"))))
        (next (or (member-function world value (known "__next__")) (member-function world value (known "__anext__")))))
    (cond ((integerp next) (function-return world next (value-env value)))
          ((integerp iterate)
           (let ((iterator (function-return world iterate (value-env value))))
             (unless (or (null iterator) (value= iterator value)) (iterator-item world iterator))))
          (t (first (value-arguments value))))))

(defun iterator-item (world iterator)
  "An item of ITERATOR, which `__iter__' returned: it is not asked for its own `__iter__', or two could ask each other for ever."
  (cond ((value-is iterator :instance)
         (let ((next (member-function world iterator (known "__next__"))))
           (if (integerp next) (function-return world next (value-env iterator)) (first (value-arguments iterator)))))
        ((value-is iterator :union) (unite (mapcar (lambda (part) (iterator-item world part)) (value-arguments iterator))))
        (t (element-value world iterator nil))))

;;; pytest: a parameter of a test or fixture is what the fixture of that name gives

(defun fixture-in (world file name class except)
  "The tag of the fixture NAME in FILE, right in CLASS or in no class, that is not EXCEPT; nil when there is none."
  (let ((run (world-run world file)))
    (do-marks (value more) (run (known "fixture"))
      (when (and (= name (if (= value +none+) (def-name run more) value))
                 (= (def-parent run more) (or class +none+))
                 (/= except (make-tag file more)))
        (return (make-tag file more))))))

(defun fixture-file (world folder)
  (world-file-number world (join folder "conftest.py")))

(defun find-fixture (world file name class except)
  "The tag of the fixture that EXCEPT, a test or fixture of CLASS in FILE, gets as NAME, or nil."
  (or (and class (fixture-in world file name class except))
      (fixture-in world file name nil except)
      (imported-fixture world file name)
      (loop for folder = (directory-of (world-path world file)) then (directory-of folder)
            for conftest = (fixture-file world folder)
            do (let ((found (and conftest (world-run world conftest)
                                 (or (fixture-in world conftest name nil except) (imported-fixture world conftest name)))))
                 (when found (return found)))
            until (string= folder ""))))

(defun imported-fixture (world file name)
  (let* ((view (view-of world file)) (binding (find-binding view 0 name)))
    (when (and binding (= (binding-kind (view-run view) binding) +imported+))
      (let ((meaning (import-meaning world file (binding-target (view-run view) binding))))
        (and (integerp meaning) (marked-p (world-run world (tag-file meaning)) (tag-def meaning) (known "fixture")) meaning)))))

(defun fixture-name (world tag)
  "The name, a number, under which pytest hands what the definition TAG gives; nil when TAG is no fixture."
  (let ((run (world-run world (tag-file tag))))
    (do-marks (value more) (run (known "fixture"))
      (when (= more (tag-def tag)) (return (if (= value +none+) (def-name run more) value))))))

(defun parameter-fixture (world file binding)
  "The tag of the fixture that pytest hands a test or fixture of FILE as its parameter BINDING, or nil."
  (let* ((run (world-run world file)) (def (scope-def run (binding-scope run binding))))
    (when (and (/= def +none+) (not (logtest +local+ (def-flags run def)))
               (or (logtest +test+ (def-flags run def)) (marked-p run def (known "fixture"))))
      (let ((parent (def-parent run def)))
        (find-fixture world file (binding-name run binding) (and (/= parent +none+) parent) (make-tag file def))))))

(defun fixture-parameter (world file binding)
  (let ((fixture (parameter-fixture world file binding)))
    (when fixture (product world fixture '()))))

;;; Several definitions of one name: the last that is no mere overload

(defun last-definition (world file site tags)
  (declare (ignore file site))
  (let ((real (remove-if (lambda (tag) (logtest +declaration+ (tag-flags world tag))) tags)))
    (when real (list (reduce #'max real)))))

;;; Construction

(defun constructor-of (world tag file site)
  (declare (ignore file site))
  (let ((meaning (or (locate-own-member world tag (known "__init__")) (locate-own-member world tag (known "__new__")))))
    (if (consp meaning) (first meaning) (and (integerp meaning) meaning))))

(defun called-as (world tag)
  "What makes an object is called by its class's name."
  (let ((parent (tag-parent world tag)))
    (and parent (= (tag-name world tag) (known "__new__")) (list (tag-name world parent)))))

(define-family :python
  :called-as #'called-as
  :import-module #'import-module-of
  :exported #'lent
  :outer-name #'outer-name-of
  :package-member #'member-of-package
  :apply-builtin #'applied
  :builtin-call #'called
  :parameter #'fixture-parameter
  :returned #'returned-by
  :iterated #'iterated-instance
  :constructor #'constructor-of
  :select #'last-definition
  :call-constructs t :all-exported t :rebinds t :class-names t :linear t
  :builtin-names '("append" "extend" "insert" "remove" "pop" "clear" "index" "count" "sort" "reverse" "copy" "get" "items" "keys"
                   "values" "setdefault" "update" "popitem" "add" "discard" "union" "intersection" "difference" "join" "split"
                   "rsplit" "strip" "lstrip" "rstrip" "replace" "format" "encode" "decode" "startswith" "endswith" "find" "lower"
                   "upper" "title" "splitlines" "partition" "rpartition" "read" "write" "close" "open" "readline" "readlines" "seek"
                   "tell" "flush" "send" "recv" "start" "run" "set" "wait" "put" "match" "search" "sub" "group" "groups" "exists"
                   "mkdir" "unlink" "info" "debug" "warning" "error" "exception" "acquire" "release" "submit" "result" "cancel"))
