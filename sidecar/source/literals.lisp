;;;; Literals: the ways in which languages write comments, strings, raw strings, interpolations, heredocs,
;;;; regular expressions, characters. Each maker below returns an action: a function of the lexer and the
;;;; position at which its opening text was seen; it returns the position after what it took, or nil when it
;;;; is something else after all. The language table pairs opening texts with actions.

(defpackage #:opl.source.literals
  (:use #:cl #:opl.source.tokens #:opl.source.lexer)
  (:import-from #:opl.source.names #:octets #:+none+ #:known)
  (:export #:line-comment #:block-comment #:string-literal #:raw-string #:hash-raw-string #:delimited-raw-string
           #:long-bracket #:long-comment #:dollar-quote #:heredoc #:php-heredoc #:character-or-lifetime #:character-or-prime
           #:character-literal #:regexp-literal #:lisp-character #:block-at-line-start #:end-of-text #:quoted-by-word
           #:percent-literal #:sigil #:question-character #:line-string #:word-comment #:php-close #:take-interpolation
           #:dash-comment #:quote-symbol #:expression-expected-p))
(in-package #:opl.source.literals)

(defun line-comment (&key (unless-next "") until)
  "To the end of the line; not when one of the characters UNLESS-NEXT follows the opening text; UNTIL: text
that ends it sooner and is not part of it."
  (let ((unless (text-octets unless-next)) (until (and until (text-octets until))))
    (lambda (lexer start length)
      (declare (type index start length))
      (unless (find (octet-at lexer (+ start length)) unless)
        (let* ((end (line-end lexer start))
               (stop (and until (find-octets lexer until start))))
          (comment lexer start (if (and stop (< stop end)) stop end)))))))

(defun word-comment ()
  "A comment only where a word may begin: after a blank or at the start of a line (`#' of a shell)."
  (lambda (lexer start length)
    (declare (ignore length))
    (when (member (previous-octet lexer start) '(0 32 9 10 59 40 38 124 96))
      (comment lexer start (line-end lexer start)))))

(defun dash-comment ()
  "`--' of Haskell: no operator character may follow the dashes."
  (lambda (lexer start length)
    (declare (ignore length))
    (let ((i start))
      (loop while (= (octet-at lexer i) 45) do (incf i))
      (unless (or (find (octet-at lexer i) #.(map 'vector #'char-code "!#$%&*+./<=>?@\\^|~:"))
                  (find (previous-octet lexer start) #.(map 'vector #'char-code "!#$%&*+./<=>?@\\^|~:")))
        (comment lexer start (line-end lexer start))))))

(defun block-comment (close &key nested open)
  "To CLOSE, or the end of the file; NESTED: every OPEN within wants its own CLOSE."
  (let ((close (text-octets close)) (open (and open (text-octets open))))
    (declare (type octets close))
    (lambda (lexer start length)
      (declare (type lexer lexer) (type index start length) (optimize (speed 2) (safety 0)))
      (let ((depth 1) (i (+ start length)) (size (lexer-size lexer)) (octets (lexer-octets lexer))
            (first (aref close 0)))
        (declare (type index i depth size))
        (loop
          (when (>= i size) (return (comment lexer start size)))
          (cond ((and (= (aref octets i) first) (looking-at lexer i close))
                 (incf i (length close))
                 (when (zerop (decf depth)) (return (comment lexer start i))))
                ((and nested (= (aref octets i) (aref (the octets open) 0)) (looking-at lexer i (the octets open)))
                 (incf depth) (incf i (length (the octets open))))
                (t (incf i))))))))

(defun block-at-line-start (close-line)
  "A block that starts at the first column and ends with the line that begins with CLOSE-LINE (`=cut', `=end')."
  (let ((close (text-octets (format nil "~%~A" close-line))))
    (lambda (lexer start length)
      (declare (ignore length))
      (when (member (previous-octet lexer start) '(0 10))
        (let ((end (find-octets lexer close start)))
          (comment lexer start (if end (line-end lexer (1+ end)) (lexer-size lexer))))))))

(defun end-of-text ()
  "Everything from here on is data (`__END__')."
  (lambda (lexer start length)
    (declare (type index start length))
    (when (and (member (previous-octet lexer start) '(0 10))
               (member (octet-at lexer (+ start length)) '(0 10 13)))
      (comment lexer start (lexer-size lexer)))))

;;; Strings

(defun take-interpolation (lexer i open closer formats)
  "Lexes code between the interpolation opening OPEN (octets) at I and the octet CLOSER; the position after."
  (declare (type lexer lexer) (type index i) (type octets open))
  (let* ((from (+ i 1 (position-if (lambda (octet) (find octet #(40 91 123))) open))) ; `{$' of PHP leaves `$' to the name
         (bracket (emit lexer +punctuation+ i from (known "${")))
         (formats-before (lexer-formats lexer)))
    (push-bracket lexer bracket)
    (incf (lexer-nesting lexer))
    (setf (lexer-formats lexer) (and formats (lexer-depth lexer)))
    (prog1 (funcall (the function (lexer-continue lexer)) lexer from closer bracket)
      (setf (lexer-formats lexer) formats-before)
      (decf (lexer-nesting lexer)))))

(defconstant +deepest-interpolation+ 40
  "Interpolations within one another beyond which text is taken as text; deeper ones occur in attacks only.")

(defstruct (spelling (:constructor make-spelling (close escape double multiline interpolations formats doubled)))
  "How a string is written; see `string-literal'."
  (close #() :type octets) (escape -1 :type fixnum) double multiline interpolations formats doubled)

(defun string-literal (close &key (escape #\\) multiline interpolations formats unless-doubled)
  "A string up to CLOSE. ESCAPE: the character that takes the next one along, nil for none, or :double when
CLOSE twice stands for itself. MULTILINE: line ends may stand in it; otherwise a line end ends it.
INTERPOLATIONS: list of (open . closing character). FORMATS: in an interpolation `:' and `!' begin a format.
UNLESS-DOUBLED: an interpolation's opening character twice stands for itself."
  (let ((spelling (make-spelling (text-octets close) (if (characterp escape) (char-code escape) -1)
                                 (eq escape :double) multiline
                                 (loop for (open . closer) in interpolations
                                       collect (cons (text-octets open) (char-code closer)))
                                 formats unless-doubled)))
    (lambda (lexer start length)
      (declare (type index start length))
      (take-spelled lexer spelling start (+ start length)))))

(defun take-spelled (lexer spelling start i)
  "Emits the string that began at START and whose content begins at I; the position after."
  (declare (type lexer lexer) (type spelling spelling) (type index start i))
  (let ((head nil) (piece start) (line (lexer-line lexer)))
    (loop
      (multiple-value-bind (end interpolation) (string-piece-end lexer spelling i)
        (let ((token (emit lexer +string+ piece end +none+ line))
              (mates (tokens-mates (lexer-tokens lexer))))
          (cond (interpolation
                 (unless head (setf head token))
                 (setf i (take-interpolation lexer end (car interpolation) (cdr interpolation) (spelling-formats spelling))
                       piece i
                       line (lexer-line lexer)))
                (t (when head (setf (aref mates head) token (aref mates token) head))
                   (return end))))))))

(defun string-piece-end (lexer spelling i)
  "Where the piece of a string that goes on at I ends: after its closing text, or at an interpolation, which is
the second value."
  (declare (type lexer lexer) (type spelling spelling) (type index i) (optimize (speed 2) (safety 0)))
  (let* ((octets (lexer-octets lexer)) (size (lexer-size lexer)) (close (spelling-close spelling))
         (first (aref close 0)) (escape (spelling-escape spelling)) (interpolations (spelling-interpolations spelling)))
    (declare (type index size))
    (loop
      (when (>= i size) (return size))
      (let ((octet (aref octets i)))
        (cond ((= octet 10)
               (unless (spelling-multiline spelling) (return i))
               (incf (lexer-line lexer))
               (incf i))
              ((and (= octet first) (looking-at lexer i close))
               (if (and (spelling-double spelling) (looking-at lexer (+ i (length close)) close))
                   (incf i (* 2 (length close)))
                   (return (+ i (length close)))))
              (t
               (let ((interpolation (and interpolations (assoc-looking-at lexer i interpolations))))
                 (cond ((and interpolation (spelling-doubled spelling) (= (octet-at lexer (1+ i)) octet)) (incf i 2))
                       ((and interpolation (< (lexer-nesting lexer) +deepest-interpolation+))
                        (return (values i interpolation)))
                       ((= octet escape)
                        (when (= (octet-at lexer (1+ i)) 10) (incf (lexer-line lexer)))
                        (setf i (min size (+ i 2))))
                       (t (incf i))))))))))

(defun assoc-looking-at (lexer i interpolations)
  (declare (type lexer lexer) (type index i))
  (let ((octet (octet-at lexer i)))
    (loop for interpolation in interpolations
          for open of-type octets = (car interpolation)
          when (and (= (aref open 0) octet) (looking-at lexer i open))
            do (return interpolation))))

(defun raw-string (close) (string-literal close :escape nil :multiline t))

(defun take-string (lexer start end)
  "Emits [START, END) as one string token."
  (emit lexer +string+ start end +none+)
  (count-lines lexer start end)
  end)

(defun hash-raw-string ()
  "r#\"…\"# of Rust, #\"…\"# of Swift: as many hashes at the end as at the start. START is at the first letter
or hash, the opening text ends with a hash. Rust's r#name is an identifier."
  (lambda (lexer start length)
    (declare (type index start length))
    (let* ((i (+ start length)) (hashes 1))
      (loop while (= (octet-at lexer i) 35) do (incf i) (incf hashes))
      (when (= (octet-at lexer i) 34)
        (let* ((close (concatenate 'octets #(34) (make-list hashes :initial-element 35)))
               (end (find-octets lexer close (1+ i))))
          (take-string lexer start (if end (+ end (length close)) (lexer-size lexer))))))))

(defun delimited-raw-string ()
  "R\"delimiter(…)delimiter\" of C++."
  (lambda (lexer start length)
    (declare (type index start length))
    (let* ((open (+ start length)) (parenthesis (find-octet lexer 40 open)))
      (when (<= (- parenthesis open) 16)
        (let* ((close (concatenate 'octets #(41) (subseq (lexer-octets lexer) open parenthesis) #(34)))
               (end (find-octets lexer close parenthesis)))
          (take-string lexer start (if end (+ end (length close)) (lexer-size lexer))))))))

(defun long-bracket-end (lexer i)
  "When [[ or [=…[ stands at I, where its closing bracket ends."
  (declare (type index i))
  (let ((j (1+ i)) (level 0))
    (loop while (= (octet-at lexer j) 61) do (incf j) (incf level))
    (when (and (= (octet-at lexer i) 91) (= (octet-at lexer j) 91))
      (let* ((close (concatenate 'octets #(93) (make-list level :initial-element 61) #(93)))
             (end (find-octets lexer close (1+ j))))
        (if end (+ end (length close)) (lexer-size lexer))))))

(defun long-bracket ()
  "[[…]] and [=[…]=] of Lua."
  (lambda (lexer start length)
    (declare (ignore length))
    (let ((end (long-bracket-end lexer start))) (and end (take-string lexer start end)))))

(defun long-comment ()
  "--[[…]] of Lua, a line comment otherwise."
  (lambda (lexer start length)
    (declare (type index start length))
    (comment lexer start (or (long-bracket-end lexer (+ start length)) (line-end lexer start)))))

(defun dollar-quote ()
  "$tag$…$tag$ of SQL."
  (lambda (lexer start length)
    (declare (type index start length))
    (let ((i (+ start length)))
      (loop while (word-octet-p (octet-at lexer i)) do (incf i))
      (when (= (octet-at lexer i) 36)
        (let* ((close (subseq (lexer-octets lexer) start (1+ i))) (end (find-octets lexer close (1+ i))))
          (take-string lexer start (if end (+ end (length close)) (lexer-size lexer))))))))

(defun line-string ()
  "To the end of the line (`\\\\' of Zig)."
  (lambda (lexer start length)
    (declare (ignore length))
    (take-string lexer start (line-end lexer start))))

;;; Heredocs: the body starts on the line after and ends with a line that holds the word alone.

(defun heredoc-word (lexer i)
  "The word of a heredoc at I, quoted or not: start, end, position after, whether it is quoted by '; or nil."
  (declare (type index i))
  (let ((quote (octet-at lexer i)))
    (if (member quote '(39 34 96))
        (let ((end (find-octet lexer quote (1+ i))))
          (and (< end (line-end lexer i)) (> end (1+ i)) (values (1+ i) end (1+ end) (= quote 39))))
        (let ((end i))
          (when (= quote 92) (incf i) (incf end))
          (loop while (word-octet-p (octet-at lexer end)) do (incf end))
          (and (> end i) (values i end end nil))))))

(defun heredoc-end (lexer from word indented)
  "Start of the line that closes a heredoc of WORD, and the position after the word; the end of file if none."
  (declare (type index from) (type octets word))
  (let ((size (lexer-size lexer)))
    (loop with i of-type index = from
          while (< i size)
          do (let ((j i))
               (when indented (loop while (blank-octet-p (octet-at lexer j)) do (incf j)))
               (when (and (looking-at lexer j word) (not (word-octet-p (octet-at lexer (+ j (length word))))))
                 (return (values i (+ j (length word)))))
               (setf i (min size (1+ (line-end lexer i)))))
          finally (return (values size size)))))

(defun take-heredoc-body (lexer from end after interpolations)
  "Emits the body [FROM, END) as string pieces with the code of INTERPOLATIONS between; AFTER, where to go on."
  (declare (type index from end after))
  (let ((size (lexer-size lexer)))
    (cond (interpolations
           (setf (lexer-size lexer) end)
           (let ((reached (funcall (string-literal (string (code-char 0)) :multiline t :interpolations interpolations)
                                   lexer from 0)))
             (setf (lexer-size lexer) size)
             (count-lines lexer (max reached end) after)))
          (t (take-string lexer from end) (count-lines lexer end after)))
    after))

(defconstant +most-heredocs+ 20 "Heredocs that begin on one line.")

(defun heredoc (&key marks interpolations (expression-only nil) always-indented)
  "<<WORD. MARKS: characters that may stand between (`-' `~'), which let the closing word be indented;
ALWAYS-INDENTED: it may be so without a mark;
EXPRESSION-ONLY: only where an operand is expected (in Ruby and Perl `<<' also shifts)."
  (let ((marks (text-octets marks)))
    (lambda (lexer start length)
      (declare (type index start length))
      (let* ((i (+ start length)) (indented (find (octet-at lexer i) marks)))
        (when indented (incf i))
        (when always-indented (setf indented t))
        (multiple-value-bind (word-start word-end after literal) (heredoc-word lexer i)
          (when (and word-start
                     (< (length (lexer-heredocs lexer)) +most-heredocs+)
                     (or (not expression-only)
                         indented (/= after word-end)
                         (and (<= 65 (octet-at lexer word-start) 90) (expression-expected-p lexer start))
                         (and (<= 65 (octet-at lexer word-start) 90) (blank-octet-p (previous-octet lexer start)))))
            (let ((word (subseq (lexer-octets lexer) word-start word-end)))
              (emit lexer +string+ start after +none+)
              (setf (lexer-heredocs lexer)
                    (append (lexer-heredocs lexer)
                            (list (lambda (lexer from)
                                    (multiple-value-bind (end beyond) (heredoc-end lexer from word indented)
                                      (take-heredoc-body lexer from end beyond
                                                         (and (not literal) interpolations)))))))
              after)))))))

(defun php-heredoc ()
  "<<<WORD of PHP: the closing word may be indented and be followed by more of the statement."
  (heredoc :marks " " :interpolations '(("{$" . #\})) :always-indented t))

;;; Characters

(defun character-literal ()
  "'x', '\\n', '\\u{1F600}': a character, on one line."
  (string-literal "'"))

(defun character-or-lifetime ()
  "Rust and its like: 'a' is a character, 'a a lifetime (one token of kind character, so that it is no name)."
  (lambda (lexer start length)
    (declare (ignore length) (type index start))
    (let ((next (octet-at lexer (1+ start))))
      (cond ((= next 92)                ; '\n'
             (let ((end (find-octet lexer 39 (+ start 3))))
               (emit lexer +character+ start (min (1+ end) (lexer-size lexer)) +none+)
               (min (1+ end) (lexer-size lexer))))
            ((and (word-octet-p next) (< next 128) (/= (octet-at lexer (+ start 2)) 39))
             (let ((end (1+ start)))
               (loop while (word-octet-p (octet-at lexer end)) do (incf end))
               (emit lexer +character+ start end +none+)
               end))
            (t (let ((end (position 39 (lexer-octets lexer) :start (min (1+ start) (lexer-size lexer))
                                                            :end (min (+ start 8) (lexer-size lexer)))))
                 (when (and end (= next 39)) (setf end (if (= (octet-at lexer (+ start 2)) 39) (+ start 2) end)))
                 (when end (emit lexer +character+ start (1+ end) +none+) (1+ end))))))))

(defun character-or-prime ()
  "Languages in which ' also ends an identifier, transposes, or begins a type variable or symbol: a character
only when a quote closes it after one character or escape."
  (lambda (lexer start length)
    (declare (ignore length) (type index start))
    (let ((next (octet-at lexer (1+ start))))
      (cond ((and (= next 92) (/= (octet-at lexer (+ start 2)) 10))
             (let ((end (find-octet lexer 39 (+ start 3))))
               (when (< end (min (+ start 14) (line-end lexer start)))
                 (emit lexer +character+ start (1+ end) +none+)
                 (1+ end))))
            ((and (/= next 10) (/= next 39))
             (let ((end (position 39 (lexer-octets lexer) :start (min (+ start 2) (lexer-size lexer))
                                                          :end (min (lexer-size lexer) (+ start (if (< next 128) 3 6))))))
               (when end (emit lexer +character+ start (1+ end) +none+) (1+ end))))))))

(defun quote-symbol ()
  "' of a Lisp: a quote, nothing more."
  (lambda (lexer start length)
    (declare (ignore length))
    (emit lexer +punctuation+ start (1+ start) (known "'"))
    (1+ start)))

(defun lisp-character ()
  "#\\x, #\\Newline; \\x of Clojure."
  (lambda (lexer start length)
    (declare (type index start length))
    (let ((end (+ start length 1)))
      (when (and (<= end (lexer-size lexer)) (>= (octet-at lexer (1- end)) 128))
        (loop while (<= 128 (octet-at lexer end) 191) do (incf end)))
      (when (word-octet-p (octet-at lexer (1- end)))
        (loop while (word-octet-p (octet-at lexer end)) do (incf end)))
      (setf end (min end (lexer-size lexer)))
      (emit lexer +character+ start end +none+)
      (count-lines lexer start end)
      end)))

(defun question-character ()
  "?x of Ruby and Elixir, where an operand is expected and no word follows."
  (lambda (lexer start length)
    (declare (ignore length) (type index start))
    (let ((next (octet-at lexer (1+ start))))
      (when (and (> next 32) (expression-expected-p lexer start)
                 (not (word-octet-p (octet-at lexer (+ start (if (= next 92) 3 2))))))
        (let ((end (min (lexer-size lexer) (+ start (if (= next 92) 3 2)))))
          (emit lexer +character+ start end +none+)
          end)))))

;;; Regular expressions and quote-like operators

(defparameter *operand-keywords*
  (mapcar #'text-octets '("return" "typeof" "instanceof" "in" "of" "new" "delete" "void" "throw" "case" "do" "else"
                          "yield" "await" "default" "and" "or" "not" "if" "unless" "while" "until" "when" "then" "elsif"
                          "split" "grep" "map" "join" "puts" "x" "extends")))

(defparameter *condition-keywords* (mapcar #'text-octets '("if" "while" "for" "with" "until" "unless")))

(defun expression-expected-p (lexer start)
  "Whether an operand may begin at START, by the token before."
  (declare (ignore start))
  (let* ((tokens (lexer-tokens lexer)) (last (1- (tokens-count tokens))))
    (case (token-kind tokens last)
      (255 t)
      (#.+punctuation+
       (cond ((token-is tokens last ")")
              (let ((open (token-mate tokens last)))
                (and (/= open +none+) (> open 0) (/= (token-kind tokens (1- open)) +punctuation+)
                     (previous-word-in lexer *condition-keywords* (- (tokens-count tokens) (1- open))))))
             ((token-is tokens last "]") nil)
             ((token-is tokens last "}") t)
             ((token-is tokens last "++" "--") nil)
             ((token-is tokens last "!") t)
             (t t)))
      (#.+identifier+
       (and (previous-word-in lexer *operand-keywords*)
            (not (and (> last 0) (= (token-kind tokens (1- last)) +punctuation+)
                      (token-is tokens (1- last) "." "?.")))))
      (#.+tag+ (or (token-is tokens last "<") t))
      (#.+directive+ t)
      (t nil))))

(defconstant +longest-regexp+ 4000
  "Octets within which a regular expression of several lines has to end; written ones stay below 1500.")

(defun regexp-end (lexer i close &optional multiline)
  "Position after the closing octet CLOSE of a regular expression that begins at I, or nil if its line ends first;
MULTILINE: if it goes on for too long."
  (declare (type index i))
  (let ((class nil) (last (+ i +longest-regexp+)))
    (declare (type index last))
    (loop
      (let ((octet (octet-at lexer i)))
        (cond ((or (and (= octet 10) (not multiline)) (= octet 0) (> i last)) (return nil))
              ((= octet 92) (incf i 2))
              ((= octet 91) (setf class t) (incf i))
              ((= octet 93) (setf class nil) (incf i))
              ((and (= octet close) (not class)) (return (1+ i)))
              (t (incf i)))))))

(defun regexp-literal (&key spaced)
  "/…/flags where an operand is expected. SPACED (Ruby, whose calls need no parentheses and whose lines end
statements): at the start of a line, and after an identifier when a blank stands before the slash and none after;
it may have several lines."
  (lambda (lexer start length)
    (declare (ignore length) (type index start))
    (let ((expected (or (expression-expected-p lexer start) (and spaced (line-start-p lexer start)))))
      (when (or expected
                (and spaced (= (previous-kind lexer) +identifier+) (blank-octet-p (previous-octet lexer start))
                     (not (member (octet-at lexer (1+ start)) '(32 9 61)))))
        (let ((end (or (regexp-end lexer (1+ start) 47)
                       (and spaced expected (regexp-end lexer (1+ start) 47 t)))))
          (when end
            (loop while (<= 97 (octet-at lexer end) 122) do (incf end))
            (emit lexer +regexp+ start end +none+)
            (count-lines lexer start end)
            end))))))

(defun closing-octet (octet)
  (case octet (40 41) (91 93) (123 125) (60 62) (t octet)))

(defconstant +longest-delimited+ 16384
  "Octets within which a delimited text has to end: an unclosed one is looked for to its end each time.")

(defun skip-delimited (lexer i)
  "Position after the delimited text whose opening delimiter stands at I (nesting brackets), or nil."
  (declare (type lexer lexer) (type index i) (optimize (speed 3) (safety 0)))
  (let* ((octets (lexer-octets lexer)) (open (octet-at lexer i)) (close (closing-octet open)) (depth 1)
         (last (min (lexer-size lexer) (+ i +longest-delimited+))))
    (declare (type index last depth) (type (unsigned-byte 8) open close))
    (when (or (<= open 32) (word-octet-p open)) (return-from skip-delimited nil))
    (incf i)
    (loop
      (when (>= i last) (return nil))
      (let ((octet (aref octets i)))
        (cond ((= octet 92) (incf i 2))
              ((= octet close) (incf i) (when (zerop (decf depth)) (return (min i (lexer-size lexer)))))
              ((= octet open) (incf depth) (incf i))
              (t (incf i)))))))

(defun quoted-by-word (parts)
  "q(…), m{…}, s/…/…/ of Perl: the opening text is the word, PARTS the number of delimited texts."
  (lambda (lexer start length)
    (declare (type index start length))
    (let ((i (+ start length)) (after nil))
      (unless (or (word-octet-p (octet-at lexer i)) (word-octet-p (previous-octet lexer start))
                  (find (previous-octet lexer start) #.(map 'vector #'char-code "$@%&{->"))
                  (= (octet-at lexer i) 44) (= (octet-at lexer i) 59) (= (octet-at lexer i) 41))
        (loop while (and (blank-octet-p (octet-at lexer i)) (/= (octet-at lexer (1+ i)) 61)) do (incf i))
        (unless (or (= (octet-at lexer i) 61) (and (= (octet-at lexer i) 45) (= (octet-at lexer (1+ i)) 62)))
          (setf after (skip-delimited lexer i))
          (when (and after (= parts 2))
            (if (= (closing-octet (octet-at lexer i)) (octet-at lexer i))
                (setf after (skip-delimited lexer (1- after)))
                (progn (loop while (member (octet-at lexer after) '(32 9 10 13)) do (incf after))
                       (setf after (skip-delimited lexer after)))))
          (when after
            (loop while (<= 97 (octet-at lexer after) 122) do (incf after))
            (take-string lexer start after)))))))

(defun percent-literal ()
  "%w[…] %i(…) %q{…} %(…) of Ruby, where an operand is expected."
  (lambda (lexer start length)
    (declare (ignore length) (type index start))
    (let* ((letter (find (octet-at lexer (1+ start)) #.(map 'vector #'char-code "wWiIqQrsx")))
           (i (+ start (if letter 2 1))))
      (when (and (find (octet-at lexer i) #.(map 'vector #'char-code "([{<|!/^"))
                 (or (expression-expected-p lexer start)
                     (line-start-p lexer start)
                     (and (= (previous-kind lexer) +identifier+)
                          (or letter (= (octet-at lexer i) 40))
                          (blank-octet-p (previous-octet lexer start)))))
        (let ((end (skip-delimited lexer i)))
          (when end (take-string lexer start end)))))))

(defun sigil ()
  "~r/…/ ~s(…) ~w[…] ~S\"\"\"…\"\"\" of Elixir."
  (let ((double (text-octets "\"\"\"")) (single (text-octets "'''")))
    (lambda (lexer start length)
      (declare (ignore length) (type index start))
      (let ((i (1+ start)))
        (loop while (and (word-octet-p (octet-at lexer i)) (< (octet-at lexer i) 128)) do (incf i))
        (when (> i (1+ start))
          (let* ((triple (cond ((looking-at lexer i double) double) ((looking-at lexer i single) single)))
                 (end (if triple
                          (let ((close (find-octets lexer triple (+ i 3)))) (and close (+ close 3)))
                          (skip-delimited lexer i))))
            (when end
              (loop while (<= 97 (octet-at lexer end) 122) do (incf end))
              (take-string lexer start end))))))))

(defun php-close ()
  "?> of PHP: text up to the next <?php or <?= is not code."
  (lambda (lexer start length)
    (declare (type index start length))
    (let* ((open (find-octets lexer (text-octets "<?") (+ start length)))
           (from (if open (+ open 2) (lexer-size lexer)))
           (from (cond ((looking-at lexer from (text-octets "php")) (+ from 3))
                       ((= (octet-at lexer from) 61) (1+ from))
                       (t from))))
      (take-string lexer start (min from (lexer-size lexer))))))
