;;;; Elixir: `do' and `fn' open what `end' closes; `do:' is a keyword like any other. Each clause of a function
;;;; is a definition of its own.

(defpackage #:opl.languages.elixir
  (:use #:cl #:opl.languages.reading)
  (:import-from #:opl.source.names #:+none+ #:known #:name-case)
  (:import-from #:opl.source.tokens #:+string+ #:+identifier+ #:+number+ #:+punctuation+)
  (:import-from #:opl.source.facts #:+module-scope+ #:+class-scope+ #:+function-scope+ #:+op-member+ #:+op-name+
                #:draft-def-to #:draft-def-from #:draft-def-end #:draft-site-arity #:draft-test-end
                #:+parameter+ #:+call+ #:+pass+ #:+exported+ #:+private+ #:+declaration+ #:+star+ #:+implements+ #:add-heritage)
  (:import-from #:opl.languages.extractor #:define-extractor))
(in-package #:opl.languages.elixir)
(declaim (optimize (speed 1) (safety 1)) (sb-ext:muffle-conditions sb-ext:compiler-note))

(define-steps p limit advance r)

(defun label-p (r i)
  "Whether the word at I is a key: `do:' `else:'."
  (declare (type index i))
  (and (is r (1+ i) ":") (adjacent-p r (1+ i))))

(defun atom-p (r i)
  "Whether the word at I is an atom: `:end'."
  (declare (type index i))
  (and (plusp i) (is r (1- i) ":") (adjacent-p r i) (not (and (> i 1) (adjacent-p r (1- i)) (identifier-at-p r (- i 2))))))

(defun opens-p (r i) (and (is r i "do" "fn") (not (label-p r i)) (not (atom-p r i)) (not (is r (1- i) "."))))
(defun closes-p (r i) (and (is r i "end") (not (label-p r i)) (not (atom-p r i)) (not (is r (1- i) "."))))

(defun walk (r closing)
  "Reads to the limit or, when CLOSING, past the `end' that closes."
  (declare (type reading r))
  (or (with-depth (r)
        (loop
          (when (>= (p) (limit)) (return t))
          (let ((i (p)))
            (declare (type index i))
            (cond
              ((closes-p r i) (advance r) (when closing (return t)))
              ((opens-p r i) (advance r) (walk r t))
              (t (item r i))))))
      (skip r closing)))

(defun skip (r closing)
  (loop while (< (p) (limit)) do (let ((i (p))) (advance r) (when (and closing (closes-p r i)) (return)))))

(defun item (r i)
  "What begins with token I, which neither opens nor closes a block."
  (declare (type reading r) (type index i))
  (let ((mate (mate-at r i)))
    (cond
      ((and (= (kind-at r i) +string+) (/= mate +none+) (> mate i)) (string-pieces r i))
      ((and (/= mate +none+) (> mate i)) (within-bracket (r i) (walk r nil)))
      ((/= (kind-at r i) +identifier+) (advance r))
      ((or (label-p r i) (atom-p r i)) (advance r))
      ((capitalised-p r (name-at r i)) (qualified r i))
      (t
       (name-case (name-at r i)
         (("defmodule" "defprotocol" "defimpl") (module-definition r i))
         (("def" "defp" "defmacro" "defmacrop" "defguard" "defguardp" "defdelegate" "defn" "defnp") (or (with-depth (r) (function-definition r i) t) (advance r)))
         (("alias" "import" "require" "use") (import-statement r i))
         ("@type" (type-definition r i)) ("@typep" (type-definition r i)) ("@opaque" (type-definition r i))
         (("@callback" "@macrocallback") (callback r i))
         (("test" "describe" "property") (if (= (kind-at r (1+ i)) +string+) (test r i) (word r i)))
         (t (word r i)))))))

(defun string-pieces (r i)
  (declare (type index i))
  (let ((last (min (the index (mate-at r i)) (limit))))
    (declare (type index last))
    (advance r)
    (loop while (< (p) last) do (if (is r (p) "${") (within-bracket (r (p)) (walk r nil)) (advance r)))
    (setf (p) last)
    (when (< last (limit)) (advance r))))

;;; Calls

(defun keyword-p (r i)
  (is r i "when" "and" "or" "not" "in" "else" "rescue" "catch" "after" "nil" "true" "false" "__MODULE__" "__CALLER__" "__DIR__" "__ENV__"
      "if" "unless" "case" "cond" "with" "for" "receive" "try" "quote" "unquote" "unquote_splicing" "super" "_"))

