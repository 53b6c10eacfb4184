;;;; Ruby: a walk over statements. What opens with a keyword ends with `end'; a keyword after an expression on
;;;; the same line is a modifier and opens nothing. Definitions are read by ruby-definitions.lisp, which shares
;;;; this package because the two call each other.

(defpackage #:opl.languages.ruby
  (:use #:cl #:opl.languages.reading)
  (:import-from #:opl.source.names #:+none+ #:known #:name-case #:intern-octets)
  (:import-from #:opl.source.tokens #:tokens-octets #:token-start #:token-end #:+string+ #:+identifier+ #:+number+ #:+regexp+
                #:+character+ #:+punctuation+)
  (:import-from #:opl.source.facts #:+module-scope+ #:+class-scope+ #:+function-scope+ #:+block-scope+
                #:+op-name+ #:+op-member+ #:+op-call+ #:+op-new+ #:+op-self+ #:+op-super+ #:+op-typeof+ #:+op-def+ #:+op-index+
                #:+op-array+ #:+op-element+ #:+op-either+
                #:draft-node-op #:draft-node-a #:draft-site-arity #:draft-def-to #:draft-def-name #:draft-def-kind
                #:draft-def-flags #:draft-def-from
                #:+parameter+ #:+optional-parameter+ #:+rest-parameter+ #:+variable+ #:+imported+
                #:+call+ #:+construct+ #:+super-call+
                #:+exported+ #:+private+ #:+static+ #:+test+ #:+local+ #:+generated+
                #:+relative+ #:+side-effect+ #:+extends+ #:+mixes-in+
                #:add-import #:add-heritage #:draft-test-end)
  (:import-from #:opl.languages.extractor #:define-extractor))
(in-package #:opl.languages.ruby)
(declaim (optimize (speed 1) (safety 1)) (sb-ext:muffle-conditions sb-ext:compiler-note))
(declaim (ftype function definition class-definition module-definition operand expression postfix block-body declared-by
                constant-definition test-suite class-body))

(deftype index () '(integer 0 #.(ash most-positive-fixnum -2)))

(defstruct (ruby (:include reading) (:predicate nil))
  (locals '() :type list)               ; names known to be local variables here
  (no-do nil)                           ; a `do' here belongs to something further out
  (static nil)                          ; within `class << self', or after `module_function'
  (hidden nil)                          ; after `private'
  (method +none+ :type node)            ; name of the method around
  (pending +none+ :type node))          ; the class whose body the next block is (Class.new, Struct.new)

(defmacro p () '(reading-p r))
(defmacro limit () '(reading-limit r))
(declaim (inline more-p))
(defun advance (r)
  (incf (p))
  (loop while (is r (p) "\\") do (incf (p))))
(defun more-p (r) (< (p) (limit)))

(defmacro with-bracket ((r open) &body body)
  "Runs BODY with the limit at the mate of the bracket at OPEN and the position after the bracket; then goes on
after the mate."
  (let ((close (gensym)) (limit (gensym)) (no-do (gensym)))
    `(let* ((,close (closer ,r ,open)) (,limit (reading-limit ,r)) (,no-do (ruby-no-do ,r)))
       (declare (type index ,close ,limit))
       (setf (reading-p ,r) (1+ ,open) (reading-limit ,r) ,close (ruby-no-do ,r) nil)
       (multiple-value-prog1 (progn ,@body)
         (setf (reading-limit ,r) ,limit (ruby-no-do ,r) ,no-do
               (reading-p ,r) (if (< ,close ,limit) (1+ ,close) ,limit))))))

;;; Statements

(defun walk (r closing &optional want)
  "Reads statements up to the limit or, when CLOSING, past the `end' that closes them; the last one's node."
  (declare (type ruby r))
  (let ((last +none+))
    (or (with-depth (r)
          (loop
            (unless (more-p r) (return last))
            (let ((from (p)))
              (cond ((is r from "end")
                     (advance r)
                     (when closing (return last)))
                    ((is r from "else" "elsif" "when" "then" "ensure" "do" "in" ";" "," "and" "or") (advance r))
                    ((is r from "rescue") (rescue-clause r))
                    ((and (is r from "if" "unless" "while" "until") (not (construct-p r from)))
                     (advance r)        ; a modifier: what follows is its condition
                     (expression r nil))
                    (t (setf last (statement r want))))
              (when (= (p) from) (advance r)))))
        (progn (skip-to-end r closing) +none+))))

