;;;; What a secret looks like wherever it stands: private keys, tokens known by their prefix, JSON web tokens, passwords in addresses,
;;;; what follows a scheme of authorization; and which names speak of secrets. Each finder is called with a text and a position and returns
;;;; NIL when there is no more, or start, end and what was found.

(defpackage #:opl.session.secrets
  (:use #:cl)
  (:export #:telling-p #:doubtful-p #:harmless-p #:run-end #:boundary-p #:value-character-p #:name-character-p
           #:find-random-word #:find-random-block #:plain-text #:find-private-key #:find-web-token #:find-prefixed-token #:find-address-password
           #:find-hook-address #:find-authorization))

(in-package #:opl.session.secrets)

(declaim (optimize (speed 1) (safety 1)))

(defparameter *prefixes*
  '("sk-" "sk_live_" "sk_test_" "rk_live_" "pk_live_" "whsec_" "ghp_" "gho_" "ghu_" "ghs_" "ghr_" "github_pat_"
    "glpat-" "glrt-" "gldt-" "glptt-" "GOCSPX-" "xoxb-" "xoxp-" "xoxa-" "xoxe-" "xoxe." "xoxs-" "xapp-" "AKIA" "ASIA" "AIza" "ya29." "npm_" "pypi-"
    "hf_" "SG." "dop_v1_" "shpat_" "shpss_" "AGE-SECRET-KEY-" "figd_" "lin_api_" "xai-" "gsk_" "sq0atp-" "sq0csp-"
    "EAAC" "dckr_pat_" "sbp_" "tskey-" "nvapi-")
  "What the makers of tokens begin them with, as their documents and the public lists of secret scanners say.")

(defconstant +token-length+ 16
  "A token with a known prefix has at least so many characters after it.")

(defparameter *telling-names*
  '("password" "passwd" "passphrase" "pwd" "secret" "token" "apikey" "api_key" "api-key" "accountkey" "accesskey" "access_key"
    "access-key" "privatekey" "private_key" "private-key" "credential" "authorization" "clientsecret"
    "signingkey" "signing_key" "encryptionkey" "encryption_key" "sessionkey" "session_key" "masterkey"
    "connectionstring" "connection_string" "dsn" "cookie" "amz-signature" "goog-signature" "passwort" "contraseña" "wachtwoord"
    "пароль" "密码" "密碼" "パスワード")
  "A name that contains one of these, in any case, holds a secret.")

(defparameter *doubtful-names*
  '("token" "cookie" "credential" "authorization" "dsn")
  "Names that code also gives to harmless things: what is assigned to them without quotes must look the part.")

(defparameter *harmless*
  '("true" "false" "null" "nil" "none" "undefined" "string" "number" "boolean" "str" "int" "bool" "object" "any"
    "optional" "required" "bytes" "function" "new" "await" "return" "self" "this" "token" "secret" "password")
  "Words that stand where a value may, and are none.")

(defparameter *telling-ends* '("pass" "auth" "psk" "passe" "senha" "pw")
  "Words that tell of a secret as a whole name, or after a mark in one; bypass and compass hold the letters too.")

(defun end-telling-p (name)
  (some (lambda (word)
          (let ((start (- (length name) (length word))))
            (and (>= start 0) (string-equal word name :start2 start)
                 (or (zerop start) (find (char name (1- start)) "_-.")))))
        *telling-ends*))

(defun telling-p (name)
  "True for names that speak of secrets."
  (or (end-telling-p name)
      (some (lambda (part) (search part name :test #'char-equal)) *telling-names*)))

(defun doubtful-p (name)
  "True when NAME tells of a secret only by a word that code uses for other things too."
  (notany (lambda (part) (search part name :test #'char-equal)) ; so are names that tell by their end alone
          (set-difference *telling-names* *doubtful-names* :test #'string=)))

(defun harmless-p (value)
  "True for words that stand where a value may, and are none."
  (member value *harmless* :test #'string-equal))

(defun token-character-p (character)
  (or (and (alphanumericp character) (< (char-code character) 128)) (find character "_-")))

(defun value-character-p (character)
  "Whether CHARACTER may be in a secret that is the value of a name."
  (or (token-character-p character) (find character "+/=.~%!@#$^&*:?")))

(defun name-character-p (character)
  "Whether CHARACTER may be in the name of a variable, a key or a header."
  (or (alphanumericp character) (find character "_-.")))

(defun run-end (text start predicate)
  "Where the characters that satisfy PREDICATE end, from START on; the length of TEXT when they all do."
  (or (position-if-not predicate text :start start) (length text)))

;;; The rules.

(defun key-line-start (text end)
  "Where the lines of base64 that stand before END begin, or NIL: back over words that hold nothing else, the last of which may be short."
  (let ((start nil) (at end))
    (loop
      (let* ((to (position-if-not (lambda (c) (find c #(#\Space #\Tab #\Newline #\Return #\+ #\-))) text :end at :from-end t))
             ;; A line's end may be spelled out.
             (to (and to (if (and (plusp to) (char= #\n (char text to)) (char= #\\ (char text (1- to)))) (- to 2) to)))
             (from (and to (>= to 0)
                        (1+ (or (position-if-not #'base64-character-p text :end (1+ to) :from-end t) -1)))))
        (unless (and from (<= from to) (or (null start) (>= (- to from) 15))) (return start))
        (setf start from at from)))))

(defun base64-character-p (character)
  (or (and (alphanumericp character) (< (char-code character) 128)) (find character "+/=")))

(defun find-private-key (text at)
  "The first block of a private key at AT or after, be it cut off at either end. Values: start, end, what it is; nil when there is none."
  (loop for mark = (search "-----" text :start2 at) then (search "-----" text :start2 (+ mark 5))
        while mark
        do (let* ((beginning (eql mark (search "-----BEGIN " text :start2 mark :end2 (min (length text) (+ mark 11)))))
                  (ending (eql mark (search "-----END " text :start2 mark :end2 (min (length text) (+ mark 9)))))
                  (line-end (run-end text mark (lambda (c) (char/= c #\Newline)))))
             (when (and (or beginning ending) (search "PRIVATE KEY" text :start2 mark :end2 (min line-end (+ mark 60))))
               (let* ((end (if beginning (search "-----END " text :start2 mark) mark))
                      (close (and end (search "-----" text :start2 (+ end 9)))))
                 (return (values (if beginning mark (max at (or (key-line-start text mark) mark)))
                                 (if close (+ close 5) (length text))
                                 "private key")))))))

(defun boundary-p (text position)
  "Whether a token may begin at POSITION: no token character stands before it."
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
          ;; Digits, or capitals among small letters, tell a token from a long name such as sk-learn-compatible-estimator.
          (when (and (>= (- end after) +token-length+)
                     (or (find-if #'digit-char-p text :start after :end end)
                         (and (find-if #'upper-case-p text :start after :end end)
                              (find-if #'lower-case-p text :start after :end end))))
            (return end)))))))

(defun find-prefixed-token (text at)
  "The first token at AT or after that a maker's prefix tells. Values: start, end, what it is; nil when there is none."
  (loop for start from at below (length text)
        for end = (and (boundary-p text start) (prefixed-token-end text start))
        when end return (values start end "token")))

(defun address-end (text start slashes)
  "Where the part of an address that may hold user, password and host ends; beyond slashes with SLASHES true."
  (run-end text start (lambda (c) (not (or (find c #(#\Space #\Tab #\Newline #\" #\' #\< #\> #\`)) (and (not slashes) (char= c #\/)))))))

(defun address-password (text start end)
  "Start and end of the password in the user:password@host from START to END, or NIL."
  (let* ((sign (position #\@ text :start start :end end :from-end t))
         (colon (and sign (position #\: text :start start :end sign))))
    (and colon (< (1+ colon) sign) (values (1+ colon) sign))))

(defun address-token-p (text start sign)
  "True when what stands from START to SIGN, before the @ of an address without a password, is long and no name."
  (and (>= (- sign start) +token-length+)
       (loop for index from start below sign always (token-character-p (char text index)))
       (find-if #'digit-char-p text :start start :end sign)))

(defun find-address-password (text at)
  "The password of scheme://user:password@host, or the token of scheme://token@host. One with a slash in it, which should have been escaped, counts when a name stands before
the colon and no port after it."
  (let ((scheme (search "://" text :start2 at)))
    (when scheme
      (let ((start (+ scheme 3)))
        (multiple-value-bind (from to) (address-password text start (address-end text start nil))
          (unless from
            (multiple-value-setq (from to) (address-password text start (address-end text start t)))
            (when (and from (or (find #\/ text :start start :end from) (find #\. text :start start :end from)
                                (digit-char-p (char text from))))
              (setf from nil)))
          (let ((sign (position #\@ text :start start :end (address-end text start nil))))
            (cond (from (values from to "password"))
                  ((and sign (address-token-p text start sign)) (values start sign "token"))
                  (t (find-address-password text start)))))))))

(defparameter *hooks* '("hooks.slack.com/services/" "/api/webhooks/" "hooks.slack.com/workflows/" "webhook.office.com/")
  "Addresses whose path is the secret.")

(defun find-hook-address (text at)
  "The secret part of the first address of a web hook at AT or after: (start end what), or nil."
  (let ((found nil))
    (dolist (hook *hooks*)
      (let ((start (search hook text :start2 at)))
        (when start
          (let* ((from (+ start (length hook))) (to (run-end text from (lambda (c) (or (token-character-p c) (find c "/@."))))))
            (when (and (>= (- to from) +token-length+) (or (null found) (< from (first found))))
              (setf found (list from to)))))))
    (and found (values (first found) (second found) "address"))))

(defparameter *schemes* '("Bearer" "Basic" "Token")
  "What stands before the secret in a header Authorization.")

(defun credential-p (text start end)
  "True for what may follow a scheme and is no word of a sentence."
  (and (>= (- end start) 12)
       (or (find-if #'digit-char-p text :start start :end end)
           (find-if (lambda (c) (find c "+/=")) text :start start :end end)
           (and (find-if #'upper-case-p text :start (1+ start) :end end) (find-if #'lower-case-p text :start start :end end)))))

(defun find-authorization (text at)
  "What follows Bearer, Basic or Token, on the same line or the next."
  (loop for start from at below (length text)
        do (dolist (scheme *schemes*)
             (let ((after (+ start (length scheme))))
               (when (and (< after (length text)) (boundary-p text start)
                          (string-equal scheme text :start2 start :end2 after)
                          (find (char text after) '(#\Space #\Newline)))
                 (let* ((after (run-end text after (lambda (c) (find c #(#\Space #\Newline #\Return #\Tab #\\))))) (end (run-end text after #'value-character-p)))
                   (when (credential-p text after end)
                     (return-from find-authorization (values after end "token")))))))))

;;; Words that no one has thought of.

(defconstant +random-word-length+ 20 "A shorter run of letters and digits is not called random.")

(defparameter *changes* 0.49
  "In a random word so many of its characters are of another class (small, capital, digit) than the one before: 0.62 are to be expected,
and names such as OpenSSL3Sha256Base64Encoder come to 0.42.")

(defun class-of-character (character)
  (cond ((digit-char-p character) 0) ((upper-case-p character) 1) (t 2)))

(defun random-word-p (text start end)
  "True when the letters and digits from START to END change between small, capital and digit as no name does."
  (let ((seen (vector 0 0 0)) (changes 0) (before nil))
    (loop for index from start below end
          for class = (class-of-character (char text index))
          do (incf (svref seen class))
             (when (and before (/= class before)) (incf changes))
             (setf before class))
    (and (every (lambda (count) (>= count 2)) seen)
         (>= changes (* *changes* (- end start))))))

(defun find-random-word (text at)
  "A run of letters and digits without sense, whoever made it."
  (flet ((letter-p (c) (and (alphanumericp c) (< (char-code c) 128))))
    (loop
      (let* ((start (position-if #'letter-p text :start (min at (length text)))) (end (and start (run-end text start #'letter-p))))
        (cond ((null start) (return nil))
              ((and (>= (- end start) +random-word-length+) (random-word-p text start end))
               ;; what hangs on it with a mark is part of it
               (return (values (or (let ((mark (position-if-not #'token-character-p text :end start :from-end t))) (and mark (1+ mark))) 0)
                               (run-end text end #'token-character-p) "random value")))
              (t (setf at end)))))))

(defconstant +random-block-length+ 40 "A shorter run of base64 is taken for a name or a path.")

(defun find-random-block (text at)
  "A run of base64 without sense, such as a line from the middle of a key."
  (loop
    (let* ((start (position-if #'base64-character-p text :start (min at (length text))))
           (end (and start (run-end text start #'base64-character-p))))
      (cond ((null start) (return nil))
            ((and (>= (- end start) +random-block-length+) (random-word-p text start end))
             (return (values start end "random value")))
            (t (setf at end))))))

(defun plain-text (text)
  "TEXT without colours and characters that take no room: between a name and its value they hide the one from the other."
  (flet ((hidden-p (c) (or (char= c (code-char 27)) (<= #x200B (char-code c) #x200D) (member (char-code c) '(#x2060 #xFEFF)))))
    (if (not (find-if #'hidden-p text))
        text
        (with-output-to-string (out)
          (loop with at = 0
                for stop = (position-if #'hidden-p text :start at)
                do (write-string text out :start at :end stop)
                   (unless stop (return))
                   (setf at (1+ stop))
                   (when (and (char= (char text stop) (code-char 27)) (< at (length text)) (char= #\[ (char text at)))
                     (let ((end (run-end text (1+ at) (lambda (c) (or (digit-char-p c) (find c ";?"))))))
                       (setf at (min (length text) (1+ end))))))))))
