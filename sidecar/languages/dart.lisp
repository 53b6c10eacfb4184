;;;; Dart; see typed.lisp.

(defpackage #:opl.languages.dart
  (:use #:cl)
  (:import-from #:opl.languages.typed #:make-tongue #:walk-tongue)
  (:import-from #:opl.languages.braces #:word-set)
  (:import-from #:opl.languages.keyworded #:kinds)
  (:import-from #:opl.languages.extractor #:define-extractor)
  (:import-from #:opl.source.names #:known))
(in-package #:opl.languages.dart)

;; https://dart.dev/language/keywords
(defparameter *dart*
  (make-tongue
   :types (kinds "class" "class" "mixin" "mixin" "enum" "enum" "extension" "extension")
   :modifiers (word-set "abstract" "static" "final" "const" "external" "factory" "late" "covariant" "sealed" "base" "interface" "required" "var")
   :keywords (word-set "as" "assert" "break" "case" "catch" "continue" "default" "do" "else" "finally" "for" "if" "in" "is" "rethrow" "return" "switch"
                       "throw" "try" "while" "with" "yield" "await" "async" "sync" "on" "show" "hide" "get" "set")
   :openers (word-set "else" "do" "try" "finally" "await")
   :parents (word-set "extends" "with" "implements" "on")
   :spaces (word-set) :attributes :at :getters t :construct t
   :using (word-set "import" "export" "part" "library")))

(define-extractor :dart (tokens facts names path) (:ctags-kinds ())
  (walk-tongue tokens facts names path *dart*))