(defun skip-to-end (r closing)
  "Too deep to be read: goes on to the limit, or past the next `end'."
  (loop while (more-p r)
        do (let ((i (p))) (advance r) (when (and closing (is r i "end")) (return)))))

(defun construct-p (r i)
  "Whether the `if' or its like at I opens a construct: an operand may begin there."
  (declare (type ruby r) (type index i))
  (loop while (and (plusp i) (is r (1- i) "\\")) do (decf i))
  (or (zerop i) (line-begins-p r i)
      (and (identifier-at-p r (1- i)) (is r (- i 2) "." "&.") (return-from construct-p nil))
      (is r (1- i) "=" "(" "[" "{" "${" "," ";" "then" "do" "else" "||" "&&" "and" "or" "not" "!" "=>" "+=" "||=" "&&=" "<<" "?" "|" "->"
          "begin" "ensure" "in" "+" "==" "when" "if" "unless" "while" "until" "case" "elsif")
      (and (is r (1- i) ":") (adjacent-p r (1- i)))))

(defun rescue-clause (r)
  "rescue A, B => e"
  (declare (type ruby r))
  (let ((line (line-at r (p))))
    (advance r)
    (loop while (and (more-p r) (= line (line-at r (p))) (not (is r (p) "then" ";")))
          do (let ((from (p)))
               (if (is r from "=>")
                   (progn (advance r) (when (identifier-at-p r (p)) (local r (name-at r (p))) (advance r)))
                   (expression r nil))
               (when (= (p) from) (advance r))))))

(defun local (r name &optional (value +none+))
  "NAME is a local variable from here on."
  (pushnew name (ruby-locals r))
  (bind r name +variable+ :value value))

(defun statement (r want)
  "One statement; its node or `nothing'."
  (declare (type ruby r))
  (let ((i (p)))
    (when (and (identifier-at-p r i) (is r (1+ i) ",")) (multiple-targets r i))
    (expression r want)))

(defun multiple-targets (r i)
  "a, b = …: the names are local variables."
  (declare (type ruby r) (type index i))
  (loop for j of-type index from i below (min (limit) (+ i 20))
        do (cond ((is r j "=")
                  (loop for k from i below j
                        do (when (and (identifier-at-p r k) (not (is r (1- k) "." "&." "::")) (not (is r (1+ k) "." "&." "::" "["))
                                      (not (name-begins-p r (name-at r k) 64)) (not (capitalised-p r (name-at r k))))
                             (local r (name-at r k))))
                  (return))
                 ((not (or (identifier-at-p r j) (is r j "," "*" "." "(" ")"))) (return)))))

;;; Expressions

(defun operator-p (r i)
  (is r i "+" "-" "*" "/" "%" "**" "==" "!=" "<" ">" "<=" ">=" "<=>" "===" "=~" "!~" "&&" "||" "<<" ">>" "&" "|" "^" ".." "..." "and" "or"
      "+=" "-=" "*=" "/=" "||=" "&&=" "|=" "&=" "%=" "!"))

(defun expression (r want)
  "Operands with operators between; the node, or `nothing'."
  (declare (type ruby r))
  (or (with-depth (r)
        (let ((left (operand r want)))
          (loop
            (let ((i (p)))
              (declare (type index i))
              (cond
                ((not (more-p r)) (return left))
                ((and (line-begins-p r i) (not (is r i "&&" "||" "." "&."))) (return left))
                ((is r i "||" "||=" "or")
                 (advance r)
                 (let ((right (operand r want)))
                   (setf left (cond ((= left +none+) right) ((= right +none+) left) (t (node r +op-either+ left right))))))
                ((is r i "?")
                 (advance r)
                 (let ((first (expression r want)))
                   (when (is r (p) ":") (advance r))
                   (let ((second (expression r want)))
                     (setf left (cond ((= first +none+) second) ((= second +none+) first) (t (node r +op-either+ first second)))))))
                ((operator-p r i)
                 (advance r)
                 (let ((from (p)))
                   (operand r nil)
                   (when (= (p) from) (return left))))
                ((is r i "=")           ; an element or attribute is assigned
                 (advance r)
                 (expression r nil)
                 (return left))
                (t (return left)))))))
      +none+))

