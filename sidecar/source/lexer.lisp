;;;; The lexer's state while it runs over one file: position, line, open brackets, heredocs to come.
;;;; What a comment or string looks like is the language table's business; see literals.lisp.

(defpackage #:opl.source.lexer
  (:use #:cl #:opl.source.tokens)
  (:import-from #:opl.source.names #:octets #:u32-vector #:make-u32 #:make-octets #:+none+ #:known
                #:lexicon-intern)
  (:export #:lexer #:make-lexer #:lexer-tokens #:lexer-octets #:lexer-size #:lexer-line #:lexer-depth #:lexer-stack
           #:lexer-heredocs #:lexer-continue #:lexer-syntax #:lexer-nesting #:lexer-conditionals #:lexer-assumptions #:lexer-formats
           #:index #:octet-at #:looking-at #:count-lines #:emit #:emit-identifier #:push-bracket #:pop-bracket
           #:find-octet #:find-octets #:line-end #:blank-octet-p #:word-octet-p #:previous-kind
           #:previous-octet #:comment #:line-start-p #:truncate-brackets #:text-octets #:previous-word-in))
(in-package #:opl.source.lexer)

(deftype index () '(integer 0 #.(ash most-positive-fixnum -2)))

(defstruct lexer
  (tokens (make-tokens) :type tokens)
  (octets (make-octets 0) :type octets)
  (size 0 :type index)
  (line 1 :type index)
  (syntax nil)
  (stack (make-u32 256) :type u32-vector)          ; ordinals of open brackets
  (depth 0 :type index)
  (heredocs '() :type list)                        ; functions (lexer position) => position, called at the line's end
  (conditionals '() :type list)                    ; of the #if around
  (assumptions '() :type list)                     ; (octets of a macro's name . whether held for defined)
  (nesting 0 :type index)                          ; interpolations within interpolations
  (formats nil)                                    ; whether `:' ends the expression of the interpolation in hand
  (continue nil))                                  ; function (lexer position closer limit) => position

(declaim (inline octet-at blank-octet-p word-octet-p))
(defun octet-at (lexer i)
  "The octet at I, 0 at the end."
  (declare (type lexer lexer) (type index i) (optimize (speed 2) (safety 0)))
  (if (< i (lexer-size lexer)) (aref (lexer-octets lexer) i) 0))
(defun blank-octet-p (octet)
  "Whether OCTET is a space or a tab; ends of lines are not."
  (or (= octet 32) (= octet 9)))
(defun word-octet-p (octet)
  "Whether OCTET may be in an identifier; all of UTF-8 beyond ASCII may."
  (or (<= 97 octet 122) (<= 65 octet 90) (<= 48 octet 57) (= octet 95) (>= octet 128)))

(defun text-octets (string)
  "STRING, of Latin-1 characters, an octet for each."
  (map 'octets #'char-code string))

(defun looking-at (lexer i text)
  "Whether the octets TEXT stand at I."
  (declare (type lexer lexer) (type index i) (type octets text) (optimize (speed 2) (safety 0)))
  (let ((octets (lexer-octets lexer)) (length (length text)))
    (and (<= (+ i length) (lexer-size lexer))
         (loop for j of-type index below length
               always (= (aref text j) (aref octets (+ i j)))))))

(defun find-octet (lexer octet from)
  "Where OCTET next stands, at FROM or after, or the size of the file."
  (declare (type lexer lexer) (type (unsigned-byte 8) octet) (type index from) (optimize (speed 3) (safety 0)))
  (let ((octets (lexer-octets lexer)) (size (lexer-size lexer)))
    (loop for i of-type index from from below size
          when (= (aref octets i) octet) do (return i)
          finally (return size))))

(defun find-octets (lexer text from)
  "Where the octets TEXT next stand, or nil."
  (declare (type lexer lexer) (type octets text) (type index from))
  (loop for i of-type index = (find-octet lexer (aref text 0) from) then (find-octet lexer (aref text 0) (1+ i))
        while (< i (lexer-size lexer))
        when (looking-at lexer i text) do (return i)))

(declaim (inline line-end))
(defun line-end (lexer from)
  "Where the line that FROM is in ends: its LF, or the size of the file."
  (find-octet lexer 10 from))

(defun count-lines (lexer from to)
  "Adds the line ends in [FROM, TO) to the lexer's line."
  (declare (type lexer lexer) (type index from to) (optimize (speed 3) (safety 0)))
  (let ((octets (lexer-octets lexer)) (lines 0))
    (declare (type index lines))
    (loop for i of-type index from from below to
          when (= (aref octets i) 10) do (incf lines))
    (incf (lexer-line lexer) lines)))

(defun line-start-p (lexer i)
  "Whether only blanks stand between the start of the line and I."
  (declare (type lexer lexer) (type index i))
  (loop for j of-type fixnum from (1- i) downto 0
        for octet = (aref (lexer-octets lexer) j)
        do (cond ((= octet 10) (return t))
                 ((not (blank-octet-p octet)) (return nil)))
        finally (return t)))

(declaim (inline emit emit-identifier))
(defun emit (lexer kind start end name &optional (line (lexer-line lexer)))
  "Adds a token over the octets [START, END), called by local number NAME."
  (emit-token (lexer-tokens lexer) kind start end line name))
(defun emit-identifier (lexer start end)
  "Adds the octets [START, END) as an identifier, by their number in the lexicon."
  (declare (type lexer lexer) (type index start end) (optimize (speed 2) (safety 0)))
  (let* ((tokens (lexer-tokens lexer)) (lexicon (tokens-lexicon tokens))
         (local (lexicon-intern lexicon (lexer-octets lexer) start end)))
    (declare (type (unsigned-byte 32) local))
    (emit-token tokens +identifier+ start end (lexer-line lexer) local)))

(defun comment (lexer start end)
  "Records a comment and counts its lines; END, where to go on."
  (declare (type lexer lexer) (type index start end))
  (add-comment (lexer-tokens lexer) start end (lexer-line lexer))
  (count-lines lexer start end)
  end)

;;; Brackets. A closing one takes the nearest open one of its shape; what was opened since stays unmatched.

(defun push-bracket (lexer token)
  "Notes that TOKEN, by its number, opens a bracket."
  (declare (type lexer lexer) (type index token))
  (when (= (lexer-depth lexer) (length (lexer-stack lexer)))
    (setf (lexer-stack lexer)
          (replace (make-u32 (* 2 (length (lexer-stack lexer)))) (lexer-stack lexer))))
  (setf (aref (lexer-stack lexer) (lexer-depth lexer)) token)
  (incf (lexer-depth lexer)))

(defun opens-with-p (opener closer)
  "Whether a bracket that begins with octet OPENER (the last octet of its text) is closed by CLOSER."
  (case closer (41 (= opener 40)) (93 (= opener 91)) (125 (= opener 123))))

(defun pop-bracket (lexer token closer floor)
  "Makes TOKEN, whose octet is CLOSER, the mate of an open bracket above depth FLOOR; the bracket, or nil."
  (declare (type lexer lexer) (type index token floor) (optimize (speed 2) (safety 0)))
  (let* ((tokens (lexer-tokens lexer)) (octets (lexer-octets lexer)) (stack (lexer-stack lexer)))
    (loop for d of-type fixnum from (1- (lexer-depth lexer)) downto floor
          for open = (aref stack d)
          when (opens-with-p (aref octets (1- (aref (tokens-ends tokens) open))) closer)
            do (setf (aref (tokens-mates tokens) open) token
                     (aref (tokens-mates tokens) token) open
                     (lexer-depth lexer) d)
               (return open)
          ;; a closer far from its opener is more likely a stray one than proof that all between was unclosed
          when (and (= closer 41) (= (aref octets (1- (aref (tokens-ends tokens) open))) 123))
            do (return nil))))

(defun truncate-brackets (lexer depth)
  "Forgets the brackets opened beyond DEPTH: they stay without a mate."
  (declare (type index depth))
  (when (> (lexer-depth lexer) depth) (setf (lexer-depth lexer) depth)))

;;; What stands before: decides whether `/' begins a regular expression, `<' a tag

(defun previous-kind (lexer)
  "The kind of the last token; before the first one that no token has."
  (let ((tokens (lexer-tokens lexer))) (token-kind tokens (1- (tokens-count tokens)))))
(defun previous-octet (lexer i)
  "The octet before I; 0 at the beginning of the file."
  (declare (type index i))
  (if (zerop i) 0 (aref (lexer-octets lexer) (1- i))))

(defun previous-word-in (lexer words &optional (back 1))
  "Whether the token BACK places before the end is an identifier among WORDS, a list of octet vectors."
  (let* ((tokens (lexer-tokens lexer)) (i (- (tokens-count tokens) back)))
    (and (>= i 0) (= (token-kind tokens i) +identifier+)
         (let ((start (token-start tokens i)) (length (- (token-end tokens i) (token-start tokens i))))
           (loop for word of-type octets in words
                 thereis (and (= (length word) length) (looking-at lexer start word)))))))
