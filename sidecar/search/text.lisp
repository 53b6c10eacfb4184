;;;; Text facts: which words a file's code, comments and strings are made of, and which three words in a row its string
;;;; literals hold. Written once a file after its extractor; everything else the search knows of a file's text is read
;;;; out of these rows.

(defpackage #:opl.search.text
  (:use #:cl #:opl.source.tokens #:opl.source.columns #:opl.source.facts)
  (:import-from #:opl.source.names #:octets #:u32-vector #:known #:name-case #:+none+ #:lexicon #:lexicon-intern
                #:lexicon-count #:lexicon-uses #:lexicon-starts #:lexicon-ends #:intern-octets #:with-names-locked)
  (:import-from #:opl.source.language #:language-text-p #:language-syntax #:language-family #:language-name
                #:path-name #:extension-of)
  (:import-from #:opl.search.terms #:word-start-p #:word-octet-p)
  (:export #:add-text-facts #:text-count #:text-lines #:text-code #:text-comments #:text-strings #:text-types
           #:text-functions #:text-others #:text-flags #:trigram-count #:trigram-hash
           #:+made-by-a-tool+ #:uses-code #:uses-comments #:uses-strings #:symbol-class #:map-trigrams))
(in-package #:opl.search.text)

(declaim (optimize (speed 2) (safety 1)))

(deftype index () '(integer 0 #.(ash most-positive-fixnum -3)))

;;; One row a file: LINES; occurrences of words as CODE, in COMMENTS, in STRINGS; definitions by class: TYPES, FUNCTIONS,
;;; OTHERS; FLAGS below. A trigram is the hash of three words in a row of one string literal.
(define-section text (lines code comments strings types functions others flags))
(define-section trigram (hash))

(defconstant +made-by-a-tool+ 1 "It says itself that it is generated, bundled or compiled.")
(defconstant +prose-or-data+ 2 "Prose, configuration or data.")

(defconstant +word-octets+ 40 "Octets of a word in a comment or string at most; longer ones are keys and base64.")
(defconstant +source-words+ 30000 "Distinct words a source file may have; sqlite3.c, 9 MB of C, has 20,000.")
(defconstant +document-words+ 4000 "Distinct words of a document; a long page of a manual has 2,500.")
(defconstant +data-octets+ 65536 "Octets of a JSON, XML or YAML file that are read for words.")
(defconstant +comment-octets+ 1048576 "Octets of comments, and as many of strings, that are read in one file.")
(defconstant +trigrams+ 4096 "Word trigrams kept of one file.")

(declaim (inline uses-code uses-comments uses-strings))
(defun uses-code (uses)
  "How often the word stands in code, at most 4095."
  (ldb (byte 12 0) uses))
(defun uses-comments (uses)
  "How often the word stands in comments, at most 1023."
  (ldb (byte 10 12) uses))
(defun uses-strings (uses)
  "How often the word stands in strings, at most 1023."
  (ldb (byte 10 22) uses))

(defun symbol-class (kind)
  "0 for a KIND (a name number) that is a type or module, 1 for what is called, 2 for any other."
  (declare (type (unsigned-byte 32) kind))
  (name-case kind
    (("class" "interface" "struct" "enum" "trait" "protocol" "alias" "module" "namespace" "package" "union" "typedef"
      "type" "extension" "object" "record" "annotation" "delegate" "impl" "implementation" "struct-type")
     0)
    (("function" "method" "constructor" "accessor" "macro" "subroutine" "procedure" "member" "func" "prototype"
      "getter" "setter" "singletonMethod" "singleton-method")
     1)
    (t 2)))

;;; Words. The lexicon's `uses' pack the three counts as section `word' does; the scanner counts the code.

(defmacro count-use (uses local position size)
  "One more in the field at POSITION of SIZE bits, unless it is full."
  `(let ((packed (aref ,uses ,local)))
     (when (< (ldb (byte ,size ,position) packed) ,(1- (ash 1 size)))
       (setf (aref ,uses ,local) (+ packed ,(ash 1 position))))))

(defun count-words (tokens start end limit string-p)
  "Counts the words of the octets [START, END), of a string or a comment."
  (declare (type tokens tokens) (type index start end limit) (optimize (speed 3) (safety 0)))
  (let ((octets (tokens-octets tokens)) (lexicon (tokens-lexicon tokens)) (i start))
    (declare (type index i) (type octets octets))
    (loop
      (loop (when (>= i end) (return-from count-words nil))
            (let ((octet (aref octets i)))
              (cond ((word-start-p octet) (return))
                    ;; `\n' before a word is no letter of it; digits lead no word
                    ((and string-p (= octet 92)) (incf i 2))
                    ((<= 48 octet 57) (loop while (and (< i end) (word-octet-p (aref octets i))) do (incf i)))
                    (t (incf i)))))
      (let ((from i))
        (loop while (and (< i end) (word-octet-p (aref octets i))) do (incf i))
        (when (<= 2 (- i from) +word-octets+)
          (when (>= (lexicon-count lexicon) limit) (return-from count-words nil))
          (let ((local (lexicon-intern lexicon octets from i)))
            (declare (type (unsigned-byte 32) local))
            (let ((uses (lexicon-uses lexicon)))
              (declare (type u32-vector uses))
              (if string-p (count-use uses local 22 10) (count-use uses local 12 10)))))))))

(defun documentation-string-p (tokens i)
  "Whether string token I is a Python text in three quotes: mostly documentation, and counted as a comment."
  (declare (type tokens tokens) (type index i))
  (and (eq (language-family (tokens-language tokens)) :python)
       (let* ((octets (tokens-octets tokens)) (end (token-end tokens i))
              (from (position-if (lambda (octet) (or (= octet 34) (= octet 39))) octets :start (token-start tokens i) :end end)))
         (and from (<= (+ from 3) end)
              (= (aref octets from) (aref octets (+ from 1)) (aref octets (+ from 2)))))))

;;; Trigrams

(defun map-trigrams (function octets start end)
  "Calls FUNCTION with the hash of each three words in a row (letters and digits, in lower case) of OCTETS[START, END),
and the start of the first of the three and the end of the last."
  (declare (type function function) (type octets octets) (type index start end) (optimize (speed 3) (safety 0)))
  (let ((before 0) (last 0) (count 0) (before-start 0) (last-start 0) (i start))
    (declare (type (unsigned-byte 32) before last) (type index i count before-start last-start))
    (flet ((letter-p (octet) (or (<= 97 octet 122) (<= 48 octet 57) (<= 65 octet 90) (>= octet 128))))
      (declare (inline letter-p))
      (loop
        (loop while (and (< i end) (not (letter-p (aref octets i))))
              do (incf i (if (= (aref octets i) 92) 2 1)))
        (when (>= i end) (return))
        (let ((hash 2166136261) (from i))
          (declare (type (unsigned-byte 32) hash))
          (loop while (and (< i end) (letter-p (aref octets i)))
                do (let ((octet (aref octets i)))
                     (setf hash (ldb (byte 32 0) (* (logxor hash (if (<= 65 octet 90) (logior octet 32) octet)) 16777619))))
                   (incf i))
          (when (>= (incf count) 3)
            (funcall function
                     (ldb (byte 32 0) (+ hash (* 31 (the (unsigned-byte 32) last)) (* 961 before)))
                     before-start i))
          (setf before last last hash before-start last-start last-start from))))))

(defun add-trigrams (tokens facts i)
  (declare (type tokens tokens) (type simple-vector facts))
  (when (and (< (draft-trigram-count facts) +trigrams+) (> (- (token-end tokens i) (token-start tokens i)) 8))
    (map-trigrams (lambda (hash from to)
                    (declare (ignore from to))
                    (when (< (draft-trigram-count facts) +trigrams+) (add-trigram facts hash)))
                  (tokens-octets tokens) (token-start tokens i) (token-end tokens i))))

(defun sort-trigrams (facts)
  "Sorts the trigrams in FACTS and leaves each once."
  (let* ((section (svref facts (load-time-value (position 'trigram (section-numbers)))))
         (count (section-count section)))
    (when (> count 1)
      (let* ((column (svref (section-columns section) 0))
             (sorted (sort (subseq (the u32-vector column) 0 count) #'<)) (at 0))
        (declare (type u32-vector column sorted) (type index at))
        (loop for i of-type index below count
              do (when (or (= i 0) (/= (aref sorted i) (aref sorted (1- i))))
                   (setf (aref column at) (aref sorted i)) (incf at)))
        (setf (section-count section) at)))))

;;; What a file says of its making

(defparameter *tool-marks*
  (mapcar #'opl.source.names:string-octets
          '("@generated" "Code generated by" "DO NOT EDIT" "Do not edit" "do not edit" "Autogenerated" "auto-generated by" "AUTO-GENERATED"
            "automatically generated" "Automatically generated" "Generated by "))
  "Texts near a file's beginning by which tools mark what they write.")

(defconstant +head-octets+ 600 "Octets in which such a mark is looked for.")

(defun holds-p (octets mark start end)
  (declare (type octets octets mark) (type index start end) (optimize (speed 3) (safety 0)))
  (let ((first (aref mark 0)) (length (length mark)))
    (loop for i of-type index from start to (- (the fixnum end) length)
          thereis (and (= (aref octets i) first)
                       (loop for j of-type index from 1 below length
                             always (= (aref octets (+ i j)) (aref mark j)))))))

(defun made-by-a-tool-p (octets size)
  "Whether the file says that it is generated, or ends, as bundles do, with a reference to its source map."
  (declare (type octets octets) (type index size))
  (or (loop for mark in *tool-marks* thereis (holds-p octets mark 0 (min size +head-octets+)))
      (holds-p octets (load-time-value (opl.source.names:string-octets "# sourceMappingURL=")) (max 0 (- size 200)) size)))

;;; The file as a whole

(defun data-p (language)
  (member (language-name language) '("JSON" "XML" "YAML" "TOML") :test #'string=))

(defun lock-file-p (path)
  "Whether PATH pins versions for a package manager: nobody asks for its words."
  (let ((name (path-name path)))
    (or (equal (extension-of path) "lock")
        (member name '("package-lock.json" "npm-shrinkwrap.json" "pnpm-lock.yaml" "go.sum" "packages.lock.json") :test #'string=))))

(defun count-comments (tokens limit)
  (declare (type tokens tokens) (type index limit))
  (let ((left +comment-octets+))
    (declare (type fixnum left))
    (dotimes (i (tokens-comment-count tokens))
      (let ((start (comment-start tokens i)) (end (comment-end tokens i)))
        (when (minusp (decf left (- end start))) (return))
        (count-words tokens start end limit nil)))))

(defun count-strings (tokens facts limit octets-left)
  (declare (type tokens tokens) (type index limit) (type fixnum octets-left) (optimize (speed 2) (safety 0)))
  (let ((kinds (tokens-kinds tokens)))
    (dotimes (i (tokens-count tokens))
      (when (= (aref kinds i) +string+)
        (let ((start (token-start tokens i)) (end (token-end tokens i)))
          (when (minusp (decf octets-left (- end start))) (return))
          (if (documentation-string-p tokens i)
              (count-words tokens start end limit nil)
              (progn (count-words tokens start end limit t)
                     (add-trigrams tokens facts i))))))))

(defun write-words (tokens facts names limit)
  "A row for each of the first LIMIT words of the lexicon that occurs; the three sums."
  (declare (type tokens tokens) (type (unsigned-byte 32) limit))
  (let* ((lexicon (tokens-lexicon tokens)) (map (tokens-map tokens)) (uses (lexicon-uses lexicon))
         (starts (lexicon-starts lexicon)) (ends (lexicon-ends lexicon)) (octets (tokens-octets tokens))
         (code 0) (comments 0) (strings 0))
    (declare (type u32-vector map uses starts ends) (type (unsigned-byte 32) code comments strings))
    (with-names-locked (names)
      (dotimes (local (min limit (lexicon-count lexicon)))
        (let ((packed (aref uses local)))
          (unless (zerop packed)
            (incf code (uses-code packed)) (incf comments (uses-comments packed)) (incf strings (uses-strings packed))
            (add-word facts
                      (if (< local (length map))
                          (aref map local)
                          (intern-octets names octets (aref starts local) (aref ends local)))
                      packed)))))
    (values code comments strings)))

(defun add-text-facts (tokens facts names &optional (path ""))
  "Appends sections `word', `trigram' and `text' of the file of TOKENS, after its extractor. Bounded by the limits above."
  (declare (type tokens tokens) (type simple-vector facts))
  (let* ((language (tokens-language tokens)) (document-p (language-text-p language)) (size (tokens-size tokens))
         (limit (cond ((not document-p) +source-words+) ((lock-file-p path) 0) (t +document-words+)))
         (classes (make-array 3 :initial-element 0)))
    (unless (zerop limit)
      (if (language-syntax language)
          (progn (count-comments tokens limit)
                 (count-strings tokens facts limit (if (data-p language) +data-octets+ +comment-octets+)))
          (count-words tokens 0 size limit nil)))
    (sort-trigrams facts)
    (dotimes (def (draft-def-count facts))
      (incf (the fixnum (svref classes (symbol-class (draft-def-kind facts def))))))
    (multiple-value-bind (code comments strings) (write-words tokens facts names limit)
      (add-text facts (if (language-syntax language) (tokens-lines-total tokens) (1+ (count 10 (tokens-octets tokens) :end size)))
                code comments strings (svref classes 0) (svref classes 1) (svref classes 2)
                (logior (if (made-by-a-tool-p (tokens-octets tokens) size) +made-by-a-tool+ 0)
                        (if document-p +prose-or-data+ 0)))))
  facts)

(pushnew 'add-text-facts opl.index.reading:*passes*)