(defun operand (r want)
  "One operand with all that is applied to it. Reads nothing where none stands."
  (declare (type ruby r))
  (let* ((i (p)) (kind (kind-at r i)))
    (declare (type index i))
    (cond
      ((not (more-p r)) +none+)
      ((= kind +identifier+) (word r i want))
      ((= kind +string+) (string-pieces r) (if (label-colon-p r) (progn (advance r) +none+) (postfix r (literal r want (known "str")))))
      ((or (= kind +number+) (= kind +regexp+) (= kind +character+)) (advance r) (postfix r (literal r want (known "int"))))
      ((is r i "(") (let ((value (with-bracket (r i) (walk r nil t)))) (postfix r value)))
      ((is r i "[") (with-bracket (r i) (arguments r nil)) (postfix r (literal r want (known "Array"))))
      ((is r i "{") (with-bracket (r i) (arguments r nil)) (postfix r (literal r want (known "Hash"))))
      ((is r i "->") (advance r) (lambda-parameters r) (block-if-any r) (postfix r +none+))
      ((is r i ":") (quoted-symbol r) (postfix r (literal r want (known "Symbol"))))
      ((is r i "::") (advance r) (if (more-p r) (operand r want) +none+))
      ((is r i "!" "-" "+" "~" "*" "&" "**" ".." "...") (advance r) (operand r want))
      (t +none+))))

(defun literal (r want type)
  (if want (literal-node r type) +none+))

(defun label-colon-p (r)
  (let ((i (p))) (and (more-p r) (is r i ":") (adjacent-p r i) (not (is r (1+ i) ":")))))

(defun quoted-symbol (r)
  "A symbol, or a `:' by itself."
  (declare (type ruby r))
  (advance r)
  (when (and (more-p r) (adjacent-p r (p)))
    (cond ((= (kind-at r (p)) +string+) (string-pieces r))
          ((is r (p) "[") (setf (p) (1+ (the index (closer r (p))))))
          (t (advance r)))
    (when (and (more-p r) (is r (p) "=") (adjacent-p r (p)) (not (is r (1+ (p)) ">"))
               (or (not (adjacent-p r (1+ (p)))) (is r (1+ (p)) "," ")" "]")))
      (advance r))))

(defun string-pieces (r)
  "A string, the code of its interpolations read."
  (declare (type ruby r))
  (let* ((i (p)) (mate (mate-at r i)))
    (declare (type index i))
    (if (or (= mate +none+) (< mate i))
        (advance r)
        (let ((last (min mate (limit))))
          (declare (type index last))
          (advance r)
          (loop while (< (p) last)
                do (if (is r (p) "${") (with-bracket (r (p)) (walk r nil)) (advance r)))
          (setf (p) last)
          (when (more-p r) (advance r))))
    ;; adjacent strings are one; what begins a line is a statement of its own or a heredoc's body
    (loop while (and (more-p r) (= (kind-at r (p)) +string+) (= (line-at r (p)) (line-at r i)) (not (adjacent-p r (p))))
          do (advance r))))

(defun word (r i want)
  "What begins with the identifier or keyword at I."
  (declare (type ruby r) (type index i))
  (if (and (is r (1+ i) ":") (adjacent-p r (1+ i)) (not (is r (1- i) "?")) (not (line-begins-p r (1+ i))))
      (progn (advance r) (advance r) +none+) ; a label
      (name-case (name-at r i)
        ("def" (definition r want))
        ("class" (class-definition r) +none+)
        ("module" (module-definition r) +none+)
        (("if" "unless" "case") (advance r) (let ((value (walk r t want))) (postfix r value)))
        ("begin" (advance r) (let ((value (walk r t want))) (postfix r value)))
        (("while" "until" "for") (loop-construct r) +none+)
        (("return" "break" "next" "redo" "retry") (advance r) (returned r (is r i "return")))
        (("not" "defined?") (advance r) (operand r nil) +none+)
        ("yield" (advance r) (call-arguments r) (postfix r +none+))
        ("super" (super-call r i))
        ("self" (advance r) (postfix r (self-node r)))
        (("nil" "true" "false" "__FILE__" "__LINE__" "__method__" "__dir__") (advance r) (postfix r +none+))
        (("alias" "undef") (advance r) (alias-words r) +none+)
        (("end" "else" "elsif" "when" "then" "ensure" "rescue" "do" "in" "and" "or") +none+)
        (("BEGIN" "END") (advance r) +none+)
        (t (name r i want)))))

