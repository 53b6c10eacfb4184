;;;; C++; see typed.lisp. Preprocessor lines are read as in C.

(defpackage #:opl.languages.c++
  (:use #:cl #:opl.source.facts #:opl.source.tokens)
  (:import-from #:opl.languages.typed #:make-tongue #:walk-tongue)
  (:import-from #:opl.languages.braces #:word-set #:w-tokens #:w-facts #:name #:mate #:line #:identifier-p #:token-at #:define #:closer #:string-name #:kind)
  (:import-from #:opl.languages.keyworded #:kinds)
  (:import-from #:opl.languages.extractor #:define-extractor)
  (:import-from #:opl.source.names #:known #:+none+))
(in-package #:opl.languages.c++)

;; https://en.cppreference.com/w/cpp/keyword
(defparameter *c++*
  (make-tongue
   :types (kinds "class" "class" "struct" "struct" "union" "union" "enum" "enum")
   :modifiers (word-set "static" "virtual" "inline" "explicit" "friend" "extern" "constexpr" "consteval" "constinit" "mutable" "thread_local" "export" "register"
                        "typename" "__inline" "__forceinline" "_Noreturn")
   :keywords (word-set "alignof" "asm" "break" "case" "catch" "co_await" "co_return" "co_yield" "continue" "default" "delete" "do" "else" "for" "goto" "if" "noexcept"
                       "operator" "return" "sizeof" "static_assert" "switch" "throw" "try" "typeid" "while" "using" "template" "requires" "concept" "decltype" "static_cast"
                       "dynamic_cast" "const_cast" "reinterpret_cast" "override" "final" "public" "private" "protected" "__attribute__" "alignas" "defined")
   :attributes :none :outside t :labels t :construct t
   :using (word-set "using")))

(defun take-directive (w i)
  "#include and #define at I."
  (let ((mate (mate w i)) (word (name w i)) (at (1+ i)))
    (unless (= mate +none+)
      (cond ((= word (known "define"))
             (when (and (identifier-p w at) (< at mate))
               (let* ((function (and (token-at w (1+ at) "(") (< (1+ at) mate) (= (token-start (w-tokens w) (1+ at)) (token-end (w-tokens w) at))))
                      (def (define w at (known "macro") :from i :to (if function (1+ (closer w (1+ at) mate)) (1+ at)) :bind nil
                             :flags (if function +has-body+ 0) :parent +none+)))
                 (setf (draft-def-end (w-facts w) def) (token-end-line (w-tokens w) (1- mate))))))
            ((= word (known "include"))
             (let* ((tokens (w-tokens w))
                    (path (cond ((= (kind w at) +string+) (string-content tokens at))
                                ((token-at w at "<")
                                 (let ((close (loop for j from at below mate when (token-is tokens j ">") return j)))
                                   (and close (opl.source.names:octets-string (tokens-octets tokens) :start (token-end tokens at) :end (token-start tokens close))))))))
               (when path
                 (add-import (w-facts w) +none+ (known "*") (string-name w path) 0
                             (logior +star+ (if (= (kind w at) +string+) +relative+ 0)) (line w i)))))))))

(define-extractor :c++ (tokens facts names path) (:ctags-kinds ())
  (walk-tongue tokens facts names path *c++* :preprocessor #'take-directive))
