;;;; Perl: packages, subs, methods called on objects and classes, constants, Test::More's subtests.

(defpackage #:opl.languages.perl
  (:use #:cl #:opl.languages.reading)
  (:import-from #:opl.source.names #:+none+ #:known #:name-case)
  (:import-from #:opl.source.tokens #:+string+ #:+identifier+ #:+number+)
  (:import-from #:opl.source.facts #:+class-scope+ #:+function-scope+ #:draft-def-to #:draft-def-from #:draft-def-end #:draft-test-end
                #:+op-self+ #:+op-call+ #:+op-new+ #:+op-super+ #:+variable+ #:+call+ #:+construct+ #:+exported+ #:+private+ #:+extends+ #:+side-effect+ #:add-heritage)
  (:import-from #:opl.languages.extractor #:define-extractor))
(in-package #:opl.languages.perl)
(declaim (optimize (speed 1) (safety 1)) (sb-ext:muffle-conditions sb-ext:compiler-note))
(declaim (ftype function item chain))

(define-steps p limit advance r)

(defun walk (r) (walk-with #'item r))

(defun item (r i)
  (declare (type reading r) (type index i))
  (let ((mate (mate-at r i)))
    (cond
      ((and (/= mate +none+) (> mate i))
       (cond ((and (is r i "{") (identifier-at-p r (1+ i)) (= mate (+ i 2))) (setf (p) (+ i 3))) ; {key}
             (t (within-bracket (r i) (walk r)))))
      ((is r i "$") (variable-of r i))
      ((/= (kind-at r i) +identifier+) (advance r))
      ((is r (1+ i) "=>") (advance r))
      ((is r (1- i) "@" "%") (advance r))
      (t (name-case (name-at r i)
           ("package" (package-definition r i))
           ("sub" (sub-definition r i))
           (("use" "no") (use-statement r))
           ("require" (advance r) (when (identifier-at-p r (1+ i)) (let ((end (path-end r (1+ i)))) (module-import r (1+ i) end) (setf (p) end))))
           (("my" "our" "local" "if" "elsif" "else" "unless" "while" "until" "for" "foreach" "return" "and" "or" "not" "x" "eq" "ne" "lt" "gt"
             "le" "ge" "cmp" "do" "eval" "last" "next" "redo" "BEGIN" "END" "__PACKAGE__" "qw" "undef" "defined" "ref" "scalar" "wantarray")
            (advance r)
            (when (and (is r i "__PACKAGE__") (is r (p) "->")) (chain r (name-node r (own-package r)))))
           (t (word r i)))))))

(defun path-end (r i)
  "The token after the name A::B::c at I."
  (declare (type index i))
  (loop while (and (is r (1+ i) "::") (identifier-at-p r (+ i 2))) do (incf i 2))
  (1+ i))

(defun own-package (r)
  (if (= (reading-owner r) +none+) (known "main") (opl.source.facts:draft-def-name (reading-facts r) (reading-owner r))))

(defun word (r i)
  "A function, or a class on which a method is called."
  (declare (type reading r) (type index i))
  (let* ((end (path-end r i)) (last (1- end)))
    (declare (type index end last))
    (setf (p) end)
    (cond
      ((is r end "->") (chain r (name-node r (words-name r i end))))
      ((and (is r end "(") (not (is r (1- i) "->")))
       (call r last (if (= i last) (name-node r (name-at r i)) (member-node r (name-node r (words-name r i (1- last))) (name-at r last) 1))))
      ((and (is r i "new") (identifier-at-p r end) (capitalised-p r (name-at r end)))
       (let ((class-end (path-end r end)))
         (setf (p) class-end)
         (site r (name-at r i) (line-at r i) +construct+ (member-node r (name-node r (words-name r end class-end)) (name-at r i)))))
      ((and (is r (1- i) "&") (= i last)) (call r i (name-node r (name-at r i)))))))

(defun call (r i callee) (site r (name-at r i) (line-at r i) +call+ callee)
  (test r i))

(defun test (r i)
  "subtest 'title' => sub { … }"
  (declare (type reading r) (type index i))
  (when (and (is r i "subtest") (is r (1+ i) "(") (= (kind-at r (+ i 2)) +string+))
    (let ((test (mark-test r (intern-text r (text-of r (+ i 2))) (line-at r i))))
      (preserving (r reading-test)
        (setf (reading-test r) test)
        (item r (1+ i)))
      (setf (draft-test-end (reading-facts r) test) (last-line r (p))))))

(defun variable-of (r i)
  "A scalar: $self and what is called on it; $x = Class->new."
  (declare (type reading r) (type index i))
  (advance r)
  (when (and (identifier-at-p r (p)) (adjacent-p r (p)))
    (let* ((name (words-name r i (1+ (p)))) (self (is r (p) "self" "class" "this")))
      (advance r)
      (cond
        ((is r (p) "->") (chain r (if (and self (/= (reading-owner r) +none+)) (node r +op-self+ (reading-scope r)) (name-node r name))))
        ((and (is r (p) "=") (identifier-at-p r (1+ (p))) (capitalised-p r (name-at r (1+ (p)))))
         (let* ((from (1+ (p))) (end (path-end r from)))
           (when (is r end "->")
             (setf (p) end)
             (bind r name +variable+ :value (chain r (name-node r (words-name r from end)))))))))))

(defun chain (r value)
  "->method(…)->{key}[0] on VALUE; its node."
  (declare (type reading r))
  (loop while (and (< (p) (limit)) (is r (p) "->"))
        do (advance r)
           (let ((i (p)))
             (declare (type index i))
             (cond
               ((is r i "[" "{" "(") (item r i) (loop while (is r (p) "[" "{") do (item r (p))) (setf value +none+))
               ((identifier-at-p r i)
                (let* ((end (path-end r i)) (last (1- end))
                       (super (and (/= i last) (is r i "SUPER")))
                       (receiver (if super (node r +op-super+ (reading-scope r)) value))
                       (callee (if (= receiver +none+) +none+ (member-node r receiver (name-at r last)))))
                  (declare (type index end last))
                  (setf (p) end)
                  (let ((site (site r (name-at r last) (line-at r last) (if (is r last "new") +construct+ +call+) callee)))
                    (when (is r (p) "(") (item r (p)))
                    (setf value (cond ((= callee +none+) +none+)
                                      ((is r last "new") (node r +op-new+ receiver +none+ site))
                                      (t (node r +op-call+ callee +none+ site)))))))
               (t (advance r) (setf value +none+)))))
  value)

;;; Packages and subs

(defun package-definition (r i)
  "package A::B; (to the next one or the file's end) or package A::B { … }"
  (declare (type reading r) (type index i))
  (advance r)
  (let* ((from (p)) (end (path-end r from)) (facts (reading-facts r)))
    (declare (type index from end))
    (unless (and (< from (limit)) (identifier-at-p r from)) (return-from package-definition))
    (let* ((def (define r (words-name r from end) (known "package") from :from i :parent +none+ :scope 0 :flags +exported+))
           (scope (preserving (r reading-scope) (setf (reading-scope r) 0) (open-scope r +class-scope+ def))))
      (setf (p) end)
      (when (identifier-at-p r (p)) (advance r)) ; a version
      (cond
        ((is r (p) "{")
         (with-definition (r def scope :owner def) (within-bracket (r (p)) (walk r)))
         (end-definition r def (last-line r (p))))
        (t
         (with-definition (r def scope :owner def)
           (loop while (and (< (p) (limit)) (not (and (is r (p) "package") (not (is r (1- (p)) "->" "{")) (not (is r (1+ (p)) "=>" "}")))))
                 do (let ((at (p))) (item r at) (when (= (p) at) (advance r)))))
         (setf (draft-def-end facts def) (last-line r (p))))))))

(defun sub-definition (r i)
  (declare (type reading r) (type index i))
  (advance r)
  (let ((from (p)) (facts (reading-facts r)))
    (declare (type index from))
    (cond
      ((not (and (< from (limit)) (identifier-at-p r from))) ; anonymous
       (when (is r (p) "(") (setf (p) (1+ (the index (closer r (p)))))))
      (t
       (let* ((end (path-end r from)) (last (1- end)) (owner (reading-owner r))
              (def (define r (name-at r last) (if (= owner +none+) (known "function") (known "method")) last :from i :parent owner
                     :flags (if (name-begins-p r (name-at r last) 95) +private+ +exported+)))
              (scope (open-scope r +function-scope+ def)))
         (declare (type index end last))
         (setf (p) end)
         (loop while (and (< (p) (limit)) (not (is r (p) "{" ";")))
               do (if (is r (p) "(") (setf (p) (1+ (the index (closer r (p))))) (advance r)))
         (setf (draft-def-to facts def) (signature-end r (draft-def-from facts def) (p)))
         (cond ((is r (p) "{")
                (with-definition (r def scope :owner owner) (within-bracket (r (p)) (walk r)))
                (end-definition r def (last-line r (p))))
               (t (setf (draft-def-end facts def) (line-at r last)))))))))

;;; use A::B qw(…); use parent 'Base'; use constant NAME => 1

(defun module-import (r from end)
  (declare (type index from end))
  (when (and (> end from) (not (is r from "strict" "warnings" "utf8" "feature" "lib" "vars" "overload" "constant" "parent" "base")))
    (add-imported r +none+ (known "*") (words-name r from end) +side-effect+ (line-at r from))))

(defun use-statement (r)
  (declare (type reading r))
  (advance r)
  (let ((from (p)))
    (declare (type index from))
    (when (and (< from (limit)) (identifier-at-p r from))
      (let ((end (path-end r from)))
        (declare (type index end))
        (setf (p) end)
        (cond
          ((is r from "parent" "base")
           (loop while (and (< (p) (limit)) (not (is r (p) ";")))
                 do (when (= (kind-at r (p)) +string+) (parents r (opl.source.tokens:token-text (reading-tokens r) (p))))
                    (advance r)))
          ((is r from "constant") (constants r))
          (t (module-import r from end)))))))

(defun parents (r text)
  "The class names in TEXT, a string or a qw list, are parents of the package."
  (let ((start (if (and (> (length text) 2) (string= "qw" text :end2 2)) 3 0)))
    (loop for from = (position-if (lambda (c) (or (alphanumericp c) (char= c #\_))) text :start start)
          while from
          do (let* ((to (or (position-if-not (lambda (c) (or (alphanumericp c) (find c "_:"))) text :start from) (length text))))
               (unless (= (reading-owner r) +none+)
                 (add-heritage (reading-facts r) (reading-owner r) +extends+ (name-node r (intern-text r (subseq text from to)))))
               (setf start to)))))

(defun constants (r)
  (flet ((constant (i) (define r (name-at r i) (known "constant") i :parent (reading-owner r) :end (line-at r i) :flags +exported+)))
    (cond
      ((is r (p) "{")
       (within-bracket (r (p))
         (loop while (< (p) (limit))
               do (let ((i (p)))
                    (if (and (identifier-at-p r i) (is r (1+ i) "=>")) (progn (constant i) (incf (p) 2)) (item r i))))))
      ((and (identifier-at-p r (p)) (is r (1+ (p)) "=>")) (constant (p)) (incf (p) 2)))))

(define-extractor :perl (tokens facts names path) (:ctags-kinds ())
  (walk (start-reading tokens facts names path)))
