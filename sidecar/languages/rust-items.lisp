;;;; Rust: types, patterns, functions. Structs, enums, traits and impls: rust-declarations.lisp; other items, statements, operands and
;;;; the file itself: rust.lisp.

(defpackage #:opl.languages.rust
  (:use #:cl #:opl.source.tokens #:opl.source.facts #:opl.languages.braces)
  (:import-from #:opl.source.names #:+none+ #:known #:name-case #:name-octet #:name-length)
  (:import-from #:opl.languages.extractor #:define-extractor))
(in-package #:opl.languages.rust)
(declaim (optimize (speed 1) (safety 1)))
(declaim (ftype function block-code parse-type take-function take-item take-items take-pattern))

;; https://doc.rust-lang.org/reference/keywords.html, less self, Self, super and crate, which are operands
(defparameter *keywords*
  (word-set "as" "break" "const" "continue" "dyn" "else" "enum" "extern" "fn" "for" "if" "impl" "in" "let" "loop" "match"
            "mod" "move" "mut" "pub" "ref" "return" "static" "struct" "trait" "type" "unsafe" "use" "where" "while" "async"
            "await" "_"))
(defparameter *openers* (word-set "else" "unsafe" "loop" "async" "move"))
(defparameter *item-words*
  (word-set "fn" "struct" "enum" "union" "trait" "impl" "mod" "use" "const" "static" "type" "macro_rules" "extern" "pub"
            "unsafe" "async" "default" "macro"))
(defparameter *primitives*
  (word-set "bool" "char" "str" "u8" "u16" "u32" "u64" "u128" "usize" "i8" "i16" "i32" "i64" "i128" "isize" "f32" "f64"))


;;; Types

(defun parse-type (w i to)
  "The type at I. Values: its node or +none+, the token after (more than I)."
  (declare (type fixnum i to))
  (cond ((>= i to) (values +none+ (1+ i)))
        ((token-at w i "&" "*" "&&" "**")
         (let ((j (1+ i)))
           (loop while (and (< j to) (or (= (kind w j) +character+) (token-at w j "mut" "const"))) do (incf j))
           (parse-type w j to)))
        ((token-at w i "mut" "impl" "dyn") (parse-type w (1+ i) to))
        ((token-at w i "?") (parse-type w (1+ i) to))
        ((= (kind w i) +character+) ; a lifetime among bounds
         (if (token-at w (1+ i) "+") (parse-type w (+ i 2) to) (values +none+ (1+ i))))
        ((token-at w i "for") ; for<'a> Fn(&'a T)
         (parse-type w (or (and (token-at w (1+ i) "<") (skip-angles w (1+ i) to)) (1+ i)) to))
        ((token-at w i "[")
         (let ((close (closer w i to)))
           (values (node w +op-array+ (parse-type w (1+ i) close)) (1+ close))))
        ((token-at w i "(")
         (let ((close (closer w i to)) (types '()))
           (do-angled-pieces (lambda (start end) (push (parse-type w start end) types)) w (1+ i) close)
           (values (cond ((null types) +none+)
                         ((and (null (rest types)) (not (token-at w (1- close) ","))) (first types))
                         (t (node w +op-tuple+ (cell-list w (nreverse types)))))
                   (1+ close))))
        ((token-at w i "fn" "unsafe" "extern")
         (let ((open (find-at-depth w i to (lambda (j) (token-at w j "(")))))
           (if open (function-type w open to) (values +none+ (1+ i)))))
        ((token-at w i "<") ; <T as Trait>::Name
         (let ((after (skip-angles w i to)))
           (if (null after)
               (values +none+ (1+ i))
               (let ((j after))
                 (declare (type fixnum j))
                 (loop while (and (token-at w j "::") (identifier-p w (1+ j))) do (incf j 2))
                 (values +none+ j)))))
        ((token-at w i "::") (parse-type w (1+ i) to))
        ((and (identifier-p w i) (not (in-word-set-p (name w i) *keywords*))) (path-type w i to))
        (t (values +none+ (1+ i)))))

(defun function-type (w open to)
  (declare (type fixnum open to))
  (let ((close (closer w open to)) (types '()))
    (do-angled-pieces (lambda (start end) (push (parse-type w start end) types)) w (1+ open) close)
    (multiple-value-bind (result next)
        (if (token-at w (1+ close) "->") (parse-type w (+ close 2) to) (values +none+ (1+ close)))
      (values (node w +op-function+ (cell-list w (nreverse types)) result) next))))

(defun path-type (w i to)
  (declare (type fixnum i to))
  (let ((node (name-node w (name w i))) (j (1+ i)))
    (declare (type fixnum j))
    (loop
      (cond ((>= j to) (return))
            ((and (token-at w j "::") (identifier-p w (1+ j)) (< (1+ j) to))
             (setf node (member-node w node (name w (1+ j)) 1) j (+ j 2)))
            ((and (token-at w j "<") (skip-angles w j to))
             (let ((after (skip-angles w j to)) (types '()))
               (declare (type fixnum after))
               (do-angled-pieces (lambda (start end)
                                   (declare (type fixnum start end))
                                   (cond ((= (kind w start) +character+))
                                         ((and (token-at w (1+ start) "=") (< (1+ start) end))) ; Item = T
                                         (t (push (parse-type w start end) types))))
                                 w (1+ j) (1- after))
               (when types (setf node (node w +op-apply+ node (cell-list w (nreverse types)))))
               (setf j after)))
            ((and (token-at w j "::") (token-at w (1+ j) "<")) (incf j))
            ((and (token-at w j "(") (token-at w i "Fn" "FnMut" "FnOnce")) (return-from path-type (function-type w j to)))
            (t (return))))
    (when (and (token-at w j "+") (< j to)) ; further bounds
      (loop while (and (token-at w j "+") (< j to))
            do (setf j (nth-value 1 (let ((nodes (draft-node-count (w-facts w))))
                                      (multiple-value-prog1 (parse-type w (1+ j) to)
                                        (opl.languages.braces:drop-nodes (w-facts w) nodes)))))))
    (values node j)))

(defun type-parameters (w i to)
  "Binds the type parameters of the `<' at I; the token after."
  (declare (type fixnum i to))
  (let ((after (or (skip-angles w i to) (1+ i))) (index 0))
    (declare (type fixnum after index))
    (do-angled-pieces (lambda (start end)
                        (declare (type fixnum start end))
                        (cond ((= (kind w start) +character+))
                              ((token-at w start "const")
                               (bind w (name w (1+ start)) :kind +variable+))
                              ((identifier-p w start)
                               (bind w (name w start) :kind +type-parameter+ :index index
                                                      :type (if (token-at w (1+ start) ":") (parse-type w (+ start 2) end) +none+))
                               (incf index))))
                      w (1+ i) (1- after))
    after))

;;; Patterns

(defun lower-name-p (w i)
  (let ((octet (name-octet (w-names w) (name w i) 0))) (or (<= 97 octet 122) (= octet 95))))

(defun take-pattern (w from to &key (type +none+) (value +none+))
  "Binds the names in the pattern [FROM, TO); TYPE and VALUE are those of a pattern that is one name, VALUE's
content goes to the names within Some(…) and Ok(…)."
  (declare (type fixnum from to))
  (let ((i from) (whole (last-identifier w from to)))
    (declare (type fixnum i))
    (loop while (< i to)
          do (cond ((and (identifier-p w i) (not (in-word-set-p (name w i) *keywords*)) (lower-name-p w i)
                         (not (token-at w (1+ i) "::" "(" "{" "!"))
                         (not (token-at w (1- i) "::" ".." "..="))
                         (not (and (token-at w (1+ i) ":") (< (1+ i) to)))
                         (not (token-at w i "self" "true" "false" "box")))
                    (let ((single (and (eql i whole) (loop for j from from below i always (token-at w j "mut" "ref" "&" "&&")))))
                      (bind w (name w i)
                            :type (if single type +none+)
                            :value (cond (single value)
                                         ((and (/= value +none+) (token-at w (1- i) "(") (token-at w (- i 2) "Some" "Ok")
                                               (= (- i 2) from))
                                          (unwrapped w value))
                                         (t +none+))))))
             (incf i))))

(defun unwrapped (w node)
  "What NODE, an Option or a Result, holds: as calling unwrap on it gives."
  (node w +op-call+ (member-node w node (known "unwrap"))))

;;; Attributes

(defun attribute-p (w i) (and (token-at w i "#") (or (token-at w (1+ i) "[") (and (token-at w (1+ i) "!") (token-at w (+ i 2) "[")))))

(defun skip-attributes (w i to)
  "Values: the token after the attributes at I, flags they say: +test+."
  (declare (type fixnum i to))
  (let ((flags 0))
    (loop while (and (< i to) (attribute-p w i))
          do (let* ((open (if (token-at w (1+ i) "!") (+ i 2) (1+ i))) (close (closer w open to)))
               (loop for j from (1+ open) below close
                     do (when (and (token-at w j "test" "rstest" "test_case" "quickcheck" "proptest" "bench")
                                   (not (token-at w (1+ j) "="))
                                   (not (token-at w (1- j) "(" "not" ",")))
                          (setf flags +test+)))
               (setf i (1+ close))))
    (values i flags)))

;;; Functions

(defun head-end (w i to)
  "The `{' or `;' that ends the head of the item at I."
  (declare (type fixnum i to))
  (or (find-at-depth w i to (lambda (j) (token-at w j "{" ";"))) to))

(defun take-parameters (w open close)
  (declare (type fixnum open close))
  (let ((index 0))
    (declare (type fixnum index))
    (do-angled-pieces (lambda (start end)
                        (let ((start (skip-attributes w start end)) (colon nil))
                          (declare (type fixnum start end))
                          (setf colon (find-at-depth w start end (lambda (j) (token-at w j ":"))))
                          (cond ((and (find-if (lambda (j) (token-at w j "self")) (list start (1+ start) (+ start 2) (+ start 3)))
                                      (let ((at (or colon end))) (token-at w (1- at) "self")))
                                 nil)
                                ((and colon (= colon (1+ start)) (identifier-p w start))
                                 (bind w (name w start) :kind +parameter+ :type (parse-type w (1+ colon) end) :index index)
                                 (incf index))
                                (colon
                                 (let ((type (parse-type w (1+ (the fixnum colon)) end)))
                                   (if (and (token-at w start "mut" "ref") (identifier-p w (1+ start)) (= (the fixnum colon) (+ start 2)))
                                       (bind w (name w (1+ start)) :kind +parameter+ :type type :index index)
                                       (take-pattern w start colon :type type)))
                                 (incf index)))))
                      w (1+ open) close)))

(defun static-function-p (w open close)
  (not (loop for j from (1+ open) to (min close (+ open 5)) thereis (token-at w j "self"))))

(defun take-function (w first i to flags)
  "fn at I; the token after."
  (declare (type fixnum first i to))
  (let* ((at (1+ i)) (end (head-end w at to)) (open (let ((j (1+ at))) (if (token-at w j "<") (or (skip-angles w j end) j) j))))
    (declare (type fixnum at end open))
    (unless (and (identifier-p w at) (token-at w open "(")) (return-from take-function (1+ i)))
    (let* ((close (closer w open to)) (member (w-member w)) (body (and (token-at w end "{") (< end to)))
           (local (and (not member) (local-p w)))
           (def (define w at (if member (known "method") (known "function")) :from first :to end :bind (not member)
                  :parent (cond ((eq member :impl) (w-class w)) (t (w-def w)))
                  :flags (logior flags (if body +has-body+ +declaration+) (if local +local+ 0)
                                 (if (and member (static-function-p w open close)) +static+ 0)))))
      (declare (type fixnum close))
      (when (eq member :impl) (add-mark (w-facts w) (known "receiver") (w-case w) def))
      (let ((outer-member (w-member w)))
        (setf (w-member w) nil)
        (with-body (w def)
          (when (token-at w (1+ at) "<") (type-parameters w (1+ at) end))
          (when (token-at w (1+ close) "->")
            (setf (draft-def-type (w-facts w) def) (parse-type w (+ close 2) end)))
          (take-parameters w open close)
          (when body
            (let ((stop (closer w end to)))
              (block-code w (1+ end) stop)
              (setf end stop))))
        (setf (w-member w) outer-member))
      (set-end w def (min end (1- to)))
      (when (logtest flags +test+) (add-test (w-facts w) (name w at) (line w at) (line w (min end (1- to))) +none+))
      (1+ end))))

(defun local-p (w)
  "Whether what is declared now stands inside a function."
  (let ((facts (w-facts w)) (def (w-def w)))
    (and (/= def +none+)
         (or (= (draft-def-kind facts def) (known "function")) (= (draft-def-kind facts def) (known "method"))))))

(defun block-code (w from to)
  "The statements of a body: its items are read before the rest, for they are seen in all of it."
  (declare (type fixnum from to))
  (code w from to))
