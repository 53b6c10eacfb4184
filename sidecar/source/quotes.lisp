;;;; Quotes: characters, symbols, regular expressions and the quote-like operators of Perl, Ruby and Elixir. Makers of actions, as in
;;;; literals.lisp.

(defpackage #:opl.source.quotes
  (:use #:cl #:opl.source.tokens #:opl.source.lexer #:opl.source.literals)
  (:import-from #:opl.source.names #:+none+ #:known)
  (:export #:character-literal #:character-or-lifetime #:character-or-prime #:quote-symbol #:lisp-character #:question-character
           #:regexp-literal #:quoted-by-word #:percent-literal #:sigil #:php-close))
(in-package #:opl.source.quotes)

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
