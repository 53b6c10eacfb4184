;;;; PHP: statements are told by their first word, expressions are read for calls, constructions and the types
;;;; of variables. Declarations are read by php-declarations.lisp and php-classes.lisp, which share this package because they
;;;; call each other (closures and anonymous classes are expressions that hold statements).

(defpackage #:opl.languages.php
  (:use #:cl #:opl.languages.reading)
  (:import-from #:opl.source.names #:+none+ #:known #:name-case #:intern-octets #:octets-string)
  (:import-from #:opl.source.tokens #:tokens-octets #:token-start #:token-end #:+string+ #:+identifier+ #:+number+ #:+punctuation+
                #:comment-start #:comment-end #:tokens-comment-count)
  (:import-from #:opl.source.facts #:+module-scope+ #:+class-scope+ #:+function-scope+ #:+block-scope+
                #:+op-name+ #:+op-member+ #:+op-call+ #:+op-new+ #:+op-self+ #:+op-super+ #:+op-def+ #:+op-index+ #:+op-union+
                #:+op-array+ #:+op-element+ #:+op-either+ #:+op-function+ #:+op-typeof+ #:+op-literal+
                #:draft-node-op #:draft-node-a #:draft-node-b #:draft-site-arity #:draft-def-to #:draft-def-from #:draft-def-name
                #:draft-def-type #:draft-def-flags #:draft-def-end
                #:+parameter+ #:+optional-parameter+ #:+rest-parameter+ #:+variable+ #:+imported+ #:+defined+
                #:+call+ #:+construct+
                #:+exported+ #:+private+ #:+static+ #:+abstract+ #:+test+ #:+local+ #:+generated+
                #:+relative+ #:+side-effect+ #:+extends+ #:+implements+ #:+mixes-in+
                #:add-import #:add-heritage #:draft-test-end)
  (:import-from #:opl.languages.extractor #:define-extractor))
(in-package #:opl.languages.php)
(declaim (optimize (speed 1) (safety 1)) (sb-ext:muffle-conditions sb-ext:compiler-note))
(declaim (ftype function expression postfix statements closure arrow-function anonymous-class enter-block class-like traits constants test-call-p test-call test-method))

(defstruct (php (:include reading) (:predicate nil))
  (class-body +none+ :type node)        ; scope of the class whose method is read
  (class +none+ :type node))            ; that class

(declaim (inline advance more-p))
(define-steps p limit advance r)
(defun more-p (r) (< (p) (limit)))

(defun skip-attribute (r)
  "Past `#[…]', whose arguments are read."
  (advance r)
  (within-bracket (r (p))
    (loop while (more-p r) do (let ((from (p))) (expression r nil) (when (= (p) from) (advance r))))))

;;; Names and types

(defun name-length-at (r i)
  "Number of tokens of the (qualified) name at I: \\A\\B, A\\B, A."
  (declare (type index i))
  (let ((end i))
    (declare (type index end))
    (when (is r end "\\") (incf end))
    (loop (if (and (identifier-at-p r end) (not (name-begins-p r (name-at r end) 36))) (incf end) (return))
          (if (and (is r end "\\") (identifier-at-p r (1+ end))) (incf end) (return)))
    (- end i)))

(defun name-text (r from to)
  "The number of the name that the tokens [FROM, TO) write."
  (declare (type index from to))
  (if (= to (1+ from))
      (name-at r from)
      (let ((tokens (reading-tokens r)))
        (intern-octets (reading-names r) (tokens-octets tokens) (token-start tokens from) (token-end tokens (1- to))))))

(defun class-node (r name)
  "The node of a class called NAME; self, static and parent are those around."
  (name-case name
    (("self" "static")
     (if (= (php-class r) +none+) +none+ (node r +op-def+ (php-class r))))
    ("parent" (node r +op-super+ (reading-scope r)))
    (t (name-node r name))))

(defun read-type (r)
  "Reads a type; its node: ?A, A|B, (A&B)|null, \\A\\B."
  (declare (type php r))
  (let ((cells +none+) (count 0))
    (loop
      (let ((i (p)))
        (declare (type index i))
        (cond ((is r i "?" "|" "&" "(" ")") (when (and (is r i "&") (zerop (the index (name-length-at r (1+ i))))) (return))
               (when (and (is r i ")") (zerop count)) (return))
               (advance r))
              ((plusp (the index (name-length-at r i)))
               (unless (or (zerop count) (is r (1- i) "|" "&" "(" "?")) (return))
               (let ((end (+ i (the index (name-length-at r i)))))
                 (setf (p) end)
                 (let ((type (type-node r (name-text r i end))))
                   (incf count)
                   (unless (= type +none+) (setf cells (cell r type cells))))))
              (t (return)))))
    (cond ((= cells +none+) +none+)
          ((= (draft-node-b (reading-facts r) cells) +none+) (draft-node-a (reading-facts r) cells))
          (t (node r +op-union+ (reverse-cells r cells))))))

(defun type-node (r name)
  (name-case name
    (("null" "void" "never" "mixed") +none+)
    (("int" "float" "string" "bool" "array" "callable" "iterable" "object" "false" "true") (literal-node r name))
    ("self" (if (= (php-class r) +none+) +none+ (node r +op-self+ (php-class-body r))))
    ("static" (literal-node r (known "this"))) ; whatever it is called on
    ("parent" (node r +op-super+ (reading-scope r)))
    (t (name-node r name))))

;;; Expressions

(defun expression (r want)
  "Operands with operators between; the node of what it may be, or `nothing'. Stops at a comma, a semicolon or
a closing bracket."
  (declare (type php r))
  (or (with-depth (r)
        (let ((left (operand r want)))
          (loop
            (let ((i (p)))
              (declare (type index i))
              (cond
                ((not (more-p r)) (return left))
                ((is r i "," ";" ")" "]" "}" ":" "=>") (return left))
                ((and (is r i "=") (not (is r (1+ i) "=")))
                 (advance r)
                 (let ((value (expression r t))) (assign r (1- i) value) (setf left value)))
                ((is r i "??=")
                 (advance r)
                 (let ((value (expression r t))) (assign r (1- i) value) (setf left value)))
                ((is r i "??" "?:" "||" "or")
                 (advance r)
                 (setf left (either r left (operand r want))))
                ((is r i "?")
                 (advance r)
                 (let ((first (if (is r (p) ":") left (expression r want))))
                   (when (is r (p) ":") (advance r))
                   (setf left (either r first (or (operand r want) +none+)))))
                ((is r i "instanceof") (advance r) (setf (p) (+ (p) (max 1 (the index (name-length-at r (p)))))) (setf left +none+))
                ((and (= (kind-at r i) +punctuation+) (not (is r i "(" "[" "{" "#" "$")))
                 (advance r)
                 (let ((from (p))) (operand r nil) (when (and (= (p) from) (not (more-p r))) (return left))))
                ((is r i "and" "xor" "as" "insteadof") (advance r))
                (t (return left)))))))
      +none+))

(defun either (r left right)
  (cond ((= left +none+) right) ((= right +none+) left) (t (node r +op-either+ left right))))

(defun assign (r i value)
  "What ends with token I is given VALUE: a variable, or an attribute of $this."
  (declare (type php r) (type fixnum i))
  (when (and (>= i 0) (/= value +none+) (identifier-at-p r i))
    (cond ((and (name-begins-p r (name-at r i) 36) (not (is r (1- i) "::")))
           (bind r (name-at r i) +variable+ :value value))
          ((and (is r (1- i) "->") (is r (- i 2) "$this") (/= (php-class-body r) +none+))
           (bind r (name-at r i) +variable+ :scope (php-class-body r) :value value)))))

(defun operand (r want)
  (declare (type php r))
  (let* ((i (p)) (kind (kind-at r i)))
    (declare (type index i))
    (cond
      ((not (more-p r)) +none+)
      ((= kind +identifier+) (word r i want))
      ((= kind +string+) (string-pieces r) (postfix r (if want (literal-node r (known "string")) +none+)))
      ((= kind +number+) (advance r) +none+)
      ((is r i "(")
       (postfix r (or (within-bracket (r i)
                        (let ((value +none+))
                          (loop while (more-p r) do (let ((from (p))) (setf value (expression r want)) (when (= (p) from) (advance r))))
                          value))
                      +none+)))
      ((is r i "[") (let ((value (array-items r i want))) (if (assigned-list-p r) +none+ (postfix r value))))
      ((is r i "#") (skip-attribute r) (operand r want))
      ((is r i "\\") (word r i want))
      ((is r i "!" "-" "+" "~" "&" "@" "..." "++" "--") (advance r) (operand r want))
      ((is r i "$") (advance r) (when (is r (p) "{") (arguments r (p))) +none+)
      (t +none+))))

(defun assigned-list-p (r) (and (is r (p) "=") (not (is r (1+ (p)) "="))))

(defun array-items (r open want)
  (declare (type index open))
  (let ((first +none+) (seen nil))
    (within-bracket (r open)
      (loop while (more-p r)
            do (let ((from (p)) (value (expression r (and want (not seen)))))
                 (when (is r (p) "=>") (advance r) (setf value (expression r (and want (not seen)))))
                 (unless seen (setf first value seen t))
                 (when (or (= (p) from) (is r (p) ",")) (advance r)))))
    (if want (node r +op-array+ (cell r first +none+)) +none+)))

(defun string-pieces (r)
  "A string, the code of its interpolations read."
  (declare (type php r))
  (over-string (r advance)
    (within-bracket (r (p)) (loop while (more-p r) do (let ((from (p))) (expression r nil) (when (= (p) from) (advance r)))))))

(defun word (r i want)
  "What begins with the identifier, keyword or `\\' at I."
  (declare (type php r) (type index i))
  (name-case (name-at r i)
    (("new") (construction r want))
    (("function") (closure r want))
    (("fn") (arrow-function r want))
    (("static")
     (cond ((is r (1+ i) "function" "fn") (advance r) (operand r want))
           (t (named r i want))))
    (("clone") (advance r) (operand r want))
    (("print" "echo" "throw" "yield" "return" "include" "include_once" "require" "require_once" "await")
     (inclusion r i)
     (advance r)
     (when (is r (p) "from") (advance r))
     (expression r want))
    ("match" (if (is r (1+ i) "(") (match r want) (named r i want)))
    (("true" "false" "null" "TRUE" "FALSE" "NULL") (advance r) +none+)
    (("as" "instanceof" "and" "or" "xor") +none+)
    ("$this" (advance r) (postfix r (if (= (php-class-body r) +none+) +none+ (node r +op-self+ (php-class-body r)))))
    (t (cond ((name-begins-p r (name-at r i) 36)
              (advance r)
              (postfix r (name-node r (name-at r i))))
             (t (named r i want))))))

(defun inclusion (r i)
  "include and require with a literal path are imports."
  (declare (type index i))
  (when (is r i "include" "include_once" "require" "require_once")
    (loop with directory = nil
          for j of-type index from (1+ i) below (min (the index (limit)) (+ i 8))
          do (cond ((is r j "__DIR__" "dirname") (setf directory t))
                   ((is r j ";") (return))
                   ((and (= (kind-at r j) +string+) (= (mate-at r j) +none+))
                    (add-import (reading-facts r) +none+ (known "*") (intern-text r (string-left-trim "/" (text-of r j))) 0
                                (logior +side-effect+ (if directory +relative+ 0)) (line-at r i))
                    (return))))))

(defun match (r want)
  (declare (type php r))
  (advance r)
  (arguments r (p))
  (let ((value +none+))
    (when (is r (p) "{")
      (within-bracket (r (p))
        (loop while (more-p r)
              do (let ((from (p)))
                   (expression r nil)
                   (when (is r (p) "=>") (advance r) (setf value (either r value (expression r want))))
                   (when (or (= (p) from) (is r (p) ",")) (advance r))))))
    value))

(defun named (r i want)
  "A function, class or constant that begins with the name at I."
  (declare (type php r) (type index i))
  (let* ((length (name-length-at r i)) (end (+ i (max 1 length))) (name (name-text r i end)) (last (1- end)))
    (declare (type index length end last))
    (setf (p) end)
    (cond
      ((zerop length) +none+)
      ((is r end "(")
       (let* ((callee (name-node r name)) (site (site r (name-at r last) (line-at r last) +call+ callee)))
         (setf (draft-site-arity (reading-facts r) site) (arguments r end))
         (postfix r (if (or want (is r (p) "->" "?->")) (node r +op-call+ callee +none+ site) +none+))))
      ((is r end "::") (postfix r (class-node r name)))
      (t +none+))))

(defun construction (r want)
  "new A(…), new class(…) { … }, new $x(…)"
  (declare (type php r) (ignore want))
  (advance r)
  (loop while (is r (p) "#") do (skip-attribute r))
  (when (and (is r (p) "readonly") (is r (1+ (p)) "class")) (advance r))
  (let ((i (p)))
    (declare (type index i))
    (cond
      ((is r i "class") (postfix r (anonymous-class r)))
      ((is r i "(") (let ((value (operand r nil))) (when (is r (p) "(") (arguments r (p))) (postfix r value)))
      ((and (identifier-at-p r i) (name-begins-p r (name-at r i) 36))
       (advance r)
       (loop while (and (is r (p) "->" "::") (identifier-at-p r (1+ (p)))) do (incf (p) 2))
       (when (is r (p) "[") (array-items r (p) nil))
       (when (is r (p) "(") (arguments r (p)))
       (postfix r +none+))
      (t
       (let* ((end (+ i (the index (name-length-at r i)))))
         (declare (type index end))
         (if (= end i)
             +none+
             (let* ((last (1- end)) (class (class-node r (name-text r i end)))
                    (site (site r (name-at r last) (line-at r last) +construct+ class)))
               (setf (p) end)
               (setf (draft-site-arity (reading-facts r) site) (if (is r end "(") (arguments r end) 0))
               (postfix r (if (= class +none+) +none+ (node r +op-new+ class +none+ site))))))))))

(defun arguments (r open)
  "Reads the arguments in the bracket at OPEN. Their number."
  (declare (type php r) (type index open))
  (let ((count 0))
    (within-bracket (r open)
      (loop while (more-p r)
            do (let ((from (p)))
                 (when (and (identifier-at-p r from) (is r (1+ from) ":") (not (is r (1+ from) "::"))) (setf (p) (+ from 2)))
                 (expression r nil)
                 (incf count)
                 (when (or (= (p) from) (is r (p) ",")) (advance r)))))
    count))

(defun postfix (r value)
  "Members, calls and indices of VALUE, a node or `nothing'."
  (declare (type php r) (type node value))
  (loop
    (let ((i (p)))
      (declare (type index i))
      (cond
        ((not (more-p r)) (return value))
        ((is r i "->" "?->" "::")
         (advance r)
         (setf value (member-or-call r value (is r i "::"))))
        ((is r i "[")
         (array-items r i nil)
         (setf value (if (= value +none+) +none+ (node r +op-index+ value +none+))))
        ((is r i "(")
         (arguments r i)
         (setf value (if (= value +none+) +none+ (node r +op-call+ value +none+ +none+))))
        ((is r i "++" "--") (advance r))
        (t (return value))))))

(defun member-or-call (r object static)
  "The member in hand of OBJECT."
  (declare (type php r) (type node object))
  (let ((i (p)))
    (declare (type index i))
    (cond
      ((is r i "{") (within-bracket (r i) (expression r nil)) (when (is r (p) "(") (arguments r (p))) +none+)
      ((not (identifier-at-p r i)) (when (is r i "$") (advance r)) +none+)
      (t
       (advance r)
       (let ((name (name-at r i)))
         (cond
           ((is r (p) "(")
            (let* ((callee (if (= object +none+) +none+ (member-node r object name (if static 1 +none+))))
                   (site (site r name (line-at r i) +call+ callee)))
              (setf (draft-site-arity (reading-facts r) site) (arguments r (p)))
              (if (= callee +none+) +none+ (node r +op-call+ callee +none+ site))))
           ((= object +none+) +none+)
           ((and static (is r i "class")) object)
           ((and static (name-begins-p r name 36))
            (member-node r object (intern-text r (subseq (text-of r i) 1)) 1))
           ((name-begins-p r name 36) +none+) ; a member whose name is in a variable
           (t (member-node r object name (if static 1 +none+)))))))))
