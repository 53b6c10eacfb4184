;;;; Languages: which files are written in which, and how the scanner reads them. One form a language (language-table.lisp); what
;;;; a definition or a call looks like is told by its extractor (sidecar/languages/), by FAMILY.

(defpackage #:opl.source.language
  (:use #:cl #:opl.source.literals #:opl.source.quotes)
  (:import-from #:opl.source.names #:octets)
  (:import-from #:opl.source.lexer #:text-octets)
  (:export #:language #:language-name #:language-family #:language-ctags #:language-syntax #:language-markup
           #:language-text-p #:find-language #:language-of-path #:language-of-first-line
           #:syntax #:syntax-classes #:syntax-openers #:syntax-operators #:syntax-singles #:syntax-jsx
           #:syntax-preprocessor #:syntax-marks #:syntax-more #:extension-of #:path-name))
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
              (aref singles octet) (opl.source.names:well-known-number (string (code-char octet)))))
      (loop for (text action) in openers
            do (push (cons (text-octets text) action) (aref by-octet (char-code (char text 0)))))
      (loop for text in (set-difference (append operators *usual-operators*) without :test #'string=)
            do (push (cons (text-octets text) (opl.source.names:well-known-number text))
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

(defun find-language (name)
  "The language called NAME, or nil."
  (find name *languages* :key #'language-name :test #'string-equal))

(defun path-name (path)
  "The part of PATH behind its last slash."
  (subseq path (1+ (or (position #\/ path :from-end t) -1))))
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
