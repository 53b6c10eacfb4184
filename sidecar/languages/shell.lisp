;;;; Shells: functions, commands in command position as calls, sourced files as imports.

(defpackage #:opl.languages.shell
  (:use #:cl #:opl.languages.reading)
  (:import-from #:opl.source.names #:+none+ #:known #:name-case)
  (:import-from #:opl.source.tokens #:+string+ #:+identifier+ #:+punctuation+ #:token-mate)
  (:import-from #:opl.source.facts #:+function-scope+ #:draft-def-to #:draft-def-from #:draft-test-end #:+call+ #:+exported+ #:+side-effect+
                #:+relative+)
  (:import-from #:opl.languages.extractor #:define-extractor))
(in-package #:opl.languages.shell)
(declaim (optimize (speed 1) (safety 1)) (sb-ext:muffle-conditions sb-ext:compiler-note))

(define-steps p limit advance r)

(defun walk (r) (walk-with #'item r))

(defun item (r i)
  (declare (type reading r) (type index i))
  (let ((mate (mate-at r i)))
    (cond
      ((and (= (kind-at r i) +string+) (/= mate +none+) (> mate i))
       (over-string (r advance) (within-bracket (r (p)) (walk r))))
      ((and (is r i "{") (is r (1- i) "$") (adjacent-p r i)) (setf (p) (1+ (the index (closer r i))))) ; ${name}
      ((and (/= mate +none+) (> mate i)) (within-bracket (r i) (walk r)))
      ((and (is r i "@") (is r (1+ i) "test") (= (kind-at r (+ i 2)) +string+)) (bats-test r i))
      ((/= (kind-at r i) +identifier+) (source-dot r i) (advance r))
      ((and (is r i "function") (identifier-at-p r (1+ i)) (command-position-p r i)) (function-definition r i (1+ i)))
      ((and (is r (1+ i) "(") (is r (+ i 2) ")") (adjacent-p r (+ i 2)) (command-position-p r i)) (function-definition r i i))
      (t (advance r) (when (command-position-p r i) (command r i))))))

(defun command-position-p (r i)
  "Whether the word at I is where a command stands."
  (declare (type index i))
  (and (or (zerop i)
           (line-begins-p r i)
           (is r (1- i) ";" "&&" "||" "|" "&" ";;" "{" "(" "${" "!" "then" "do" "else" "if" "elif" "while" "until" "time" "|&")
           (and (is r (1- i) ")") (not (adjacent-p r i)) (not (is r (1- i) "$"))))
       (not (and (plusp i) (adjacent-p r i) (is r (1- i) "$" "/" "." "-" "~" "=" "*")))))

(defun command (r i)
  "The word at I is called, unless it is assigned to, part of a path or a word of the shell's own."
  (declare (type index i))
  (unless (or (and (adjacent-p r (1+ i)) (is r (1+ i) "=" "/" "." "+=" "[" ":" "+" "@" "*" "?" "$" "-" "%"))
              (and (is r (1+ i) ")") (= (mate-at r (1+ i)) +none+)) ; a pattern of `case'
              (is r i "if" "then" "else" "elif" "fi" "for" "while" "until" "do" "done" "case" "esac" "in" "select" "time" "function"
                  "return" "break" "continue" "local" "export" "readonly" "declare" "typeset" "unset" "shift" "set" "exit" "true" "false"))
    (site r (name-at r i) (line-at r i) +call+ (name-node r (name-at r i)))
    (when (is r i "source") (sourced r (1+ i)))))

(defun source-dot (r i)
  (declare (type index i))
  (when (and (is r i ".") (or (zerop i) (line-begins-p r i) (is r (1- i) ";" "&&" "||" "then" "do" "{")) (not (adjacent-p r (1+ i))))
    (sourced r (1+ i))))

(defun sourced (r i)
  "The word at I names a file that is read here; what a variable says of its folder is left out."
  (declare (type reading r) (type index i))
  (when (and (< i (limit)) (not (line-begins-p r i)))
    (let* ((end (let ((j i)) (loop while (and (< (1+ j) (the index (limit))) (adjacent-p r (1+ j)) (< j (+ i 30))) do (incf j)) (1+ j)))
           (tokens (reading-tokens r))
           (text (opl.source.names:octets-string (opl.source.tokens:tokens-octets tokens)
                                                 :start (opl.source.tokens:token-start tokens i) :end (opl.source.tokens:token-end tokens (1- end))))
           (plain (remove-if (lambda (c) (find c "\"'")) text))
           (dollar (position #\$ plain :from-end t)) (slash (position #\/ plain :start (or dollar 0))))
      (unless (and dollar (null slash))
        (add-imported r +none+ (known "*") (intern-text r (if dollar (subseq plain (1+ slash)) plain))
                      (logior +side-effect+ (if dollar +relative+ 0)) (line-at r i))))))

(defun function-definition (r first i)
  (declare (type reading r) (type index first i))
  (let* ((def (define r (name-at r i) (known "function") i :from first :flags +exported+)) (scope (open-scope r +function-scope+ def)))
    (setf (p) (1+ i))
    (when (and (is r (p) "(") (is r (1+ (p)) ")")) (incf (p) 2))
    (setf (draft-def-to (reading-facts r) def) (signature-end r (draft-def-from (reading-facts r) def) (p)))
    (with-definition (r def scope)
      (when (is r (p) "{" "(") (item r (p))))
    (end-definition r def (last-line r (p)))))

(defun bats-test (r i)
  "@test \"title\" { … }"
  (declare (type reading r) (type index i))
  (let ((test (mark-test r (intern-text r (text-of r (+ i 2))) (line-at r i))))
    (setf (p) (+ i 3))
    (when (is r (p) "{") (item r (p)))
    (setf (draft-test-end (reading-facts r) test) (last-line r (p)))))

(define-extractor :shell (tokens facts names path) (:ctags-kinds ())
  (walk (start-reading tokens facts names path)))
