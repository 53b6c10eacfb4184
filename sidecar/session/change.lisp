;;;; What an edit changed, said in a line: from a unified diff, the symbols its hunks name and the first of
;;;; the lines that went and came.

(defpackage #:opl.session.change
  (:use #:cl)
  (:import-from #:opl.session.observation #:shorten #:one-line)
  (:export #:describe-diff #:diff-line-numbers #:lines-of))

(in-package #:opl.session.change)

(declaim (optimize (speed 1) (safety 1)))

(defconstant +line-width+ 90
  "Characters of a changed line that are shown.")

(defparameter *defining-words*
  '("function" "def" "class" "fn" "func" "interface" "struct" "enum" "trait" "impl" "type" "const" "let" "var"
    "defun" "defmacro" "defvar" "module" "namespace" "sub" "fun" "object" "protocol" "extension" "record")
  "Words after which a name is being defined, in the languages people write.")

(defun lines-of (text)
  "The lines of TEXT without their ends; a text without any is one empty line."
  (loop for start = 0 then (1+ end)
        for end = (position #\Newline text :start start)
        collect (string-right-trim '(#\Return) (subseq text start end))
        while end))

(defparameter *local-words* '("const" "let" "var" "type")
  "Words that define names inside of functions too; there the function is what was edited.")

(defun name-character-p (character)
  (or (alphanumericp character) (find character "_$-")))

(defun defined-name (line)
  "The name that LINE of code defines, or NIL, and whether it may be local to what encloses it."
  (let ((words '()) (start 0))
    (loop
      (let* ((from (position-if #'name-character-p line :start start))
             (to (and from (or (position-if-not #'name-character-p line :start from) (length line)))))
        (unless from (return))
        (push (subseq line from to) words)
        (setf start to)))
    (let* ((words (nreverse words))
           (after (member-if (lambda (word) (member word *defining-words* :test #'string=)) words))
           ;; export const function x: the last of the words in a row counts.
           (after (loop while (and (rest after) (member (second after) *defining-words* :test #'string=))
                        do (setf after (rest after))
                        finally (return after))))
      (if (second after)
          (values (second after) (member (first after) *local-words* :test #'string=))
          ;; A method: name(…) {
          (and (find #\( line)
               (let ((end (string-right-trim " " line)))
                 (and (plusp (length end)) (find (char end (1- (length end))) "{:")))
               (not (member (first words) '("if" "for" "while" "switch" "catch" "else" "return" "elif" "with")
                            :test #'equal))
               (let* ((open (position #\( line))
                      (to (position-if #'name-character-p line :end open :from-end t))
                      (from (and to (position-if-not #'name-character-p line :end to :from-end t))))
                 (and to (subseq line (if from (1+ from) 0) (1+ to)))))))))

(defun hunk-start (line)
  "The first line of the new file that the hunk header LINE speaks of, or NIL."
  (let ((plus (position #\+ line)))
    (and (eql 0 (search "@@" line)) plus
         (parse-integer line :start (1+ plus) :junk-allowed t))))

(defun diff-line-numbers (diff)
  "The lines of the new file that DIFF, a unified diff, added or at which it took some away; ascending."
  (let ((numbers '()) (at nil))
    (dolist (line (lines-of diff))
      (let ((start (hunk-start line)))
        (cond (start (setf at start))
              ((or (null at) (string= line "")) (when at (incf at)))
              ((char= (char line 0) #\+) (push at numbers) (incf at))
              ((char= (char line 0) #\-) (push at numbers))
              ((char= (char line 0) #\\))
              (t (incf at)))))
    (remove-duplicates (nreverse numbers))))

(defun header-p (line)
  (or (eql 0 (search "+++" line)) (eql 0 (search "---" line))))

(defun telling-line-p (line)
  (find-if #'alphanumericp line :start (min 1 (length line))))

(defun named-in-diff (lines)
  "The names that the changed LINES define or whose hunks say that they stand in them, in order."
  (let ((names '()) (enclosing nil))
    (dolist (line lines)
      (cond ((hunk-start line)
             (let ((end (search "@@" line :start2 2)))
               (setf enclosing (and end (defined-name (subseq line (+ end 2)))))))
            ((or (string= line "") (header-p line)))
            (t
             (multiple-value-bind (name local) (defined-name (subseq line 1))
               (when (and name (not (and local enclosing)))
                 (setf enclosing name))
               (when (and enclosing (find (char line 0) "+-"))
                 (pushnew enclosing names :test #'string=))))))
    (nreverse names)))

(defun describe-diff (diff &optional symbols)
  "What DIFF, a unified diff of one file, changed, as one line: the names of the SYMBOLS it touched (found in
the diff itself when none are given), how many lines came and went, and the first of each. Text that is no
diff is given back as one line."
  (let* ((lines (lines-of diff))
         (changed (remove-if-not (lambda (line)
                                   (and (plusp (length line)) (find (char line 0) "+-") (not (header-p line))))
                                 lines))
         (added (remove #\- changed :key (lambda (line) (char line 0))))
         (removed (remove #\+ changed :key (lambda (line) (char line 0)))))
    (if (or (null changed) (notany #'hunk-start lines))
        (one-line (shorten diff 300))
        (flet ((sample (lines)
                 (let ((line (find-if #'telling-line-p lines)))
                   (and line (shorten (one-line (subseq line 1)) +line-width+)))))
          (format nil "~@[~{~A~^, ~}: ~]+~D -~D~@[ | was: ~A~]~@[ | now: ~A~]"
                  (or symbols (named-in-diff lines))
                  (length added) (length removed)
                  (sample removed) (sample added))))))
