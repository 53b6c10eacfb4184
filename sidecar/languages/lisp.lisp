;;;; Common Lisp, Emacs Lisp, Scheme, Clojure: forms. A definition is a list whose first word begins with `def'
;;;; (lisp-definitions.lisp; what is imported: lisp-packages.lisp); the first word of any other list that is code is a call.

(defpackage #:opl.languages.lisp
  (:use #:cl #:opl.languages.reading)
  (:import-from #:opl.source.names #:+none+ #:known #:name-case)
  (:import-from #:opl.source.tokens #:+string+ #:+identifier+ #:+punctuation+)
  (:import-from #:opl.source.facts #:+function-scope+ #:draft-def-to #:draft-def-from #:draft-test-end #:draft-mark-count #:draft-mark-key #:+call+ #:+pass+ #:+exported+ #:+declaration+ #:+declaration+
                #:+private+ #:+local+ #:+side-effect+ #:+star+ #:+extends+ #:+implements+ #:add-heritage)
  (:import-from #:opl.languages.extractor #:define-extractor))
(in-package #:opl.languages.lisp)
(declaim (optimize (speed 1) (safety 1)) (sb-ext:muffle-conditions sb-ext:compiler-note))
(declaim (ftype function form definition imports methods own-definer-p own-definition))

(define-steps p limit advance r)

(defparameter *kinds*
  '(("defun" . "function") ("defn" . "function") ("defn-" . "function") ("cl-defun" . "function") ("defsubst" . "function")
    ("define-inline" . "function") ("defgeneric" . "function") ("cl-defgeneric" . "function") ("defmulti" . "function")
    ("defmethod" . "method") ("cl-defmethod" . "method") ("defmacro" . "macro") ("cl-defmacro" . "macro") ("defmacro-" . "macro")
    ("define-syntax" . "macro") ("define-compiler-macro" . "macro") ("define-macro" . "macro") ("define-syntax-rule" . "macro")
    ("defclass" . "class") ("defstruct" . "struct") ("cl-defstruct" . "struct") ("define-condition" . "class") ("define-record-type" . "struct")
    ("defrecord" . "struct") ("deftype" . "alias") ("defprotocol" . "protocol") ("definterface" . "interface") ("struct" . "struct")
    ("defvar" . "variable") ("defparameter" . "variable") ("defvar-local" . "variable") ("defcustom" . "variable") ("def" . "variable")
    ("defonce" . "variable") ("defglobal" . "variable") ("define" . "variable") ("defconst" . "constant") ("defconstant" . "constant")
    ("define-constant" . "constant") ("define-symbol-macro" . "variable") ("defpackage" . "package") ("uiop:define-package" . "package")
    ("ns" . "namespace") ("define-module" . "module") ("defsystem" . "module") ("asdf:defsystem" . "module") ("define-library" . "module")
    ("deftest" . "function") ("ert-deftest" . "function") ("def-test" . "function") ("test-case" . "function") ("define-minor-mode" . "function")
    ("define-derived-mode" . "function") ("defgroup" . "variable") ("defface" . "variable") ("defsetf" . "function") ("define-method-combination" . "function"))
  "What the words that define make.")

(defparameter *classes*
  '((:binding "let" "let*" "let-values" "letrec" "letrec*" "when-let" "if-let" "when-let*" "if-let*" "symbol-macrolet" "do" "do*" "binding"
     "doseq" "for" "dotimes" "dolist" "with-slots" "with-accessors" "multiple-value-bind" "destructuring-bind" "pcase-let")
    (:local-functions "flet" "labels" "macrolet" "cl-flet" "cl-labels" "letfn")
    (:lambda "lambda" "fn" "named-lambda" "case-lambda")
    (:quote "quote")
    (:told "declare" "declaim" "import-from" ":export" ":import")
    (:import ":use" ":import-from" ":require" ":require-macros" ":use-macros")
    (:import-call "require" "load" "load-file" "use-package" "use-modules" "include")
    (:case "case" "ecase" "typecase" "etypecase" "ccase" "pcase" "condp")
    (:cond "cond")
    (:thread "->" "->>" "some->" "some->>" "doto")
    (:methods "extend-type" "extend-protocol" "extend" "reify" "proxy")
    (:package "in-package")
    (:special "if" "when" "unless" "progn" "prog1" "setq" "setf" "begin" "and" "or" "not" "return" "return-from" "block" "the" "eval-when"
     "function" "set!" "recur" "throw" "try" "catch" "finally" "unwind-protect" "while" "t" "else" "nil" "." "loop" "cl-loop" "handler-case"))
  "How the lists that begin with these words are read.")

(defparameter *heads*
  (let ((numbers '()))
    (flet ((note (word class)
             (dolist (spelling (list word (string-upcase word)))
               (push (cons (opl.source.names:well-known-number spelling) class) numbers))))
      (loop for (word . kind) in *kinds* do (note word kind))
      (loop for (class . words) in *classes* do (dolist (word words) (note word class))))
    (let ((table (make-array (1+ (reduce #'max numbers :key #'car)) :initial-element nil)))
      (loop for (number . class) in numbers do (setf (svref table number) class))
      table))
  "Name number to class of list, or kind of definition (a string).")

(declaim (inline head-class))
(defun head-class (r i)
  (let ((name (name-at r i)) (heads *heads*))
    (declare (type simple-vector heads))
    (and (< name (length heads)) (svref heads name))))

(defun opens-p (r i) (and (is r i "(" "[" "{") (/= (mate-at r i) +none+) (> (the (unsigned-byte 32) (mate-at r i)) (the index i))))

;;; Names, with the package or the namespace before them

(defun language-p (r name) (string= name (the string (opl.source.language:language-name (opl.source.tokens:tokens-language (reading-tokens r))))))

(defun designator (text)
  "The name that TEXT designates: #:x, :x and \"X\" are x."
  (declare (type string text))
  (let ((name (string-left-trim "#:'" text))) (if (notany #'lower-case-p name) (string-downcase name) name)))

(defun designated (r i)
  "The number of the name that token I designates."
  (intern-text r (designator (text-of r i))))

(defun qualifier-end (r i)
  "Where in the text of token I the name of a package or a namespace ends, and where the name within it begins: `p::x', `u/x'. Nil for