(defun self-node (r)
  (if (or (ruby-static r) (and (/= (reading-owner r) +none+) (= (ruby-method r) +none+)))
      (if (= (reading-owner r) +none+) +none+ (node r +op-def+ (reading-owner r)))
      (node r +op-self+ (reading-scope r))))

(defun alias-words (r)
  "alias new old: names and symbols on the line."
  (let ((line (line-at r (p))))
    (loop while (and (more-p r) (= line (line-at r (p))) (not (is r (p) ";"))) do (advance r))))

(defun loop-construct (r)
  "while, until, for: the `do' on their line is theirs."
  (declare (type ruby r))
  (let ((for (is r (p) "for")) (no-do (ruby-no-do r)))
    (advance r)
    (setf (ruby-no-do r) t)
    (if for
        (progn
          (loop while (and (more-p r) (not (is r (p) "in")))
                do (when (identifier-at-p r (p)) (local r (name-at r (p)))) (advance r))
          (when (more-p r) (advance r))
          (expression r nil))
        (expression r nil))
    (loop while (and (more-p r) (is r (p) "and" "or" "&&" "||")) do (advance r) (expression r nil))
    (setf (ruby-no-do r) no-do)
    (when (is r (p) "do") (advance r))
    (walk r t)))

(defun ends-statement-p (r i)
  "Whether no operand can follow at I."
  (declare (type index i))
  (or (>= i (the index (limit))) (line-begins-p r i)
      (is r i ";" "if" "unless" "while" "until" "end" ")" "]" "}" "and" "or" "then" "do" "rescue" "else" "in" "," "?" ":" "=>" "=")))

(defun returned (r keep)
  (declare (type ruby r))
  (unless (ends-statement-p r (p))
    (let ((value (expression r keep)))
      (loop while (and (more-p r) (is r (p) ",")) do (advance r) (expression r nil))
      (when (and keep (/= value +none+) (/= (ruby-method r) +none+))
        (bind r (known "return") +variable+ :value value))))
  +none+)

(defun super-call (r i)
  (declare (type ruby r) (type index i))
  (advance r)
  (let* ((callee (if (= (ruby-method r) +none+)
                     +none+
                     (member-node r (node r +op-super+ (reading-scope r)) (ruby-method r))))
         (site (site r (name-at r i) (line-at r i) +super-call+ callee)))
    (call-arguments r)
    (block-if-any r)
    (postfix r (if (= callee +none+) +none+ (node r +op-call+ callee +none+ site)))))

;;; Names

(defun local-p (r name) (member name (ruby-locals r)))

(defun assigned-p (r i)
  "Whether the token at I is a plain `='."
  (declare (type index i))
  (and (is r i "=") (not (line-begins-p r i))))

(defun name (r i want)
  "A variable, constant or call that begins with the name at I."
  (declare (type ruby r) (type index i))
  (let ((name (name-at r i)))
    (advance r)
    (cond
      ((and (assigned-p r (p)) (not (is r (1- i) "." "&.")))
       (cond ((capitalised-p r name) (constant-definition r i name) +none+)
             (t (advance r)
                (let ((value (expression r t)))
                  (loop while (and (more-p r) (is r (p) ",") (not (is r (1- i) ",")) (not (is r (1- i) "(")))
                        do (advance r) (expression r nil))
                  (assign r name value)
                  value))))
      ((and (is r (p) "||=") (not (capitalised-p r name)))
       (advance r)
       (let ((value (expression r t))) (assign r name value) (if want (name-node r name) +none+)))
      ((or (name-begins-p r name 64) (name-begins-p r name 36)) (postfix r (name-node r name)))
      ((and (capitalised-p r name) (not (and (is r (p) "(") (adjacent-p r (p))))) (postfix r (name-node r name)))
      ((local-p r name) (postfix r (name-node r name)))
      (t (own-call r i name want)))))

(defun assign (r name value)
  "NAME is given VALUE: a local variable, or one of the instance, which is known all over the class."
  (declare (type ruby r))
  (cond ((name-begins-p r name 64)
         (let ((scope (class-scope r)))
           (when scope (bind r name +variable+ :scope scope :value value))))
        ((name-begins-p r name 36))
        (t (local r name value))))

