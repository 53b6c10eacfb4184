;;;; C: definitions that macros make. Of a macro the file keeps what its body would define, as patterns (`f_%1', %1
;;;; the first argument); where such a macro is used in the same file the definitions are made at once, where it may be
;;;; another file's the use is marked, and index/expansion.lisp brings the two together.
;;;;
;;;; Marks, with MORE the macro's definition unless said otherwise:
;;;;   renames      VALUE the name put in place of the macro's
;;;;   makes        VALUE the pattern of a function's name
;;;;   lists        VALUE the pattern of an enumerator's name
;;;;   expands      VALUE an argument of a macro used where declarations stand, MORE its `use-place'
;;;;   list of      VALUE the macro whose uses are all that the macro consists of
;;;;   listed       VALUE the first argument of each of them, in order
;;;;   lists here   VALUE a macro used alone where declarations stand, MORE the line
;;;;   enumerates   VALUE a path included in the body of an enum, MORE the import
;;;;   template     the file has functions and nothing that keeps it from being read several times

(in-package #:opl.languages.c)
(declaim (optimize (speed 1) (safety 1)))

(defconstant +arguments-marked+ 4 "Arguments of a macro that may be a part of a name; more are not looked at.")
(defconstant +products-kept+ 16 "Definitions noted of one macro.")

(defun use-place (site position)
  "Where argument number POSITION, from 0, of call site SITE is said to stand in a mark."
  (+ (* +arguments-marked+ site) position))

(defun note-macro-body (w at end def function)
  "Notes what the macro DEF, named at AT and ending before END, makes. FUNCTION: whether it has parameters."
  (declare (type fixnum at end))
  (cond (function (note-function-maker w at end def))
        ((and (= end (+ at 2)) (identifier-p w (1+ at)))
         (add-mark (w-facts w) (known "renames") (name w (1+ at)) def)
         (push (cons (name w at) (name w (1+ at))) (c-renames w)))
        ((and (> end (+ at 2)) (identifier-p w (1+ at)) (token-at w (+ at 2) "("))
         (push (list (name w at) :list (1+ at) end) (c-macros w))
         (note-list w at end def))
        (t (let ((open (find-at-depth w (1+ at) end (lambda (j) (token-at w j "(")))))
             (when (and open (= (the fixnum (closer w open end)) (1- end)) (identifier-p w (1- (the fixnum open))))
               (push (list (name w at) :declares (1- (the fixnum open)) open) (c-macros w)))))))

;;; What the body of a macro defines: #define OP(name) static int op_##name(int a) { … }

(defun pasted-parts (w last floor parameters)
  "The name that ends at token LAST, not before FLOOR, as a list of texts and places among PARAMETERS. Second value: where it begins."
  (declare (type fixnum last floor))
  (let ((parts '()) (j last))
    (declare (type fixnum j))
    (loop
      (push (or (position (name w j) parameters) (token-text (w-tokens w) j)) parts)
      ;; the scanner may have made one token of `##' or two of `#'
      (unless (and (> j (1+ floor)) (token-at w (1- j) "#" "##")) (return (values parts j)))
      (loop while (token-at w (1- j) "#" "##") do (decf j))
      (decf j)
      (when (< j floor) (return (values parts (1+ j)))))))

(defun pattern-of (parts)
  "PARTS as the text of a pattern; nil when no parameter is among them, or one too far behind."
  (and (some #'integerp parts) (every (lambda (part) (or (stringp part) (< (the fixnum part) +arguments-marked+))) parts)
       (format nil "~{~A~}" (mapcar (lambda (part) (if (integerp part) (format nil "%~D" (1+ (the fixnum part))) part)) parts))))

(defun body-products (w from end parameters)
  "Patterns of the functions that the tokens [FROM, END) define, in order."
  (declare (type fixnum from end))
  (let ((products '()) (floor from))
    (declare (type fixnum floor))
    (do ((open (find-at-depth w from end (lambda (j) (token-at w j "("))) (find-at-depth w floor end (lambda (j) (token-at w j "(")))))
        ((or (null open) (>= (length products) +products-kept+)) (nreverse products))
      (let* ((open open) (close (closer w open end)) (brace (1+ close)))
        (declare (type fixnum open close brace))
        (loop while (and (< brace end) (identifier-p w brace)) do (incf brace)) ; attributes
        (when (and (> open floor) (identifier-p w (1- open)) (< brace end) (token-at w brace "{"))
          (multiple-value-bind (parts start) (pasted-parts w (1- open) floor parameters)
            (declare (type fixnum start))
            (let ((pattern (and (or (rest parts) (> start floor)) (pattern-of parts)))) ; a bare name has a type before it
              (when pattern (push pattern products)))))
        (setf floor (if (and (< brace end) (token-at w brace "{")) (1+ (closer w brace end)) (1+ close)))))))

(defun used-products (w from end parameters)
  "Patterns of what other makers of this file, used in the tokens [FROM, END), make of PARAMETERS."
  (declare (type fixnum from end))
  (loop for j of-type fixnum from from below end
        for products = (and (identifier-p w j) (token-at w (1+ j) "(") (< (1+ j) end) (products-of w (name w j)))
        when products
          append (let ((arguments '()))
                   (do-pieces (start stop w (+ j 2) (closer w (1+ j) end))
                     (push (pasted-parts w (1- stop) start parameters) arguments))
                   (remove nil (mapcar (lambda (product) (substituted product (nreverse (copy-list arguments)))) products)))))

(defun substituted (pattern arguments)
  "PATTERN with ARGUMENTS, lists of parts, in it, as a pattern again; nil when one is missing or none is a parameter."
  (let ((parts '()) (i 0))
    (loop while (< i (length pattern))
          do (let ((percent (or (position #\% pattern :start i) (length pattern))))
               (when (> percent i) (push (subseq pattern i percent) parts))
               (when (< percent (length pattern))
                 (let ((argument (nth (1- (digit-char-p (char pattern (1+ percent)))) arguments)))
                   (unless argument (return-from substituted nil))
                   (setf parts (append (reverse argument) parts))))
               (setf i (+ percent 2))))
    (pattern-of (nreverse parts))))

(defun note-function-maker (w at end def)
  "Remembers and marks what the macro at AT with parameters makes."
  (declare (type fixnum at end))
  (let* ((close (closer w (1+ at) end)) (from (1+ close))
         (parameters (loop for j of-type fixnum from (+ at 2) below close when (identifier-p w j) collect (name w j))))
    (declare (type fixnum close from))
    (when (and parameters (< from end))
      (let ((products (append (and (find-at-depth w from end (lambda (j) (token-at w j "{"))) (body-products w from end parameters))
                              (and (c-macros w) (used-products w from end parameters)))))
        (when products (push (list* (name w at) :make products) (c-macros w)))
        (dolist (product products) (add-mark (w-facts w) (known "makes") (string-name w product) def)))
      (let ((item (listed-item w from end parameters)))
        (when item (add-mark (w-facts w) (known "lists") (string-name w item) def))))))

(defun listed-item (w from end parameters)
  "The pattern of the enumerator that a macro with the body [FROM, END) lists: NAME, or NAME = value, behind it a comma."
  (declare (type fixnum from end))
  (let ((comma (find-at-depth w from end (lambda (j) (token-at w j "," "=")))))
    (when (and comma (> (the fixnum comma) from) (token-at w (1- end) ","))
      (multiple-value-bind (parts start) (pasted-parts w (1- (the fixnum comma)) from parameters)
        (and (= (the fixnum start) from) (pattern-of parts))))))

;;; Uses

(defun products-of (w name)
  (cddr (find-if (lambda (entry) (and (eql (first entry) name) (eq (second entry) :make))) (c-macros w))))

(defun make-functions (w i open close at)
  "Definitions that the macro named at I makes of the arguments between OPEN and CLOSE, said to stand at token AT. Nil when it is
no maker of this file."
  (declare (type fixnum i open close at))
  (let ((products (products-of w (name w i))) (arguments '()))
    (when products
      (do-pieces (start end w (1+ open) close) (push (list (token-text (w-tokens w) start)) arguments))
      (setf arguments (nreverse arguments))
      (dolist (product products t)
        (let ((name (filled-pattern product (mapcar #'first arguments))))
          (when name
            (let ((def (define w at (known "function") :name (string-name w name) :to (1+ at) :flags +has-body+)))
              (setf (draft-def-end (w-facts w) def) (line w at)))))))))

(defun filled-pattern (pattern arguments)
  "PATTERN with the texts ARGUMENTS in place of %1 and so on; nil when one is missing."
  (with-output-to-string (out)
    (loop with i = 0
          while (< i (length pattern))
          do (cond ((char= (char pattern i) #\%)
                    (let ((argument (nth (1- (digit-char-p (char pattern (1+ i)))) arguments)))
                      (unless argument (return-from filled-pattern nil))
                      (write-string argument out)
                      (incf i 2)))
                   (t (write-char (char pattern i) out) (incf i))))))

(defun mark-use (w site open close)
  "Marks the names between OPEN and CLOSE, arguments of a macro that may be another file's and make something."
  (declare (type fixnum open close))
  (let ((position 0))
    (declare (type fixnum position))
    (do-pieces (start end w (1+ open) close)
      (when (and (< position +arguments-marked+) (= end (1+ start)) (identifier-p w start))
        (add-mark (w-facts w) (known "expands") (name w start) (use-place site position)))
      (incf position))))

(defun use-alone (w i)
  "A macro at token I alone on its line, which may stand for several uses of a maker of functions. Whether it does."
  (let ((list (find-if (lambda (entry) (and (eql (first entry) (name w i)) (eq (second entry) :list))) (c-macros w))))
    (cond (list
           (destructuring-bind (from end) (cddr list)
             (loop for j of-type fixnum from from below end
                   do (when (and (identifier-p w j) (token-at w (1+ j) "(") (< (1+ j) (the fixnum end)))
                        (let ((close (closer w (1+ j) end)))
                          (make-functions w j (1+ j) close i)
                          (setf j close)))))
           t)
          ;; one of another file, perhaps
          ((and (= (kind w (1+ (the fixnum i))) +directive+) (= (name w (1+ (the fixnum i))) (known "undef")))
           (add-mark (w-facts w) (known "lists here") (name w i) (line w i))
           t))))

(defun note-list (w at end def)
  "Marks the uses of macros that the macro at AT without parameters stands for when it is nothing else: A(x) A(y)."
  (declare (type fixnum at end))
  (let ((uses '()) (j (1+ at)))
    (declare (type fixnum j))
    (loop while (and (< (1+ j) end) (identifier-p w j) (token-at w (1+ j) "(") (= (name w j) (name w (1+ at))))
          do (let ((close (closer w (1+ j) end)))
               (declare (type fixnum close))
               (when (and (identifier-p w (+ j 2))) (push (name w (+ j 2)) uses))
               (setf j (1+ close))
               (loop while (and (< j end) (token-at w j ";")) do (incf j))))
    (when (and (>= j end) (rest uses))
      (add-mark (w-facts w) (known "list of") (name w (1+ at)) def)
      (dolist (use (nreverse uses)) (add-mark (w-facts w) (known "listed") use def)))))

(defun declared-by-macro (w i)
  "Values: the token of the name, and of the `(', that the macro named at I puts before a function's body; nil when it does not."
  (let ((entry (find-if (lambda (entry) (and (eql (first entry) (name w i)) (eq (second entry) :declares))) (c-macros w))))
    (and entry (values (third entry) (fourth entry)))))

(defun mark-template (w)
  "Marks a file with functions that may be read several times, and is no source of its own."
  (let ((facts (w-facts w)))
    (unless (or (c-guarded w) (source-path-p (w-path w)))
      (when (loop for def below (draft-def-count facts)
                  thereis (and (= (draft-def-kind facts def) (known "function")) (logtest +has-body+ (draft-def-flags facts def))))
        (add-mark facts (known "template") +none+ +none+)))))

(defun source-path-p (path)
  "Whether PATH ends as sources do that are compiled by themselves."
  (let ((dot (position #\. path :from-end t)))
    (and dot (member (subseq path dot) '(".c" ".m" ".mm" ".cl" ".xs") :test #'string=) t)))
