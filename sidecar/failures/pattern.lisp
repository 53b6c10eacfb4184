(defpackage #:opl.failures.pattern
  (:use #:cl)
  (:shadow #:search #:step #:class)
  (:export #:line #:captures #:matching #:matcher-of #:captures-of #:try-matcher #:with-captured #:mentioned-p #:pattern-needles #:search))
(in-package #:opl.failures.pattern)

;;; Patterns over one line of a log, written as S-expressions.
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
(deftype place () '(unsigned-byte 32))
(deftype captures () '(simple-array (unsigned-byte 32) (*)))

(declaim (optimize (speed 1) (safety 1)))

;;; A pattern becomes closures when it is loaded, not code where it stands: the tables hold more than a thousand of them, and as code they
;;; took 60 of the 85 seconds that the whole sidecar takes to compile. Each closure is handed the line, the place it
;;; has come to, the line's end and the captures, and calls the one that goes on; the value tells whether the rest matched.
;;; A capture has three cells: where it starts, where it ends, and where it was begun, which counts once it has an end.

(deftype step () '(function (line place place captures) t))

(defmacro step-lambda (&body body)
  "A step over LINE from AT, before END, with CAPTURES."
  `(lambda (line at end captures)
     (declare (optimize (speed 3) (safety 0) (debug 0)) (sb-ext:muffle-conditions sb-ext:compiler-note)
              (type line line) (type place at end) (type captures captures) (ignorable line at end captures))
     ,@body))

(defmacro go-on (next at)
  `(funcall (the function ,next) line (the place ,at) end captures))

(defconstant +untouched+ #xFFFFFFFF "In a capture's cell: it took no part.")

(declaim (inline blankp))
(defun blankp (character)
  (declare (character character))
  (or (char= character #\Space) (char= character #\Tab) (char= character (code-char #xA0))))

;;; classes of characters: a bit for each of Latin-1's, and what holds for those beyond

(defstruct (class (:constructor make-class (bits beyond characters inverse)))
  (bits nil :type (simple-bit-vector 256))
  (beyond nil) (characters "" :type line) (inverse nil))

(defun class-of-characters (characters inverse)
  "The class of CHARACTERS, or with INVERSE of all others."
  (let ((bits (make-array 256 :element-type 'bit :initial-element (if inverse 1 0))) (beyond '()))
    (loop for character across characters
          do (if (< (char-code character) 256)
                 (setf (sbit bits (char-code character)) (if inverse 0 1))
                 (push character beyond)))
    (make-class bits (and beyond t) (coerce beyond 'line) inverse)))

(defparameter *digits* "0123456789")
(defparameter *blanks* (coerce (list #\Space #\Tab (code-char #xA0)) 'line))

(defun operator-p (symbol name) (and (symbolp symbol) (string= symbol name)))

(defun classify (element)
  "The class and least count of a run ELEMENT, or nil."
  (flet ((is (name) (operator-p element name))
         (any (characters) (class-of-characters characters nil))
         (none (characters) (class-of-characters characters t)))
    (cond ((is "BLANKS") (values (any *blanks*) 0))
          ((is "BLANKS+") (values (any *blanks*) 1))
          ((is "INTEGER") (values (any (concatenate 'string *digits* ",")) 1))
          ((is "NUMBER") (values (any (concatenate 'string *digits* ".,")) 1))
          ((is "WORD") (values (none *blanks*) 1))
          ((is "PATH-RUN") (values (none (concatenate 'string *blanks* "\"'`<>{}|,;:*")) 1))
          ((and (consp element) (operator-p (first element) "OF")) (values (any (second element)) 1))
          ((and (consp element) (operator-p (first element) "NOT-OF")) (values (none (second element)) 1)))))

(defmacro holds-p (character)
  "Whether CHARACTER is of the class whose parts are bound."
  `(let ((code (char-code ,character)))
     (if (< code 256)
         (= 1 (sbit bits code))
         (if beyond (eq inverse (not (find ,character characters))) inverse))))

;;; steps

(defstruct firsts
  "What may stand first where a pattern goes on: a bit for each of Latin-1, whether any character beyond may, and the line's end."
  (bits nil :type (simple-bit-vector 256)) (beyond nil) (end nil))

(defun any-first () (make-firsts :bits (make-array 256 :element-type 'bit :initial-element 1) :beyond t :end t))

(defun united (one other)
  (make-firsts :bits (bit-ior (firsts-bits one) (firsts-bits other)) :beyond (or (firsts-beyond one) (firsts-beyond other)) :end (or (firsts-end one) (firsts-end other))))

(defun firsts-of-characters (characters &key end)
  (let ((class (class-of-characters characters nil)))
    (make-firsts :bits (class-bits class) :beyond (class-beyond class) :end end)))

(defun firsts-of (elements after)
  "The firsts of ELEMENTS behind which come those of AFTER."
  (let ((element (first elements)) (more (rest elements)))
    (flet ((is (name) (and (consp element) (operator-p (first element) name))))
      (multiple-value-bind (class least) (and elements (classify element))
        (cond ((null elements) after)
              ((stringp element) (if (string= "" element) (firsts-of more after) (firsts-of-characters (subseq element 0 1))))
              (class (let ((own (make-firsts :bits (class-bits class) :beyond (or (class-inverse class) (class-beyond class)))))
                       (if (plusp least) own (united own (firsts-of more after)))))
              ((operator-p element "BLANK") (firsts-of-characters *blanks*))
              ((operator-p element "END") (firsts-of-characters *blanks* :end t))
              ((is "?") (united (firsts-of (append (rest element) more) after) (firsts-of more after)))
              ((is "OR") (reduce #'united (loop for one in (rest element) collect (firsts-of (cons one more) after))))
              ((is "SEQ") (firsts-of (append (rest element) more) after))
              ((and (consp element) (symbolp (first element))) (firsts-of (append (rest element) more) after))
              (t (any-first)))))))

(defun ahead-of (elements after)
  "What must follow where ELEMENTS, and then AFTER, go on: a character, FIRSTS, or nil where that is anything."
  (if (stringp (first elements))
      (char (first elements) 0)
      (let ((firsts (firsts-of elements (etypecase after
                                          (null (any-first))
                                          (character (firsts-of-characters (string after)))
                                          (firsts after)))))
        (unless (and (firsts-end firsts) (firsts-beyond firsts) (every #'plusp (firsts-bits firsts))) firsts))))

(defmacro looking-ahead ((ahead where) form)
  "A step that is FORM, in which (WHERE q next) goes on with NEXT at Q where what is known to follow can stand there. The three kinds of
AHEAD are three closures."
  `(etypecase ahead
     (null (macrolet ((,where (q next) `(go-on ,next ,q))) ,form))
     (character (let ((character ,ahead))
                  (declare (type character character))
                  (macrolet ((,where (q next) `(and (< ,q end) (char= (schar line ,q) character) (go-on ,next ,q)))) ,form)))
     (firsts (let ((follows (firsts-bits ,ahead)) (others (firsts-beyond ,ahead)) (ends (firsts-end ,ahead)))
               (declare (type (simple-bit-vector 256) follows))
               (macrolet ((,where (q next)
                            `(and (if (< ,q end)
                                      (let ((code (char-code (schar line ,q)))) (if (< code 256) (= 1 (sbit follows code)) others))
                                      ends)
                                  (go-on ,next ,q))))
                 ,form)))))

(defun run-step (class least ahead next)
  "A greedy run of CLASS, giving back one character at a time."
  (let ((bits (class-bits class)) (beyond (class-beyond class)) (characters (class-characters class)) (inverse (class-inverse class)))
    (declare (type (simple-bit-vector 256) bits) (type line characters) (type bit least))
    (looking-ahead (ahead go-on-at)
      (step-lambda
        (let ((furthest at))
          (declare (type place furthest))
          (loop while (and (< furthest end) (holds-p (schar line furthest))) do (incf furthest))
          (loop with from of-type fixnum = (+ at least)
                for q of-type fixnum from furthest downto from
                  thereis (go-on-at q next)))))))

(defun any-step (least greedy ahead next)
  "Any characters, fewest (or with GREEDY most) first."
  (declare (type bit least))
  (if greedy
      (looking-ahead (ahead go-on-at)
        (step-lambda
          (loop with from of-type fixnum = (+ at least)
                for q of-type fixnum from end downto from thereis (go-on-at q next))))
      (looking-ahead (ahead go-on-at)
        (step-lambda
          (loop for q of-type fixnum from (+ at least) to end thereis (go-on-at q next))))))

(defun literal-step (literal next)
  (let* ((literal (coerce literal 'line)) (n (length literal)) (head (schar literal 0)))
    (declare (type line literal) (type place n))
    (step-lambda
      (let ((after (+ at n)))
        (declare (type place after))
        (and (<= after end) (char= head (schar line at))
             (loop for i of-type place from (1+ at) below after
                   for j of-type place from 1
                   always (char= (schar line i) (schar literal j)))
             (go-on next after))))))

(defmacro trimmed-end ()
  `(loop with e of-type place = end
         while (and (> e 0) (blankp (schar line (1- e)))) do (decf e)
         finally (return e)))

(defun alternative-step (steps)
  (if (= 2 (length steps))
      (destructuring-bind (one other) steps
        (step-lambda (or (go-on one at) (go-on other at))))
      (step-lambda (loop for one in steps thereis (go-on one at)))))

(defvar *captures* nil "While a pattern is read: its captures so far, latest first, as (variable cell integer).")

(defun cell-of (variable elements)
  (let ((known (assoc variable *captures*)))
    (second (or known
                (first (push (list variable (* 3 (length *captures*)) (and (= 1 (length elements)) (operator-p (first elements) "INTEGER")))
                             *captures*))))))

(defun capture-step (cell elements ahead next)
  (let* ((start cell) (stop (+ cell 1)) (begun (+ cell 2))
         (inner (sequence-step elements ahead
                               (step-lambda (setf (aref captures start) (aref captures begun) (aref captures stop) at)
                                            (go-on next at)))))
    (declare (type (unsigned-byte 16) start stop begun))
    (step-lambda
      ;; an alternative that failed must not leave its capture behind
      (let ((before (aref captures start)) (open (aref captures begun)))
        (setf (aref captures begun) at)
        (or (go-on inner at)
            (progn (setf (aref captures start) before (aref captures begun) open) nil))))))

(defun element-step (element ahead next)
  "The step that matches ELEMENT and goes on with NEXT. AHEAD: what must follow, as AHEAD-OF has it."
  (flet ((is (name) (or (operator-p element name) (and (consp element) (operator-p (first element) name)))))
    (multiple-value-bind (class least) (classify element)
      (cond
        (class (run-step class least ahead next))
        ((stringp element) (literal-step element next))
        ((is "BLANK") (step-lambda (and (< at end) (blankp (schar line at)) (go-on next (1+ at)))))
        ((operator-p element "LETTER") (step-lambda (and (< at end) (alpha-char-p (schar line at)) (go-on next (1+ at)))))
        ((operator-p element "DRIVE")
         (step-lambda (and (< (+ at 2) end) (alpha-char-p (schar line at)) (char= #\: (schar line (1+ at)))
                           (or (char= #\/ (schar line (+ at 2))) (char= #\\ (schar line (+ at 2))))
                           (go-on next (+ at 2)))))
        ((operator-p element "PATH")
         (sequence-step '((? (or "file:///" "file://" "webpack:///" "webpack-internal:///" "vite-node:" "http://localhost:9876" "http://localhost" "(rsc)"))
                          (? drive) path-run)
                        ahead next))
        ((operator-p element "TEXT") (any-step 0 nil ahead next))
        ((operator-p element "TEXT+") (any-step 1 nil ahead next))
        ((operator-p element "LONGEST") (any-step 0 t ahead next))
        ((operator-p element "REST") (step-lambda (go-on next (max at (trimmed-end)))))
        ((operator-p element "END") (step-lambda (and (>= at (trimmed-end)) (go-on next end))))
        ((is "SEQ") (sequence-step (rest element) ahead next))
        ((is "?") (alternative-step (list (sequence-step (rest element) ahead next) next)))
        ((is "OR") (alternative-step (loop for one in (rest element) collect (sequence-step (list one) ahead next))))
        ((and (consp element) (symbolp (first element)))
         (capture-step (cell-of (first element) (rest element)) (rest element) ahead next))
        (t (error "~S is no element of a pattern." element))))))

(defun sequence-step (elements ahead next)
  (if elements
      (element-step (first elements) (ahead-of (rest elements) ahead) (sequence-step (rest elements) ahead next))
      next))

(defun captures-of (pattern)
  "The captures of PATTERN in the order they stand in: (variable cell integer)."
  (let ((*captures* '()))
    (labels ((walk (element)
               (when (consp element)
                 (cond ((member (first element) '("OF" "NOT-OF") :test #'operator-p))
                       ((member (first element) '("SEQ" "?" "OR") :test #'operator-p) (mapc #'walk (rest element)))
                       (t (cell-of (first element) (rest element)) (mapc #'walk (rest element)))))))
      (mapc #'walk pattern))
    (reverse *captures*)))

(defun matcher-of (pattern)
  "The step that tells whether a line matches PATTERN from the place it is handed."
  (let ((*captures* (reverse (captures-of pattern))))
    (sequence-step pattern nil (step-lambda t))))

(defun parse-digits (line from to)
  "The integer of the digits of LINE from FROM to TO, commas skipped; nil when there are none."
  (declare (type line line) (fixnum from to) (optimize (speed 1)))
  (let ((value 0) (digits 0))
    (declare (type (unsigned-byte 58) value) (fixnum digits))
    (loop for i from from below to
          for digit = (digit-char-p (schar line i))
          when (and digit (< digits 15)) do (setf value (+ (* value 10) digit) digits (1+ digits)))
    (and (plusp digits) value)))

(declaim (ftype (function (line captures fixnum) (or null line)) captured)
         (ftype (function (line captures fixnum) (or null integer)) captured-integer))
(defun captured (line captures cell)
  "The text of the capture at CELL, or nil when it took no part."
  (declare (type line line) (type captures captures) (fixnum cell))
  (let ((from (aref captures cell)) (to (aref captures (1+ cell))))
    (and (/= from +untouched+)
         ;; most are a few characters, for which SUBSEQ takes longer to begin than to copy
         (locally (declare (optimize (speed 3) (safety 0)))
           (let ((text (make-string (- to from))))
             (loop for i of-type place from from below to
                   for j of-type place from 0
                   do (setf (schar text j) (schar line i)))
             text)))))

(defun captured-integer (line captures cell)
  (let ((from (aref captures cell)))
    (and (/= from +untouched+) (parse-digits line from (aref captures (1+ cell))))))

(defun try-matcher (matcher line end captures cells)
  "Whether the first END characters of LINE match; the first CELLS of CAPTURES are set anew."
  (declare (type function matcher) (type line line) (type place end) (type captures captures) (fixnum cells)
           (optimize (speed 3) (safety 0)) (sb-ext:muffle-conditions sb-ext:compiler-note))
  (fill captures +untouched+ :end cells)
  (funcall matcher line 0 end captures))

(defun mentioned-p (symbol form)
  "True when SYMBOL stands somewhere in FORM."
  (if (consp form)
      (loop for rest = form then (cdr rest)
            while (consp rest) thereis (mentioned-p symbol (car rest))
            finally (return (eq rest symbol)))
      (eq symbol form)))

(defun mentions (symbol form)
  "How often SYMBOL stands in FORM."
  (loop for rest = form then (cdr rest)
        while (consp rest) sum (mentions symbol (car rest)) into count
        finally (return (if (eq rest symbol) (1+ count) count))))

(defmacro with-captured ((pattern line captures) &body body)
  "BODY with those variables of PATTERN that it mentions bound to what CAPTURES say of LINE. What is mentioned once is taken out of the
line where it stands, which on most lines is a branch not taken."
  (flet ((value (capture) `(,(if (third capture) 'captured-integer 'captured) ,line ,captures ,(second capture))))
    (loop for capture in (captures-of pattern)
          for count = (mentions (first capture) body)
          if (= 1 count) collect (list (first capture) (value capture)) into once
            else unless (zerop count) collect (list (first capture) (value capture)) into often
          finally (return `(symbol-macrolet ,once
                             (let ,often
                               (declare (ignorable ,@(mapcar #'first often)))
                               ,@(or body '(t))))))))

(defmacro matching ((line end) (&rest pattern) &body body)
  "Runs BODY with the captures of PATTERN bound when PATTERN matches LINE (its first END characters).
Returns BODY's value, nil when there is no match. A capture that took no part is nil."
  (let ((cells (* 3 (length (captures-of pattern)))) (captures (gensym "CAPTURES")) (text (gensym "LINE")))
    `(let ((,text ,line)
           (,captures (make-array ,cells :element-type '(unsigned-byte 32))))
       (declare (dynamic-extent ,captures) (type line ,text))
       (when (try-matcher (load-time-value (matcher-of ',pattern) t) ,text ,end ,captures ,cells)
         (with-captured (,pattern ,text ,captures) ,@body)))))
