;;;; Reading a task, line by line: what is title, prose, inline code, code, trace; which files it names.

(defpackage #:opl.search.reading
  (:use #:cl)
  (:import-from #:opl.source.language #:language-of-path #:extension-of)
  (:export #:word-character-p #:line-region #:map-words #:map-marked-names #:map-path-mentions #:map-chains #:fence-p
           #:without-comments #:map-urls #:url-path #:python-frame #:split-lines
           #:+title+ #:+prose+ #:+inline+ #:+code+ #:+trace+ #:+regions+ #:hexadecimal-p #:starts-with))
(in-package #:opl.search.reading)

(defconstant +title+ 0 "The task's first line.")
(defconstant +prose+ 1 "Sentences.")
(defconstant +inline+ 2 "Code within a sentence.")
(defconstant +code+ 3 "Blocks of code.")
(defconstant +trace+ 4 "Stacks and logs.")
(defconstant +regions+ 5 "Kinds of text a task is made of.")

(declaim (inline word-start-character-p word-character-p))
(defun word-start-character-p (c)
  (or (char<= #\a c #\z) (char<= #\A c #\Z) (char= c #\_) (and (> (char-code c) 127) (alpha-char-p c))))
(defun word-character-p (c)
  "Whether C may be in a name; letters of any script may."
  (or (word-start-character-p c) (char<= #\0 c #\9)))
(defun digit-p (c) (char<= #\0 c #\9))
(defun blank-p (c) (member c '(#\Space #\Tab #\Return)))

(defun split-lines (text)
  "The lines of TEXT, without their ends."
  (loop with start = 0
        for end = (position #\Newline text :start start)
        collect (string-right-trim '(#\Return) (subseq text start end))
        while end do (setf start (1+ end))))

(defun without-comments (text)
  "TEXT without `<!-- -->', which issue templates are full of."
  (with-output-to-string (out)
    (loop with start = 0
          for open = (search "<!--" text :start2 start)
          do (write-string text out :start start :end (or open (length text)))
          while open
          do (write-char #\Space out)
             (let ((close (search "-->" text :start2 open)))
               (if close (setf start (+ close 3)) (return))))))

(defun starts-with (prefix text &optional (start 0))
  "Whether PREFIX stands in TEXT at START, case and all."
  (let ((end (+ start (length prefix)))) (and (<= end (length text)) (string= prefix text :start2 start :end2 end))))

(defun fence-p (line)
  "Whether LINE opens or closes a block of code."
  (let ((from (position-if-not #'blank-p line)))
    (and from (or (starts-with "```" line from) (starts-with "~~~" line from)))))

(defun map-words (function text &optional (start 0) (end (length text)))
  "Calls FUNCTION with start and end of each identifier in TEXT."
  (declare (type string text) (type fixnum start end) (type function function))
  (let ((i start))
    (declare (type fixnum i))
    (loop
      (loop while (and (< i end) (not (word-character-p (char text i)))) do (incf i))
      (when (>= i end) (return))
      (let ((from i))
        (loop while (and (< i end) (word-character-p (char text i))) do (incf i))
        ;; `3rd' is no name; `2fa' neither
        (when (word-start-character-p (char text from)) (funcall function from i))))))

;;; Names that hold more than letters and digits: `read-file', `$emit', `*print-base*', `save!'

(defun between-names-p (c)
  (or (member c '(#\Space #\Tab #\Return #\Newline)) (find c "\"'`()[]{},;")))

(defparameter *after-names* ".:!?" "What may follow a name in a sentence.")

(defconstant +longest-name+ 200 "Characters of a name; what is longer is a line of base64 or of a log.")

(defun map-marked-names (function text)
  "Calls FUNCTION with each run of characters in TEXT, without what a sentence may add to it, that holds a letter and a character that
words do not, and with the same as it stands when the two differ. Whether it is a name only an index knows."
  (declare (type string text) (type function function))
  (let ((i 0) (size (length text)))
    (loop
      (setf i (or (position-if-not #'between-names-p text :start i) size))
      (when (>= i size) (return))
      (let* ((end (or (position-if #'between-names-p text :start i) size))
             (stop (1+ (or (position-if-not (lambda (c) (find c *after-names*)) text :start i :end end :from-end t) (1- end)))))
        (when (<= 2 (- end i) +longest-name+)
          (flet ((note (end)
                   (when (and (find-if-not #'word-character-p text :start i :end end) (find-if #'word-start-character-p text :start i :end end))
                     (funcall function (subseq text i end)))))
            (note stop)
            (unless (= stop end) (note end))))
        (setf i end)))))

;;; Files named

(defun path-character-p (c) (or (word-character-p c) (find c ".~@+-/\\[]$")))

(defun known-extension-p (path)
  (and (extension-of path) (language-of-path (concatenate 'string "x." (extension-of path))) t))

(defun map-path-mentions (function text)
  "Calls FUNCTION with each string in TEXT that ends in a known extension, `/' for every separator, and the position after."
  (declare (type string text) (type function function))
  (let ((i 0) (size (length text)))
    (loop
      (loop while (and (< i size) (not (path-character-p (char text i)))) do (incf i))
      (when (>= i size) (return))
      (let ((from i))
        (loop while (and (< i size) (path-character-p (char text i))) do (incf i))
        (let* ((stop (1+ (or (position-if #'word-character-p text :start from :end i :from-end t) (1- from))))
               (path (substitute #\/ #\\ (string-left-trim "[]$@+-~" (subseq text from stop)))))
          (when (and (> (length path) 2) (known-extension-p path)) (funcall function path i)))))))

(defun map-chains (function text)
  "Calls FUNCTION with the list of names, and the region's text position, of each chain `a.b', `A::b', `A#b', `a->b', `A\\B'."
  (declare (type string text) (type function function))
  (let ((names '()) (start 0) (last-end -1) (size (length text)))
    (flet ((flush () (when (cdr names) (funcall function (reverse names) start)) (setf names '()))
           (joined-p (from to)
             (and (<= from to)
                  (let ((length (- to from)))
                    (case length
                      (1 (find (char text from) ".#\\"))
                      (2 (or (string= "::" text :start2 from :end2 to) (string= "->" text :start2 from :end2 to)
                             (string= "?." text :start2 from :end2 to)))
                      (t nil))))))
      (map-words (lambda (from to)
                   (unless (and names (joined-p last-end from)) (flush) (setf start from))
                   (push (subseq text from to) names)
                   (setf last-end to))
                 text 0 size)
      (flush))))

(defun url-end (text start)
  (or (position-if (lambda (c) (or (blank-p c) (find c ")>]\"'`"))) text :start start) (length text)))

(defun map-urls (function line)
  "Calls FUNCTION with each URL in LINE; returns LINE with a blank for each."
  (let ((found (or (search "http://" line) (search "https://" line))))
    (if (null found)
        line
        (with-output-to-string (out)
          (loop with start = 0
                for http = (search "http" line :start2 start)
                while http
                do (write-string line out :start start :end http)
                   (cond ((or (starts-with "http://" line http) (starts-with "https://" line http))
                          (let ((end (url-end line http)))
                            (funcall function (subseq line http end))
                            (write-char #\Space out)
                            (setf start end)))
                         (t (write-string "http" out) (setf start (+ http 4))))
                finally (write-string line out :start start))))))

(defun url-path (url)
  "The path within a repository that URL shows (`…/blob/<ref>/<path>#L12'), or nil."
  (let* ((mark (or (search "/blob/" url) (search "/tree/" url)))
         (ref (and mark (position #\/ url :start (+ mark 6))))
         (end (and ref (or (position-if (lambda (c) (find c "#?")) url :start ref) (length url)))))
    (and ref (< (1+ ref) end) (string-right-trim ".,;:" (subseq url (1+ ref) end)))))

;;; Regions

(defun python-frame (line)
  "For `File \"x\", line 12, in f': x and f (or nil); nil for any other LINE."
  (let* ((file (search "File \"" line)) (from (and file (+ file 6)))
         (close (and from (position #\" line :start from))))
    (when (and close (starts-with "\", line " line close))
      (let ((in (search ", in " line :start2 close)))
        (values (subseq line from close)
                (and in (let ((end (position-if #'blank-p line :start (+ in 5)))) (subseq line (+ in 5) end))))))))

(defun line-number-after-path-p (line)
  "Whether LINE holds a path with a known extension, a colon and a number."
  (map-path-mentions (lambda (path end)
                       (declare (ignore path))
                       (when (and (< (1+ end) (length line)) (char= (char line end) #\:) (digit-p (char line (1+ end))))
                         (return-from line-number-after-path-p t)))
                     line))

(defun error-line-p (line)
  "Whether LINE begins with the name of an error: `TypeError', `java.lang.IllegalStateException: …'."
  (let ((end (position-if-not (lambda (c) (or (word-character-p c) (char= c #\.))) line)))
    (flet ((ends (suffix) (let ((end (or end (length line))))
                            (and (>= end (length suffix)) (string= suffix line :start2 (- end (length suffix)) :end2 end)))))
      (or (ends "Error") (ends "Exception")
          (and end (char= (char line end) #\:) (ends "Warning"))))))

(defun trace-line-p (line)
  (let ((from (position-if-not #'blank-p line)))
    (and from
         (or (and (starts-with "at " line from)
                  (or (plusp from) (and (find #\( line) (line-number-after-path-p line))))
             (error-line-p line)
             (python-frame line)
             (search "panicked at" line)
             (line-number-after-path-p line)))))

(defparameter *code-openings*
  '(">>>" "... " "$ " "In [" "import " "return " "@" "{" "}" "public " "private " "protected " "fn " "func " "let " "const " "var " "use "
    "#include" "pub " "async " "export " "package " "<?php" "</" "namespace " "struct " "impl " "#[" "//" "end" "require ")
  "What lines of code outside a fence begin with.")

(defun word-at (line from) (position-if-not #'word-character-p line :start from))

(defun code-line-p (line)
  "Whether LINE, outside a fence, reads like code."
  (let* ((from (position-if-not #'blank-p line)) (size (length line)))
    (and from
         (let* ((last (char line (1- size))) (word (or (word-at line from) size)))
           (or (some (lambda (opening) (and (starts-with opening line from)
                                            (or (not (word-character-p (char opening (1- (length opening)))))
                                                (= word (+ from (length opening))))
                                            (or (string/= opening "use ") (find last ";"))
                                            (or (string/= opening "let ") (find #\= line))
                                            (or (string/= opening "end") (= size word))
                                            (or (string/= opening "require ") (find #\' line) (find #\" line))
                                            (or (string/= opening "package ") (= (count #\Space line :start from) 1))
                                            (or (not (member opening '("public " "private " "protected " "struct " "impl " "async " "export " "return ")
                                                             :test #'string=))
                                                (find last "{;(,)"))))
                     *code-openings*)
               (and (starts-with "from " line from) (search " import " line))
               (and (or (starts-with "def " line from) (starts-with "class " line from)) (find last ":{)"))
               ;; a = …   a.b[0] = …
               (let ((equals (search " = " line)))
                 (and equals (> equals from)
                      (every (lambda (c) (or (word-character-p c) (find c ".[]'\""))) (subseq line from equals))))
               ;; f(…)   f(…);
               (and (< word size) (> word from)
                    (let ((open (position-if-not (lambda (c) (or (word-character-p c) (char= c #\.))) line :start from)))
                      (and open (char= (char line open) #\() (find last ");"))))
               ;; else:
               (and (> word from) (= word (1- size)) (char= last #\:) (> word from) (lower-case-p (char line from))))))))

(defun line-region (line fenced first)
  "The region of LINE: the title when it is the FIRST, trace, code (FENCED or not), or prose."
  (cond (first +title+)
        ((trace-line-p line) +trace+)
        ((or fenced (code-line-p line)) +code+)
        (t +prose+)))

(defun hexadecimal-p (text start end)
  "Whether TEXT[START, END) looks like an abbreviated or whole sha: 7 to 40 digits, some of them letters and some not."
  (and (<= 7 (- end start) 40)
       (loop for i from start below end always (digit-char-p (char text i) 16))
       (find-if #'digit-p text :start start :end end)
       (find-if-not #'digit-p text :start start :end end)))
