;;;; Languages that declare by type and name (int f(int x) { … }): C#, Dart, C++. What stands at a statement's
;;;; start is told apart by the mark that comes first outside brackets: ( of a function, { of a body or property,
;;;; = or ; of a value. A `tongue' says which words a language has.
;;;; Here: types, functions; members, namespaces, statements, operands: typed.lisp.

(defpackage #:opl.languages.typed
  (:use #:cl #:opl.source.tokens #:opl.source.facts #:opl.languages.braces)
  (:import-from #:opl.source.names #:+none+ #:known #:name-octet)
  (:export #:tongue #:make-tongue #:walk-tongue))
(in-package #:opl.languages.typed)
(declaim (optimize (speed 1) (safety 1)))
(declaim (ftype function take-callable take-member))

(defstruct tongue
  (types '() :type list)                ; word -> kind, of what has members
  (modifiers (word-set) :type simple-bit-vector)
  (keywords (word-set) :type simple-bit-vector)
  (openers (word-set "else" "do") :type simple-bit-vector)
  (parents (word-set ":") :type simple-bit-vector)
  (spaces (word-set "namespace") :type simple-bit-vector)
  (attributes :at)                      ; :at (@Name), :brackets ([Name])
  (tests (word-set) :type simple-bit-vector)
  (properties nil)                      ; T name { get; set; }
  (outside nil)                         ; T C::name() { … } defines a member of C
  (labels nil)                          ; `public:' in a class
  (getters nil)                         ; T get name => …
  (construct nil)                       ; T(…) constructs without `new'
  (using (word-set "import") :type simple-bit-vector))

(defvar *tongue* (make-tongue))

;;; Types

(defun keyword-at-p (w i) (and (identifier-p w i) (in-word-set-p (name w i) (tongue-keywords *tongue*))))

(defun skip-type (w i to)
  "The token after the type at I, or nil when none stands there. Makes no nodes."
  (declare (type fixnum i to))
  (loop while (and (< i to) (token-at w i "const" "ref" "out" "in" "readonly" "struct" "class" "enum" "typename" "volatile" "required" "covariant" "late" "params" "this"
                                      "unsigned" "signed" "constexpr" "mutable" "scoped" "auto" "union" "long" "short")
                   (or (identifier-p w (1+ i)) (token-at w (1+ i) "(" "*" "&" "::")))
        do (if (token-at w i "auto" "long" "short" "unsigned" "signed")
               (if (and (identifier-p w (1+ i)) (token-at w (1+ i) "int" "long" "char" "short" "double" "const")) (incf i) (return))
               (incf i)))
  (cond ((>= i to) nil)
        ((and (token-at w i "(") (not (eq (tongue-attributes *tongue*) :none)))
         (let ((close (closer w i to))) (and (identifier-p w (1+ i)) (identifier-p w (1+ close)) (find-at-depth w (1+ i) close (lambda (j) (token-at w j ","))) (1+ close))))
        ((and (or (identifier-p w i) (token-at w i "::")) (not (keyword-at-p w i)))
         (let ((j (if (token-at w i "::") (+ i 2) (1+ i))))
           (declare (type fixnum j))
           (loop
             (cond ((>= j to) (return))
                   ((token-at w j "<") (let ((after (skip-angles w j to))) (if after (setf j after) (return-from skip-type nil))))
                   ((and (token-at w j "." "::") (identifier-p w (1+ j)) (< (1+ j) to)) (incf j 2))
                   ((token-at w j "?" "*" "&" "&&" "const")
                    ;; `a * b': a product when what follows is no declaration is for the caller to see
                    (incf j))
                   ((and (token-at w j "[") (token-at w (1+ j) "]" ",")) (setf j (1+ (closer w j to))))
                   ((and (token-at w j "Function") (token-at w (1+ j) "(")) (setf j (1+ (closer w (1+ j) to))))
                   (t (return))))
           j))))

