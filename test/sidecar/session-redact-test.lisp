;;;; sidecar/session/redact.lisp

(defpackage #:opl.test.session.redact
  (:use #:cl #:opl.test #:opl.session.redact))

(in-package #:opl.test.session.redact)

(defun gone-p (secret text &rest keys)
  (not (search secret (apply #'redact text keys))))

;; None of these is real; the prefixes are put together here so that no secret scanner takes them for one.
(defun fake (prefix) (concatenate 'string prefix "4fT9kLm2QwXz7RbN1vCy"))

(deftest tokens-known-by-their-prefix
  (dolist (prefix '("sk-" "ghp_" "glpat-" "xoxb-" "AKIA" "npm_" "hf_" "github_pat_"))
    (check (gone-p (fake prefix) (format nil "use ~A now" (fake prefix))))
    (check (search "use [redacted token] now" (redact (format nil "use ~A now" (fake prefix)))))))

(deftest private-keys-whole-and-cut-off
  (let ((begin (format nil "-----BEGIN RSA ~A KEY-----~%MIIEow~%xyz~%" "PRIVATE")))
    (check-equal (format nil "a [redacted private key] b")
                 (redact (format nil "a ~A-----END RSA ~A KEY----- b" begin "PRIVATE")))
    (check-equal "a [redacted private key]" (redact (format nil "a ~A" begin))))
  (check-equal "-----BEGIN CERTIFICATE-----" (redact "-----BEGIN CERTIFICATE-----")))

(deftest web-tokens-and-headers
  (let ((token "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF123_-x"))
    (check (gone-p "eyJzdWIi" (format nil "jwt ~A." token))))
  (check (gone-p "dXNlcjpwYXNzd29yZDEyMw" "curl -H 'Authorization: Basic dXNlcjpwYXNzd29yZDEyMw=='"))
  (check (gone-p "abcdefghij12345" "Authorization: Bearer abcdefghij12345")))

(deftest passwords-in-addresses
  (check-equal "postgres://app:[redacted password]@db.local:5432/x" (redact "postgres://app:hunter2!@db.local:5432/x"))
  (check-equal "https://example.org:8080/path" (redact "https://example.org:8080/path")))

(deftest values-of-telling-names
  (dolist (text '("password = \"hunter2\"" "PASSWORD=hunter2" "\"apiKey\": \"hunter2\"" "db_password: hunter2"
                  "client_secret => 'hunter2'" "export DB_PASSWORD='hunter2'" "--password=hunter2"
                  "{\"secret\":\"hunter2\"}" "MY_API_KEY = hunter2"))
    (check (gone-p "hunter2" text)))
  (check (search "password" (redact "password = \"hunter2\""))))

(deftest code-that-holds-no-secret-stays
  (dolist (text '("const token = parseToken(input)" "token: string" "token = lexer.next" "password: string | undefined"
                  "secret: process.env.APP_SECRET" "commit 3f786850e387550fdab836ed7e6dc881de23001b"
                  "function tokenize(text) { return text.split(' ') }" "the token expires after 15 minutes"
                  "src/auth/token.ts:42" "NODE_ENV=production" "sk-learn-compatible-estimator-api"
                  "const x = someVeryLongFunctionNameThatGoesOn" "we chose JWT because of token expiry"))
    (check-equal text (redact text))))

(deftest dot-env-files-and-lines
  (check (gone-p "plainword" "COLOR=plainword" :path ".env"))
  (check (gone-p "plainword" "COLOR=plainword" :path "config/.env.local"))
  (check (gone-p "Zx81-Qq" (format nil "A=1~%STRIPE_ID=Zx81-Qq77"))))

(deftest sentences-are-not-random
  (dolist (text '("msg = 'expected 3 arguments, got %s (see Chapter 12)'" "help=\"number of Threads to use, 4 by default\""
                  "command: `exec pytest --Quiet -k \"one 2\"`"))
    (check-equal text (redact text))))

(deftest literals-that-look-random
  (check (gone-p "aB3dE5gH7jK9mN1pQ3sT5" "const k = \"aB3dE5gH7jK9mN1pQ3sT5\"")))

(deftest many-secrets-in-one-text
  (let ((text (format nil "a ~A b ~A c password=hunter2 d" (fake "ghp_") (fake "sk-"))))
    (check-equal "a [redacted token] b [redacted token] c password=[redacted value] d" (redact text))))

(deftest odd-texts
  (check-equal "" (redact ""))
  (check-equal "=" (redact "="))
  (check-equal "://" (redact "://"))
  (check-equal "password" (redact "password"))
  (check-equal "password:" (redact "password:"))
  (check-equal "Bearer " (redact "Bearer ")))

(deftest a-token-of-letters-alone-has-capitals
  (check (gone-p "AbCdEfGh" (concatenate 'string "glpat-" "AbCdEfGhIjKlMnOpQrSt"))))

(deftest secrets-in-command-lines
  (dolist (text '("curl -u admin:hunter2 https://x.y" "curl --user 'admin:hunter2' https://x.y" "mysql -uroot -phunter2 app"
                  "tool --password hunter2 --x" "tool --token \"hunter2\"" "sshpass -p hunter2 ssh host" "PGPASSWORD=hunter2 psql"
                  "aws configure set aws_session_token hunter2" "machine github.com login me password hunter2"))
    (check (gone-p "hunter2" text)))
  (dolist (text '("cp -p a b" "ssh -p 2222 host" "docker run -p 8080:80 x" "curl -u admin https://x" "sort -u file:name"
                  "npm test -- --token-budget 500" "tool --password $PASSWORD" "tool --password" "grep -k test_password_reset"))
    (check-equal text (redact text))))

(deftest secrets-in-other-clothes
  (dolist (text '("{\\\"password\\\":\\\"hunter2\\\"}" "<password>hunter2</password>" "the password is hunter2" "SMTP_PASS=hunter2"
                  "pass: 'hunter2'" "Server=db;User Id=sa;Password=hunter2;" "redis://:hunter2@cache:6379/0"
                  "postgres://admin:x/hunter2@db.local/app" "Cookie: sid=hunter2hunter2" "https://x.y/v1?api_key=hunter2&x=1"))
    (check (gone-p "hunter2" text)))
  (check (gone-p "0123456789abcdef" "Authorization: token 0123456789abcdef0123456789abcdef01234567"))
  (check (gone-p "XXXXXXXX" (format nil "https://hooks.slack.com/~A/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX" "services"))))

(deftest ordinary-text-stays
  (dolist (text '("sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" "request_id=123e4567-e89b-12d3-a456-426614174000"
                  "requestId: '0c7ae9f2-1b3d-4e5f-8a6b-9c0d1e2f3a4b'" "md5 d41d8cd98f00b204e9800998ecf8427e" "index a1b2c3d..e4f5a6b 100644"
                  "Basic authentication is implemented in auth.ts" "Bearer tokens are checked in middleware.ts" "bypass = true"
                  "pass: 12 fail: 3" "v.Op == OpPPC64LoweredNilCheck12345" "auth = AuthService(config)" "MAX_TOKENS=4096"
                  "see http://localhost:3000/a:b@c" "git@github.com:owner/repo.git" "password: string;" "the secret of the design is simplicity"))
    (check-equal text (redact text))))

(deftest tokens-of-makers-nobody-listed
  (dolist (prefix '("hvs." "dapi" "glsa_" "ATATT3x" "dp.pt." "PMAK-" "rubygems_" "key-" "bot 123456789:" "~"))
    (check (gone-p "4fT9kLm2QwXz7RbN1vCyD8eH" (format nil "use ~A4fT9kLm2QwXz7RbN1vCyD8eH now" prefix))))
  ;; Names that change between small, capital and digit stay.
  (dolist (name '("convertIPv4MappedIPv6ToIPv4" "OpenSSL3Sha256Base64Encoder" "getHTTP2ServerX509Certificates" "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"
                  "01234567-89ab-cdef-0123-456789abcdef" "handleUserLoginRequestWithRetries" "MAX_CONCURRENT_STREAMS_HTTP2"))
    (check-equal name (redact name))))

(deftest tokens-in-addresses-without-a-password
  (check-equal "https://[redacted token]@example.org/o/r.git" (redact "https://9f86d081884c7d659a2feaa0c55ad015@example.org/o/r.git"))
  (check-equal "ssh://deployment-account@example.org/x" (redact "ssh://deployment-account@example.org/x")))

(deftest what-hides-between-a-name-and-its-value
  (let ((escape (code-char 27)))
    (check (gone-p "hunter2x" (format nil "~C[32mpassword=~C[0mhunter2x" escape escape))))
  (check (gone-p "hunter2x" (format nil "pass~Cword=hunter2x" (code-char #x200B))))
  (check (gone-p "hunter2x" (format nil "password~C=~Chunter2x" (code-char 160) (code-char 160))))
  (check (gone-p "hunter2x" (format nil "password: |~%  hunter2x~%user: me")))
  (check (gone-p "hunter2x" (format nil "password:~%    hunter2x~%user: me")))
  (check (gone-p "hunter2x" "<add key=\"Password\" value=\"hunter2x\"/>"))
  (check (gone-p "hunter2x" "ENV SECRET_KEY hunter2x"))
  (check (search "type: string" (redact (format nil "password:~%  type: string"))))
  (check (search "return check(1)" (redact (format nil "if password:~%    return check(1)"))))
  (check-equal "<input name=\"user\" value=\"anna\"/>" (redact "<input name=\"user\" value=\"anna\"/>")))

(deftest names-of-secrets-in-other-languages
  (dolist (text '("Passwort: hunter2x" "das Passwort lautet hunter2x" "mot de passe : hunter2x" "contraseña: hunter2x" "wachtwoord=hunter2x" "senha: hunter2x"
                  "пароль: hunter2x" "密码: hunter2x" "psk=\"hunter2x\"" "X-Amz-Signature=hunter2x"))
    (check (gone-p "hunter2x" text))))

(deftest keys-cut-off-at-their-beginning-or-at-both-ends
  (let ((line "kW+/9dJxT2pVYq6hLMr0sZbGcNfE1uOaHiQyXwIvBnDmKtRjSlPzUoCgFe3w5A8"))
    (check-equal "saw [redacted private key] then" (redact (format nil "saw ~A~%~A~%oDQ==~%-----END RSA ~A KEY----- then" line line "PRIVATE")))
    (check (gone-p "sZbGcNfE1" (format nil "~A\\n-----END ~A KEY-----\\n\"}" line "PRIVATE")))
    (check-equal "-[redacted random value]" (redact (concatenate 'string "-" line))))
  (dolist (text '("see the notes before -----END CERTIFICATE-----" "src/components/forms/ButtonGroup2/ButtonGroupIndexPage.tsx"
                  "com/example/project/internal/service/impl/UserAccountServiceImpl2.java"))
    (check-equal text (redact text))))

(deftest env-files-in-diffs-literals-and-commands
  (let ((diff (format nil "@@ -1 +1 @@~%-GREETING=plainoldword~%+export greeting=plainnewword~%")))
    (check (gone-p "plainoldword" diff :path "config/.env.production"))
    (check (gone-p "plainnewword" diff :path ".env")))
  (check (gone-p "Zx81-Qq77" "{\"content\":\"A=1\\nSTRIPE_ID=Zx81-Qq77\\n\"}"))
  (check (gone-p "plainword" "echo GREETING=plainword >> .env"))
  (check-equal "import.meta.env.MODE=development and process.env.HOME=x" (redact "import.meta.env.MODE=development and process.env.HOME=x")))

(deftest secrets-given-to-programs
  (dolist (text '("docker login -u bob -p hunter2x registry.example.org" "redis-cli -a hunter2x ping" "sshpass -phunter2x ssh host" "htpasswd -b file bob hunter2x"
                  "echo hunter2x | docker login -u bob --password-stdin" "echo 'bob:hunter2x' | chpasswd" "setx DB_PASSWORD hunter2x" "set -gx DB_PASSWORD hunter2x"
                  "gh secret set DEPLOY --body hunter2x" "kubectl create secret generic db --from-literal=user=adm --from-literal=pin=hunter2x"
                  "nmcli dev wifi connect home password hunter2x" "db.local:5432:app:bob:hunter2x" "//registry.example.org/:_auth=hunter2x"
                  "curl --header 'PRIVATE-TOKEN: hunterxx' https://x.y" "use the password hunter2x for it"))
    (check (gone-p "hunter" text)))
  (check (gone-p "dXNlcjpw" (format nil "Authorization: Basic~% dXNlcjpwYXNzd29yZDEyMw==")))
  (dolist (text '("echo done | sudo tee file" "echo $PASSWORD | docker login --password-stdin" "hash the password sha256 and argon2id" "src/a.ts:12:3:error:x"
                  "12:30:45:word:more" "npm run login -p 3000" "htpasswd -c file" "curl -H 'Accept: text/html' https://x.y"))
    (check-equal text (redact text))))
