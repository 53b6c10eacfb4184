;;;; Go: types, variables and constants declared, statements.

(in-package #:opl.languages.go)
(declaim (optimize (speed 1) (safety 1)))

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
                      ;; a function in a `var' is a value like any other; `:=' alone names one
                      nil))))
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
          (opl.languages.braces:drop-nodes (w-facts w) nodes)
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
