;;;; Secrets are taken out of every text before it is remembered: what looks like one (secrets.lisp), arguments of command lines
;;;; (command-secrets.lisp), values given to names that speak of secrets, lines of .env files, and literals that look random. One left-to-right
;;;; pass per rule. Texts come whole: what is cut or folded into one line first hides half a key and the heads of lines.

(defpackage #:opl.session.redact
  (:use #:cl #:opl.session.secrets #:opl.session.command-secrets)
  (:export #:redact))

(in-package #:opl.session.redact)

(declaim (optimize (speed 1) (safety 1)))

(defun replace-spans (text spans)
  "TEXT with each (start end what) of SPANS, in order and apart, replaced by a mark that says WHAT it was."
  (if (null spans)
      text
      (with-output-to-string (stream)
        (let ((at 0))
          (loop for (start end what) in spans
                do (write-string text stream :start at :end start)
                   (format stream "[redacted ~A]" what)
                   (setf at end))
          (write-string text stream :start at)))))

(defun scan (text finder)
  "TEXT with everything replaced that FINDER finds. FINDER is called with TEXT and a position and returns
NIL when there is no more, or start, end and what it is."
  (let ((spans '()) (at 0))
    (loop
      (multiple-value-bind (start end what) (funcall finder text at)
        (unless start (return))
        (push (list start end what) spans)
        (setf at (max end (1+ start)))))
    (replace-spans text (nreverse spans))))

;;; Elements of markup.

(defun find-tagged-value (text at)
  "What stands in an XML element with a telling name."
  (loop for open = (position #\< text :start (min at (length text)))
        while open
        do (let* ((close (position #\> text :start open))
                  (end (and close (position #\< text :start close)))
                  (name (and end (< (- close open) 40) (subseq text (1+ open) close))))
             (when (and name (< (1+ close) end) (telling-p name) (every #'name-character-p name)
                        (string= (format nil "</~A" name) (subseq text end (min (length text) (+ end 2 (length name))))))
               (return (values (1+ close) end "value")))
             (setf at (1+ open)))))

(defun find-attribute (text at)
  "The value of an element that has a telling name in another attribute, as <add key=\"Password\" value=\"…\"/>."
  (loop for start = (search "value=" text :start2 (min at (length text)))
        while start
        do (let* ((open (position #\< text :end start :from-end t)) (quote (+ start 6))
                  (end (and open (< quote (length text)) (find (char text quote) "\"'") (position (char text quote) text :start (1+ quote)))))
             (when (and end (< (- start open) 120) (not (find #\> text :start open :end start)) (< (1+ quote) end)
                        (telling-p (string-right-trim "\"' " (subseq text open start)))
                        (not (harmless-argument-p text (1+ quote) end)))
               (return (values (1+ quote) end "value")))
             (setf at (+ start 6)))))

;;; Assignments: name = value, name: value, "name": "value", name => value, --name value.

(defun entropy (text start end)
  "Bits per character of TEXT from START to END (Shannon)."
  (let ((counts (make-hash-table)) (total (- end start)))
    (loop for index from start below end do (incf (gethash (char text index) counts 0)))
    (let ((sum 0.0))
      (maphash (lambda (character count)
                 (declare (ignore character))
                 (let ((share (/ (float count) total)))
                   (decf sum (* share (log share 2)))))
               counts)
      sum)))

(defconstant +random-length+ 20
  "Shorter literals are not called random: words reach their entropy.")

(defparameter *random-entropy* 4.0
  "Bits per character above which a literal is called random; identifiers of that length stay below, and so
does anything in hexadecimal, such as a commit's hash.")

(defun random-p (text start end)
  (and (>= (- end start) +random-length+)
       (find-if #'digit-char-p text :start start :end end)
       (find-if #'alpha-char-p text :start start :end end)
       ;; A sentence with a number in it reaches the entropy too.
       (not (find-if (lambda (c) (find c ". ")) text :start start :end end))
       ;; UUIDs reach the entropy of what is random.
       (notevery (lambda (c) (or (digit-char-p c 16) (char= c #\-))) (subseq text start end))
       (not (find #\/ text :start start :end (min end (+ start 2))))
       (> (entropy text start end) *random-entropy*)))

(defun skip (text at characters)
  (run-end text at (lambda (character) (find character characters))))

(defparameter *blanks* (coerce (list #\Space #\Tab (code-char 160)) 'string))

(defun line-below (text at)
  "Start and end of the value in the line below AT, as in YAML, where AT is at the end of its line or at the mark of a block; NIL for
a line that is none."
  (let* ((end (skip text at "|>-+ ")) (from (and (< end (length text)) (char= #\Newline (char text end)) (skip text (1+ end) *blanks*))))
    (when (and from (> from (1+ end)))
      (let ((to (run-end text from (lambda (c) (not (find c #(#\Newline #\Return)))))))
        (and (< from to) (find-if #'digit-char-p text :start from :end to)
             (not (find-if (lambda (c) (find c " ()={}:,")) text :start from :end to))
             (values from to))))))

(defparameter *instructions* '("ENV " "setx " "set -x " "set -gx " "setenv ")
  "What stands before a name and its value without an equals sign: Dockerfiles, Windows, fish, csh.")

(defun instructed-value (text start end)
  "Start and end of the value of the name from START to END that one of *INSTRUCTIONS* gives it, or NIL."
  (when (and (< end (length text)) (char= #\Space (char text end))
             (some (lambda (word) (let ((from (- start (length word)))) (and (>= from 0) (string= word text :start2 from :end2 start))))
                   *instructions*))
    (argument-bounds text (1+ end))))

(defun header-p (text start)
  "True when the name at START opens the argument of curl's -H or --header."
  (and (plusp start) (find (char text (1- start)) "\"'")
       (some (lambda (word) (let ((from (- start 1 (length word)))) (and (>= from 0) (string= word text :start2 from :end2 (1- start)))))
             '("-H " "--header " "--header="))))

(defun value-after (text name-end)
  "Start and end of the value assigned to the name that ends at NAME-END, and whether it is quoted; NIL
when nothing is assigned."
  (let* ((at (skip text (skip text name-end *blanks*) " \"'`]\\"))
         (operator (and (< at (length text)) (find (char text at) ":=")))
         (at (and operator (skip text at ":=>")))
         (at (and at (skip text (skip text at *blanks*) " \\")))
         (quote (and at (< at (length text)) (find (char text at) "\"'`"))))
    (when at
      (if quote
          (let ((end (position quote text :start (1+ at))))
            (values (1+ at) (or end (length text)) t))
          (values at (run-end text at #'value-character-p) nil)))))

(defun secret-value-p (text start end quoted name header)
  "True when the value given to a telling name is one, and not code that fetches it. With HEADER true it is no code."
  (let ((value (subseq text start end)))
    (and (>= (length value) (if quoted 1 4))
         (not (harmless-p value))
         (not (eql 0 (search "[redacted" value)))
         (not (eql 0 (search "<" value)))
         (or quoted
             header
             (and (not (find #\( text :start end :end (min (length text) (1+ end))))
                  (not (search "process.env" value))
                  (not (search "environ" value))
                  (or (not (doubtful-p name))
                      (and (>= (length value) 8) (find-if #'digit-char-p value)))
                  ;; a.b.c is code; a.b.c with digits may be anything.
                  (not (and (find #\. value) (every (lambda (c) (or (alpha-char-p c) (find c "._"))) value))))))))

(defun compared-p (text name-end)
  "True when the name that ends at NAME-END is compared and not given a value."
  (let ((at (skip text name-end " ")))
    (and (< (1+ at) (length text)) (char= #\= (char text at) (char text (1+ at))))))

(defun line-head-p (text start loose)
  "True when a line begins at START, in a text, in a diff, or in a literal that spells its line ends; export may stand before. With LOOSE
true a word is enough."
  (let ((at (if (and (>= start 7) (string= "export " text :start2 (- start 7) :end2 start)) (- start 7) start)))
    (flet ((before (distance) (and (>= at distance) (char text (- at distance)))))
      (or (zerop at)
          (find (before 1) '(#\Newline #\Return))
          (and (find (before 1) "+-") (member (before 2) '(nil #\Newline)))
          (and (eql (before 1) #\n) (eql (before 2) #\\))
          (and loose (find (before 1) " \"'`"))))))

(defun env-line-p (text start end env)
  "True when the name from START to END is given a value as in .env files: at the head of a line, in capitals. In a text about such a file, ENV,
any name is one."
  (and (< end (length text)) (char= (char text end) #\=)
       (line-head-p text start env)
       (or env (every (lambda (c) (or (upper-case-p c) (digit-char-p c) (char= c #\_))) (subseq text start end)))))

(defun plain-value-p (text start end)
  "True for values that are plainly settings: words, numbers, paths."
  (or (< (- end start) 8)
      (loop for index from start below end always (digit-char-p (char text index)))
      (loop for index from start below end
            for character = (char text index)
            always (or (lower-case-p character) (find character "-_./:")))))

(defun make-assignment-finder (env)
  "A finder of secrets that are assigned. With ENV true, for a text about an .env file, every assigned value is one."
  (lambda (text at)
    (loop
      (let ((start (position-if #'name-character-p text :start (min at (length text)))))
        (unless start (return nil))
        (let* ((end (run-end text start #'name-character-p))
               (name (subseq text start end)))
          (multiple-value-bind (from to quoted) (value-after text end)
            (when (and (telling-p name) (or (null from) (= from to)))
              (multiple-value-setq (from to) (if from (line-below text from) (instructed-value text start end)))
              (when (and from (doubtful-p name)) (setf from nil)))
            (when (and from (< from to)
                       (or (and (telling-p name) (secret-value-p text from to quoted name (header-p text start)))
                           (and (random-p text from to) (not (compared-p text end)))
                           (and (env-line-p text start end env)
                                (or env
                                    (not (plain-value-p text from to))
                                    (and (telling-p name) (>= (- to from) 4) (not (harmless-argument-p text from to)))))))
              (return (values from to (if (telling-p name) "value" "random value")))))
          (setf at (max end (1+ start))))))))

(defun env-file-p (path)
  (let ((name (subseq path (1+ (or (position #\/ path :from-end t) -1)))))
    (or (eql 0 (search ".env" name))
        (eql (search ".env" name :from-end t) (- (length name) 4)))))

(defun env-file-named-p (text)
  "True when TEXT names an .env file: process.env and import.meta.env are none."
  (loop for at = (search ".env" text) then (search ".env" text :start2 (1+ at))
        while at
        thereis (or (zerop at) (not (or (name-character-p (char text (1- at))) (find (char text (1- at)) ")]"))))))

(defun redact (text &key (path ""))
  "TEXT with every secret replaced by [redacted …]. PATH is the file that TEXT is about, if any: of an .env
file, or where TEXT names one, all values are taken. Text without a secret is returned as it is."
  (let ((env (or (env-file-p path) (env-file-named-p text))))
    (setf text (plain-text text))
    (dolist (finder (list #'find-private-key #'find-web-token #'find-address-password #'find-prefixed-token
                          #'find-hook-address #'find-authorization #'find-argument #'find-piped-secret #'find-password-line #'find-tagged-value
                          #'find-attribute (make-assignment-finder env) #'find-random-block #'find-random-word)
                    text)
      (setf text (scan text finder)))))