(defun type-node (w i to)
  (declare (type fixnum i to))
  (loop while (and (< i to) (or (token-at w i "const" "ref" "out" "in" "readonly" "typename" "required" "covariant" "late" "params" "this" "final" "var" "auto" "static")))
        do (incf i))
  (cond ((or (>= i to) (not (identifier-p w i))) +none+)
        (t (let ((node (name-node w (name w i))) (j (1+ i)))
             (declare (type fixnum j))
             (loop
               (cond ((>= j to) (return))
                     ((and (token-at w j "." "::") (identifier-p w (1+ j))) (setf node (member-node w node (name w (1+ j))) j (+ j 2)))
                     ((token-at w j "<")
                      (let ((after (or (skip-angles w j to) to)) (types '()))
                        (declare (type fixnum after))
                        (do-pieces (start end w (1+ j) (1- after)) (push (type-node w start end) types))
                        (setf node (node w +op-apply+ node (cell-list w (nreverse types))) j after)))
                     ((token-at w j "[") (setf node (node w +op-array+ node) j (1+ (closer w j to))))
                     (t (return))))
             node))))

;;; Modifiers

(defun skip-modifiers (w i to)
  "Values: token after attributes and modifiers at I, flags."
  (declare (type fixnum i to))
  (let ((flags 0))
    (declare (type fixnum flags))
    (loop
      (cond ((>= i to) (return))
            ((= (kind w i) +directive+) (let ((mate (mate w i))) (setf i (if (= mate +none+) (1+ i) (max (1+ i) mate)))))
            ((and (token-at w i "[") (not (eq (tongue-attributes *tongue*) :at)) (or (identifier-p w (1+ i)) (token-at w (1+ i) "[")))
             (let ((close (closer w i to)))
               (loop for j from (1+ i) below close
                     do (when (and (identifier-p w j) (in-word-set-p (name w j) (tongue-tests *tongue*)) (token-at w (1- j) "[" "," "."))
                          (setf flags (logior flags +test+))))
               (setf i (1+ close))))
            ((and (token-at w i "@") (identifier-p w (1+ i)))
             (incf i 2)
             (loop while (and (token-at w i ".") (identifier-p w (1+ i))) do (incf i 2))
             (when (token-at w i "(") (setf i (1+ (closer w i to)))))
            ((and (token-at w i "template") (token-at w (1+ i) "<")) (setf i (or (skip-angles w (1+ i) to) (+ i 2))))
            ((and (token-at w i "extern") (= (kind w (1+ i)) +string+)) (incf i 2))
            ((and (identifier-p w i) (in-word-set-p (name w i) (tongue-modifiers *tongue*))
                  (or (not (token-at w (1+ i) "(" "=" ";" "." ","))
                      (and (token-at w (1+ i) "(") (tongue-properties *tongue*) (skip-type w (1+ i) to)))) ; public (int, string) F()
             (cond ((token-at w i "static") (setf flags (logior flags +static+)))
                   ((token-at w i "abstract") (setf flags (logior flags +abstract+)))
                   ((token-at w i "public" "protected") (setf flags (logior flags +exported+)))
                   ((token-at w i "private") (setf flags (logior flags +private+)))
                   ((token-at w i "override") (setf flags (logior flags +override+)))
                   ((token-at w i "async") (setf flags (logior flags +async+))))
             (incf i))
            ((and (token-at w i "explicit" "alignas" "__attribute__" "__declspec") (token-at w (1+ i) "(")) (setf i (1+ (closer w (1+ i) to))))
            (t (return))))
    (values i flags)))

;;; Functions

(defun parameters (w open close)
  (declare (type fixnum open close))
  (let ((index 0) (types '()))
    (declare (type fixnum index))
    (labels ((one (start end)
               (declare (type fixnum start end))
               (let* ((start (skip-modifiers w start end)) (equals (find-at-depth w start end (lambda (j) (token-at w j "=" ":"))))
                      (stop (or equals end)) (bracket (find-at-depth w start stop (lambda (j) (token-at w j "[" "("))))
                      (at (last-identifier w start (if (and bracket (> (the fixnum bracket) start)) bracket stop)))
                      (type (if (and at (> (the fixnum at) start)) (type-node w start at) +none+)))
                 (when (and at (or (> (the fixnum at) start) (not (tongue-labels *tongue*))))
                   (bind w (name w at) :kind +parameter+ :type type :index index))
                 (when equals (expression w (1+ (the fixnum equals)) end))
                 (push type types)
                 (incf index))))
      (do-pieces (start end w (1+ open) close)
        (when (< start end)
          ;; {int a, b} and [c] of Dart
          (if (and (token-at w start "{" "[") (eq (tongue-attributes *tongue*) :at))
              (do-pieces (from to w (1+ start) (closer w start end)) (when (< from to) (one from to)))
              (one start end)))))
    (nreverse types)))

(defun body-mark (w i to)
  "The `{', `=>' or `;' that follows the parameters of a function whose bracket closed before I; TO when there is none, or when the
walk has looked at `+most-looks+' tokens before. Initialisers of C++ are passed over."
  (declare (type fixnum i to))
  (let ((j i) (list nil))
    (declare (type fixnum j))
    (loop
      (when (> (incf (w-looked w)) +most-looks+) (return to))
      (cond ((>= j to) (return to))
            ((token-at w j ";" "=>") (return j))
            ((token-at w j ":") (setf list t) (incf j))
            ((token-at w j "{")
             ;; `: member{1}' is no body
             (if (and list (identifier-p w (1- j)) (token-at w (1+ (closer w j to)) "," "{"))
                 (setf j (1+ (closer w j to)))
                 (return j)))
            ((token-at w j "}") (return j))
            ((= (kind w j) +directive+) (let ((mate (mate w j))) (setf j (if (= mate +none+) (1+ j) (max (1+ j) mate)))))
            ((token-opens-p (w-tokens w) j) (setf j (1+ (closer w j to))))
            (t (incf j))))))

