;;;; What a C file says of itself: functions, prototypes, macros, aggregates with members, typedefs, variables,
;;;; includes and calls. C is where repositories are largest, so this extractor goes over the tokens itself and
;;;; makes no nodes: a callee is a name, or the member of something (then its callee is a node without parts).

(defpackage #:opl.languages.c
  (:use #:cl #:opl.source.tokens #:opl.source.facts #:opl.languages.braces)
  (:import-from #:opl.source.names #:+none+ #:known #:u32-vector #:make-u32 #:octets)
  (:import-from #:opl.languages.extractor #:define-extractor))
(in-package #:opl.languages.c)
(declaim (optimize (speed 1) (safety 1)))

(defparameter *control*
  (word-set "if" "else" "for" "while" "do" "switch" "case" "default" "return" "goto" "break" "continue" "sizeof" "_Alignof"
            "alignof" "typeof" "__typeof__" "__typeof" "_Static_assert" "static_assert" "_Generic" "defined" "asm" "__asm__" "__asm"
            "__attribute__" "__attribute" "__declspec" "_Alignas" "alignas" "__extension__" "offsetof" "__builtin_offsetof"
            "__builtin_types_compatible_p" "_Pragma" "__alignof__")
  "Words before a parenthesis that call nothing.")
(defparameter *storage*
  (word-set "static" "extern" "inline" "__inline" "__inline__" "const" "volatile" "register" "_Noreturn" "_Thread_local"
            "__thread" "restrict" "__restrict" "__restrict__" "auto" "__always_inline" "noinline" "typedef" "__extension__"
            "constexpr" "thread_local")
  "Words of a declaration that are no type: `static NAME(…)' has none.")
(defparameter *bracketed*
  (word-set "__attribute__" "__attribute" "__declspec" "_Alignas" "alignas" "__asm__" "asm" "__asm" "__aligned" "__printf")
  "Words whose parentheses belong to them.")
(defparameter *types* (word-set "void" "char" "short" "int" "long" "float" "double" "signed" "unsigned" "_Bool" "bool" "struct" "union" "enum"))
(defconstant +locals-kept+ 256 "Names declared in one function that are told from functions; more are not looked at.")

(defstruct (c (:include walk) (:conc-name c-))
  (locals (make-u32 +locals-kept+) :type u32-vector)
  (local-count 0 :type (integer 0 #.+locals-kept+))
  (conditions 0 :type fixnum)            ; how many #if are open
  (guarded nil)                          ; whether the first of them is the guard of a header
  (macros '() :type list)                ; (name . tokens of what functions it makes) of this file
  (renames '() :type list))              ; (name . other name): #define name other

(declaim (ftype function take-aggregate take-declaration))

;;; Calls. The one loop that sees every token of a body.

(defun note-local (w name)
  (declare (type c w) (type (unsigned-byte 32) name) (optimize (speed 3) (safety 0)))
  (let ((count (c-local-count w)))
    (when (< count +locals-kept+)
      (setf (aref (c-locals w) count) name (c-local-count w) (1+ count)))))

(defun local-p (w name)
  (declare (type c w) (type (unsigned-byte 32) name) (optimize (speed 3) (safety 0)))
  (let ((locals (c-locals w)))
    (loop for i of-type fixnum from 0 below (c-local-count w) thereis (= (aref locals i) name))))

(defun bind-local (w name)
  "Binds NAME, a variable that is called, in the function's scope, once."
  (let ((facts (w-facts w)) (scope (w-scope w)))
    (unless (loop for b from (1- (draft-binding-count facts)) downto 0
                  while (= (draft-binding-scope facts b) scope)
                  thereis (= (draft-binding-name facts b) name))
      (add-binding facts scope name +variable+ +none+ +none+ +none+ 0))))

(defun take-body (w i to)
  "Call sites, and macros defined, in the tokens [I, TO)."
  (declare (type c w) (type fixnum i to) (optimize (speed 3) (safety 0)))
  (let* ((tokens (w-tokens w)) (kinds (tokens-kinds tokens)) (names (tokens-names tokens)) (mates (tokens-mates tokens))
         (lines (tokens-lines tokens)) (floor i) (control *control*) (types *types*) (facts (w-facts w)))
    (declare (type fixnum floor) (type simple-bit-vector control types) (type simple-vector facts) (type octets kinds) (type u32-vector names mates lines))
    (macrolet ((punctuation-p (i &rest literals)
                 `(let ((j ,i)) (and (>= j floor) (= (aref kinds j) +punctuation+)
                                     (let ((n (aref names j))) (or ,@(loop for l in literals collect `(= n (known ,l)))))))))
      (loop
        (when (>= i to) (return))
        (let ((kind (aref kinds i)))
          (cond ((= kind +identifier+)
                 (let ((next (1+ i)))
                   (declare (type fixnum next))
                   (when (and (< next to) (= (aref kinds next) +punctuation+))
                     (let ((mark (aref names next)) (name (aref names i)) (previous (1- i)))
                       (declare (type fixnum previous))
                       (cond ((= mark (known "("))
                              (unless (in-word-set-p name control)
                                (cond ((punctuation-p previous "." "->")
                                       (add-site facts name (aref lines i) (w-scope w) (w-def w)
                                                 (add-node facts +op-member+ +none+ name +none+) +call+ +none+ +none+))
                                      ((in-word-set-p name types))
                                      ;; `type name(…)' declares
                                      ((and (>= previous floor) (= (aref kinds previous) +identifier+)
                                            ;; a word alone on the line before is a macro
                                            (= (aref lines previous) (aref lines i))
                                            (not (in-word-set-p (aref names previous) control))))
                                      ((and (punctuation-p previous "*") (> previous floor) (= (aref kinds (1- previous)) +identifier+)
                                            (local-prototype-p w i to)))
                                      (t
                                       (when (local-p w name) (bind-local w name))
                                       (add-site facts name (aref lines i) (w-scope w) (w-def w)
                                                 +none+ +call+ +none+ +none+)))))
                             ((or (= mark (known "=")) (= mark (known ";")) (= mark (known ",")) (= mark (known "[")) (= mark (known ")")))
                              (cond ((< previous floor))
                                    ((= (aref kinds previous) +identifier+)
                                     (unless (in-word-set-p (aref names previous) control) (note-local w name)))
                                    ((punctuation-p previous "*")
                                     (let ((earlier (1- previous)))
                                       (when (or (= (aref kinds earlier) +identifier+) (punctuation-p earlier "*" "("))
                                         (note-local w name))))))))))
                 (incf i))
                ((= kind +directive+)
                 (take-directive w i)
                 (let ((mate (aref mates i))) (setf i (if (= mate +none+) (1+ i) (max (1+ i) mate)) floor i)))
                (t (incf i))))))))

(defun local-prototype-p (w i to)
  "Whether `type *name(…);' at name token I declares: parameters follow, not arguments."
  (declare (type fixnum i to))
  (let ((close (closer w (1+ i) to)))
    (and (token-at w (1+ close) ";")
         (token-at w (- i 3) ";" "{" "}")
         (identifier-p w (+ i 2)) (identifier-p w (+ i 3)))))

;;; Preprocessor lines

(defun adjacent-p (w i)
  "Whether token I touches the one before."
  (= (token-start (w-tokens w) i) (token-end (w-tokens w) (1- (the fixnum i)))))

(defun include-name (w i end)
  "The path in an #include line of the tokens [I, END)."
  (let ((tokens (w-tokens w)))
    (cond ((= (token-kind tokens i) +string+) (string-content tokens i))
          ((token-is tokens i "<")
           (let ((close (loop for j of-type fixnum from i below end when (token-is tokens j ">") return j)))
             (and close
                  (opl.source.names:octets-string (tokens-octets tokens) :start (token-end tokens i) :end (token-start tokens close))))))))

(defun take-directive (w i)
  "#include, #define and conditions at I."
  (declare (type c w) (type fixnum i))
  (let ((mate (mate w i)) (word (name w i)))
    (unless (= mate +none+)
      (cond ((or (= word (known "if")) (= word (known "ifdef")) (= word (known "ifndef")))
             (when (and (zerop (c-conditions w)) (= word (known "ifndef")) (zerop i)) (setf (c-guarded w) t))
             (incf (c-conditions w)))
            ((= word (known "endif")) (when (plusp (c-conditions w)) (decf (c-conditions w))))
            ((= word (known "define"))
             (when (identifier-p w (1+ i)) (take-macro w i (1+ i) mate)))
            ((or (= word (known "include")) (= word (known "include_next")) (= word (known "import")))
             (let ((path (include-name w (1+ i) mate)))
               (when path
                 (add-import (w-facts w) +none+ (known "*") (string-name w path) 0
                             (logior +star+ (if (= (kind w (1+ i)) +string+) +relative+ 0)) (line w i)))))))))

(defun take-macro (w i at end)
  (declare (type c w) (type fixnum i at end))
  (let* ((function (and (token-at w (1+ at) "(") (< (1+ at) end) (adjacent-p w (1+ at))))
         (def (define w at (known "macro") :from i :to (if function (1+ (closer w (1+ at) end)) (1+ at)) :bind nil
                ;; +private+: only under a condition
                :flags (logior (if function +has-body+ 0) (if (> (c-conditions w) (if (c-guarded w) 1 0)) +private+ 0)) :parent +none+)))
    (setf (draft-def-scope (w-facts w) def) 0
          (draft-def-end (w-facts w) def) (token-end-line (w-tokens w) (1- end)))
    (cond (function (note-function-maker w at end))
          ((and (= end (+ at 2)) (identifier-p w (1+ at)))
           (add-mark (w-facts w) (known "renames") (name w (1+ at)) def)
           (push (cons (name w at) (name w (1+ at))) (c-renames w)))
          ((and (> end (+ at 2)) (identifier-p w (1+ at)) (token-at w (+ at 2) "("))
           (push (list (name w at) :list (1+ at) end) (c-macros w))))))

;;; Functions made by macros: #define OP(name) static int op_##name(int a) { … }, then OP(add)

(defun note-function-maker (w at end)
  "Remembers the macro at AT when its body begins a function whose name is pasted of its parameters."
  (declare (type fixnum at end))
  (let* ((close (closer w (1+ at) end)) (parameters (loop for j of-type fixnum from (+ at 2) below close when (identifier-p w j) collect (name w j)))
         (open (loop for j of-type fixnum from (1+ close) below end
                     when (and (token-at w j "(") (identifier-p w (1- j)) (> j (1+ close))) return j)))
    (when (and open (find-at-depth w open end (lambda (j) (token-at w j "{"))))
      (let ((parts (list (name w (1- (the fixnum open))))) (j (- (the fixnum open) 2)))
        (declare (type fixnum j))
        ;; the scanner may have made one token of `##' or two of `#'
        (loop while (token-at w j "#" "##")
              do (loop while (token-at w j "#" "##") do (decf j))
                 (push (name w j) parts)
                 (decf j))
        (when (and (intersection parts parameters) (or (rest parts) (identifier-p w j) (token-at w j "*")))
          (push (list (name w at) :make parameters parts) (c-macros w)))))))

(defun make-functions (w i open close at)
  "Definitions that the macro named at I makes of the arguments between OPEN and CLOSE, said to stand at token AT."
  (declare (type fixnum i open close at))
  (let ((maker (find-if (lambda (entry) (and (eql (first entry) (name w i)) (eq (second entry) :make))) (c-macros w))))
    (when maker
      (destructuring-bind (parameters parts) (cddr maker)
        (let* ((arguments (let ((list '())) (do-pieces (start end w (1+ open) close) (push start list)) (nreverse list)))
               (name (apply #'concatenate 'string
                            (loop for part in parts for place = (position part parameters)
                                  collect (let ((argument (and place (nth place arguments))))
                                            (if argument (token-text (w-tokens w) argument)
                                                (opl.source.names:name-string (w-names w) part)))))))
          (let ((def (define w at (known "function") :name (string-name w name) :to (1+ at) :flags +has-body+)))
            (setf (draft-def-end (w-facts w) def) (line w at))
            t))))))

(defun make-listed-functions (w i)
  "A macro alone on its line that stands for several uses of a maker of functions."
  (let ((list (find-if (lambda (entry) (and (eql (first entry) (name w i)) (eq (second entry) :list))) (c-macros w))))
    (when list
      (destructuring-bind (from end) (cddr list)
        (loop for j of-type fixnum from from below end
              do (when (and (identifier-p w j) (token-at w (1+ j) "(") (< (1+ j) (the fixnum end)))
                   (let ((close (closer w (1+ j) end)))
                     (make-functions w j (1+ j) close i)
                     (setf j close))))))))

;;; Declarations

(defun after-directives (w i to)
  "The first token from I on that is no directive nor part of one; the directives are taken."
  (declare (type fixnum i to))
  (loop while (and (< i to) (= (kind w i) +directive+))
        do (take-directive w i)
           (let ((mate (mate w i))) (setf i (if (= mate +none+) (1+ i) (max (1+ i) mate)))))
  i)

(defun declarator-name (w from to)
  "The name declared in the brackets' content [FROM, TO): (*name)(…), (name)."
  (declare (type fixnum from to))
  (let ((inner (find-at-depth w from to (lambda (j) (token-at w j "(" "[")))))
    (cond ((and inner (token-at w inner "(") (= (the fixnum inner) from) (token-at w (1+ from) "*"))
           (declarator-name w (1+ from) (closer w from to)))
          (t (or (last-identifier w from (or inner to))
                 (and inner (token-at w inner "(") (declarator-name w (1+ (the fixnum inner)) (closer w inner to))))))))

(defun note-parameters (w open close)
  "Notes the names of the parameters between OPEN and CLOSE."
  (declare (type fixnum open close))
  (do-pieces (start end w (1+ open) close)
    (when (< (1+ start) end)
      (let* ((paren (find-at-depth w start end (lambda (j) (and (token-at w j "(") (token-at w (1+ j) "*")))))
             (bracket (or (find-at-depth w start end (lambda (j) (token-at w j "["))) end))
             (at (if paren (declarator-name w (1+ (the fixnum paren)) (closer w paren end)) (last-identifier w start bracket))))
        (when at (note-local w (name w at)))))))

(defun old-style-parameters-p (w open close)
  "f(a, b) int a; char *b; { … }: bare names between the brackets."
  (declare (type fixnum open close))
  (and (> close (1+ open))
       (loop for j of-type fixnum from (1+ open) below close
             always (if (oddp (- j open)) (and (identifier-p w j) (not (token-at w j "void"))) (token-at w j ",")))))

(defun signature-tail (w open close to)
  "What follows the parameters that close at CLOSE. Values: :body, :prototype or nil, and the token that says so."
  (declare (type fixnum open close to))
  (let ((k (1+ close)) (old (old-style-parameters-p w open close)) (uses '()))
    (declare (type fixnum k))
    (loop
      (setf k (after-directives w k to))
      (when (token-at w k "{" ";" "," "=") (dolist (use uses) (module-site w use)))
      (cond ((>= k to) (return (values nil k)))
            ((token-at w k "{") (return (values :body k)))
            ((token-at w k ";")
             (if (and old (> k (1+ close)))
                 (let ((brace (find-at-depth w k (min to (+ k 80)) (lambda (j) (or (token-at w j "{" "(" "}" "=") (= (kind w j) +directive+))))))
                   (return (if (and brace (token-at w brace "{") (token-at w (1- (the fixnum brace)) ";"))
                               (values :body brace)
                               (values :prototype k))))
                 (return (values :prototype k))))
            ((token-at w k "," "=") (return (values :prototype k)))
            ((identifier-p w k)
             (incf k)
             (when (and (token-at w k "(") (< k to))
               (unless (in-word-set-p (name w (1- k)) *bracketed*) (push (1- k) uses))
               (setf k (1+ (closer w k to)))))
            ((and old (token-at w k "*")) (incf k))
            ((and (token-at w k "(") (= k (1+ close))) ; f(a)(b): a declarator of its own kind
             (setf k (1+ (closer w k to))))
            (t (return (values nil k)))))))

(defun take-function (w first at open to flags)
  "A function or prototype named at AT whose parameters open at OPEN; the token after, or nil when it is neither."
  (declare (type c w) (type fixnum first at open to))
  (let ((close (closer w open to)))
    (multiple-value-bind (what k) (signature-tail w open close to)
      (declare (type fixnum k))
      (case what
        (:body
         (let* ((end (closer w k to)) (def (define-function w first at k flags)) (facts (w-facts w)))
           (setf (draft-def-end facts def) (line w end) (c-local-count w) 0)
           (with-body (w def)
             (note-parameters w open close)
             (take-body w (1+ k) end))
           (1+ end)))
        (:prototype
         (let ((def (define w at (known "prototype") :from first :to (1+ close) :flags (logior flags +declaration+))))
           (setf (draft-def-end (w-facts w) def) (line w (if (token-at w k ";") k close)))
           (if (token-at w k ";")
               (1+ k)
               (1+ (the fixnum (or (find-at-depth w k to (lambda (j) (token-at w j ";"))) (1- to)))))))))))

(defun define-function (w first at to flags)
  "The function named at AT; under its other name too when the file renames it by a macro."
  (let* ((rename (cdr (assoc (name w at) (c-renames w))))
         (test (and (search "test" (w-path w)) (test-like-p w at)))
         (def (define w at (known "function") :from first :to to :flags (logior flags +has-body+ (if test +test+ 0)))))
    (when test (add-test (w-facts w) (name w at) (line w at) (line w at) +none+))
    (when rename
      (let ((other (define w at (known "function") :name rename :from first :to to :flags (logior flags +has-body+))))
        (setf (draft-def-end (w-facts w) other) (line w (closer w to (tokens-count (w-tokens w)))))))
    def))

(defun test-like-p (w at)
  (let ((text (token-text (w-tokens w) at)))
    (or (and (> (length text) 5) (string= "test_" text :end2 5)) (and (> (length text) 5) (string= "_test" text :start2 (- (length text) 5))))))

(defun static-p (w first at) (loop for j of-type fixnum from first below at thereis (token-at w j "static")))

(defun made-by-macro (w first at open to)
  "NAME(args) without a type before it: a function made by a macro when a body follows, else a use of the macro.
The token after."
  (declare (type fixnum first at open to))
  (let* ((close (closer w open to)) (after (after-directives w (1+ close) to)))
    (declare (type fixnum close after))
    (cond ((and (token-at w after "{") (< after to))
           (let* ((argument (and (identifier-p w (1+ open)) (not (lower-case-name-p w at)) (1+ open)))
                  (end (closer w after to))
                  (def (define-function w first (or argument at) after (if (static-p w first at) +private+ 0))))
             (when argument (module-site w at))
             (setf (draft-def-end (w-facts w) def) (line w end) (c-local-count w) 0)
             (with-body (w def)
               (note-parameters w open close)
               (take-body w (1+ after) end))
             (1+ end)))
          ((and (lower-case-name-p w at) (old-style-parameters-p w open close)
                (eq :body (signature-tail w open close to)))
           (take-function w first at open to 0))
          (t (module-site w at)
             (take-body w (1+ open) close)
             (make-functions w at open close at)
             (if (token-at w (1+ close) ";") (+ close 2) (1+ close))))))

(defun lower-case-name-p (w at)
  (let* ((tokens (w-tokens w)) (octets (tokens-octets tokens)))
    (declare (type octets octets))
    (loop for i from (token-start tokens at) below (token-end tokens at) thereis (<= 97 (aref octets i) 122))))

(defun module-site (w at)
  (add-site (w-facts w) (name w at) (line w at) (w-scope w) (w-def w) +none+ +macro+ +none+ +none+))

(defun declare-name (w first at end typedef flags)
  "The variable or typedef named at AT, whose declaration ends at token END."
  (let ((def (define w at (if typedef (known "typedef") (known "variable")) :from first :to (1+ (the fixnum at))
               :flags (logior flags (if typedef 0 0)))))
    (setf (draft-def-end (w-facts w) def) (token-end-line (w-tokens w) end))
    def))

(defun aggregate-p (w i) (token-at w i "struct" "union" "enum"))

(defun tag-name (w i to)
  "The token of the name of the struct, union or enum at I, or nil; second value: its `{', or nil."
  (declare (type fixnum i to))
  (let ((k (1+ i)) (at nil))
    (declare (type fixnum k))
    (when (token-at w k "class") (incf k))
    (loop while (and (identifier-p w k) (< k to))
          do (cond ((and (token-at w (1+ k) "(") (in-word-set-p (name w k) *bracketed*)) (setf k (1+ (closer w (1+ k) to))))
                   (t (unless (and at (not (token-at w (1+ k) "{" ":"))) (setf at k))
                      (incf k)
                      ;; `struct a b': b is declared, not named
                      (unless (or (token-at w k "{" ":") (and (identifier-p w k) (token-at w (1+ k) "{"))) (return)))))
    (when (and at (token-at w k ":") (token-at w i "enum")) ; enum E : int
      (setf k (or (find-at-depth w k to (lambda (j) (token-at w j "{" ";"))) k)))
    (values at (and (token-at w k "{") (< k to) k) k)))

(defun take-aggregate (w i to)
  "struct, union or enum at I; the token after its body or name."
  (declare (type fixnum i to))
  (multiple-value-bind (at brace after) (tag-name w i to)
    (if (null brace)
        after
        (let* ((close (closer w brace to)) (def (if at (define w at (name w i) :from i :to brace :flags +has-body+) +none+)))
          (declare (type fixnum brace close))
          (unless (= def +none+) (setf (draft-def-end (w-facts w) def) (line w close)))
          (let ((outer (w-def w)))
            (unless (= def +none+) (setf (w-def w) def))
            (if (token-at w i "enum") (take-enumerators w (1+ brace) close) (take-members w (1+ brace) close))
            (setf (w-def w) outer))
          (1+ close)))))

(defun take-enumerators (w i close)
  (declare (type fixnum i close))
  (let ((start t))
    (loop while (< i close)
          do (setf i (after-directives w i close))
             (cond ((>= i close))
                   ((and start (identifier-p w i))
                    (let ((def (define w i (known "enumerator"))))
                      (setf (draft-def-end (w-facts w) def) (line w i) start nil))
                    (incf i)
                    ;; X(a, b): a macro that makes them
                    (when (and (token-at w i "(") (< i close)) (setf i (1+ (closer w i close)) start t)))
                   ((token-at w i ",") (setf start t) (incf i))
                   ((token-opens-p (w-tokens w) i) (setf i (1+ (closer w i close))))
                   (t (incf i))))))

(defun take-members (w i close)
  "The members of a struct or union in [I, CLOSE)."
  (declare (type fixnum i close))
  (loop while (< i close) do (setf i (max (1+ i) (the fixnum (take-member w (after-directives w i close) close))))))

(defun member-def (w at end)
  (let ((def (define w at (known "field") :bind nil)))
    (setf (draft-def-end (w-facts w) def) (line w (min end (1- (tokens-count (w-tokens w))))))))

(defun take-member (w i close)
  "The declaration of members at I; the token after its `;'."
  (declare (type fixnum i close))
  (let ((j i) (last nil) (end (or (find-at-depth w i close (lambda (k) (token-at w k ";"))) close)))
    (declare (type fixnum j end))
    (loop
      (when (>= j end) (when last (member-def w last end)) (return))
      (cond ((= (kind w j) +directive+) (setf j (after-directives w j end)))
            ((aggregate-p w j) (setf j (max (1+ j) (the fixnum (take-aggregate w j end)))))
            ((and (identifier-p w j) (token-at w (1+ j) "(") (in-word-set-p (name w j) *bracketed*))
             (setf j (1+ (closer w (1+ j) end))))
            ((identifier-p w j) (setf last j) (incf j))
            ((token-at w j "(")
             (let ((stop (closer w j end)))
               (cond ((token-at w (1+ j) "*" "^")
                      (setf last (or (declarator-name w (1+ j) stop) last) j (1+ stop))
                      (when (and (token-at w j "(") (< j end)) (setf j (1+ (closer w j end)))))
                     (t (setf j (1+ stop))))))
            ((token-at w j "[") (setf j (1+ (closer w j end))))
            ((token-at w j ",") (when last (member-def w last end)) (setf last nil) (incf j))
            ((token-at w j ":" "=")
             (setf j (or (find-at-depth w j end (lambda (k) (token-at w k ","))) end)))
            (t (incf j))))
    (1+ end)))

(defun take-declaration (w i to)
  "What is declared at I, outside functions; the token after."
  (declare (type c w) (type fixnum i to))
  (let ((j i) (first i) (typedef nil) (words 0) (last nil) (typed nil))
    (declare (type fixnum j first words))
    (flet ((flags () (if (static-p w first j) +private+ 0))
           (finish (end)
             (when (and last (or (> words 1) typed typedef)) (declare-name w first last end typedef (if (static-p w first last) +private+ 0)))
             (setf last nil)))
      (loop
        (when (>= j to) (return to))
        (let ((kind (kind w j)))
          (cond
            ((= kind +directive+)
             (setf j (after-directives w j to))
             (when (and (zerop words) (not typedef)) (setf first j)))
            ((= kind +string+)
             (if (token-at w (1+ j) "{") (return (+ j 2)) (incf j)))
            ((= kind +identifier+)
             (cond ((token-at w j "typedef") (setf typedef t) (incf j))
                   ((and (token-at w j "if" "for" "while" "switch" "return" "else" "do" "goto" "case") (zerop words))
                    (return (take-stray w j to)))
                   ((aggregate-p w j)
                    (setf j (max (1+ j) (the fixnum (take-aggregate w j to))) typed t)
                    (incf words))
                   ((and (token-at w (1+ j) "(") (in-word-set-p (name w j) *bracketed*)) (setf j (1+ (closer w (1+ j) to))))
                   ((in-word-set-p (name w j) *storage*) (incf j))
                   ((and (token-at w j "typeof" "__typeof__" "_Static_assert" "static_assert") (token-at w (1+ j) "("))
                    (setf j (1+ (closer w (1+ j) to)) typed t))
                   (t (setf last j) (incf words) (incf j)
                      (when (and (= words 1) (new-line-p w j) (not (token-at w j "(" "*" ";" "=" "[" ",")) (assoc (name w last) (c-macros w)))
                        (make-listed-functions w last)
                        (return j)))))
            ((= kind +punctuation+)
             (let ((name (name w j)))
               (cond
                 ((= name (known "("))
                  (cond ((and last (= (the fixnum last) (1- j))
                              (not (and (token-at w (1+ j) "*" "^") (token-at w (1+ (closer w j to)) "(" ";" "=" "["))))
                         (cond ((and typedef (or (> words 1) typed))
                                (setf j (1+ (closer w j to))))
                               ((or (> words 1) typed)
                                (let ((next (take-function w first last j to (flags))))
                                  (when next (return next))
                                  ;; neither: a macro before a declaration, `EXPORT(x) int f();'
                                  (setf j (1+ (closer w j to)))))
                               (t (return (made-by-macro w first last j to)))))
                        ((token-at w (1+ j) "*" "^")
                         (let ((close (closer w j to)))
                           (setf last (or (declarator-name w (1+ j) close) last) words (max words 2))
                           ;; a function that returns a pointer to a function: (*name(args))(args)
                           (if (and (not typedef) last (token-at w (1+ (the fixnum last)) "(") (< (1+ (the fixnum last)) close)
                                    (token-at w (1+ close) "("))
                               (let* ((tail (closer w (1+ close) to)) (body (token-at w (1+ tail) "{")))
                                 (return (if body
                                             (take-made w first last (1+ tail) to)
                                             (progn (define w last (known "prototype") :from first :to tail :end (line w tail) :flags +declaration+)
                                                    (+ tail 2)))))
                               (progn (setf j (1+ close))
                                      (when (and (token-at w j "(") (< j to)) (setf j (1+ (closer w j to))))))))
                        ((and (identifier-p w (1+ j)) (token-at w (+ j 2) ")") (token-at w (+ j 3) "(") (or (> words 0) typed))
                         (let ((next (take-function w first (1+ j) (+ j 3) to (flags))))
                           (return (or next (1+ (closer w (+ j 3) to))))))
                        (t (setf j (1+ (closer w j to))))))
                 ((= name (known "*")) (setf typed t) (incf j))
                 ((= name (known "["))
                  (setf j (1+ (closer w j to))))
                 ((= name (known "="))
                  (let ((end (or (find-at-depth w j to (lambda (k) (token-at w k ";" ","))) to)))
                    (declare (type fixnum end))
                    (finish (if (token-at w end ",") (1- end) (min end (1- to))))
                    (setf (c-local-count w) 0)
                    (take-body w (1+ j) end)
                    (setf j end)))
                 ((= name (known ",")) (finish (1- j)) (incf j))
                 ((= name (known ";")) (finish j) (return (1+ j)))
                 ((= name (known "{"))
                  ;; a block that belongs to nothing known
                  (let ((close (closer w j to))) (take-body w (1+ j) close) (return (1+ close))))
                 ((= name (known "}")) (return (1+ j)))
                 (t (incf j)))))
            (t (incf j))))))))

(defun take-stray (w i to)
  "A statement outside of functions, whose brackets conditionals tore apart: its calls are the file's own."
  (declare (type fixnum i to))
  (let* ((stop (or (find-at-depth w i to (lambda (j) (token-at w j ";" "{" "}"))) to))
         (end (if (token-at w stop "{") (1+ (closer w stop to)) (1+ (the fixnum stop)))))
    (declare (type fixnum end))
    (take-body w i (min end to))
    end))

(defun take-made (w first at brace to)
  "A function named at AT with its body at BRACE."
  (declare (type fixnum first at brace to))
  (let* ((end (closer w brace to)) (def (define-function w first at brace 0)))
    (setf (draft-def-end (w-facts w) def) (line w end) (c-local-count w) 0)
    (with-body (w def) (take-body w (1+ brace) end))
    (1+ end)))

(define-extractor :c (tokens facts names path) (:ctags-kinds ())
  (add-scope facts +none+ +module-scope+ +none+)
  (let ((w (make-c :tokens tokens :facts facts :names names :path path)) (i 0) (to (tokens-count tokens)))
    (declare (type fixnum i to))
    (loop while (< i to) do (setf i (max (1+ i) (the fixnum (take-declaration w i to)))))))
