;;;; Lisp: what defines. Functions with their parameters, structures and classes with what they define of themselves. Part of the
;;;; package of lisp.lisp.

(in-package #:opl.languages.lisp)
(declaim (optimize (speed 1) (safety 1)) (sb-ext:muffle-conditions sb-ext:compiler-note))

;;; Structures

(defun part (r name kind token parent &key (flags 0) (bind t))
  "A definition that another one makes of itself, on the line of TOKEN."
  (let ((def (define r name kind token :from token :parent parent :flags (logior flags +exported+) :bind bind)))
    (end-definition r def (line-at r token))
    def))

(defstruct plan
  "What a structure defines beside itself."
  (prefix "" :type string) (constructors '()) (predicate nil) (copier nil))

(defun option (r open plan def)
  "An option of a structure: (:conc-name x-), (:constructor make (a b)), (:predicate nil), (:include other)."
  (declare (type index open))
  (let* ((i (if (is r (+ open 2) "#") (+ open 3) (+ open 2)))
         (text (cond ((not (names-p r i)) nil) ((is r i "nil" "NIL") "") (t (designator (text-of r i))))))
    (declare (type index i))
    (cond ((is r (1+ open) ":conc-name") (setf (plan-prefix plan) (or text "")))
          ((is r (1+ open) ":constructor") (push (if (equal text "") nil (or text :usual)) (plan-constructors plan)))
          ((is r (1+ open) ":predicate") (when text (setf (plan-predicate plan) (if (string= text "") nil text))))
          ((is r (1+ open) ":copier") (when text (setf (plan-copier plan) (if (string= text "") nil text))))
          ((and (is r (1+ open) ":include") text) (add-heritage (reading-facts r) def +extends+ (name-node r (intern-text r text)))))))

(defun slot-forms (r open)
  "The code of a slot: its first value, and what else is no type."
  (within-bracket (r open)
    (advance r)
    (loop while (< (p) (limit))
          do (cond ((is r (p) ":type") (advance r) (skip-form r))
                   (t (form r (p)))))))

(defun slots (r prefix def)
  "The slots from the position in hand to the limit: the functions that read them, named with PREFIX."
  (loop while (< (p) (limit))
        do (let* ((i (p)) (list (and (opens-p r i) (not (is r i "{")))) (name (if list (1+ i) i)))
             (declare (type index i name))
             (when (plain-name-p r name)
               (part r (intern-text r (concatenate 'string prefix (text-of r name))) (known "field") name def))
             (if list (slot-forms r i) (advance r)))))

(defun structure-parts (r from token name def)
  "defstruct: from the form FROM of the name at TOKEN, NAME, to the limit."
  (declare (type index from token))
  (let ((plan (make-plan :prefix (format nil "~A-" name) :predicate (format nil "~A-p" name) :copier (format nil "copy-~A" name))))
    (when (is r from "(")
      (loop for j of-type index from (1+ token) below (the index (closer r from))
            do (when (and (is r j "(") (opens-p r j)) (option r j plan def) (setf j (closer r j)))))
    (flet ((make (text kind) (when text (part r (intern-text r text) kind token def))))
      (let ((usual (format nil "make-~A" name)))
        (dolist (constructor (or (reverse (plan-constructors plan)) '(:usual)))
          (make (if (eq constructor :usual) usual constructor) (known "constructor"))))
      (make (plan-predicate plan) (known "function"))
      (make (plan-copier plan) (known "function")))
    (setf (p) from)
    (skip-form r)
    (when (= (kind-at r (p)) +string+) (advance r))
    (slots r (plan-prefix plan) def)))

(defun record-parts (r token name def)
  "struct of Racket, (struct point (x y)), and define-record-type, which says all names itself."
  (declare (type index token))
  (setf (p) (1+ token))
  (cond
    ((is r (- token 1) "define-record-type")
     (when (opens-p r (p)) (part r (name-at r (1+ (p))) (known "constructor") (1+ (p)) def) (skip-form r))
     (when (plain-name-p r (p)) (part r (name-at r (p)) (known "function") (p) def) (advance r))
     (loop while (< (p) (limit))
           do (let ((i (p)))
                (when (opens-p r i)
                  (loop for j of-type index from (+ i 2) below (the index (closer r i))
                        do (when (plain-name-p r j) (part r (name-at r j) (known "field") j def))))
                (skip-form r))))
    (t
     (part r (intern-text r name) (known "constructor") token def :bind nil)
     (part r (intern-text r (format nil "~A?" name)) (known "function") token def)
     (when (plain-name-p r (p))
       (add-heritage (reading-facts r) def +extends+ (name-node r (name-at r (p))))
       (advance r))
     (when (opens-p r (p)) (within-bracket (r (p)) (slots r (format nil "~A-" name) def)))
     (walk r))))

;;; Classes

(defun class-slot (r open def)
  "(s :initform (f) :accessor a :reader (b))"
  (within-bracket (r open)
    (when (plain-name-p r (p)) (part r (name-at r (p)) (known "field") (p) def :bind nil))
    (advance r)
    (loop while (< (p) (limit))
          do (cond ((and (is r (p) ":accessor" ":reader" ":writer") (plain-name-p r (1+ (p))))
                    (part r (name-at r (1+ (p))) (known "field") (1+ (p)) def)
                    (incf (p) 2))
                   ((is r (p) ":type") (advance r) (skip-form r))
                   (t (form r (p)))))))

(defun class-parts (r token def)
  "Parents, slots and options of the class whose name is at TOKEN."
  (declare (type index token))
  (setf (p) (1+ token))
  (when (opens-p r (p))
    (loop for i of-type index from (1+ (p)) below (the index (closer r (p)))
          do (when (plain-name-p r i) (add-heritage (reading-facts r) def +extends+ (name-node r (name-at r i)))))
    (skip-form r))
  (when (opens-p r (p))
    (within-bracket (r (p))
      (loop while (< (p) (limit)) do (if (opens-p r (p)) (class-slot r (p) def) (advance r)))))
  (walk r))

;;; Protocols and records of Clojure

(defun method-p (r i) (and (is r i "(") (opens-p r i) (identifier-at-p r (1+ i)) (or (is r (+ i 2) "[") (and (is r (+ i 2) "(") (is r (+ i 3) "[")))))

(defun method-definition (r i parent &rest options)
  (declare (type index i))
  (let* ((def (apply #'define r (name-at r (1+ i)) (known "method") (1+ i) :from i :parent parent options))
         (scope (open-scope r +function-scope+ def)))
    (with-definition (r def scope)
      (within-bracket (r i) (incf (p)) (walk r)))
    (end-definition r def (last-line r (p)))))

(defun methods (r &optional (parent +none+))
  "Methods to the limit, each a list of a name and a vector of parameters, and the protocols that they are of."
  (loop while (< (p) (limit))
        do (let ((i (p)))
             (cond ((method-p r i) (method-definition r i parent :bind nil))
                   (t (when (and (/= parent +none+) (plain-name-p r i))
                        (add-heritage (reading-facts r) parent +implements+ (name-node r (name-at r i))))
                      (form r i))))))

(defun protocol-methods (r token def)
  (setf (p) (1+ (the index token)))
  (loop while (< (p) (limit)) do (let ((i (p))) (if (method-p r i) (method-definition r i def :flags (logior +declaration+ +exported+)) (form r i)))))

(defun clojure-record (r token name def)
  "defrecord, deftype: constructors, fields, methods."
  (declare (type index token))
  (dolist (text (list (format nil "->~A" name) (format nil "map->~A" name) (format nil "~A." name)))
    (part r (intern-text r text) (known "constructor") token def))
  (setf (p) (1+ token))
  (when (opens-p r (p)) (skip-form r))
  (methods r def))

;;; Definitions

(defun after-metadata (r i)
  "Past what Clojure writes before a name: `^:private', `^String', `^{:doc \"…\"}', and `#^' for `^'. Second value: whether one says private."
  (declare (type index i))
  (let ((private nil))
    (loop
      (let* ((j (if (is r i "#") (1+ i) i))
             (next (cond ((and (is r j "^") (opens-p r (1+ j))) (1+ (the index (closer r (1+ j)))))
                         ((and (identifier-at-p r j) (name-begins-p r (name-at r j) 94)) (1+ j)))))
        (declare (type index j))
        ;; a name may begin so itself where nothing that could be one follows
        (unless (and next (or (identifier-at-p r next) (is r next "^" "#"))) (return (values i private)))
        (when (is r j "^:private") (setf private t))
        (setf i next)))))

(defun name-token (r i)
  "The token of the name in the form at I of a definition: (define (f x) …), (defstruct (s …)), (defmethod (setf f) …)."
  (declare (type index i))
  (let ((j i))
    (loop while (is r j "#" "'") do (incf j))
    (when (and (is r j "(") (opens-p r j)) (setf j (1+ j)))
    (when (is r j "setf") (incf j))
    (loop while (and (is r j "#" "'" ":")) do (incf j))
    j))

(defun parameters (r kind test)
  "The list of parameters in hand, if there is one: the values of those that may be left out are code. A test has none, or an empty list."
  (when (and (is r (p) "(") (opens-p r (p)) (not (language-p r "Clojure"))
             (or (not test) (= (the index (closer r (p))) (1+ (p)))))
    (if (string= kind "macro")
        (skip-form r)
        (within-bracket (r (p)) (clauses r)))))

(defun callable (r i from def kind head test)
  "A function, method, macro or test: from the form FROM of its name on."
  (declare (type index i from head))
  (let ((facts (reading-facts r)) (list (and (is r from "(") (is r head "define" "define*" "define-syntax-rule"))))
    (with-definition (r def (open-scope r +function-scope+ def))
      (within-bracket (r i)
        (setf (p) from)
        (skip-form r)                     ; the name, with its parameters in Scheme
        (loop while (and (string= kind "method") (identifier-at-p r (p))) do (advance r))
        (unless list (parameters r kind test))
        (setf (draft-def-to facts def) (signature-end r (draft-def-from facts def) (p)))
        (walk r)))))

(defun function-value-p (r i)
  "Whether the form at I is a function."
  (declare (type index i))
  (or (and (is r i "(") (is r (1+ i) "lambda" "fn" "case-lambda" "named-lambda")) (and (is r i "#") (is r (1+ i) "(") (adjacent-p r (1+ i)))))

(defun packaged-p (r)
  "Whether the file is in a package: a name is looked for in all of that then, and a generic function stands before its methods."
  (let ((facts (reading-facts r)))
    (loop for i of-type index below (the index (draft-mark-count facts)) thereis (= (the (unsigned-byte 32) (draft-mark-key facts i)) (known "package")))))

(defun definition (r i kind)
  "A list whose first word defines something of KIND, a string."
  (declare (type reading r) (type index i))
  (let ((head (1+ i)) (close (closer r i)))
    (multiple-value-bind (from private) (after-metadata r (1+ head))
      (let* ((j (name-token r from)))
        (declare (type index head from j close))
        (cond
          ((or (>= j close) (not (names-p r j))) (within-bracket (r i) (advance r) (walk r)))
          (t
           (let* ((text (string-left-trim ":" (text-of r j))) (name (intern-text r text)) (outer (reading-def r))
                  (kind (cond ((and (is r from "(") (is r head "define")) "function")
                              ((and (string= kind "variable") (function-value-p r (1+ j))) "function")
                              (t kind)))
                  (def (define r name (intern-text r kind) j :from i :parent outer :bind (not (and (string= kind "method") (packaged-p r)))
                         :flags (logior (if (= outer +none+) +exported+ +local+) (if (or private (is r head "defn-")) +private+ 0))))
                  (test (and (is r head "deftest" "ert-deftest" "def-test" "test-case") (mark-test r name (line-at r i)))))
             (definition-body r i from j text kind def test)
             (end-definition r def (last-line r (p)))
             (when test (setf (draft-test-end (reading-facts r) test) (last-line r (p)))))))))))

(defun definition-body (r i from j text kind def test)
  "What the list at I that defines DEF, called TEXT at token J in the form FROM, says of it."
  (declare (type index i from j))
  (let ((head (1+ i)))
    (cond
      ((and (member kind '("function" "method" "macro") :test #'string=) (not (function-value-p r (1+ j))))
       (callable r i from def kind head test))
      ((string= kind "function")
       (with-definition (r def (open-scope r +function-scope+ def)) (within-bracket (r i) (setf (p) (1+ j)) (walk r))))
      ((is r head "struct" "define-record-type") (within-bracket (r i) (record-parts r j text def)))
      ((string= kind "struct")
       (within-bracket (r i) (if (is r head "defrecord") (clojure-record r j text def) (structure-parts r from j text def))))
      ((and (is r head "deftype") (is r (1+ j) "[")) (within-bracket (r i) (clojure-record r j text def)))
      ((string= kind "class") (within-bracket (r i) (class-parts r j def)))
      ((is r head "defprotocol" "definterface") (within-bracket (r i) (protocol-methods r j def)))
      ((string= kind "package") (package-definition r i def) (setf (p) (min (limit) (1+ (the index (closer r i))))))
      ((or (member kind '("variable" "constant") :test #'string=) (is r head "ns" "define-library" "define-module"))
       (within-bracket (r i) (setf (p) (1+ j)) (walk r)))
      (t (setf (p) (min (limit) (1+ (the index (closer r i)))))))))

;;; Definitions by macros of a program's own

(defparameter *no-definers* '("define-key" "default" "defer" "deferred" "defined" "deflate" "definite" "defaults" "default-value")
  "Words that begin as those that define do.")

(defun own-definer-p (r i)
  "Whether the list at I, of the file's top level, defines something by a macro of the program: (defroutes app …), (define-page home (x) …)."
  (declare (type index i))
  (let ((head (1+ i)))
    (and (= (reading-def r) +none+) (name-begins-p r (name-at r head) 100)
         (let ((text (text-of r head)))
           (and (> (length text) 4) (string= "def" text :end2 3) (notany (lambda (word) (string= word text)) *no-definers*)))
         (plain-name-p r (after-metadata r (+ i 2)))
         (< (the index (after-metadata r (+ i 2))) (the index (closer r i))))))

(defun own-definition (r i)
  (declare (type index i))
  (let ((after (1+ (the index (after-metadata r (+ i 2))))))
    (call r (1+ i) +call+)
    (definition r i (if (or (is r after "(" "[") (= (kind-at r after) +string+)) "function" "variable"))))
