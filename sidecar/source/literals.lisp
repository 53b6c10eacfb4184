;;;; Literals: the ways in which languages write comments, strings, raw strings, interpolations, heredocs
;;;; (characters and regular expressions: quotes.lisp). Each maker below returns an action: a function of the lexer and the
;;;; position at which its opening text was seen; it returns the position after what it took, or nil when it
;;;; is something else after all. The language table pairs opening texts with actions.

(defpackage #:opl.source.literals
  (:use #:cl #:opl.source.tokens #:opl.source.lexer)
  (:import-from #:opl.source.names #:octets #:+none+ #:known)
  (:export #:quoted-name #:line-comment #:block-comment #:string-literal #:raw-string #:hash-raw-string #:delimited-raw-string
           #:long-bracket #:long-comment #:dollar-quote #:heredoc #:php-heredoc #:block-at-line-start #:end-of-text #:line-string
           #:word-comment #:dash-comment #:take-string #:expression-expected-p #:+deepest-interpolation+))
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

(defun raw-string (close)
  "The string literal that runs to CLOSE, over lines, in which nothing is escaped."
  (string-literal close :escape nil :multiline t))

(defun quoted-name ()
  "A name between backquotes on one line, which may hold anything else: the name is what stands between them."
  (lambda (lexer start length)
    (declare (type index start length))
    (let* ((from (+ start length)) (end (find-octet lexer 96 from)))
      (when (and (> end from) (< end (lexer-size lexer)) (< end (line-end lexer from)))
        (emit-identifier lexer from end)
        (1+ end)))))

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

;;; Whether an operand may begin: tells `/' and `<<' of a literal from the operators

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
