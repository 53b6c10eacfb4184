;;;; The scanner: one pass over the octets of a file, driven by its language's table, into tokens.

(defpackage #:opl.source.scanner
  (:use #:cl #:opl.source.tokens #:opl.source.lexer #:opl.source.language)
  (:import-from #:opl.source.names #:octets #:u32-vector #:+none+ #:known #:lexicon-globalize #:lexicon-uses)
  (:export #:scan #:make-scanner))
(in-package #:opl.source.scanner)

(defun make-scanner ()
  "A lexer to be handed to `scan' for one file after another, by one thread."
  (make-lexer :continue #'lex))

(declaim (inline skip-word))
(defun skip-word (lexer more i)
  "Position after the word that goes on at I."
  (declare (type lexer lexer) (type (simple-bit-vector 256) more) (type index i) (optimize (speed 3) (safety 0)))
  (let ((octets (lexer-octets lexer)) (size (lexer-size lexer)))
    (loop while (and (< i size) (= 1 (aref more (aref octets i)))) do (incf i))
    i))

(defun skip-number (lexer i)
  "Position after the number at I: 0x1F, 1_000, 1.5e-3, 10u8; not the dots of a range or of a method call."
  (declare (type lexer lexer) (type index i) (optimize (speed 2) (safety 0)))
  (loop
    (let ((octet (octet-at lexer i)))
      (cond ((or (word-octet-p octet)) (incf i))
            ((and (= octet 46) (<= 48 (octet-at lexer (1+ i)) 57)) (incf i))
            ((and (member octet '(43 45)) (member (octet-at lexer (1- i)) '(101 69))
                  (<= 48 (octet-at lexer (1+ i)) 57)
                  (not (member (octet-at lexer (+ 1 (or (position-if-not #'word-octet-p (lexer-octets lexer) :end i :from-end t) 0)))
                               '(120 88))))
             (incf i))
            ((and (= octet 46) (not (word-octet-p (octet-at lexer (1+ i)))) (/= (octet-at lexer (1+ i)) 46))
             (incf i) (return i))
            (t (return i))))))

(defun try-openers (lexer openers i)
  "Runs the action of the first opener that stands at I and takes it; the position after, or nil."
  (declare (type lexer lexer) (type index i))
  (loop for (text . action) in openers
        do (when (looking-at lexer i text)
             (let ((after (funcall (the function action) lexer i (length (the octets text)))))
               (when after (return after))))))

(defun operator (lexer syntax i)
  "Emits the longest operator at I; the position after."
  (declare (type lexer lexer) (type syntax syntax) (type index i))
  (let ((octet (octet-at lexer i)))
    (loop for (text . name) in (svref (syntax-operators syntax) octet)
          do (when (and (looking-at lexer i text)
                        ;; `a?.5:b' holds no optional chain
                        (not (and (= octet 63) (= (length (the octets text)) 2) (= (aref (the octets text) 1) 46)
                                  (<= 48 (octet-at lexer (+ i 2)) 57))))
               (let ((after (+ i (length (the octets text)))))
                 (let ((token (emit lexer +punctuation+ i after name)))
                   (when (= (octet-at lexer (1- after)) 123) (push-bracket lexer token)))
                 (return-from operator after))))
    (emit lexer +punctuation+ i (1+ i) (aref (syntax-singles syntax) octet))
    (1+ i)))

(defun skip-format (lexer i)
  "Position of the `}' that ends an interpolation whose format begins at I."
  (declare (type index i))
  (let ((depth 0))
    (loop
      (let ((octet (octet-at lexer i)))
        (cond ((or (= octet 0) (= octet 10)) (return i))
              ((= octet 123) (incf depth))
              ((= octet 125) (if (zerop depth) (return i) (decf depth)))
              ((member octet '(34 39)) (return i)))
        (incf i)))))

(defun format-begins-p (lexer i octet)
  (declare (type index i))
  (and (eql (lexer-formats lexer) (lexer-depth lexer))
       (or (and (= octet 58) (/= (octet-at lexer (1+ i)) 58) (/= (octet-at lexer (1+ i)) 61))
           (and (= octet 33) (/= (octet-at lexer (1+ i)) 61)))))

(defun mark-of-name-p (lexer i)
  "Whether a `?' or `!' at I ends the name before it: no `!=', no `?:'."
  (declare (type index i))
  (let ((octet (octet-at lexer i)) (next (octet-at lexer (1+ i))))
    (and (or (= octet 63) (= octet 33))
         (or (/= next 61) (member (octet-at lexer (+ i 2)) '(61 126 62)))
         (not (and (= octet 63) (= next 58) (/= (octet-at lexer (+ i 2)) 58))))))

(defun lex (lexer i closer bracket)
  "Lexes code from I on. CLOSER and BRACKET: the octet that ends it when it closes the bracket with that
ordinal (the code of an interpolation); nil: to the end. The position after."
  (declare (type lexer lexer) (type index i) (optimize (speed 2) (safety 0)))
  (let* ((syntax (lexer-syntax lexer)) (classes (syntax-classes syntax)) (more (syntax-more syntax))
         (openers (syntax-openers syntax)) (octets (lexer-octets lexer)) (jsx (syntax-jsx syntax))
         (marks (syntax-marks syntax)) (preprocessor (syntax-preprocessor syntax)) (floor (if bracket (1- (lexer-depth lexer)) 0)))
    (declare (type syntax syntax) (type index floor))
    (loop
      (when (>= i (lexer-size lexer)) (return i))
      (let* ((octet (aref octets i)) (class (aref classes octet)))
        (case class
          (3 (incf i))
          (4 (incf (lexer-line lexer)) (incf i)
           (when (lexer-heredocs lexer) (setf i (take-heredocs lexer i))))
          (t
           (let* ((candidates (svref openers octet))
                  (after (and candidates (try-openers lexer candidates i))))
             (cond
               (after (setf i after))
               ((= class 1)
                (let ((end (skip-word lexer more (1+ i))))
                  (when (and marks (mark-of-name-p lexer end)) (incf end))
                  (emit-identifier lexer i end)
                  (setf i end)))
               ((= class 2)
                (let ((end (skip-number lexer i)))
                  (emit lexer +number+ i end +none+)
                  (setf i end)))
               ((= class 5)
                (push-bracket lexer (emit lexer +punctuation+ i (1+ i) (aref (syntax-singles syntax) octet)))
                (incf i))
               ((= class 6)
                (let* ((token (emit lexer +punctuation+ i (1+ i) (aref (syntax-singles syntax) octet)))
                       (open (pop-bracket lexer token octet floor)))
                  (incf i)
                  (when (and bracket (eql open bracket)) (return i))
                  ;; a brace too many ends an interpolation whose own brackets were left open
                  (when (and bracket (= octet closer) (null open)) (truncate-brackets lexer floor) (return i))))
               ((and preprocessor (= octet 35) (line-start-p lexer i))
                (setf i (directive lexer i)))
               ((and jsx (= octet 60) (tag-begins-p lexer i))
                (setf i (markup-element lexer i)))
               ((and bracket (lexer-formats lexer) (format-begins-p lexer i octet))
                (setf i (skip-format lexer i)))
               (t (setf i (operator lexer syntax i)))))))))))

(defun take-heredocs (lexer i)
  "Takes the bodies of the heredocs begun on the line before; the position after the last."
  (let ((heredocs (shiftf (lexer-heredocs lexer) '())))
    (dolist (heredoc heredocs i)
      (setf i (funcall (the function heredoc) lexer i)))))

;;; Preprocessor lines

(defparameter *opening-directives* (mapcar #'text-octets '("if" "ifdef" "ifndef")))
(defparameter *turning-directives* (mapcar #'text-octets '("else" "elif" "elifdef" "elifndef")))

(defun directive-end (lexer i)
  "The end of the line of a directive, continued lines and comments over several lines included."
  (declare (type index i))
  (loop
    (let ((end (line-end lexer i)))
      (if (and (> end i)
               (or (= (octet-at lexer (1- end)) 92)
                   (and (= (octet-at lexer (1- end)) 13) (> end (1+ i)) (= (octet-at lexer (- end 2)) 92)))
               (< end (lexer-size lexer)))
          (setf i (1+ end))
          (return end)))))

(defun condition-holds-p (lexer word-start word-end)
  "Whether the branch of the #if at WORD-START counts for brackets. What is not known is held for true the first
time, and for the same ever after in the file, so that an opening and a closing brace under the same condition
are both seen or both not."
  (let* ((negated (looking-at lexer word-start (load-time-value (text-octets "ifndef"))))
         (from (or (position-if-not #'blank-octet-p (lexer-octets lexer) :start word-end :end (lexer-size lexer)) word-end)))
    (when (and (not negated) (= (- word-end word-start) 2)) ; #if
      (case (octet-at lexer from)
        (48 (unless (word-octet-p (octet-at lexer (1+ from))) (return-from condition-holds-p nil)))
        (33 (setf negated t) (incf from)))
      (when (looking-at lexer from (load-time-value (text-octets "defined"))) (incf from 7))
      (loop while (member (octet-at lexer from) '(32 9 40)) do (incf from)))
    (let* ((to (or (position-if-not #'word-octet-p (lexer-octets lexer) :start from :end (lexer-size lexer)) (lexer-size lexer)))
           (rest (position-if-not (lambda (octet) (or (blank-octet-p octet) (= octet 41) (= octet 13))) (lexer-octets lexer)
                                  :start to :end (lexer-size lexer)))
           (simple (and (> to from) (or (null rest) (member (octet-at lexer rest) '(10 47))))))
      (if (not simple)
          t
          (let ((known (find-if (lambda (entry) (and (= (length (the octets (car entry))) (- to from)) (looking-at lexer from (car entry))))
                                (lexer-assumptions lexer))))
            (unless known
              (setf known (cons (subseq (lexer-octets lexer) from to) (not negated)))
              (push known (lexer-assumptions lexer)))
            (if negated (not (cdr known)) (cdr known)))))))

(defstruct (conditional (:constructor make-conditional (before holds)))
  (before (vector))                     ; the open brackets at the #if
  (after nil)                           ; those at the end of the branch that counts, once it is over
  (holds t))                            ; whether the branch in hand is the one that counts

(defun turn-conditional (lexer word-start word-end)
  "Branches of one #if each start from the brackets that were open before it; those of one of them stay."
  (labels ((among (words) (loop for word of-type octets in words
                                thereis (and (= (length word) (- word-end word-start)) (looking-at lexer word-start word))))
           (open-brackets () (subseq (lexer-stack lexer) 0 (lexer-depth lexer)))
           (reopen (stack)
             (replace (lexer-stack lexer) (the u32-vector stack))
             (setf (lexer-depth lexer) (length (the u32-vector stack))))
           (leave-branch (conditional)
             (when (conditional-holds conditional)
               (setf (conditional-after conditional) (open-brackets)))))
    (cond ((among *opening-directives*)
           (push (make-conditional (open-brackets) (condition-holds-p lexer word-start word-end)) (lexer-conditionals lexer)))
          ((and (among *turning-directives*) (lexer-conditionals lexer))
           (let ((conditional (first (lexer-conditionals lexer))))
             (leave-branch conditional)
             (setf (conditional-holds conditional) (null (conditional-after conditional)))
             (reopen (conditional-before conditional))))
          ((and (looking-at lexer word-start (load-time-value (text-octets "endif"))) (lexer-conditionals lexer))
           (let ((conditional (pop (lexer-conditionals lexer))))
             (leave-branch conditional)
             (reopen (or (conditional-after conditional) (conditional-before conditional))))))))

(defun directive (lexer i)
  "A preprocessor line at I: a token of its own, then the tokens of the line with brackets of their own."
  (declare (type index i))
  (let ((word-start (1+ i)) (size (lexer-size lexer)))
    (loop while (blank-octet-p (octet-at lexer word-start)) do (incf word-start))
    (let ((word-end word-start))
      (loop while (word-octet-p (octet-at lexer word-end)) do (incf word-end))
      (let* ((end (directive-end lexer word-end)) (tokens (lexer-tokens lexer))
             (local (opl.source.names:lexicon-intern (tokens-lexicon tokens) (lexer-octets lexer) word-start word-end))
             (token (emit lexer +directive+ i word-end local))
             (depth (lexer-depth lexer)) (conditionals (lexer-conditionals lexer)))
        (turn-conditional lexer word-start word-end)
        (when (eq conditionals (lexer-conditionals lexer)) (setf depth (lexer-depth lexer)))
        (setf depth (lexer-depth lexer))
        (setf (lexer-size lexer) end)
        (let ((reached (lex-line lexer word-end)))
          (setf (lexer-size lexer) size)
          (truncate-brackets lexer depth)
          (setf (lexer-depth lexer) depth)
          (setf (aref (tokens-mates tokens) token) (tokens-count tokens))
          ;; a block comment that began on the line goes on after it
          (max reached end))))))

(defun lex-line (lexer i)
  "Lexes the rest of a directive: a message or an apostrophe in it must not swallow what follows."
  (let ((depth (lexer-depth lexer)))
    (prog1 (lex-comment-aware lexer i)
      (when (< (lexer-depth lexer) depth) (setf (lexer-depth lexer) depth)))))

(defun lex-comment-aware (lexer i)
  (let* ((end (lexer-size lexer)) (open (load-time-value (text-octets "/*"))) (close (load-time-value (text-octets "*/")))
         (reached (lex lexer i nil nil)) (tokens (lexer-tokens lexer)) (last (1- (tokens-comment-count tokens))))
    ;; the comment was cut at the line's end without being closed: take the rest of it
    (when (and (>= last 0) (= (comment-end tokens last) end)
               (looking-at lexer (comment-start tokens last) open)
               (not (looking-at lexer (- end 2) close)))
      (let ((size (tokens-size tokens)))
        (setf (lexer-size lexer) size)
        (let* ((found (find-octets lexer close end)) (stop (if found (+ found 2) size)))
          (count-lines lexer end stop)
          (setf (aref (tokens-comments tokens) (1+ (* 3 last))) stop
                reached stop))))
    reached))

;;; JSX: tags, attributes, and text that is no code

(defun tag-begins-p (lexer i)
  "Whether the `<' at I begins a JSX element: an operand is expected and a name, `>' or fragment follows."
  (declare (type index i))
  (let ((next (octet-at lexer (1+ i))))
    (and (or (<= 97 next 122) (<= 65 next 90) (= next 95) (= next 36) (= next 62))
         (opl.source.literals:expression-expected-p lexer i)
         (not (generic-arrow-p lexer (1+ i))))))

(defun generic-arrow-p (lexer i)
  "Whether `<T,', `<T extends', `<T =' or `<const T' follows: the type parameters of a function."
  (declare (type index i))
  (when (looking-at lexer i (load-time-value (text-octets "const "))) (return-from generic-arrow-p t))
  (loop while (word-octet-p (octet-at lexer i)) do (incf i))
  (let ((j i))
    (loop while (blank-octet-p (octet-at lexer j)) do (incf j))
    (or (= (octet-at lexer j) 44)
        (and (> j i) (= (octet-at lexer j) 61) (/= (octet-at lexer (1+ j)) 61 62))
        (and (> j i) (looking-at lexer j (load-time-value (text-octets "extends ")))
             (/= (octet-at lexer (+ j 8)) 61))
        (and (= (octet-at lexer j) 62) (= (octet-at lexer (1+ j)) 40) ; <T>(x) => …
             (let ((close (position 41 (lexer-octets lexer) :start (+ j 2) :end (min (lexer-size lexer) (+ j 200)))))
               (and close
                    (let ((after (position-if-not #'blank-octet-p (lexer-octets lexer) :start (1+ close)
                                                                                      :end (min (lexer-size lexer) (+ close 3)))))
                      (and after (or (= (octet-at lexer after) 58)
                                     (and (= (octet-at lexer after) 61) (= (octet-at lexer (1+ after)) 62)))))))))))

(defun take-braces (lexer i)
  "The code between the `{' at I and its `}'; the position after."
  (declare (type index i))
  (let ((bracket (emit lexer +punctuation+ i (1+ i) (known "{"))))
    (push-bracket lexer bracket)
    (incf (lexer-nesting lexer))
    (prog1 (if (> (lexer-nesting lexer) opl.source.literals::+deepest-interpolation+)
               (1+ i)
               (lex lexer (1+ i) 125 bracket))
      (decf (lexer-nesting lexer)))))

(defun type-arguments (lexer i)
  "The type arguments of a component, whose `<' is at I; the position after their `>'."
  (declare (type index i))
  (let ((depth 0) (limit (min (lexer-size lexer) (+ i 2000))))
    (declare (type fixnum depth))
    (loop
      (when (>= i limit) (return i))
      (let ((octet (octet-at lexer i)))
        (cond ((= octet 10) (incf (lexer-line lexer)) (incf i))
              ((<= octet 32) (incf i))
              ((and (= octet 62) (/= (previous-octet lexer i) 61))
               (setf i (operator lexer (lexer-syntax lexer) i))
               (when (<= (decf depth) 0) (return i)))
              ((= octet 60) (incf depth) (setf i (operator lexer (lexer-syntax lexer) i)))
              ((or (word-octet-p octet) (= octet 36))
               (let ((end i))
                 (loop while (or (word-octet-p (octet-at lexer end)) (= (octet-at lexer end) 36)) do (incf end))
                 (emit-identifier lexer i end)
                 (setf i end)))
              ((member octet '(34 39))
               (let ((end (min (1+ (find-octet lexer octet (1+ i))) (lexer-size lexer))))
                 (emit lexer +string+ i end +none+)
                 (setf i end)))
              (t (emit lexer +punctuation+ i (1+ i) (aref (syntax-singles (lexer-syntax lexer)) octet)) (incf i)))))))

(defun tag-attributes (lexer i)
  "From after the name of a tag to its end. Values: position after, and whether the tag closed itself."
  (declare (type index i))
  (loop
    (let ((octet (octet-at lexer i)))
      (cond ((>= i (lexer-size lexer)) (return (values i t)))
            ((= octet 10) (incf (lexer-line lexer)) (incf i))
            ((<= octet 32) (incf i))
            ((= octet 62) (emit lexer +tag+ i (1+ i) (known ">")) (return (values (1+ i) nil)))
            ((and (= octet 47) (= (octet-at lexer (1+ i)) 62))
             (emit lexer +tag+ i (+ i 2) (known "/>"))
             (return (values (+ i 2) t)))
            ((and (= octet 47) (member (octet-at lexer (1+ i)) '(47 42)))
             (setf i (or (try-openers lexer (svref (syntax-openers (lexer-syntax lexer)) 47) i) (1+ i))))
            ((= octet 123) (setf i (take-braces lexer i)))
            ((member octet '(34 39))
             (let ((end (min (1+ (find-octet lexer octet (1+ i))) (lexer-size lexer))))
               (emit lexer +string+ i end +none+)
               (count-lines lexer i end)
               (setf i end)))
            ((= octet 60)               ; type arguments of a component, or an element as a value
             (setf i (if (= (previous-kind lexer) +identifier+)
                         (type-arguments lexer i)
                         (markup-element lexer i))))
            ((or (word-octet-p octet) (= octet 36))
             (let ((end i))
               (loop while (or (word-octet-p (octet-at lexer end)) (= (octet-at lexer end) 45) (= (octet-at lexer end) 36))
                     do (incf end))
               (emit-identifier lexer i end)
               (setf i end)))
            (t (emit lexer +punctuation+ i (1+ i) (aref (syntax-singles (lexer-syntax lexer)) octet)) (incf i))))))

(defun close-tag (lexer i)
  "The closing tag at I; the position after."
  (declare (type index i))
  (emit lexer +tag+ i (+ i 2) (known "</"))
  (let ((end (find-octet lexer 62 i)))
    (count-lines lexer i (min end (lexer-size lexer)))
    (min (1+ end) (lexer-size lexer))))

(defun markup-element (lexer i)
  "The element at I with all that is in it; the position after."
  (declare (type index i))
  (let* ((open (emit lexer +tag+ i (1+ i) (known "<"))) (tokens (lexer-tokens lexer)))
    (incf i)
    (loop while (or (word-octet-p (octet-at lexer i)) (member (octet-at lexer i) '(46 36 45 58)))
          do (let ((end i))
               (loop while (or (word-octet-p (octet-at lexer end)) (member (octet-at lexer end) '(45 36 58))) do (incf end))
               (if (= end i)
                   (progn (emit lexer +punctuation+ i (1+ i) (known ".")) (incf i))
                   (progn (emit-identifier lexer i end) (setf i end)))))
    (incf (lexer-nesting lexer))
    (multiple-value-bind (after closed) (tag-attributes lexer i)
      (setf (aref (tokens-mates tokens) open) (1- (tokens-count tokens)))
      (prog1 (if (or closed (> (lexer-nesting lexer) 200)) after (markup-children lexer after))
        (decf (lexer-nesting lexer))))))

(defun markup-children (lexer i)
  "What stands between an opening tag and its closing one, which is taken too; the position after."
  (declare (type index i))
  (loop
    (when (>= i (lexer-size lexer)) (return i))
    (let ((octet (octet-at lexer i)))
      (cond ((= octet 10) (incf (lexer-line lexer)) (incf i))
            ((= octet 123) (setf i (take-braces lexer i)))
            ((and (= octet 60) (= (octet-at lexer (1+ i)) 47)) (return (close-tag lexer i)))
            ((and (= octet 60) (> (octet-at lexer (1+ i)) 32)) (setf i (markup-element lexer i)))
            (t (incf i))))))

;;; Files of which only parts are code

(defun find-fold (lexer text from)
  "Where the lower-case octets TEXT next stand in any case, or nil."
  (declare (type octets text) (type index from))
  (loop for i of-type index = (find-octet lexer (aref text 0) from) then (find-octet lexer (aref text 0) (1+ i))
        while (< (+ i (length text)) (lexer-size lexer))
        when (loop for j from 0 below (length text)
                   always (= (aref text j) (let ((o (octet-at lexer (+ i j)))) (if (<= 65 o 90) (+ o 32) o))))
          do (return i)))

(defun lex-sections (lexer)
  "The <script> sections of a Vue or Svelte file."
  (let ((i 0) (size (lexer-size lexer)) (open (load-time-value (text-octets "<script"))) (close (load-time-value (text-octets "</script"))))
    (loop
      (let* ((tag (find-fold lexer open i)) (start (and tag (find-octet lexer 62 tag))))
        (unless (and start (< start size)) (count-lines lexer i size) (return))
        (count-lines lexer i (1+ start))
        (let ((end (or (find-fold lexer close start) size)))
          (setf (lexer-size lexer) end)
          (lex lexer (1+ start) nil nil)
          (setf (lexer-size lexer) size (lexer-depth lexer) 0 i end))))))

(defun lex-php (lexer)
  (let ((open (find-octets lexer (text-octets "<?") 0)))
    (when open
      (count-lines lexer 0 open)
      (let ((from (+ open 2)))
        (cond ((looking-at lexer from (text-octets "php")) (incf from 3))
              ((= (octet-at lexer from) 61) (incf from)))
        (lex lexer from nil nil)))))

(defun name-tokens (tokens map)
  "Puts name numbers for the lexicon's local ones, and counts their uses as code in the lexicon."
  (declare (type tokens tokens) (type u32-vector map) (optimize (speed 3) (safety 0)))
  (let ((kinds (tokens-kinds tokens)) (names (tokens-names tokens)) (uses (lexicon-uses (tokens-lexicon tokens))))
    (declare (type u32-vector uses))
    (dotimes (i (tokens-count tokens))
      (let ((kind (aref kinds i)))
        (when (or (= kind +identifier+) (= kind +directive+))
          (let ((local (aref names i)))
            (when (< (ldb (byte 12 0) (aref uses local)) 4095) (incf (aref uses local))) ; as section `word' packs them
            (setf (aref names i) (aref map local))))))))

(defun scan (scanner octets size language names)
  "The tokens of OCTETS[0, SIZE), written in LANGUAGE, with the numbers of the arena NAMES. They live in
SCANNER and are overwritten by its next `scan'. A language without syntax gives no tokens."
  (declare (type lexer scanner) (type octets octets) (type index size))
  (let ((tokens (lexer-tokens scanner)))
    (tokens-reset tokens octets size language)
    (setf (lexer-octets scanner) octets (lexer-size scanner) size (lexer-line scanner) 1
          (lexer-syntax scanner) (language-syntax language) (lexer-depth scanner) 0
          (lexer-heredocs scanner) '() (lexer-conditionals scanner) '() (lexer-assumptions scanner) '() (lexer-nesting scanner) 0
          (lexer-formats scanner) nil)
    (when (language-syntax language)
      (ecase (language-markup language)
        ((nil) (lex scanner 0 nil nil))
        (:sections (lex-sections scanner))
        (:php (lex-php scanner))))
    (setf (lexer-size scanner) size)
    (setf (tokens-lines-total tokens) (lexer-line scanner)
          (tokens-map tokens) (lexicon-globalize (tokens-lexicon tokens) octets names))
    (name-tokens tokens (tokens-map tokens))
    tokens))
