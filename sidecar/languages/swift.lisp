;;;; Swift; see keyworded.lisp.

(defpackage #:opl.languages.swift
  (:use #:cl #:opl.languages.keyworded)
  (:import-from #:opl.languages.extractor #:define-extractor)
  (:import-from #:opl.source.names #:known))
(in-package #:opl.languages.swift)

;; https://docs.swift.org/swift-book/documentation/the-swift-programming-language/lexicalstructure/
(defparameter *swift*
  (make-tongue
   :functions (kinds "func" "function" "init" "constructor" "deinit" "method" "subscript" "method" "macro" "macro")
   :types (kinds "class" "class" "struct" "struct" "enum" "enum" "protocol" "protocol" "extension" "extension" "actor" "class" "typealias" "alias"
                 "associatedtype" "alias")
   :values (kinds "let" "constant" "var" "variable")
   :modifiers (words "public" "private" "fileprivate" "internal" "open" "final" "static" "class" "override" "mutating" "nonmutating" "lazy" "weak"
                     "unowned" "required" "convenience" "dynamic" "optional" "indirect" "async" "nonisolated" "isolated" "package" "infix" "prefix"
                     "postfix" "distributed" "consuming" "borrowing")
   :keywords (words "as" "break" "case" "catch" "class" "continue" "default" "defer" "do" "else" "enum" "extension" "fallthrough" "for" "func" "guard"
                    "if" "import" "in" "inout" "is" "let" "nil" "protocol" "repeat" "return" "struct" "switch" "throw" "throws" "true" "false" "try"
                    "var" "where" "while" "await" "get" "set" "willSet" "didSet" "some" "any" "associatedtype" "typealias" "rethrows")
   :openers (words "else" "do" "defer" "repeat" "guard" "if" "while")
   :parents (words ":")
   :result (words "->")
   :unnamed (words "init" "deinit" "subscript")
   :blocks t :cases t))

(define-extractor :swift (tokens facts names path) (:ctags-kinds ())
  (walk-tongue tokens facts names path *swift*))
