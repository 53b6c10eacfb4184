;;;; Languages in which a word says what is declared (fun f, class C, val x): Kotlin, Scala, Swift, Solidity, Zig.
;;;; One walk for all; a `tongue' says which words a language has and where it puts types, parents and bodies.

(defpackage #:opl.languages.keyworded
  (:use #:cl #:opl.source.tokens #:opl.source.facts #:opl.languages.braces)
  (:import-from #:opl.source.names #:+none+ #:known #:name-octet #:name-length)
  (:export #:tongue #:make-tongue #:walk-tongue #:tongue-p #:words #:kinds #:expression-end #:take-declaration #:take-body #:parse-type
           #:upper-name-p #:*tongue* #:statement #:primary #:postfix-hook #:skip-annotations))
(in-package #:opl.languages.keyworded)
(declaim (optimize (speed 1) (safety 1)))

(defun words (&rest words) (apply #'word-set words))

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
  (expression-bodies nil)                          ; fun f() = expression
  (blocks nil)                                     ; f { … } calls f
  (classes-construct t)                            ; T(…) constructs
  (lines t)
  (constructors-in-head nil)                       ; class C(val x: T)
  (cases nil)                                      ; `case a, b' in an enum
  (typed-fields nil))                              ; members are also declared by `type name;'

(defvar *tongue* (make-tongue))

(declaim (ftype function take-declaration take-function take-type take-value))

(defun kind-of (w i list) (and (identifier-p w i) (cdr (assoc (name w i) list))))

(defun upper-name-p (w i) (and (identifier-p w i) (<= 65 (name-octet (w-names w) (name w i) 0) 90)))

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
      (token-at w i "else" "as" "is" "return" "in" "extends" "with" "throw" "match")))

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

;;; Functions

(defun parameter-name (w start colon)
  "The token of the name that a parameter has inside: the last before its colon."
  (last-identifier w start colon))

(defun take-parameters (w open close)
  "Binds the parameters between the brackets; their types."
  (declare (type fixnum open close))
  (let ((index 0) (types '()))
    (declare (type fixnum index))
    (do-pieces (start end w (1+ open) close)
      (when (< start end)
        (let* ((start (skip-annotations w start end))
               (colon (find-at-depth w start end (lambda (j) (token-at w j ":"))))
               (equals (find-at-depth w (or colon start) end (lambda (j) (token-at w j "="))))
               (at (if colon
                       (parameter-name w start colon)
                       (and (< (1+ start) end) (last-identifier w start (or equals end)))))
               (type (cond (colon (nth-value 0 (parse-type w (1+ (the fixnum colon)) (or equals end))))
                           ((and at (> (the fixnum at) start)) (nth-value 0 (parse-type w start at)))
                           (t +none+))))
          (when at (bind w (name w at) :kind +parameter+ :type type :index index))
          (when equals (expression w (1+ (the fixnum equals)) end))
          (push type types)
          (incf index))))
    (nreverse types)))

(defun take-body (w def i to)
  "What follows a function's parameters from I on: the type of its result, then its body if any. The token after."
  (declare (type fixnum i to))
  (let ((j i))
    (declare (type fixnum j))
    (loop
      (cond ((>= j to) (return (finish w def (1- j) nil j)))
            ((token-at w j "{")
             (let ((close (closer w j to)))
               (code w (1+ j) close)
               (return (finish w def close t (1+ close)))))
            ((and (token-at w j "=") (tongue-expression-bodies *tongue*))
             (return (take-expression-body w def (if (token-at w (1+ j) "{") j j) to)))
            ((token-at w j ";") (return (finish w def j nil (1+ j))))
            ((token-at w j "}") (return (finish w def (1- j) nil j)))
            ((and (in-word-set-p (name w j) (tongue-result *tongue*)) (<= (kind w j) +punctuation+))
             (multiple-value-bind (type next)
                 (if (token-at w (1+ j) "(")
                     (result-in-brackets w (1+ j) to)
                     (parse-type w (1+ j) to))
               (declare (type fixnum next))
               (unless (= def +none+) (setf (draft-def-type (w-facts w) def) type))
               (setf j (max (1+ j) next))))
            ((and (tongue-lines *tongue*) (> j i) (new-line-p w j) (not (goes-on-p w j)) (not (unfinished-p w (1- j))))
             (return (finish w def (1- j) nil j)))
            ((and (tongue-lines *tongue*) (= j i) (new-line-p w j) (not (goes-on-p w j)))
             (return (finish w def (1- j) nil j)))
            ((token-at w j "(") ; a modifier with arguments
             (let ((close (closer w j to)))
               (when (identifier-p w (1- j)) (arguments w j close))
               (setf j (1+ close))))
            (t (incf j))))))

(defun result-in-brackets (w open to)
  "returns (T a) of Solidity, (A) -> B of Swift and Kotlin."
  (declare (type fixnum open to))
  (let ((close (closer w open to)))
    (if (token-at w (1+ close) "->" "=>")
        (parse-type w open to)
        (values (nth-value 0 (parse-type w (1+ open) close)) (1+ close)))))

(defun take-expression-body (w def equals to)
  "The expression after the `=' at EQUALS."
  (declare (type fixnum equals to))
  (let* ((braced (token-at w (1+ equals) "{"))
         (end (if braced (1+ (closer w (1+ equals) to)) (expression-end w (1+ equals) to))))
    (declare (type fixnum end))
    (if braced
        (code w (+ equals 2) (1- end))
        (let ((value (expression w (1+ equals) end)))
          (unless (or (= def +none+) (/= (draft-def-type (w-facts w) def) +none+) (= value +none+))
            (setf (draft-def-type (w-facts w) def) (node w +op-typeof+ value)))))
    (finish w def (1- end) t end)))