a bare name."
  (declare (type index i))
  (let* ((tokens (reading-tokens r)) (octets (opl.source.tokens:tokens-octets tokens))
         (start (opl.source.tokens:token-start tokens i)) (end (opl.source.tokens:token-end tokens i)))
    (declare (type opl.source.names:octets octets) (type index start end))
    (flet ((inside (octet) (let ((at (position octet octets :start (1+ start) :end end))) (and at (< (1+ at) end) at))))
      (let ((at (and (> end start) (or (inside 58) (inside 47)))))
        (when at
          (if (= (aref octets at) 58)
              (and (language-p r "Common Lisp")
                   (let ((after (if (= (aref octets (1+ at)) 58) (+ at 2) (1+ at))))
                     (and (< after end) (values (- at start) (- after start)))))
              (and (language-p r "Clojure") (values (- at start) (- (1+ at) start)))))))))

(defun call (r i how)
  "The call of the name at token I."
  (declare (type reading r) (type index i))
  (multiple-value-bind (end start) (qualifier-end r i)
    (if (null end)
        (site r (name-at r i) (line-at r i) how (name-node r (name-at r i)))
        (let* ((text (text-of r i)) (name (intern-text r (subseq text start))))
          (site r name (line-at r i) how (member-node r (name-node r (intern-text r (designator (subseq text 0 end)))) name 1))))))

(defun walk (r)
  "Reads forms up to the limit."
  (declare (type reading r))
  (with-depth (r)
    (loop while (< (p) (limit))
          do (let ((from (p))) (form r from) (when (= (p) from) (advance r))))))

(defun skip-form (r)
  "Past the form in hand, unread."
  (let ((i (p))) (if (opens-p r i) (setf (p) (1+ (the index (closer r i)))) (advance r))))

