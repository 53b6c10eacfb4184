;;;; Languages in which a word says what is declared (fun f, class C, val x): Kotlin, Scala, Swift, Solidity, Zig.
;;;; One walk for all; a `tongue' says which words a language has and where it puts types, parents and bodies.
;;;; Here: types, where things end, modifiers; functions, what has members; values, statements, operands: keyworded.lisp.

(defpackage #:opl.languages.keyworded
  (:use #:cl #:opl.source.tokens #:opl.source.facts #:opl.languages.braces)
  (:import-from #:opl.source.names #:+none+ #:known #:name-octet #:name-length)
  (:export #:tongue #:make-tongue #:walk-tongue #:words #:kinds #:expression-end #:take-declaration #:take-body #:parse-type
           #:upper-name-p #:*tongue* #:statement #:primary #:postfix-hook #:skip-annotations #:tongue-keywords #:tongue-openers))
(in-package #:opl.languages.keyworded)
(declaim (optimize (speed 1) (safety 1)))
(declaim (ftype function take-function take-type))

(defun words (&rest words)
  "The set of WORDS, strings, for `in-word-set-p'."
  (apply #'word-set words))

(defmacro kinds (&rest pairs)
  "An association list from words to kinds, as name numbers: (kinds \"fun\" \"function\" …)."
  `(list ,@(loop for (word kind) on pairs by #'cddr collect `(cons (known ,word) (known ,kind)))))