(defun class-scope (r)
  (let ((owner (reading-owner r)))
    (and (/= owner +none+)
         (let ((scope (opl.source.facts:draft-def-body (reading-facts r) owner))) (and (/= scope +none+) scope)))))

(defun own-call (r i name want)
  "A call without a receiver of the method NAME at I, which was read."
  (declare (type ruby r) (type index i))
  (let ((declared (declared-by r i name)))
    (or declared
        (let* ((callee (name-node r name)) (site (site r name (line-at r i) +call+ callee)))
          (setf (draft-site-arity (reading-facts r) site) (call-arguments r))
          (test-suite r i name)
          (postfix r (if (or want (is r (p) "." "&.")) (node r +op-call+ callee +none+ site) +none+))))))

(defun operand-begins-p (r i)
  "Whether the token at I, after a method's name and a blank, begins an argument without parentheses."
  (declare (type ruby r) (type index i))
  (and (< i (the index (limit))) (not (line-begins-p r i)) (not (adjacent-p r i))
       (let ((kind (kind-at r i)) (tight (adjacent-p r (1+ i))))
         (cond
           ((= kind +identifier+)
            (or (and (is r (1+ i) ":") (adjacent-p r (1+ i)))
                (not (is r i "and" "or" "then" "do" "end" "if" "unless" "while" "until" "rescue" "in" "else" "elsif" "when" "ensure"))))
           ((or (= kind +string+) (= kind +number+) (= kind +regexp+) (= kind +character+)) t)
           ((is r i "->" "!" "~") t)
           ((is r i ":" "::") tight)
           ((is r i "[" "(") t)
           ((is r i "*" "&" "-" "**") tight)))))

(defun call-arguments (r)
  "The arguments of the call whose name was read, and its block. The number of arguments."
  (declare (type ruby r))
  (let ((i (p)) (count 0))
    (cond
      ((not (more-p r)))
      ((and (is r i "(") (adjacent-p r i)) (setf count (with-bracket (r i) (arguments r nil))))
      ((operand-begins-p r i)
       (let ((no-do (ruby-no-do r)))
         (setf (ruby-no-do r) t)
         (setf count (arguments r t))
         (setf (ruby-no-do r) no-do))))
    count))

(defun arguments (r command)
  "Arguments with commas between, to the limit, or when COMMAND to the end of the statement. Their number."
  (declare (type ruby r))
  (let ((count 0))
    (loop
      (unless (more-p r) (return count))
      (let ((from (p)))
        (when (is r from "*" "**" "&") (advance r))
        (expression r nil)
        (when (and (more-p r) (is r (p) "=>")) (advance r) (expression r nil))
        (when (and (label-read-p r) (not (ends-statement-p r (p))) ) (expression r nil))
        (incf count)
        (cond ((and (more-p r) (is r (p) ",")) (advance r))
              (command (return count))
              ((is r (p) "if" "unless" "for") (walk r nil))
              ((= (p) from) (advance r)))))))

(defun label-read-p (r)
  "Whether what was read last is a label, whose value follows."
  (let ((i (p))) (and (> i 1) (is r (1- i) ":") (adjacent-p r (1- i)))))

;;; Members, calls, indices, blocks

(defun chain-goes-on-p (r i)
  (declare (type index i))
  (and (is r i "." "&.") (< (1+ i) (the index (limit)))
       (or (not (line-begins-p r i)) (adjacent-p r (1+ i)))))

(defun postfix (r value)
  "What is applied to VALUE, a node or `nothing'."
  (declare (type ruby r) (type node value))
  (loop
    (let ((i (p)))
      (declare (type index i))
      (cond
        ((not (more-p r)) (return value))
        ((chain-goes-on-p r i)
         (advance r)
         (setf value (if (is r (p) "(") (progn (call-arguments r) +none+) (method-call r value))))
        ((and (is r i "::") (adjacent-p r i) (identifier-at-p r (1+ i)))
         (advance r)
         (let ((name (name-at r (p))))
           (if (and (capitalised-p r name) (not (and (is r (1+ (p)) "(") (adjacent-p r (1+ (p))))))
               (progn
                 (advance r)
                 (setf value (if (= value +none+) +none+ (member-node r value name 1)))
                 (when (assigned-p r (p)) (constant-definition r (1- (p)) name)))
               (setf value (method-call r value)))))
        ((and (is r i "[") (adjacent-p r i))
         (with-bracket (r i) (arguments r nil))
         (setf value (if (= value +none+) +none+ (node r +op-index+ value +none+))))
        ((and (or (is r i "{") (and (is r i "do") (not (ruby-no-do r)))) (call-precedes-p r i))
         (block-body r value))
        (t (return value))))))