(defun finish (w def last body next)
  (unless (= def +none+)
    (set-end w def last)
    (setf (draft-def-flags (w-facts w) def) (logior (draft-def-flags (w-facts w) def) (if body +has-body+ +declaration+))))
  next)

(defun take-function (w first word to kind flags)
  "The function whose word is at WORD; the token after, or nil."
  (declare (type fixnum first word to))
  (let* ((unnamed (in-word-set-p (name w word) (tongue-unnamed *tongue*)))
         (at (if unnamed word (function-name-token w word to))))
    (when at
      (let* ((at at) (member (eq (w-member w) :class))
             (kind (cond ((token-at w word "init" "constructor") (known "constructor"))
                         ((and member (= kind (known "function"))) (known "method"))
                         (t kind)))
             (local (and (not member) (/= (w-def w) +none+)))
             (open (function-open w at to))
             (test (or (logtest flags +test+) (test-name-p w at)))
             (def (define w at kind :from first :to (signature-end w at to)
                    :flags (logior flags (if local +local+ 0) (if test +test+ 0))))
             (next to))
        (declare (type fixnum at))
        (let ((old (w-member w)))
          (setf (w-member w) nil)
          (with-body (w def)
            (let ((j (1+ at)) (any nil))
              (declare (type fixnum j))
              (when (and (token-at w j "<" "[") (not (token-at w at "subscript")))
                (setf j (take-type-parameters w j to)))
              (when open (setf j open))
              (loop while (and (token-at w j "(") (< j to) (or (null any) (same-line-p w (1- j) j)))
                    do (let ((close (closer w j to)))
                         (take-parameters w j close)
                         (setf any t j (1+ close))))
              (setf next (take-body w def j to))))
          (setf (w-member w) old))
        (when test
          (add-test (w-facts w) (name w at) (line w at) (draft-def-end (w-facts w) def) +none+))
        next))))

(defun test-name-p (w at)
  "testX of XCTest and forge."
  (let ((text (token-text (w-tokens w) at)))
    (and (> (length text) 4) (string= "test" text :end2 4) (not (lower-case-p (char text 4)))
         (search "est" (w-path w)) t)))

