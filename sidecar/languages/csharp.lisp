;;;; C#; see typed.lisp.

(defpackage #:opl.languages.csharp
  (:use #:cl)
  (:import-from #:opl.languages.typed #:make-tongue #:walk-tongue)
  (:import-from #:opl.languages.braces #:word-set)
  (:import-from #:opl.languages.keyworded #:kinds)
  (:import-from #:opl.languages.extractor #:define-extractor)
  (:import-from #:opl.source.names #:known))
(in-package #:opl.languages.csharp)

;; https://learn.microsoft.com/dotnet/csharp/language-reference/keywords/
(defparameter *csharp*
  (make-tongue
   :types (kinds "class" "class" "struct" "struct" "interface" "interface" "enum" "enum" "record" "record")
   :modifiers (word-set "public" "private" "protected" "internal" "static" "readonly" "sealed" "abstract" "virtual" "override" "async" "extern" "unsafe"
                        "partial" "new" "volatile" "const" "required" "file" "event" "delegate" "implicit" "explicit" "global" "ref")
   :keywords (word-set "as" "break" "case" "catch" "checked" "continue" "default" "do" "else" "finally" "fixed" "for" "foreach" "goto" "if" "in" "is"
                       "lock" "return" "switch" "throw" "try" "unchecked" "using" "while" "yield" "await" "when" "where" "out" "ref" "stackalloc" "get"
                       "set" "init" "add" "remove" "and" "or" "not" "with" "from" "select" "orderby" "group" "into" "let" "join")
   :openers (word-set "else" "do" "try" "finally" "unchecked" "checked" "unsafe" "await" "get" "set" "init" "add" "remove")
   :attributes :brackets
   :tests (word-set "Test" "Fact" "Theory" "TestMethod" "TestCase" "DataTestMethod")
   :properties t
   :using (word-set "using")))

(define-extractor :csharp (tokens facts names path) (:ctags-kinds ())
  (walk-tongue tokens facts names path *csharp*))
