;;;; What a C file says of itself: functions, prototypes, macros, aggregates with members, typedefs, variables,
;;;; includes and calls.

(in-package #:opl.languages.c)
(declaim (optimize (speed 1) (safety 1)))

;;; Declarations

(defun after-directives (w i to)
  "The first token from I on that is no directive nor part of one; the directives are taken."
  (declare (type fixnum i to))
  (loop while (and (< i to) (= (kind w i) +directive+))
        do (take-directive w i)
           (let ((mate (mate w i))) (setf i (if (= mate +none+) (1+ i) (max (1+ i) mate)))))
  i)

(defun behind-directives (w i to)
  "The first token from I on that is no directive nor part of one; none is taken."
  (declare (type fixnum i to))
  (loop while (and (< i to) (= (kind w i) +directive+))
        do (let ((mate (mate w i))) (setf i (if (= mate +none+) (1+ i) (max (1+ i) mate)))))
  i)

(defun declarator-name (w from to)
  "The name declared in the brackets' content [FROM, TO): (*name)(…), (name)."
  (declare (type fixnum from to))
  (let ((inner (find-at-depth w from to (lambda (j) (token-at w j "(" "[")))))
    (cond ((and inner (token-at w inner "(") (= (the fixnum inner) from) (token-at w (1+ from) "*"))
           (declarator-name w (1+ from) (closer w from to)))
          (t (or (last-identifier w from (or inner to))
                 (and inner (token-at w inner "(") (declarator-name w (1+ (the fixnum inner)) (closer w inner to))))))))

(defun note-parameters (w open close)
  "Notes the names of the parameters between OPEN and CLOSE."
  (declare (type fixnum open close))
  (do-pieces (start end w (1+ open) close)
    (when (< (1+ start) end)
      (let* ((paren (find-at-depth w start end (lambda (j) (and (token-at w j "(") (token-at w (1+ j) "*")))))
             (bracket (or (find-at-depth w start end (lambda (j) (token-at w j "["))) end))
             (at (if paren (declarator-name w (1+ (the fixnum paren)) (closer w paren end)) (last-identifier w start bracket))))
        (when at (note-local w (name w at)))))))

(defun old-style-parameters-p (w open close)
  "f(a, b) int a; char *b; { … }: bare names between the brackets."
  (declare (type fixnum open close))
  (and (> close (1+ open))
       (loop for j of-type fixnum from (1+ open) below close
             always (if (oddp (- j open)) (and (identifier-p w j) (not (token-at w j "void"))) (token-at w j ",")))))

(defun signature-tail (w open close to)
  "What follows the parameters that close at CLOSE. Values: :body, :prototype or nil, and the token that says so."
  (declare (type fixnum open close to))
  (let ((k (1+ close)) (old (old-style-parameters-p w open close)) (uses '()))
    (declare (type fixnum k))
    (loop
      (setf k (after-directives w k to))
      (when (token-at w k "{" ";" "," "=") (dolist (use uses) (module-site w use)))
      (cond ((>= k to) (return (values nil k)))
            ((token-at w k "{") (return (values :body k)))
            ((token-at w k ";")
             (if (and old (> k (1+ close)))
                 (let ((brace (find-at-depth w k (min to (+ k 80)) (lambda (j) (or (token-at w j "{" "(" "}" "=") (= (kind w j) +directive+))))))
                   (return (if (and brace (token-at w brace "{") (token-at w (1- (the fixnum brace)) ";"))
                               (values :body brace)
                               (values :prototype k))))
                 (return (values :prototype k))))
            ((token-at w k "," "=") (return (values :prototype k)))
            ((identifier-p w k)
             (incf k)
             (when (and (token-at w k "(") (< k to))
               (unless (in-word-set-p (name w (1- k)) *bracketed*) (push (1- k) uses))
               (setf k (1+ (closer w k to)))))
            ((and old (token-at w k "*")) (incf k))
            ((and (token-at w k "(") (= k (1+ close))) ; f(a)(b): a declarator of its own kind
             (setf k (1+ (closer w k to))))
            (t (return (values nil k)))))))

(defun take-function (w first at open to flags)
  "A function or prototype named at AT whose parameters open at OPEN; the token after, or nil when it is neither."
  (declare (type c w) (type fixnum first at open to))
  (let ((close (closer w open to)))
    (multiple-value-bind (what k) (signature-tail w open close to)
      (declare (type fixnum k))
      (case what
        (:body
         (or (torn-end w k to)
             (let* ((end (closer w k to)) (def (define-function w first at k flags)) (facts (w-facts w)))
               (setf (draft-def-end facts def) (line w end) (c-local-count w) 0)
               (with-body (w def)
                 (note-parameters w open close)
                 (take-body w (1+ k) end))
               (1+ end))))
        (:prototype
         ;; one whose name a macro replaces declares another name
         (unless (assoc (name w at) (c-renames w))
           (let ((def (define w at (known "prototype") :from first :to (1+ close) :flags (logior flags +declaration+))))
             (setf (draft-def-end (w-facts w) def) (line w (if (token-at w k ";") k close)))))
         (if (token-at w k ";")
             (1+ k)
             (1+ (the fixnum (or (find-at-depth w k to (lambda (j) (token-at w j ";"))) (1- to))))))))))

(defun define-function (w first at to flags &optional (named at))
  "The function at AT whose name is token NAMED; under its other name where the file renames it by a macro before."
  (let* ((rename (cdr (assoc (name w named) (c-renames w))))
         (test (and (search "test" (w-path w)) (test-like-p w named))))
    (when test (add-test (w-facts w) (name w named) (line w at) (line w at) +none+))
    (define w at (known "function") :name (or rename (name w named)) :from first :to to
      :flags (logior flags +has-body+ (if test +test+ 0)))))

(defun torn-end (w brace to)
  "The #else or #endif that ends the branch in which BRACE was opened and left open, a branch passed over when brackets
were paired; nil when BRACE is closed or in no branch."
  (declare (type fixnum brace to))
  (when (= (mate w brace) +none+)
    (let ((depth 0))
      (declare (type fixnum depth))
      (loop for j of-type fixnum from (1+ brace) below to
            do (when (= (kind w j) +directive+)
                 (let ((word (name w j)))
                   (cond ((or (= word (known "if")) (= word (known "ifdef")) (= word (known "ifndef"))) (incf depth))
                         ((plusp depth) (when (= word (known "endif")) (decf depth)))
                         ((or (= word (known "else")) (= word (known "elif")) (= word (known "endif"))) (return j)))))))))

(defun test-like-p (w at)
  (let ((text (token-text (w-tokens w) at)))
    (or (and (> (length text) 5) (string= "test_" text :end2 5)) (and (> (length text) 5) (string= "_test" text :start2 (- (length text) 5))))))

(defun static-p (w first at) (loop for j of-type fixnum from first below at thereis (token-at w j "static")))

(defun made-by-macro (w first at open to)
  "NAME(args) without a type before it: a function made by a macro when a body follows, else a use of the macro.
The token after."
  (declare (type fixnum first at open to))
  (let* ((close (closer w open to)) (after (behind-directives w (1+ close) to)))
    (declare (type fixnum close after))
    (cond ((and (token-at w after "{") (< after to))
           (after-directives w (1+ close) to)
           (let* ((argument (and (identifier-p w (1+ open)) (not (lower-case-name-p w at)) (1+ open)))
                  (end (closer w after to))
                  (def (define-function w first (or argument at) after (if (static-p w first at) +private+ 0))))
             (when argument (module-site w at))
             (setf (draft-def-end (w-facts w) def) (line w end) (c-local-count w) 0)
             (with-body (w def)
               (note-parameters w open close)
               (take-body w (1+ after) end))
             (1+ end)))
          ((and (lower-case-name-p w at) (old-style-parameters-p w open close)
                (eq :body (signature-tail w open close to)))
           (take-function w first at open to 0))
          (t (let ((site (module-site w at)))
               (take-body w (1+ open) close)
               (unless (make-functions w at open close at) (mark-use w site open close)))
             (if (token-at w (1+ close) ";") (+ close 2) (1+ close))))))

(defun lower-case-name-p (w at)
  (let* ((tokens (w-tokens w)) (octets (tokens-octets tokens)))
    (declare (type octets octets))
    (loop for i from (token-start tokens at) below (token-end tokens at) thereis (<= 97 (aref octets i) 122))))

(defun module-site (w at)
  (add-site (w-facts w) (name w at) (line w at) (w-scope w) (w-def w) +none+ +macro+ +none+ +none+))

(defun declare-name (w first at end typedef flags)
  "The variable or typedef named at AT, whose declaration ends at token END."
  (let ((def (define w at (if typedef (known "typedef") (known "variable")) :from first :to (1+ (the fixnum at)) :flags flags
               :name (or (cdr (assoc (name w at) (c-renames w))) (name w at)))))
    (setf (draft-def-end (w-facts w) def) (token-end-line (w-tokens w) end))
    def))

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

(defun take-declaration (w i to)
  "What is declared at I, outside functions; the token after."
  (declare (type c w) (type fixnum i to))
  (let ((j i) (first i) (typedef nil) (words 0) (last nil) (typed nil) (tagged nil) (pointer nil)) ; POINTER: (*name) gave LAST
    (declare (type fixnum j first words))
    (flet ((flags () (if (static-p w first j) +private+ 0))
           (finish (end)
             (when (and last (or (> words 1) typed typedef)) (declare-name w first last end typedef (if (static-p w first last) +private+ 0)))
             (setf last nil pointer nil)))
      (loop
        (when (>= j to) (return to))
        (let ((kind (kind w j)))
          (cond
            ((= kind +directive+)
             (setf j (after-directives w j to))
             (when (and (zerop words) (not typedef)) (setf first j)))
            ((= kind +string+)
             (if (token-at w (1+ j) "{") (return (+ j 2)) (incf j)))
            ((= kind +identifier+)
             (cond ((token-at w j "typedef") (setf typedef t) (incf j))
                   ((and (token-at w j "if" "for" "while" "switch" "return" "else" "do" "goto" "case") (zerop words))
                    (return (take-stray w j to)))
                   ((aggregate-p w j)
                    (setf tagged (identifier-p w (1+ j)) j (max (1+ j) (the fixnum (take-aggregate w j to))) typed t)
                    (incf words))
                   ((and (token-at w (1+ j) "(") (in-word-set-p (name w j) *bracketed*)) (setf j (1+ (closer w (1+ j) to))))
                   ((in-word-set-p (name w j) *storage*) (incf j))
                   ((and (token-at w j "typeof" "__typeof__" "_Static_assert" "static_assert") (token-at w (1+ j) "("))
                    (setf j (1+ (closer w (1+ j) to)) typed t))
                   ((or (attribute-behind-p w j last (and (or (> words 1) typed) t)) (and tagged (not typedef) (attribute-of-aggregate-p w j))) (incf j))
                   ;; a macro after the declarator of a pointer to a function: int (*f)(int) ATTRIBUTE;
                   ((and pointer (token-at w (1- j) ")") (token-at w (1+ j) ";" "=" ",")) (incf j))
                   (t (setf last j) (incf words) (incf j)
                      (when (and (= words 1) (not typed) (not typedef) (new-line-p w j) (not (token-at w j "(" "*" ";" "=" "[" "," "{"))
                                 (use-alone w last))
                        (return j)))))
            ((= kind +punctuation+)
             (let ((name (name w j)))
               (cond
                 ((= name (known "("))
                  (cond ((and last (= (the fixnum last) (1- j))
                              (not (and typedef (identifier-p w (1+ j)) (token-at w (+ j 2) ")") (token-at w (+ j 3) "(")))
                              (not (and (token-at w (1+ j) "*" "^") (token-at w (1+ (closer w j to)) "(" ";" "=" "["))))
                         (cond ((and typedef (or (> words 1) typed))
                                (setf j (1+ (closer w j to))))
                               ((or (> words 1) typed)
                                (let ((next (take-function w first last j to (flags))))
                                  (when next (return next))
                                  ;; neither: a macro before a declaration, `EXPORT(x) int f();'
                                  (setf j (1+ (closer w j to)))))
                               (t (return (made-by-macro w first last j to)))))
                        ((token-at w (1+ j) "*" "^")
                         (let ((close (closer w j to)))
                           (setf last (or (declarator-name w (1+ j) close) last) words (max words 2) pointer t)
                           ;; a function that returns a pointer to a function: (*name(args))(args)
                           (if (and (not typedef) last (token-at w (1+ (the fixnum last)) "(") (< (1+ (the fixnum last)) close)
                                    (token-at w (1+ close) "("))
                               (let* ((tail (closer w (1+ close) to)) (body (token-at w (1+ tail) "{")))
                                 (return (if body
                                             (take-made w first last (1+ tail) to)
                                             (progn (define w last (known "prototype") :from first :to tail :end (line w tail) :flags +declaration+)
                                                    (+ tail 2)))))
                               (progn (setf j (1+ close))
                                      (when (and (token-at w j "(") (< j to)) (setf j (1+ (closer w j to))))))))
                        ((and typedef (identifier-p w (1+ j)) (token-at w (+ j 2) ")") (token-at w (+ j 3) "(")) ; typedef int (name)(int);
                         (setf last (1+ j) words (max words 2) j (1+ (closer w (+ j 3) to))))
                        ((and (identifier-p w (1+ j)) (token-at w (+ j 2) ")") (token-at w (+ j 3) "(") (or (> words 0) typed))
                         (let ((next (take-function w first (1+ j) (+ j 3) to (flags))))
                           (return (or next (1+ (closer w (+ j 3) to))))))
                        (t (setf j (1+ (closer w j to))))))
                 ((= name (known "*")) (setf typed t) (incf j))
                 ((= name (known "["))
                  (setf j (1+ (closer w j to))))
                 ((= name (known "="))
                  (let ((end (or (find-at-depth w j to (lambda (k) (token-at w k ";" ","))) to)))
                    (declare (type fixnum end))
                    (finish (if (token-at w end ",") (1- end) (min end (1- to))))
                    (setf (c-local-count w) 0)
                    (take-body w (1+ j) end)
                    (setf j end)))
                 ((= name (known ",")) (finish (1- j)) (incf j))
                 ((= name (known ";")) (finish j) (return (1+ j)))
                 ((= name (known "{"))
                  (return (take-block w first last j to)))
                 ((= name (known "}")) (return (1+ j)))
                 (t (incf j)))))
            (t (incf j))))))))

(defun take-block (w first last brace to)
  "A block at BRACE behind LAST: the body of a function that a macro declares, else it belongs to nothing known. The token after."
  (declare (type fixnum brace to))
  (let ((close (closer w brace to)))
    (declare (type fixnum close))
    (multiple-value-bind (at open) (and last (= (the fixnum last) (1- brace)) (declared-by-macro w last))
      (if at
          (let ((def (define-function w first last brace 0 at)))
            (setf (draft-def-end (w-facts w) def) (line w close) (c-local-count w) 0)
            (with-body (w def)
              (note-parameters w open (closer w open to))
              (take-body w (1+ brace) close)))
          (take-body w (1+ brace) close)))
    (1+ close)))

(defun take-stray (w i to)
  "A statement outside of functions, whose brackets conditionals tore apart: its calls are the file's own."
  (declare (type fixnum i to))
  (let* ((stop (or (find-at-depth w i to (lambda (j) (token-at w j ";" "{" "}"))) to))
         (end (if (token-at w stop "{") (1+ (closer w stop to)) (1+ (the fixnum stop)))))
    (declare (type fixnum end))
    (take-body w i (min end to))
    end))

(defun take-made (w first at brace to)
  "A function named at AT with its body at BRACE."
  (declare (type fixnum first at brace to))
  (let* ((end (closer w brace to)) (def (define-function w first at brace 0)))
    (setf (draft-def-end (w-facts w) def) (line w end) (c-local-count w) 0)
    (with-body (w def) (take-body w (1+ brace) end))
    (1+ end)))

(define-extractor :c (tokens facts names path) (:ctags-kinds ())
  (add-scope facts +none+ +module-scope+ +none+)
  (let ((w (make-c :tokens tokens :facts facts :names names :path path)) (i 0) (to (tokens-count tokens)))
    (declare (type fixnum i to))
    (loop while (< i to) do (setf i (max (1+ i) (the fixnum (take-declaration w i to)))))
    (mark-template w)))