(defun word (r i)
  "A call of the function named at I, or a variable."
  (declare (type reading r) (type index i))
  (advance r)
  (cond
    ((or (keyword-p r i) (name-begins-p r (name-at r i) 64)))
    ((and (is r (p) "(") (adjacent-p r (p))) (call r i (if (is r (1- i) ".") +none+ (name-node r (name-at r i)))))
    ((is r (1- i) "|>") (call r i (name-node r (name-at r i))))
    ((and (is r (1- i) "&") (is r (p) "/")) (site r (name-at r i) (line-at r i) +pass+ (name-node r (name-at r i))))
    ((and (argument-begins-p r (p)) (not (is r (1- i) "." "@"))) (call r i (name-node r (name-at r i))))))

(defun argument-begins-p (r i)
  "Whether an argument without parentheses begins at I: on the same line, after a blank, and no operator."
  (declare (type index i))
  (and (< i (the index (limit))) (not (line-begins-p r i)) (not (adjacent-p r i))
       (or (= (kind-at r i) +string+) (= (kind-at r i) +number+)
           (and (= (kind-at r i) +identifier+) (not (label-p r i))
                (not (is r i "do" "when" "and" "or" "in" "end" "not" "else")))
           (and (is r i ":" "%" "&" "@") (adjacent-p r (1+ i)))
           (is r i "[" "{"))))

(defun call (r i callee)
  (declare (type reading r) (type index i))
  (site r (name-at r i) (line-at r i) +call+ callee))

(defun module-end (r i)
  "The token after the module's name (A.B.C) at I."
  (declare (type index i))
  (loop while (and (is r (1+ i) ".") (adjacent-p r (1+ i)) (identifier-at-p r (+ i 2)) (capitalised-p r (name-at r (+ i 2)))) do (incf i 2))
  (1+ i))

(defun qualified (r i)
  "A module, whose function may be called: A.B.f(x), A.B.f."
  (declare (type reading r) (type index i))
  (let* ((end (module-end r i)) (module (words-name r i end)))
    (declare (type index end))
    (setf (p) end)
    (when (and (is r end ".") (adjacent-p r end) (identifier-at-p r (1+ end)))
      (setf (p) (+ end 2))
      (let ((callee (member-node r (name-node r module) (name-at r (1+ end)) 1)))
        (if (and (is r (1- i) "&") (is r (p) "/"))
            (site r (name-at r (1+ end)) (line-at r (1+ end)) +pass+ callee)
            (call r (1+ end) callee))))))

;;; Definitions

(defun module-definition (r first)
  "defmodule A.B do … end; defimpl P, for: T do … end"
  (declare (type reading r) (type index first))
  (let* ((i (1+ first)) (facts (reading-facts r)) (implementation (is r first "defimpl")))
    (declare (type index i))
    (setf (p) i)
    (when (or (>= i (limit)) (not (identifier-at-p r i)) (not (capitalised-p r (name-at r i)))) (return-from module-definition))
    (let* ((end (module-end r i)) (name (words-name r i end))
           (def (define r name (if (is r first "defprotocol") (known "protocol") (known "module")) i :from first :flags +exported+))
           (scope (open-scope r +class-scope+ def)))
      (declare (type index end))
      (when implementation (add-heritage facts def +implements+ (name-node r name)))
      (setf (p) end)
      (loop while (and (< (p) (limit)) (not (opens-p r (p))) (not (and (is r (p) "do") (label-p r (p))))) do (advance r))
      (setf (draft-def-to facts def) (signature-end r (draft-def-from facts def) (p)))
      (with-definition (r def scope :owner def)
        (if (opens-p r (p)) (progn (advance r) (walk r t)) (one-liner r)))
      (end-definition r def (last-line r (p))))))

(defun goes-on-p (r i)
  "Whether the statement goes on with token I, which begins a line."
  (declare (type index i))
  (or (is r (1- i) "," "=" "->" "|>" "<>" "++" "+" "-" "*" "/" "||" "&&" "and" "or" "|" "<-" "in" "(" "[" "{" "::" "when" "not" "==" "!=" "<" "<=" ">=" "=>" ":")
      (and (is r (1- i) ">") (not (and (is r (- i 2) ">") (adjacent-p r (1- i))))) ; >> closes <<
      (is r i "|>" "<>" "++" "and" "or" "||" "&&" "|" "when" "->" "::")))

(defun one-liner (r)
  "The rest of a statement after `do:'."
  (declare (type reading r))
  (when (label-p r (p)) (incf (p) 2))
  (let ((first t))
    (loop
      (let ((i (p)))
        (declare (type index i))
        (cond ((>= i (limit)) (return))
              ((and (not first) (line-begins-p r i) (not (goes-on-p r i))) (return))
              ((closes-p r i) (return))
              ((opens-p r i) (advance r) (walk r t))
              (t (item r i)))
        (setf first nil)))))

