;;;; Preprocessor lines: #if, #else, #endif and what they do to open brackets. Shares the package of scanner.lisp, for a directive's line
;;;; is lexed like any other.

(in-package #:opl.source.scanner)

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

(defparameter *never-defined*
  (mapcar #'text-octets '("WIN32" "_WIN32" "__WIN32__" "WIN64" "_WIN64" "__MINGW32__" "__MINGW64__" "_MSC_VER" "__CYGWIN__"))
  "Macros of Windows compilers: the branch that is read is the other one, which Linux and macOS compile.")

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
              (setf known (cons (subseq (lexer-octets lexer) from to)
                                (if (find-if (lambda (text) (and (= (length (the octets text)) (- to from)) (looking-at lexer from text)))
                                             *never-defined*)
                                    nil
                                    (not negated))))
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
