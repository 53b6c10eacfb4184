;;;; Secrets in command lines, and the other places where one follows a word: options of programs, what is piped into a login, a sentence that
;;;; tells a password, the lines of .netrc and .pgpass.

(defpackage #:opl.session.command-secrets
  (:use #:cl #:opl.session.secrets)
  (:export #:argument-bounds #:harmless-argument-p #:find-argument #:find-piped-secret #:find-password-line))

(in-package #:opl.session.command-secrets)

(declaim (optimize (speed 1) (safety 1)))

(defparameter *secret-options*
  '("--password " "--passwd " "--passphrase " "--token " "--secret " "--api-key " "--auth-token " "--access-token " "--secret-key "
    "--secret-access-key " "--private-key " "--client-secret " "aws_session_token " "aws_secret_access_key "
    "aws_access_key_id " "_authToken " "_password " ":_auth=")
  "What stands before a secret in a command line.")

(defparameter *program-options*
  '(("login" "-p ") ("redis-cli" "-a ") ("redis-cli" "--pass ") ("mysql" "-p") ("mariadb" "-p") ("sshpass" "-p") ("sshpass" "-p ")
    ("gh secret" "--body ") ("gh secret" "-b ") ("kubectl create secret" "--from-literal=") ("nmcli" "password ") ("wpa_passphrase" "\" "))
  "Options that hold a secret after some programs alone.")

(defconstant +command-length+ 200 "Characters between a program's name and its option at most.")

(defparameter *secret-words* '("password is " "password was " "passphrase is " "secret is " "token is " "key is " "passwort ist "
                               "passwort lautet " "password " "passphrase ")
  "What stands before one that is told in a sentence; there it must hold a digit, as the words of sentences do not.")

(defparameter *algorithms* '("sha" "md5" "argon" "pbkdf" "base64" "base32" "utf" "oauth" "bcrypt" "scrypt" "hs256" "rs256" "v1" "v2")
  "What words with digits begin with that sentences say beside passwords.")

(defparameter *login-options* '("-u " "--user " "--proxy-user ")
  "What stands before user:password in a command line of curl and its like.")

(defparameter *argument-ends* #(#\Space #\Tab #\Newline #\Return #\" #\' #\; #\| #\& #\)))

(defun argument-bounds (text start)
  "Start and end of the word, perhaps quoted, at START."
  (let ((quote (and (< start (length text)) (find (char text start) "\"'"))))
    (if quote
        (values (1+ start) (or (position quote text :start (1+ start)) (length text)))
        (values start (run-end text start (lambda (c) (not (find c *argument-ends*))))))))

(defun option-p (option text start)
  (let ((after (+ start (length option))))
    (and (<= after (length text)) (boundary-p text start)
         (string-equal option text :start2 start :end2 after)
         after)))

(defun harmless-argument-p (text from to)
  "True for what is no secret itself: a variable, a placeholder, another option, a mark, a number."
  (or (>= from to)
      (find (char text from) "$<-[{=")
      (every #'digit-char-p (subseq text from to))
      (harmless-p (subseq text from to))))

(defun netrc-p (text start)
  "True when the word password at START stands behind machine or login, as in .netrc."
  (let ((line (1+ (or (position #\Newline text :end start :from-end t) -1))))
    (or (search "machine " text :start2 line :end2 start) (search "login " text :start2 line :end2 start))))

(defun told-secret-p (text from to)
  "True for a word of a sentence that is no word of the language: six characters, a digit and a letter among them, and no algorithm."
  (and (> (- to from) 5)
       (find-if #'digit-char-p text :start from :end to)
       (find-if #'alpha-char-p text :start from :end to)
       (not (find-if (lambda (c) (find c "(/")) text :start from :end to))
       (notany (lambda (word) (let ((end (+ from (length word)))) (and (<= end to) (string-equal word text :start2 from :end2 end)))) *algorithms*)))

(defun program-secret (text start)
  "Start and end of the secret whose option begins at START and belongs to a program named before it, or NIL."
  (loop for (program option) in *program-options*
        for after = (option-p option text start)
        do (when (and after (search program text :start2 (max 0 (- start +command-length+)) :end2 start))
             (multiple-value-bind (from to) (argument-bounds text after)
               ;; NAME=VALUE
               (when (string= option "--from-literal=")
                 (setf from (1+ (or (position #\= text :start from :end to) (1- from)))))
               (unless (or (harmless-argument-p text from to) (find (char text from) " "))
                 (return (values from to)))))))

(defun argument-secret (text start)
  "Start and end of the secret whose option or word begins at START, or NIL."
  (flet ((argument-after (options valid)
           (dolist (option options)
             (let ((after (option-p option text start)))
               (when after
                 (multiple-value-bind (from to) (argument-bounds text after)
                   (unless (harmless-argument-p text from to)
                     (multiple-value-bind (from to) (funcall valid from to)
                       (when from (return-from argument-secret (values from to)))))))))))
    (argument-after *secret-options* #'values)
    (argument-after *secret-words* (lambda (from to) (and (told-secret-p text from to) (values from to))))
    (argument-after '("password ") (lambda (from to) (and (netrc-p text start) (values from to))))
    (argument-after *login-options*
                    (lambda (from to)
                      (let ((colon (position #\: text :start from :end to)))
                        (and colon (> colon from) (< (1+ colon) to) (not (find #\/ text :start from :end to))
                             (search "curl" text :end2 start)
                             (values (1+ colon) to)))))
    (program-secret text start)))

(defun find-argument (text at)
  "The first secret at AT or after that an option or a word announces. Values: start, end, what it is; nil when there is none."
  (loop for start from at below (length text)
        do (when (and (find (char text start) "-spktawP_:\"") (boundary-p text start))
             (multiple-value-bind (from to) (argument-secret text start)
               (when from (return (values from to "value")))))))

;;; What is piped into a login.

(defparameter *password-readers* '("--password-stdin" "chpasswd" "sudo -S" "--with-token" "--pass-stdin" "-passin stdin" "passwd --stdin" "--passphrase-fd 0")
  "What reads a secret from its standard input.")

(defun find-piped-secret (text at)
  "What echo or printf hands to a program that reads a secret. Values: start, end, what it is; nil when there is none."
  (loop for pipe = (position #\| text :start (min at (length text))) then (position #\| text :start (1+ pipe))
        while pipe
        do (let* ((end (run-end text (1+ pipe) (lambda (c) (not (find c #(#\| #\; #\& #\Newline))))))
                  (line (1+ (or (position-if (lambda (c) (find c #(#\; #\& #\Newline))) text :end pipe :from-end t) -1)))
                  (said (loop for word in '("echo " "printf " "<<< ")
                              for start = (search word text :start2 (max at line) :end2 pipe :from-end t)
                              when start return (+ start (length word)))))
             (when (and said
                        (notany (lambda (mark) (eql said (search mark text :start2 said :end2 pipe))) '("$" "\"$" "[redacted"))
                        (some (lambda (reader) (search reader text :start2 pipe :end2 end)) *password-readers*))
               (return (values said (1+ (or (position #\Space text :start said :end pipe :from-end t :test-not #'eql) said)) "value"))))))

;;; Lines of .pgpass and calls of htpasswd.

(defun word-start-p (text at)
  (or (zerop at)
      (find (char text (1- at)) #(#\Space #\Newline #\" #\' #\+ #\-))
      ;; A line's end may be spelled out.
      (and (> at 1) (string= "\\n" text :start2 (- at 2) :end2 at))))

(defun pgpass-secret (text start)
  "Start and end of the password in host:port:database:user:password at START, or NIL."
  (let* ((end (run-end text start (lambda (c) (not (find c *argument-ends*)))))
         (colons (loop for at = (position #\: text :start start :end end) then (position #\: text :start (1+ at) :end end)
                       while at collect at)))
    (when (>= (length colons) 4)
      (destructuring-bind (host port database user &rest more) colons
        (declare (ignore more))
        (and (> host start) (< (1+ user) end)
             (not (find #\/ text :start start :end user))
             (let ((number (subseq text (1+ host) port)))
               (or (string= number "*") (and (string/= number "") (every #'digit-char-p number))))
             ;; A column after a line is a place in a file.
             (find-if-not #'digit-char-p text :start (1+ port) :end database)
             (values (1+ user) end))))))

(defun htpasswd-secret (text start)
  "Start and end of the last of the words after htpasswd -b at START, or NIL."
  (when (eql start (search "htpasswd " text :start2 start :end2 (min (length text) (+ start 9))))
    (let* ((end (run-end text start (lambda (c) (not (find c #(#\; #\| #\& #\Newline))))))
           (last (position #\Space (string-right-trim " \"'" (subseq text start end)) :from-end t)))
      (and last (find-if (lambda (c) (char= c #\b)) text :start (+ start 9) :end (+ start last))
           (search " -" text :start2 start :end2 (+ start last))
           (multiple-value-bind (from to) (argument-bounds text (+ start last 1))
             (unless (harmless-argument-p text from to) (values from to)))))))

(defun find-password-line (text at)
  "The password in a line of .pgpass or a call of htpasswd. Values: start, end, what it is; nil when there is none."
  (loop for start from at below (length text)
        do (when (and (name-character-p (char text start)) (word-start-p text start))
             (dolist (find (list #'pgpass-secret #'htpasswd-secret))
               (multiple-value-bind (from to) (funcall find text start)
                 (when (and from (not (eql from (search "[redacted" text :start2 from))))
                   (return-from find-password-line (values from to "password"))))))))
