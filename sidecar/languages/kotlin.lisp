;;;; Kotlin; see keyworded.lisp.

(defpackage #:opl.languages.kotlin
  (:use #:cl #:opl.languages.keyworded)
  (:import-from #:opl.languages.extractor #:define-extractor)
  (:import-from #:opl.source.names #:known))
(in-package #:opl.languages.kotlin)

;; https://kotlinlang.org/docs/keyword-reference.html
(defparameter *kotlin*
  (make-tongue
   :functions (kinds "fun" "function" "constructor" "constructor" "init" "constructor")
   :types (kinds "class" "class" "interface" "interface" "object" "object" "typealias" "alias")
   :values (kinds "val" "constant" "var" "variable")
   :modifiers (words "public" "private" "internal" "protected" "open" "abstract" "final" "sealed" "data" "inner" "inline" "value" "annotation" "enum"
                     "override" "suspend" "operator" "infix" "tailrec" "external" "const" "lateinit" "companion" "noinline" "crossinline" "expect"
                     "actual" "vararg" "fun")
   :keywords (words "as" "break" "class" "continue" "do" "else" "false" "for" "fun" "if" "in" "interface" "is" "null" "object" "package" "return"
                    "throw" "true" "try" "typealias" "typeof" "val" "var" "when" "while" "by" "catch" "finally" "import" "where" "init" "get" "set")
   :openers (words "else" "do" "try" "finally")
   :parents (words ":")
   :result (words ":")
   :unnamed (words "constructor" "init")
   :expression-bodies t :blocks t))

(define-extractor :kotlin (tokens facts names path) (:ctags-kinds ())
  (walk-tongue tokens facts names path *kotlin*))
