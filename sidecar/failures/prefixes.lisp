(defpackage #:opl.failures.prefixes
  (:use #:cl)
  (:import-from #:opl.failures.pattern #:line #:matching)
  (:import-from #:opl.failures.lines #:clean-line #:octets)
  (:export #:layout-of #:unprefixed))
(in-package #:opl.failures.prefixes)

(declaim (optimize (speed 1) (safety 1)))

;;; What other programs put before each line of a test run: containers their names (`app-1  | `), task runners the package (`web:test: `,
;;; `packages/web test: `, `[web] `), build servers the time of day. They are learned from the log itself, by how often one is repeated,
;;; and each is a stream of its own: two packages tested at once are told apart.

(defconstant +sample+ (* 128 1024) "Octets of a log's head, and of its end, from which its prefixes are learned.")
(defconstant +fewest+ 4 "Lines that must begin alike.")
(defconstant +density+ 7/10 "Of the lines between the first and the last that begin so, how many must.")
(defconstant +breadth+ 4/10 "Of a log's lines, how many a prefix that may be a runner's own word must stand before.")

(defparameter *plain-words*
  '("info" "error" "err" "warn" "warning" "debug" "fatal" "trace" "success" "notice" "junit" "javac" "testng" "java" "exec" "scalac" "echo" "make" "gmake" "ld" "npm" "note" "ok" "pass" "fail" "failed"
    "passed" "skipped" "file" "at" "in" "expected" "actual" "got" "want" "caused" "tests" "time" "test" "e" "w" "assertionerror" "error trace" "stdout" "stderr" "ninja" "gradle" "cargo" "help" "caused by" "suites" "asserts" "snapshots" "checks" "scenario" "feature" "suite" "scenarios"
    "xpass" "xfail" "ignored" "skip" "todo")
  "Words before a colon or in brackets that are a program's own.")

(defun plain-word-p (name)
  (or (member name *plain-words* :test #'string-equal)
      (let ((dot (position #\. name :from-end t)))
        ;; a file's name before a compiler's words
        (and dot (<= 1 (- (length name) dot 1) 5) (every #'alpha-char-p (subseq name (1+ dot)))))))

(declaim (notinline letter-first-p))
(defun letter-first-p (name)
  "Whether NAME begins with a letter. Out of line: where a capture may be nil, SBCL warns of `char' on it in some compilations and not in others."
  (and (plusp (length name)) (alpha-char-p (char name 0))))

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defparameter *name* "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.@/-" "Characters of a package's name."))

(defmacro head ((line) pattern &optional (guard t))
  "The length of what PATTERN matches at LINE's start, before one blank or the end; nil when it does not match or GUARD is false."
  `(matching (,line (length ,line)) ((all ,@pattern) (or end blank))
     (and ,guard (+ (length all) (if (< (length all) (length line)) 1 0)))))

(defun candidates (line)
  "The (kind . length) of each prefix that LINE may begin with."
  (declare (type line line))
  (flet ((shape (kind length) (and length (list (cons kind length)))))
    (append
     (shape :pipe (head (line) ((name (of "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")) blanks "|") (letter-first-p name)))
     (shape :bar (head (line) ("│")))
     (shape :task (head (line) ((name (of #.*name*)) ":" (task (of "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-")) ":")
                        (and (letter-first-p task) (not (plain-word-p name)))))
     (shape :script (head (line) ((name (of #.*name*)) " " (task (of "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")) ":")
                          (and (letter-first-p task) (not (plain-word-p name)) (some #'lower-case-p name))))
     (shape :bracket (head (line) ("[" (name (of "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.@/:-")) "]" (? ":")) (and (some #'alphanumericp name) (not (plain-word-p name)))))
     (shape :name (head (line) ((name (of #.*name*)) ":")
                        (and (> (length name) 1) (some #'lower-case-p name) (not (plain-word-p name)))))
     (shape :clock (clock-end line)))))

(defun clock-end (line)
  "The length of `10:11:12 `, `[10:11:12] `, `10:11:12.123 `, `[04-09 10:11:12.123] ` at LINE's start, or nil."
  (declare (type line line))
  (matching (line (length line)) ((all (? "[") (? (of "0123456789-/") " ") (hour integer) ":" (minute integer) ":" (second integer) (? (or "." ",") integer) (? "]") (or blank end)))
    (and hour minute second (< hour 24) (< minute 60) (< second 61)
         (digit-char-p (char line (if (char= #\[ (char line 0)) 2 1)))
         (length all))))

(defun sample-lines (path)
  "The cleaned lines of PATH's head and end that are not blank."
  (with-open-file (in path :element-type '(unsigned-byte 8))
    (let* ((size (file-length in)) (lines '()) (buffer (make-array +sample+ :element-type '(unsigned-byte 8))))
      (flet ((take (from)
               (file-position in from)
               (let ((end (read-sequence buffer in)) (start 0))
                 (loop while (< start end)
                       do (let* ((stop (or (position-if (lambda (octet) (or (= octet 10) (= octet 13))) buffer :start start :end end) end))
                                 (line (clean-line buffer start (min stop (+ start 400)))))
                            (when (find #\Space line :test #'char/=) (push line lines))
                            (setf start (1+ stop)))))))
        (take 0)
        (when (> size +sample+) (take (max +sample+ (- size +sample+)))))
      (nreverse lines))))

(defstruct tally (count 0 :type fixnum) (first 0 :type fixnum) (last 0 :type fixnum))

(defun layout-of (path)
  "The prefixes that the lines of the log at PATH have: a list of strings, longest first; or (:clock n), n the blanks
behind the time beside the first; nil when they have none."
  (let ((tallies (make-hash-table :test 'equal)) (kinds (make-hash-table)) (lines 0) (narrowest 9))
    (declare (fixnum lines narrowest))
    (dolist (line (sample-lines path))
      (incf lines)
      (loop for (kind . length) in (candidates line)
            do (flet ((note (table key)
                        (let ((tally (or (gethash key table) (setf (gethash key table) (make-tally :first lines)))))
                          (incf (tally-count tally)) (setf (tally-last tally) lines))))
                 (note kinds kind)
                 (let ((text (and (eq kind :clock) (position #\Space line :start length :test #'char/=))))
                   (when text (setf narrowest (min narrowest (- text length)))))
                 (unless (eq kind :clock)
                   (note tallies (cons kind (string-right-trim " " (subseq line 0 length))))))))
    (loop for kind in '(:clock :pipe :task :script :bar :bracket :name)
          for all = (gethash kind kinds)
          when (and all (dense-p all lines (member kind '(:pipe :task :script))))
            do (if (eq kind :clock)
                   (return (list :clock (if (= narrowest 9) 0 narrowest)))
                   (let ((prefixes (loop for (own . prefix) being the hash-keys of tallies using (hash-value tally)
                                         when (and (eq own kind) (>= (tally-count tally) (min lines +fewest+))) collect prefix)))
                     ;; most of the lines of the kind must begin with one that is repeated
                     (when (and prefixes (>= (loop for prefix in prefixes sum (tally-count (gethash (cons kind prefix) tallies))) (* +density+ (tally-count all))))
                       (return (sort prefixes (lambda (a b) (or (> (length a) (length b)) (and (= (length a) (length b)) (string< a b)))))))))))) 

(defun dense-p (tally lines own)
  (let ((span (1+ (- (tally-last tally) (tally-first tally)))))
    (and (or (>= (tally-count tally) +fewest+) (and own (= lines (tally-count tally)) (> lines 1)))
         (>= (tally-count tally) (* +density+ span))
         (or own (>= (tally-count tally) (* +breadth+ lines))))))

(defun unstamped (line)
  "LINE without a time stamp that stood behind its prefix."
  (declare (type line line))
  (or (matching (line (length line)) ((of "0123456789") "-" (of "0123456789") "-" (of "0123456789") "T" (of "0123456789:.") "Z" (or end " ") (text longest)) (or text ""))
      line))

(defun unprefixed (line layout)
  "LINE without the prefix of LAYOUT that it begins with, and that prefix; LINE and nil when it has none."
  (declare (type line line))
  (if (eq (first layout) :clock)
      (let ((end (clock-end line))) (values (if end (subseq line (min (length line) (+ end (second layout)))) line) nil))
      (dolist (prefix layout (values line nil))
        (let ((n (length prefix)))
          (when (and (<= n (length line)) (string= prefix line :end2 n)
                     (or (= n (length line)) (char= #\Space (char line n))))
            (return (values (unstamped (if (= n (length line)) (coerce "" 'line) (subseq line (1+ n)))) prefix)))))))