(defun form (r i)
  (declare (type reading r) (type index i))
  (cond
    ((is r i "'")
     (advance r)
     (cond ((and (is r (1- i) "#") (identifier-at-p r (p)))
            (call r (p) +pass+)
            (advance r))
           ((is r (1- i) "#"))
           (t (skip-form r))))
    ((not (opens-p r i)) (advance r))
    ((not (is r i "(")) (within-bracket (r i) (walk r)))
    ((not (identifier-at-p r (1+ i))) (within-bracket (r i) (walk r)))
    ((and (null (head-class r (1+ i))) (own-definer-p r i)) (own-definition r i))
    (t (headed r i))))

(defun headed (r i)
  "A list that begins with a word."
  (declare (type reading r) (type index i))
  (let* ((head (1+ i)) (class (head-class r head)))
    (declare (type index head))
    (case class
      (:binding (bindings r i))
      (:local-functions (local-functions r i))
      (:lambda (within-bracket (r i) (advance r) (when (identifier-at-p r (p)) (advance r)) (skip-form r) (walk r)))
      (:quote (setf (p) (1+ (the index (closer r i)))))
      (:told (setf (p) (1+ (the index (closer r i)))))
      (:import (imports r i nil) (setf (p) (1+ (the index (closer r i)))))
      (:package
       (when (identifier-at-p r (+ head 1)) (mark r (known "package") (designated r (+ head 1))))
       (when (is r (+ head 1) "#") (mark r (known "package") (designated r (+ head 2))))
       (when (= (kind-at r (+ head 1)) +string+) (mark r (known "package") (designated r (+ head 1))))
       (setf (p) (1+ (the index (closer r i)))))
      (:thread (within-bracket (r i) (advance r) (form r (p)) (threaded r)))
      (:methods (within-bracket (r i) (advance r) (methods r)))
      (:case (within-bracket (r i)
               (advance r)
               (form r (p))
               (clauses r)))
      (:cond (within-bracket (r i)
               (advance r)
               (loop while (< (p) (limit))
                     do (if (opens-p r (p)) (within-bracket (r (p)) (walk r)) (form r (p))))))
      (t
       (if (stringp class)
           (definition r i class)
           (progn
             (unless (or (eq class :special) (name-begins-p r (name-at r head) 58) (name-begins-p r (name-at r head) 38)
                         (name-begins-p r (name-at r head) 46))
               (call r head +call+))
             (when (eq class :import-call) (imports r i t))
             (within-bracket (r i) (advance r) (walk r))))))))

(defun threaded (r)
  "Forms that a value goes through: a bare name among them is called."
  (declare (type reading r))
  (loop while (< (p) (limit))
        do (let ((i (p)))
             (if (and (identifier-at-p r i) (not (name-begins-p r (name-at r i) 58)) (not (name-begins-p r (name-at r i) 46)))
                 (progn (call r i +call+) (advance r))
                 (form r i)))))

(defun clauses (r)
  "Lists whose first form is no code."
  (loop while (< (p) (limit))
        do (if (opens-p r (p)) (within-bracket (r (p)) (skip-form r) (walk r)) (form r (p)))))

(defun bindings (r i)
  "let and its like: the heads within the list of bindings are names."
  (declare (type reading r) (type index i))
  (within-bracket (r i)
    (advance r)
    (when (and (identifier-at-p r (p)) (opens-p r (1+ (p)))) (advance r)) ; a named let
    (when (and (is r (p) "(") (opens-p r (p)))
      (within-bracket (r (p)) (clauses r)))
    (walk r)))

(defun local-functions (r i)
  (declare (type reading r) (type index i))
  (within-bracket (r i)
    (advance r)
    (when (opens-p r (p))
      (within-bracket (r (p))
        (loop while (< (p) (limit))
              do (let ((j (p)))
                   (if (and (is r j "(") (opens-p r j) (identifier-at-p r (1+ j)))
                       (let* ((def (define r (name-at r (1+ j)) (known "function") (1+ j) :from j :parent (reading-def r) :flags +local+))
                              (scope (open-scope r +function-scope+ def)))
                         (with-definition (r def scope)
                           (within-bracket (r j) (advance r) (skip-form r) (walk r)))
                         (end-definition r def (last-line r (p))))
                       (form r j))))))
    (walk r)))

(define-extractor :lisp (tokens facts names path) (:ctags-kinds ())
  (walk (start-reading tokens facts names path)))
