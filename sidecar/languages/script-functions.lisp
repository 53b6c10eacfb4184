;;;; Functions of JavaScript and TypeScript: parameters, patterns, bodies, and what tells a function's beginning.

(in-package #:opl.languages.script)
(declaim (optimize (speed 2) (safety 1)) (sb-ext:muffle-conditions sb-ext:compiler-note))

;;; What begins here

(defun arrow-at-p (r i)
  "Whether an arrow function begins at token I."
  (declare (type script r) (type index i))
  (when (and (is r i "async") (< (1+ i) (script-limit r)) (not (new-line-p r (1+ i)))
             (or (is r (1+ i) "(" "<") (and (word-p r (1+ i)) (is r (+ 2 i) "=>"))))
    (incf i))
  (cond ((is r i "(") (arrow-follows-p r i (closer r i)))
        ((word-p r i) (is r (1+ i) "=>"))
        ((and (is r i "<") (= (kind-at r i) +punctuation+) (script-typed r))
         (let ((end (skip-type-arguments r i)))
           (and end (is r end "(") (arrow-follows-p r end (closer r end)))))))

(defun arrow-follows-p (r open close)
  (declare (type script r) (type index open close))
  (let ((next (1+ close)))
    (and (< next (script-limit r))
         (or (is r next "=>")
             (and (is r next ":") (script-typed r)
                  (or (not (script-conditional r)) (is r (1+ open) ")") (is r (+ 2 open) ":"))
                  (let ((end (skip-type r (1+ next)))) (and end (< end (script-limit r)) (is r end "=>"))))))))

(defun function-at-p (r i)
  "Whether a function value begins at token I: a function expression or an arrow."
  (declare (type script r) (type index i))
  (and (< i (script-limit r))
       (or (is r i "function")
           (and (is r i "async") (is r (1+ i) "function") (not (new-line-p r (1+ i))))
           (arrow-at-p r i))))

(defun enclosed-function-at-p (r i)
  "The token at which the function value in parentheses at token I begins: ((a) => b) as T; nil for a call of it."
  (declare (type script r) (type index i))
  (when (and (is r i "(") (not (arrow-at-p r i)))
    (let ((close (closer r i)) (j (1+ i)))
      (declare (type index close j))
      (loop while (and (is r j "(") (not (arrow-at-p r j))) do (incf j))
      (and (function-at-p r j) (not (is r (1+ close) "(" "." "?." "[")) j))))

(defun class-at-p (r i) (and (is r i "class") (or (word-p r (1+ i)) (is r (1+ i) "{" "<"))))

(defun wrapped-at-p (r i &optional (depth 0))
  "Whether the expression at token I is a call that is handed a function directly: memo(() => …), x.map(f => …)."
  (declare (type script r) (type index i) (type fixnum depth))
  (let ((new-p (is r i "new")) (call nil) (j i))
    (declare (type index j))
    (when new-p (incf j))
    (cond ((is r j "(" "[") (setf j (1+ (closer r j))))
          ((= (kind-at r j) +string+) (incf j))
          ((and (word-p r j) (not (is r j "function" "class" "async" "await" "typeof" "void" "delete" "yield"))) (incf j))
          (t (return-from wrapped-at-p nil)))
    (loop while (< j (script-limit r))
          do (cond ((is r j "." "?.") (setf call nil) (incf j)
                    (if (word-p r j) (incf j) (unless (is r j "(" "[") (return-from wrapped-at-p nil))))
                   ((and (is r j "!") (not (new-line-p r j))) (incf j))
                   ((is r j "[") (setf call nil j (1+ (closer r j))))
                   ((is r j "(") (setf call (if new-p nil j) new-p nil j (1+ (closer r j))))
                   ((and (is r j "<") (script-typed r) (skip-type-arguments r j) (is r (skip-type-arguments r j) "("))
                    (setf j (skip-type-arguments r j)))
                   (t (return))))
    (and call
         (or (>= j (script-limit r)) (is r j ";" "," ")" "}" "]" "as" "satisfies") (new-line-p r j))
         (takes-function-p r call depth))))

(defun takes-function-p (r open depth)
  (declare (type script r) (type index open) (type fixnum depth))
  (let ((close (closer r open)) (i (1+ open)))
    (declare (type index close i))
    (loop while (< i close)
          do (when (or (function-at-p r i) (enclosed-function-at-p r i) (and (< depth 2) (wrapped-at-p r i (1+ depth)))) (return t))
             (loop while (and (< i close) (not (is r i ",")))
                   do (let ((mate (mate-at r i))) (setf i (if (and (/= mate +none+) (> mate i)) (1+ mate) (1+ i)))))
             (incf i))))

;;; Patterns

(defun parse-pattern (r kind source &key (scope (script-scope r)) (type +none+) (index 0))
  "Binds the names of the binding pattern (or name) in hand. SOURCE: the node of what is taken apart; TYPE: the declared
type of the whole."
  (declare (type script r) (type u32 source type scope))
  (with-depth (r (step-over r))
    (cond ((at "{" "[")
           (let ((object (at "{")) (close (closer r (here r))) (place 0))
             (step-on r)
             (within (close)
               (loop while (more-p r)
                     do (let ((before (here r)))
                          (if object
                              (pattern-property r source scope)
                              (unless (at ",")
                                (let ((rest-p (skip-if "...")))
                                  (parse-pattern r +variable+
                                                 (if (or rest-p (= source +none+))
                                                     +none+
                                                     (node r +op-index+ source (node r +op-literal+ (known "number") place)))
                                                 :scope scope)
                                  (pattern-default r))))
                          (unless (skip-if ",") (when (= before (here r)) (step-over r)))
                          (incf place))))))
          ((word-p r (here r))
           (let ((name (name-here r)))
             (step-on r)
             (bind r name kind :scope scope :type type :value source :index index)))
          ((more-p r) (step-over r)))))

(defun pattern-default (r)
  (declare (type script r))
  (when (skip-if "=") (expecting (nil) (parse-assignment r))))

(defun pattern-property (r source scope)
  (declare (type script r) (type u32 source scope))
  (let* ((rest-p (skip-if "...")) (token (here r)) (kind (kind-at r token))
         (name (cond ((= kind +identifier+) (name-at r token)) ((= kind +string+) (string-name r token)) (t +none+)))
         (value (if (or rest-p (= name +none+) (= source +none+)) (if rest-p source +none+) (member-node r source name))))
    (cond ((at "[") (within ((closer r (here r))) (step-on r) (parse-expression r))
           (when (skip-if ":") (parse-pattern r +variable+ +none+ :scope scope)))
          ((after ":") (incf (script-p r) 2) (parse-pattern r +variable+ value :scope scope))
          (t (parse-pattern r +variable+ value :scope scope)))
    (pattern-default r)))

;;; Parameters

(defun contextual-type (r expected index)
  "The type node of parameter number INDEX of a function that is expected to be EXPECTED; +none+ when nothing is."
  (declare (type script r))
  (typecase expected
    (null +none+)
    (cons (node r +op-callback+ (car expected) (cdr expected) index))
    (t (let ((type (expecting (expected) (expected-node r))))
         (if (= type +none+) +none+ (node r +op-callback+ +none+ type index))))))

(defun parameter-pattern-name (r index)
  (intern-text r (format nil "{~D}" index)))

(defun parse-parameters (r scope &key expected (class +none+))
  "The parameters at `(', bound in SCOPE. EXPECTED: what is expected of the function; CLASS: the class whose fields
constructor parameters with a modifier are."
  (declare (type script r) (type u32 scope class))
  (let ((close (closer r (here r))) (index 0))
    (step-on r)
    (within (close)
      (loop while (more-p r)
            do (let ((before (here r)))
                 (when (parse-parameter r scope index expected class) (incf index))
                 (unless (skip-if ",") (when (= before (here r)) (step-over r))))))
    index))

(defun parse-parameter (r scope index expected class)
  "One parameter; whether it counts."
  (declare (type script r) (type u32 scope class))
  (when (at "@") (parse-decorators r))
  (let ((from (here r)) (property nil))
    (loop while (and (at "public" "private" "protected" "readonly" "override") (or (word-p r (1+ (here r))) (after "{" "[")))
          do (setf property t) (step-on r))
    (let* ((rest-p (skip-if "...")) (token (here r)) (pattern (at "{" "[")) (this-p (at "this")) (optional nil)
           (name (cond (this-p (known "this")) (pattern (parameter-pattern-name r index)) (t (name-here r))))
           (after (1+ (if pattern (closer r token) token))) (type +none+))
      (declare (type index after))
      (when (= name +none+) (return-from parse-parameter nil))
      (setf (script-p r) (min after (script-limit r)))
      (when (skip-if "?") (setf optional t))
      (when (skip-if ":") (setf type (parse-type r)))
      (when (and (= type +none+) (script-doc r) (not pattern))
        (setf type (doc-param-type r (script-doc r) (opl.source.names:name-string (script-names r) name))))
      (when (and (= type +none+) (not this-p)) (setf type (contextual-type r expected index)))
      (let ((value +none+) (end 0))
        (when (skip-if "=") (setf optional t value (expecting ((if (= type +none+) nil type)) (parse-assignment r))))
        (setf end (here r))
        (bind r name (cond (this-p +receiver+) (rest-p +rest-parameter+) (optional +optional-parameter+) (t +parameter+))
              :scope scope :type type :value value :index index)
        (when (and property (/= class +none+) (not pattern))
          (define r name (known "field") token :from from :parent class :bind nil :type type :scope (script-scope r)
                                               :end (line-at r token)))
        (when pattern
          (setf (script-p r) token)
          (parse-pattern r +variable+ (node r +op-name+ name scope) :scope scope)
          (setf (script-p r) (max (here r) end))))
      (not this-p))))

;;; Bodies

(defun parse-function (r &key (def +none+) expected (class +none+) this (arrow nil) async generator name)
  "From the type parameters or `(' of a function to the end of its body. DEF: its definition, or +none+. THIS: the node of
its receiver when that is not the class around. NAME: token of the name of a function expression, seen within alone. Values:
the function's scope and whether there was a body."
  (declare (type script r) (type u32 def class))
  (with-scope (+function-scope+ def)
    (unless (= def +none+)
      (setf (draft-def-body (script-facts r) def) scope)
      (flag r def (logior (if async +async+ 0) (if generator +generator+ 0))))
    (when this (bind r (known "this") +receiver+ :scope scope :value this))
    (when name (bind-function-name r name def scope))
    (with-slots-bound ((home scope) (def (if (= def +none+) (script-def r) def)) (owner +none+) (function-scope scope)
                       (returns 0) (return-expected nil) (holder +none+) (conditional nil) (no-in nil) (expected nil)
                       (doc (and (not (script-typed r)) (/= def +none+) (doc-text r (draft-def-from (script-facts r) def)))))
      (when (at "<") (parse-type-parameters r))
      (cond ((at "(") (parse-parameters r scope :expected expected :class class))
            ((word-p r (here r))
             (bind r (name-here r) +parameter+ :scope scope :type (contextual-type r expected 0) :index 0)
             (step-on r)))
      (parse-return-type r def expected generator)
      (unless (= def +none+) (sign r def))
      (values scope (if arrow (arrow-body r) (function-body r))))))

(defun bind-function-name (r token def scope)
  (declare (type script r) (type index token))
  (if (= def +none+)
      (bind r (name-at r token) +variable+ :scope scope)
      (bind r (name-at r token) +defined+ :scope scope :target def)))

(defun parse-return-type (r def expected generator)
  "The declared type of the function in hand, or what is expected of what it returns."
  (declare (type script r) (type u32 def))
  (cond ((and (at ":") (script-typed r))
         (step-on r)
         (let ((type (parse-type r)))
           (setf (script-returns r) 99 (script-return-expected r) (node r +op-await+ type))
           (if (= def +none+)
               (bind r (known "return") +variable+ :scope (script-scope r) :value (node r +op-cast+ type))
               (setf (draft-def-type (script-facts r) def) type))))
        ((and (script-doc r) (documented-return r def)))
        (generator (setf (script-returns r) 99))
        (expected
         (setf (script-return-expected r)
               (lambda ()
                 (let ((type (expecting (expected) (expected-node r))))
                   (if (= type +none+)
                       +none+
                       (node r +op-await+ (node r +op-call+ (node r +op-cast+ type))))))))))

(defun documented-return (r def)
  "Takes the type that the comment before DEF says it returns; whether there is one."
  (declare (type script r) (type u32 def))
  (let ((type (doc-type r (script-doc r) '("@returns" "@return"))))
    (unless (= type +none+)
      (setf (script-returns r) 99 (draft-def-type (script-facts r) def) type)
      t)))

(defun note-return (r value)
  "VALUE, a node, is returned by the function in hand."
  (declare (type script r) (type u32 value))
  (when (and (/= value +none+) (< (script-returns r) 4) (/= (script-function-scope r) +none+))
    (incf (script-returns r))
    (bind r (known "return") +variable+ :scope (script-function-scope r) :value value)))

(defun arrow-body (r)
  (declare (type script r))
  (skip-if "=>")
  (cond ((at "{") (function-body r))
        (t (note-return r (expecting ((script-return-expected r)) (parse-assignment r))) t)))

(defun function-body (r)
  "The block at hand as the body of a function; nil when there is none."
  (declare (type script r))
  (when (and (more-p r) (at "{"))
    (let ((close (closer r (here r))))
      (step-on r)
      (within (close) (parse-statements r))
      t)))

(defun parse-function-value (r &key (def +none+) expected this)
  "The function expression or arrow in hand; its node. DEF: the definition it is the value of."
  (declare (type script r) (type u32 def))
  (when (and (script-pending r) (eql (car (script-pending r)) (here r)))
    (setf def (cdr (script-pending r)) (script-pending r) nil))
  (let* ((from (here r)) (async (and (at "async") (not (after "=>")) (progn (step-on r) t))))
    (if (at "function")
        (let* ((generator (progn (step-on r) (skip-if "*"))) (name (and (word-p r (here r)) (not (at "(")) (here r)))
               (own (if name (function-name-definition r name def from) +none+))
               (target (if (= def +none+) own def)))
          (declare (type u32 own target))
          (when name (step-on r))
          (let ((scope (parse-function r :def target :expected expected :this this :async async :generator generator :name name)))
            (unless (= own +none+) (finish r own))
            (if (= target +none+) (node r +op-function+ +none+ +none+ scope) (node r +op-def+ target))))
        (let ((scope (parse-function r :def def :expected expected :arrow t :async async)))
          (if (= def +none+) (node r +op-function+ +none+ +none+ scope) (node r +op-def+ def))))))

(defun function-name-definition (r name def from)
  "The definition of a named function expression, unless it only repeats the name it is given to."
  (declare (type script r) (type index name from) (type u32 def))
  (if (and (/= def +none+) (= (draft-def-name (script-facts r) def) (name-at r name))
           (= (draft-def-line (script-facts r) def) (line-at r name)))
      +none+
      (define r (name-at r name) (known "function") name :from from :bind nil :scope (script-scope r)
                                                         :parent (script-def r) :flags +local+)))
