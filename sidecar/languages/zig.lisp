;;;; Zig; see keyworded.lisp. Types are values: const T = struct { … } defines T.

(defpackage #:opl.languages.zig
  (:use #:cl #:opl.languages.keyworded #:opl.languages.braces #:opl.source.facts)
  (:import-from #:opl.languages.extractor #:define-extractor)
  (:import-from #:opl.source.tokens #:tokens-count #:token-kind #:token-text #:+string+ #:string-content)
  (:import-from #:opl.source.language #:path-name)
  (:import-from #:opl.source.names #:known #:+none+))
(in-package #:opl.languages.zig)

;; https://ziglang.org/documentation/master/#Keyword-Reference
(defparameter *zig*
  (make-tongue
   :functions (kinds "fn" "function")
   :values (kinds "const" "constant" "var" "variable")
   :modifiers (words "pub" "export" "extern" "inline" "noinline" "comptime" "threadlocal")
   :keywords (words "addrspace" "align" "and" "asm" "async" "await" "break" "callconv" "catch" "comptime" "const" "continue" "defer" "else" "enum"
                    "errdefer" "error" "export" "extern" "fn" "for" "if" "inline" "nosuspend" "opaque" "or" "orelse" "packed" "pub" "resume" "return"
                    "struct" "suspend" "switch" "test" "threadlocal" "try" "union" "unreachable" "usingnamespace" "var" "volatile" "while")
   :openers (words "else" "defer" "errdefer" "comptime")
   :imports (words)
   :result (words) :bare-result t
   :lines nil))

(defun container (w i to)
  "The `{' of struct, enum, union or opaque at I, after `packed', `extern' and a tag type; nil when there is none. Second value: its word."
  (declare (type fixnum i to))
  (loop while (token-at w i "packed" "extern") do (incf i))
  (when (token-at w i "struct" "enum" "union" "opaque" "error")
    (let ((j (1+ i)))
      (when (token-at w j "(") (setf j (1+ (closer w j to))))
      (and (token-at w j "{") (< j to) (values j i)))))

(defun take-container (w first word to flags)
  "const T = struct { … } at WORD; the token after, or nil when the value is no type."
  (declare (type fixnum first word to))
  (let* ((at (1+ word)) (equals (and (identifier-p w at) (find-at-depth w at (min to (+ at 30)) (lambda (j) (token-at w j "=" ";"))))))
    (when (and equals (token-at w equals "="))
      (multiple-value-bind (brace kind) (container w (1+ (the fixnum equals)) to)
        (when brace
          (let* ((close (closer w brace to)) (enum (token-at w kind "enum" "error")) (def (define w at (if enum (known "enum") (if (token-at w kind "union") (known "union") (known "struct")))
                                                                                         :from first :to brace :flags (logior flags +has-body+)))
                 (old (w-member w)))
            (declare (type fixnum close))
            (with-body (w def :kind +class-scope+ :class def)
              (setf (w-member w) :class)
              (take-fields w (1+ (the fixnum brace)) close enum)
              (setf (w-member w) old))
            (set-end w def (if (token-at w (1+ close) ";") (1+ close) close))
            (+ close 2)))))))

(defun take-fields (w i close enum)
  "Fields and declarations of a container."
  (declare (type fixnum i close))
  (loop while (< i close)
        do (let ((next (statement-of w i close)))
             (cond (next (setf i (max (1+ i) (the fixnum next))))
                   ((and (identifier-p w i) (or (token-at w (1+ i) ":" "," "=") (= (1+ i) close)))
                    (let ((end (or (find-at-depth w i close (lambda (j) (token-at w j ","))) close)))
                      (declare (type fixnum end))
                      (let ((def (define w i (if (and enum (not (token-at w (1+ i) ":"))) (known "enumerator") (known "field")) :to end
                                   :type (if (token-at w (1+ i) ":") (nth-value 0 (parse-type w (+ i 2) end)) +none+))))
                        (set-end w def (1- end)))
                      (setf i (1+ end))))
                   ((token-at w i "{") (let ((end (closer w i close))) (with-block (w) (code w (1+ i) end)) (setf i (1+ end))))
                   (t (incf i))))))

(defun take-test (w i to)
  "test \"title\" { … } at I; the token after, or nil."
  (declare (type fixnum i to))
  (let* ((titled (= (kind w (1+ i)) +string+)) (brace (if (or titled (identifier-p w (1+ i))) (+ i 2) (1+ i))))
    (when (and (token-at w brace "{") (< brace to))
      (let ((close (closer w brace to))
            (name (cond (titled (string-name w (string-content (w-tokens w) (1+ i)))) ((identifier-p w (1+ i)) (name w (1+ i))) (t (known "test")))))
        (add-test (w-facts w) name (line w i) (line w close) +none+)
        (let ((def (define w i (known "function") :name name :bind nil :to brace :flags (logior +test+ +has-body+))))
          (set-end w def close)
          (with-body (w def) (code w (1+ brace) close)))
        (1+ close)))))

(defun imported (w word member module last)
  "The constant named after WORD, whose value, up to the token LAST, is MEMBER of the file MODULE, or all of it; the token after."
  (declare (type fixnum word last))
  (let ((at (1+ word)))
    (bind w (name w at) :kind +imported+
                        :target (add-import (w-facts w) (name w at) (or member (known "*")) (string-name w module) (w-scope w) +relative+ (line w word)))
    (set-end w (define w at (known "constant") :from word :to (1+ last) :bind nil) last)
    (1+ last)))

(defun take-import (w word to)
  "const X = @import(\"y.zig\"), const T = @import(\"y.zig\").T or, at the top of a file, const Self = @This() at WORD; the token after, or nil."
  (declare (type fixnum word to))
  (let ((call (+ word 3)))
    (declare (type fixnum call))
    (when (and (identifier-p w (1+ word)) (token-at w (+ word 2) "=") (< call to) (token-at w (1+ call) "("))
      (let ((text (token-text (w-tokens w) call)) (close (closer w (1+ call) to)))
        (declare (type fixnum close))
        (cond ((and (string= text "@This") (= (w-def w) +none+)) (imported w word nil (path-name (w-path w)) close))
              ((and (string= text "@import") (= (kind w (+ call 2)) +string+))
               (let ((module (string-content (w-tokens w) (+ call 2))))
                 (if (and (token-at w (1+ close) ".") (identifier-p w (+ close 2)) (token-at w (+ close 3) ";"))
                     (imported w word (name w (+ close 2)) module (+ close 2))
                     (imported w word nil module close)))))))))

(defun take-file-field (w i to)
  "n: T = value, of the struct that the file itself is; the token after, or nil."
  (declare (type fixnum i to))
  (when (and (= (w-def w) +none+) (identifier-p w i) (token-at w (1+ i) ":") (or (= i 0) (new-line-p w i)))
    (let* ((end (or (find-at-depth w i to (lambda (j) (token-at w j "," ";"))) to)) (equals (find-at-depth w i end (lambda (j) (token-at w j "=")))))
      (declare (type fixnum end))
      (set-end w (define w i (known "field") :to end :type (nth-value 0 (parse-type w (+ i 2) (or equals end)))) (1- end))
      (1+ end))))

(defun statement-of (w i to)
  (declare (type fixnum i to))
  (multiple-value-bind (j flags) (skip-annotations w i to)
    (declare (type fixnum j))
    (or (and (token-at w j "const" "var") (take-import w j to))
        (and (token-at w j "const" "var") (take-container w i j to flags))
        (and (token-at w i "test") (take-test w i to))
        (take-file-field w i to)
        (statement w i to))))

(define-extractor :zig (tokens facts names path) (:ctags-kinds ())
  (let ((*tongue* *zig*))
    (let ((w (start-walk tokens facts names path
                         (make-dialect :primary #'primary :postfix #'postfix-hook :statement #'statement-of
                                       :keywords (opl.languages.keyworded:tongue-keywords *zig*)
                                       :openers (opl.languages.keyworded:tongue-openers *zig*)))))
      (code w 0 (tokens-count tokens)))))
