(defpackage #:opl.failures.pattern
  (:use #:cl)
  (:shadow #:search)
  (:export #:line #:matching #:pattern-needles #:search))
(in-package #:opl.failures.pattern)

;;; Patterns over one line of a log, written as S-expressions and compiled to straight Lisp.
;;;
;;;   "text"            these characters
;;;   blank blanks blanks+   one, any number of, at least one space or tab
;;;   integer           digits, with thousands commas (captured: an integer)
;;;   number            digits with points and commas (captured: a string)
;;;   word              a run of non-blanks
;;;   path              a file's name: no blanks, quotes, brackets; a colon only in a drive (C:\) or a URL's head
;;;   letter            one letter
;;;   text text+        as little as will do (at least one character)
;;;   longest           as much as will do
;;;   rest              the rest of the line without trailing blanks; must be last
;;;   end               the end of the line, after blanks
;;;   (of "abc") (not-of "abc")   a run of at least one character of these, of none of these
;;;   (? p…) (or p…) (seq p…)     optional, alternatives, sequence
;;;   (variable p…)     what p… matched, bound to the variable in the body
;;;
;;; A pattern starts at the line's first character and need not reach its end.

(deftype line () '(simple-array character (*)))

(declaim (optimize (speed 1) (safety 1)))

(defmacro in-line ((line) &body body)
  `(locally (declare (optimize (speed 3) (safety 0)) (type (simple-array character (*)) ,line)
                     (sb-ext:muffle-conditions sb-ext:compiler-note))
     ,@body))

(declaim (inline blankp))
(defun blankp (character)
  (declare (character character))
  (or (char= character #\Space) (char= character #\Tab) (char= character (code-char #xA0))))

(defun literal-at (line position end literal)
  "The position after LITERAL where LINE has it at POSITION, else nil."
  (declare (type line line) (fixnum position end) (type (simple-array character (*)) literal))
  (let ((after (+ position (length literal))))
    (declare (fixnum after))
    (in-line (line)
      (and (<= after end)
           (loop for i of-type fixnum from position below after
                 for j of-type fixnum from 0
                 always (char= (schar line i) (schar literal j)))
           after))))

(defun class-member (class)
  "A predicate form maker for the characters of CLASS."
  (lambda (variable)
    (case (first class)
      (:blank `(blankp ,variable))
      (:digit `(char<= #\0 ,variable #\9))
      (:integer `(or (char<= #\0 ,variable #\9) (char= ,variable #\,)))
      (:number `(or (char<= #\0 ,variable #\9) (char= ,variable #\.) (char= ,variable #\,)))
      (:word `(not (blankp ,variable)))
      (:path `(not (or (blankp ,variable) (find ,variable "\"'`<>{}|,;:*"))))
      (:of `(find ,variable ,(coerce (second class) '(simple-array character (*)))))
      (:not-of `(not (find ,variable ,(coerce (second class) '(simple-array character (*)))))))))

(defun operator-p (symbol name) (and (symbolp symbol) (string= symbol name)))

(defun classify (element)
  "The character class and least count of a run ELEMENT, or nil."
  (flet ((is (name) (operator-p element name)))
    (cond ((is "BLANKS") (values '(:blank) 0))
          ((is "BLANKS+") (values '(:blank) 1))
          ((is "INTEGER") (values '(:integer) 1))
          ((is "NUMBER") (values '(:number) 1))
          ((is "WORD") (values '(:word) 1))
          ((is "PATH-RUN") (values '(:path) 1))
          ((and (consp element) (operator-p (first element) "OF")) (values (list :of (second element)) 1))
          ((and (consp element) (operator-p (first element) "NOT-OF")) (values (list :not-of (second element)) 1)))))

(defvar *ahead* nil "The character that must follow the element being expanded, where it is known.")

(defun guarded (position form)
  "FORM, but tried only where the character that must follow stands at POSITION."
  (if *ahead*
      `(when (in-line (line) (and (< ,position end) (char= (schar line ,position) ,*ahead*))) ,form)
      form))

(defun expand-run (class least position next)
  "Greedy run of CLASS, giving back one character at a time."
  (let ((furthest (gensym "FURTHEST")) (q (gensym "Q")) (c (gensym "C")))
    `(let ((,furthest ,position))
       (declare (fixnum ,furthest))
       (in-line (line)
         (loop while (and (< ,furthest end)
                          (let ((,c (schar line ,furthest))) ,(funcall (class-member class) c)))
               do (incf ,furthest)))
       (loop for ,q of-type fixnum from ,furthest downto (+ ,position ,least)
             do (let ((,q ,q)) (declare (fixnum ,q) (ignorable ,q)) ,(guarded q (funcall next q)))))))

(defun expand-any (least greedy position next)
  "Any characters, fewest (or most) first."
  (let ((q (gensym "Q")))
    (if greedy
        `(loop for ,q of-type fixnum from end downto (+ ,position ,least) do (let ((,q ,q)) (declare (fixnum ,q) (ignorable ,q)) ,(guarded q (funcall next q))))
        `(loop for ,q of-type fixnum from (+ ,position ,least) to end do (let ((,q ,q)) (declare (fixnum ,q) (ignorable ,q)) ,(guarded q (funcall next q)))))))

(defun trimmed-end-form ()
  `(in-line (line)
     (let ((e end)) (declare (fixnum e))
       (loop while (and (> e 0) (blankp (schar line (1- e)))) do (decf e))
       e)))

(defvar *captures*)

(defun expand-element (element position next)
  "The form that matches ELEMENT at the form POSITION and goes on with NEXT (position form -> form)."
  (flet ((is (name) (or (operator-p element name) (and (consp element) (operator-p (first element) name)))))
    (multiple-value-bind (class least) (classify element)
      (cond
        (class (expand-run class least position next))
        ((stringp element)
         (let ((q (gensym "Q")))
           `(let ((,q (and (in-line (line) (and (< ,position end) (char= (schar line ,position) ,(char element 0))))
                           (literal-at line ,position end ,(coerce element '(simple-array character (*)))))))
              (when ,q (let ((,q ,q)) (declare (fixnum ,q) (ignorable ,q)) ,(funcall next q))))))
        ((is "BLANK")
         (let ((q (gensym "Q")))
           `(when (and (< ,position end) (blankp (schar line ,position)))
              (let ((,q (1+ ,position))) (declare (fixnum ,q) (ignorable ,q)) ,(funcall next q)))))
        ((operator-p element "LETTER")
         (let ((q (gensym "Q")))
           `(when (and (< ,position end) (alpha-char-p (schar line ,position)))
              (let ((,q (1+ ,position))) (declare (fixnum ,q) (ignorable ,q)) ,(funcall next q)))))
        ((operator-p element "DRIVE")
         (let ((q (gensym "Q")))
           `(when (and (< (+ ,position 2) end) (alpha-char-p (schar line ,position)) (char= #\: (schar line (1+ ,position)))
                       (find (schar line (+ ,position 2)) "/\\"))
              (let ((,q (+ ,position 2))) (declare (fixnum ,q) (ignorable ,q)) ,(funcall next q)))))
        ((operator-p element "PATH")
         (expand-sequence '((? (or "file:///" "file://" "webpack:///" "webpack-internal:///" "vite-node:" "http://localhost:9876" "http://localhost" "(rsc)"))
                            (? drive) path-run)
                          position next))
        ((operator-p element "TEXT") (expand-any 0 nil position next))
        ((operator-p element "TEXT+") (expand-any 1 nil position next))
        ((operator-p element "LONGEST") (expand-any 0 t position next))
        ((operator-p element "REST")
         (let ((q (gensym "Q")))
           `(let ((,q (max ,position ,(trimmed-end-form)))) (declare (fixnum ,q) (ignorable ,q)) ,(funcall next q))))
        ((operator-p element "END")
         `(when (>= ,position ,(trimmed-end-form)) ,(funcall next 'end)))
        ((is "SEQ") (expand-sequence (rest element) position next))
        ((is "?") (expand-alternatives (list `(seq ,@(rest element)) '(seq)) position next))
        ((is "OR") (expand-alternatives (rest element) position next))
        ((and (consp element) (symbolp (first element)))
         (expand-capture (first element) (rest element) position next))
        (t (error "~S is no element of a pattern." element))))))

(defun expand-sequence (elements position next)
  (if elements
      (let ((*ahead* (cond ((stringp (second elements)) (char (second elements) 0))
                           ((null (rest elements)) *ahead*))))
        (expand-element (first elements) position
                        (lambda (q) (expand-sequence (rest elements) q next))))
      (funcall next position)))

(defun expand-alternatives (alternatives position next)
  "The continuation is made a local function, so that it is expanded once."
  (let ((*ahead* nil) (go-on (gensym "GO-ON")) (q (gensym "Q")))
    `(flet ((,go-on (,q) (declare (fixnum ,q) (ignorable ,q)) ,(funcall next q)))
       (declare (dynamic-extent (function ,go-on)))
       ,@(loop for alternative in alternatives
               collect (expand-element (if (and (consp alternative) (operator-p (first alternative) "SEQ")) alternative `(seq ,alternative))
                                       position (lambda (r) `(,go-on ,r)))))))

(defun expand-capture (variable elements position next)
  (let ((record (or (assoc variable *captures*)
                    (let ((new (list variable (gensym "FROM") (gensym "TO")
                                     (and (= 1 (length elements)) (operator-p (first elements) "INTEGER")))))
                      (push new *captures*)
                      new)))
        (before (gensym "BEFORE")) (from (gensym "FROM")))
    (destructuring-bind (start stop) (subseq record 1 3)
      ;; an alternative that failed must not leave its capture behind
      `(let ((,before ,start) (,from ,position))
         (declare (fixnum ,before ,from))
         ,(expand-sequence elements from
                           (lambda (q) `(progn (setf ,start ,from ,stop ,q) ,(funcall next q))))
         (setf ,start ,before)))))

(defun parse-digits (line from to)
  "The integer of the digits of LINE from FROM to TO, commas skipped; nil when there are none."
  (declare (type line line) (fixnum from to))
  (let ((value 0) (digits 0))
    (declare (type (unsigned-byte 58) value) (fixnum digits))
    (loop for i from from below to
          for digit = (digit-char-p (schar line i))
          when (and digit (< digits 15)) do (setf value (+ (* value 10) digit) digits (1+ digits)))
    (and (plusp digits) value)))

(defmacro matching ((line end) (&rest pattern) &body body)
  "Runs BODY with the captures of PATTERN bound when PATTERN matches LINE (its first END characters).
Returns BODY's value, nil when there is no match. A capture that took no part is nil."
  (let* ((*captures* '()) (block (gensym "MATCH"))
         (marker (gensym "BODY"))
         (form (expand-sequence pattern 0 (lambda (q) (declare (ignore q)) `(,marker)))))
    `(let ((line ,line) (end ,end))
       (declare (type line line) (fixnum end) (ignorable end))
       (block ,block
         (let (,@(loop for (nil from to) in *captures* collect `(,from -1) collect `(,to -1)))
           (declare (fixnum ,@(loop for (nil from to) in *captures* collect from collect to)))
           (flet ((,marker ()
                    (return-from ,block
                      (let (,@(loop for (name from to integer) in *captures*
                                    collect `(,name (and (>= ,from 0)
                                                         ,(if integer `(parse-digits line ,from ,to) `(subseq line ,from ,to))))))
                        (declare (ignorable ,@(mapcar #'first *captures*)))
                        ,@(or body '(t))))))
             ,form
             nil))))))

;;; SBCL's SEARCH asks for every character's key and test; the tables look for words in lines all the time

(defun found-in (needle text start end from-end)
  (declare (type line needle text) (fixnum start end) (optimize (speed 3) (safety 0)) (sb-ext:muffle-conditions sb-ext:compiler-note))
  (let* ((n (length needle)) (last (- end n)))
    (declare (fixnum n last))
    (flet ((at (i)
             (declare (fixnum i))
             (loop for j of-type fixnum from 0 below n
                   for k of-type fixnum from i
                   always (char= (schar needle j) (schar text k)))))
      (declare (inline at))
      (cond ((zerop n) (if from-end end start))
            (from-end (loop for i of-type fixnum from last downto start when (at i) return i))
            (t (let ((head (schar needle 0)))
                 (loop for i of-type fixnum from start to last
                       when (and (char= head (schar text i)) (at i)) return i)))))))

(defun search (needle text &key (start2 0) end2 from-end)
  "CL's SEARCH for strings, and the few of its keys that are needed."
  (flet ((simple (string) (if (typep string 'line) string (coerce (the string string) 'line))))
    (if (and (stringp needle) (stringp text))
        (found-in (simple needle) (simple text) start2 (or end2 (length text)) from-end)
        (cl:search needle text :start2 start2 :end2 end2 :from-end from-end))))

(define-compiler-macro search (&whole form needle &rest more)
  (if (stringp needle) `(search (load-time-value (coerce ,needle 'line) t) ,@more) form))

;;; needles: what every matching line must contain, so that most lines are never looked at

(defun element-needles (element)
  (cond ((stringp element) (list element))
        ((atom element) nil)
        ((operator-p (first element) "OR")
         (let ((all (mapcar (lambda (alternative) (element-needles alternative)) (rest element))))
           (and (every #'identity all) (reduce #'append all))))
        ((operator-p (first element) "OF")
         ;; a run holds at least one of its characters
         (and (= 1 (length (second element))) (list (second element))))
        ((member (first element) '("?" "NOT-OF") :test #'operator-p) nil)
        (t (sequence-needles (rest element)))))

(defun sequence-needles (elements)
  (flet ((strength (needles) (reduce #'min needles :key (lambda (needle) (length (string-trim " " needle))))))
    (let ((best nil))
      (dolist (element elements best)
        (let ((needles (element-needles element)))
          (when (and needles (or (null best) (> (strength needles) (strength best))))
            (setf best needles)))))))

(defun pattern-needles (pattern)
  "Strings of which every line matched by PATTERN (a list of elements) contains at least one; nil when there is no such set."
  (sequence-needles pattern))
