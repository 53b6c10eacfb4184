;;;; Python: statements. Blocks follow from columns; a definition ends with the last token of its block.
;;;; Definitions are read by python-definitions.lisp, which shares this package because the two call each other.

(defpackage #:opl.languages.python
  (:use #:cl #:opl.languages.reading #:opl.languages.python-expressions)
  (:import-from #:opl.source.names #:+none+ #:known #:name-case #:intern-octets)
  (:import-from #:opl.source.tokens #:tokens-octets #:token-start #:token-end #:+string+ #:+identifier+)
  (:import-from #:opl.source.facts #:+module-scope+ #:+class-scope+ #:+function-scope+ #:+block-scope+
                #:+op-call+ #:+op-def+ #:+op-self+ #:+op-typeof+ #:+op-union+ #:+op-tuple+ #:+op-function+
                #:draft-node-op #:draft-node-a #:draft-node-b #:draft-node-c #:draft-def-type #:draft-def-to #:draft-def-kind
                #:+parameter+ #:+receiver+ #:+variable+ #:+imported+ #:+type-parameter+ #:+decorate+
                #:+exported+ #:+private+ #:+static+ #:+abstract+ #:+test+ #:+local+ #:+async+ #:+getter+ #:+declaration+
                #:+star+ #:+relative+ #:+conditional+ #:+extends+
                #:add-import #:add-exported #:add-heritage #:draft-test-end
                #:draft-heritage-count #:draft-heritage-node #:draft-heritage-def #:draft-binding-type #:draft-binding-count
                #:draft-binding-name #:draft-binding-kind)
  (:import-from #:opl.languages.extractor #:define-extractor)
  (:export #:python-test-file-p))
(in-package #:opl.languages.python)
(declaim (optimize (speed 2) (safety 1)) (sb-ext:muffle-conditions sb-ext:compiler-note))

(declaim (ftype function function-definition class-definition decorator import-statement from-statement))

(defmacro p () '(reading-p r))
(defmacro limit () '(reading-limit r))

(defstruct (source (:include python) (:predicate nil))
  (conditional nil)                     ; within `if' or `try': imports there may not happen
  (test-file nil)
  ;; what the decorators read so far say of the definition to come
  (flags 0 :type node)
  (marks '() :type list))               ; (key . value)

(defun python-test-file-p (name)
  "Whether pytest collects tests of a file of this NAME by default."
  (and (> (length name) 5)
       (or (string= "test_" name :end2 5)
           (let ((dot (position #\. name :from-end t))) (and dot (>= dot 5) (string= "_test" name :start2 (- dot 5) :end2 dot)))
           (string= name "tests.py") (string= name "conftest.py"))))

;;; Blocks

(defun block-of (r column)
  "Reads the statements from the position on that stand at COLUMN or further in."
  (declare (type source r) (type index column))
  (let ((count (limit)))
    (loop while (and (< (p) count) (>= (the index (column r (p))) column))
          do (let ((from (p)))
               (setf (limit) (statement-end r from))
               (statement r count)
               (when (= (p) from) (incf (p)))
               (setf (limit) count)))))

(defun suite (r column count)
  "What follows the header in hand: the rest of its line, or the block on the next lines. COLUMN: where the
header stands; COUNT: the end of all. The position is after it; so is the limit."
  (declare (type source r) (type index column count))
  (let ((end (limit)))
    (declare (type index end))
    (setf (p) (min end (the index (skip-to r (p) end (known ":")))))
    (when (< (p) end) (advance r))
    (cond ((< (p) end) (simple-statements r))
          ((and (< end count) (> (the index (column r end)) column))
           (setf (limit) count (p) end)
           (with-depth (r) (block-of r (column r end)))
           (when (too-deep-p r) (skip-block r column))
           (setf (limit) (p))
           (return-from suite)))
    (setf (p) end)))

(defun skip-block (r column)
  (declare (type source r) (type index column))
  (loop while (and (< (p) (limit)) (> (the index (column r (p))) column))
        do (setf (p) (statement-end r (p)))))

(defun simple-statements (r)
  (declare (type source r))
  (loop while (< (p) (limit))
        do (let ((from (p)))
             (simple-statement r)
             (when (is r (p) ";") (advance r))
             (when (= (p) from) (incf (p))))))

(defun soft-keyword-p (r)
  "Whether the line in hand is a `match' or `case': it ends with a colon, or has one before its only statement."
  (declare (type source r))
  (and (> (limit) (+ (p) 2))
       (not (is r (1+ (p)) "=" "." ":" "," ")" ":="))
       (or (is r (1- (limit)) ":")
           (and (is r (p) "case") (/= (the index (skip-to r (p) (limit) (known ":"))) (the index (limit)))))))

(defun statement (r count)
  "Reads the statement whose first line ends at the limit; COUNT is where the file ends."
  (declare (type source r) (type index count))
  (let ((i (p)))
    (declare (type index i))
    (name-case (if (identifier-at-p r i) (name-at r i) +none+)
      ("def" (function-definition r i count))
      ("class" (class-definition r i count))
      ("async"
       (advance r)
       (cond ((is r (p) "def") (setf (source-flags r) (logior +async+ (source-flags r))) (function-definition r i count))
             (t (header r count i))))
      (("if" "elif" "else" "try" "except" "finally" "for" "while" "with") (header r count i))
      (("match" "case") (if (soft-keyword-p r) (header r count i) (simple-statements r)))
      (t (if (is r i "@") (decorator r) (simple-statements r))))))

(defun header (r count first)
  "A compound statement that defines nothing by itself; FIRST is its first token."
  (declare (type source r) (type index count first))
  (let* ((i (p)) (end (limit)) (column (column r first)) (scope (reading-scope r)) (conditional (source-conditional r))
         (colon (skip-to r (1+ i) end (known ":"))))
    (declare (type index i end column colon))
    (when (is r i "if" "elif" "else" "try" "except") (setf (source-conditional r) t))
    (advance r)
    (setf (limit) (if (and (= colon end) (is r (1- end) ":")) (1- end) (lambda-safe-colon r i colon end)))
    (name-case (name-at r i)
      (("if" "elif" "while") (narrow r (p)) (expressions r nil))
      ("for" (for-header r))
      ("with" (with-header r (if (is r (1- i) "async") (known "__aenter__") (known "__enter__"))))
      ("except" (except-header r))
      ("match" (expressions r nil))
      ("case" (case-header r))
      (t nil))
    (loop while (< (p) (limit)) do (let ((from (p))) (expression r nil) (when (= (p) from) (incf (p)))))
    (setf (limit) end)
    (suite r column count)
    (setf (reading-scope r) scope (source-conditional r) conditional)))

(defun lambda-safe-colon (r from colon end)
  "The colon that ends a header: not that of a lambda in it."
  (declare (type index from colon end))
  (loop with start of-type index = from
        for lambda of-type index = (skip-to r start colon (known "lambda"))
        while (< lambda colon)
        do (setf start (1+ colon)
                 colon (skip-to r (1+ colon) end (known ":"))))
  colon)

(defun narrow (r i)
  "`isinstance(name, Type)' at I: within a scope of its own the name has the type."
  (declare (type source r) (type index i))
  (when (and (is r i "isinstance") (is r (1+ i) "(") (identifier-at-p r (+ i 2)) (is r (+ i 3) ","))
    (let ((close (closer r (1+ i))) (limit (limit)) (position (p)) (name (name-at r (+ i 2))))
      (declare (type index close limit))
      (when (and (< close limit) (or (= (1+ close) limit) (is r (1+ close) "and")))
        (setf (p) (+ i 4) (limit) close)
        (let ((type (annotation r)))
          (setf (p) position (limit) limit)
          (when (and (/= type +none+) (= (draft-node-op (reading-facts r) type) +op-tuple+))
            (setf (draft-node-op (reading-facts r) type) +op-union+))
          (setf (reading-scope r) (open-scope r +block-scope+))
          (bind r name +variable+ :scope (reading-scope r) :type type))))))

(defun passing-scope (r)
  "Where the targets of `for' and `with' are bound: outside functions they are no definitions of the module."
  (if (eq (python-mode r) :function) nil (reading-home r)))

(defun for-header (r)
  (declare (type source r))
  (let* ((from (p)) (in (skip-to r from (limit) (known "in"))))
    (declare (type index from in))
    (setf (p) in)
    (when (< in (limit))
      (advance r)
      (let ((iterable (expressions r t)))
        (bind-targets r from in +none+ (element-of r iterable) (passing-scope r))))))

(defun with-header (r enter)
  "The items after `with'; ENTER is the method whose value their targets get."
  (declare (type source r) (type node enter))
  (when (and (is r (p) "(") (= (the index (closer r (p))) (1- (limit)))
             (let ((close (closer r (p))))
               (/= close (the index (skip-to r (1+ (p)) close (known "as"))))))
    (decf (limit))
    (advance r))
  (loop while (< (p) (limit))
        do (let* ((from (p)) (value (or (expression r t) +none+)))
             (when (is r (p) "as")
               (advance r)
               (let* ((start (p)) (end (skip-to r start (limit) (known ","))))
                 (setf (p) end)
                 (bind-targets r start end +none+
                               (if (= value +none+)
                                   +none+
                                   (node r +op-call+ (member-node r value enter) +none+ +none+))
                               (passing-scope r))))
             (when (is r (p) ",") (advance r))
             (when (= (p) from) (incf (p))))))

(defun except-header (r)
  (declare (type source r))
  (when (is r (p) "*") (advance r))
  (when (< (p) (limit))
    (let ((from (p)) (name (skip-to r (p) (limit) (known "as"))) (type +none+))
      (declare (type index from name))
      (when (< (1+ name) (limit))
        (setf type (annotation r))
        (when (and (/= type +none+) (= (draft-node-op (reading-facts r) type) +op-tuple+))
          (setf (draft-node-op (reading-facts r) type) +op-union+))
        (bind r (name-at r (1+ name)) +variable+ :type type)
        (setf (p) from (limit) name))
      (expressions r nil)
      (setf (p) (limit)))))

(defun case-header (r)
  "Names that a pattern captures are bound; its classes are no calls."
  (declare (type source r))
  (let ((guard (skip-to r (p) (limit) (known "if"))))
    (declare (type index guard))
    (loop for i of-type index from (p) below guard
          do (when (and (identifier-at-p r i) (not (is r i "None" "True" "False" "as" "_"))
                        (not (is r (1+ i) "(" "." "=")) (not (is r (1- i) ".")))
               (bind r (name-at r i) +variable+)))
    (setf (p) guard)
    (when (< guard (limit)) (advance r) (expression r nil))))

;;; Simple statements

(defun simple-statement (r)
  (declare (type source r))
  (let ((i (p)))
    (declare (type index i))
    (name-case (if (identifier-at-p r i) (name-at r i) +none+)
      ("import" (advance r) (import-statement r))
      ("from" (from-statement r))
      ("return"
       (advance r)
       (when (and (< (p) (limit)) (not (is r (p) ";")))
         (let ((value (expressions r (eq (python-mode r) :function))))
           (when (and (eq (python-mode r) :function) (/= value +none+))
             (bind r (known "return") +variable+ :value value)))))
      (("raise" "del" "assert")
       (advance r)
       (when (is r i "assert") (narrow-from-here r (p)))
       (expressions r nil)
       (loop while (and (< (p) (limit)) (is r (p) "from" ","))
             do (advance r) (expressions r nil)))
      (("global" "nonlocal") (elsewhere r (if (is r i "global") 0 nil)))
      (("pass" "break" "continue") (advance r))
      ("type" (if (and (identifier-at-p r (1+ i)) (is r (+ i 2) "=" "[")) (type-statement r) (assignment r)))
      (("print" "exec") (if (is r (1+ i) "(" "." "=") (assignment r) (progn (advance r) (expressions r nil))))
      (t (assignment r)))))

(defun narrow-from-here (r i)
  "`assert isinstance(name, Type)'."
  (declare (type source r) (type index i))
  (let ((scope (reading-scope r)))
    (narrow r i)
    (unless (= scope (reading-scope r))
      ;; the assertion holds to the end of the function: no scope of its own
      (let ((facts (reading-facts r)))
        (setf (opl.source.facts:draft-binding-scope facts (1- (draft-binding-count facts))) (reading-home r)))
      (setf (reading-scope r) scope))))

(defun elsewhere (r scope)
  (declare (type source r))
  (advance r)
  (let ((outer (or scope
                   (loop for s of-type node = (opl.source.facts:draft-scope-parent (reading-facts r) (reading-home r))
                           then (opl.source.facts:draft-scope-parent (reading-facts r) s)
                         while (/= s +none+)
                         when (= (opl.source.facts:draft-scope-kind (reading-facts r) s) +function-scope+) do (return s)))))
    (loop while (and (< (p) (limit)) (identifier-at-p r (p)))
          do (when (and outer (eq (python-mode r) :function)) (push (cons (name-at r (p)) outer) (python-elsewhere r)))
             (advance r)
             (when (is r (p) ",") (advance r)))))

(defun type-statement (r)
  (declare (type source r))
  (advance r)
  (let ((i (p)) (def (define r (name-at r (p)) (known "alias") (p) :from (1- (p)))))
    (declare (type index i))
    (advance r)
    (when (is r (p) "[") (setf (p) (1+ (the index (closer r (p))))))
    (when (is r (p) "=") (advance r)
      (setf (draft-def-type (reading-facts r) def) (annotation r)))
    (end-definition r def (last-line r (max (1+ i) (p))))))

(defun assignment (r)
  "An expression, an assignment to one target or several, or an annotated name."
  (declare (type source r))
  (let ((from (p)) (targets '()) (type +none+) (all (is r (p) "__all__")))
    (declare (type index from))
    (expressions r nil)
    (when (and (is r (p) ":") (< (p) (limit)))
      (let ((end (p)))
        (advance r)
        (setf type (annotation r))
        (unless (is r (p) "=")
          (bind-targets r from end type)
          (return-from assignment))
        (push (cons from end) targets)))
    (when (and all (eq (python-mode r) :module)) (exported-names r))
    (cond
      ((and (is r (p) "=") (< (p) (limit)))
       (unless targets (push (cons from (p)) targets))
       (loop
         (advance r)
         (let* ((start (p)) (value (expressions r t)))
           (cond ((and (is r (p) "=") (< (p) (limit))) (push (cons start (p)) targets))
                 (t (loop for (start . end) in (reverse targets)
                          do (bind-value r start end type value))
                    (return))))))
      ;; += and its like, and what Python 3 does not know
      ((< (p) (limit))
       (loop while (and (< (p) (limit)) (not (is r (p) ";")))
             do (let ((at (p))) (expressions r nil) (when (= (p) at) (advance r))))))))

(defun bind-value (r start end type value)
  "Binds the targets in [START, END); a lambda given to a name within a function defines a function."
  (declare (type source r) (type index start end) (type node type value))
  (let ((facts (reading-facts r)))
    (if (and (eq (python-mode r) :function) (= (1+ start) end) (/= value +none+) (identifier-at-p r start)
             (= (draft-node-op facts value) +op-function+))
        (let ((def (define r (name-at r start) (known "function") start :flags +local+ :value value
                     :parent (reading-def r))))
          (end-definition r def (last-line r (p)))
          (setf (opl.source.facts:draft-def-body facts def) (draft-node-c facts value)))
        (bind-targets r start end type value))))

(defun exported-names (r)
  "The strings that are given to __all__."
  (declare (type source r))
  (loop for i of-type index from (p) below (limit)
        do (when (= (kind-at r i) +string+)
             (let ((name (intern-text r (text-of r i)))) (add-exported (reading-facts r) name name +none+)))))
