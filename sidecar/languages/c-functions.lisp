;;;; C: functions and what else is declared by name, with what macros and attributes do to them. Part of the package of c-bodies.lisp.

(in-package #:opl.languages.c)
(declaim (optimize (speed 1) (safety 1)))

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
