;;;; What the extractors of languages with braces share: a walk over the tokens of one file that knows the
;;;; scope and the definition it stands in, reads postfix expressions (a.b(c)[d]) into nodes and call sites,
;;;; and leaves what is peculiar to a language to the functions of its dialect.

(defpackage #:opl.languages.braces
  (:use #:cl #:opl.source.tokens #:opl.source.facts)
  (:import-from #:opl.source.names #:+none+ #:known #:u32-vector #:names)
  (:export #:walk #:make-walk #:start-walk #:w-tokens #:w-facts #:w-names #:w-path #:w-scope #:w-def #:w-class #:w-dialect
           #:w-open #:w-case #:w-member #:w-site #:w-argument #:with-argument #:call-arguments #:callback-node
           #:with-expected #:w-expected
           #:dialect #:make-dialect #:dialect-primary #:dialect-postfix #:dialect-statement
           #:word-set #:in-word-set-p
           #:kind #:name #:mate #:line #:token-at #:identifier-p #:closer #:same-line-p #:new-line-p
           #:define #:bind #:materialise #:with-body #:with-block #:set-end #:call-site #:cell-list #:node #:name-node #:member-node
           #:literal-node #:code #:operand #:postfix #:expression #:arguments #:pieces #:do-pieces #:group #:find-at-depth
           #:skip-angles #:ordinal #:string-name #:span-name #:*no-words* #:last-identifier #:truncating-nodes #:signature))
(in-package #:opl.languages.braces)
(declaim (optimize (speed 1) (safety 1)))

(deftype ordinal () '(integer 0 #.(ash most-positive-fixnum -2)))

;;; Sets of words known while loading, tested in constant time

(defun word-set (&rest words)
  "A bit vector over name numbers with those of WORDS set."
  (let* ((numbers (mapcar #'opl.source.names::well-known-number words))
         (bits (make-array (1+ (reduce #'max numbers :initial-value 0)) :element-type 'bit :initial-element 0)))
    (dolist (number numbers bits) (setf (sbit bits number) 1))))

(declaim (inline in-word-set-p))
(defun in-word-set-p (name set)
  (declare (type (unsigned-byte 32) name) (type simple-bit-vector set))
  (and (< name (length set)) (= 1 (sbit set name))))

(defparameter *no-words* (word-set))

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
  (angles nil))

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
  (member nil)                               ; free for a dialect
  (case nil))                                ; free for a dialect

(defun start-walk (tokens facts names path dialect)
  "A walk that stands before the first token, in the file's own scope, which is added."
  (add-scope facts +none+ +module-scope+ +none+)
  (make-walk :tokens tokens :facts facts :names names :path path :dialect dialect))

(defmacro token-at (w i &rest literals) `(token-is (w-tokens ,w) ,i ,@literals))
(declaim (inline kind name mate line identifier-p same-line-p new-line-p))
(defun kind (w i) (token-kind (w-tokens w) i))
(defun name (w i) (token-name (w-tokens w) i))
(defun mate (w i) (token-mate (w-tokens w) i))
(defun line (w i) (token-line (w-tokens w) i))
(defun identifier-p (w i) (= (token-kind (w-tokens w) i) +identifier+))
(defun same-line-p (w i j) (= (token-line (w-tokens w) i) (token-line (w-tokens w) j)))
(defun new-line-p (w i)
  "Whether token I stands on a later line than the one before."
  (or (<= (the fixnum i) 0) (/= (token-line (w-tokens w) i) (token-line (w-tokens w) (1- i)))))

(defun closer (w i to)
  "The bracket that closes the one at I, cut at TO; TO when it is closed nowhere."
  (declare (type fixnum i to))
  (let ((mate (mate w i))) (if (and (/= mate +none+) (> mate i)) (min mate to) to)))

(defun string-name (w string) (opl.source.names:intern-string (w-names w) string))

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
(defun node (w op &optional (a +none+) (b +none+) (c +none+)) (add-node (w-facts w) op a b c))
(defun name-node (w name) (add-node (w-facts w) +op-name+ name (w-scope w) +none+))
(defun member-node (w of name &optional (static +none+)) (add-node (w-facts w) +op-member+ of name static))
(defmacro literal-node (w string) `(node ,w +op-literal+ (known ,string)))

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
  (let ((section (svref facts (load-time-value (position 'opl.source.facts::node (opl.source.columns:section-numbers)) t))))
    (setf (opl.source.columns:section-count section) count)))

;;; Pieces between commas

(defmacro do-pieces ((start end w from to &optional (separator '(","))) &body body)
  "Runs BODY for each piece of the tokens [FROM, TO) between separators outside brackets, empty last one left out."
  (let ((i (gensym)) (stop (gensym)) (walk (gensym)))
    `(let* ((,walk ,w) (,i ,from) (,stop ,to) (,start ,i))
       (declare (type fixnum ,i ,stop ,start))
       (loop
         (cond ((>= ,i ,stop)
                (when (< ,start ,stop) (let ((,end ,stop)) (declare (ignorable ,end)) ,@body))
                (return))
               ((token-at ,walk ,i ,@separator)
                (let ((,end ,i)) (declare (ignorable ,end)) ,@body)
                (setf ,i (1+ ,i) ,start ,i))
               ((token-opens-p (w-tokens ,walk) ,i) (setf ,i (1+ (closer ,walk ,i ,stop))))
               ((and (token-at ,walk ,i "<") (dialect-angles (w-dialect ,walk)))
                (setf ,i (or (type-arguments-end ,walk ,i ,stop) (1+ ,i))))
               (t (incf ,i)))))))

(defun type-arguments-end (w i to)
  "The token after the type arguments that open with the `<' at I, or nil when it compares."
  (declare (type fixnum i to))
  (let ((after (and (or (identifier-p w (1- i)) (token-at w (1- i) "." "::")) (skip-angles w i to))))
    (and after
         (or (>= (the fixnum after) to) (token-at w after "(" "::" "[" "{" ")" "." "," "?" "!") (identifier-p w after))
         after)))

(defun find-at-depth (w from to test)
  "The first token in [FROM, TO) outside brackets for which TEST (of an ordinal) is true, or nil."
  (declare (type fixnum from to) (type function test))
  (let ((i from))
    (declare (type fixnum i))
    (loop
      (when (>= i to) (return nil))
      (when (funcall test i) (return i))
      (setf i (if (token-opens-p (w-tokens w) i) (1+ (closer w i to)) (1+ i))))))

(defun skip-angles (w i to)
  "The token after the `>' that closes the `<' at I, or nil when it closes nowhere near: then it compares."
  (declare (type fixnum i to))
  (let ((depth 0) (limit (min to (+ i 200))))
    (declare (type fixnum depth))
    (loop
      (when (>= i limit) (return nil))
      (cond ((= (kind w i) +identifier+))
            ((token-at w i "<") (incf depth))
            ((token-at w i ">") (when (<= (decf depth) 0) (return (1+ i))))
            ((token-at w i ">>") (when (<= (decf depth 2) 0) (return (1+ i))))
            ((token-at w i ">>>") (when (<= (decf depth 3) 0) (return (1+ i))))
            ((token-at w i "(" "[") (setf i (closer w i limit)))
            ((token-at w i "," "." "::" "?" "&" "*" ":" "|" "->" "=>" "'" "@" "!" "..." "=" "+" "-" ">="))
            ((member (kind w i) '(#.+number+ #.+character+ #.+string+)))
            (t (return nil)))
      (incf i))))

(defun last-identifier (w from to)
  "The last identifier in [FROM, TO), or nil."
  (loop for i of-type fixnum from (1- to) downto from when (identifier-p w i) do (return i)))

;;; Expressions

(defun after-string (w i to)
  "The token after the string at I; the code interpolated in it is walked."
  (let ((mate (mate w i)))
    (cond ((and (/= mate +none+) (> mate i))
           (let ((end (min mate to)))
             (code w (1+ i) end)
             (min to (1+ end))))
          (t (1+ i)))))

(defun group (w i to)
  "The node of what the parentheses at I hold, when it is one expression; the token after them."
  (let ((close (closer w i to)))
    (values (expression w (1+ i) close) (min to (1+ close)))))

(defun primary (w i to)
  (declare (type fixnum i to))
  (multiple-value-bind (node next) (funcall (dialect-primary (w-dialect w)) w i to)
    (if next
        (values node next)
        (let ((kind (kind w i)))
          (cond ((= kind +identifier+)
                 (if (in-word-set-p (name w i) (dialect-keywords (w-dialect w)))
                     (values +none+ (1+ i))
                     (values (name-node w (name w i)) (1+ i))))
                ((= kind +string+) (let ((next (after-string w i to))) (values (literal-node w "string") next)))
                ((= kind +number+) (values (literal-node w "number") (1+ i)))
                ((= kind +character+) (values (literal-node w "char") (1+ i)))
                ((token-at w i "(") (group w i to))
                ((token-at w i "[") (let ((close (closer w i to))) (code w (1+ i) close) (values +none+ (min to (1+ close)))))
                ((token-at w i "{") (let ((close (closer w i to))) (with-block (w) (code w (1+ i) close)) (values +none+ (min to (1+ close)))))
                (t (values +none+ (1+ i))))))))

(defmacro with-argument ((w site argument) &body body)
  "Runs BODY, which reads argument number ARGUMENT of call SITE."
  (let ((old (gensym)) (place (gensym)))
    `(let ((,old (w-site ,w)) (,place (w-argument ,w)))
       (setf (w-site ,w) ,site (w-argument ,w) ,argument)
       (multiple-value-prog1 (progn ,@body)
         (setf (w-site ,w) ,old (w-argument ,w) ,place)))))

(defun callback-node (w index)
  "The type of parameter INDEX of the function literal in hand, given by the call it is an argument of or by the
type that is expected of it; +none+ where neither is known."
  (cond ((/= (w-site w) +none+) (node w +op-callback+ (w-site w) (w-argument w) index))
        ((/= (w-expected w) +none+) (node w +op-callback+ +none+ (w-expected w) index))
        (t +none+)))

(defmacro with-expected ((w type) &body body)
  "Runs BODY, which reads an expression of which the type node TYPE is expected."
  (let ((old (gensym)))
    `(let ((,old (w-expected ,w)))
       (setf (w-expected ,w) ,type)
       (multiple-value-prog1 (progn ,@body) (setf (w-expected ,w) ,old)))))

(defun call-arguments (w site open close)
  "Reads the arguments of SITE between the brackets OPEN and CLOSE. The first cell."
  (multiple-value-bind (cells count) (arguments w open close site)
    (unless (= site +none+)
      (setf (draft-site-arity (w-facts w) site) count (draft-site-arguments (w-facts w) site) cells))
    cells))

(defun arguments (w open close &optional (site +none+))
  "Reads the arguments between the brackets OPEN and CLOSE. Values: first cell or +none+, how many."
  (declare (type fixnum open close))
  (if (= close (1+ open))
      (values +none+ 0)
      (let ((nodes '()) (count 0))
        (declare (type (unsigned-byte 32) count))
        (do-pieces (start end w (1+ open) close)
          (push (with-argument (w site count) (expression w start end)) nodes)
          (incf count))
        (values (if (every (lambda (node) (= node +none+)) nodes) +none+ (cell-list w (nreverse nodes))) count))))

(defun postfix (w node i to)
  "Goes on after the operand NODE, whose next token is I: members, calls, indices. Values: node, next token."
  (declare (type fixnum i to) (type (unsigned-byte 32) node))
  (let* ((dialect (w-dialect w)) (named -1) (hook (dialect-postfix dialect)))
    (declare (type fixnum named))
    ;; NAMED: the token whose name a call here would bear
    (when (and (> i 0) (identifier-p w (1- i)) (/= node +none+)) (setf named (1- i)))
    (loop
      (when (>= i to) (return (values node i)))
      (let ((name (name w i)) (punctuation (= (kind w i) +punctuation+)))
        (cond ((and punctuation (in-word-set-p name (dialect-members dialect)) (identifier-p w (1+ i)) (< (1+ i) to)
                    (not (token-at w (1+ i) "new" "class" "await")))
               (setf named (1+ i)
                     node (member-node w node (name w named))
                     i (+ i 2)))
              ((and punctuation (in-word-set-p name (dialect-statics dialect)) (identifier-p w (1+ i)) (< (1+ i) to))
               (setf named (1+ i)
                     node (member-node w node (name w named) 1)
                     i (+ i 2)))
              ((and punctuation (= name (known "(")) (or (/= node +none+) (>= named 0))
                    (not (and (dialect-lines dialect) (new-line-p w i))))
               (let ((close (closer w i to)))
                 (if (>= named 0)
                     (let* ((site (call-site w named node +call+ +none+ +none+)) (cells (call-arguments w site i close)))
                       (setf node (node w +op-call+ node cells site)))
                     (multiple-value-bind (cells) (arguments w i close)
                       (setf node (node w +op-call+ node cells +none+))))
                 (setf named -1
                       i (min to (1+ close)))))
              ((and punctuation (= name (known "[")) (/= node +none+)
                    (not (and (dialect-lines dialect) (new-line-p w i))))
               (let* ((close (closer w i to)) (index (expression w (1+ i) close)))
                 (setf node (node w +op-index+ node index)
                       i (min to (1+ close)))))
              (t (multiple-value-bind (more next) (funcall hook w node i to)
                   (unless next (return (values node i)))
                   (setf named (if (and (identifier-p w (1- next)) (/= more +none+)) (1- next) -1)
                         node more i next))))))))

(defun operand (w i to)
  "Reads the operand that begins at token I. Values: its node or +none+, the token after (always more than I)."
  (declare (type fixnum i to))
  (multiple-value-bind (node next) (primary w i to)
    (declare (type fixnum next))
    (if (= node +none+) (values node next) (postfix w node next to))))

(defun expression (w from to)
  "Reads the tokens [FROM, TO) as one expression; its node, as far as can be told without precedence."
  (declare (type fixnum from to))
  (if (>= from to)
      +none+
      (multiple-value-bind (node next) (operand w from to)
        (declare (type fixnum next))
        (cond ((>= next to) node)
              ((= node +none+) (if (= (kind w from) +punctuation+) (expression w next to) (progn (code w next to) +none+)))
              (t (operation w node next to))))))

(defun operation (w left i to)
  "The node of an expression that goes on with an operator at I."
  (declare (type fixnum i to))
  (cond ((token-at w i "==" "!=" "<" ">" "<=" ">=" "&&" "||" "instanceof" "is" "in" "!==" "===")
         ;; a comparison may be the condition of `a < b ? c : d'
         (let ((question (find-at-depth w i to (lambda (j) (token-at w j "?")))))
           (cond ((and question (find-at-depth w question to (lambda (j) (token-at w j ":"))))
                  (code w (1+ i) question)
                  (operation w left question to))
                 (t (code w (1+ i) to)
                    (literal-node w "boolean")))))
        ((token-at w i "?")
         (let ((colon (find-at-depth w (1+ i) to (lambda (j) (token-at w j ":")))))
           (if colon
               (let ((a (expression w (1+ i) colon)) (b (expression w (1+ colon) to)))
                 (cond ((= a +none+) b) ((= b +none+) a) (t (node w +op-either+ a b))))
               (progn (code w (1+ i) to) left))))
        ((token-at w i "?:" "??")
         (let ((right (expression w (1+ i) to))) (if (= right +none+) left (node w +op-either+ left right))))
        (t (let ((right (expression w (1+ i) to)) (facts (w-facts w)))
             (flet ((literal-p (node literal)
                      (and (/= node +none+) (= (draft-node-op facts node) +op-literal+) (= (draft-node-a facts node) literal))))
               (cond ((or (literal-p right (known "string")) (literal-p right (known "boolean"))) right)
                     (t left)))))))

;;; Statements

(defun code (w i to)
  "Walks the statements and expressions in [I, TO)."
  (with-argument (w +none+ 0) (with-expected (w +none+) (statements w i to))))

(defun statements (w i to)
  (declare (type fixnum i to))
  (let* ((dialect (w-dialect w)) (statement (dialect-statement dialect)) (lines (dialect-lines dialect)) (start t))
    (loop
      (when (>= i to) (return))
      (let* ((kind (kind w i)) (name (name w i)))
        (when (and lines (not start) (new-line-p w i)) (setf start t))
        (let ((next (and start (funcall statement w i to))))
          (cond (next (setf i (max (1+ i) (the fixnum next)) start t))
                ((= kind +identifier+)
                 (setf start (in-word-set-p name (dialect-openers dialect)))
                 (setf i (if start
                             (1+ i)
                             (truncating-nodes (w) (nth-value 1 (operand w i to))))))
                ((= kind +punctuation+)
                 (cond ((= name (known "{"))
                        (let ((close (closer w i to)))
                          (with-block (w) (code w (1+ i) close))
                          (setf i (1+ close) start t)))
                       ((or (= name (known ";")) (= name (known "}"))) (incf i) (setf start t))
                       (t (setf start nil i (truncating-nodes (w) (nth-value 1 (operand w i to)))))))
                ((= kind +directive+) (incf i) (setf start t))
                (t (setf start nil i (truncating-nodes (w) (nth-value 1 (operand w i to)))))))))))
