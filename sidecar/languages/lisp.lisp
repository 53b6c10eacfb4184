;;;; Common Lisp, Emacs Lisp, Scheme, Clojure: forms. A definition is a list whose first word begins with `def';
;;;; the first word of any other list that is code is a call.

(defpackage #:opl.languages.lisp
  (:use #:cl #:opl.languages.reading)
  (:import-from #:opl.source.names #:+none+ #:known #:name-case)
  (:import-from #:opl.source.tokens #:+string+ #:+identifier+ #:+punctuation+)
  (:import-from #:opl.source.facts #:+function-scope+ #:draft-def-to #:draft-def-from #:draft-test-end #:+call+ #:+pass+ #:+exported+
                #:+private+ #:+local+ #:+side-effect+)
  (:import-from #:opl.languages.extractor #:define-extractor))
(in-package #:opl.languages.lisp)
(declaim (optimize (speed 1) (safety 1)) (sb-ext:muffle-conditions sb-ext:compiler-note))
(declaim (ftype function form))

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
    (:told "declare" "declaim" "in-package" "import-from" ":export" ":import")
    (:import ":use" ":import-from" ":require")
    (:import-call "require" "load" "load-file" "use-package")
    (:case "case" "ecase" "typecase" "etypecase" "ccase" "pcase" "condp")
    (:cond "cond")
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
            (site r (name-at r (p)) (line-at r (p)) +pass+ (name-node r (name-at r (p))))
            (advance r))
           ((is r (1- i) "#"))
           (t (skip-form r))))
    ((not (opens-p r i)) (advance r))
    ((not (is r i "(")) (within-bracket (r i) (walk r)))
    ((not (identifier-at-p r (1+ i))) (within-bracket (r i) (walk r)))
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
               (site r (name-at r head) (line-at r head) +call+ (name-node r (name-at r head))))
             (when (eq class :import-call) (imports r i t))
             (within-bracket (r i) (advance r) (walk r))))))))

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

(defun imports (r i single)
  "(:use #:a), (require 'x), (:require [a.b :as c]). SINGLE: one at most."
  (declare (type reading r) (type index i))
  (loop with close of-type index = (closer r i)
        for j of-type index from (+ i 2) below close
        do (when (or (= (kind-at r j) +string+)
                     (and (identifier-at-p r j) (not (is r (1+ j) "]")) (is r (1- j) "'" "[" "(" "#")))
             (opl.source.facts:add-import (reading-facts r) +none+ (known "*") (intern-text r (string-left-trim ":" (text-of r j)))
                                          0 +side-effect+ (line-at r j))
             (when single (return)))))

(defun after-metadata (r i)
  "Past what Clojure writes before a name: `^:private', `^String', `^{:doc \"…\"}', and `#^' for `^'."
  (declare (type index i))
  (loop
    (let* ((j (if (is r i "#") (1+ i) i))
           (next (cond ((and (is r j "^") (opens-p r (1+ j))) (1+ (the index (closer r (1+ j)))))
                       ((and (identifier-at-p r j) (name-begins-p r (name-at r j) 94)) (1+ j)))))
      (declare (type index j))
      ;; a name may begin so itself where nothing that could be one follows
      (unless (and next (or (identifier-at-p r next) (is r next "^" "#"))) (return i))
      (setf i next))))

(defun name-token (r i)
  "The token of the name in the form at I of a definition: (define (f x) …), (defstruct (s …)), (defmethod (setf f) …)."
  (declare (type index i))
  (let ((j i))
    (loop while (is r j "#" "'") do (incf j))
    (when (and (is r j "(") (opens-p r j)) (setf j (1+ j)))
    (when (is r j "setf") (incf j))
    (loop while (and (is r j "#" "'" ":")) do (incf j))
    j))

(defun definition (r i kind)
  "A list whose first word defines something of KIND, a string."
  (declare (type reading r) (type index i))
  (let* ((head (1+ i)) (from (after-metadata r (1+ head))) (j (name-token r from)) (close (closer r i)) (facts (reading-facts r))
         (list (is r from "(")))
    (declare (type index head from j close))
    (cond
      ((or (>= j close) (not (or (identifier-at-p r j) (= (kind-at r j) +string+))))
       (within-bracket (r i) (advance r) (walk r)))
      (t
       (let* ((name (intern-text r (string-left-trim ":" (text-of r j))))
              (kind (if (and list (is r head "define")) "function" kind))
              (def (define r name (intern-text r kind) j :from i :parent (if (= (reading-def r) +none+) +none+ (reading-def r))
                     :flags (logior (if (= (reading-def r) +none+) +exported+ +local+) (if (is r head "defn-") +private+ 0))))
              (callable (member kind '("function" "method" "macro") :test #'string=))
              (test (and (is r head "deftest" "ert-deftest" "def-test" "test-case") (mark-test r name (line-at r i))))
              (scope (open-scope r +function-scope+ def)))
         (cond
           (callable
            (with-definition (r def scope)
              (within-bracket (r i)
                (setf (p) from)
                (skip-form r)           ; the name, with its parameters in Scheme
                (loop while (and (string= kind "method") (identifier-at-p r (p))) do (advance r))
                ;; the parameters; a test has none, or an empty list for them
                (when (and (opens-p r (p))
                           (if test (= (the index (closer r (p))) (1+ (p))) (not (and list (is r head "define")))))
                  (skip-form r))
                (setf (draft-def-to facts def) (signature-end r (draft-def-from facts def) (p)))
                (walk r))))
           ((member kind '("variable" "constant") :test #'string=)
            (within-bracket (r i) (setf (p) (1+ j)) (walk r)))
           ((is r head "ns") (within-bracket (r i) (setf (p) (1+ j)) (walk r)))
           (t (setf (p) (min (limit) (1+ close)))))
         (end-definition r def (last-line r (p)))
         (when test (setf (draft-test-end facts test) (last-line r (p)))))))))

(define-extractor :lisp (tokens facts names path) (:ctags-kinds ())
  (walk (start-reading tokens facts names path)))
