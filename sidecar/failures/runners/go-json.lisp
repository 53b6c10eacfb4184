;;;; go test -json: one object a line; its fields are few and flat, so they are picked out without a reader. Part of the package of
;;;; go.lisp, whose rules an object's output is given to.

(in-package #:opl.failures.runners.go)

(defun mark-end (mark line)
  "The position behind MARK in LINE, or nil."
  (declare (type line mark line) (optimize (speed 3) (safety 0)) (sb-ext:muffle-conditions sb-ext:compiler-note))
  (let* ((n (length mark)) (last (- (length line) n)))
    (declare (fixnum n last))
    (loop for at of-type fixnum from 0 to last
          do (when (and (char= (schar line at) (schar mark 0)) (char= (schar line (1+ at)) (schar mark 1))
                        (loop for i of-type fixnum from 2 below n always (char= (schar line (+ at i)) (schar mark i))))
               (return (+ at n))))))

(defun json-field (line mark)
  "The string value behind MARK, `\"key\":\"`, in the object LINE, escapes undone; nil when it has none."
  (let* ((start (mark-end mark line))
         (end (and start (position-if (lambda (c) (or (char= c #\") (char= c #\\))) (the line line) :start start))))
    (cond ((null start) nil)
          ((or (null end) (char= #\" (char line end))) (subseq line start end))
          (t (unescaped line start)))))

(defun unescaped (line start)
  "The string that goes on from START in LINE to its quotation mark, escapes undone."
  (with-output-to-string (out)
    (loop with i = start
          while (< i (length line))
          do (let ((c (char line i)))
               (cond ((char= c #\") (return))
                     ((and (char= c #\\) (< (1+ i) (length line)))
                      (let ((next (char line (1+ i))))
                        (case next
                          (#\n (write-char #\Newline out)) (#\t (write-char #\Tab out)) (#\r) (#\b) (#\f)
                          (#\u (let ((code (parse-integer line :start (+ i 2) :end (min (length line) (+ i 6)) :radix 16 :junk-allowed t)))
                                 (when (and code (not (<= #xD800 code #xDFFF)) (/= code 27)) (write-char (code-char code) out))
                                 (incf i 4)))
                          (t (write-char next out)))
                        (incf i 2)))
                     (t (write-char c out) (incf i)))))))

(macrolet ((mark (name key) `(defparameter ,name (coerce ,(format nil "\"~A\":\"" key) 'line))))
  (mark *action* "Action") (mark *package-key* "Package") (mark *test* "Test") (mark *output* "Output") (mark *failed-build* "FailedBuild"))

(defun go-line (line)
  (let ((action (json-field line *action*)) (package (json-field line *package-key*)) (test (json-field line *test*)))
    (cond ((null action) reject)
          (t (stash :package package)
             (cond ((string= action "output") (json-output package test (json-field line *output*)))
                   ((string= action "build-output") (dolist (text (split-on (string #\Newline) (json-field line *output*))) (unless (string= text "") (json-inner text))))
                   ((string= action "run") (stash :verbose t) (stash :started test))
                   ((and test (string= action "pass")) (tally :go-passed) (forget (qualified test)))
                   ((and test (string= action "skip")) (tally :go-skipped) (forget (qualified test)))
                   ((and test (string= action "fail")) (tally :go-failed) (json-failed test))
                   ((string= action "fail")
                    (let ((build (json-field line *failed-build*))) (when build (flag :compile)))
                    (json-package-failed package))
                   ((string= action "pass") (flag :passed) (end-package package)))
             t))))

(defun json-inner (text)
  (let ((*reading* *reading*)) (deliver *reading* (as-line text))) t)

(defun json-output (package test output)
  (let ((text (string-right-trim '(#\Newline #\Return) (or output ""))))
    (cond ((prefixp "FAIL	" text) (json-inner text))
          ((prefixp "?   	" text) (json-inner text))
          ((prefixp "ok  	" text) (json-inner text))
          ((null test)
           (cond ((or (prefixp "panic: " text) (prefixp "fatal error: " text)) (say package text) (stash :package-panic package))
                 ((member text '("FAIL" "PASS" "") :test #'string=))
                 (t (say package text))))
          ((or (prefixp "=== " text)) t)
          ((let ((line (as-line text))) (matching (line (length line)) (blanks "--- " (or "PASS" "FAIL" "SKIP") ": ") t)) t)
          (t (say (qualified test) text)))
    t))

(defun json-failed (test)
  (let* ((lines (lines-of (qualified test)))
         (panic (find-if (lambda (text) (or (prefixp "panic: " text) (prefixp "fatal error: " text))) lines :from-end t)))
    (begin-failure :test test :category (cond ((null panic) nil) ((search "timed out after" panic) (flag :timeout) "timeout") (t "crash"))
                   :message (and panic panic))
    (setf (draft-lines (reading-open *reading*)) lines)
    (of-package (reading-open *reading*))
    (stash :by-package (cons (cons (stashed :package) (reading-open *reading*)) (stashed :by-package)))
    (end-failure)
    (forget (qualified test))))

(defun json-cut-off (package)
  "The test of PACKAGE in whose output a panic stands, when no event says that it failed."
  (let-speak nil)
  (let ((prefix (concatenate 'string package " ")))
    (loop for key being the hash-keys of (table-of :output)
          for panic = (and (prefixp prefix key)
                           (find-if (lambda (text) (prefixp "panic: " text)) (gethash key (table-of :output)) :from-end t))
          when panic
            do (json-failed (subseq key (length prefix)))
               (return))))

(defun json-package-failed (package)
  "A package that failed without a failing test: a panic, an exit."
  (let ((lines (lines-of package)))
    (unless (some (lambda (entry) (equal (car entry) package)) (stashed :by-package)) (json-cut-off package))
    (when (and lines (notany (lambda (entry) (equal (car entry) package)) (stashed :by-package)) (not (member package (stashed :broken) :test #'equal)))
      (begin-failure :test package :suite t :category (if (find-if (lambda (text) (prefixp "panic: " text)) lines) "crash" nil))
      (setf (draft-lines (reading-open *reading*)) lines)
      (end-failure)))
  (flag :failed)
  (let ((mine (remove-if-not (lambda (entry) (equal (car entry) package)) (stashed :by-package))))
    (stash :package-failures (mapcar #'cdr mine))
    (stash :by-package (remove package (stashed :by-package) :key #'car :test #'equal))
    (end-package package)))
