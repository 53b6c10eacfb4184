;;;; JavaScript and TypeScript: the state of the parser and its smallest steps. The parser is recursive descent
;;;; over tokens whose brackets already know their mates: whatever it does not understand it steps over, bracket
;;;; by bracket. Statements, expressions, functions, classes and types contain one another, so the files
;;;; script-*.lisp share this one package.

(defpackage #:opl.languages.script
  (:use #:cl #:opl.source.facts #:opl.languages.reading)
  (:import-from #:opl.source.names #:+none+ #:known #:name-case)
  (:import-from #:opl.source.tokens #:token-start #:token-end #:token-end-line #:token-mate #:token-kind #:token-name #:tokens-octets
                #:+identifier+ #:+punctuation+ #:+string+ #:+number+ #:+regexp+ #:+tag+ #:tokens-count #:tokens-comment-count #:comment-start #:comment-end #:tokens-language #:token-line
                #:string-content)
  (:import-from #:opl.source.language #:language-name)
  (:import-from #:opl.languages.extractor #:define-extractor))
(in-package #:opl.languages.script)
(declaim (optimize (speed 2) (safety 1)) (sb-ext:muffle-conditions sb-ext:compiler-note))

(deftype u32 () '(unsigned-byte 32))

(defstruct (script (:include reading) (:predicate nil))
  (typed nil)                           ; type annotations may occur
  (expected nil)                        ; what the expression in hand should be: a type node, a pair (site . argument), a function that makes the node when it is asked for, or nil
  (function-scope +none+ :type u32)     ; innermost function around; +none+: the module
  (returns 0 :type fixnum)              ; return values noted in it; 99 when its type is declared
  (return-expected nil)                 ; type node of what it should return
  (holder +none+ :type u32)             ; the definition whose value is the object literal in hand
  (conditional nil)                     ; between `?' and `:'
  (no-in nil)                           ; in the head of a `for'
  (doc nil)                             ; text of the comment before the function in hand, in JavaScript
  (pending nil)                         ; (token . definition) of a function value in parentheses
  (ambient nil))                        ; inside `declare' or a .d.ts

(declaim (ftype function parse-declaration parse-function-declaration end-test import-call require-call test-suite parse-type parse-expression parse-assignment parse-statement parse-statements parse-block parse-function
                parse-class parse-object parse-markup parse-template parse-type-parameters parse-pattern parse-type-arguments parse-decorators
                object-type parse-unary parse-parameters parse-arguments member-name note-assignment parse-arrow skip-type
                module-reference parse-body own-function-scope define-function-value value-node doc-text doc-param-type doc-type read-typedefs documented-type))

;;; Every function of the parser calls its state `r'.

(defmacro at (&rest literals) `(is r (script-p r) ,@literals))
(defmacro after (&rest literals) `(is r (1+ (script-p r)) ,@literals))
(declaim (inline here step-on name-here word-p))
(defun here (r) (declare (type script r)) (script-p r))
(defun step-on (r) (declare (type script r)) (incf (script-p r)))
(defun name-here (r) (declare (type script r)) (name-at r (script-p r)))
(defun more-p (r) (declare (type script r)) (< (script-p r) (script-limit r)))
(defmacro skip-if (&rest literals)
  "Steps over the token in hand when it is one of LITERALS; whether it was."
  `(when (and (more-p r) (at ,@literals)) (step-on r) t))

(defun word-p (r i)
  "Whether token I is an identifier (or keyword) before the limit."
  (declare (type script r) (type index i))
  (and (< i (script-limit r)) (identifier-at-p r i)))

(declaim (inline new-line-p))
(defun new-line-p (r i)
  "Whether a line ends between token I and the one before."
  (declare (type script r) (type index i))
  (or (zerop i) (> (line-at r i) (line-at r (1- i)))))

(defmacro within ((closer) &body body)
  "BODY with the limit at token CLOSER; goes on after it."
  (let ((c (gensym)) (limit (gensym)))
    `(let ((,c ,closer) (,limit (script-limit r)))
       (declare (type index ,c ,limit))
       (setf (script-limit r) (min ,c ,limit))
       (multiple-value-prog1 (progn ,@body)
         (setf (script-limit r) ,limit
               (script-p r) (min ,limit (1+ ,c)))))))

(defmacro with-scope ((kind &optional (def '+none+)) &body body)
  "BODY within a new scope; its number is `scope'."
  `(let* ((outer (script-scope r)) (scope (open-scope r ,kind ,def)))
     (declare (ignorable scope))
     (setf (script-scope r) scope)
     (multiple-value-prog1 (progn ,@body) (setf (script-scope r) outer))))

(defmacro with-slots-bound (bindings &body body)
  "BODY with slots of the parser set as in BINDINGS ((slot value) …), and set back afterwards."
  (let ((saved (loop for nil in bindings collect (gensym))))
    `(let ,(loop for s in saved for (slot) in bindings collect `(,s (,(intern (format nil "SCRIPT-~A" slot)) r)))
       (setf ,@(loop for (slot value) in bindings append `((,(intern (format nil "SCRIPT-~A" slot)) r) ,value)))
       (multiple-value-prog1 (progn ,@body)
         (setf ,@(loop for s in saved for (slot) in bindings append `((,(intern (format nil "SCRIPT-~A" slot)) r) ,s)))))))

(defun line-before (r)
  "The line on which what was just read ends."
  (declare (type script r))
  (last-line r (script-p r)))

(defun step-over (r)
  "Steps over the token in hand, with what it encloses."
  (declare (type script r))
  (let ((mate (mate-at r (script-p r))))
    (setf (script-p r)
          (if (and (/= mate +none+) (> mate (script-p r)) (< mate (script-limit r))) (1+ mate) (1+ (script-p r))))))

(defun string-name (r i)
  "The number of the text of string token I."
  (intern-text r (string-content (script-tokens r) i)))

(defmacro at-tag (literal)
  "Whether the token in hand is the part LITERAL of an element's tag."
  `(and (= (kind-at r (script-p r)) +tag+) (= (name-at r (script-p r)) (known ,literal))))

;;; Definitions

(defun local-p (r) (declare (type script r)) (/= (script-function-scope r) +none+))

(defun define-here (r name kind token from &key (flags 0) (type +none+) (value +none+) (bind t) (scope (script-scope r)))
  "A definition of NAME in the scope in hand; local ones stand in the definition around, others in the class or namespace."
  (declare (type script r) (type index token from))
  (define r name kind token :from from :scope scope :type type :value value :bind bind
                            :flags (logior flags (if (local-p r) +local+ 0) (if (script-ambient r) +declaration+ 0))
                            :parent (if (local-p r) (script-def r) (script-owner r))))

(defun finish (r def)
  "DEF, with a body, ends with the token before the one in hand."
  (declare (type script r))
  (end-definition r def (line-before r)))

(defun sign (r def)
  "What is shown of DEF reaches to the token before the one in hand."
  (declare (type script r))
  (let ((from (draft-def-from (script-facts r) def)))
    (setf (draft-def-to (script-facts r) def) (signature-end r from (script-p r)))))

(defun hoisting-scope (r)
  "The scope of `var' and of functions written in it."
  (declare (type script r))
  (script-home r))

;;; What is expected of an expression

(defun expected-node (r)
  "The type node of what is expected of the expression in hand, or +none+."
  (declare (type script r))
  (let ((expected (script-expected r)))
    (typecase expected
      (null +none+)
      (integer expected)
      (cons (node r +op-callback+ (car expected) (cdr expected) +none+))
      (t (setf (script-expected r) (funcall (the function expected)))))))

(defmacro expecting ((form) &body body)
  "BODY where the expression read is to be of the type that FORM, evaluated when asked for, makes a node of."
  (let ((saved (gensym)))
    `(let ((,saved (script-expected r)))
       (setf (script-expected r) ,form)
       (multiple-value-prog1 (progn ,@body) (setf (script-expected r) ,saved)))))

(defun property-expected (r name)
  "What is expected of property NAME of the object in hand."
  (declare (type script r))
  (let ((outer (script-expected r)))
    (and outer
         (lambda ()
           (let ((node (progn (setf (script-expected r) outer) (expected-node r))))
             (if (= node +none+) +none+ (member-node r node name)))))))

(defun element-expected (r)
  (declare (type script r))
  (let ((outer (script-expected r)))
    (and outer
         (lambda ()
           (let ((node (progn (setf (script-expected r) outer) (expected-node r))))
             (if (= node +none+) +none+ (node r +op-element+ node)))))))
