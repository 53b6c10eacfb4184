;;;; Ruby: a walk over statements. What opens with a keyword ends with `end'; a keyword after an expression on
;;;; the same line is a modifier and opens nothing. Definitions are read by ruby-definitions.lisp, which shares
;;;; this package because they call each other, and calls by ruby-calls.lisp.

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
                constant-definition test-suite class-body name own-call call-arguments arguments
               block-if-any lambda-parameters method-call))

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
  "As within-bracket, and a `do' within belongs to what stands there."
  `(preserving (,r ruby-no-do)
     (setf (ruby-no-do ,r) nil)
     (within-bracket (,r ,open) ,@body)))

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
  (let ((i (p)))
    (declare (type index i))
    (over-string (r advance) (with-bracket (r (p)) (walk r nil)))
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
