;;;; What the extractors of languages with braces share: a walk over the tokens of one file that knows the
;;;; scope and the definition it stands in, and writes definitions, bindings, nodes, call sites.

(defpackage #:opl.languages.braces
  (:use #:cl #:opl.source.tokens #:opl.source.facts)
  (:import-from #:opl.source.names #:+none+ #:known #:u32-vector #:names)
  (:export #:walk #:start-walk #:w-tokens #:w-facts #:w-names #:w-path #:w-scope #:w-def #:w-class #:w-dialect #:w-case #:w-member
           #:w-site #:w-argument #:with-argument #:call-arguments #:callback-node
           #:with-expected #:w-expected
           #:dialect #:make-dialect #:dialect-primary #:dialect-postfix #:dialect-statement
           #:word-set #:in-word-set-p
           #:kind #:name #:mate #:line #:token-at #:identifier-p #:closer #:same-line-p #:new-line-p
           #:define #:bind #:with-body #:with-block #:set-end #:call-site #:cell-list #:node #:name-node #:member-node
           #:literal-node #:code #:operand #:postfix #:expression #:arguments #:pieces #:do-pieces #:group #:find-at-depth
           #:skip-angles #:ordinal #:string-name #:span-name #:*no-words* #:last-identifier #:do-angled-pieces #:truncating-nodes
           #:signature #:drop-nodes #:deeper #:+deepest-code+ #:w-looked #:+most-looks+))
(in-package #:opl.languages.braces)
(declaim (optimize (speed 1) (safety 1)))
(declaim (ftype function arguments postfix primary))

(deftype ordinal () '(integer 0 #.(ash most-positive-fixnum -2)))

;;; Sets of words known while loading, tested in constant time

(defun word-set (&rest words)
  "A bit vector over name numbers with those of WORDS set."
  (let* ((numbers (mapcar #'opl.source.names:well-known-number words))
         (bits (make-array (1+ (reduce #'max numbers :initial-value 0)) :element-type 'bit :initial-element 0)))
    (dolist (number numbers bits) (setf (sbit bits number) 1))))

(declaim (inline in-word-set-p))
(defun in-word-set-p (name set)
  "Whether the name number NAME is in SET, made by `word-set'."
  (declare (type (unsigned-byte 32) name) (type simple-bit-vector set))
  (and (< name (length set)) (= 1 (sbit set name))))

(defparameter *no-words* (word-set) "A set that no name is in.")

(defun no-hook (&rest arguments) (declare (ignore arguments)) nil)

(defstruct dialect
  "PRIMARY (walk i to) and POSTFIX (walk node i to) give a node and the token after, or nil where the language
has nothing of its own at I. STATEMENT (walk i to) gives the token after what it took where a statement may
begin, or nil. KEYWORDS are no operands; OPENERS are keywords after which a statement may begin; LINES:
whether a statement may begin on a new line; ANGLES: whether type arguments stand in <>; MEMBERS and STATICS: the
words of operators that select a member."
  (primary #'no-hook :type function)
  (postfix #'no-hook :type function)
  (statement #'no-hook :type function)
  (keywords *no-words* :type simple-bit-vector)
  (openers *no-words* :type simple-bit-vector)
  (members (word-set "." "->" "?.") :type simple-bit-vector)
  (statics (word-set "::") :type simple-bit-vector)
  (lines nil)
  (angles nil)
  (type-argument #'no-hook :type function)) ; (walk i) whether a type begins at I: then f[T](x) applies f

(defstruct (walk (:conc-name w-))
  (tokens (make-tokens) :type tokens)
  (facts #() :type simple-vector)
  (names nil)
  (path "" :type string)
  (dialect (make-dialect) :type dialect)
  (scope 0 :type (unsigned-byte 32))
  (def +none+ :type (unsigned-byte 32))
  (class +none+ :type (unsigned-byte 32))    ; the type whose members are being read
  (open nil)                                 ; true: the block in hand has no scope yet, for nothing is bound in it
  (site +none+ :type (unsigned-byte 32))     ; the call whose argument is being read
  (argument 0 :type (unsigned-byte 32))      ; which argument
  (expected +none+ :type (unsigned-byte 32)) ; the type node that the expression in hand is expected to have
  (depth 0 :type (unsigned-byte 32))         ; of recursion, see `deeper'
  (looked 0 :type (unsigned-byte 62))        ; tokens that were looked at in search of one further on
  (member nil)                               ; free for a dialect
  (case nil))                                ; free for a dialect

(defconstant +deepest-expression+ 400
  "Expressions within one another, operators' right sides among them, beyond which one is walked for its calls and gives no node.")
(defconstant +deepest-code+ 800
  "Blocks, types and operands within one another beyond which code is passed over: hand-written code stays below 50. The frames of one take
a kilobyte or two, and a thread whose stack ends takes the process with it.")

(defmacro deeper ((w limit &optional otherwise) &body body)
  "Runs BODY, which may not be left but at its end, one level deeper; OTHERWISE instead where the walk is LIMIT levels deep."
  (let ((walk (gensym "W")))
    `(let ((,walk ,w))
       (if (>= (w-depth ,walk) ,limit)
           ,otherwise
           (progn (incf (w-depth ,walk))
                  (multiple-value-prog1 (progn ,@body) (decf (w-depth ,walk))))))))

(defconstant +most-looks+ 20000000
  "Tokens looked at in search of one further on, in one file; as many take a quarter of a second to one. What is looked for is near in
code. Where it is nowhere, every statement would look through the rest of the file: 24,000 lines `f(x).' took C++ ten seconds.")

(defun start-walk (tokens facts names path dialect)
  "A walk that stands before the first token, in the file's own scope, which is added."
  (add-scope facts +none+ +module-scope+ +none+)
  (make-walk :tokens tokens :facts facts :names names :path path :dialect dialect))

(defmacro token-at (w i &rest literals)
  "Whether token I is one of LITERALS, strings known while compiling."
  `(token-is (w-tokens ,w) ,i ,@literals))
(declaim (inline kind name mate line identifier-p same-line-p new-line-p))
(defun kind (w i)
  "The kind of token I; outside the file one that no token has."
  (token-kind (w-tokens w) i))
(defun name (w i)
  "The name of token I, or +none+."
  (token-name (w-tokens w) i))
(defun mate (w i)
  "The bracket that token I closes or is closed by, or +none+."
  (token-mate (w-tokens w) i))
(defun line (w i)
  "The line of token I, from 1; 0 outside the file."
  (token-line (w-tokens w) i))
(defun identifier-p (w i)
  "Whether token I is an identifier; keywords are identifiers as well."
  (= (token-kind (w-tokens w) i) +identifier+))
(defun same-line-p (w i j)
  "Whether tokens I and J begin on one line."
  (= (token-line (w-tokens w) i) (token-line (w-tokens w) j)))
(defun new-line-p (w i)
  "Whether token I stands on a later line than the one before."
  (or (<= (the fixnum i) 0) (/= (token-line (w-tokens w) i) (token-line (w-tokens w) (1- i)))))

(defun closer (w i to)
  "The bracket that closes the one at I, cut at TO; TO when it is closed nowhere. Of a directive the last token of its line."
  (declare (type fixnum i to))
  (let ((mate (mate w i)))
    (cond ((or (= mate +none+) (<= mate i)) to)
          ((= (token-kind (w-tokens w) i) +directive+) (min (1- mate) to))
          (t (min mate to)))))

(defun string-name (w string)
  "The number of STRING in the names, added when new."
  (opl.source.names:intern-string (w-names w) string))

(defun span-name (w from to)
  "The name number of the text from token FROM up to token TO, without blanks (a qualified name)."
  (if (= to (1+ from))
      (name w from)
      (string-name w (apply #'concatenate 'string (loop for i from from below to collect (token-text (w-tokens w) i))))))

;;; Definitions, scopes, bindings

(defun signature (w from to)
  "Octets of tokens FROM up to TO, at most 200 of them. Values: start, end."
  (let ((start (token-start (w-tokens w) from)) (end (token-end (w-tokens w) (max from (1- to)))))
    (values start (min end (+ start 200)))))

(defun define (w i kind &key (from i) (to (1+ i)) (parent (w-def w)) (flags 0) (type +none+) (end +none+) (bind t)
                         (name (name w i)))
  "Adds the definition whose name is token I, of KIND (a name number), in the scope in hand, and binds the name
there unless BIND is nil. FROM and TO: the tokens of its signature. The ordinal."
  (declare (type fixnum i from to))
  (let ((facts (w-facts w)))
    (when bind (materialise w))
    (multiple-value-bind (start stop) (signature w from to)
      (let ((def (add-def facts name kind (line w i) end parent (w-scope w) +none+ type flags start stop
                          (token-start (w-tokens w) i))))
        (when bind (add-binding facts (w-scope w) name +defined+ +none+ +none+ def 0))
        def))))

(defun set-end (w def i)
  "Token I is the last of definition DEF."
  (setf (draft-def-end (w-facts w) def) (token-end-line (w-tokens w) (max 0 i))))

(defun materialise (w)
  "Gives the block in hand a scope of its own when it has none."
  (when (w-open w)
    (setf (w-scope w) (add-scope (w-facts w) (w-scope w) +block-scope+ +none+) (w-open w) nil)))

(defun bind (w name &key (kind +variable+) (type +none+) (value +none+) (target +none+) (index 0))
  "The number of a new binding of NAME in the present scope, which is made now if its block had none yet."
  (materialise w)
  (add-binding (w-facts w) (w-scope w) name kind type value target index))

(defmacro with-block ((w) &body body)
  "Runs BODY in a block, which gets a scope when something is bound in it."
  (let ((scope (gensym)) (open (gensym)))
    `(let ((,scope (w-scope ,w)) (,open (w-open ,w)))
       (setf (w-open ,w) t)
       (multiple-value-prog1 (progn ,@body)
         (setf (w-scope ,w) ,scope (w-open ,w) ,open)))))

(defmacro with-body ((w def &key (kind '+function-scope+) (class nil classp)) &body body)
  "Runs BODY inside DEF (+none+: a function without a name), in a new scope which becomes its body."
  (let ((scope (gensym)) (open (gensym)) (old (gensym)) (old-class (gensym)) (d (gensym)))
    `(let ((,scope (w-scope ,w)) (,open (w-open ,w)) (,old (w-def ,w)) (,old-class (w-class ,w)) (,d ,def))
       (declare (ignorable ,old-class))
       (setf (w-scope ,w) (add-scope (w-facts ,w) (w-scope ,w) ,kind ,d) (w-open ,w) nil)
       (unless (= ,d +none+)
         (setf (draft-def-body (w-facts ,w) ,d) (w-scope ,w) (w-def ,w) ,d))
       ,@(when classp `((setf (w-class ,w) ,class)))
       (multiple-value-prog1 (progn ,@body)
         (setf (w-scope ,w) ,scope (w-open ,w) ,open (w-def ,w) ,old (w-class ,w) ,old-class)))))

;;; Nodes

(declaim (inline node))
(defun node (w op &optional (a +none+) (b +none+) (c +none+))
  "The number of a new expression node; what A, B and C mean, OP says (see facts.lisp)."
  (add-node (w-facts w) op a b c))
(defun name-node (w name)
  "The node of NAME as seen from the present scope."
  (add-node (w-facts w) +op-name+ name (w-scope w) +none+))
(defun member-node (w of name &optional (static +none+))
  "The node of NAME in OF, a node; STATIC is not +none+ where it belongs to the class itself."
  (add-node (w-facts w) +op-member+ of name static))
(defmacro literal-node (w string)
  "The node of a literal whose type is STRING, known while compiling."
  `(node ,w +op-literal+ (known ,string)))

(defun cell-list (w nodes)
  "The first of a chain of cells that hold NODES, or +none+."
  (let ((next +none+))
    (dolist (node (reverse nodes) next) (setf next (node w +op-cons+ node next)))))

(defun call-site (w i callee how arity arguments)
  "A call of what token I names; the site's ordinal."
  (add-site (w-facts w) (name w i) (line w i) (w-scope w) (w-def w) callee how arity arguments))

(defmacro truncating-nodes ((w) &body body)
  "Runs BODY and takes back the nodes it made when nothing that it made refers to them."
  (let ((facts (gensym)) (nodes (gensym)) (sites (gensym)) (bindings (gensym)) (defs (gensym)))
    `(let* ((,facts (w-facts ,w)) (,nodes (draft-node-count ,facts)) (,sites (draft-site-count ,facts))
            (,bindings (draft-binding-count ,facts)) (,defs (draft-def-count ,facts)))
       (multiple-value-prog1 (progn ,@body)
         (when (and (= ,sites (draft-site-count ,facts)) (= ,bindings (draft-binding-count ,facts))
                    (= ,defs (draft-def-count ,facts)))
           (drop-nodes ,facts ,nodes))))))

(defun drop-nodes (facts count)
  "Takes back all nodes but the first COUNT: those of an expression that turned out to be something else."
  (let ((section (svref facts (load-time-value (position 'opl.source.facts::node (opl.source.columns:section-numbers)) t))))
    (setf (opl.source.columns:section-count section) count)))
