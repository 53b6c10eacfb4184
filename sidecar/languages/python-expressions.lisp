;;;; Python's expressions: targets, operators, calls. What stands between the operators is read by python-primaries.lisp
;;;; and the types of annotations by python-types.lisp, in this package. Statements are python.lisp's business.

(defpackage #:opl.languages.python-expressions
  (:use #:cl #:opl.languages.reading)
  (:import-from #:opl.source.names #:+none+ #:known #:name-case)
  (:import-from #:opl.source.tokens #:+identifier+ #:+punctuation+ #:+string+ #:+number+ #:token-start #:token-end
                #:tokens-octets)
  (:import-from #:opl.source.facts #:+op-name+ #:+op-member+ #:+op-call+ #:+op-index+ #:+op-literal+ #:+op-await+
                #:+op-apply+ #:+op-function+ #:+op-union+ #:+op-element+ #:+op-property+ #:+op-either+ #:+op-array+
                #:+op-tuple+ #:+op-typeof+ #:+op-super+ #:+op-cast+ #:+op-spread+ #:+op-callback+ #:draft-node-op #:draft-node-a
           #:draft-node-b
                #:draft-site-arity #:draft-site-arguments #:draft-node-c
                #:+call+ #:+parameter+ #:+optional-parameter+ #:+rest-parameter+ #:+variable+ #:+block-scope+
                #:+function-scope+ #:+defined+ #:add-binding)
  (:export #:python #:python-receiver #:python-class #:python-class-body #:python-elsewhere
           #:python-mode #:advance #:expression #:expressions #:annotation #:bind-targets #:skip-to #:parameters
           #:element-of #:statement-end))
(in-package #:opl.languages.python-expressions)
(declaim (optimize (speed 2) (safety 1)) (sb-ext:muffle-conditions sb-ext:compiler-note))

(declaim (ftype function lambda-expression annotation primary subscript type-variable comprehension string-pieces))

(defstruct (python (:include reading) (:predicate nil))
  (receiver +none+ :type node)          ; name of the parameter that stands for the instance
  (class +none+ :type node)             ; the class it is an instance of
  (class-body +none+ :type node)        ; that class's scope
  (mode :module)                        ; where names are bound: :module :class :function
  (elsewhere '() :type list))           ; (name . scope) of `global' and `nonlocal'

(declaim (inline advance))
(defun advance (r)
  "Past the token in hand and the backslash that joins two lines."
  (declare (type reading r))
  (incf (reading-p r))
  (loop while (is r (reading-p r) "\\") do (incf (reading-p r))))

(defmacro p () '(reading-p r))
(defmacro limit () '(reading-limit r))

(defun statement-end (r i)
  "The first token after the logical line of token I."
  (declare (type python r) (type index i))
  (let ((count (limit)))
    (declare (type index count))
    (loop
      (let ((mate (mate-at r i)))
        (when (and (/= mate +none+) (> mate i)) (setf i mate)))
      (incf i)
      (when (>= i count) (return count))
      (when (and (/= (line-at r i) (line-at r (1- i)))
                 (> (line-at r i) (the index (last-line r i)))
                 (not (is r (1- i) "\\")))
        (return i)))))

;;; Lists in brackets

(defmacro do-items ((r open &key (separators '(","))) &body body)
  "Runs BODY for each item between the bracket at OPEN and its mate, the position being at the item; BODY
reads it. The position is after the bracket then."
  (let ((close (gensym)) (limit (gensym)) (from (gensym)))
    `(let* ((,close (closer ,r ,open)) (,limit (reading-limit ,r)))
       (declare (type index ,close ,limit))
       (setf (reading-p ,r) ,open (reading-limit ,r) ,close)
       (advance ,r)
       (loop while (< (reading-p ,r) ,close)
             do (if (is ,r (reading-p ,r) ,@separators)
                    (advance ,r)
                    (let ((,from (reading-p ,r)))
                      ,@body
                      (when (= (reading-p ,r) ,from) (advance ,r)))))
       (setf (reading-p ,r) (min ,close ,limit) (reading-limit ,r) ,limit)
       (when (< (reading-p ,r) ,limit) (advance ,r)))))

(defun comprehension-at (r open)
  "The `for' of the comprehension in the bracket at OPEN, or nil."
  (declare (type python r) (type index open))
  (let ((close (closer r open)))
    (declare (type index close))
    (loop with i of-type index = (1+ open)
          while (< i close)
          do (let ((mate (mate-at r i)))
               (cond ((and (/= mate +none+) (> mate i)) (setf i (1+ mate)))
                     ((and (is r i "for") (> i (1+ open))) (return i))
                     ((is r i ",") (return nil))
                     (t (incf i)))))))

(defun skip-to (r from limit name)
  "The first token from FROM on that reads NAME (a name number) outside brackets, or LIMIT."
  (declare (type python r) (type index from limit) (type node name))
  (loop with i of-type index = from
        while (< i limit)
        do (let ((mate (mate-at r i)))
             (cond ((and (= (name-at r i) name) (<= (kind-at r i) +punctuation+)) (return i))
                   ((and (/= mate +none+) (> mate i)) (setf i (1+ mate)))
                   (t (incf i))))
        finally (return limit)))

;;; Targets

(defun element-of (r value)
  "The node of what iterating over the node VALUE gives; +none+ for +none+."
  (if (= value +none+) +none+ (node r +op-element+ value +none+)))

(defun item-of (r value k)
  "The node of the K-th item of VALUE, which is taken apart."
  (declare (type node value) (type index k))
  (let ((facts (reading-facts r)))
    (cond ((= value +none+) +none+)
          ((= (draft-node-op facts value) +op-tuple+)
           (loop for cell = (draft-node-a facts value) then (draft-node-b facts cell)
                 for i of-type index from 0
                 until (= cell +none+)
                 when (= i k) do (return (draft-node-a facts cell))
                 finally (return +none+)))
          (t (node r +op-index+ value (node r +op-literal+ (known "int") k))))))

(defun bind-local (r i type value scope)
  "Binds the name at token I where the statement in hand binds names."
  (declare (type python r))
  (let* ((name (name-at r i)) (elsewhere (and (python-elsewhere r) (assoc name (python-elsewhere r)))))
    (cond (elsewhere (bind r name +variable+ :scope (cdr elsewhere) :type type :value value))
          (scope (bind r name +variable+ :scope scope :type type :value value))
          ((eq (python-mode r) :function) (bind r name +variable+ :type type :value value))
          (t (define r name (cond ((eq (python-mode r) :class) (known "field"))
                                  ((constant-name-p r name) (known "constant"))
                                  (t (known "variable")))
               i :type type :value value :end (last-line r (limit)) :flags (visibility r name))))))

(defun visibility (r name)
  (if (name-begins-p r name 95) opl.source.facts:+private+
      (if (eq (python-mode r) :module) opl.source.facts:+exported+ 0)))

(defun constant-name-p (r name)
  "Whether NAME is written in capitals."
  (let ((names (reading-names r)))
    (and (capitalised-p r name)
         (loop for i of-type index below (the index (opl.source.names:name-length names name))
               never (<= 97 (the (unsigned-byte 8) (opl.source.names:name-octet names name i)) 122)))))

(defun bind-target (r from to type value scope)
  "Binds the single target in [FROM, TO)."
  (declare (type python r) (type index from to))
  (loop while (and (< from to) (is r from "*" "\\")) do (incf from))
  (cond ((>= from to))
        ((is r from "(" "[")
         (when (= (the index (closer r from)) (1- to)) (bind-targets r (1+ from) (1- to) type value scope)))
        ((not (identifier-at-p r from)))
        ((= (1+ from) to) (bind-local r from type value scope))
        ((and (= (+ from 3) to) (is r (1+ from) ".") (identifier-at-p r (+ from 2)) (null scope)
              (= (name-at r from) (python-receiver r)) (/= (python-class r) +none+))
         (let ((name (name-at r (+ from 2))))
           (define r name (known "field") (+ from 2)
             :from from :parent (python-class r) :scope (python-class-body r) :type type :value value
             :end (last-line r (limit)) :flags (if (name-begins-p r name 95) opl.source.facts:+private+ 0))))))

(defun bind-targets (r from to &optional (type +none+) (value +none+) scope)
  "Binds what stands in [FROM, TO): a target or several with commas. SCOPE: where, nil for where the statement
in hand binds names; there, attributes of the instance become fields."
  (declare (type python r) (type index from to) (type node type value))
  (let ((comma (skip-to r from to (known ","))))
    (declare (type index comma))
    (if (= comma to)
        (bind-target r from to type value scope)
        (loop for k of-type index from 0
              while (< from to)
              do (bind-target r from comma type (item-of r value k) scope)
                 (setf from (min to (1+ comma))
                       comma (skip-to r from to (known ",")))))))

;;; Expressions. WANT: whether the node is of use; otherwise `nothing' may come back.

(defun list-node (r element) (node r +op-array+ (cell r element +none+)))

(defun either (r left right)
  (cond ((= left +none+) right) ((= right +none+) left) (t (node r +op-either+ left right))))

(defun expression (r want)
  "Reads one expression; its node, or `nothing'."
  (declare (type python r))
  (with-depth (r +none+)
    (let ((from (p)))
      (declare (type index from))
      (cond
        ((>= from (limit)) +none+)
        ((is r from "lambda") (lambda-expression r want))
        ((is r from "yield") (yield-expression r))
        ((is r from "*" "**")
         (advance r)
         (let ((inner (expression r want))) (if want (node r +op-spread+ inner) +none+)))
        (t
         (let ((left (operation r want)))
           (declare (type node left))
           (cond ((and (is r (p) "if") (< (p) (limit)))
                  (advance r)
                  (operation r nil)
                  (when (and (is r (p) "else") (< (p) (limit)))
                    (advance r)
                    (let ((right (or (expression r want) +none+)))
                      (when want (setf left (either r left right)))))
                  left)
                 ((and (is r (p) ":=") (< (p) (limit)) (= (p) (1+ from)) (identifier-at-p r from))
                  (advance r)
                  (let ((value (or (expression r t) +none+)))
                    (bind-local r from +none+ value nil)
                    value))
                 (t left))))))))

(defun yield-expression (r)
  (declare (type python r))
  (advance r)
  (when (is r (p) "from") (advance r))
  (when (< (p) (limit))
    (let ((value (expressions r (eq (python-mode r) :function))))
      (when (and (/= value +none+) (eq (python-mode r) :function))
        (bind r (known "yield") +variable+ :value value))))
  +none+)

(defun expressions (r want)
  "Reads expressions with commas between; their node, a tuple's when there is a comma."
  (declare (type python r))
  (let ((first (or (expression r want) +none+)) (cells +none+))
    (when (and (< (p) (limit)) (is r (p) ","))
      (when want (setf cells (cell r first +none+)))
      (loop while (and (< (p) (limit)) (is r (p) ","))
            do (advance r)
               (let ((from (p)) (next (or (expression r want) +none+)))
                 (when (= (p) from) (return))
                 (when want (setf cells (cell r next cells)))))
      (when want (setf first (node r +op-tuple+ (reverse-cells r cells)))))
    first))

(defun operation (r want)
  "Operands with operators between. Precedence does not matter to what is asked of them."
  (declare (type python r))
  (let ((left (operand r want)))
    (declare (type node left))
    (loop
      (when (>= (p) (limit)) (return left))
      (let ((i (p)))
        (declare (type index i))
        (cond
          ((is r i "or")
           (advance r)
           (let ((right (operand r want))) (when want (setf left (either r left right)))))
          ((is r i "and")
           (advance r)
           (let ((right (operand r want))) (when want (setf left right))))
          ((or (is r i "in" "is" "<" ">" "==" "!=" "<=" ">=") (and (is r i "not") (is r (1+ i) "in")))
           (advance r)
           (when (is r (p) "in" "not") (advance r))
           (operand r nil)
           (when want (setf left (literal-node r (known "bool")))))
          ((is r i "+" "-" "*" "/" "//" "%" "@" "&" "|" "^" "<<" ">>" "**")
           (when (and (is r (1+ i) "=") (adjacent-p r (1+ i))) (return left))
           (advance r)
           (let ((from (p)))
             (operand r nil)
             (when (= (p) from) (return left))))
          (t (return left)))))))

(defun operand (r want)
  (declare (type python r))
  (let ((i (p)))
    (declare (type index i))
    (cond ((>= i (limit)) +none+)
          ((is r i "not") (advance r) (operand r nil) (if want (literal-node r (known "bool")) +none+))
          ((is r i "-" "+" "~") (advance r) (operand r want))
          ((is r i "await")
           (advance r)
           (let ((inner (operand r want))) (if (= inner +none+) +none+ (node r +op-await+ inner))))
          ((is r i "lambda") (lambda-expression r want))
          (t (postfix r want)))))

(defun used-p (r i)
  "Whether the chain of members that goes on at I is called, indexed or not over."
  (declare (type python r) (type index i))
  (loop while (and (is r i ".") (identifier-at-p r (1+ i))) do (incf i 2))
  (is r i "(" "["))

(defun postfix (r want)
  "A primary expression with its members, calls and subscripts."
  (declare (type python r))
  (with-depth (r +none+)
    (let* ((i (p)) (name +none+) (line 0) (start i)
           (value (primary r want)))
      (declare (type index i line start) (type node name value))
      (when (and (identifier-at-p r i) (= (p) (1+ i))) (setf name (name-at r i) line (line-at r i)))
      (loop
        (setf i (p))
        (when (>= i (limit)) (return))
        (cond
          ((= i start) (return))        ; no operand stood there
          ((and (is r i ".") (identifier-at-p r (1+ i)))
           (advance r)
           (setf i (p) name (name-at r i) line (line-at r i))
           (advance r)
           (setf value (if (or (/= value +none+)) (member-node r value name) +none+)))
          ((is r i "(") (setf value (call r value name line (or want (is r (1+ (the index (closer r i))) "." "[" "("))) name +none+))
          ((is r i "[") (setf value (subscript r value (or want (used-p r (1+ (the index (closer r i)))))) name +none+))
          ((and (is r i "\\")) (advance r))
          (t (return))))
      value)))

(defun call (r callee name line want)
  "The call of CALLEE whose `(' is in hand."
  (declare (type python r) (type node callee name) (type index line))
  (let* ((open (p)) (site (if (= name +none+) +none+ (site r name line +call+ callee)))
         (keep (or want (= name (known "cast")))) (cells +none+) (arity 0) (facts (reading-facts r)))
    (declare (type index open arity) (type node site cells))
    (if (comprehension-at r open)
        (let ((generator (comprehension r open keep)))
          (setf arity 1)
          (when keep (setf cells (cell r generator +none+))))
        (do-items (r open)
          (incf arity)
          (let* ((keyword (and (identifier-at-p r (p)) (is r (1+ (p)) "=") (name-at r (p))))
                 (argument (progn (when keyword (advance r) (advance r))
                                  (or (if (or (and (= name (known "cast")) (= arity 1)) (eql keyword (known "bound")))
                                          (annotation r)
                                          (expression r keep))
                                      +none+))))
            (when keep
              (setf cells (cell r (if keyword (node r +op-property+ argument keyword) argument) cells))))))
    (setf cells (reverse-cells r cells))
    (unless (= site +none+)
      (setf (draft-site-arity facts site) arity (draft-site-arguments facts site) cells))
    (cond ((and (= name (known "super")) (/= callee +none+) (= (draft-node-op facts callee) +op-name+)) (node r +op-super+ (reading-scope r)))
          ((and (= name (known "TypeVar")) want) (type-variable r cells))
          ((and (= name (known "cast")) (= arity 2) (/= cells +none+))
           (node r +op-cast+ (draft-node-a facts cells) (draft-node-a facts (draft-node-b facts cells))))
          (want (node r +op-call+ callee cells site))
          (t +none+))))
