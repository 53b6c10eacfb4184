;;;; Haskell, OCaml and F#: definitions by layout or `let', application by juxtaposition.

(defpackage #:opl.languages.functional
  (:use #:cl #:opl.source.tokens #:opl.source.facts #:opl.languages.braces)
  (:import-from #:opl.source.names #:+none+ #:known #:name-octet)
  (:import-from #:opl.languages.extractor #:define-extractor))
(in-package #:opl.languages.functional)
(declaim (optimize (speed 1) (safety 1)))

(defun plain-walk (tokens facts names path) (start-walk tokens facts names path (make-dialect)))

(defun upper-p (w i) (and (identifier-p w i) (<= 65 (name-octet (w-names w) (name w i) 0) 90)))

(defun column (w i) (token-column (w-tokens w) i))

(defun qualified-end (w i to)
  "The token after A.B.c at I."
  (declare (type fixnum i to))
  (let ((j (1+ i)))
    (loop while (and (token-at w j ".") (identifier-p w (1+ j)) (< (1+ j) to) (= (token-start (w-tokens w) j) (token-end (w-tokens w) (1- j)))) do (incf j 2))
    j))

(defun argument-p (w i to)
  "Whether token I may begin the argument of an application."
  (declare (type fixnum i to))
  (and (< i to)
       (or (identifier-p w i) (member (kind w i) '(#.+string+ #.+number+ #.+character+)) (token-at w i "(" "[" "{" "~" "!" "?"))))

(defun applications (w i to words)
  "Call sites in [I, TO): a name before an argument, where no operand stands before it. WORDS: names that apply nothing."
  (declare (type fixnum i to))
  (let ((head t))
    (loop while (< i to)
          do (cond ((identifier-p w i)
                    (if (in-word-set-p (name w i) words)
                        (progn (setf head t) (incf i))
                        (let* ((after (qualified-end w i to)) (at (1- after)))
                          (declare (type fixnum after at))
                          (when (and head (not (upper-p w at)) (argument-p w after to)
                                     (not (and (identifier-p w after) (in-word-set-p (name w after) words)))
                                     (not (token-at w after "=" "->" "<-")))
                            (call-site w at (if (= at i) (name-node w (name w at)) (member-node w (name-node w (name w (- at 2))) (name w at))) +call+ +none+ +none+))
                          (setf head nil i after))))
                   ((= (kind w i) +punctuation+) (setf head (not (token-at w i ")" "]" "}"))) (incf i))
                   (t (setf head nil) (incf i))))))

;;; Haskell: https://www.haskell.org/onlinereport/haskell2010/

(defparameter *haskell-words*
  (word-set "case" "class" "data" "default" "deriving" "do" "else" "foreign" "if" "import" "in" "infix" "infixl" "infixr" "instance" "let" "module"
            "newtype" "of" "then" "type" "where" "mdo" "forall" "otherwise"))

(defun layout-end (w i to column)
  "The token after the declaration at I: the next one that begins at COLUMN or left of it on a line of its own."
  (declare (type fixnum i to))
  (loop for j of-type fixnum from (1+ i) below to
        do (when (and (new-line-p w j) (<= (column w j) column)) (return j))
        finally (return to)))

(defun haskell-type (w i end kind)
  "data, newtype, type or class at I up to END."
  (declare (type fixnum i end))
  (let* ((arrow (or (find-at-depth w i end (lambda (j) (and (token-at w j "=") (token-at w (1+ j) ">") ))) (find-at-depth w i end (lambda (j) (token-at w j "=>")))))
         (equals (find-at-depth w i end (lambda (j) (token-at w j "=" "where"))))
         (from (if (and arrow (or (null equals) (<= (the fixnum arrow) (the fixnum equals)))) (1+ (the fixnum arrow)) (1+ i)))
         (at (loop for j of-type fixnum from from below end when (upper-p w j) return j)))
    (when at
      (let ((def (define w at kind :from i :to (or equals end) :flags +has-body+)))
        (set-end w def (1- end))
        (with-body (w def :kind +class-scope+ :class def)
          (cond ((= kind (known "class")) (haskell-members w (or equals end) end))
                ((and equals (token-at w equals "=") (= kind (known "struct")))
                 (do-pieces (start stop w (1+ (the fixnum equals)) end ("|"))
                   (when (upper-p w start)
                     (let ((constructor (define w start (known "constructor") :to (min stop (+ start 2)))))
                       (set-end w constructor (1- (the fixnum (or (find-at-depth w start stop (lambda (j) (token-at w j "deriving"))) stop))))
                       (when (token-at w (1+ start) "{")
                         (do-pieces (from to w (+ start 2) (closer w (1+ start) stop))
                           (when (identifier-p w from) (set-end w (define w from (known "field") :to to) (1- to)))))))))))))))

(defun haskell-members (w i end)
  (declare (type fixnum i end))
  (loop for j of-type fixnum from (1+ i) below end
        do (when (and (identifier-p w j) (new-line-p w j) (token-at w (1+ j) "::" ","))
             (let ((stop (layout-end w j end (column w j))))
               (set-end w (define w j (known "method") :to stop :flags +declaration+) (1- (the fixnum stop)))))))

(defun haskell-import (w i end)
  (declare (type fixnum i end))
  (let ((j (1+ i)))
    (loop while (token-at w j "qualified" "safe") do (incf j))
    (when (upper-p w j)
      (let* ((after (qualified-end w j end)) (module (span-name w j after)) (as (find-at-depth w after end (lambda (k) (token-at w k "as"))))
             (local (if as (name w (1+ (the fixnum as))) (name w (1- (the fixnum after))))) (import (add-import (w-facts w) local (known "*") module 0 +star+ (line w i))))
        (bind w local :kind +imported+ :target import)))))

(defun haskell-function (w i end last)
  "The equation at I. LAST: the definition of the equation before, continued when it has the same name. The definition."
  (declare (type fixnum i end))
  (let* ((same (and last (= (draft-def-name (w-facts w) last) (name w i))))
         (equals (find-at-depth w i end (lambda (j) (token-at w j "=" "|"))))
         (def (if same last (define w i (known "function") :to (or equals end) :flags +has-body+)))
         (outer (w-def w)))
    (set-end w def (1- end))
    (when equals
      (setf (w-def w) def)
      (applications w equals end *haskell-words*)
      (setf (w-def w) outer))
    def))

(define-extractor :haskell (tokens facts names path) (:ctags-kinds ())
  (let ((w (plain-walk tokens facts names path)) (i 0) (to (tokens-count tokens)) (last nil))
    (declare (type fixnum i to))
    (loop while (< i to)
          do (let ((end (layout-end w i to 0)))
               (declare (type fixnum end))
               (cond ((token-at w i "module")
                      (add-mark facts (known "package") (span-name w (1+ i) (qualified-end w (1+ i) end)) 0)
                      (let ((where (find-at-depth w i to (lambda (j) (token-at w j "where"))))) (setf end (if where (max (1+ i) (1+ (the fixnum where))) end))))
                     ((token-at w i "import") (haskell-import w i end))
                     ((token-at w i "data" "newtype") (haskell-type w i end (known "struct")) (setf last nil))
                     ((token-at w i "type") (haskell-type w i end (known "alias")) (setf last nil))
                     ((token-at w i "class") (haskell-type w i end (known "class")) (setf last nil))
                     ((token-at w i "instance")
                      (let ((j i))
                        (declare (type fixnum j))
                        (loop while (< j end)
                              do (when (and (> j i) (identifier-p w j) (new-line-p w j) (not (upper-p w j)) (not (in-word-set-p (name w j) *haskell-words*)))
                                   (let ((stop (layout-end w j end (column w j))))
                                     (when (find-at-depth w j stop (lambda (k) (token-at w k "=" "|")))
                                       (let ((def (haskell-function w j stop nil))) (setf (draft-def-kind facts def) (known "method"))))
                                     (setf j (1- (the fixnum stop)))))
                                 (incf j)))
                      (setf last nil))
                     ((and (identifier-p w i) (not (upper-p w i)) (not (in-word-set-p (name w i) *haskell-words*)))
                      (cond ((token-at w (1+ i) "::" ",") ) ; a signature
                            (t (setf last (haskell-function w i end last))))))
               (setf i (max end (1+ i)))))))

;;; OCaml and F#: https://ocaml.org/manual/language.html

(defparameter *ocaml-words*
  (word-set "and" "as" "assert" "begin" "class" "constraint" "do" "done" "downto" "else" "end" "exception" "external" "false" "for" "fun" "function"
            "functor" "if" "in" "include" "inherit" "initializer" "lazy" "let" "match" "method" "module" "mutable" "new" "nonrec" "object" "of" "open" "or"
            "private" "rec" "sig" "struct" "then" "to" "true" "try" "type" "val" "virtual" "when" "while" "with" "namespace" "member" "override" "static"
            "abstract" "use" "yield" "return" "elif" "inline"))

(defun ocaml-item-p (w i)
  (and (new-line-p w i) (token-at w i "let" "and" "module" "type" "val" "external" "exception" "open" "class" "method" "end" "include" "member" "namespace" "static"
                                  "abstract" "override" "interface")))

(defun ocaml-end (w i to)
  "The token after the item at I: the next item that begins no further right."
  (declare (type fixnum i to))
  (let ((column (column w i)))
    (loop for j of-type fixnum from (1+ i) below to
          do (when (or (and (new-line-p w j) (<= (column w j) column) (or (ocaml-item-p w j) (< (column w j) column) (identifier-p w j) (token-at w j "[" ";;")))) (return j))
          finally (return to))))

(declaim (ftype function ocaml-items))

(defun ocaml-value (w i end kind)
  "let, and, val, external, method or member at I."
  (declare (type fixnum i end))
  (let ((j (1+ i)))
    (declare (type fixnum j))
    (loop while (and (< j end) (token-at w j "rec" "private" "virtual" "inline" "mutable" "member" "static" "override" "nonrec" "!" "this" "self" "x" "_" "." "abstract")
                     (or (identifier-p w (1+ j)) (token-at w (1+ j) "." "(" "!")))
          do (incf j))
    (when (and (token-at w j "(") (not (identifier-p w (1+ j)))) ; an operator
      (setf j (1+ j)))
    (when (and (or (identifier-p w j) (= (kind w j) +punctuation+)) (< j end) (not (in-word-set-p (if (identifier-p w j) (name w j) 0) *ocaml-words*)))
      (let* ((equals (find-at-depth w j end (lambda (k) (token-at w k "=")))) (function (and equals (> (the fixnum equals) (1+ j)) (not (token-at w (1+ j) ":"))))
             (literal (and equals (token-at w (1+ (the fixnum equals)) "fun" "function")))
             (local (/= (w-def w) +none+))
             (def (if (identifier-p w j)
                      (define w j (cond ((or (= kind (known "method")) (= kind (known "prototype"))) kind) ((or function literal) (known "function")) (t (known "variable")))
                        :from i :to (or equals end) :flags (if equals +has-body+ +declaration+))
                      +none+))
             (outer (w-def w)))
        (declare (ignorable local))
        (unless (= def +none+)
          (set-end w def (1- end))
          (setf (w-def w) def))
        (when equals (applications w (1+ (the fixnum equals)) end *ocaml-words*))
        (setf (w-def w) outer)))))

(defun ocaml-type (w i end)
  (declare (type fixnum i end))
  (let* ((equals (find-at-depth w i end (lambda (k) (token-at w k "=")))) (at (loop for j of-type fixnum from (1- (the fixnum (or equals end))) above i when (identifier-p w j) return j)))
    (when at
      (let* ((from (and equals (1+ (the fixnum equals)))) (record (and from (token-at w from "{"))) (variant (and from (or (token-at w from "|") (upper-p w from))))
             (def (define w at (cond (record (known "struct")) (variant (known "enum")) (t (known "alias"))) :from i :to (or equals end) :flags (if from +has-body+ 0))))
        (set-end w def (1- end))
        (with-body (w def :kind +class-scope+ :class def)
          (cond (record
                 (do-pieces (start stop w (1+ (the fixnum from)) (closer w from end) (";"))
                   (let ((name (if (token-at w start "mutable") (1+ start) start))) (when (identifier-p w name) (set-end w (define w name (known "field") :to stop) (1- stop))))))
                (variant
                 (do-pieces (start stop w from end ("|")) (when (upper-p w start) (set-end w (define w start (known "enumerator") :to stop) (1- stop)))))))))))

(defun ocaml-module (w i end)
  "module M = struct … end at I."
  (declare (type fixnum i end))
  (let* ((at (loop for j of-type fixnum from (1+ i) below (min end (+ i 4)) when (upper-p w j) return j)))
    (when at
      (let ((def (define w at (known "module") :from i :to (1+ at) :flags +has-body+)) (body (find-at-depth w at end (lambda (k) (token-at w k "struct" "sig" "=")))))
        (set-end w def (1- end))
        (when body
          (with-body (w def :kind +module-scope+) (ocaml-items w (1+ (the fixnum body)) end)))))))

(defun ocaml-items (w i to)
  (declare (type fixnum i to))
  (loop while (< i to)
        do (if (ocaml-item-p w i)
               (let ((end (ocaml-end w i to)))
                 (declare (type fixnum end))
                 ;; `end' closes the module it stands under
                 (when (and (token-at w i "module") (token-at w end "end") (< end to)) (incf end))
                 (cond ((token-at w i "let" "and") (ocaml-value w i end (known "function")))
                       ((token-at w i "val" "external" "abstract") (ocaml-value w i end (known "prototype")))
                       ((token-at w i "method" "member" "override" "static") (ocaml-value w i end (known "method")))
                       ((token-at w i "type" "exception") (if (and (token-at w i "type") (find-at-depth w i end (lambda (k) (and (token-at w k "member" "override" "new" "abstract") (new-line-p w k)))))
                                                              (let ((at (loop for j of-type fixnum from (1+ i) below end when (identifier-p w j) return j)))
                                                                (when at
                                                                  (let ((def (define w at (known "class") :from i :flags +has-body+)))
                                                                    (set-end w def (1- end))
                                                                    (with-body (w def :kind +class-scope+ :class def) (ocaml-items w (1+ (the fixnum at)) end)))))
                                                              (ocaml-type w i end)))
                       ((token-at w i "module" "namespace") (ocaml-module w i end))
                       ((token-at w i "class")
                        (let ((at (loop for j of-type fixnum from (1+ i) below end when (and (identifier-p w j) (not (in-word-set-p (name w j) *ocaml-words*))) return j)))
                          (when at
                            (let ((def (define w at (known "class") :from i :flags +has-body+)))
                              (set-end w def (1- end))
                              (with-body (w def :kind +class-scope+ :class def) (ocaml-items w (1+ (the fixnum at)) end))))))
                       ((token-at w i "open" "include")
                        (when (identifier-p w (1+ i))
                          (add-import (w-facts w) +none+ (known "*") (span-name w (1+ i) (qualified-end w (1+ i) end)) 0 +star+ (line w i)))))
                 (setf i (max end (1+ i))))
               (incf i))))

(define-extractor :ocaml (tokens facts names path) (:ctags-kinds ())
  (ocaml-items (plain-walk tokens facts names path) 0 (tokens-count tokens)))
