;;;; Scala; see keyworded.lisp. Definitions by indentation alone (Scala 3) end with their first line's expression.

(defpackage #:opl.languages.scala
  (:use #:cl #:opl.languages.keyworded)
  (:import-from #:opl.languages.extractor #:define-extractor)
  (:import-from #:opl.source.names #:known))
(in-package #:opl.languages.scala)

;; https://docs.scala-lang.org/scala3/reference/syntax.html#keywords
(defparameter *scala*
  (make-tongue
   :functions (kinds "def" "function")
   :types (kinds "class" "class" "trait" "trait" "object" "object" "type" "alias" "enum" "enum")
   :values (kinds "val" "constant" "var" "variable" "given" "constant")
   :modifiers (words "private" "protected" "final" "sealed" "abstract" "implicit" "lazy" "override" "case" "inline" "open" "transparent" "opaque" "infix")
   :keywords (words "abstract" "case" "catch" "class" "def" "do" "else" "enum" "export" "extends" "false" "final" "finally" "for" "given" "if" "implicit"
                    "import" "lazy" "match" "new" "null" "object" "override" "package" "private" "protected" "return" "sealed" "then" "throw" "trait"
                    "true" "try" "type" "val" "var" "while" "with" "yield" "until")
   :openers (words "else" "do" "try" "finally" "yield" "then")
   :parents (words "extends" "with" "derives")
   :result (words ":")
   :type-open "["
   :expression-bodies t :blocks t :cases t))

(define-extractor :scala (tokens facts names path) (:ctags-kinds ())
  (walk-tongue tokens facts names path *scala*))
