;;;; C: calls in bodies, preprocessor lines. C is where repositories are largest, so
;;;; this extractor goes over the tokens itself and makes no nodes: a callee is a name, or the member of something
;;;; (then its callee is a node without parts). What macros make: c-macros.lisp. Functions: c-functions.lisp; structs, unions and enums:
;;;; c-aggregates.lisp; declarations and the file itself: c.lisp.

(defpackage #:opl.languages.c
  (:use #:cl #:opl.source.tokens #:opl.source.facts #:opl.languages.braces)
  (:import-from #:opl.source.names #:+none+ #:known #:u32-vector #:make-u32 #:octets)
  (:import-from #:opl.languages.extractor #:define-extractor)
  (:export #:+arguments-marked+ #:filled-pattern #:source-path-p))
(in-package #:opl.languages.c)
(declaim (optimize (speed 1) (safety 1)))
(declaim (ftype function take-aggregate take-declaration note-macro-body))

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
(defparameter *aggregates* (word-set "struct" "union" "enum"))
(defconstant +locals-kept+ 256 "Names declared in one function that are told from functions; more are not looked at.")

(defstruct (c (:include walk) (:conc-name c-))
  (locals (make-u32 +locals-kept+) :type u32-vector)
  (local-count 0 :type (integer 0 #.+locals-kept+))
  (conditions 0 :type fixnum)            ; how many #if are open
  (guarded nil)                          ; whether the file takes care to be read once
  (enumerates nil)                       ; whether the body of an enum is in hand
  (macros '() :type list)                ; (name what . more) of this file's macros that make definitions; see c-macros.lisp
  (renames '() :type list))              ; (name . other name): #define name other


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
                             ;; struct { … } x; and enum in a function
                             ((and (= mark (known "{"))
                                   (or (in-word-set-p name *aggregates*)
                                       (and (>= previous floor) (= (aref kinds previous) +identifier+) (in-word-set-p (aref names previous) *aggregates*))))
                              (let ((start (if (in-word-set-p name *aggregates*) i previous)))
                                (setf i (max i (- (the fixnum (take-aggregate w start to)) 2)))))
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
            ((= word (known "undef"))
             (when (identifier-p w (1+ i)) (forget-macro w (name w (1+ i)))))
            ((= word (known "define"))
             (when (identifier-p w (1+ i)) (take-macro w i (1+ i) mate)))
            ((or (= word (known "include")) (= word (known "include_next")) (= word (known "import")))
             (let ((path (include-name w (1+ i) mate)))
               (when path
                 (let ((import (add-import (w-facts w) +none+ (known "*") (string-name w path) 0
                                           (logior +star+ (if (= (kind w (1+ i)) +string+) +relative+ 0)) (line w i))))
                   (when (c-enumerates w) (add-mark (w-facts w) (known "enumerates") (string-name w path) import))))))
            ((= word (known "pragma")) (when (token-at w (1+ i) "once") (setf (c-guarded w) t)))))))

(defun forget-macro (w name)
  "What the file noted of the macro NAME, which ends here."
  (setf (c-renames w) (delete name (c-renames w) :key #'first)
        (c-macros w) (delete name (c-macros w) :key #'first)))

(defun take-macro (w i at end)
  (declare (type c w) (type fixnum i at end))
  (let* ((function (and (token-at w (1+ at) "(") (< (1+ at) end) (adjacent-p w (1+ at))))
         (def (define w at (known "macro") :from i :to (if function (1+ (closer w (1+ at) end)) (1+ at)) :bind nil
                ;; +private+: only under a condition
                :flags (logior (if function +has-body+ 0) (if (> (c-conditions w) (if (c-guarded w) 1 0)) +private+ 0)) :parent +none+)))
    (setf (draft-def-scope (w-facts w) def) 0
          (draft-def-end (w-facts w) def) (token-end-line (w-tokens w) (1- end)))
    (note-macro-body w at end def function)))
