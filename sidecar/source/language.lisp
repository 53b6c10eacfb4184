;;;; Languages: which files are written in which, and how the scanner reads them. One form a language; what
;;;; a definition or a call looks like is told by its extractor (sidecar/languages/), by FAMILY.

(defpackage #:opl.source.language
  (:use #:cl #:opl.source.literals)
  (:import-from #:opl.source.names #:octets)
  (:import-from #:opl.source.lexer #:text-octets)
  (:export #:language #:language-name #:language-family #:language-ctags #:language-syntax #:language-markup
           #:language-text-p #:find-language #:language-of-path #:language-of-first-line #:all-languages
           #:syntax #:syntax-classes #:syntax-openers #:syntax-operators #:syntax-singles #:syntax-jsx
           #:syntax-preprocessor #:syntax-marks #:syntax-words #:syntax-more #:extension-of #:path-name))
(in-package #:opl.source.language)

(defstruct syntax
  (classes (make-array 256 :element-type '(unsigned-byte 8) :initial-element 0)
   :type (simple-array (unsigned-byte 8) (256)))   ; 0 other, 1 word, 2 digit, 3 blank, 4 line end, 5 opening bracket, 6 closing
  (more (make-array 256 :element-type 'bit :initial-element 0) :type (simple-bit-vector 256)) ; goes on in a word
  (openers (make-array 256 :initial-element '()) :type (simple-vector 256)) ; lists of (octets . action), longest first
  (operators (make-array 256 :initial-element '()) :type (simple-vector 256)) ; lists of (octets . name), longest first
  (singles (make-array 256 :element-type '(unsigned-byte 32) :initial-element 0)
   :type (simple-array (unsigned-byte 32) (256)))  ; name of the one-character operator
  (jsx nil)
  (marks nil)                           ; a name may end with ? or !
  (preprocessor nil))

(defstruct language
  (name "" :type string)
  (family nil :type symbol)             ; which extractor; nil: words alone
  (ctags nil)                           ; what universal-ctags calls it, nil where it is not asked
  (syntax nil)                          ; nil: text without comments and strings
  (markup nil)                          ; :sections (code in <script>), :php
  (text-p nil))                         ; prose or configuration: searched, but no code

(defvar *languages* '())
(defvar *extensions* (make-hash-table :test 'equal))
(defvar *file-names* (make-hash-table :test 'equal))
(defvar *interpreters* (make-hash-table :test 'equal))

(defparameter *usual-operators*
  '("=>" "->" "::" "?." "??" "..." ".." "==" "===" "!=" "!==" "<=" ">=" "&&" "||" "++" "--" "+=" "-=" "*=" "/=" "%="
    "|=" "&=" "^=" ":=" "**" "??=" "||=" "&&=" "#{"))

(defun sorted-by-length (list) (sort list #'> :key (lambda (entry) (length (the octets (car entry))))))

(defun build-syntax (openers &key (start "") (more "") (operators '()) (without '()) jsx marks preprocessor)
  "OPENERS: list of (text action). START and MORE: characters that may start, or go on in, a word beside
letters, digits and _. OPERATORS: of more than one character, beside the usual ones; WITHOUT: usual ones
that this language does not have."
  (let ((syntax (make-syntax :jsx jsx :marks marks :preprocessor preprocessor)))
    (with-accessors ((classes syntax-classes) (bits syntax-more) (by-octet syntax-openers)
                     (operator-lists syntax-operators) (singles syntax-singles)) syntax
      (dotimes (octet 256)
        (setf (aref classes octet)
              (cond ((or (<= 97 octet 122) (<= 65 octet 90) (= octet 95) (>= octet 128)
                         (find octet start :key #'char-code)) 1)
                    ((<= 48 octet 57) 2)
                    ((= octet 10) 4)
                    ((member octet '(32 9 13 12 11 0)) 3)
                    ((member octet '(40 91 123)) 5)
                    ((member octet '(41 93 125)) 6)
                    (t 0))
              (aref bits octet)
              (if (or (member (aref classes octet) '(1 2)) (find octet more :key #'char-code)) 1 0)
              (aref singles octet) (opl.source.names::well-known-number (string (code-char octet)))))
      (loop for (text action) in openers
            do (push (cons (text-octets text) action) (aref by-octet (char-code (char text 0)))))
      (loop for text in (set-difference (append operators *usual-operators*) without :test #'string=)
            do (push (cons (text-octets text) (opl.source.names::well-known-number text))
                     (aref operator-lists (char-code (char text 0)))))
      (dotimes (octet 256)
        (setf (aref by-octet octet) (sorted-by-length (copy-list (aref by-octet octet)))
              (aref operator-lists octet) (sorted-by-length (copy-list (aref operator-lists octet))))))
    syntax))

(defmacro define-language (name (&key family ctags extensions files interpreters markup text) &body syntax)
  "SYNTAX: a plist for `build-syntax' whose first element is the list of openers; none for plain text."
  `(let ((language (make-language :name ,name :family ,family :ctags ,ctags :markup ,markup :text-p ,text
                                  :syntax ,(and syntax `(build-syntax ,@syntax)))))
     (setf *languages* (append (remove ,name *languages* :key #'language-name :test #'string=) (list language)))
     (dolist (extension ',extensions) (setf (gethash extension *extensions*) language))
     (dolist (file ',files) (setf (gethash file *file-names*) language))
     (dolist (interpreter ',interpreters) (setf (gethash interpreter *interpreters*) language))
     language))

(defun all-languages () *languages*)
(defun find-language (name)
  "The language called NAME, or nil."
  (find name *languages* :key #'language-name :test #'string-equal))

(defun path-name (path) (subseq path (1+ (or (position #\/ path :from-end t) -1))))
(defun extension-of (path)
  "What follows the last dot of PATH's name, in lower case, or nil."
  (let* ((name (path-name path)) (dot (position #\. name :from-end t)))
    (and dot (plusp dot) (string-downcase (subseq name (1+ dot))))))

(defun language-of-path (path)
  "The language of PATH by its name, or nil (ask `language-of-first-line' then)."
  (or (gethash (path-name path) *file-names*)
      (let ((extension (extension-of path)))
        (and extension
             (if (string= (subseq path (- (length path) (length extension))) "C") ; case tells C++ from C
                 (find-language "C++")
                 (gethash extension *extensions*))))))

(defun language-of-first-line (line)
  "The language that a `#!' LINE calls for, or nil."
  (when (and (> (length line) 2) (string= "#!" line :end2 2))
    (let* ((words (loop with start = 2
                        for from = (position-if-not (lambda (c) (member c '(#\Space #\Tab))) line :start start)
                        while from
                        for to = (or (position-if (lambda (c) (member c '(#\Space #\Tab #\Return))) line :start from)
                                     (length line))
                        collect (subseq line from to) do (setf start to)))
           (program (path-name (or (first words) ""))))
      (when (string= program "env")
        (setf program (or (find-if-not (lambda (word) (or (find #\= word) (char= (char word 0) #\-))) (rest words)) "")))
      (gethash (string-right-trim "0123456789." program) *interpreters*))))

;;; The table. Openers that several languages share:

(defparameter *slash-comments* (list (list "//" (line-comment)) (list "/*" (block-comment "*/"))))
(defparameter *nested-slash-comments*
  (list (list "//" (line-comment)) (list "/*" (block-comment "*/" :nested t :open "/*"))))
(defparameter *double* (list (list "\"" (string-literal "\""))))
(defparameter *single* (list (list "'" (string-literal "'"))))
(defparameter *script-literals*
  (append *slash-comments* *double* *single*
          (list (list "`" (string-literal "`" :multiline t :interpolations '(("${" . #\}))))
                (list "/" (regexp-literal))
                (list "#!" (let ((line (line-comment))) ; only as the first line
                             (lambda (lexer start length)
                               (and (zerop start) (funcall line lexer start length))))))))

(define-language "TypeScript" (:family :script :ctags "TypeScript" :extensions ("ts" "mts" "cts") :interpreters ("ts-node" "tsx" "deno" "bun"))
  *script-literals* :start "$#" :more "$" :without '("#{"))
(define-language "TSX" (:family :script :ctags "TypeScript" :extensions ("tsx"))
  *script-literals* :start "$#" :more "$" :jsx t :without '("#{"))
(define-language "JavaScript" (:family :script :ctags "JavaScript" :extensions ("js" "mjs" "cjs" "jsx" "es6" "gs") :interpreters ("node" "nodejs"))
  *script-literals* :start "$#" :more "$" :jsx t :without '("#{"))
(define-language "Vue" (:family :script :markup :sections :extensions ("vue"))
  *script-literals* :start "$#" :more "$" :without '("#{"))
(define-language "Svelte" (:family :script :markup :sections :extensions ("svelte" "astro"))
  *script-literals* :start "$#" :more "$" :without '("#{"))

(define-language "Python" (:family :python :ctags "Python" :extensions ("py" "pyi" "pyw" "pyx" "pxd" "bzl" "sage") :files ("SConstruct" "SConscript" "wscript" "BUILD" "WORKSPACE" "Tiltfile") :interpreters ("python" "pypy"))
  (append
   (list (list "#" (line-comment)))
   (loop for prefix in '("" "u" "U" "b" "B" "r" "R" "br" "bR" "Br" "BR" "rb" "rB" "Rb" "RB")
         append (loop for quote in '("\"\"\"" "'''" "\"" "'")
                      collect (list (concatenate 'string prefix quote)
                                    (string-literal quote :multiline (= 3 (length quote))))))
   (loop for prefix in '("f" "F" "fr" "fR" "Fr" "FR" "rf" "rF" "Rf" "RF" "t" "T" "tr" "rt")
         append (loop for quote in '("\"\"\"" "'''" "\"" "'")
                      collect (list (concatenate 'string prefix quote)
                                    (string-literal quote :multiline (= 3 (length quote)) :formats t :unless-doubled t
                                                          :interpolations '(("{" . #\})))))))
  :operators '("//" "<<" ">>") :without '("++" "--" "&&" "||" "?." "??" "::" "=>"))

(define-language "Go" (:family :go :ctags "Go" :extensions ("go"))
  (append *slash-comments* *double* (list (list "`" (raw-string "`")) (list "'" (character-literal))))
  :operators '("<-" "&^" "<<"))

(define-language "Go module" (:family :go-module :files ("go.mod")) (list (list "//" (line-comment))))

(define-language "Rust" (:family :rust :ctags "Rust" :extensions ("rs"))
  (append *nested-slash-comments*
          (list (list "\"" (string-literal "\"" :multiline t)) (list "b\"" (string-literal "\"" :multiline t))
                (list "c\"" (string-literal "\"" :multiline t))
                (list "r\"" (raw-string "\"")) (list "br\"" (raw-string "\"")) (list "cr\"" (raw-string "\""))
                (list "r#" (hash-raw-string)) (list "br#" (hash-raw-string)) (list "cr#" (hash-raw-string))
                (list "b'" (character-literal)) (list "'" (character-or-lifetime))))
  :operators '("..=") :without '("||" "&&" "++" "--" "??"))

(define-language "Cargo" (:family :cargo :files ("Cargo.toml")) (append (list (list "#" (line-comment))) *double*))

(define-language "Java" (:family :java :ctags "Java" :extensions ("java"))
  (append *slash-comments* *double*
          (list (list "\"\"\"" (string-literal "\"\"\"" :multiline t)) (list "'" (character-literal)))))
(define-language "Groovy" (:family :java :extensions ("groovy" "gradle" "gvy") :files ("Jenkinsfile"))
  (append *slash-comments* *double* *single*
          (list (list "\"\"\"" (string-literal "\"\"\"" :multiline t :interpolations '(("${" . #\}))))
                (list "'''" (string-literal "'''" :multiline t)))))
(define-language "Kotlin" (:family :kotlin :extensions ("kt" "kts"))
  (append *nested-slash-comments*
          (list (list "\"\"\"" (string-literal "\"\"\"" :escape nil :multiline t :interpolations '(("${" . #\}))))
                (list "\"" (string-literal "\"" :interpolations '(("${" . #\}))))
                (list "'" (character-literal)))))
(define-language "Scala" (:family :scala :extensions ("scala" "sc" "sbt"))
  (append *nested-slash-comments* *double*
          (list (list "\"\"\"" (raw-string "\"\"\"")) (list "'" (character-or-prime)))
          (loop for prefix in '("s" "f" "raw")
                append (list (list (concatenate 'string prefix "\"\"\"")
                                   (string-literal "\"\"\"" :escape nil :multiline t :interpolations '(("${" . #\}))))
                             (list (concatenate 'string prefix "\"")
                                   (string-literal "\"" :interpolations '(("${" . #\})))))))
  :operators '("<-" "<:" ">:"))
(define-language "Swift" (:family :swift :extensions ("swift"))
  (append *nested-slash-comments*
          (list (list "\"\"\"" (string-literal "\"\"\"" :multiline t :interpolations '(("\\(" . #\)))))
                (list "\"" (string-literal "\"" :interpolations '(("\\(" . #\)))))
                (list "#" (let ((raw (hash-raw-string)))
                            (lambda (lexer start length) (funcall raw lexer start length)))))))
(define-language "Dart" (:family :dart :extensions ("dart"))
  (append *nested-slash-comments*
          (loop for quote in '("\"\"\"" "'''" "\"" "'")
                append (list (list quote (string-literal quote :multiline (= 3 (length quote)) :interpolations '(("${" . #\}))))
                             (list (concatenate 'string "r" quote)
                                   (string-literal quote :escape nil :multiline (= 3 (length quote))))))))

(defparameter *c-literals*
  (append *slash-comments* *double* (list (list "'" (character-literal)) (list "L\"" (string-literal "\"")))))
(define-language "C" (:family :c :ctags "C" :extensions ("c" "h" "inc" "xs" "cl"))
  *c-literals* :preprocessor t :start "$" :more "$" :operators '("<<"))
(define-language "C++" (:family :c++ :ctags "C++" :extensions ("cc" "cpp" "cxx" "c++" "hh" "hpp" "hxx" "h++" "ipp" "tpp" "inl" "cu" "cuh" "ino"))
  (append *c-literals* (loop for prefix in '("R\"" "LR\"" "uR\"" "UR\"" "u8R\"") collect (list prefix (delimited-raw-string))))
  :preprocessor t :operators '("<<" "->*"))
(define-language "Objective-C" (:family :c :ctags "ObjectiveC" :extensions ("m" "mm"))
  (append *c-literals* (list (list "@\"" (string-literal "\"")))) :preprocessor t)
(define-language "C#" (:family :csharp :ctags "C#" :extensions ("cs" "csx"))
  (append *slash-comments*
          (list (list "\"\"\"" (raw-string "\"\"\"")) (list "\"" (string-literal "\""))
                (list "@\"" (string-literal "\"" :escape :double :multiline t))
                (list "$\"" (string-literal "\"" :interpolations '(("{" . #\})) :formats t :unless-doubled t))
                (list "$@\"" (string-literal "\"" :escape :double :multiline t :interpolations '(("{" . #\})) :formats t :unless-doubled t))
                (list "@$\"" (string-literal "\"" :escape :double :multiline t :interpolations '(("{" . #\})) :formats t :unless-doubled t))
                (list "$\"\"\"" (string-literal "\"\"\"" :escape nil :multiline t :interpolations '(("{" . #\})) :formats t))
                (list "'" (character-literal))))
  :start "@" :preprocessor t)

(defparameter *special-variables*
  (loop for text in '("$'" "$\"" "$`" "$/" "$?" "$!")
        collect (list text (lambda (lexer start length)
                             (opl.source.lexer:emit-identifier lexer start (+ start length))
                             (+ start length))))
  "Variables whose names are punctuation that would begin a string or regular expression.")

(define-language "Ruby" (:family :ruby :ctags "Ruby" :extensions ("rb" "rake" "gemspec" "ru" "rbi" "podspec") :files ("Rakefile" "Gemfile" "Guardfile" "Podfile" "Vagrantfile" "Fastfile") :interpreters ("ruby"))
  (let ((interpolations '(("#{" . #\}))))
    (list (list "#" (line-comment)) (list "=begin" (block-at-line-start "=end")) (list "__END__" (end-of-text))
          (list "\"" (string-literal "\"" :multiline t :interpolations interpolations))
          (list "'" (string-literal "'" :multiline t))
          (list "`" (string-literal "`" :multiline t :interpolations interpolations))
          (list "%" (percent-literal)) (list "?" (question-character)) (list "/" (regexp-literal :spaced t))
          (list "<<" (heredoc :marks "-~" :interpolations interpolations :expression-only t))
          (first *special-variables*) (second *special-variables*) (third *special-variables*) (fourth *special-variables*)))
  :start "@$" :more "" :marks t :operators '("<<" "<=>" "&." "=~"))

(define-language "PHP" (:family :php :ctags "PHP" :markup :php :extensions ("php" "phtml" "php3" "php4" "php5" "phps" "inc.php" "module" "theme") :interpreters ("php"))
  (list (list "//" (line-comment :until "?>")) (list "#" (line-comment :unless-next "[" :until "?>"))
        (list "/*" (block-comment "*/"))
        (list "\"" (string-literal "\"" :multiline t :interpolations '(("{$" . #\}))))
        (list "'" (string-literal "'" :multiline t)) (list "`" (string-literal "`" :multiline t))
        (list "<<<" (php-heredoc)) (list "?>" (php-close)))
  :start "$" :operators '("?->" "<=>" "<<") :without '("#{"))

(define-language "Elixir" (:family :elixir :extensions ("ex" "exs") :interpreters ("elixir"))
  (let ((interpolations '(("#{" . #\}))))
    (list (list "#" (line-comment)) (list "\"\"\"" (string-literal "\"\"\"" :multiline t :interpolations interpolations))
          (list "'''" (string-literal "'''" :multiline t :interpolations interpolations))
          (list "\"" (string-literal "\"" :multiline t :interpolations interpolations))
          (list "'" (string-literal "'" :multiline t :interpolations interpolations))
          (list "~" (sigil)) (list "?" (question-character))))
  :start "@" :more "?!" :operators '("|>" "<>" "<-" "\\\\" "=~"))
(define-language "Erlang" (:family nil :ctags "Erlang" :extensions ("erl" "hrl") :interpreters ("escript"))
  (append (list (list "%" (line-comment)) (list "$" (question-character))) *double* *single*))
(define-language "Lua" (:family :lua :ctags "Lua" :extensions ("lua" "luau") :interpreters ("lua" "luajit"))
  (append (list (list "--" (long-comment)) (list "[[" (long-bracket)) (list "[=" (long-bracket))) *double* *single*)
  :operators '("~=") :without '("--" "++" "&&" "||"))
(define-language "Shell" (:family :shell :ctags "Sh" :extensions ("sh" "bash" "zsh" "ksh" "ash" "bats") :files (".bashrc" ".bash_profile" ".zshrc" ".profile" "PKGBUILD" "configure.ac") :interpreters ("sh" "bash" "zsh" "ksh" "dash" "ash" "bats"))
  (list (list "#" (word-comment)) (list "'" (string-literal "'" :escape nil :multiline t))
        (list "$'" (string-literal "'" :multiline t))
        (list "\"" (string-literal "\"" :multiline t :interpolations '(("$(" . #\)))))
        (list "<<" (heredoc :marks "-" :interpolations '(("$(" . #\))))) (list "<<<" (lambda (lexer start length) (declare (ignore lexer)) (+ start length))))
  :more "-" :operators '(";;") :without '("--" "->" "=>"))
(define-language "Perl" (:family :perl :ctags "Perl" :extensions ("pl" "pm" "t" "psgi") :interpreters ("perl"))
  (append *special-variables*
          (list (list "#" (word-comment)) (list "__END__" (end-of-text)) (list "__DATA__" (end-of-text))
                (list "\"" (string-literal "\"" :multiline t)) (list "'" (string-literal "'" :multiline t))
                (list "`" (string-literal "`" :multiline t)) (list "/" (regexp-literal))
                (list "<<" (heredoc :marks "~" :expression-only t)))
          (loop for word in '("=pod" "=head" "=over" "=item" "=begin" "=for" "=encoding" "=cut")
                collect (list word (block-at-line-start "=cut")))
          (loop for (word parts) in '(("q" 1) ("qq" 1) ("qw" 1) ("qr" 1) ("qx" 1) ("m" 1) ("s" 2) ("tr" 2) ("y" 2))
                collect (list word (quoted-by-word parts))))
  :operators '("=~" "!~" "<=>" "<<"))

(defparameter *lisp-more* "-+*/<>=!?$%&^~.:@")
(defparameter *lisp-literals*
  (list (list ";" (line-comment)) (list "#|" (block-comment "|#" :nested t :open "#|"))
        (list "\"" (string-literal "\"" :multiline t)) (list "#\\" (lisp-character)) (list "'" (quote-symbol))
        (list "|" (string-literal "|" :multiline t))))
(define-language "Common Lisp" (:family :lisp :ctags "Lisp" :extensions ("lisp" "lsp" "asd" "clisp") :interpreters ("sbcl"))
  *lisp-literals* :start *lisp-more* :more *lisp-more*)
(define-language "Emacs Lisp" (:family :lisp :ctags "EmacsLisp" :extensions ("el") :files (".emacs") :interpreters ("emacs"))
  (append (list (list ";" (line-comment)) (list "\"" (string-literal "\"" :multiline t)) (list "'" (quote-symbol))
                (list "?" (let ((character (lisp-character)))
                            (lambda (lexer start length)
                              (and (member (opl.source.lexer:previous-octet lexer start) '(32 40 10 9 39))
                                   (funcall character lexer start
                                            (+ length (if (= (opl.source.lexer:octet-at lexer (1+ start)) 92) 1 0))))))))
          '())
  :start *lisp-more* :more *lisp-more*)
(define-language "Scheme" (:family :lisp :ctags "Scheme" :extensions ("scm" "ss" "sld" "sls" "rkt") :interpreters ("guile" "racket"))
  *lisp-literals* :start *lisp-more* :more (concatenate 'string *lisp-more* "'"))
(define-language "Clojure" (:family :lisp :ctags "Clojure" :extensions ("clj" "cljs" "cljc" "edn" "bb") :interpreters ("bb"))
  (list (list ";" (line-comment)) (list "\"" (string-literal "\"" :multiline t)) (list "\\" (lisp-character))
        (list "#\"" (string-literal "\"" :multiline t)) (list "'" (quote-symbol)))
  :start *lisp-more* :more (concatenate 'string *lisp-more* "'#"))
(define-language "Haskell" (:family :haskell :extensions ("hs" "lhs" "hsc"))
  (append *double* (list (list "--" (dash-comment)) (list "{-" (block-comment "-}" :nested t :open "{-"))
                         (list "'" (character-or-prime))))
  :more "'" :operators '("<-"))
(define-language "OCaml" (:family :ocaml :ctags "OCaml" :extensions ("ml" "mli" "mll" "mly"))
  (list (list "(*" (block-comment "*)" :nested t :open "(*")) (list "\"" (string-literal "\"" :multiline t))
        (list "{|" (raw-string "|}")) (list "'" (character-or-prime)))
  :more "'" :operators '("<-" "|>"))
(define-language "F#" (:family :ocaml :extensions ("fs" "fsi" "fsx"))
  (append (list (list "//" (line-comment)) (list "(*" (block-comment "*)" :nested t :open "(*"))
                (list "\"\"\"" (raw-string "\"\"\"")) (list "'" (character-or-prime)))
          *double*)
  :more "'" :operators '("<-" "|>"))
(define-language "R" (:family :r :ctags "R" :extensions ("r") :interpreters ("Rscript"))
  (append (list (list "#" (line-comment)) (list "`" (string-literal "`")))
          (loop for quote in '("\"" "'") collect (list quote (string-literal quote :multiline t)))
          (loop for (open close) in '(("r\"(" ")\"") ("R\"(" ")\"")) collect (list open (raw-string close))))
  :more "." :operators '("<-" "<<-" "->>" "|>"))
(define-language "Julia" (:family :julia :ctags "Julia" :extensions ("jl") :interpreters ("julia"))
  (let ((interpolations '(("$(" . #\)))))
    (list (list "#" (line-comment)) (list "#=" (block-comment "=#" :nested t :open "#="))
          (list "\"\"\"" (string-literal "\"\"\"" :multiline t :interpolations interpolations))
          (list "\"" (string-literal "\"" :multiline t :interpolations interpolations))
          (list "`" (string-literal "`" :multiline t)) (list "'" (character-or-prime))))
  :more "!" :start "@" :operators '("|>" "<:" ">:") :without '("#{"))
(define-language "Zig" (:family :zig :extensions ("zig" "zon"))
  (append (list (list "//" (line-comment)) (list "\\\\" (line-string)) (list "'" (character-literal))) *double*)
  :start "@")
(define-language "SQL" (:family :sql :ctags "SQL" :extensions ("sql" "pls" "plsql" "ddl"))
  (list (list "--" (line-comment)) (list "/*" (block-comment "*/")) (list "'" (string-literal "'" :escape :double :multiline t))
        (list "\"" (string-literal "\"" :escape :double)) (list "`" (string-literal "`")) (list "$" (dollar-quote)))
  :without '("--"))
(define-language "Solidity" (:family :solidity :extensions ("sol")) (append *slash-comments* *double* *single*))
(define-language "Protobuf" (:family :protobuf :ctags "Protobuf" :extensions ("proto")) (append *slash-comments* *double* *single*))
(define-language "GraphQL" (:family :graphql :extensions ("graphql" "gql" "graphqls"))
  (list (list "#" (line-comment)) (list "\"\"\"" (string-literal "\"\"\"" :multiline t)) (list "\"" (string-literal "\""))))
(define-language "Terraform" (:family :terraform :extensions ("tf" "tfvars" "hcl"))
  (list (list "#" (line-comment)) (list "//" (line-comment)) (list "/*" (block-comment "*/"))
        (list "\"" (string-literal "\"" :interpolations '(("${" . #\})))) (list "<<" (heredoc :marks "-"))) :more "-")
(define-language "Thrift" (:family nil :extensions ("thrift")) (append *slash-comments* (list (list "#" (line-comment))) *double* *single*))
(define-language "PowerShell" (:family nil :ctags "PowerShell" :extensions ("ps1" "psm1" "psd1"))
  (list (list "#" (line-comment)) (list "<#" (block-comment "#>")) (list "\"" (string-literal "\"" :escape #\` :multiline t))
        (list "'" (string-literal "'" :escape :double :multiline t))))
(define-language "Pascal" (:family nil :ctags "Pascal" :extensions ("pas" "pp" "dpr"))
  (append *slash-comments* (list (list "{" (block-comment "}")) (list "(*" (block-comment "*)")) (list "'" (string-literal "'" :escape :double)))))
(define-language "Fortran" (:family nil :ctags "Fortran" :extensions ("f" "f90" "f95" "f03" "f08" "for"))
  (append (list (list "!" (line-comment))) *double* *single*))
(define-language "Ada" (:family nil :ctags "Ada" :extensions ("adb" "ads"))
  (list (list "--" (line-comment)) (list "\"" (string-literal "\"" :escape :double)) (list "'" (character-or-prime))))
(define-language "Assembly" (:family nil :ctags "Asm" :extensions ("s" "asm")) (append *slash-comments* *double*) :preprocessor t)
(define-language "Verilog" (:family nil :ctags "Verilog" :extensions ("v" "vh")) (append *slash-comments* *double*))
(define-language "SystemVerilog" (:family nil :ctags "SystemVerilog" :extensions ("sv" "svh")) (append *slash-comments* *double*))
(define-language "VHDL" (:family nil :ctags "VHDL" :extensions ("vhd" "vhdl")) (append (list (list "--" (line-comment))) *double*))
(define-language "Tcl" (:family nil :ctags "Tcl" :extensions ("tcl") :interpreters ("tclsh" "wish")) (list (list "#" (word-comment)) (list "\"" (string-literal "\"" :multiline t))))
(define-language "Vim script" (:family nil :ctags "Vim" :extensions ("vim") :files (".vimrc")) *single*)
(define-language "CMake" (:family nil :ctags "CMake" :extensions ("cmake") :files ("CMakeLists.txt")) (append (list (list "#" (line-comment))) *double*))
(define-language "Make" (:family nil :ctags "Make" :extensions ("mk" "mak") :files ("Makefile" "makefile" "GNUmakefile")) (list (list "#" (line-comment))))
(define-language "Nim" (:family nil :extensions ("nim")) (append (list (list "#" (line-comment)) (list "\"\"\"" (raw-string "\"\"\""))) *double*))
(define-language "Gleam" (:family nil :extensions ("gleam")) (append (list (list "//" (line-comment))) *double*))
(define-language "CSS" (:family nil :extensions ("css" "scss" "sass" "less" "styl") :text t) (append *slash-comments* *double* *single*) :more "-")
(define-language "HTML" (:family nil :extensions ("html" "htm" "xhtml" "hbs" "ejs" "erb" "jinja" "j2" "njk" "twig" "liquid" "pug" "haml" "slim" "tmpl" "mustache" "jsp" "cshtml" "razor") :text t)
  (list (list "<!--" (block-comment "-->"))))
(define-language "XML" (:family nil :extensions ("xml" "xsd" "xsl" "xslt" "wsdl" "plist" "svg" "csproj" "fsproj" "props" "targets") :text t)
  (list (list "<!--" (block-comment "-->"))))
(define-language "Markdown" (:family nil :extensions ("md" "markdown" "mdx" "rst" "adoc" "asciidoc" "txt" "org" "textile") :text t) nil)
(define-language "JSON" (:family :json :extensions ("json" "jsonc" "json5" "webmanifest") :text t) (append *slash-comments* *double*))
(define-language "YAML" (:family nil :extensions ("yml" "yaml") :text t) (append (list (list "#" (word-comment))) *double*))
(define-language "TOML" (:family nil :extensions ("toml" "ini" "cfg" "conf" "properties" "env" "editorconfig") :text t) (append (list (list "#" (line-comment))) *double*))
(define-language "Docker" (:family nil :extensions ("dockerfile") :files ("Dockerfile" "Containerfile") :text t) (append (list (list "#" (line-comment))) *double*))
