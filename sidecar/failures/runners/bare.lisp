(defpackage #:opl.failures.runners.bare
  (:use #:cl #:opl.failures.table #:opl.failures.report)
  (:shadowing-import-from #:opl.failures.pattern #:search)
  (:import-from #:opl.failures.pattern #:matching)
  (:import-from #:opl.failures.runners.missing #:missing))
(in-package #:opl.failures.runners.bare)

;;; What is wrong when no runner got to speak: modules, tools and scripts that are missing, uncaught exceptions, dead services.
;;; Read only when no table found anything.

(defun python-frames (draft)
  "Leaves DRAFT the frames of its traceback alone, the deepest first as in the other languages' stacks."
  (setf (draft-lines draft) (reverse (remove-if-not (lambda (line) (prefixp "  File \"" line)) (draft-lines draft)))))

(defun annotation (attributes message)
  "A `::error file=a.js,line=3,title=suite > test::message` that a reporter for hosted jobs prints in place of its text."
  (flet ((value (key)
           (let ((pair (find-if (lambda (part) (prefixp key part)) (mapcar #'trim (split-on "," attributes)))))
             (and pair (unquoted (subseq pair (length key)))))))
    (let* ((path (value "file=")) (title (value "title=")) (line (value "line="))
           (file (and path (subseq path (1+ (or (position #\/ path :from-end t) -1)))))
           ;; the file, alone or with its place, is a part of some titles
           (parts (and title (remove-if (lambda (part) (and file (search file part))) (split-on (if (search " › " title) " › " " > ") title)))))
      (note-failure :test (and parts (joined parts)) :path path :line (and line (parse-integer line :junk-allowed t))
                    :suite (null parts) :message (unquoted message) :merge t))))

(defun unquoted (text)
  "TEXT with the `%0A` and the like undone that stand for its line ends, commas and colons."
  (with-output-to-string (out)
    (loop with i = 0
          while (< i (length text))
          do (let ((code (and (char= #\% (char text i)) (<= (+ i 3) (length text))
                              (cdr (assoc (subseq text (1+ i) (+ i 3)) '(("0A" . #\Newline) ("0D" . nil) ("25" . #\%) ("2C" . #\,) ("3A" . #\:)) :test #'string-equal)))))
               (cond (code (write-char code out) (incf i 3))
                     (t (write-char (char text i) out) (incf i)))))))

(defun setup (message &rest more) (apply #'begin-failure :suite t :category "setup" :message message more))

(define-runner "none" (:kind :none :frames (:js :python :ruby :php :java :perl) :innermost :first :message :plain)
  (on ((? text " ") (? "Error: ") "Cannot find " (kind (or "module" "package")) " " (what rest))
    (if (or (reading-open *reading*) (search "[eslint]" line)) reject (setup (trim line))))
  (on ("::error " (attributes text+) "::" (message rest)) (annotation attributes message))
  (on ("error: " (? "Uncaught " (? "(in promise) ")) (kind (not-of " :") "Error") ": " rest)
    (if (reading-open *reading*) reject (begin-failure :suite t :message line)))
  (on ((? "Error ") "[ERR_MODULE_NOT_FOUND]: " (what rest)) (setup (trim line)))
  (on ((? text) "Traceback (most recent call last):") (begin-failure :suite t) (stash :trace (reading-open *reading*)) (enter :traceback))
  (within (:traceback) ((kind (not-of " :")) (? ": " rest) end)
    (when (pending) (setf (failure-message (pending)) line) (python-frames (reading-open *reading*))) (end-failure) (enter nil))
  (within (:traceback) (blank rest) reject)
  (include missing)
  (on (text ": not found" end) (if (search "/bin/" line) (progn (setup (trim line)) (end-failure)) reject))
  (on (text ": No module named " (what rest)) (if (reading-open *reading*) reject (progn (setup (trim line)) (end-failure))))
  (on (text (or "ECONNREFUSED" "connection refused" "Connection refused" "EADDRINUSE" "address already in use" "could not connect to server" "Can't connect to")) (setup (trim line)) (end-failure))
  (on (text (or "JavaScript heap out of memory" "OutOfMemoryError" "MemoryError" "Cannot allocate memory" "Out of memory:")) (begin-failure :suite t :category "crash" :message (trim line)) (end-failure))
  (on (text (or "Segmentation fault" "Aborted (core dumped)" "Bus error" "Illegal instruction" "Killed")) (begin-failure :suite t :category "crash" :message (trim line)) (end-failure))
  (on ((path path (or ".js" ".ts" ".mjs" ".cjs")) ":" (at integer) end) (stash :at (list path at)) (enter :syntax))
  (within (:syntax) ((kind (not-of " :[]") (or "Error" "Exception")) (? " [" (not-of "]") "]") ": " (message rest))
    (if (string= kind "SyntaxError") reject (progn (begin-failure :suite t :message line) (enter nil))))
  (within (:syntax) ("SyntaxError: " (message rest)) (begin-failure :suite t :category "compile" :path (first (stashed :at)) :line (second (stashed :at)) :message line) (end-failure) (enter nil))
  (on ("Error: Test file \"" text "\" does not exist" end) (setup line) (end-failure))
  (on (text "LoadError") (setup (trim line)) (end-failure))
  (within (t) ("}" end) (end-failure))
  (within (t) ("Node.js v" rest) (end-failure)))
