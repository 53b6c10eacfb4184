;;;; The walk over code, see braces-walk.lisp: reads postfix expressions (a.b(c)[d]) into nodes and call sites, and leaves
;;;; what is peculiar to a language to the functions of its dialect.

(in-package #:opl.languages.braces)
(declaim (optimize (speed 1) (safety 1)))

;;; Pieces between commas

(defmacro do-pieces ((start end w from to &optional (separator '(","))) &body body)
  "Runs BODY for each piece of the tokens [FROM, TO) between separators outside brackets, empty last one left out."
  (let ((i (gensym)) (stop (gensym)) (walk (gensym)))
    `(let* ((,walk ,w) (,i ,from) (,stop ,to) (,start ,i))
       (declare (type fixnum ,i ,stop ,start))
       (loop
         (cond ((>= ,i ,stop)
                (when (< ,start ,stop) (let ((,end ,stop)) (declare (ignorable ,end)) ,@body))
                (return))
               ((token-at ,walk ,i ,@separator)
                (let ((,end ,i)) (declare (ignorable ,end)) ,@body)
                (setf ,i (1+ ,i) ,start ,i))
               ((token-opens-p (w-tokens ,walk) ,i) (setf ,i (1+ (closer ,walk ,i ,stop))))
               ((and (token-at ,walk ,i "<") (dialect-angles (w-dialect ,walk)))
                (setf ,i (or (type-arguments-end ,walk ,i ,stop) (1+ ,i))))
               (t (incf ,i)))))))

(defun type-arguments-end (w i to)
  "The token after the type arguments that open with the `<' at I, or nil when it compares."
  (declare (type fixnum i to))
  (let ((after (and (or (identifier-p w (1- i)) (token-at w (1- i) "." "::")) (skip-angles w i to))))
    (and after
         (or (>= (the fixnum after) to) (token-at w after "(" "::" "[" "{" ")" "." "," "?" "!") (identifier-p w after))
         after)))

(defun find-at-depth (w from to test)
  "The first token in [FROM, TO) outside brackets for which TEST (of an ordinal) is true. Nil when there is none, or when the
walk has looked at `+most-looks+' before."
  (declare (type walk w) (type fixnum from to) (type function test))
  (let ((i from) (looked 0) (left (- +most-looks+ (w-looked w))))
    (declare (type fixnum i looked left))
    (flet ((answer (found) (incf (w-looked w) looked) (return-from find-at-depth found)))
      (loop
        (when (or (>= i to) (>= looked left)) (answer nil))
        (incf looked)
        (when (funcall test i) (answer i))
        (setf i (if (token-opens-p (w-tokens w) i) (1+ (closer w i to)) (1+ i)))))))

(defun skip-angles (w i to)
  "The token after the `>' that closes the `<' at I, or nil when it closes nowhere near: then it compares."
  (declare (type fixnum i to))
  (let ((depth 0) (limit (min to (+ i 200))))
    (declare (type fixnum depth))
    (loop
      (when (>= i limit) (return nil))
      (cond ((= (kind w i) +identifier+))
            ((token-at w i "<") (incf depth))
            ((token-at w i ">") (when (<= (decf depth) 0) (return (1+ i))))
            ((token-at w i ">>") (when (<= (decf depth 2) 0) (return (1+ i))))
            ((token-at w i ">>>") (when (<= (decf depth 3) 0) (return (1+ i))))
            ((token-at w i "(" "[") (setf i (closer w i limit)))
            ((token-at w i "," "." "::" "?" "&" "*" ":" "|" "->" "=>" "'" "@" "!" "..." "=" "+" "-" ">="))
            ((member (kind w i) '(#.+number+ #.+character+ #.+string+)))
            (t (return nil)))
      (incf i))))

(defun do-angled-pieces (function w from to)
  "Calls FUNCTION with start and end of the pieces in [FROM, TO), none of them empty, between commas outside brackets and angles."
  (declare (type fixnum from to) (type function function))
  (let ((start from) (i from))
    (declare (type fixnum start i))
    (loop
      (cond ((>= i to) (when (< start to) (funcall function start to)) (return))
            ((token-at w i ",") (when (< start i) (funcall function start i)) (setf i (1+ i) start i))
            ((token-at w i "<") (setf i (or (skip-angles w i to) (1+ i))))
            ((token-opens-p (w-tokens w) i) (setf i (1+ (closer w i to))))
            (t (incf i))))))

(defun last-identifier (w from to)
  "The last identifier in [FROM, TO), or nil."
  (loop for i of-type fixnum from (1- to) downto from when (identifier-p w i) do (return i)))

;;; Expressions

(defun after-string (w i to)
  "The token after the string at I; the code interpolated in it is walked."
  (let ((mate (mate w i)))
    (cond ((and (/= mate +none+) (> mate i))
           (let ((end (min mate to)))
             (code w (1+ i) end)
             (min to (1+ end))))
          (t (1+ i)))))

(defun group (w i to)
  "The node of what the parentheses at I hold, when it is one expression; the token after them."
  (let ((close (closer w i to)))
    (values (expression w (1+ i) close) (min to (1+ close)))))

(defun primary (w i to)
  (declare (type fixnum i to))
  (multiple-value-bind (node next) (funcall (dialect-primary (w-dialect w)) w i to)
    (if next
        (values node next)
        (let ((kind (kind w i)))
          (cond ((= kind +identifier+)
                 (if (in-word-set-p (name w i) (dialect-keywords (w-dialect w)))
                     (values +none+ (1+ i))
                     (values (name-node w (name w i)) (1+ i))))
                ((= kind +string+) (let ((next (after-string w i to))) (values (literal-node w "string") next)))
                ((= kind +number+) (values (literal-node w "number") (1+ i)))
                ((= kind +character+) (values (literal-node w "char") (1+ i)))
                ((token-at w i "(") (group w i to))
                ((token-at w i "[") (let ((close (closer w i to))) (code w (1+ i) close) (values +none+ (min to (1+ close)))))
                ((token-at w i "{") (let ((close (closer w i to))) (with-block (w) (code w (1+ i) close)) (values +none+ (min to (1+ close)))))
                (t (values +none+ (1+ i))))))))

(defmacro with-argument ((w site argument) &body body)
  "Runs BODY, which reads argument number ARGUMENT of call SITE."
  (let ((old (gensym)) (place (gensym)))
    `(let ((,old (w-site ,w)) (,place (w-argument ,w)))
       (setf (w-site ,w) ,site (w-argument ,w) ,argument)
       (multiple-value-prog1 (progn ,@body)
         (setf (w-site ,w) ,old (w-argument ,w) ,place)))))

(defun callback-node (w index)
  "The type of parameter INDEX of the function literal in hand, given by the call it is an argument of or by the
type that is expected of it; +none+ where neither is known."
  (cond ((/= (w-site w) +none+) (node w +op-callback+ (w-site w) (w-argument w) index))
        ((/= (w-expected w) +none+) (node w +op-callback+ +none+ (w-expected w) index))
        (t +none+)))

(defmacro with-expected ((w type) &body body)
  "Runs BODY, which reads an expression of which the type node TYPE is expected."
  (let ((old (gensym)))
    `(let ((,old (w-expected ,w)))
       (setf (w-expected ,w) ,type)
       (multiple-value-prog1 (progn ,@body) (setf (w-expected ,w) ,old)))))

(defun call-arguments (w site open close)
  "Reads the arguments of SITE between the brackets OPEN and CLOSE. The first cell."
  (multiple-value-bind (cells count) (arguments w open close site)
    (unless (= site +none+)
      (setf (draft-site-arity (w-facts w) site) count (draft-site-arguments (w-facts w) site) cells))
    cells))

(defun arguments (w open close &optional (site +none+))
  "Reads the arguments between the brackets OPEN and CLOSE. Values: first cell or +none+, how many."
  (declare (type fixnum open close))
  (if (= close (1+ open))
      (values +none+ 0)
      (let ((nodes '()) (count 0))
        (declare (type (unsigned-byte 32) count))
        (do-pieces (start end w (1+ open) close)
          (push (with-argument (w site count) (expression w start end)) nodes)
          (incf count))
        (values (if (every (lambda (node) (= node +none+)) nodes) +none+ (cell-list w (nreverse nodes))) count))))

(defun postfix (w node i to)
  "Goes on after the operand NODE, whose next token is I: members, calls, indices. Values: node, next token."
  (declare (type fixnum i to) (type (unsigned-byte 32) node))
  (let* ((dialect (w-dialect w)) (named -1) (hook (dialect-postfix dialect)))
    (declare (type fixnum named))
    ;; NAMED: the token whose name a call here would bear
    (when (and (> i 0) (identifier-p w (1- i)) (/= node +none+)) (setf named (1- i)))
    (loop
      (when (>= i to) (return (values node i)))
      (let ((name (name w i)) (punctuation (= (kind w i) +punctuation+)))
        (cond ((and punctuation (in-word-set-p name (dialect-members dialect)) (identifier-p w (1+ i)) (< (1+ i) to)
                    (not (token-at w (1+ i) "new" "class" "await")))
               (setf named (1+ i)
                     node (member-node w node (name w named))
                     i (+ i 2)))
              ((and punctuation (in-word-set-p name (dialect-statics dialect)) (identifier-p w (1+ i)) (< (1+ i) to))
               (setf named (1+ i)
                     node (member-node w node (name w named) 1)
                     i (+ i 2)))
              ((and punctuation (= name (known "(")) (or (/= node +none+) (>= named 0))
                    (not (and (dialect-lines dialect) (new-line-p w i))))
               (let ((close (closer w i to)))
                 (if (>= named 0)
                     (let* ((site (call-site w named node +call+ +none+ +none+)) (cells (call-arguments w site i close)))
                       (setf node (node w +op-call+ node cells site)))
                     (multiple-value-bind (cells) (arguments w i close)
                       (setf node (node w +op-call+ node cells +none+))))
                 (setf named -1
                       i (min to (1+ close)))))
              ((and punctuation (= name (known "[")) (/= node +none+)
                    (not (and (dialect-lines dialect) (new-line-p w i))))
               (let ((close (closer w i to)))
                 (setf node (if (and (token-at w (1+ close) "(") (funcall (dialect-type-argument dialect) w (1+ i)))
                                (node w +op-apply+ node (type-arguments w (1+ i) close))
                                (node w +op-index+ node (expression w (1+ i) close)))
                       i (min to (1+ close)))))
              (t (multiple-value-bind (more next) (funcall hook w node i to)
                   (unless next (return (values node i)))
                   (setf named (if (and (identifier-p w (1- next)) (/= more +none+)) (1- next) -1)
                         node more i next))))))))

(defun type-arguments (w from to)
  "The first cell of the types between brackets, [FROM, TO), that were read as expressions."
  (declare (type fixnum from to))
  (let ((types '()) (facts (w-facts w)))
    (do-pieces (start end w from to)
      (let ((node (expression w start end)))
        (push (if (and (/= node +none+) (= (draft-node-op facts node) +op-cast+)) (draft-node-a facts node) node) types)))
    (cell-list w (nreverse types))))

(defun operand (w i to)
  "Reads the operand that begins at token I. Values: its node or +none+, the token after (always more than I)."
  (declare (type fixnum i to))
  (deeper (w +deepest-code+ (values +none+ (1+ i)))
    (multiple-value-bind (node next) (primary w i to)
      (declare (type fixnum next))
      (if (= node +none+) (values node next) (postfix w node next to)))))

(defun expression (w from to)
  "Reads the tokens [FROM, TO) as one expression; its node, as far as can be told without precedence."
  (declare (type fixnum from to))
  (if (>= from to)
      +none+
      (deeper (w +deepest-expression+ (progn (code w from to) +none+))
        (multiple-value-bind (node next) (operand w from to)
          (declare (type fixnum next))
          (cond ((>= next to) node)
                ((= node +none+) (if (= (kind w from) +punctuation+) (expression w next to) (progn (code w next to) +none+)))
                (t (operation w node next to)))))))

(defun operation (w left i to)
  "The node of an expression that goes on with an operator at I."
  (declare (type fixnum i to))
  (cond ((token-at w i "==" "!=" "<" ">" "<=" ">=" "&&" "||" "instanceof" "is" "in" "!==" "===")
         ;; a comparison may be the condition of `a < b ? c : d'
         (let ((question (find-at-depth w i to (lambda (j) (token-at w j "?")))))
           (cond ((and question (find-at-depth w question to (lambda (j) (token-at w j ":"))))
                  (code w (1+ i) question)
                  (operation w left question to))
                 (t (code w (1+ i) to)
                    (literal-node w "boolean")))))
        ((token-at w i "?")
         (let ((colon (find-at-depth w (1+ i) to (lambda (j) (token-at w j ":")))))
           (if colon
               (let ((a (expression w (1+ i) colon)) (b (expression w (1+ colon) to)))
                 (cond ((= a +none+) b) ((= b +none+) a) (t (node w +op-either+ a b))))
               (progn (code w (1+ i) to) left))))
        ((token-at w i "?:" "??")
         (let ((right (expression w (1+ i) to))) (if (= right +none+) left (node w +op-either+ left right))))
        (t (let ((right (expression w (1+ i) to)) (facts (w-facts w)))
             (flet ((literal-p (node literal)
                      (and (/= node +none+) (= (draft-node-op facts node) +op-literal+) (= (draft-node-a facts node) literal))))
               (cond ((or (literal-p right (known "string")) (literal-p right (known "boolean"))) right)
                     (t left)))))))

;;; Statements

(defun code (w i to)
  "Walks the statements and expressions in [I, TO); passes over them where they are nested too deep."
  (deeper (w +deepest-code+)
    (with-argument (w +none+ 0) (with-expected (w +none+) (statements w i to)))))

(defun statements (w i to)
  (declare (type fixnum i to))
  (let* ((dialect (w-dialect w)) (statement (dialect-statement dialect)) (lines (dialect-lines dialect)) (start t))
    (loop
      (when (>= i to) (return))
      (let* ((kind (kind w i)) (name (name w i)))
        (when (and lines (not start) (new-line-p w i)) (setf start t))
        (let ((next (and start (funcall statement w i to))))
          (cond (next (setf i (max (1+ i) (the fixnum next)) start t))
                ((= kind +identifier+)
                 (setf start (in-word-set-p name (dialect-openers dialect)))
                 (setf i (if start
                             (1+ i)
                             (truncating-nodes (w) (nth-value 1 (operand w i to))))))
                ((= kind +punctuation+)
                 (cond ((= name (known "{"))
                        (let ((close (closer w i to)))
                          (with-block (w) (code w (1+ i) close))
                          (setf i (1+ close) start t)))
                       ((or (= name (known ";")) (= name (known "}"))) (incf i) (setf start t))
                       (t (setf start nil i (truncating-nodes (w) (nth-value 1 (operand w i to)))))))
                ((= kind +directive+) (incf i) (setf start t))
                (t (setf start nil i (truncating-nodes (w) (nth-value 1 (operand w i to)))))))))))
