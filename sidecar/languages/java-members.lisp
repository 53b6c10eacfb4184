;;;; Java: types and members. Declarations of types: java-declarations.lisp. Statements, operands and the file itself: java.lisp.

(defpackage #:opl.languages.java
  (:use #:cl #:opl.source.tokens #:opl.source.facts #:opl.languages.braces)
  (:import-from #:opl.source.names #:+none+ #:known #:name-case)
  (:import-from #:opl.languages.extractor #:define-extractor)
  (:export #:+static-import+))
(in-package #:opl.languages.java)
(declaim (optimize (speed 1) (safety 1)))
(declaim (ftype function parse-type statement-after take-local take-members take-type type-begins-p anonymous-class))

;; https://docs.oracle.com/javase/specs/jls/se21/html/jls-3.html#jls-3.9, less `this', `super' and `new', which are operands
(defparameter *keywords*
  (word-set "abstract" "assert" "break" "case" "catch" "class" "const" "continue" "default" "do" "else" "enum" "extends"
            "final" "finally" "for" "goto" "if" "implements" "import" "instanceof" "interface" "native" "package" "private"
            "protected" "public" "return" "static" "strictfp" "switch" "synchronized" "throw" "throws" "transient" "try"
            "volatile" "while" "_"))
(defparameter *openers* (word-set "else" "do" "finally" "default"))
(defparameter *modifiers*
  (word-set "abstract" "default" "final" "native" "private" "protected" "public" "static" "strictfp" "synchronized"
            "transient" "volatile" "sealed" "def"))
(defparameter *primitives* (word-set "boolean" "byte" "char" "double" "float" "int" "long" "short" "void"))
(defparameter *type-words* (word-set "class" "interface" "enum" "record"))
;; JUnit 4 and 5, TestNG, jqwik
(defparameter *test-annotations*
  (word-set "Test" "ParameterizedTest" "RepeatedTest" "TestFactory" "TestTemplate" "Property" "Example"))

(defconstant +static-import+ (ash 1 12)
  "Flag of an import of Java: a member of a class. Beyond those that opl.source.facts names.")


;;; Types

(defun skip-annotation (w i to)
  "The token after the annotation at I (`@')."
  (declare (type fixnum i to))
  (let ((j (+ i 2)))
    (declare (type fixnum j))
    (loop while (and (token-at w j ".") (identifier-p w (1+ j))) do (incf j 2))
    (if (and (token-at w j "(") (< j to)) (1+ (closer w j to)) j)))

(defun annotation-p (w i) (and (token-at w i "@") (identifier-p w (1+ i)) (not (token-at w (1+ i) "interface"))))

(defun skip-type (w i to)
  "The token after the type at I, or nil when none stands there. Makes no nodes."
  (declare (type fixnum i to))
  (loop while (annotation-p w i) do (setf i (skip-annotation w i to)))
  (cond ((>= i to) nil)
        ((token-at w i "?")
         (if (token-at w (1+ i) "extends" "super") (skip-type w (+ i 2) to) (1+ i)))
        ((and (identifier-p w i) (not (in-word-set-p (name w i) *keywords*)))
         (let ((j (1+ i)))
           (declare (type fixnum j))
           (loop
             (cond ((>= j to) (return))
                   ((token-at w j "<")
                    (let ((after (skip-angles w j to))) (if after (setf j after) (return-from skip-type nil))))
                   ((and (token-at w j ".") (identifier-p w (1+ j)) (< (1+ j) to)) (incf j 2))
                   ((and (token-at w j ".") (annotation-p w (1+ j))) (setf j (1+ (the fixnum (skip-annotation w (1+ j) to)))))
                   (t (return))))
           (loop while (and (token-at w j "[") (token-at w (1+ j) "]") (< (1+ j) to)) do (incf j 2))
           (when (and (token-at w j "...") (< j to)) (incf j))
           j))))

(defun type-argument-cells (w i to)
  "Type arguments of the `<' at I. Values: first cell, token after."
  (declare (type fixnum i to))
  (let ((after (or (skip-angles w i to) (1+ i))) (types '()) (j (1+ i)))
    (declare (type fixnum after j))
    (loop while (< j (1- after))
          do (multiple-value-bind (type next) (parse-type w j after)
               (push type types)
               (setf j (max (1+ j) (the fixnum next)))
               (loop while (and (< j after) (not (token-at w j ","))) do (incf j))
               (incf j)))
    (values (cell-list w (nreverse types)) after)))

(defun parse-type (w i to)
  "The type at I. Values: its node or +none+, the token after."
  (declare (type fixnum i to))
  (loop while (annotation-p w i) do (setf i (skip-annotation w i to)))
  (cond ((>= i to) (values +none+ (1+ i)))
        ((token-at w i "?")
         (if (token-at w (1+ i) "extends") (parse-type w (+ i 2) to)
             (if (token-at w (1+ i) "super") (parse-type w (+ i 2) to) (values +none+ (1+ i)))))
        ((identifier-p w i)
         (let ((node (if (and (in-word-set-p (name w i) *primitives*))
                         (node w +op-literal+ (name w i))
                         (name-node w (name w i))))
               (j (1+ i)))
           (declare (type fixnum j))
           (loop
             (cond ((>= j to) (return))
                   ((and (token-at w j "<") (skip-angles w j to))
                    (multiple-value-bind (cells after) (type-argument-cells w j to)
                      (unless (= cells +none+) (setf node (node w +op-apply+ node cells)))
                      (setf j after)))
                   ((and (token-at w j ".") (identifier-p w (1+ j)) (< (1+ j) to))
                    (setf node (member-node w node (name w (1+ j))) j (+ j 2)))
                   (t (return))))
           (loop while (and (token-at w j "[") (token-at w (1+ j) "]") (< (1+ j) to))
                 do (setf node (node w +op-array+ node) j (+ j 2)))
           (when (and (token-at w j "...") (< j to)) (setf node (node w +op-array+ node)) (incf j))
           (values node j)))
        (t (values +none+ (1+ i)))))

(defun type-parameters (w i to)
  "Binds the type parameters of the `<' at I; the token after."
  (declare (type fixnum i to))
  (let* ((after (or (skip-angles w i to) (1+ i))) (j (1+ i)) (index 0))
    (declare (type fixnum after j index))
    (loop while (< j (1- after))
          do (loop while (annotation-p w j) do (setf j (skip-annotation w j after)))
             (when (identifier-p w j)
               (let ((bound (and (token-at w (1+ j) "extends") (+ j 2))))
                 (bind w (name w j) :kind +type-parameter+ :index index
                                    :type (if bound (parse-type w bound after) +none+))
                 (incf index)
                 (when bound (setf j (or (skip-type w bound after) bound)))))
             (loop while (and (< j after) (not (token-at w j ",")))
                   do (setf j (if (token-at w j "<") (or (skip-angles w j after) (1+ j)) (1+ j))))
             (incf j))
    after))

;;; Members

(defun take-modifiers (w i to)
  "Modifiers and annotations from I on. Values: token after, flags."
  (declare (type fixnum i to))
  (let ((flags 0))
    (declare (type fixnum flags))
    (loop
      (cond ((>= i to) (return))
            ((annotation-p w i)
             (when (and (in-word-set-p (name w (1+ i)) *test-annotations*)) (setf flags (logior flags +test+)))
             (when (token-at w (1+ i) "Override") (setf flags (logior flags +override+)))
             (setf i (skip-annotation w i to)))
            ((and (token-at w i "non") (token-at w (1+ i) "-")) (incf i 3))
            ((and (identifier-p w i) (in-word-set-p (name w i) *modifiers*)
                  (not (token-at w (1+ i) "(" "=" "." ";" ",")))
             (cond ((token-at w i "static") (setf flags (logior flags +static+)))
                   ((token-at w i "abstract") (setf flags (logior flags +abstract+)))
                   ((token-at w i "public" "protected") (setf flags (logior flags +exported+)))
                   ((token-at w i "private") (setf flags (logior flags +private+))))
             (incf i))
            (t (return))))
    (values i flags)))

(defun parameters (w open close)
  "Binds the parameters between OPEN and CLOSE. The list of their type nodes; second value: variadic."
  (declare (type fixnum open close))
  (let ((types '()) (index 0) (variadic nil))
    (declare (type fixnum index))
    (do-angled-pieces (lambda (start end)
                        (declare (type fixnum start end))
                        (let* ((from (take-modifiers w start end)) (at (last-identifier w from end)))
                          (declare (type fixnum from))
                          (when at
                            (multiple-value-bind (type next) (if (> at from) (parse-type w from end) (values +none+ from))
                              (when (token-at w (1- (the fixnum next)) "...") (setf variadic t))
                              (unless (token-at w at "this")
                                (push type types)
                                (bind w (name w at) :kind (if variadic +rest-parameter+ +parameter+) :type type :index index)
                                (incf index))))))
                      w (1+ open) close)
    (values (nreverse types) variadic)))

(defun method-end (w i to)
  "The `{' of the body, or the `;', of the method whose parameters ended before I."
  (declare (type fixnum i to))
  (or (find-at-depth w i to (lambda (j) (token-at w j "{" ";"))) to))

(defun junit3-test-p (w at open)
  "testX() with no parameters, in a file that is named for tests."
  (declare (type fixnum at open))
  (let ((text (token-text (w-tokens w) at)))
    (and (> (length text) 4) (string= "test" text :end2 4) (upper-case-p (char text 4))
         (token-at w (1+ open) ")") (token-at w (1- at) "void")
         (search "Test" (w-path w)))))

(defun take-method (w first at open to kind type-from generic flags)
  "The method or constructor named at AT, parameters opening at OPEN. FIRST: its first token; TYPE-FROM: token of
its return type or nil; GENERIC: token of its type parameters or nil. The token after."
  (declare (type fixnum first at open to))
  (let* ((close (closer w open to)) (brace (method-end w (1+ close) to)) (body (and (token-at w brace "{") (< brace to)))
         (test (or (logtest flags +test+) (junit3-test-p w at open)))
         (def (define w at kind :from first :to brace :parent (w-class w) :bind (/= kind (known "constructor"))
                :flags (logior flags (if body +has-body+ +declaration+) (if test +test+ 0)))))
    (declare (type fixnum close brace))
    (with-body (w def)
      (when generic (type-parameters w generic to))
      (when type-from (setf (draft-def-type (w-facts w) def) (parse-type w type-from at)))
      (let ((types (parameters w open close)))
        (when (and (not body) (/= (w-class w) +none+) (= (draft-def-kind (w-facts w) (w-class w)) (known "interface")))
          ;; an interface with one such method can be called: that is what a lambda given for it is
          (add-binding (w-facts w) (draft-def-body (w-facts w) (w-class w)) (known "()") +variable+
                       (node w +op-function+ (cell-list w types) (draft-def-type (w-facts w) def)) +none+ +none+ 0)))
      (cond (body
             (let ((end (closer w brace to)))
               (code w (1+ brace) end)
               (set-end w def end)
               (when test (add-test (w-facts w) (name w at) (line w at) (line w end) +none+))
               (1+ end)))
            (t (set-end w def brace) (1+ brace))))))

(defun field-end (w i to)
  "The `;' that ends the field declared at I."
  (declare (type fixnum i to))
  (or (find-at-depth w i to (lambda (j) (token-at w j ";"))) to))

(defun take-fields (w first at to type flags)
  "Fields whose names begin at AT, of TYPE; the token after."
  (declare (type fixnum first at to))
  (let ((end (field-end w at to))
        (kind (if (and (logtest flags +static+) (final-between-p w first at)) (known "constant") (known "field"))))
    (declare (type fixnum end))
    (do-angled-pieces (lambda (start stop)
                        (declare (type fixnum start stop))
                        (when (identifier-p w start)
                          (let* ((type (if (token-at w (1+ start) "[") (node w +op-array+ type) type))
                                 (equals (find-at-depth w start stop (lambda (j) (token-at w j "="))))
                                 (def (define w start kind :from first :to (or equals stop) :type type :flags flags
                                        :parent (w-class w))))
                            (set-end w def (if (= stop end) end (1- stop)))
                            (when equals
                              (let ((outer (w-def w)))
                                (setf (w-def w) def)
                                (with-expected (w type) (expression w (1+ equals) stop))
                                (setf (w-def w) outer))))))
                      w at end)
    (1+ end)))

(defun final-between-p (w from to)
  (loop for i of-type fixnum from from below to thereis (token-at w i "final")))

(defun type-name-p (w i)
  "Whether token I names the class in hand: then `Name(' is its constructor."
  (and (/= (w-class w) +none+) (= (name w i) (draft-def-name (w-facts w) (w-class w)))))

(defun take-member (w i to)
  "The member of a class at I; the token after."
  (declare (type fixnum i to))
  (when (token-at w i ";") (return-from take-member (1+ i)))
  (multiple-value-bind (at flags) (take-modifiers w i to)
    (declare (type fixnum at))
    (let* ((generic (and (token-at w at "<") at)) (at (if generic (or (skip-angles w at to) (1+ at)) at)))
      (declare (type fixnum at))
      (loop while (annotation-p w at) do (setf at (skip-annotation w at to)))
      (cond ((>= at to) to)
            ((token-at w at "{")
             (let ((close (closer w at to))) (with-block (w) (code w (1+ at) close)) (1+ close)))
            ((type-begins-p w at) (take-type w i at to flags))
            ((not (identifier-p w at)) (if (token-opens-p (w-tokens w) at) (1+ (closer w at to)) (1+ at)))
            ((and (token-at w (1+ at) "(") (type-name-p w at))
             (take-method w i at (1+ at) to (known "constructor") nil generic flags))
            ((and (token-at w (1+ at) "{") (type-name-p w at)) ; compact constructor of a record
             (let* ((close (closer w (1+ at) to)) (def (define w at (known "constructor") :from i :flags (logior flags +has-body+) :parent (w-class w) :bind nil)))
               (with-body (w def) (code w (+ at 2) close) (set-end w def close))
               (1+ close)))
            (t (let ((name (skip-type w at to)))
                 (cond ((null name) (1+ at))
                       ((and (identifier-p w name) (token-at w (1+ name) "("))
                        (take-method w i name (1+ name) to (known "method") at generic flags))
                       ((identifier-p w name) (take-fields w i name to (parse-type w at to) flags))
                       ((token-at w name "(") ; a method without a type, of Groovy or of code not finished
                        (take-method w i at name to (known "method") nil generic flags))
                       (t (max (1+ at) name)))))))))

(defun take-members (w i close)
  "The members of a type in [I, CLOSE); none where types are nested too deep."
  (declare (type fixnum i close))
  (deeper (w +deepest-code+)
    (loop while (< i close) do (setf i (max (1+ i) (the fixnum (take-member w i close)))))))
