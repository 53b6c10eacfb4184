;;;; Go: types, parameters, functions. Types and statements that declare, operands and the file itself: go.lisp.

(defpackage #:opl.languages.go
  (:use #:cl #:opl.source.tokens #:opl.source.facts #:opl.languages.braces)
  (:import-from #:opl.source.names #:+none+ #:known #:name-case #:name-string)
  (:import-from #:opl.languages.extractor #:define-extractor))
(in-package #:opl.languages.go)
(declaim (optimize (speed 1) (safety 1)))
(declaim (ftype function function-literal interface-members parameters parse-type statement struct-fields))

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
            (multiple-value-prog1 (function-type w (1+ i) to) (opl.languages.braces:drop-nodes (w-facts w) nodes)))
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