(defun take-type-parameters (w i to)
  (declare (type fixnum i to))
  (let* ((after (if (token-at w i "[") (1+ (closer w i to)) (or (skip-angles w i to) (1+ i)))) (index 0))
    (declare (type fixnum after index))
    (do-pieces (start end w (1+ i) (1- after))
      (let ((start (if (token-at w start "reified" "in" "out" "+" "-" "each") (1+ start) start)))
        (when (identifier-p w start)
          (bind w (name w start) :kind +type-parameter+ :index index
                                 :type (if (token-at w (1+ start) ":" "<:") (nth-value 0 (parse-type w (+ start 2) end)) +none+))
          (incf index))))
    after))

(defun function-name-token (w word to)
  "The token of the name after the word at WORD, or nil."
  (declare (type fixnum word to))
  (let ((j (1+ word)))
    (declare (type fixnum j))
    (when (token-at w j "<") (setf j (or (skip-angles w j to) j)))
    (cond ((identifier-p w j)
           ;; fun Type<T>.name(: the last part
           (loop
             (let ((next (cond ((and (token-at w (1+ j) "<") (skip-angles w (1+ j) to)) (skip-angles w (1+ j) to)) (t (1+ j)))))
               (declare (type fixnum next))
               (when (token-at w next "?") (incf next))
               (if (and (token-at w next "." "?.") (identifier-p w (1+ next)) (< (1+ next) to) (same-line-p w word next))
                   (setf j (1+ next))
                   (return j)))))
          ((and (= (kind w j) +punctuation+) (not (token-at w j "(" "{" "=" "." ")" "," "}"))) j) ; an operator
          ((and (token-at w j "=") (token-at w (1+ j) "=")) j)
          ((= (kind w j) +string+) j))))

(defun function-open (w at to)
  "The bracket of the parameters after the name at AT, type parameters skipped, or nil."
  (declare (type fixnum at to))
  (let ((j (1+ at)))
    (declare (type fixnum j))
    (loop while (and (= (kind w j) +punctuation+) (token-at w j "=" "+" "-" "*" "/" "<" ">" "!" "==" "%" "&" "|" "^" "~") (not (token-at w (1+ j) "(" "<"))
                     (not (identifier-p w at)))
          do (incf j))
    (when (and (not (identifier-p w at)) (= (kind w j) +punctuation+) (token-at w (1+ j) "(")) (incf j))
    (cond ((token-at w j "<") (setf j (or (skip-angles w j to) j)))
          ((and (token-at w j "[") (token-at w (1+ (closer w j to)) "(")) (setf j (1+ (closer w j to)))))
    (and (token-at w j "(") (< j to) j)))

(defun signature-end (w at to)
  (declare (type fixnum at to))
  (or (find-at-depth w at (min to (+ at 200)) (lambda (j) (or (token-at w j "{" "=" ";") (and (> j (1+ at)) (tongue-lines *tongue*) (new-line-p w j) (not (token-at w j ")"))))))
      (min to (+ at 40))))

;;; Types

(defun take-parents (w def i to)
  "The parents from I on up to the body at TO."
  (declare (type fixnum i to))
  (let ((j i))
    (declare (type fixnum j))
    (loop
      (cond ((>= j to) (return))
            ((token-at w j "where" "by") (return))
            ((and (identifier-p w j) (not (in-word-set-p (name w j) (tongue-parents *tongue*))))
             (multiple-value-bind (type next) (parse-type w j to)
               (declare (type fixnum next))
               (unless (= type +none+) (add-heritage (w-facts w) def (if (= j i) +extends+ +implements+) type))
               (when (and (token-at w next "(") (< next to))
                 (let ((close (closer w next to)))
                   (when (identifier-p w (1- next))
                     (let ((site (call-site w (1- next) type +super-call+ +none+ +none+)))
                       (call-arguments w site next close)))
                   (setf next (1+ close))))
               (setf j (max (1+ j) next))))
            (t (incf j))))))

(defun head-constructor (w def open close)
  "class C(val x: T, y: U): parameters that are fields too."
  (declare (type fixnum open close) (ignorable def))
  (do-pieces (start end w (1+ open) close)
    (when (< start end)
      (let* ((at (skip-annotations w start end)) (value (token-at w at "val" "var")) (at (if value (1+ at) at)))
        (declare (type fixnum at))
        (when (and (identifier-p w at) (token-at w (1+ at) ":"))
          (let* ((equals (find-at-depth w at end (lambda (j) (token-at w j "="))))
                 (type (nth-value 0 (parse-type w (+ at 2) (or equals end)))))
            (if (or value (tongue-cases *tongue*))
                (set-end w (define w at (known "property") :from start :to end :type type) at)
                (bind w (name w at) :kind +parameter+ :type type))
            (when equals (expression w (1+ (the fixnum equals)) end))))))))

(defun take-entries (w i close)
  "The entries of an enum from I on: A, B(1) { … }; — the token after them."
  (declare (type fixnum i close))
  (loop
    (setf i (skip-annotations w i close))
    (cond ((>= i close) (return close))
          ((token-at w i ";") (return (1+ i)))
          ((token-at w i ",") (incf i))
          ((and (identifier-p w i) (or (token-at w (1+ i) "," ";" "(" "{" "=") (= (1+ i) close)))
           (let ((def (define w i (known "enumerator"))) (j (1+ i)))
             (declare (type fixnum j))
             (when (and (token-at w j "(") (< j close)) (let ((end (closer w j close))) (arguments w j end) (setf j (1+ end))))
             (when (token-at w j "=") (let ((end (or (find-at-depth w j close (lambda (k) (token-at w k ","))) close))) (code w (1+ j) end) (setf j end)))
             (when (and (token-at w j "{") (< j close))
               (let ((end (closer w j close)))
                 (with-body (w def :kind +class-scope+ :class def)
                   (let ((old (w-member w)))
                     (setf (w-member w) :class)
                     (code w (1+ j) end)
                     (setf (w-member w) old)))
                 (setf j (1+ end))))
             (set-end w def (1- j))
             (setf i j)))
          (t (return i)))))

(defun take-cases (w i to)
  "case a, b(Int) = 1 of an enum at I; the token after."
  (declare (type fixnum i to))
  (let ((end (expression-end w (1+ i) to)))
    (do-pieces (start stop w (1+ i) end)
      (when (identifier-p w start) (set-end w (define w start (known "enumerator") :to stop) (1- stop))))
    end))

(defun type-head-end (w i to)
  "The `{' of the body of the type whose name is at I, or the token after a type without body. Second value: whether there is a body."
  (declare (type fixnum i to))
  (let ((j (1+ i)))
    (declare (type fixnum j))
    (loop
      (cond ((>= j to) (return (values to nil)))
            ((token-at w j "{") (return (values j t)))
            ((token-at w j ";" "}") (return (values j nil)))
            ((and (tongue-lines *tongue*) (new-line-p w j) (not (goes-on-p w j)) (not (unfinished-p w (1- j)))
                  (not (token-at w j "(" "private" "constructor" "internal")))
             (return (values j nil)))
            ((token-at w j "=") (return (values j nil)))
            ((token-opens-p (w-tokens w) j) (setf j (1+ (closer w j to))))
            (t (incf j))))))

(defun take-alias (w first at to kind flags)
  "typealias A = B, type A = B; the token after."
  (declare (type fixnum first at to))
  (let* ((end (expression-end w at to)) (equals (find-at-depth w at end (lambda (j) (token-at w j "="))))
         (def (define w at kind :from first :to end :flags flags)))
    (when equals (setf (draft-def-type (w-facts w) def) (nth-value 0 (parse-type w (1+ (the fixnum equals)) end))))
    (set-end w def (1- (the fixnum end)))
    end))

(defun take-type (w first word to kind flags)
  "The type whose word is at WORD; the token after, or nil."
  (declare (type fixnum first word to))
  (let* ((at (1+ word)) (unnamed (not (identifier-p w at))))
    (declare (type fixnum at))
    (when (and unnamed (not (and (token-at w word "object") (token-at w at "{" ":")))) (return-from take-type nil))
    (when (= kind (known "alias")) (return-from take-type (take-alias w first at to kind flags)))
    (when (token-at w (1- word) "enum") (setf kind (known "enum")))
    (when unnamed (return-from take-type (take-object w first word to flags)))
    ;; Outer.Inner of an extension: the last part
    (loop while (and (token-at w (1+ at) ".") (identifier-p w (+ at 2))) do (incf at 2))
    (multiple-value-bind (brace body) (type-head-end w at to)
      (declare (type fixnum brace))
      (let* ((def (define w at kind :from first :to brace :bind (/= kind (known "extension"))
                    :flags (logior flags (if body +has-body+ 0) (if (and (not (eq (w-member w) :class)) (/= (w-def w) +none+)) +local+ 0))))
             (close (if body (closer w brace to) (1- brace))) (old (w-member w)))
        (declare (type fixnum close))
        (with-body (w def :kind +class-scope+ :class def)
          (let ((j (1+ at)))
            (declare (type fixnum j))
            (when (token-at w j "<" "[") (setf j (take-type-parameters w j brace)))
            (loop while (and (< j brace) (not (token-at w j "(")) (not (in-word-set-p (name w j) (tongue-parents *tongue*)))) do (incf j))
            (loop while (and (token-at w j "(") (< j brace))
                  do (let ((end (closer w j brace))) (head-constructor w def j end) (setf j (1+ end))))
            (let ((parents (find-at-depth w j brace (lambda (k) (and (<= (kind w k) +punctuation+) (in-word-set-p (name w k) (tongue-parents *tongue*)))))))
              (when parents (take-parents w def (1+ (the fixnum parents)) brace))))
          (when body
            (setf (w-member w) :class)
            (code w (if (and (= kind (known "enum")) (not (tongue-cases *tongue*))) (take-entries w (1+ brace) close) (1+ brace)) close)
            (setf (w-member w) old)))
        (set-end w def close)
        (1+ close)))))

(defun take-object (w first word to flags)
  "companion object { … } and object : T { … }: members of what stands around."
  (declare (type fixnum first word to) (ignorable first flags))
  (let ((brace (find-at-depth w word to (lambda (j) (token-at w j "{")))))
    (when brace
      (let ((close (closer w brace to)) (old (w-member w)))
        (setf (w-member w) :class)
        (code w (1+ (the fixnum brace)) close)
        (setf (w-member w) old)
        (1+ close)))))

;;; Values

(defun take-value (w first word to kind flags)
  "val, var, let, const at WORD; the token after."
  (declare (type fixnum first word to))
  (let* ((at (let ((j (1+ word)))
               (when (token-at w j "<") (setf j (or (skip-angles w j to) j)))
               (cond ((identifier-p w j) (function-name-token w (1- j) to)) (t j))))
         (end (expression-end w word to))
         (member (eq (w-member w) :class)) (top (= (w-def w) +none+)))
    (declare (type fixnum at end))
    (cond ((token-at w at "(") ; several names
           (let* ((close (closer w at to)) (equals (find-at-depth w close end (lambda (j) (token-at w j "=" "in")))))
             (when equals (expression w (1+ (the fixnum equals)) end))
             (do-pieces (start stop w (1+ at) close) (when (identifier-p w start) (bind w (name w start))))
             end))
          ((not (identifier-p w at)) nil)
          (t (let* ((equals (find-at-depth w at end (lambda (j) (token-at w j "=" "by" "{"))))
                    (colon (find-at-depth w at (or equals end) (lambda (j) (token-at w j ":"))))
                    (type (if colon (nth-value 0 (parse-type w (1+ (the fixnum colon)) (or equals end))) +none+))
                    (def (if (or member top)
                             (define w at (if member (known "property") kind) :from first :to (or equals end) :type type :flags flags)
                             +none+))
                    (outer (w-def w)) (old (w-member w)))
               (unless (= def +none+) (setf (w-def w) def))
               (setf (w-member w) nil)
               (let ((value (cond ((null equals) +none+)
                                  ((token-at w equals "{") (let ((close (closer w equals to)))
                                                             (with-block (w) (code w (1+ (the fixnum equals)) close))
                                                             (setf end (max end (1+ close)))
                                                             +none+))
                                  (t (with-expected (w type) (expression w (1+ (the fixnum equals)) end))))))
                 (setf (w-def w) outer (w-member w) old)
                 (cond ((= def +none+) (bind w (name w at) :type type :value value))
                       (t (set-end w def (1- end))
                          (unless (or (/= type +none+) (= value +none+))
                            (setf (draft-def-type (w-facts w) def) (node w +op-typeof+ value))))))
               end)))))

;;; Statements and operands

(defun take-import (w i to)
  "The import at I; the token after."
  (declare (type fixnum i to))
  (let* ((end (loop for j of-type fixnum from (1+ i) below to
                    until (or (token-at w j ";") (and (> j (1+ i)) (new-line-p w j) (not (token-at w (1- j) "," "{" "."))))
                    finally (return j)))
         (alias (find-at-depth w i end (lambda (j) (token-at w j "as" "=>"))))
         (stop (or alias end)))
    (declare (type fixnum end stop))
    (loop while (and (> stop (1+ i)) (not (or (identifier-p w (1- stop)) (token-at w (1- stop) "*" "}")))) do (decf stop))
    (when (and (< (1+ i) stop) (identifier-p w (1+ i)))
      (let* ((star (token-at w (1- stop) "*" "_")) (whole (> stop (+ i 2))))
        (cond ((token-at w (1- stop) "}")
               (let* ((open (mate w (1- stop))) (module (span-name w (1+ i) (max (+ i 2) (1- open)))))
                 (do-pieces (start finish w (1+ open) (1- stop))
                   (when (identifier-p w start)
                     (let* ((last (last-identifier w start finish))
                            (import (add-import (w-facts w) (name w last) (name w start) module (w-scope w) 0 (line w start))))
                       (bind w (name w last) :kind +imported+ :target import))))))
              (star (add-import (w-facts w) +none+ (known "*") (span-name w (1+ i) (max (+ i 2) (- stop 2))) (w-scope w) +star+ (line w i)))
              (t (let* ((local (if (and alias (identifier-p w (1+ (the fixnum alias)))) (name w (1+ (the fixnum alias))) (name w (1- stop))))
                        (module (span-name w (1+ i) (if whole (- stop 2) stop)))
                        (import (add-import (w-facts w) local (if whole (name w (1- stop)) (known "*")) module (w-scope w) 0 (line w i))))
                   (bind w local :kind +imported+ :target import))))))
    (when (= (kind w (1+ i)) +string+)
      (add-import (w-facts w) +none+ (known "*") (string-name w (string-content (w-tokens w) (1+ i))) (w-scope w) (logior +star+ +relative+) (line w i)))
    end))

(defun take-declaration (w i to)
  "The declaration at I; the token after, or nil."
  (declare (type fixnum i to))
  (multiple-value-bind (j flags) (skip-annotations w i to)
    (declare (type fixnum j))
    (let (kind)
      (cond ((>= j to) (and (> j i) to))
            ((not (identifier-p w j)) (and (> j i) (not (token-at w j "(" ".")) j))
            ((and (setf kind (kind-of w j (tongue-types *tongue*))) (not (token-at w (1- j) "." "::"))
                  (take-type w i j to kind flags)))
            ((and (setf kind (kind-of w j (tongue-functions *tongue*))) (not (token-at w (1- j) "."))
                  (or (not (in-word-set-p (name w j) (tongue-unnamed *tongue*)))
                      (and (eq (w-member w) :class) (or (token-at w (1+ j) "(" "?" "{" "<"))))
                  (take-function w i j to kind flags)))
            ((and (setf kind (kind-of w j (tongue-values *tongue*))) (take-value w i j to kind flags)))
            ((and (token-at w j "case") (tongue-cases *tongue*) (eq (w-member w) :class)) (take-cases w j to))
            ((in-word-set-p (name w j) (tongue-imports *tongue*)) (take-import w j to))
            ((and (token-at w j "package") (identifier-p w (1+ j)))
             (let ((end (loop for k of-type fixnum from (1+ j) below to while (or (identifier-p w k) (token-at w k ".")) 
                              until (and (> k (1+ j)) (new-line-p w k)) finally (return k))))
               (add-mark (w-facts w) (known "package") (span-name w (1+ j) end) 0)
               end))
            ((and (tongue-typed-fields *tongue*) (eq (w-member w) :class)) (take-typed-field w i to))
            ((> j i) j)))))

(defun take-typed-field (w i to)
  "type words name [= value]; at I; the token after, or nil."
  (declare (type fixnum i to))
  (let* ((end (or (find-at-depth w i to (lambda (j) (token-at w j ";" "{"))) to))
         (equals (find-at-depth w i end (lambda (j) (token-at w j "="))))
         (at (last-identifier w i (or equals end))))
    (when (and at (> (the fixnum at) i) (token-at w end ";") (not (token-at w i "using")))
      (let ((def (define w at (known "field") :from i :to (or equals end) :type (nth-value 0 (parse-type w i at)))))
        (set-end w def end)
        (when equals (let ((outer (w-def w))) (setf (w-def w) def) (expression w (1+ (the fixnum equals)) end) (setf (w-def w) outer)))
        (1+ (the fixnum end))))))

(defun statement (w i to)
  (declare (type fixnum i to))
  (cond ((and (identifier-p w i) (token-at w i "for") (token-at w (1+ i) "(") (find-at-depth w (+ i 2) (closer w (1+ i) to) (lambda (j) (token-at w j "in" "<-"))))
         (take-for w (+ i 2) (closer w (1+ i) to)))
        ((and (identifier-p w i) (token-at w i "for") (identifier-p w (1+ i)))
         (let ((brace (find-at-depth w i to (lambda (j) (token-at w j "{")))))
           (and brace (take-for w (1+ i) brace))))
        ((or (identifier-p w i) (token-at w i "@" "#")) (take-declaration w i to))))

(defun take-for (w i end)
  "The header of a loop, [I, END): x in xs. The token after."
  (declare (type fixnum i end))
  (let ((in (find-at-depth w i end (lambda (j) (token-at w j "in" "<-")))))
    (if (null in)
        i
        (let ((over (expression w (1+ (the fixnum in)) end)) (at (last-identifier w i (or (find-at-depth w i in (lambda (j) (token-at w j ":"))) in))))
          (when at (bind w (name w at) :value (if (= over +none+) +none+ (node w +op-element+ over))))
          end))))

(defun block-parameters (w open close)
  "Binds the parameters of the closure { a, b -> … } or { a in … }; the token where its code begins."
  (declare (type fixnum open close))
  (let ((arrow (find-at-depth w (1+ open) (min close (+ open 24)) (lambda (j) (or (token-at w j "->" "in" "=>" ";") (and (> j (1+ open)) (token-at w j "=" ".")))))))
    (cond ((and arrow (token-at w arrow "->" "in" "=>"))
           (let ((index 0) (from (1+ open)) (to arrow))
             (declare (type fixnum index from to))
             (when (token-at w from "[") (setf from (1+ (closer w from to))))
             (when (token-at w from "(") (setf to (closer w from to)) (incf from))
             (do-pieces (start end w from to)
               (when (identifier-p w start)
                 (bind w (name w start) :kind +parameter+ :index index
                                        :type (if (token-at w (1+ start) ":") (nth-value 0 (parse-type w (+ start 2) end)) (callback-node w index)))
                 (incf index)))
             (1+ (the fixnum arrow))))
          (t (bind w (known "it") :kind +parameter+ :type (callback-node w 0))
             (1+ open)))))

(defun take-closure (w open to)
  "The closure whose `{' is at OPEN. Values: node, token after."
  (declare (type fixnum open to))
  (let ((close (closer w open to)) (def (w-def w)) (member (w-member w)))
    (with-body (w +none+)
      (setf (w-def w) def (w-member w) nil)
      (let ((from (block-parameters w open close)) (scope (w-scope w)))
        (code w from close)
        (setf (w-member w) member)
        (values (node w +op-function+ +none+ +none+ scope) (1+ close))))))

(defun primary (w i to)
  (declare (type fixnum i to))
  (cond ((and (token-at w i "this" "self") (= (kind w i) +identifier+)) (values (node w +op-self+ (w-scope w)) (1+ i)))
        ((and (token-at w i "super") (= (kind w i) +identifier+)) (values (node w +op-super+ (w-scope w)) (1+ i)))
        ((and (token-at w i "new") (identifier-p w (1+ i)) (< (1+ i) to))
         (multiple-value-bind (type next) (parse-type w (1+ i) to)
           (declare (type fixnum next))
           (let ((at (last-identifier w (1+ i) (or (find-at-depth w (1+ i) next (lambda (j) (token-at w j "[" "<"))) next))))
             (if (and (token-at w next "(") (< next to) at)
                 (let* ((close (closer w next to)) (site (call-site w at type +construct+ +none+ +none+)) (cells (call-arguments w site next close)))
                   (values (node w +op-new+ type cells site) (1+ close)))
                 (progn (when at (call-site w at type +construct+ +none+ +none+))
                        (values (node w +op-new+ type) (max (1+ i) next)))))))
        ((and (token-at w i "true" "false")) (values (literal-node w "boolean") (1+ i)))
        ((and (token-at w i "{") (tongue-blocks *tongue*) (< i to)) (take-closure w i to))
        ((and (token-at w i "-" "!" "&" "*" "~") (< (1+ i) to) (not (token-at w (1+ i) ")" ",")))
         (operand w (1+ i) to))))

(defun postfix-hook (w node i to)
  (declare (type fixnum i to) (type (unsigned-byte 32) node))
  (cond ((and (token-at w i "?" "!" "!!" "try") (< (1+ i) to) (token-at w (1+ i) "." "(" "[" "?.") (= (token-end (w-tokens w) (1- i)) (token-start (w-tokens w) i)))
         (values node (1+ i)))
        ((and (token-at w i "!") (token-at w (1+ i) "!") (= (token-end (w-tokens w) (1- i)) (token-start (w-tokens w) i))) (values node (+ i 2)))
        ((and (token-at w i "as" "is") (< (1+ i) to))
         (let* ((from (if (token-at w (1+ i) "?" "!") (+ i 2) (1+ i))))
           (multiple-value-bind (type next) (parse-type w from to)
             (declare (type fixnum next))
             (when (> next from)
               (values (if (token-at w i "is") (literal-node w "boolean") (node w +op-cast+ type node)) next)))))
        ((and (token-at w i "<") (identifier-p w (1- i)) (skip-angles w i to) (token-at w (skip-angles w i to) "("))
         (let* ((open (skip-angles w i to)) (close (closer w open to)) (site (call-site w (1- i) node +call+ +none+ +none+))
                (cells (call-arguments w site open close)))
           (values (node w +op-call+ node cells site) (1+ close))))
        ;; f { … } and f(x) { … }
        ((and (token-at w i "{") (tongue-blocks *tongue*) (same-line-p w (1- i) i) (< i to)
              (or (and (identifier-p w (1- i)) (not (in-word-set-p (name w (1- i)) (tongue-keywords *tongue*)))
                       (member (draft-node-op (w-facts w) node) '(#.+op-name+ #.+op-member+)))
                  (and (token-at w (1- i) ")") (= (draft-node-op (w-facts w) node) +op-call+))))
         (if (identifier-p w (1- i))
             (let ((site (call-site w (1- i) node +call+ 1 +none+)))
               (multiple-value-bind (closure next) (with-argument (w site 0) (take-closure w i to))
                 (let ((cells (cell-list w (list closure))))
                   (setf (draft-site-arguments (w-facts w) site) cells)
                   (values (node w +op-call+ node cells site) next))))
             (let ((site (draft-node-c (w-facts w) node)))
               (multiple-value-bind (closure next)
                   (if (= site +none+)
                       (take-closure w i to)
                       (with-argument (w site (draft-site-arity (w-facts w) site)) (take-closure w i to)))
                 (declare (ignore closure))
                 (values node next)))))))

(defun walk-tongue (tokens facts names path tongue)
  "Reads the whole file."
  (let* ((*tongue* tongue)
         (w (start-walk tokens facts names path
                        (make-dialect :primary #'primary :postfix #'postfix-hook :statement #'statement
                                      :keywords (tongue-keywords tongue) :openers (tongue-openers tongue)
                                      :members (load-time-value (word-set "." "?." "->")) :lines (tongue-lines tongue) :angles t))))
    (code w 0 (tokens-count tokens))
    w))
