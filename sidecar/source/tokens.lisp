;;;; Tokens: what the scanner makes of one file, as parallel arrays that the next file reuses.

(defpackage #:opl.source.tokens
  (:use #:cl)
  (:import-from #:opl.source.names #:octets #:u32-vector #:make-u32 #:make-octets #:+none+
                #:known #:octets-string #:octet-count #:octet-position #:lexicon #:make-lexicon)
  (:export #:tokens #:make-tokens #:tokens-octets #:tokens-size #:tokens-count #:tokens-kinds #:tokens-starts #:tokens-ends
           #:tokens-lines #:tokens-names #:tokens-mates #:tokens-lexicon #:tokens-map #:tokens-language
           #:tokens-comments #:tokens-comment-count #:tokens-lines-total
           #:token-kind #:token-start #:token-end #:token-line #:token-name #:token-mate
           #:token-end-line #:token-column #:token-text #:token-first-on-line-p #:token-is
           #:token-opens-p #:string-content
           #:emit-token #:add-comment #:tokens-reset
           #:+identifier+ #:+punctuation+ #:+string+ #:+number+ #:+regexp+ #:+character+ #:+directive+ #:+tag+
           #:comment-start #:comment-end))
(in-package #:opl.source.tokens)

(deftype index () '(integer 0 #.(ash most-positive-fixnum -2)))

(macrolet ((define-kinds (&rest names)
             `(progn ,@(loop for name in names for i from 0 collect `(defconstant ,name ,i)))))
  ;; identifier   also keywords; name: its number
  ;; punctuation  name: the number of the operator's text; brackets have their mate, others +none+
  ;; string       a string or the piece of one; the first piece of an interpolated one has the last as its mate
  ;; directive    `#' of a preprocessor line; name: the directive's word; mate: first token after the line
  ;; tag          of JSX: name `<' (identifiers follow), `</', `>' or `/>'; `<' has its `>' or `/>' as mate
  (define-kinds +identifier+ +punctuation+ +string+ +number+ +regexp+ +character+ +directive+ +tag+))

(defstruct (tokens (:constructor %make-tokens))
  (octets (make-octets 0) :type octets)
  (size 0 :type index)
  (count 0 :type index)
  (kinds (make-octets 4096) :type octets)
  (starts (make-u32 4096) :type u32-vector)
  (ends (make-u32 4096) :type u32-vector)
  (lines (make-u32 4096) :type u32-vector)         ; 1-based line of the first octet
  (names (make-u32 4096) :type u32-vector)         ; +none+ for strings, numbers and their like
  (mates (make-u32 4096) :type u32-vector)
  (comments (make-u32 1536) :type u32-vector)      ; start, end, line of each comment
  (comment-count 0 :type index)
  (lines-total 0 :type index)
  (language nil)
  (lexicon (make-lexicon) :type lexicon)
  (map (make-u32 0) :type u32-vector))             ; lexicon's local number -> name number

(defun make-tokens ()
  "An empty stream, to be used for file after file (see `tokens-reset')."
  (%make-tokens))

(defun tokens-reset (tokens octets size language)
  "Makes TOKENS ready for the first SIZE of OCTETS, a text in LANGUAGE, and returns it; its vectors are used again."
  (setf (tokens-octets tokens) octets (tokens-size tokens) size (tokens-count tokens) 0
        (tokens-comment-count tokens) 0 (tokens-lines-total tokens) 0 (tokens-language tokens) language)
  (opl.source.names:lexicon-reset (tokens-lexicon tokens))
  tokens)

(defun tokens-grow (tokens)
  (let ((size (* 2 (length (tokens-starts tokens)))))
    (flet ((grow (old) (declare (type u32-vector old)) (replace (make-u32 size) old)))
      (setf (tokens-kinds tokens) (replace (make-octets size) (tokens-kinds tokens))
            (tokens-starts tokens) (grow (tokens-starts tokens))
            (tokens-ends tokens) (grow (tokens-ends tokens))
            (tokens-lines tokens) (grow (tokens-lines tokens))
            (tokens-names tokens) (grow (tokens-names tokens))
            (tokens-mates tokens) (grow (tokens-mates tokens))))))

(declaim (inline emit-token))
(defun emit-token (tokens kind start end line name)
  "Appends a token without a mate; its ordinal."
  (declare (type tokens tokens) (type (unsigned-byte 8) kind) (type index start end line)
           (type (unsigned-byte 32) name) (optimize (speed 2) (safety 0)))
  (let ((i (tokens-count tokens)))
    (when (>= i (length (tokens-starts tokens))) (tokens-grow tokens))
    (setf (aref (tokens-kinds tokens) i) kind
          (aref (tokens-starts tokens) i) start
          (aref (tokens-ends tokens) i) end
          (aref (tokens-lines tokens) i) line
          (aref (tokens-names tokens) i) name
          (aref (tokens-mates tokens) i) +none+
          (tokens-count tokens) (1+ i))
    i))

(defun add-comment (tokens start end line)
  "Notes a comment over the octets [START, END) that begins on LINE."
  (declare (type tokens tokens) (type index start end line))
  (let ((at (* 3 (tokens-comment-count tokens))))
    (when (>= (+ at 3) (length (tokens-comments tokens)))
      (setf (tokens-comments tokens)
            (replace (make-u32 (* 2 (length (tokens-comments tokens)))) (tokens-comments tokens))))
    (setf (aref (tokens-comments tokens) at) start
          (aref (tokens-comments tokens) (+ at 1)) end
          (aref (tokens-comments tokens) (+ at 2)) line)
    (incf (tokens-comment-count tokens))))

(declaim (inline comment-start comment-end))
(defun comment-start (tokens i)
  "The first octet of comment I."
  (aref (tokens-comments tokens) (* 3 i)))
(defun comment-end (tokens i)
  "The octet behind comment I."
  (aref (tokens-comments tokens) (+ 1 (* 3 i))))

;;; Readers that answer for any ordinal: outside the file there is a token of no kind and no name.

(defmacro define-reader (name slot absent)
  `(progn (declaim (inline ,name))
          (defun ,name (tokens i)
            (declare (type tokens tokens) (type fixnum i) (optimize (speed 2) (safety 0)))
            (if (< -1 i (tokens-count tokens)) (aref (,slot tokens) i) ,absent))))
(define-reader token-kind tokens-kinds 255)
(define-reader token-start tokens-starts 0)
(define-reader token-end tokens-ends 0)
(define-reader token-line tokens-lines 0)
(define-reader token-name tokens-names +none+)
(define-reader token-mate tokens-mates +none+)

(defmacro token-is (tokens i &rest literals)
  "Whether token I, an identifier or punctuation, reads as one of the LITERALS (strings known while compiling)."
  (let ((n (gensym)) (k (gensym)))
    `(let ((,n (token-name ,tokens ,i)) (,k (token-kind ,tokens ,i)))
       (declare (ignorable ,k))
       (and (<= ,k +punctuation+)
            (or ,@(loop for literal in literals collect `(= ,n (known ,literal))))))))


(defun token-end-line (tokens i)
  "The line on which token I ends."
  (declare (type tokens tokens) (type fixnum i))
  (let ((line (token-line tokens i)) (octets (tokens-octets tokens)))
    (if (member (token-kind tokens i) '(#.+string+ #.+regexp+))
        (+ line (octet-count 10 octets (token-start tokens i) (token-end tokens i)))
        line)))

(defun token-column (tokens i)
  "Octets between the start of its line and token I; a tab counts as one."
  (declare (type tokens tokens) (type fixnum i))
  (let* ((octets (tokens-octets tokens)) (start (token-start tokens i))
         (newline (position 10 octets :end start :from-end t)))
    (declare (type octets octets) (type index start))
    (if newline (- start newline 1) start)))

(defun token-first-on-line-p (tokens i)
  "Whether no other token ends or stands before token I on its line."
  (declare (type tokens tokens) (type fixnum i))
  (or (<= i 0) (> (token-line tokens i) (token-end-line tokens (1- i)))))

(defun token-text (tokens i)
  "The text of token I as a string."
  (octets-string (tokens-octets tokens) :start (token-start tokens i) :end (token-end tokens i)))

(defun token-opens-p (tokens i)
  "Whether token I is a bracket with a mate further on."
  (let ((mate (token-mate tokens i))) (and (/= mate +none+) (> mate i))))

(defun string-content (tokens i)
  "The text between the quotes of string token I, escapes left as they stand."
  (let* ((octets (tokens-octets tokens)) (start (token-start tokens i)) (end (token-end tokens i)))
    (flet ((quote-p (octet) (find octet #.(map 'vector #'char-code "\"'`"))))
      (loop while (and (< start end) (not (quote-p (aref octets start)))) do (incf start))
      (when (= start end) (return-from string-content (token-text tokens i)))
      (let ((mark (aref octets start)))
        (loop repeat 3 while (and (< start end) (= (aref octets start) mark)) do (incf start))
        (loop repeat 3 while (and (< start end) (= (aref octets (1- end)) mark)) do (decf end)))
      (octets-string octets :start start :end end))))
