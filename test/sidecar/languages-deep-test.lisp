;;;; Sources that nobody writes: brackets, blocks, types and operators within one another without end, and statements that end
;;;; nowhere. A thread whose stack ends takes the whole process with it, so that a depth without limit fails these tests by ending them.

(load (merge-pathnames "sources.lisp" *load-truename*))
(defpackage #:opl.test.languages-deep (:use #:cl #:opl.test #:opl.test.sources))
(in-package #:opl.test.languages-deep)

(defun repeated (count text) (format nil "~{~A~%~}" (loop repeat count collect text)))

(defparameter *extensions*
  '("c" "h" "m" "cc" "cs" "dart" "kt" "scala" "swift" "sol" "zig" "java" "groovy" "go" "rs" "php" "py" "rb" "ts" "tsx" "js" "lua" "pl" "ex"
    "jl" "r" "hs" "ml" "clj" "lisp" "sh" "proto" "graphql" "tf" "sql"))

(defparameter *openings*
  '("a(" "(" "[" "{" "<" "a<" "A<B>(" "- " "! " "* " "& " "a = " "a + " "a => " "a ? " "a ? b : " "a extends " "a.b(->{ " "if (a) {" "if a then "
    "for (;;) {" "switch (a) { case b: " "class A { " "class A: " "struct A { " "struct { " "union { struct {" "enum A { " "interface A { a: "
    "namespace A { " "module A " "type A = { " "function f() {" "fn(" "func(a) {" "fun f() { " "def f: " "lambda: " "move || " "{ a -> " "do |x| "
    "begin " "match a { A => " "new A() { " "let x=" "let x: a<" "@A(" "#[a(" "{-" "${" "\"${" "\"#{" "\"\\(" "f\"{" "<div>" "<A b={" "(let ((a " "int (*a)("))

(deftest no-depth-of-nesting-ends-the-stack
  (dolist (extension *extensions*)
    (let ((path (format nil "a.~A" extension)))
      (check (opl.source.language:language-of-path path))
      (dolist (opening *openings*) (check (listp (calls path (repeated 5000 opening))))))))

;; What is nested less deep than that is read, and so is what follows.
(deftest code-around-what-is-nested-too-deep-is-read
  (dolist (path '("a.kt" "a.c" "a.java" "a.swift" "a.cs"))
    (let ((calls (calls path (format nil "~A f() { before(); ~{~A~}g()~{~A~}; }~%~A h() { after(); }"
                                     (if (search "kt" path) "fun" (if (search "swift" path) "func" "void")) (loop repeat 3000 collect "(") (loop repeat 3000 collect ")")
                                     (if (search "kt" path) "fun" (if (search "swift" path) "func" "void"))))))
      (check (member "f>before:1" calls :test #'string=))
      (check (member "h>after:2" calls :test #'string=)))))

;; Long is not deep: the calls at the end of an expression of many operators are there.
(deftest an-expression-may-have-many-operators
  (dolist (path '("a.kt" "a.java" "a.swift" "a.cs" "a.c"))
    (check (member "f>last:1" (calls path (format nil "~A f() { x = ~{~A~}last(); }"
                                                  (cond ((search "kt" path) "fun") ((search "swift" path) "func") (t "void"))
                                                  (loop repeat 2000 collect "one() + ")))
                   :test #'string=))))

;; Each condition was stepped over twice for each one around it: forty took a trillion steps.
(deftest conditional-types-within-one-another-take-no-exponential-time
  (check-equal '("alias X 1" "function f 2")
               (definitions "a.ts" (format nil "type X = ~{~A~}a~{~A~}~%function f() {}~%"
                                           (loop repeat 40 collect "a extends ") (loop repeat 40 collect " ? b : c")))))