(defun class-part-name (w at)
  "In `C::name' at AT, the name number of C, or nil."
  (declare (type fixnum at))
  (let ((j (1- at)))
    (declare (type fixnum j))
    (when (token-at w j "~") (decf j))
    (when (token-at w j "::")
      (decf j)
      (when (token-at w j ">") ; C<T>::name
        (loop repeat 40 until (or (<= j 0) (token-at w j "<")) do (decf j))
        (decf j))
      (and (identifier-p w j) (name w j)))))

(defun kind-of-callable (w at flags)
  (declare (ignore flags))
  (let ((class (w-class w)) (outside (and (tongue-outside *tongue*) (class-part-name w at))))
    (cond ((or (and (eq (w-member w) :class) (/= class +none+) (= (name w at) (draft-def-name (w-facts w) class)) (not (token-at w (1- at) "~")))
               (named-constructor-p w at)
               (eql outside (name w at)))
           (known "constructor"))
          ((or (eq (w-member w) :class) outside) (known "method"))
          (t (known "function")))))

(defun named-constructor-p (w at)
  "Whether the name at AT is that of a constructor of Dart: C.name(…) in the class C."
  (declare (type fixnum at))
  (and (tongue-getters *tongue*) (eq (w-member w) :class) (/= (w-class w) +none+) (token-at w (1- at) ".")
       (= (name w (- at 2)) (draft-def-name (w-facts w) (w-class w)))))

(defun callable-name (w at)
  "The name of the function whose last name token is AT: ~C, operator+."
  (declare (type fixnum at))
  (cond ((token-at w (1- at) "~") (string-name w (format nil "~~~A" (token-text (w-tokens w) at))))
        (t (name w at))))

(defun take-callable (w first at open to type-from flags)
  "The function named at AT whose parameters open at OPEN; the token after."
  (declare (type fixnum first at open to))
  (let* ((close (closer w open to)) (mark (body-mark w (1+ close) to)) (kind (kind-of-callable w at flags))
         (body (token-at w mark "{" "=>")) (local (and (not (eq (w-member w) :class)) (/= (w-def w) +none+) (= (draft-scope-kind (w-facts w) (w-scope w)) +function-scope+)))
         (outside (and (tongue-outside *tongue*) (class-part-name w at)))
         (def (define w at kind :name (callable-name w at) :from first :to mark :bind (and (/= kind (known "constructor")) (not outside))
                :flags (logior flags (if body +has-body+ +declaration+) (if local +local+ 0))))
         (old (w-member w)) (next to))
    (declare (type fixnum close mark))
    (when outside (add-mark (w-facts w) (known "receiver") outside def))
    ;; static int Size(this string text)
    (when (and (token-at w (1+ open) "this") (identifier-p w (+ open 2))) (add-mark (w-facts w) (known "extends") (name w (+ open 2)) def))
    (setf (w-member w) nil)
    (with-body (w def)
      (when type-from (setf (draft-def-type (w-facts w) def) (type-node w type-from at)))
      (parameters w open close)
      ;; initialisers and `: base(…)' call
      (when (> mark (1+ close)) (initialisers w (1+ close) mark))
      (cond ((token-at w mark "{")
             (let ((end (closer w mark to)))
               (code w (1+ mark) end)
               (set-end w def end)
               (setf next (1+ end))))
            ((token-at w mark "=>")
             (let ((end (or (find-at-depth w mark to (lambda (j) (token-at w j ";"))) to)))
               (code w (1+ mark) end)
               (set-end w def (min end (1- to)))
               (setf next (1+ (the fixnum end)))))
            (t (set-end w def (min mark (1- to)))
               (setf next (if (token-at w mark ";") (1+ mark) mark)))))
    (setf (w-member w) old)
    (when (logtest flags +test+) (add-test (w-facts w) (name w at) (line w at) (draft-def-end (w-facts w) def) +none+))
    next))

(defun initialisers (w i to)
  "Calls between the parameters and the body."
  (declare (type fixnum i to))
  (let ((colon (find-at-depth w i to (lambda (j) (token-at w j ":")))))
    (when colon
      (let ((j (1+ (the fixnum colon))))
        (declare (type fixnum j))
        (loop while (< j to)
              do (cond ((and (identifier-p w j) (token-at w (1+ j) "(") (token-at w j "base" "this" "super"))
                        (let ((site (call-site w j (if (token-at w j "this") (node w +op-self+ (w-scope w)) (node w +op-super+ (w-scope w))) +super-call+ +none+ +none+)))
                          (call-arguments w site (1+ j) (closer w (1+ j) to))
                          (setf j (1+ (closer w (1+ j) to)))))
                       ((and (identifier-p w j) (token-at w (1+ j) "(" "{"))
                        (let ((close (closer w (1+ j) to))) (arguments w (1+ j) close) (setf j (1+ close))))
                       (t (incf j))))))))