(defun call-precedes-p (r i)
  "Whether a block may follow what stands before I."
  (declare (type ruby r) (type index i))
  (and (not (line-begins-p r i))
       (or (is r i "do")
           (is r (1- i) ")")
           (and (identifier-at-p r (1- i)) (not (is r (1- i) "nil" "true" "false" "self"))
                (not (and (capitalised-p r (name-at r (1- i))) (not (is r (- i 2) "." "&.")))))
           (= (kind-at r (1- i)) +identifier+))))

(defun method-call (r receiver)
  "The method whose name is in hand is called on RECEIVER."
  (declare (type ruby r) (type node receiver))
  (let* ((i (p)) (name (name-at r i)))
    (declare (type index i))
    (advance r)
    (cond
      ((not (identifier-at-p r i)) +none+)
      ((and (assigned-p r (p)) (not (is r (1+ (p)) "="))) ; an attribute is assigned
       (advance r)
       (expression r nil)
       +none+)
      ((and (= name (known "class")) (/= receiver +none+) (= (draft-node-op (reading-facts r) receiver) +op-self+)
            (/= (reading-owner r) +none+))
       (node r +op-def+ (reading-owner r)))
      (t
       (let* ((new (and (= name (known "new")) (/= receiver +none+)))
              (callee (cond (new receiver) ((= receiver +none+) +none+) (t (member-node r receiver name))))
              (site (site r name (line-at r i) (if new +construct+ +call+) callee)))
         (setf (draft-site-arity (reading-facts r) site) (call-arguments r))
         (test-suite r i name)
         (cond ((= callee +none+) +none+)
               (new (node r +op-new+ callee +none+ site))
               (t (node r +op-call+ callee +none+ site))))))))

(defun block-if-any (r)
  (declare (type ruby r))
  (when (and (more-p r) (or (is r (p) "{") (and (is r (p) "do") (not (ruby-no-do r)))))
    (block-body r +none+)))

(defun lambda-parameters (r)
  "(a, b) or a, b between -> and its block."
  (declare (type ruby r))
  (loop while (and (more-p r) (not (is r (p) "{" "do")))
        do (when (identifier-at-p r (p)) (local r (name-at r (p))))
           (advance r)))

(defun block-body (r receiver)
  "A block in braces or do … end. RECEIVER: what its call's value is, whose elements it may be given."
  (declare (type ruby r) (ignore receiver))
  (let* ((i (p)) (scope (reading-scope r)) (locals (ruby-locals r)) (no-do (ruby-no-do r)) (pending (ruby-pending r))
         (inner (if (= pending +none+) (open-scope r +block-scope+) +none+)))
    (declare (type index i))
    (flet ((read-body ()
             (if (is r i "{")
                 (with-bracket (r i) (block-parameters r) (walk r nil))
                 (progn (advance r) (setf (ruby-no-do r) nil) (block-parameters r) (walk r t)))))
      (cond ((= pending +none+)
             (setf (reading-scope r) inner)
             (read-body)
             (setf (reading-scope r) scope))
            (t (setf (ruby-pending r) +none+)
               (class-body r pending #'read-body))))
    (setf (ruby-locals r) locals (ruby-no-do r) no-do)))

(defun block-parameters (r)
  "|a, (b, c), *d; e|"
  (declare (type ruby r))
  (when (and (more-p r) (is r (p) "|"))
    (advance r)
    (let ((index 0))
      (loop while (and (more-p r) (not (is r (p) "|")))
            do (let ((i (p)))
                 (when (and (identifier-at-p r i) (or (is r (1- i) "|" "," "(" "*" "**" "&" ";")))
                   (pushnew (name-at r i) (ruby-locals r))
                   (bind r (name-at r i) +parameter+ :scope (reading-scope r) :index index)
                   (incf index))
                 (advance r))))
    (advance r))
  (when (and (more-p r) (is r (p) "||")) (advance r)))
