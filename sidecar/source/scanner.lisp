;;;; The scanner: one pass over the octets of a file, driven by its language's table, into tokens.

(defpackage #:opl.source.scanner
  (:use #:cl #:opl.source.tokens #:opl.source.lexer #:opl.source.language)
  (:import-from #:opl.source.literals #:expression-expected-p #:+deepest-interpolation+)
  (:import-from #:opl.source.names #:octets #:u32-vector #:+none+ #:known #:lexicon-globalize #:lexicon-uses)
  (:export #:scan #:make-scanner))
(in-package #:opl.source.scanner)
(declaim (ftype function directive tag-begins-p markup-element)) ; preprocessor.lisp, markup.lisp

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
               ;; a line that goes on in the next
               ((and preprocessor (= octet 92) (member (octet-at lexer (1+ i)) '(10 13))) (incf i))
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
