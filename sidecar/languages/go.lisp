;;;; What a Go file says of itself: package, imports, types with fields and methods, functions, receivers,
;;;; function literals bound to a name, test cases, calls, and the types of what is called upon.

(defpackage #:opl.languages.go
  (:use #:cl #:opl.source.tokens #:opl.source.facts #:opl.languages.braces)
  (:import-from #:opl.source.names #:+none+ #:known #:name-case #:name-string)
  (:import-from #:opl.languages.extractor #:define-extractor))
(in-package #:opl.languages.go)
(declaim (optimize (speed 1) (safety 1)))

(defparameter *keywords*
  (word-set "break" "case" "const" "continue" "default" "defer" "else" "fallthrough" "for" "go" "goto" "if" "import"
            "package" "range" "return" "select" "switch" "var" "type"))
(defparameter *openers* (word-set "else" "default" "fallthrough"))

;; https://go.dev/ref/spec#Predeclared_identifiers
(defparameter *predeclared-types*
  (word-set "any" "bool" "byte" "complex64" "complex128" "error" "float32" "float64" "int" "int8" "int16" "int32" "int64"
            "rune" "string" "uint" "uint8" "uint16" "uint32" "uint64" "uintptr"))

(defun exported-name-p (w name)
  (and (/= name +none+) (plusp (opl.source.names:name-length (w-names w) name))
       (<= 65 (opl.source.names:name-octet (w-names w) name 0) 90)))

(defun name-flags (w i) (if (exported-name-p w (name w i)) +exported+ +private+))

(defun blank-p (w i) (token-at w i "_"))

;;; Types

(declaim (ftype function parse-type parameters function-literal statement struct-fields interface-members))

(defun type-follows-p (w i to)
  "Whether a type may begin at I: for the results of a function."
  (declare (type fixnum i to))
  (and (< i to) (not (new-line-p w i))
       (or (and (identifier-p w i) (not (in-word-set-p (name w i) *keywords*)))
           (token-at w i "*" "[" "(" "<-"))))

(defun function-type (w i to)
  "The function type whose parameters open at I, without a scope. Values: node, token after."
  (declare (type fixnum i to))
  (let* ((close (closer w i to)) (types (mapcar #'second (parameters w (1+ i) close))))
    (multiple-value-bind (results next) (result-type w (1+ close) to)
      (values (node w +op-function+ (cell-list w types) results) next))))

(defun result-type (w i to)
  "What a function gives back: the node of one type, of a tuple, or +none+; the token after."
  (declare (type fixnum i to))
  (cond ((and (token-at w i "(") (< i to) (not (new-line-p w i)))
         (let* ((close (closer w i to)) (types (mapcar #'second (parameters w (1+ i) close))))
           (values (cond ((null types) +none+)
                         ((null (rest types)) (first types))
                         (t (node w +op-tuple+ (cell-list w types))))
                   (1+ close))))
        ((type-follows-p w i to) (parse-type w i to))
        (t (values +none+ i))))

(defun type-arguments (w node i to)
  "Type arguments that follow the type NODE at I, if any."
  (declare (type fixnum i to))
  (if (and (token-at w i "[") (< (1+ i) (closer w i to)) (same-line-p w (1- i) i))
      (let ((close (closer w i to)) (types '()))
        (do-pieces (start end w (1+ i) close) (push (parse-type w start end) types))
        (values (node w +op-apply+ node (cell-list w (nreverse types))) (1+ close)))
      (values node i)))

(defun parse-type (w i to)
  "The type at I. Values: its node or +none+, the token after (more than I)."
  (declare (type fixnum i to))
  (cond ((>= i to) (values +none+ (1+ i)))
        ((token-at w i "*" "&")
         (multiple-value-bind (node next) (parse-type w (1+ i) to) (values (node w +op-pointer+ node) next)))
        ((token-at w i "...")
         (multiple-value-bind (node next) (parse-type w (1+ i) to) (values (node w +op-array+ node) next)))
        ((token-at w i "~" "<-") (parse-type w (1+ i) to))
        ((token-at w i "[")
         (multiple-value-bind (node next) (parse-type w (1+ (closer w i to)) to)
           (values (node w +op-array+ node) next)))
        ((token-at w i "(")
         (let ((close (closer w i to))) (values (parse-type w (1+ i) close) (1+ close))))
        ((token-at w i "map")
         (let ((close (closer w (1+ i) to)))
           (multiple-value-bind (value next) (parse-type w (1+ close) to)
             (let ((key (if (token-at w (1+ i) "[") (parse-type w (+ i 2) close) +none+)))
               (values (node w +op-apply+ (name-node w (known "map")) (cell-list w (list key value))) next)))))
        ((token-at w i "chan")
         (multiple-value-bind (value next) (parse-type w (if (token-at w (1+ i) "<-") (+ i 2) (1+ i)) to)
           (values (node w +op-apply+ (name-node w (known "chan")) (cell-list w (list value))) next)))
        ((token-at w i "func") (if (token-at w (1+ i) "(") (function-type w (1+ i) to) (values +none+ (1+ i))))
        ((and (token-at w i "struct" "interface") (token-at w (1+ i) "{"))
         (let ((close (closer w (1+ i) to)))
           (values (anonymous-type w i close) (1+ close))))
        ((identifier-p w i)
         (if (and (token-at w (1+ i) ".") (identifier-p w (+ i 2)) (< (+ i 2) to))
             (type-arguments w (member-node w (name-node w (name w i)) (name w (+ i 2))) (+ i 3) to)
             (type-arguments w (name-node w (name w i)) (1+ i) to)))
        (t (values +none+ (1+ i)))))

(defun anonymous-type (w i close)
  "struct{…} or interface{…} as a type: an object of its fields' types."
  (declare (type fixnum i close))
  (if (token-at w i "interface")
      (literal-node w "interface")
      (let ((properties '()))
        (struct-fields w (+ i 2) close
                       (lambda (at type embedded)
                         (declare (ignore embedded))
                         (push (node w +op-property+ type (name w at) 1) properties)))
        (node w +op-object+ (cell-list w (nreverse properties))))))

(defun field-line-end (w i close)
  "The token after the field declaration at I, which ends with its line or a semicolon."
  (declare (type fixnum i close))
  (let ((j (1+ i)))
    (declare (type fixnum j))
    (loop
      (when (or (>= j close) (token-at w j ";") (/= (token-end-line (w-tokens w) (1- j)) (line w j)))
        (return (min j close)))
      (setf j (if (token-opens-p (w-tokens w) j) (1+ (closer w j close)) (1+ j))))))

(defun struct-fields (w i close take)
  "Calls TAKE with (token type embedded-p) for every field declared in [I, CLOSE)."
  (declare (type fixnum i close) (type function take))
  (loop while (< i close)
        do (let ((end (field-line-end w i close)))
             (declare (type fixnum end))
             (cond ((token-at w i ";"))
                   ((or (token-at w i "*" "(")
                        (and (identifier-p w i)
                             (or (= (1+ i) end) (token-at w (1+ i) ".") (= (kind w (1+ i)) +string+)
                                 (and (token-at w (1+ i) "[") (embedded-generic-p w (1+ i) end)))))
                    (let* ((stop (if (= (kind w (1- end)) +string+) (1- end) end)) (type (parse-type w i stop))
                           (bracket (find-at-depth w i stop (lambda (j) (token-at w j "["))))
                           (at (last-identifier w i (or bracket stop))))
                      (when at (funcall take at type t))))
                   ((identifier-p w i)
                    (let ((names (list i)) (j (1+ i)))
                      (loop while (and (token-at w j ",") (identifier-p w (1+ j)))
                            do (push (1+ j) names) (incf j 2))
                      (let ((type (parse-type w j end)))
                        (dolist (at (nreverse names)) (funcall take at type nil))))))
             (setf i (if (token-at w end ";") (1+ end) (max end (1+ i)))))))

(defun embedded-generic-p (w open end)
  "Whether the bracket after a field's first name holds type arguments (`T[int]'), not the length of an array (`a [3]int')."
  (declare (type fixnum open end))
  (let ((close (closer w open end)))
    (and (> close (1+ open))
         (or (>= (1+ close) end) (= (kind w (1+ close)) +string+)))))

;;; Parameters

(defun parameters (w from to)
  "The parameters in [FROM, TO): list of (name token or nil, type node, variadic-p)."
  (declare (type fixnum from to))
  (let ((pieces '()) (named nil))
    (do-pieces (start end w from to)
      (when (< start end)
        (let ((named-here (and (identifier-p w start) (< (1+ start) end) (not (token-at w (1+ start) "."))
                               (not (token-at w start "func" "map" "chan" "struct" "interface"))
                               (not (and (token-at w (1+ start) "[") (= (1+ (closer w (1+ start) end)) end)
                                         (> (closer w (1+ start) end) (+ 2 start)))))))
          (when named-here (setf named t))
          (push (list start end named-here) pieces))))
    (if named
        (let ((type +none+) (variadic nil) (list '()))
          ;; from the last to the first: `a, b int' gives both the type that follows
          (loop for (start end named-here) in pieces
                do (when named-here
                     (setf variadic (token-at w (1+ start) "...") type (parse-type w (1+ start) end)))
                   (push (list start type variadic) list))
          list)
        (loop for (start end) in (nreverse pieces)
              collect (list nil (parse-type w start end) (token-at w start "..."))))))

(defun bind-parameters (w from to &optional (kind +parameter+))
  "Binds the parameters in [FROM, TO) and gives their types."
  (loop for (at type variadic) in (parameters w from to) for index from 0
        do (when (and at (not (blank-p w at)))
             (bind w (name w at) :kind (if variadic +rest-parameter+ kind) :type type :index index))
        collect type))

(defun type-parameters (w from to)
  (loop for (at type) in (parameters w from to) for index from 0
        do (when at (bind w (name w at) :kind +type-parameter+ :type type :index index))))

;;; Functions

(defun body-of (w i to)
  "Reads parameters, results and body of the function whose parameters open at I, in the scope in hand.
Values: node of its type, token after, its body's closing brace or nil."
  (declare (type fixnum i to))
  (let* ((close (closer w i to)) (types (bind-parameters w (1+ i) close)) (after (1+ close)))
    (multiple-value-bind (results next) (result-type w after to)
      (declare (type fixnum next))
      (when (token-at w after "(")
        (loop for (at type) in (parameters w (1+ after) (closer w after to))
              do (when (and at (not (blank-p w at))) (bind w (name w at) :type type))))
      (let ((type (node w +op-function+ (cell-list w types) results)))
        (if (and (token-at w next "{") (< next to))
            (let ((end (closer w next to)))
              (code w (1+ next) end)
              (values type (1+ end) end))
            (values type next nil))))))

(defun function-literal (w i to &optional (def +none+))
  "The function literal or type at I (`func'). DEF: the definition whose value it is. Values: node, token after."
  (declare (type fixnum i to))
  (if (not (token-at w (1+ i) "("))
      (values +none+ (1+ i))
      (multiple-value-bind (type next)
          ;; a look ahead for the body: a function type has none
          (let ((nodes (draft-node-count (w-facts w))))
            (multiple-value-prog1 (function-type w (1+ i) to) (opl.languages.braces::drop-nodes (w-facts w) nodes)))
        (declare (ignore type) (type fixnum next))
        (if (and (token-at w next "{") (< next to))
            (with-body (w def)
              (let ((scope (w-scope w)) (owner (w-def w)))
                (when (= def +none+) (setf (w-def w) owner))
                (multiple-value-bind (type after end) (body-of w (1+ i) to)
                  (when (/= def +none+)
                    (setf (draft-def-type (w-facts w) def) (draft-node-b (w-facts w) type))
                    (set-end w def (or end (1- after))))
                  (setf (draft-node-c (w-facts w) type) scope)
                  (values type after))))
            (function-type w (1+ i) to)))))

(defun signature-end (w i to)
  "The token after the signature that begins at I: the brace of the body or the next line."
  (declare (type fixnum i to))
  (or (find-at-depth w i (min to (+ i 400))
                     (lambda (j) (or (and (token-at w j "{") (not (token-at w (1- j) "struct" "interface")))
                                     (and (> j i) (/= (token-end-line (w-tokens w) (1- j)) (line w j))))))
      (min to (+ i 20))))

(defun receiver-type-token (w from to)
  "The name of the receiver's type in [FROM, TO), or nil."
  (let ((bracket (find-at-depth w from to (lambda (j) (token-at w j "[")))))
    (last-identifier w from (or bracket to))))

(defun test-name-p (w i)
  (let ((text (token-text (w-tokens w) i)))
    (loop for prefix in '("Test" "Benchmark" "Example" "Fuzz")
            thereis (and (>= (length text) (length prefix)) (string= prefix text :end2 (length prefix))
                         (or (= (length text) (length prefix)) (not (lower-case-p (char text (length prefix)))))))))

(defun test-file-p (w)
  (let ((path (w-path w)))
    (and (> (length path) 8) (string= "_test.go" path :start2 (- (length path) 8)))))

(defun take-function (w i to)
  "The declaration at I (`func'); the token after."
  (declare (type fixnum i to))
  (let* ((receiver (token-at w (1+ i) "(")) (receiver-close (if receiver (closer w (1+ i) to) i)) (at (1+ receiver-close)))
    (declare (type fixnum at receiver-close))
    (unless (identifier-p w at) (return-from take-function (1+ i)))
    (let* ((generic (token-at w (1+ at) "[")) (open (if generic (1+ (closer w (1+ at) to)) (1+ at))))
      (unless (token-at w open "(") (return-from take-function (1+ at)))
      (let* ((test (and (not receiver) (test-file-p w) (test-name-p w at)))
             (def (define w at (if receiver (known "method") (known "function"))
                    :from i :to (signature-end w i to) :bind (and (not receiver) (not (blank-p w at)))
                    :flags (logior (name-flags w at) (if test +test+ 0)))))
        (setf (w-member w) (if test (list (token-text (w-tokens w) at) (draft-test-count (w-facts w))) nil))
        (when test (add-test (w-facts w) (name w at) (line w at) (line w at) +none+))
        (with-body (w def)
          (when receiver
            (let ((type-token (receiver-type-token w (+ i 2) receiver-close)))
              (receiver-parameters w (+ i 2) receiver-close)
              (destructuring-bind (&optional name type variadic) (first (parameters w (+ i 2) receiver-close))
                (declare (ignore variadic))
                (when type-token
                  (add-mark (w-facts w) (known "receiver") (name w type-token) def)
                  (bind w (if (and name (not (blank-p w name))) (name w name) (known "_"))
                        :kind +receiver+ :type type)))))
          (when generic (type-parameters w (+ at 2) (1- open)))
          (multiple-value-bind (type next end) (body-of w open to)
            (setf (draft-def-type (w-facts w) def) (draft-node-b (w-facts w) type))
            (set-end w def (or end (1- next)))
            (when end (setf (draft-def-flags (w-facts w) def) (logior +has-body+ (draft-def-flags (w-facts w) def))))
            (when test (setf (draft-test-end (w-facts w) (second (w-member w))) (line w (or end at))))
            (setf (w-member w) nil)
            next))))))

(defun receiver-parameters (w from to)
  "Binds the type parameters that a receiver names: (s *Stack[T])."
  (let ((bracket (find-at-depth w from to (lambda (j) (token-at w j "[")))))
    (when bracket
      (let ((index 0))
        (declare (type (unsigned-byte 32) index))
        (do-pieces (start end w (1+ bracket) (closer w bracket to))
          (when (identifier-p w start) (bind w (name w start) :kind +type-parameter+ :index index))
          (incf index))))))

;;; Types declared

(defun interface-members (w def i close)
  (declare (type fixnum i close))
  (loop while (< i close)
        do (let ((end (field-line-end w i close)))
             (cond ((token-at w i ";"))
                   ((and (identifier-p w i) (token-at w (1+ i) "("))
                    (let ((member (define w i (known "method") :from i :to end :bind nil
                                    :flags (logior (name-flags w i) +abstract+ +declaration+))))
                      (with-body (w member)
                        (setf (draft-def-type (w-facts w) member)
                              (draft-node-b (w-facts w) (nth-value 0 (body-of w (1+ i) end)))))
                      (set-end w member (1- end))))
                   ((and (identifier-p w i) (not (find-at-depth w i end (lambda (j) (token-at w j "|")))))
                    (add-heritage (w-facts w) def +embeds+ (parse-type w i end))))
             (setf i (if (token-at w end ";") (1+ end) (max end (1+ i)))))))

(defun struct-members (w def i close)
  (struct-fields w i close
                 (lambda (at type embedded)
                   ;; an embedded type is a parent; the compilers' lists have no field for it
                   (if embedded
                       (add-heritage (w-facts w) def +embeds+ type)
                       (unless (blank-p w at)
                         (let* ((end (field-line-end w at close))
                                (field (define w at (known "field") :bind nil :type type :to end :flags (name-flags w at))))
                           (set-end w field (1- end))))))))

(defun generic-parameters-p (w open close)
  "Whether the brackets after a type's name declare type parameters, and no length of an array."
  (declare (type fixnum open close))
  (and (identifier-p w (1+ open)) (> close (+ open 2))
       (or (identifier-p w (+ open 2)) (token-at w (+ open 2) "," "[" "~" "*" "interface"))))

(defun take-type (w i to local)
  "The type specification at I (its name); the token after."
  (declare (type fixnum i to))
  (unless (identifier-p w i) (return-from take-type (1+ i)))
  (let* ((generic (and (token-at w (1+ i) "[") (generic-parameters-p w (1+ i) (closer w (1+ i) to))))
         (at (if generic (1+ (closer w (1+ i) to)) (1+ i)))
         (alias (token-at w at "=")) (at (if alias (1+ at) at))
         (structured (and (token-at w at "struct" "interface") (token-at w (1+ at) "{")))
         (kind (cond (alias (known "alias"))
                     ((not structured) (known "type"))
                     ((token-at w at "struct") (known "struct"))
                     (t (known "interface"))))
         (def (define w i kind :from (if (token-at w (1- i) "type") (1- i) i) :to (min to (1+ at))
                :flags (logior (name-flags w i) (if local +local+ 0) (if structured +has-body+ 0)))))
    (with-body (w def :kind +class-scope+ :class def)
      (when generic (type-parameters w (+ i 2) (closer w (1+ i) to)))
      (if structured
          (let ((close (closer w (1+ at) to)))
            (if (token-at w at "struct")
                (struct-members w def (+ at 2) close)
                (interface-members w def (+ at 2) close))
            (set-end w def close)
            (1+ close))
          (multiple-value-bind (type next) (parse-type w at to)
            (declare (type fixnum next))
            (setf (draft-def-type (w-facts w) def) type)
            (set-end w def (1- next))
            next)))))

(defun statement-end (w i to)
  "The token after the statement at I: the first on a new line that does not go on, or a semicolon."
  (declare (type fixnum i to))
  (let ((j i))
    (declare (type fixnum j))
    (loop
      (when (>= j to) (return to))
      (when (token-at w j ";") (return j))
      (let ((next (if (token-opens-p (w-tokens w) j) (1+ (closer w j to)) (1+ j))))
        (declare (type fixnum next))
        ;; a line ends the statement after a name, a literal, a closing bracket (https://go.dev/ref/spec#Semicolons)
        (when (and (< next to) (/= (token-end-line (w-tokens w) (1- next)) (line w next))
                   (or (/= (kind w (1- next)) +punctuation+) (token-at w (1- next) ")" "]" "}" "++" "--")))
          (return next))
        (setf j next)))))

(defun take-values (w i to kind local)
  "The specification of variables or constants at I (its first name), up to TO; values and types."
  (declare (type fixnum i to))
  (let ((names '()) (j i) (type +none+) (facts (w-facts w)))
    (declare (type fixnum j))
    (loop while (identifier-p w j)
          do (push j names) (incf j)
             (if (token-at w j ",") (incf j) (return)))
    (setf names (nreverse names))
    (let ((equals (find-at-depth w j to (lambda (k) (token-at w k "=")))))
      (when (< j (or equals to)) (setf type (parse-type w j (or equals to))))
      (flet ((declare-name (at value-from value-to)
               (if (or local (blank-p w at))
                   +none+
                   (let ((function (and value-from (token-at w value-from "func"))))
                     (let ((def (define w at kind :from at :to value-to :type type :bind nil
                                  :flags (logior (name-flags w at) (if function +has-body+ 0)))))
                       (set-end w def (1- (the fixnum value-to)))
                       def)))))
        (if (null equals)
            (dolist (at names)
              (let ((def (declare-name at nil to)))
                (bind-value w at def type +none+)))
            (let ((defs (loop for at in names for count from 0
                              collect (declare-name at (and (zerop count) (1+ equals)) to))))
              (assign w names (1+ equals) to
                      (lambda (at value place)
                        (declare (ignore place))
                        (bind-value w at (nth (position at names) defs) type value))
                      local))))
      facts)))

(defun bind-value (w at def type value)
  "Binds the name at AT to the definition DEF (+none+ for a local one), its type or value."
  (unless (blank-p w at)
    (if (= def +none+)
        (bind w (name w at) :type type :value value)
        (bind w (name w at) :kind +defined+ :type type :value value :target def))))

(defun assign (w names from to take local)
  "Reads the values [FROM, TO) of NAMES (tokens) and calls TAKE with (token value place) for each."
  (declare (type fixnum from to) (type function take))
  (let ((ranges '()))
    (do-pieces (start end w from to) (push (cons start end) ranges))
    (setf ranges (nreverse ranges))
    (if (= (length ranges) (length names))
        (loop for at in names for (start . end) in ranges
              do (if (and (token-at w start "func") (not (blank-p w at)))
                     (named-literal w at start end take local)
                     (funcall take at (expression w start end) 0)))
        (let ((value (if ranges (expression w (car (first ranges)) (cdr (first ranges))) +none+)))
          (loop for (start . end) in (rest ranges) do (code w start end))
          (loop for at in names for place from 0
                do (funcall take at (result-node w value place) place))))))

(defun result-node (w value place)
  "The node of result PLACE of VALUE: of a call its own, of `m[k]', `x.(T)' and `<-c' the first alone."
  (cond ((= value +none+) +none+)
        ((= (draft-node-op (w-facts w) value) +op-call+)
         (node w +op-index+ value (node w +op-literal+ (known "number") place)))
        ((zerop place) value)
        (t (literal-node w "bool"))))

(defun named-literal (w at start end take local)
  "A function literal that is the value of the name at AT."
  (declare (type fixnum start end))
  (if (not local)
      (funcall take at (expression w start end) 0)
      (let ((nodes (draft-node-count (w-facts w))))
        (multiple-value-bind (type next) (function-type w (1+ start) end)
          (declare (ignore type) (type fixnum next))
          (opl.languages.braces::drop-nodes (w-facts w) nodes)
          (if (and (token-at w next "{") (>= (1+ (closer w next end)) end))
              (let ((def (define w at (known "function") :from at :to next :flags (logior +local+ +has-body+)))
                    (outer (w-def w)))
                (setf (draft-def-parent (w-facts w) def) outer)
                (function-literal w start end def))
              (funcall take at (expression w start end) 0))))))

;;; Statements

(defun take-declarations (w i to local)
  "`var', `const' or `type' at I; the token after."
  (declare (type fixnum i to))
  (let ((take (cond ((token-at w i "type") (lambda (j end) (declare (type fixnum j end)) (take-type w j end local)))
                    (t (let ((kind (if (token-at w i "const") (known "constant") (known "variable"))))
                         (lambda (j end)
                           (declare (type fixnum j end))
                           (let ((stop (statement-end w j end))) (take-values w j stop kind local) stop)))))))
    (declare (type function take))
    (if (token-at w (1+ i) "(")
        (let ((close (closer w (1+ i) to)) (j (+ i 2)))
          (declare (type fixnum j close))
          (loop while (< j close)
                do (if (identifier-p w j)
                       (setf j (max (1+ j) (the fixnum (funcall take j close))))
                       (incf j)))
          (1+ close))
        (funcall take (1+ i) to))))

(defun define-target (w i to)
  "Names before a `:=' at I: list of tokens and the token after `:=', or nil."
  (declare (type fixnum i to))
  (let ((j i) (names '()))
    (declare (type fixnum j))
    (loop
      (unless (and (< j to) (identifier-p w j)) (return nil))
      (push j names)
      (cond ((token-at w (1+ j) ",") (incf j 2))
            ((token-at w (1+ j) ":=") (return (values (nreverse names) (+ j 2))))
            (t (return nil))))))

(defun short-declaration (w names from to)
  "name, name := values, in [FROM, TO)."
  (declare (type fixnum from to))
  (if (token-at w from "range")
      (let ((over (expression w (1+ from) to)))
        (loop for at in names for place from 0
              do (bind-value w at +none+ +none+
                             (if (= over +none+) +none+ (node w +op-element+ over (if (zerop place) 1 +none+))))))
      (assign w names from to
              (lambda (at value place) (declare (ignore place)) (bind-value w at +none+ +none+ value))
              t)))

(defun header-body (w i to)
  "The brace that opens the body of the `if', `for', `switch' or `select' at I, or nil."
  (declare (type fixnum i to))
  (let ((j (1+ i)))
    (declare (type fixnum j))
    (loop
      (when (>= j to) (return nil))
      (cond ((token-at w j "{")
             ;; a type literal or a function literal in the header is no body
             (if (or (token-at w (1- j) "struct" "interface") (function-body-p w j i))
                 (setf j (1+ (closer w j to)))
                 (return j)))
            ((token-opens-p (w-tokens w) j) (setf j (1+ (closer w j to))))
            (t (incf j))))))

(defun function-body-p (w brace from)
  "Whether the brace after a parameter list, with results or not, belongs to a function literal begun after FROM."
  (declare (type fixnum brace from))
  (let ((j (1- brace)))
    (declare (type fixnum j))
    (loop repeat 6 while (and (> j from) (not (token-at w j ")"))) do (decf j))
    (loop repeat 2 while (and (> j from) (token-at w j ")"))
          do (let ((open (mate w j)))
               (when (= open +none+) (return nil))
               (when (token-at w (1- open) "func") (return t))
               (setf j (1- open))))))

(defun take-header (w from to)
  "Statements of a header, separated by semicolons."
  (declare (type fixnum from to))
  (do-pieces (start end w from to (";"))
    (multiple-value-bind (names value) (define-target w start end)
      (if names
          (short-declaration w names value end)
          (code w start end)))))

(defun take-clauses (w i close bind type-switch)
  "The cases in [I, CLOSE). BIND: token of the name bound by a type switch, or nil."
  (declare (type fixnum i close))
  (loop while (< i close)
        do (if (token-at w i "case" "default")
               (let* ((colon (or (find-at-depth w i close (lambda (j) (token-at w j ":" ":="))) close))
                      ;; `case x := <-c:' binds, its colon comes later
                      (colon (if (token-at w colon ":=")
                                 (or (find-at-depth w (1+ colon) close (lambda (j) (token-at w j ":"))) close)
                                 colon))
                      (next (or (find-at-depth w (1+ colon) close (lambda (j) (and (token-at w j "case" "default") (new-line-p w j))))
                                close)))
                 (declare (type fixnum colon next))
                 (with-block (w)
                   (cond (type-switch
                          (let ((types '()))
                            (do-pieces (start end w (1+ i) colon)
                              (unless (token-at w start "nil") (push (parse-type w start end) types)))
                            (when (and bind (= (length types) 1))
                              (bind w (name w bind) :type (first types)))))
                         (t (take-header w (1+ i) colon)))
                   (code w (1+ colon) next))
                 (setf i (max next (1+ i))))
               (progn (code w i (1+ i)) (incf i)))))

(defun take-control (w i to)
  "`if', `for', `switch' or `select' at I with its body; the token after, or nil."
  (declare (type fixnum i to))
  (let ((body (header-body w i to)))
    (when body
      (let ((close (closer w body to)))
        (with-block (w)
          (cond ((token-at w i "switch" "select")
                 (let ((bind nil) (type-switch nil))
                   (when (token-at w i "switch")
                     (let ((last (or (loop for j of-type fixnum from (1- body) above i when (token-at w j ";") return (1+ j)) (1+ i))))
                       (declare (type fixnum last))
                       (setf type-switch (and (token-at w (1- body) ")") (token-at w (- body 2) "type") (token-at w (- body 3) "(")))
                       (cond ((and type-switch (identifier-p w last) (token-at w (1+ last) ":="))
                              (take-header w (1+ i) last)
                              (setf bind last)
                              (code w (+ last 2) body))
                             (t (take-header w (1+ i) body)))))
                   (take-clauses w (1+ body) close bind type-switch)))
                (t (take-header w (1+ i) body)
                   (with-block (w) (code w (1+ body) close))
                   (when (and (token-at w (1+ close) "else") (token-at w (+ close 2) "if"))
                     ;; what the header of the `if' binds is seen in its `else' too
                     (let ((next (take-control w (+ close 2) to)))
                       (when next (setf close (1- (the fixnum next))))))
                   (when (and (token-at w (1+ close) "else") (token-at w (+ close 2) "{"))
                     (let ((end (closer w (+ close 2) to)))
                       (with-block (w) (code w (+ close 3) end))
                       (setf close end))))))
        (1+ close)))))

(defun statement (w i to)
  (declare (type fixnum i to))
  (when (identifier-p w i)
    (cond ((in-word-set-p (name w i) *keywords*)
           (cond ((token-at w i "var" "const" "type") (take-declarations w i to t))
                 ((token-at w i "if" "for" "switch" "select") (take-control w i to))
                 ((token-at w i "case" "default")
                  nil)))
          ((token-at w (1+ i) ":=" ",")
           (multiple-value-bind (names value) (define-target w i to)
             (when names
               (let ((end (statement-end w value to)))
                 (short-declaration w names value end)
                 end))))
          ((and (token-at w (1+ i) ":") (new-line-p w i)) (+ i 2))))) ; a label

;;; Operands

(defun elements (w open close)
  "The elements of a composite literal."
  (declare (type fixnum open close))
  (do-pieces (start end w (1+ open) close)
    (when (< start end)
      (let ((from (if (and (identifier-p w start) (token-at w (1+ start) ":")) (+ start 2) start)))
        (if (token-at w from "{")
            (elements w from (closer w from end))
            (let ((colon (find-at-depth w from end (lambda (j) (token-at w j ":")))))
              (when colon
                (code w from colon)
                (setf from (1+ colon)))
              (if (token-at w from "{")
                  (elements w from (closer w from end))
                  (truncating-nodes (w) (expression w from end)))))))))

(defun typed-operand (w i to)
  "An operand that begins with a type that is no name: a composite literal or a conversion."
  (declare (type fixnum i to))
  (multiple-value-bind (type next) (parse-type w i to)
    (declare (type fixnum next))
    (cond ((and (token-at w next "{") (< next to))
           (let ((close (closer w next to)))
             (elements w next close)
             (values (node w +op-cast+ type) (1+ close))))
          ((and (token-at w next "(") (< next to))
           (let* ((close (closer w next to)) (value (expression w (1+ next) close)))
             (values (node w +op-cast+ type value) (1+ close))))
          (t (values (node w +op-cast+ type) next)))))

(defun primary (w i to)
  (declare (type fixnum i to))
  (cond ((= (kind w i) +identifier+)
         (cond ((token-at w i "func") (function-literal w i to))
               ((and (token-at w i "map") (token-at w (1+ i) "[")) (typed-operand w i to))
               ((and (token-at w i "struct" "interface") (token-at w (1+ i) "{")) (typed-operand w i to))
               ((and (token-at w i "chan") (identifier-p w (1+ i))) (typed-operand w i to))
               ((and (in-word-set-p (name w i) *predeclared-types*) (token-at w (1+ i) "(") (< (1+ i) to))
                (let* ((close (closer w (1+ i) to)) (type (name-node w (name w i))) (value (expression w (+ i 2) close)))
                  (values (node w +op-cast+ type value) (1+ close))))
               ((and (token-at w i "new" "make") (token-at w (1+ i) "(") (< (1+ i) to)) (made-operand w i to))))
        ((= (kind w i) +punctuation+)
         (cond ((and (token-at w i "[") (not (token-at w (1- i) ")" "]"))
                     (not (and (identifier-p w (1- i)) (not (in-word-set-p (name w (1- i)) *keywords*))))
                     (/= (closer w i to) to) (typed-bracket-p w i to))
                (typed-operand w i to))
               ((and (token-at w i "(") (token-at w (1+ i) "*") (identifier-p w (+ i 2)) (token-at w (1+ (closer w i to)) "("))
                ;; (*T)(x)
                (let* ((close (closer w i to)) (open (1+ close)) (end (closer w open to))
                       (type (parse-type w (1+ i) close)) (value (expression w (1+ open) end)))
                  (values (node w +op-cast+ type value) (1+ end))))
               ((and (token-at w i "&" "*") (< (1+ i) to))
                (multiple-value-bind (node next) (operand w (1+ i) to)
                  (values (if (= node +none+) +none+ (node w +op-pointer+ node)) next)))
               ((and (token-at w i "<-") (< (1+ i) to))
                (multiple-value-bind (node next) (operand w (1+ i) to)
                  (values (if (= node +none+) +none+ (node w +op-element+ node)) next)))))))

(defun typed-bracket-p (w i to)
  "Whether the `[' at I begins a type: []T, [3]T, [...]T."
  (declare (type fixnum i to))
  (let ((after (1+ (closer w i to))))
    (and (< after to)
         (or (identifier-p w after) (token-at w after "*" "[" "(")))))

(defun made-operand (w i to)
  "new(T) and make(T, n): calls of a builtin whose first argument is a type."
  (declare (type fixnum i to))
  (let* ((open (1+ i)) (close (closer w open to)) (site (call-site w i (name-node w (name w i)) +call+ +none+ +none+)))
    (multiple-value-bind (type next) (parse-type w (1+ open) close)
      (declare (type fixnum next))
      (let ((count 1))
        (do-pieces (start end w (1+ next) close) (incf count) (expression w start end))
        (setf (draft-site-arity (w-facts w) site) count)
        (values (node w +op-cast+ type)
                (1+ close))))))

(defun postfix-hook (w node i to)
  "T{…} and x.(T)."
  (declare (type fixnum i to) (type (unsigned-byte 32) node))
  (cond ((and (token-at w i ".") (token-at w (1+ i) "(") (< (1+ i) to))
         (let* ((close (closer w (1+ i) to))
                (type (if (token-at w (+ i 2) "type") node (parse-type w (+ i 2) close))))
           (values (node w +op-cast+ type node) (1+ close))))
        ((and (token-at w i "{") (/= node +none+) (same-line-p w (1- i) i)
              (or (and (identifier-p w (1- i)) (not (in-word-set-p (name w (1- i)) *keywords*))) (token-at w (1- i) "]"))
              (member (draft-node-op (w-facts w) node) '(#.+op-name+ #.+op-member+ #.+op-index+)))
         (let ((close (closer w i to)))
           (elements w i close)
           (values (node w +op-new+ node) (1+ close))))))

(defparameter *dialect*
  (make-dialect :primary #'primary :postfix #'postfix-hook :statement #'statement :keywords *keywords* :openers *openers*
                :members (word-set ".") :statics *no-words* :lines t))

;;; The file

(defun take-imports (w i to)
  "`import' at I; the token after."
  (declare (type fixnum i to))
  (let* ((grouped (token-at w (1+ i) "(")) (end (if grouped (closer w (1+ i) to) (min to (+ i 3)))) (j (if grouped (+ i 2) (1+ i))))
    (declare (type fixnum j end))
    (loop while (and (< j end) (or grouped (<= j (+ i 2))))
          do (when (= (kind w j) +string+)
               (let* ((text (string-content (w-tokens w) j)) (module (string-name w text))
                      (named (and (> j (1+ i)) (or (identifier-p w (1- j)) (token-at w (1- j) "."))
                                  (same-line-p w (1- j) j) (not (token-at w (1- j) "import"))))
                      (star (and named (token-at w (1- j) "."))) (bare (and named (blank-p w (1- j))))
                      (local (cond ((or star bare) +none+)
                                   (named (name w (1- j)))
                                   (t (string-name w (package-of-path text)))))
                      (import (add-import (w-facts w) local (known "*") module 0
                                          (cond (star +star+) (bare +side-effect+) (t 0)) (line w j))))
                 (unless (= local +none+)
                   (bind w local :kind +imported+ :target import))
                 (unless grouped (return))))
             (incf j))
    (if grouped (1+ end) (1+ j))))

(defun package-of-path (path)
  "The name that an import of PATH most likely binds: its last part, a version or `go-' left out."
  (let* ((parts (loop with start = 0
                      for slash = (position #\/ path :start start)
                      collect (subseq path start slash)
                      while slash do (setf start (1+ slash))))
         (last (first (last parts)))
         (last (if (and (rest parts) (> (length last) 1) (char= (char last 0) #\v) (every #'digit-char-p (subseq last 1)))
                   (first (last parts 2))
                   last))
         (dot (search ".v" last))
         (last (if (and dot (plusp dot)) (subseq last 0 dot) last))
         (last (if (and (> (length last) 3) (string= "go-" last :end2 3)) (subseq last 3) last))
         (last (if (and (> (length last) 3) (string= "-go" last :start2 (- (length last) 3))) (subseq last 0 (- (length last) 3)) last))
         (dash (position #\- last :from-end t)))
    (if dash (subseq last (1+ dash)) last)))

(defun adopt-methods (w)
  "Gives methods the type of their receiver as parent, where the file defines it."
  (let ((facts (w-facts w)))
    (dotimes (mark (draft-mark-count facts))
      (when (= (draft-mark-key facts mark) (known "receiver"))
        (let ((name (draft-mark-value facts mark)))
          (dotimes (def (draft-def-count facts))
            (when (and (= (draft-def-name facts def) name) (= (draft-def-scope facts def) 0)
                       (in-word-set-p (draft-def-kind facts def) (load-time-value (word-set "struct" "interface" "type" "alias"))))
              (setf (draft-def-parent facts (draft-mark-more facts mark)) def)
              (return))))))))

(defun add-subtests (w)
  "t.Run(\"title\", …) inside a test is a test case of its own."
  (let* ((tokens (w-tokens w)) (facts (w-facts w)) (count (draft-test-count facts)))
    (when (plusp count)
      (loop for i of-type fixnum from 2 below (- (tokens-count tokens) 3)
            do (when (and (token-is tokens i "Run") (token-is tokens (1- i) ".") (token-is tokens (1+ i) "(")
                          (= (token-kind tokens (+ i 2)) +string+))
                 (let ((line (token-line tokens i)))
                   (loop for test below count
                         when (<= (draft-test-line facts test) line (draft-test-end facts test))
                           do (add-test facts (string-name w (string-content tokens (+ i 2))) line
                                        (token-line tokens (closer w (1+ i) (1- (tokens-count tokens)))) test)
                              (return))))))))

(define-extractor :go (tokens facts names path) (:ctags-kinds ())
  (let* ((w (start-walk tokens facts names path *dialect*)) (i 0) (to (tokens-count tokens)))
    (declare (type fixnum i to))
    (loop while (< i to)
          do (setf i (cond ((and (token-at w i "package") (identifier-p w (1+ i)))
                            (add-mark facts (known "package") (name w (1+ i)) 0)
                            (+ i 2))
                           ((token-at w i "import") (take-imports w i to))
                           ((token-at w i "func") (max (1+ i) (the fixnum (take-function w i to))))
                           ((token-at w i "var" "const" "type") (max (1+ i) (the fixnum (take-declarations w i to nil))))
                           ((token-opens-p tokens i) (1+ (closer w i to)))
                           (t (1+ i)))))
    (adopt-methods w)
    (add-subtests w)))

(define-extractor :go-module (tokens facts names path) (:ctags-kinds ())
  (add-scope facts +none+ +module-scope+ +none+)
  (loop for i below (tokens-count tokens)
        do (when (and (token-is tokens i "module") (< (1+ i) (tokens-count tokens)) (token-first-on-line-p tokens i))
             (let* ((line (token-line tokens i))
                    (end (loop for j from (1+ i) below (tokens-count tokens) while (= (token-line tokens j) line) finally (return j)))
                    (text (opl.source.names:octets-string (tokens-octets tokens) :start (token-start tokens (1+ i))
                                                                                 :end (token-end tokens (1- end)))))
               (add-mark facts (known "module") (opl.source.names:intern-string names (string-trim "\"` " text)) 0)
               (return)))))
