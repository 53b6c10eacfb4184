;;;; Diffs as they come: git's with any prefix setting, plain `diff -u', combined ones, and the apply_patch form of
;;;; some agents, into one structure a file. Paths stay as written, less their prefixes.

(defpackage #:opl.change.diff
  (:use #:cl)
  (:export #:parse-diff #:diff-error #:diff-error-reason
           #:file-change #:file-change-old-path #:file-change-new-path #:file-change-status #:file-change-hunks #:file-change-path
           #:file-change-binary-p #:file-change-loose-p #:copy-file-change #:settle-paths #:change-faults
           #:hunk #:hunk-old-start #:hunk-new-start #:hunk-lines #:hunk-marks
           #:map-hunk-lines))
(in-package #:opl.change.diff)

(define-condition diff-error (error)
  ((reason :initarg :reason :reader diff-error-reason))
  (:report (lambda (condition stream) (write-string (diff-error-reason condition) stream)))
  (:documentation "Signalled by `parse-diff' for a text that is no diff; REASON says what was found and what to give."))

(defstruct file-change
  "One file of a diff. STATUS: :modified :added :deleted :renamed :copied :mode; LOOSE-P: its hunks have no line numbers
(apply_patch), they are found by their text; FAULT: what is wrong with the text of its diff, or nil."
  (old-path nil) (new-path nil) (status :modified :type symbol) (hunks '() :type list) (binary-p nil) (loose-p nil) (fault nil))

(defun file-change-path (change)
  "Where the file is now, or was when it is gone."
  (or (file-change-new-path change) (file-change-old-path change)))

(defstruct hunk
  "LINES: list of strings without their marks; MARKS: one character each, space, + or -."
  (old-start 0 :type fixnum) (new-start 0 :type fixnum) (marks '() :type list) (lines '() :type list))

(defun map-hunk-lines (function hunk)
  "Calls FUNCTION with mark, text, line in the old file and line in the new one, for each line of HUNK."
  (let ((old (hunk-old-start hunk)) (new (hunk-new-start hunk)))
    (loop for mark in (hunk-marks hunk) for text in (hunk-lines hunk)
          do (funcall function mark text old new)
             (unless (char= mark #\+) (incf old))
             (unless (char= mark #\-) (incf new)))))

;;; Lines

(defun split-lines (text)
  (loop with start = 0
        for end = (position #\Newline text :start start)
        collect (subseq text start end)
        while end
        do (setf start (1+ end))
        while (< start (length text))))

(defun begins-p (line prefix) (and (>= (length line) (length prefix)) (string= prefix line :end2 (length prefix))))
(defun without-return (line) (string-right-trim '(#\Return) line))

;;; Paths

(defun unquote (text)
  "A path as git quotes it in C's manner: the octets of \\303\\244 together are UTF-8."
  (if (not (and (> (length text) 1) (char= (char text 0) #\") (char= (char text (1- (length text))) #\")))
      text
      (let ((octets (make-array (length text) :element-type '(unsigned-byte 8) :fill-pointer 0 :adjustable t)) (i 1) (end (1- (length text))))
        (flet ((put (string) (loop for octet across (sb-ext:string-to-octets string :external-format :utf-8) do (vector-push-extend octet octets))))
          (loop while (< i end)
                do (let ((c (char text i)))
                     (cond ((and (char= c #\\) (< (1+ i) end))
                            (let ((next (char text (1+ i))))
                              (cond ((and (digit-char-p next 8) (< (+ i 3) (length text))
                                          (digit-char-p (char text (+ i 2)) 8) (digit-char-p (char text (+ i 3)) 8))
                                     (vector-push-extend (logand 255 (parse-integer text :start (1+ i) :end (+ i 4) :radix 8)) octets)
                                     (incf i 4))
                                    (t (put (string (case next (#\t #\Tab) (#\n #\Newline) (#\r #\Return) (#\a (code-char 7)) (#\b #\Backspace)
                                                      (#\f #\Page) (#\v (code-char 11)) (t next))))
                                       (incf i 2)))))
                           (t (put (string c)) (incf i))))))
        (sb-ext:octets-to-string (coerce octets '(simple-array (unsigned-byte 8) (*))) :external-format '(:utf-8 :replacement #\?)))))

(defun header-path (text)
  "The path of a --- or +++ line; nil for /dev/null. What follows a tab is a time."
  (let* ((text (without-return text))
         (path (if (begins-p text "\"") (unquote (string-right-trim " 	" text)) (subseq text 0 (or (position #\Tab text) (length text))))))
    (if (string= path "/dev/null") nil path)))

(defparameter *prefixes* '(("a" . "b") ("i" . "w") ("c" . "w") ("c" . "i") ("o" . "w") ("i" . "c") ("w" . "i") ("w" . "c") ("b" . "a") ("1" . "2") ("old" . "new") ("orig" . "new"))
  "What git (diff.mnemonicPrefix) and people put before old and new paths.")

(defun first-part (path) (let ((slash (position #\/ path))) (and slash (subseq path 0 slash))))
(defun rest-of (path) (subseq path (1+ (position #\/ path))))

(defun common-end (old new)
  "How many characters OLD and NEW share at their ends, from a slash on; 0 when their names differ or one is the other's end."
  (let ((at (mismatch old new :from-end t)))
    (if (and at (plusp at))
        (let ((slash (position #\/ old :start (1- at))))
          (if slash (- (length old) slash 1) 0))
        0)))

(defun without-strange-prefixes (old new deep)
  "OLD and NEW, which are one path, less what git was told to put before them (--src-prefix, --dst-prefix); unless DEEP, only a first part
that differs, as in a plain diff of two trees."
  (let ((shared (common-end old new)))
    (if (and (plusp shared) (or deep (and (first-part old) (first-part new) (string= (rest-of old) (rest-of new)))))
        (values (subseq old (- (length old) shared)) (subseq new (- (length new) shared)))
        (values old new))))

(defun without-prefixes (old new deep)
  "OLD and NEW less their prefixes, when both have a known pair of them and mean the same path or one is missing, or differ in nothing but
them; DEEP as in `without-strange-prefixes'."
  (flet ((known (side part) (find part *prefixes* :key side :test #'equal)))
    (cond ((and old new)
           (let ((pair (and (first-part old) (first-part new)
                            (find-if (lambda (pair) (and (equal (car pair) (first-part old)) (equal (cdr pair) (first-part new)))) *prefixes*))))
             (if pair (values (rest-of old) (rest-of new)) (without-strange-prefixes old new deep))))
          (old (values (if (and (first-part old) (known #'car (first-part old))) (rest-of old) old) nil))
          (new (values nil (if (and (first-part new) (known #'cdr (first-part new))) (rest-of new) new)))
          (t (values nil nil)))))

(defun split-git-header (rest)
  "The two paths of `diff --git REST', which may hold blanks: quoted, or the half at which both say the same."
  (let ((rest (without-return rest)))
    (if (begins-p rest "\"")
        (let ((end (position-if (let ((escaped nil)) (lambda (c) (cond (escaped (setf escaped nil)) ((char= c #\\) (setf escaped t) nil) ((char= c #\") t)))) rest :start 1)))
          (if end (values (unquote (subseq rest 0 (1+ end))) (unquote (string-left-trim " " (subseq rest (1+ end))))) (values rest rest)))
        (or (loop for i = (position #\Space rest) then (position #\Space rest :start (1+ i))
                  while i
                  do (let ((old (subseq rest 0 i)) (new (unquote (subseq rest (1+ i)))))
                       (when (or (string= old new)
                                 (and (first-part old) (first-part new) (string= (rest-of old) (rest-of new))))
                         (return-from split-git-header (values old new)))))
            (let ((i (position #\Space rest)))
              (if i (values (subseq rest 0 i) (unquote (subseq rest (1+ i)))) (values rest rest)))))))

;;; Hunks

(defun parse-range (text start)
  "The number at START of TEXT and the count after a comma (1 when absent), and where they end."
  (multiple-value-bind (from end) (parse-integer text :start start :junk-allowed t)
    (if (and from (< end (length text)) (char= (char text end) #\,))
        (multiple-value-bind (count after) (parse-integer text :start (1+ end) :junk-allowed t)
          (values from (or count 1) after))
        (values from 1 end))))

(defun parse-hunk-header (line)
  "Old start and count, new start and count, number of old sides of `@@ -a,b +c,d @@' or `@@@ -a -b +c @@@'; nil when it is neither."
  (let* ((ats (or (position #\@ line :test-not #'char=) 0)) (sides (1- ats)) (i ats) (olds '()))
    (when (>= ats 2)
      (loop repeat sides
            do (let ((minus (position #\- line :start i)))
                 (unless minus (return-from parse-hunk-header nil))
                 (multiple-value-bind (from count end) (parse-range line (1+ minus))
                   (unless from (return-from parse-hunk-header nil))
                   (push (cons from count) olds)
                   (setf i end))))
      (let ((plus (position #\+ line :start i)))
        (when plus
          (multiple-value-bind (from count) (parse-range line (1+ plus))
            (when from
              (let ((old (first (last olds))))
                (values (car old) (cdr old) from count sides)))))))))

(defun read-hunk (lines header)
  "The hunk whose HEADER was just read, the lines after it, and whether its counts were kept; else it ends where the text does."
  (multiple-value-bind (old-start old-count new-start new-count sides) (parse-hunk-header header)
    (let ((marks '()) (texts '()) (old old-count) (new new-count))
      (loop while (and lines (or (plusp old) (plusp new) (begins-p (first lines) "\\")))
            do (let* ((line (first lines))
                      (signs (if (string= (without-return line) "") " " (subseq line 0 (min sides (length line)))))
                      (mark (cond ((find #\+ signs) #\+) ((find #\- signs) #\-)
                                  ((every (lambda (c) (char= c #\Space)) signs) #\Space)
                                  ((begins-p line "\\") #\\) (t nil))))
                 (unless mark (return))
                 (pop lines)
                 (unless (char= mark #\\)
                   ;; in a combined diff a line that one parent lacks counts as added
                   (push mark marks)
                   (push (without-return (subseq line (min sides (length line)))) texts)
                   (unless (char= mark #\+) (decf old))
                   (unless (char= mark #\-) (decf new)))))
      (values (make-hunk :old-start (if (zerop old-count) (1+ old-start) old-start) :new-start (if (zerop new-count) (1+ new-start) new-start)
                         :marks (nreverse marks) :lines (nreverse texts))
              lines (or (> sides 1) (and (<= old 0) (<= new 0))))))) ; a line of a combined one counts for some of its sides only

;;; Files

(defun finish-change (change from to &optional deep)
  "Fills CHANGE's paths from the paths FROM and TO of its headers where rename lines have not said them; DEEP as in `without-prefixes'."
  (unless (member (file-change-status change) '(:renamed :copied))
    (multiple-value-bind (old new) (without-prefixes from to deep)
      (setf (file-change-old-path change) old (file-change-new-path change) new)))
  (setf (file-change-hunks change) (nreverse (file-change-hunks change)))
  (cond ((and (null (file-change-old-path change)) (eq (file-change-status change) :modified)) (setf (file-change-status change) :added))
        ((and (null (file-change-new-path change)) (eq (file-change-status change) :modified)) (setf (file-change-status change) :deleted)))
  (case (file-change-status change)
    (:added (setf (file-change-old-path change) nil))
    (:deleted (setf (file-change-new-path change) nil)))
  change)

(defun add-hunk (change header lines)
  "Adds to CHANGE the hunk whose HEADER was just read from before LINES; what is left of LINES. What does not keep its counts, or cannot be
read, is remembered as a fault."
  (flet ((fault (text) (unless (file-change-fault change) (setf (file-change-fault change) (format nil text (without-return header))))))
    (if (parse-hunk-header header)
        (multiple-value-bind (hunk rest kept) (read-hunk lines header)
          (unless kept (fault "the hunk ~A ends before its counts say"))
          (push hunk (file-change-hunks change))
          rest)
        (progn (fault "the hunk header ~A cannot be read") lines))))

(defun after (line prefix) (without-return (subseq line (length prefix))))

(defun read-git-file (lines)
  "The file change at the `diff --git', `diff --cc' or `diff --combined' line that LINES begin with, and the lines after it."
  (let ((change (make-file-change)) (from nil) (to nil) (header (pop lines)))
    (if (begins-p header "diff --git ")
        (multiple-value-setq (from to) (split-git-header (subseq header 11)))
        (setf from (unquote (without-return (subseq header (1+ (or (position #\Space header :start 6) 6))))) to from))
    (loop while (and lines (not (begins-p (first lines) "diff --")))
          do (let ((line (first lines)))
               (cond ((begins-p line "@@")
                      (pop lines)
                      (setf lines (add-hunk change line lines)))
                     ((and (begins-p line "--- ") (rest lines) (begins-p (second lines) "+++ "))
                      (when (and (file-change-hunks change)) (return)) ; a plain diff follows
                      (let ((old (header-path (subseq line 4))) (new (header-path (subseq (second lines) 4))))
                        (setf from (or old (and (null new) from)) to new)
                        (unless old (setf (file-change-status change) :added from nil))
                        (unless new (setf (file-change-status change) :deleted)))
                      (setf lines (cddr lines)))
                     (t (read-extended-header change line)
                        (pop lines)))))
    (when (and (eq (file-change-status change) :mode) (file-change-hunks change)) (setf (file-change-status change) :modified))
    (when (eq (file-change-status change) :added) (setf from (and from nil)))
    (when (and (eq (file-change-status change) :deleted) to (null (file-change-hunks change))) (setf to nil))
    (when (and (eq (file-change-status change) :modified) (null (file-change-hunks change)) (not (file-change-binary-p change)) (null (file-change-fault change)))
      (setf (file-change-fault change) "its header is followed by no change"))
    (values (finish-change change from to t) lines)))

(defun read-extended-header (change line)
  (flet ((path (prefix) (unquote (after line prefix))))
    (cond ((begins-p line "rename from ") (setf (file-change-status change) :renamed (file-change-old-path change) (path "rename from ")))
          ((begins-p line "rename to ") (setf (file-change-status change) :renamed (file-change-new-path change) (path "rename to ")))
          ((begins-p line "copy from ") (setf (file-change-status change) :copied (file-change-old-path change) (path "copy from ")))
          ((begins-p line "copy to ") (setf (file-change-status change) :copied (file-change-new-path change) (path "copy to ")))
          ((begins-p line "new file mode") (setf (file-change-status change) :added))
          ((begins-p line "deleted file mode") (setf (file-change-status change) :deleted))
          ((begins-p line "new mode") (when (eq (file-change-status change) :modified) (setf (file-change-status change) :mode)))
          ((or (begins-p line "Binary files ") (begins-p line "GIT binary patch")) (setf (file-change-binary-p change) t)))))

(defun read-plain-file (lines)
  "The file change whose --- and +++ lines LINES begin with, and the lines after it."
  (let* ((change (make-file-change)) (from (header-path (subseq (pop lines) 4))) (to (header-path (subseq (pop lines) 4))))
    (loop while (and lines (begins-p (first lines) "@@"))
          do (let ((header (pop lines))) (setf lines (add-hunk change header lines))))
    (values (finish-change change from to) lines)))

(defun read-patch-file (lines)
  "The file change of an apply_patch text whose `*** Update File: ' or similar line LINES begin with, and the lines after it."
  (let* ((line (pop lines)) (colon (position #\: line)) (path (string-trim " " (without-return (subseq line (1+ colon)))))
         (change (make-file-change :loose-p t :old-path path :new-path path)) (marks '()) (texts '()))
    (cond ((begins-p line "*** Add") (setf (file-change-status change) :added (file-change-old-path change) nil))
          ((begins-p line "*** Delete") (setf (file-change-status change) :deleted (file-change-new-path change) nil)))
    (flet ((end-hunk ()
             (when marks
               (push (make-hunk :marks (nreverse marks) :lines (nreverse texts)) (file-change-hunks change))
               (setf marks '() texts '()))))
      (loop while (and lines (not (and (begins-p (first lines) "*** ") (not (begins-p (first lines) "*** Move to:")) (not (begins-p (first lines) "*** End of File")))))
            do (let ((line (pop lines)))
                 (cond ((begins-p line "*** Move to:")
                        (setf (file-change-status change) :renamed (file-change-new-path change) (string-trim " " (without-return (subseq line 12)))))
                       ((begins-p line "***"))
                       ((begins-p line "@@") (end-hunk))
                       (t (let ((mark (if (string= line "") #\Space (char line 0))))
                            (when (find mark " +-")
                              (push mark marks)
                              (push (without-return (if (string= line "") "" (subseq line 1))) texts)))))))
      (end-hunk))
    (setf (file-change-hunks change) (nreverse (file-change-hunks change)))
    (when (eq (file-change-status change) :added)
      (dolist (hunk (file-change-hunks change)) (setf (hunk-old-start hunk) 1 (hunk-new-start hunk) 1)))
    (values change lines)))

(defun without-colours (text)
  "TEXT less the sequences by which a terminal is told of colours: git diff --color."
  (with-output-to-string (out)
    (loop with start = 0
          for escape = (search (coerce '(#\Escape #\[) 'string) text :start2 start)
          do (write-string text out :start start :end escape)
          while escape
          do (setf start (min (length text) (1+ (or (position-if #'alpha-char-p text :start escape) (length text))))))))

(defun parse-diff (text)
  "The list of file changes in TEXT, in its order; empty for an empty text. Signals `diff-error' for a text that holds no diff."
  (or (file-changes text)
      (and (find #\Escape text) (file-changes (without-colours text)))
      (when (find-if-not (lambda (c) (member c '(#\Space #\Tab #\Newline #\Return))) text)
        (error 'diff-error :reason "The text holds no diff: no line begins with `diff --git', `---' and `+++', or `*** Update File:'. Give the output of git diff, diff -u, or an apply_patch text."))))

(defun file-changes (text)
  (let ((lines (split-lines text)) (changes '()))
    (flet ((take (reader) (multiple-value-bind (change rest) (funcall reader lines) (push change changes) (setf lines rest))))
      (loop while lines
            do (let ((line (first lines)))
                 (cond ((or (begins-p line "diff --git ") (begins-p line "diff --cc ") (begins-p line "diff --combined ")) (take #'read-git-file))
                       ((and (begins-p line "--- ") (rest lines) (begins-p (second lines) "+++ ")) (take #'read-plain-file))
                       ((or (begins-p line "*** Update File:") (begins-p line "*** Add File:") (begins-p line "*** Delete File:")) (take #'read-patch-file))
                       (t (pop lines))))))
    (nreverse changes)))

;;; What is wrong with it

(defun conflict-p (change)
  (loop for hunk in (file-change-hunks change)
        thereis (loop for mark in (hunk-marks hunk) for text in (hunk-lines hunk) thereis (and (char= mark #\+) (begins-p text "<<<<<<< ")))))

(defun change-faults (change)
  "Texts on why what CHANGE says may not be all, or may not be so: a diff that is malformed or cut, a conflict that is not resolved."
  (append (and (file-change-fault change)
               (list (format nil "~A: the diff is malformed or cut: ~A" (file-change-path change) (file-change-fault change))))
          (and (conflict-p change) (list (format nil "~A holds a conflict that is not resolved" (file-change-path change))))))

;;; Paths against the tree

(defun inside (path root)
  "PATH relative to ROOT; nil when it leads out of it."
  (let ((path (if (and (begins-p path "/") (begins-p path root) (> (length path) (length root)) (char= #\/ (char path (length root))))
                  (subseq path (1+ (length root)))
                  path)))
    (unless (or (begins-p path "/") (begins-p path "../") (search "/../" path)) path)))

(defun settle-paths (changes root exists-p)
  "CHANGES with their paths relative to ROOT, and, as a second value, those paths that lead out of it, whose changes are left out. Where EXISTS-P
is false of a path and true of it without its first part, that part is what git was told to put before old and new paths alike."
  (let ((settled '()) (outside '()))
    (dolist (change changes (values (nreverse settled) (nreverse outside)))
      (let ((path (inside (file-change-path change) root)))
        (cond ((null path) (push (file-change-path change) outside))
              (t (when (and (equal (file-change-old-path change) (file-change-new-path change)) (not (funcall exists-p path))
                            (first-part path) (funcall exists-p (rest-of path)))
                   (setf path (rest-of path)))
                 (when (and (file-change-old-path change) (or (null (file-change-new-path change)) (eq (file-change-status change) :modified)))
                   (setf (file-change-old-path change) path))
                 (when (file-change-new-path change) (setf (file-change-new-path change) path))
                 (push change settled)))))))
