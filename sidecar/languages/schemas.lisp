;;;; Languages that declare and call little: Protocol Buffers, GraphQL, Terraform, SQL.

(defpackage #:opl.languages.schemas
  (:use #:cl #:opl.source.tokens #:opl.source.facts #:opl.languages.braces)
  (:import-from #:opl.source.names #:+none+ #:known)
  (:import-from #:opl.languages.extractor #:define-extractor))
(in-package #:opl.languages.schemas)
(declaim (optimize (speed 1) (safety 1)))

(defun plain-walk (tokens facts names path) (start-walk tokens facts names path (make-dialect)))

(defun end-of (w i to &rest marks)
  "The first of MARKS (name numbers) outside brackets from I on, or TO."
  (or (find-at-depth w i to (lambda (j) (and (= (kind w j) +punctuation+) (member (name w j) marks)))) to))

(defmacro within ((w def) &body body)
  "BODY with what it defines standing in DEF."
  `(with-body (,w ,def :kind +class-scope+ :class ,def) ,@body))

;;; Protocol Buffers: https://protobuf.dev/reference/protobuf/proto3-spec/

(declaim (ftype function proto-members))

(defun proto-block (w i to kind)
  "message, enum, service, oneof or extend at I; the token after."
  (declare (type fixnum i to))
  (let ((brace (end-of w i to (known "{") (known ";"))))
    (declare (type fixnum brace))
    (if (or (not (token-at w brace "{")) (not (identifier-p w (1+ i))))
        (1+ brace)
        (let* ((close (closer w brace to)) (def (define w (1+ i) kind :from i :to brace :flags +has-body+)))
          (set-end w def close)
          (deeper (w +deepest-code+) (within (w def) (proto-members w (1+ brace) close (= kind (known "enum")))))
          (1+ close)))))

(defun proto-rpc (w i to)
  (declare (type fixnum i to))
  (let* ((mark (end-of w i to (known "{") (known ";"))) (def (define w (1+ i) (known "method") :from i :to mark)) (end (if (token-at w mark "{") (closer w mark to) mark)))
    (declare (type fixnum end))
    (set-end w def (min end (1- to)))
    (1+ end)))

(defun proto-members (w i to enum)
  (declare (type fixnum i to))
  (loop while (< i to)
        do (setf i
                 (cond ((token-at w i "message") (proto-block w i to (known "message")))
                       ((and (token-at w i "enum") (identifier-p w (1+ i))) (proto-block w i to (known "enum")))
                       ((and (token-at w i "service") (token-at w (+ i 2) "{")) (proto-block w i to (known "service")))
                       ((and (token-at w i "oneof") (token-at w (+ i 2) "{")) (proto-block w i to (known "union")))
                       ((and (token-at w i "extend") (identifier-p w (1+ i)))
                        (let ((brace (end-of w i to (known "{")))) (if (< (the fixnum brace) to) (progn (proto-members w (1+ (the fixnum brace)) (closer w brace to) nil) (1+ (closer w brace to))) to)))
                       ((and (token-at w i "rpc") (identifier-p w (1+ i))) (proto-rpc w i to))
                       ((token-at w i "package" "syntax" "edition" "import" "option" "reserved" "extensions")
                        (let ((end (end-of w i to (known ";"))))
                          (cond ((token-at w i "package") (add-mark (w-facts w) (known "package") (span-name w (1+ i) end) 0))
                                ((token-at w i "import")
                                 (let ((text (find-at-depth w i end (lambda (j) (= (kind w j) +string+)))))
                                   (when text (add-import (w-facts w) +none+ (known "*") (string-name w (string-content (w-tokens w) text)) 0 +star+ (line w i))))))
                          (1+ (the fixnum end))))
                       ((identifier-p w i)
                        (let* ((end (end-of w i to (known ";") (known "{"))) (equals (end-of w i end (known "="))) (at (last-identifier w i equals)))
                          (declare (type fixnum end))
                          (when (and at (< (the fixnum equals) end))
                            (set-end w (define w at (if enum (known "enumerator") (known "field")) :from i :to equals) (min end (1- to))))
                          (if (token-at w end "{") (1+ (closer w end to)) (1+ end))))
                       (t (1+ i))))))

(define-extractor :protobuf (tokens facts names path) (:ctags-kinds ())
  (proto-members (plain-walk tokens facts names path) 0 (tokens-count tokens) nil))

;;; GraphQL: https://spec.graphql.org/October2021/

(defparameter *graphql-kinds*
  (list (cons (known "type") (known "class")) (cons (known "interface") (known "interface")) (cons (known "input") (known "struct"))
        (cons (known "enum") (known "enum")) (cons (known "union") (known "union")) (cons (known "scalar") (known "alias"))
        (cons (known "query") (known "function")) (cons (known "mutation") (known "function")) (cons (known "subscription") (known "function"))
        (cons (known "fragment") (known "function"))))

(defun graphql-fields (w i to enum)
  (declare (type fixnum i to))
  (loop while (< i to)
        do (cond ((and (identifier-p w i) (or (new-line-p w i) (token-at w (1- i) "{" ",") enum))
                  (let ((j (1+ i)))
                    (declare (type fixnum j))
                    (when (token-at w j "(") (setf j (1+ (closer w j to))))
                    (when (or enum (token-at w j ":"))
                      (set-end w (define w i (if enum (known "enumerator") (known "field")) :to j) (1- j)))
                    (setf i (max j (1+ i)))
                    (unless enum (loop while (and (< i to) (not (new-line-p w i))) do (incf i)))))
                 ((token-opens-p (w-tokens w) i) (setf i (1+ (closer w i to))))
                 (t (incf i)))))

(define-extractor :graphql (tokens facts names path) (:ctags-kinds ())
  (let ((w (plain-walk tokens facts names path)) (i 0) (to (tokens-count tokens)))
    (declare (type fixnum i to))
    (loop while (< i to)
          do (let* ((word (and (identifier-p w i) (new-line-p w i) (name w i))) (kind (cdr (assoc word *graphql-kinds*))) (extension (eql word (known "extend"))))
               (cond (extension (incf i))
                     ((and (eql word (known "directive")) (token-at w (1+ i) "@"))
                      (set-end w (define w (+ i 2) (known "function") :from i) (+ i 2))
                      (incf i 3))
                     ((and (eql word (known "scalar")) (identifier-p w (1+ i)))
                      (set-end w (define w (1+ i) kind :from i) (1+ i))
                      (incf i 2))
                     ((and kind (identifier-p w (1+ i)))
                      (let* ((end (or (find-at-depth w (1+ i) to (lambda (j) (or (token-at w j "{") (and (identifier-p w j) (new-line-p w j) (assoc (name w j) *graphql-kinds*))))) to))
                             (body (token-at w end "{")) (close (if body (closer w end to) (1- (the fixnum end))))
                             (def (define w (1+ i) kind :from i :to (if body end (+ i 2)) :flags (if body +has-body+ 0))))
                        (declare (type fixnum end close))
                        (set-end w def (if (or body (= kind (known "union"))) close (1+ i)))
                        (when (token-at w (+ i 2) "implements")
                          (loop for j from (+ i 3) below end
                                do (when (and (identifier-p w j) (not (token-at w (1- j) "@"))) (add-heritage facts def +implements+ (name-node w (name w j))))))
                        (when (and body (member kind (list (known "class") (known "interface") (known "struct") (known "enum"))))
                          (within (w def) (graphql-fields w (1+ end) close (= kind (known "enum")))))
                        (setf i (1+ close))))
                     ((token-opens-p tokens i) (setf i (1+ (closer w i to))))
                     (t (incf i)))))))

;;; Terraform: blocks with labels: https://developer.hashicorp.com/terraform/language/syntax/configuration

(defun terraform-block (w i to)
  "A block at I: a word, strings, `{'. The token after, or nil."
  (declare (type fixnum i to))
  (let ((j (1+ i)) (last nil))
    (declare (type fixnum j))
    (loop while (= (kind w j) +string+) do (setf last j) (incf j))
    (when (and (token-at w j "{") (< j to))
      (let* ((close (closer w j to)) (locals (token-at w i "locals"))
             (def (cond (last (define w last (name w i) :name (string-name w (string-content (w-tokens w) last)) :from i :to j :flags +has-body+))
                        (locals +none+)
                        (t (define w i (known "block") :from i :to j :flags +has-body+)))))
        (unless (= def +none+) (set-end w def close))
        (if locals
            (loop for k of-type fixnum from (1+ j) below close
                  do (cond ((token-opens-p (w-tokens w) k) (setf k (closer w k close)))
                           ((and (identifier-p w k) (token-at w (1+ k) "=") (new-line-p w k))
                            (let ((end (or (find-at-depth w (+ k 2) close (lambda (m) (and (> m (+ k 2)) (new-line-p w m) (identifier-p w m) (token-at w (1+ m) "=")))) close)))
                              (set-end w (define w k (known "variable") :to (1+ k)) (1- (the fixnum end))))))))
        (let ((outer (w-def w)))
          (unless (= def +none+) (setf (w-def w) def))
          (code w (1+ j) close)
          (setf (w-def w) outer))
        (1+ close)))))

(define-extractor :terraform (tokens facts names path) (:ctags-kinds ())
  (let ((w (plain-walk tokens facts names path)) (i 0) (to (tokens-count tokens)))
    (declare (type fixnum i to))
    (loop while (< i to)
          do (let ((next (and (identifier-p w i) (new-line-p w i) (terraform-block w i to))))
               (cond (next (setf i (max (1+ i) (the fixnum next))))
                     ((and (identifier-p w i) (token-at w (1+ i) "=") (new-line-p w i)) ; tfvars
                      (let ((end (or (find-at-depth w (+ i 2) to (lambda (m) (and (> m (+ i 2)) (new-line-p w m) (identifier-p w m)))) to)))
                        (set-end w (define w i (known "variable")) (1- (the fixnum end)))
                        (setf i end)))
                     ((token-opens-p tokens i) (setf i (1+ (closer w i to))))
                     (t (incf i)))))))

;;; SQL: CREATE of whatever dialect; calls are names before a bracket

(defparameter *sql-kinds*
  '(("table" . "table") ("view" . "view") ("function" . "function") ("procedure" . "procedure") ("trigger" . "trigger") ("index" . "index")
    ("type" . "type") ("schema" . "schema") ("sequence" . "sequence") ("package" . "package") ("domain" . "type") ("database" . "database")
    ("role" . "role") ("event" . "event")))

(defparameter *sql-words*
  '("table" "values" "in" "and" "or" "not" "as" "on" "using" "key" "primary" "unique" "check" "references" "foreign" "exists" "from" "where" "join" "select"
    "into" "varchar" "char" "numeric" "decimal" "int" "integer" "bigint" "returns" "any" "all" "over" "partition" "by" "index" "constraint" "with" "then" "when"
    "else" "if" "nvarchar" "varbinary" "float" "timestamp" "time" "bit" "binary" "interval" "default" "is" "like" "between" "set" "return" "call" "limit" "filter" "within")
  "Words before a bracket that call nothing.")

(defun lower-text (w i) (string-downcase (token-text (w-tokens w) i)))

(defun sql-name (w i to)
  "The last part of the name at I, a.b.\"c\". Values: its token, the token after."
  (declare (type fixnum i to))
  (let ((j i))
    (declare (type fixnum j))
    (loop while (and (token-at w (1+ j) ".") (< (+ j 2) to)) do (incf j 2))
    (values j (1+ j))))

(defun sql-statement-end (w i to)
  (declare (type fixnum i to))
  (let ((depth 0) (j i))
    (declare (type fixnum depth j))
    (loop
      (cond ((>= j to) (return (1- to)))
            ((identifier-p w j)
             (let ((text (lower-text w j)))
               (cond ((string= text "begin") (unless (token-at w (1+ j) ";") (incf depth)))
                     ((string= text "case") (incf depth))
                     ((string= text "end")
                      (unless (member (lower-text w (1+ j)) '("if" "loop" "while" "repeat" "for") :test #'string=) (when (plusp depth) (decf depth)))))))
            ((and (token-at w j ";") (zerop depth)) (return j)))
      (incf j))))

(defun sql-text (w i) (if (= (kind w i) +string+) (string-content (w-tokens w) i) (token-text (w-tokens w) i)))

(defun sql-create (w i to)
  "CREATE [OR REPLACE] … kind [IF NOT EXISTS] name … ; at I. The token after."
  (declare (type fixnum i to))
  (let ((kind nil) (j (1+ i)) (limit (min to (+ i 12))))
    (declare (type fixnum j))
    (loop while (and (< j limit) (null kind))
          do (when (identifier-p w j) (setf kind (cdr (assoc (lower-text w j) *sql-kinds* :test #'string=))))
             (incf j))
    (loop while (and (< j to) (identifier-p w j) (member (lower-text w j) '("if" "not" "exists" "concurrently" "body") :test #'string=)) do (incf j))
    (if (or (null kind) (not (or (identifier-p w j) (= (kind w j) +string+))))
        (1+ i)
        (multiple-value-bind (at after) (sql-name w j to)
          (declare (type fixnum at after))
          (let* ((end (sql-statement-end w i to)) (body (member kind '("function" "procedure" "trigger" "table" "view" "package") :test #'string=))
                 (def (define w at (string-name w kind) :name (string-name w (sql-text w at)) :from i :to after :flags (if body +has-body+ 0))))
            (set-end w def end)
            (cond ((and (string= kind "table") (token-at w after "(")) (within (w def) (sql-columns w (1+ after) (closer w after to))))
                  (t (let ((outer (w-def w))) (setf (w-def w) def) (sql-calls w (if (token-at w after "(") (1+ (closer w after to)) after) end) (setf (w-def w) outer))))
            (1+ (the fixnum end)))))))

(defun sql-columns (w i to)
  (declare (type fixnum i to))
  (do-pieces (start end w i to)
    (when (and (< start end) (or (identifier-p w start) (= (kind w start) +string+)) (< (1+ start) end)
               (not (member (lower-text w start) '("primary" "unique" "foreign" "constraint" "check" "key" "index" "like" "exclude" "period") :test #'string=)))
      (set-end w (define w start (known "field") :name (string-name w (sql-text w start)) :to end) (1- end)))))

(defun sql-calls (w i to)
  (declare (type fixnum i to))
  (loop for j of-type fixnum from i below to
        do (when (and (identifier-p w j) (token-at w (1+ j) "(") (not (member (lower-text w j) *sql-words* :test #'string=))
                      (not (and (identifier-p w (1- j)) (member (lower-text w (1- j)) '("into" "table" "index" "view" "references" "update" "on" "from" "join") :test #'string=))))
             (call-site w j (name-node w (name w j)) +call+ +none+ +none+))))

(define-extractor :sql (tokens facts names path) (:ctags-kinds ())
  (let ((w (plain-walk tokens facts names path)) (i 0) (to (tokens-count tokens)))
    (declare (type fixnum i to))
    (loop while (< i to)
          do (if (and (identifier-p w i) (string= "create" (lower-text w i)))
                 (setf i (max (1+ i) (the fixnum (sql-create w i to))))
                 (progn (when (and (identifier-p w i) (token-at w (1+ i) "(")) (sql-calls w i (1+ i)))
                        (incf i))))))