(defun function-definition (r first)
  (declare (type reading r) (type index first))
  (let* ((i (1+ first)) (facts (reading-facts r)) (private (is r first "defp" "defmacrop" "defguardp" "defnp")))
    (declare (type index i))
    (setf (p) i)
    (when (or (not (identifier-at-p r i)) (is r i "unquote")) (setf (p) i) (return-from function-definition))
    (let* ((def (define r (name-at r i) (if (is r first "defmacro" "defmacrop" "defguard" "defguardp") (known "macro") (known "function")) i
                  :from first :parent (reading-owner r) :flags (if private +private+ +exported+)))
           (scope (open-scope r +function-scope+ def)) (body nil) (owner (reading-owner r)))
      (setf (p) (1+ i))
      (with-definition (r def scope :owner owner)
        (when (and (is r (p) "(") (adjacent-p r (p))) (parameters r))
        (loop while (< (p) (limit))
              do (let ((j (p)))
                   (cond ((opens-p r j) (setf body :block) (return))
                         ((and (is r j "do") (label-p r j)) (setf body :line) (return))
                         ((closes-p r j) (return))
                         ((and (line-begins-p r j) (not (goes-on-p r j))) (return))
                         (t (item r j)))))
        (setf (draft-def-to facts def) (signature-end r (draft-def-from facts def) (p)))
        (case body
          (:block (advance r) (walk r t))
          (:line (one-liner r))))
      (if body
          (end-definition r def (last-line r (p)))
          (setf (draft-def-end facts def) (last-line r (p)))))))

(defun parameters (r)
  (let ((open (p)) (index 0))
    (within-bracket (r open)
      (loop while (< (p) (limit))
            do (let ((i (p)))
                 (when (and (identifier-at-p r i) (or (= i (1+ open)) (is r (1- i) ",")) (not (label-p r i))
                            (not (capitalised-p r (name-at r i))))
                   (bind r (name-at r i) +parameter+ :index index)
                   (incf index))
                 (item r i))))))

(defun type-definition (r i)
  (declare (type index i))
  (advance r)
  (when (and (identifier-at-p r (1+ i)) (not (line-begins-p r (1+ i))))
    (define r (name-at r (1+ i)) (known "type") (1+ i) :from i :parent (reading-owner r) :bind nil :end (line-at r (1+ i)))
    (setf (p) (+ i 2))))

(defun callback (r i)
  (declare (type index i))
  (advance r)
  (when (and (identifier-at-p r (1+ i)) (is r (+ i 2) "("))
    (define r (name-at r (1+ i)) (known "callback") (1+ i) :from i :parent (reading-owner r) :flags +declaration+ :bind nil
      :end (line-at r (1+ i)))
    (setf (p) (+ i 2))))

;;; alias A.B, as: C; alias A.{B, C}; import A; use A

(defun import-statement (r i)
  (declare (type reading r) (type index i))
  (advance r)
  (let ((j (p)) (line (line-at r i)))
    (declare (type index j))
    (cond
      ((not (and (identifier-at-p r j) (capitalised-p r (name-at r j)))) nil)
      (t
       (let* ((end (module-end r j)) (module (words-name r j end)) (last (name-at r (1- end))))
         (declare (type index end))
         (setf (p) end)
         (cond
           ((and (is r end ".") (is r (1+ end) "{"))
            (let ((prefix (text r j end)))
              (within-bracket (r (1+ end))
                (loop while (< (p) (limit))
                      do (let ((k (p)))
                           (if (and (identifier-at-p r k) (capitalised-p r (name-at r k)))
                               (let ((stop (module-end r k)))
                                 (add-imported r (name-at r (1- stop)) (name-at r (1- stop))
                                           (intern-text r (concatenate 'string prefix "." (text r k stop))) 0 line)
                                 (setf (p) stop))
                               (advance r)))))))
           ((is r i "alias")
            (let ((local last))
              (when (and (is r end ",") (is r (1+ end) "as") (identifier-at-p r (+ end 3))) (setf local (name-at r (+ end 3)) (p) (+ end 4)))
              (add-imported r local last module 0 line)))
           ((is r i "import") (add-imported r +none+ (known "*") module +star+ line))
           (t (add-imported r +none+ (known "*") module opl.source.facts:+side-effect+ line))))))))

(defun text (r from to)
  (opl.source.names:name-string (reading-names r) (words-name r from to)))

;;; ExUnit

(defun test (r i)
  (declare (type reading r) (type index i))
  (call r i (name-node r (name-at r i)))
  (let ((test (mark-test r (intern-text r (text-of r (1+ i))) (line-at r i))))
    (advance r)
    (preserving (r reading-test)
      (setf (reading-test r) test)
      (loop while (and (< (p) (limit)) (not (opens-p r (p))) (not (line-begins-p r (p)))) do (item r (p)))
      (when (opens-p r (p)) (advance r) (walk r t)))
    (setf (draft-test-end (reading-facts r) test) (last-line r (p)))))

(define-extractor :elixir (tokens facts names path) (:ctags-kinds ())
  (walk (start-reading tokens facts names path) nil))
