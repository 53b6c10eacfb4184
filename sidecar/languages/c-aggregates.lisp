;;;; C: structs, unions and enums with their members. Part of the package of c-bodies.lisp.

(in-package #:opl.languages.c)
(declaim (optimize (speed 1) (safety 1)))

(defun aggregate-p (w i) (and (identifier-p w i) (in-word-set-p (name w i) *aggregates*)))

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
            (cond ((token-at w i "enum")
                   (setf (c-enumerates w) t)
                   (take-enumerators w (1+ brace) close)
                   (setf (c-enumerates w) nil))
                  (t (deeper (w +deepest-code+) (take-members w (1+ brace) close))))
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

(defun attribute-name-p (w j)
  "Whether token J is named as macros of attributes are: __read_mostly, G_GNUC_UNUSED."
  (declare (type fixnum j))
  (and (identifier-p w j) (token-at w (1+ j) ";" "=" "," "[")
       (or (underscored-p w j) (not (lower-case-name-p w j)))))

(defun underscored-p (w j)
  (let* ((tokens (w-tokens w)) (octets (tokens-octets tokens)) (start (token-start tokens j)))
    (declare (type octets octets) (type fixnum start))
    (and (> (- (token-end tokens j) start) 2) (= 95 (aref octets start)) (= 95 (aref octets (1+ start))))))

(defun attribute-behind-p (w j last typed)
  "Whether token J is the macro of an attribute behind LAST, what is declared (nil: nothing yet): TYPED, it has a type before it."
  (declare (type fixnum j))
  (and last typed (or (and (= (the fixnum last) (1- j)) (not (underscored-p w last))) (token-at w (1- j) "]")) (not (in-word-set-p (name w last) *types*))
       (attribute-name-p w j)))

(defun attribute-of-aggregate-p (w j)
  "Whether token J is the macro of an attribute behind the body of a struct, which declares nothing: } __packed;"
  (declare (type fixnum j))
  (and (token-at w (1- j) "}") (token-at w (1+ j) ";") (attribute-name-p w j)))

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
  (let ((j i) (last nil) (words 0) (end (or (find-at-depth w i close (lambda (k) (token-at w k ";"))) close)))
    (declare (type fixnum j words end))
    (loop
      (when (>= j end) (when last (member-def w last end)) (return))
      (cond ((= (kind w j) +directive+) (setf j (after-directives w j end)))
            ((aggregate-p w j) (setf j (max (1+ j) (the fixnum (take-aggregate w j end)))) (incf words))
            ((or (attribute-behind-p w j last (> words 1)) (attribute-of-aggregate-p w j)) (incf j))
            ((and (identifier-p w j) (token-at w (1+ j) "(") (in-word-set-p (name w j) *bracketed*))
             (setf j (1+ (closer w (1+ j) end))))
            ((identifier-p w j) (setf last j) (incf j) (incf words))
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
