;;;; Secrets are taken out of every text before it is remembered. What counts as one: private keys, tokens
;;;; known by their prefix, JSON web tokens, passwords in addresses, values given to names that speak of
;;;; secrets, lines of .env files, and literals that look random. One left-to-right pass per rule.

(defpackage #:opl.session.redact
  (:use #:cl)
  (:export #:redact))

(in-package #:opl.session.redact)

(declaim (optimize (speed 1) (safety 1)))

(defparameter *prefixes*
  '("sk-" "sk_live_" "sk_test_" "rk_live_" "pk_live_" "whsec_" "ghp_" "gho_" "ghu_" "ghs_" "ghr_" "github_pat_"
    "glpat-" "glrt-" "gldt-" "xoxb-" "xoxp-" "xoxa-" "xoxs-" "xapp-" "AKIA" "ASIA" "AIza" "ya29." "npm_" "pypi-"
    "hf_" "SG." "dop_v1_" "shpat_" "shpss_" "AGE-SECRET-KEY-" "figd_" "lin_api_" "xai-" "gsk_" "sq0atp-" "sq0csp-"
    "EAAC" "dckr_pat_" "sbp_" "tskey-" "nvapi-")
  "What the makers of tokens begin them with, as their documents and the public lists of secret scanners say.")

(defconstant +token-length+ 16
  "A token with a known prefix has at least so many characters after it.")

(defparameter *telling-names*
  '("password" "passwd" "passphrase" "pwd" "secret" "token" "apikey" "api_key" "api-key" "accesskey" "access_key"
    "access-key" "privatekey" "private_key" "private-key" "credential" "authorization" "clientsecret"
    "signingkey" "signing_key" "encryptionkey" "encryption_key" "sessionkey" "session_key" "masterkey"
    "connectionstring" "connection_string" "dsn" "cookie")
  "A name that contains one of these, in any case, holds a secret.")

(defparameter *doubtful-names*
  '("token" "cookie" "credential" "authorization" "dsn")
  "Names that code also gives to harmless things: what is assigned to them without quotes must look the part.")

(defparameter *harmless*
  '("true" "false" "null" "nil" "none" "undefined" "string" "number" "boolean" "str" "int" "bool" "object" "any"
    "optional" "required" "bytes" "function" "new" "await" "return" "self" "this" "token" "secret" "password")
  "Words that stand where a value may, and are none.")

(defun token-character-p (character)
  (or (and (alphanumericp character) (< (char-code character) 128)) (find character "_-")))

(defun value-character-p (character)
  (or (token-character-p character) (find character "+/=.~%!@#$^&*:?")))

(defun name-character-p (character)
  (or (alphanumericp character) (find character "_-.")))

(defun run-end (text start predicate)
  (or (position-if-not predicate text :start start) (length text)))

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

;;; The rules.

(defun find-private-key (text at)
  (let ((start (search "-----BEGIN " text :start2 at)))
    (when start
      (let ((line-end (run-end text start (lambda (c) (char/= c #\Newline)))))
        (if (search "PRIVATE KEY" text :start2 start :end2 (min line-end (+ start 60)))
            ;; A key whose end was cut off is still one.
            (let ((end (search "-----END " text :start2 start)))
              (values start
                      (if end
                          (let ((close (search "-----" text :start2 (+ end 9))))
                            (if close (+ close 5) (length text)))
                          (length text))
                      "private key"))
            (find-private-key text (+ start 11)))))))

(defun boundary-p (text position)
  (or (zerop position) (not (token-character-p (char text (1- position))))))

(defun find-web-token (text at)
  "A JSON web token: three parts of base64url, the first of which is the encoding of {\"."
  (let ((start (search "eyJ" text :start2 at)))
    (when start
      (let* ((first-end (run-end text start #'token-character-p))
             (second-end (and (< first-end (length text)) (char= (char text first-end) #\.)
                              (run-end text (1+ first-end) #'token-character-p))))
        (if (and (boundary-p text start) second-end (> (- second-end first-end) 8))
            (values start
                    (if (and (< second-end (length text)) (char= (char text second-end) #\.))
                        (run-end text (1+ second-end) #'token-character-p)
                        second-end)
                    "token")
            (find-web-token text (+ start 3)))))))

(defun prefixed-token-end (text start)
  "Where the token with a known prefix that begins at START ends, or NIL."
  (dolist (prefix *prefixes*)
    (let ((after (+ start (length prefix))))
      (when (and (<= after (length text)) (string= prefix text :start2 start :end2 after))
        (let ((end (run-end text after (lambda (c) (or (token-character-p c) (char= c #\.))))))
          ;; Digits tell a token from a long name such as sk-learn-compatible-estimator.
          (when (and (>= (- end after) +token-length+)
                     (find-if #'digit-char-p text :start after :end end))
            (return end)))))))

(defun find-prefixed-token (text at)
  (loop for start from at below (length text)
        for end = (and (boundary-p text start) (prefixed-token-end text start))
        when end return (values start end "token")))

(defun find-address-password (text at)
  "The password of scheme://user:password@host."
  (let ((scheme (search "://" text :start2 at)))
    (when scheme
      (let* ((start (+ scheme 3))
             (end (run-end text start (lambda (c) (not (find c #(#\Space #\Tab #\Newline #\" #\' #\< #\> #\` #\/))))))
             (sign (position #\@ text :start start :end end :from-end t))
             (colon (and sign (position #\: text :start start :end sign))))
        (if (and colon (< (1+ colon) sign))
            (values (1+ colon) sign "password")
            (find-address-password text start))))))

(defun find-authorization (text at)
  "What follows Bearer or Basic."
  (loop for start from at below (length text)
        do (dolist (scheme '("Bearer " "Basic "))
             (let ((after (+ start (length scheme))))
               (when (and (<= after (length text)) (boundary-p text start)
                          (string-equal scheme text :start2 start :end2 after))
                 (let ((end (run-end text after #'value-character-p)))
                   (when (>= (- end after) 12)
                     (return-from find-authorization (values after end "token")))))))))

;;; Assignments: name = value, name: value, "name": "value", name => value, --name value.

(defun telling-p (name)
  (some (lambda (part) (search part name :test #'char-equal)) *telling-names*))

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
       (not (find #\. text :start start :end end))
       (not (find #\/ text :start start :end (min end (+ start 2))))
       (> (entropy text start end) *random-entropy*)))

(defun skip (text at characters)
  (run-end text at (lambda (character) (find character characters))))

(defun value-after (text name-end)
  "Start and end of the value assigned to the name that ends at NAME-END, and whether it is quoted; NIL
when nothing is assigned."
  (let* ((at (skip text name-end " \"'`]"))
         (operator (and (< at (length text)) (find (char text at) ":=")))
         (at (and operator (skip text at ":=>")))
         (at (and at (skip text at " ")))
         (quote (and at (< at (length text)) (find (char text at) "\"'`"))))
    (when at
      (if quote
          (let ((end (position quote text :start (1+ at))))
            (values (1+ at) (or end (length text)) t))
          (values at (run-end text at #'value-character-p) nil)))))

(defun doubtful-p (name)
  "True when NAME tells of a secret only by a word that code uses for other things too."
  (notany (lambda (part) (search part name :test #'char-equal))
          (set-difference *telling-names* *doubtful-names* :test #'string=)))

(defun secret-value-p (text start end quoted name)
  "True when the value given to a telling name is one, and not code that fetches it."
  (let ((value (subseq text start end)))
    (and (>= (length value) (if quoted 1 4))
         (not (member value *harmless* :test #'string-equal))
         (not (eql 0 (search "[redacted" value)))
         (not (eql 0 (search "<" value)))
         (or quoted
             (and (not (find #\( text :start end :end (min (length text) (1+ end))))
                  (not (search "process.env" value))
                  (not (search "environ" value))
                  (or (not (doubtful-p name))
                      (and (>= (length value) 8) (find-if #'digit-char-p value)))
                  ;; a.b.c is code; a.b.c with digits may be anything.
                  (not (and (find #\. value) (every (lambda (c) (or (alpha-char-p c) (find c "._"))) value))))))))

(defun env-line-p (text start end)
  "True when the name from START to END stands alone at the head of a line, in capitals, as in .env files."
  (and (or (zerop start) (find (char text (1- start)) '(#\Newline #\Return)))
       (< end (length text)) (char= (char text end) #\=)
       (every (lambda (c) (or (upper-case-p c) (digit-char-p c) (char= c #\_))) (subseq text start end))))

(defun plain-value-p (text start end)
  "True for values that are plainly settings: words, numbers, paths."
  (or (< (- end start) 8)
      (loop for index from start below end always (digit-char-p (char text index)))
      (loop for index from start below end
            for character = (char text index)
            always (or (lower-case-p character) (find character "-_./:")))))

(defun make-assignment-finder (env)
  "A finder of secrets that are assigned. With ENV true every value assigned at the head of a line is one."
  (lambda (text at)
    (loop
      (let ((start (position-if #'name-character-p text :start (min at (length text)))))
        (unless start (return nil))
        (let* ((end (run-end text start #'name-character-p))
               (name (subseq text start end)))
          (multiple-value-bind (from to quoted) (value-after text end)
            (when (and from (< from to)
                       (or (and (telling-p name) (secret-value-p text from to quoted name))
                           (random-p text from to)
                           (and (env-line-p text start end)
                                (or env (not (plain-value-p text from to))))))
              (return (values from to (if (telling-p name) "value" "random value")))))
          (setf at (max end (1+ start))))))))

(defun env-file-p (path)
  (let ((name (subseq path (1+ (or (position #\/ path :from-end t) -1)))))
    (or (eql 0 (search ".env" name))
        (eql (search ".env" name :from-end t) (- (length name) 4)))))

(defun redact (text &key (path ""))
  "TEXT with every secret replaced by [redacted …]. PATH is the file that TEXT is about, if any: of an .env
file all values are taken. Text without a secret is returned as it is."
  (let ((env (env-file-p path)))
    (dolist (finder (list #'find-private-key #'find-web-token #'find-address-password #'find-prefixed-token
                          #'find-authorization (make-assignment-finder env))
                    text)
      (setf text (scan text finder)))))
