;;;; Solidity; see keyworded.lisp.

(defpackage #:opl.languages.solidity
  (:use #:cl #:opl.languages.keyworded)
  (:import-from #:opl.languages.extractor #:define-extractor)
  (:import-from #:opl.source.names #:known))
(in-package #:opl.languages.solidity)

;; https://docs.soliditylang.org/en/latest/grammar.html
(defparameter *solidity*
  (make-tongue
   :functions (kinds "function" "function" "modifier" "modifier" "constructor" "constructor" "fallback" "function" "receive" "function"
                     "event" "event" "error" "error")
   :types (kinds "contract" "class" "interface" "interface" "library" "module" "struct" "struct" "enum" "enum" "type" "alias")
   :modifiers (words "abstract")
   :keywords (words "if" "else" "for" "while" "do" "return" "returns" "contract" "interface" "library" "struct" "enum" "function" "modifier" "mapping"
                    "emit" "import" "pragma" "using" "is" "new" "delete" "try" "catch" "unchecked" "assembly" "memory" "storage" "calldata" "public"
                    "private" "internal" "external" "view" "pure" "payable" "virtual" "override" "event" "constructor")
   :openers (words "else" "do" "unchecked" "emit")
   :parents (words "is")
   :result (words "returns")
   :unnamed (words "constructor" "fallback" "receive")
   :lines nil :typed-fields t))

(define-extractor :solidity (tokens facts names path) (:ctags-kinds ())
  (walk-tongue tokens facts names path *solidity*))