(defstruct tongue
  (functions '() :type list)            ; word -> kind
  (types '() :type list)                ; word -> kind
  (values '() :type list)               ; word -> kind at the top; members are properties
  (modifiers (word-set) :type simple-bit-vector)
  (keywords (word-set) :type simple-bit-vector)
  (openers (word-set) :type simple-bit-vector)
  (parents (word-set) :type simple-bit-vector)     ; words or marks before the parents of a type
  (result (word-set ":") :type simple-bit-vector)  ; what stands before the type of a result
  (imports (word-set "import") :type simple-bit-vector)
  (tests (word-set "Test" "ParameterizedTest" "RepeatedTest") :type simple-bit-vector) ; annotations
  (unnamed (word-set) :type simple-bit-vector)     ; functions whose word is their name: init, constructor
  (type-open "<" :type string)                     ; bracket of type parameters
  (bare-result nil)                                ; fn f() Error!T { }: the result stands right after the parameters
  (expression-bodies nil)                          ; fun f() = expression
  (blocks nil)                                     ; f { … } calls f
  (classes-construct t)                            ; T(…) constructs
  (lines t)
  (constructors-in-head nil)                       ; class C(val x: T)
  (cases nil)                                      ; `case a, b' in an enum
  (typed-fields nil))                              ; members are also declared by `type name;'

(defvar *tongue* (make-tongue) "How the language that is read differs from its kin; bound for each file.")


(defun kind-of (w i list) (and (identifier-p w i) (cdr (assoc (name w i) list))))

(defun upper-name-p (w i)
  "Whether token I is an identifier that begins with an ASCII capital."
  (and (identifier-p w i) (<= 65 (name-octet (w-names w) (name w i) 0) 90)))

;;; Types: a name, its arguments, what is optional about it

(defun skip-type (w i to)
  "The token after the type at I."
  (declare (type fixnum i to))
  (loop
    (cond ((>= i to) (return i))
          ((token-at w i "(" "[")
           (setf i (1+ (closer w i to)))
           (unless (token-at w i "?" "!" "->" "=>" "." "throws" "async") (return i)))
          ((token-at w i "*" "&" "?" "!" "@" "some" "any" "inout" "borrowing" "consuming" "vararg" "suspend" "mapping" "const" "anyerror" "=>" "->" "error")
           (incf i))
          ((identifier-p w i)
           (incf i)
           (loop
             (cond ((>= i to) (return))
                   ((and (token-at w i "<") (skip-angles w i to)) (setf i (skip-angles w i to)))
                   ((and (token-at w i "[") (same-line-p w (1- i) i)) (setf i (1+ (closer w i to))))
                   ((and (token-at w i ".") (identifier-p w (1+ i))) (incf i 2))
                   ((token-at w i "?" "!" "*") (incf i))
                   (t (return))))
           (unless (token-at w i "->" "=>" "&") (return i))
           (incf i))
          (t (return i)))))

(defun parse-type (w i to)
  "The type at I. Values: node or +none+, token after."
  (declare (type fixnum i to))
  (let ((end (min to (max i (the fixnum (skip-type w i to))))))
    (values (type-node w i end) end)))

(defun type-node (w i to)
  (declare (type fixnum i to))
  (loop while (and (< i to) (token-at w i "?" "*" "!" "&" "@" "some" "any" "inout" "vararg" "suspend" "const" "borrowing" "consuming")) do (incf i))
  (cond ((>= i to) +none+)
        ((token-at w i "[") ; [T], [K: V], []T of Zig
         (let ((close (closer w i to)))
           (if (= close (1+ i))
               (node w +op-array+ (type-node w (1+ close) to))
               (let ((colon (find-at-depth w (1+ i) close (lambda (j) (token-at w j ":")))))
                 (if colon
                     (node w +op-apply+ (name-node w (known "Dictionary"))
                           (cell-list w (list (type-node w (1+ i) colon) (type-node w (1+ (the fixnum colon)) close))))
                     (node w +op-array+ (type-node w (1+ i) close)))))))
        ((token-at w i "(")
         (let* ((close (closer w i to)) (arrow (and (token-at w (1+ close) "->" "=>") (1+ close))))
           (if arrow
               (let ((types '()))
                 (do-pieces (start end w (1+ i) close)
                   (let ((colon (find-at-depth w start end (lambda (j) (token-at w j ":")))))
                     (push (type-node w (if colon (1+ (the fixnum colon)) start) end) types)))
                 (node w +op-function+ (cell-list w (nreverse types)) (type-node w (1+ arrow) to)))
               (type-node w (1+ i) close))))
        ((identifier-p w i)
         (let ((node (name-node w (name w i))) (j (1+ i)))
           (declare (type fixnum j))
           (loop
             (cond ((>= j to) (return))
                   ((and (token-at w j ".") (identifier-p w (1+ j))) (setf node (member-node w node (name w (1+ j))) j (+ j 2)))
                   ((and (token-at w j "<" "[") (< (1+ j) to))
                    (let ((end (if (token-at w j "[") (1+ (closer w j to)) (or (skip-angles w j to) to))) (types '()))
                      (declare (type fixnum end))
                      (do-pieces (start stop w (1+ j) (1- end))
                        (push (type-node w (if (token-at w start "out" "in") (1+ start) start) stop) types))
                      (when types (setf node (node w +op-apply+ node (cell-list w (nreverse types)))))
                      (setf j end)))
                   (t (return))))
           node))
        (t +none+)))

;;; Where things end

(defun goes-on-p (w i)
  "Whether the line that token I begins goes on with what stands before it."
  (or (and (= (kind w i) +punctuation+)
           (not (token-at w i "{" "(" "[" "}" "@" "#" "!" "++" "--" "~" "<")))
      (token-at w i "else" "as" "is" "where" "in" "and" "or" "extends" "with" "returns" "throws" "rethrows" "catch" "match" "yield" "until" "to" "by"
                "implements" "orelse")))

(defun unfinished-p (w i)
  "Whether token I, the last of a line, asks for more."
  (or (and (= (kind w i) +punctuation+) (not (token-at w i ")" "]" "}" "++" "--" "!" "?" "_" ";" ">")))
      (token-at w i "else" "as" "is" "return" "in" "extends" "with" "throw" "match" "where")))

(defun expression-end (w i to)
  "The token after the expression or declaration that begins at I."
  (declare (type fixnum i to))
  (let ((j i) (lines (tongue-lines *tongue*)))
    (declare (type fixnum j))
    (loop
      (when (>= j to) (return to))
      (when (token-at w j ";") (return j))
      (when (and lines (> j i) (/= (token-end-line (w-tokens w) (1- j)) (line w j))
                 (not (unfinished-p w (1- j))) (not (goes-on-p w j)))
        (return j))
      (when (token-at w j "}" ")" "]") (return j))
      (setf j (if (token-opens-p (w-tokens w) j) (1+ (closer w j to)) (1+ j))))))

;;; Modifiers and annotations

(defun skip-annotations (w i to)
  "Values: the token after annotations and modifiers at I, flags."
  (declare (type fixnum i to))
  (let ((flags 0))
    (declare (type fixnum flags))
    (loop
      (cond ((>= i to) (return))
            ((and (token-at w i "@") (identifier-p w (1+ i)))
             (when (in-word-set-p (name w (1+ i)) (tongue-tests *tongue*)) (setf flags (logior flags +test+)))
             (incf i 2)
             (loop while (and (token-at w i "." ":") (identifier-p w (1+ i)) (same-line-p w (1- i) i)) do (incf i 2))
             (when (and (token-at w i "(") (same-line-p w (1- i) i)) (setf i (1+ (closer w i to)))))
            ((and (token-at w i "#") (token-at w (1+ i) "[")) (setf i (1+ (closer w (1+ i) to))))
            ((and (identifier-p w i) (in-word-set-p (name w i) (tongue-modifiers *tongue*))
                  (or (identifier-p w (1+ i)) (token-at w (1+ i) "@" "("))
                  ;; `class func' of Swift, `fun interface' of Kotlin, `case class' of Scala
                  (or (not (token-at w i "class" "fun" "case")) (token-at w (1+ i) "func" "var" "let" "subscript" "override" "interface" "class" "object" "final")))
             (cond ((token-at w i "private" "fileprivate") (setf flags (logior flags +private+)))
                   ((token-at w i "public" "open" "pub" "external" "export") (setf flags (logior flags +exported+)))
                   ((token-at w i "abstract") (setf flags (logior flags +abstract+)))
                   ((token-at w i "static" "class") (setf flags (logior flags +static+)))
                   ((token-at w i "override") (setf flags (logior flags +override+)))
                   ((token-at w i "async" "suspend") (setf flags (logior flags +async+))))
             (incf i)
             (when (and (token-at w i "(" "[") (same-line-p w (1- i) i) (or (token-at w (1- i) "private" "public" "internal" "fileprivate" "unowned" "protected")))
               (setf i (1+ (closer w i to)))))
            (t (return))))
    (values i flags)))
