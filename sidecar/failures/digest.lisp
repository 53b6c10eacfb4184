(defpackage #:opl.failures.digest
  (:use #:cl #:opl.failures.report)
  (:shadowing-import-from #:opl.failures.pattern #:search)
  (:import-from #:opl.failures.pattern #:line #:matching)
  (:import-from #:opl.failures.table #:draft-failure #:draft-lines #:draft-late #:prefixp #:suffixp #:trim #:blank-line-p #:indentation
           #:joined)
  (:import-from #:opl.failures.lines #:make-needles #:needles-in)
  (:import-from #:opl.failures.frames #:frame-of #:tidy-path #:as-line #:foreign-path-p)
  (:export #:digest))
(in-package #:opl.failures.digest)

(declaim (optimize (speed 1) (safety 1)))

;;; From the lines below a failure to its message, frames, place and category.

(defconstant +message-limit+ 4000 "Characters of a message; the gist of a failure is at its start.")
(defconstant +frames-limit+ 50 "Frames of a failure that are kept.")

;;; categories

(defun mentions (words text) (some (lambda (word) (search word text)) words))

(defun exception-name (text)
  "The first word of TEXT that names an exception (…Error, …Exception, …Failure), in lower case, or nil."
  (loop with start = 0
        while (< start (length text))
        do (let* ((stop (or (position-if-not (lambda (c) (or (alphanumericp c) (find c "._:$\\"))) text :start start) (length text)))
                  (word (string-right-trim ":." (subseq text start stop))))
             (when (and (> (length word) 3) (or (suffixp "error" word) (suffixp "exception" word) (suffixp "failure" word) (suffixp "failederror" word)))
               (return word))
             (setf start (1+ stop)))))

(defparameter *time-words* '("timed out" "exceeded timeout" "timeout of " "timeout >" "test timeout" "timeoutexpired" "timeout exceeded" "timed-out" "***timeout" "timeoutexception" "testtimedout" "did not complete in" "did not complete within" "was not invoked within" "stack_trace_error" "operation timeout" "deadline exceeded"))
(defparameter *setup-words*
  '("cannot find module" "no module named" "modulenotfounderror" "importerror" "cannot find package" "err_module_not_found" "failed to load url" "failed to resolve import" "cannot load such file"
    "no such file to load" "module not found" "could not resolve" "loaderror" "unresolved import" "cannot resolve module" "noclassdeffounderror" "classnotfoundexception" "command not found"
    "executable doesn't exist" "failed to load config" "no such module"))
(defparameter *compile-words*
  '("syntaxerror" "unexpected token" "syntax error" "parse error" "transform failed" "failed to parse" "parseerror" "indentationerror" "taberror" "unterminated" "expression expected" "error: unexpected " "parse failure" "rolluperror" "error ts" "compilation error" "compileerror" "tokenmissingerror" "but found \""))
(defparameter *crash-words*
  '("segmentation fault" "sigsegv" "sigabrt" "sigill" "sigbus" "core dumped" "node down" "worker '" "bad access" "stack overflow" "crashed while running" "fatal error: unexpectedly" "jest worker process"
    "out of memory" "signal: " "exited unexpectedly" "process exited with code" "aborted (core" "memory access error"))
(defparameter *assertion-words*
  '("expected" "expect(" "assert" "should " "to equal" "must be" "failed asserting" "not equal" "comparisonfailure" "differ" "mismatch" "does not match" "did not match" "!=" "to be " "was not " "condition not satisfied" "want "
    "wanted" "unequal" "must equal" "isn't truthy" "not truthy" "[xpass(strict)]" "instead of rejecting" "instead of resolving"))
(defparameter *assertion-names*
  '("assert" "comparisonfailure" "expectationnotmet" "multiplefailures" "testfailed" "testfailure" "conditionnotsatisfied" "conditionfailed" "xunit.sdk" "falsifiable" "wantedbutnotinvoked" "mockito.exceptions" "jestassertion" "unmetexpectation" "minitest::" "failederror" "expectationfailed" "verificationerror" "unexpectedcall"))

(defvar *words* nil "The automaton of the words above, made when it is first needed.")

(defun words-in (text)
  "Which kinds of words TEXT, in lower case, holds: a mask of 1 time, 2 setup, 4 compile, 8 crash, 16 assertion."
  (unless *words*
    (setf *words* (make-needles (loop for (mask . words) in (list (cons 1 *time-words*) (cons 2 *setup-words*) (cons 4 *compile-words*) (cons 8 *crash-words*) (cons 16 *assertion-words*))
                                      append (loop for word in words collect (cons word mask))))))
  (needles-in *words* text (length text)))

(defun category-of (text suite)
  "The category that the words of TEXT speak for; SUITE: a whole file failed."
  (let* ((text (coerce (string-downcase (if (> (length text) 1500) (subseq text 0 1500) text)) 'line))
         (words (words-in text))
         (name (exception-name text)))
    (cond ((logtest 1 words) "timeout")
          ((and (prefixp "timeout" text)) "timeout")
          ((and suite (logtest 2 words)) "setup")
          ((and suite (logtest 4 words)) "compile")
          ((logtest 8 words) "crash")
          ((and name (mentions *assertion-names* name)) "assertion")
          ((prefixp "failed: " text) "assertion")
          ((and name (not (member name '("error" "failure" "exception" "failure/error" "e::error") :test #'string=))
                (not (search "expect(" text)))
           "error")
          ((logtest 16 words) "assertion")
          (suite "setup")
          (t "error"))))

;;; messages

(defun excerpt-line-p (text)
  "True for a line of a source excerpt: `  > 3 | code`, `    |   ^`, `  4|  code`, a line of carets."
  (let ((end (length text)))
    (or (matching (text end) (blanks (? ">" blanks) integer blanks (or "|" "│" "┆") ) t)
        (matching (text end) (blanks+ (or "|" "│") blanks (? (of "^~─")) end) t)
        (matching (text end) (blanks+ (of "^~") end) t))))

(defun e-lines (lines)
  "The messages that pytest marks with an E."
  (let ((marked (loop for line in lines
                      when (and (prefixp "E" line) (or (= 1 (length line)) (prefixp "E " line)))
                        collect (if (prefixp "E   " line) (subseq line 4) (string-left-trim " " (subseq line 1))))))
    marked))

(defun least-indentation (lines)
  (loop for line in lines unless (blank-line-p line) minimize (indentation line)))

(defun cut (text) (if (> (length text) +message-limit+) (concatenate 'string (subseq text 0 +message-limit+) " …") text))

(defun as-message (lines)
  (let* ((lines (member-if-not #'blank-line-p lines))
         (lines (reverse (member-if-not #'blank-line-p (reverse lines))))
         (indent (or (least-indentation lines) 0)))
    (cut (string-left-trim " 	" (joined (mapcar (lambda (line) (string-right-trim " " (subseq line (min indent (indentation line))))) lines) (string #\Newline))))))

(defun split-block (lines languages style)
  "The frames of LINES and the lines that are message."
  (let ((frames '()) (message '()) (after-file nil) (function nil))
    (dolist (line lines)
      (let* ((line (as-line line))
             (spoken nil)
             (frame (some (lambda (language) (let ((frame (frame-of language line))) (when frame (setf spoken language) frame))) languages)))
        (cond (frame
               (when (and function (null (frame-function frame))) (setf (frame-function frame) function))
               (push frame frames)
               ;; a frame of these may carry the message itself: `x_test.go:10: got 4`, `panicked at x.rs:1:2`
               (when (or (and (eq :go spoken) (matching (line (length line)) (blanks path ":" integer ": " word) t))
                         (and (eq :rust spoken) (search "panicked at" line))
                         (member spoken '(:perl :c :lua)))
                 (push line message))
               (setf after-file (prefixp "  File" line)))
              ((and after-file (prefixp "    " line)) nil)
              ((and (member style '(:python :e-lines)) (prefixp "Traceback (most" line)))
              ((and (not (eq style :python)) (not (eq style :plain)) (excerpt-line-p line)) (setf after-file nil))
              (t (setf after-file nil)
                 (push line message)))
        (setf function (and (not frame)
                            (or (matching (line (length line)) (blanks integer ": " (name rest)) name)
                                (and (member :go languages)
                                     (matching (line (length line)) ((name word "(") longest ")" end) (string-right-trim "(" name))))))))
    (values (nreverse frames) (nreverse message))))

(defun choose-frame (frames innermost test)
  "The deepest frame in the project, or nil."
  (let* ((own (remove-if (lambda (frame) (or (frame-foreign frame) (null (frame-path frame)) (null (frame-line frame)))) frames))
         (class (and test (find #\. test) (subseq test 0 (position #\. test :from-end t))))
         (package (and class (find #\. class) (subseq class 0 (position #\. class :from-end t)))))
    (declare (ignorable package))
    (if (eq innermost :last) (first (last own)) (first own))))

(defun place-of-diagnostic (failure lines)
  "The place that a compiler's diagnostic names when the runner itself shows no frame: `path:2:12`, `path(2,12): error`, `path: … (2:12)`."
  (flet ((at (path line)
           (let ((path (tidy-path path)))
             (when (and path (not (foreign-path-p path)))
               (setf (failure-path failure) path (failure-line failure) line)
               t))))
    (dolist (text lines)
      (let* ((line (as-line text)) (end (length line)))
        (when (or (matching (line end) (text "SyntaxError: " (path path) ": " longest "(" (l integer) ":" integer ")") (at path l))
                  (matching (line end) (blanks (? "[" text "] ") (? "File: ") (path path (or ".ts" ".tsx" ".js" ".jsx" ".mjs" ".cjs" ".mts" ".vue" ".svelte")) ":" (l integer) ":" integer) (at path l))
                  (matching (line end) ((? "E ") blanks "File \"" (path (not-of "\"")) "\", line " (l integer)) (at path l))
                  (matching (line end) (blanks (path path (or ".ts" ".tsx" ".mts" ".cts")) "(" (l integer) "," integer "): error") (at path l))
                  (matching (line end) (blanks (? "> ") (path path (or ".js" ".ts" ".mjs" ".cjs")) ":" (l integer) end) (at path l))
                  ;; an excerpt's marked line, of the file that failed
                  (and (failure-path failure)
                       (matching (line end) (blanks ">" blanks (l integer) " |") (at (failure-path failure) l)))
                  (and (failure-path failure)
                       (matching (line end) (blanks (? "SyntaxError: ") longest "(" (l integer) ":" integer ")" end) (at (failure-path failure) l))))
          (return t))))))

(defun hook-name-p (test)
  "True when TEST is a hook: mocha's `\"before each\" hook for \"name\"`, and those of the many who name them so."
  (and test (or (search "\"before each\" hook" test) (search "\"before all\" hook" test) (search "\"after each\" hook" test) (search "\"after all\" hook" test))))

(defun digest (draft options)
  "Fills what the table's rules left open in DRAFT's failure from the lines below it; returns the failure.
OPTIONS: :frames languages, :innermost :first or :last, :message :e-lines :python :plain or nil, :category the one where words do not tell."
  (let ((failure (draft-failure draft))
        (lines (append (reverse (draft-lines draft)) (reverse (draft-late draft)))))
    (multiple-value-bind (frames message) (split-block lines (getf options :frames) (getf options :message))
      (when frames
        (setf (failure-frames failure) (append (failure-frames failure) (subseq frames 0 (min +frames-limit+ (length frames)))))
        (when (null (failure-line failure))
          (let ((frame (choose-frame frames (getf options :innermost :first) (failure-test failure))))
            (when (and frame (or (null (failure-path failure)) (not (failure-suite failure)) (suffixp (failure-path failure) (frame-path frame)) t))
              (setf (failure-path failure) (frame-path frame) (failure-line failure) (frame-line frame))))))
      (let ((marked (and (eq (getf options :message) :e-lines) (e-lines lines))))
        (let ((text (as-message (or marked message))))
          (cond ((string= "" (failure-message failure)) (setf (failure-message failure) text))
                ((and (plusp (length text)) (not (search text (failure-message failure))))
                 (setf (failure-message failure)
                       (if (search (failure-message failure) text) text
                           (cut (format nil "~A~%~A" (failure-message failure) text)))))))))
    (when (and (null (failure-line failure)) (failure-suite failure)) (place-of-diagnostic failure (cons (failure-message failure) lines)))
    (setf (failure-path failure) (tidy-path (failure-path failure)))
    (when (and (failure-suite failure) (null (failure-test failure))) (setf (failure-test failure) (and (not (equal "compile" (failure-category failure))) (failure-path failure))))
    (unless (failure-category failure)
      (let ((category (if (hook-name-p (failure-test failure)) "setup" (category-of (failure-message failure) (failure-suite failure)))))
        (setf (failure-category failure)
              (if (and (string= category "error") (getf options :category) (null (exception-name (string-downcase (failure-message failure))))) (getf options :category) category))))
    failure))
