;;;; What small sources in sources/ define, import, call and test, against the lists beside them. After a wanted change:
;;;; sbcl --script test/sidecar/run.lisp languages-braces writes what it got as <file>.got when it differs.

(load (merge-pathnames "sources.lisp" *load-truename*))
(defpackage #:opl.test.languages-braces (:use #:cl #:opl.test #:opl.test.sources))
(in-package #:opl.test.languages-braces)

(defparameter *folder* (merge-pathnames "sources/" (make-pathname :name nil :type nil :defaults *load-truename*)))

(defun file-text (path)
  (with-open-file (in path :external-format :utf-8 :if-does-not-exist nil)
    (if in (format nil "~{~A~%~}" (loop for line = (read-line in nil) while line collect line)) "")))

(defun report (name)
  "What the source NAME says, one fact a line."
  (let ((source (file-text (merge-pathnames name *folder*))))
    (format nil "~{definition ~A~%~}~{import ~A~%~}~{call ~A~%~}~{test ~A~%~}"
            (definitions name source) (imports name source) (calls name source) (tests name source))))

(defun check-source (name)
  (let* ((expected (merge-pathnames (format nil "~A.expected" name) *folder*)) (got (report name)) (same (string= got (file-text expected))))
    (unless same
      (with-open-file (out (merge-pathnames (format nil "~A.got" name) *folder*) :direction :output :if-exists :supersede :external-format :utf-8)
        (write-string got out)))
    same))

(deftest go-source (check (check-source "shop_test.go")))
(deftest java-source (check (check-source "Shop.java")))
(deftest c-source (check (check-source "shop.c")))
(deftest rust-source (check (check-source "shop.rs")))
(deftest c++-source (check (check-source "shop.cpp")))
(deftest csharp-source (check (check-source "shop.cs")))
(deftest dart-source (check (check-source "shop.dart")))
(deftest kotlin-source (check (check-source "shop.kt")))
(deftest scala-source (check (check-source "shop.scala")))
(deftest swift-source (check (check-source "shop.swift")))
(deftest solidity-source (check (check-source "shop.sol")))
(deftest zig-source (check (check-source "shop.zig")))
(deftest protobuf-source (check (check-source "shop.proto")))
(deftest graphql-source (check (check-source "shop.graphql")))
(deftest terraform-source (check (check-source "shop.tf")))
(deftest sql-source (check (check-source "shop.sql")))
(deftest haskell-source (check (check-source "shop.hs")))
(deftest ocaml-source (check (check-source "shop.ml")))

;; A branch for Windows that opens a function, the other that opens it for all else; what macros rename; where they end.
(deftest c-branches-and-renames
  (check-equal '("function main 4-7" "function after 8" "macro scan 9" "function jq_scan 11" "macro MAKE 13" "function made_add 14" "function scan 16")
               (definitions "a.c" (lines "#ifdef _WIN32" "int wide(int n) {" "#else" "int main(int n) {" "#endif" "  return after();" "}"
                                         "int after(void) { return 1; }"
                                         "#define scan jq_scan" "int scan(int n);" "int scan(int n) { return n; }" "#undef scan"
                                         "#define MAKE(name) static int made_##name(void) { return 1; }" "MAKE(add)" "#undef MAKE"
                                         "int scan(void) { return 2; }"))))

;; What is declared in brackets, and a macro that stands where an attribute may.
(deftest c-declarators-in-brackets
  (check-equal '("typedef visit 1" "typedef visits 2" "variable hook 3" "variable count 4")
               (definitions "a.h" (lines "typedef int (visit)(int n);" "typedef void visits(int n);" "extern int (*hook)(int) ATTRIBUTE;"
                                         "static unsigned count;"))))

;; A macro alone on its line opens a namespace of the library's name: what follows is declared in it.
(deftest c++-macro-before-a-namespace
  (check-equal '("namespace detail 2-5" "class buffer 3" "field size 3<buffer" "function is_printable 4" "class handler 8" "method on 8<handler"
                 "function run 10-11")
               (definitions "format.hpp" (lines "LIB_BEGIN_NAMESPACE" "namespace detail {" "class buffer { int size; };"
                                                "inline bool is_printable(int c) { return c > 31; }" "}"
                                                "LIB_EXPORT_BEGIN" "LIB_BEGIN_DETAIL" "template <typename T> class handler { void on(T t) {} };"
                                                "HRESULT" "run(int a)" "{ return a; }" "LIB_END_NAMESPACE"))))

;; Macros of attributes stand where names do; structs and enums in functions are types of their own.
(deftest c-attributes-are-no-names
  (check-equal '("variable limit 1" "variable table 2" "struct pair 3" "field x 3<pair" "field at 4" "typedef pair_t 4" "variable __bss 5"
                 "struct ring 6-8" "field head 7<ring" "function run 9-13" "field a 10<run" "enumerator ONE 11<run" "struct step 12<run" "field n 12<step")
               (definitions "a.c" (lines "static unsigned limit __read_mostly = 5;" "static char table[10] __initdata = { 1 };"
                                         "struct pair { int x; } __packed;" "typedef struct { int at; } pair_t PACKED;" "extern char __weak __bss[];"
                                         "struct ring {" "  struct pair *head ____cacheline_aligned;" "};"
                                         "int run(void) {" "  struct { int a; } local;" "  enum { ONE = 1 };" "  struct step { int n; };" "}"))))

;; `:=' names a function; one in a `var' is a value, and calling it is no call of a definition.
(deftest go-function-in-a-var
  (check-equal '("function all 2-7" "function quick 5<all" "function other 8")
               (definitions "a.go" (lines "package a" "func all() {" "  var run = func() { other() }" "  run()" "  quick := func() { other() }" "  quick()" "}"
                                          "func other() {}"))))

;; Heads that go on behind a condition, tuples, members of interfaces, local functions with modifiers; `new' declares nothing.
(deftest csharp-heads
  (check-equal '("class Log 1-9" "field x 5<Log" "method Emit 6<Log" "method Pair 7-8<Log" "function Both 8<Pair" "class Empty 10"
                 "interface Sink 11-18" "method Write 12-16<Sink")
               (definitions "a.cs" (lines "sealed class Log : ISink" "#if ASYNC" "  , IAsync" "#endif" "{ readonly int x;"
                                          "  void ISink.Emit(Event e) { }" "  public (int, string) Pair() {"
                                          "    static (int, int) Both() => (1, 2); return new Pair(1); }" "}" "class Empty;"
                                          "interface Sink {" "  void Write(int level)" "#if DEFAULTS" "  {" "    Go(level);" "  }" "#endif" "}"))))

(deftest c++-types-of-a-class-outside-of-it
  (check-equal '("class Saver 1-3" "method save 2<Saver" "class Walker 4" "field n 4<Walker" "class Value 5")
               (definitions "a.cc" (lines "class Dfa::Saver {" "  void save() { }" "};" "template<typename T> class Outer::Walker : Base { int n; };"
                                           "template<typename T> class Array<T>::Value { };"))))

;; A name between backquotes may hold anything; a class without a body ends with its head.
(deftest kotlin-quoted-names-and-heads
  (check-equal '("class T 1-9" "method returns null 2<T" "class P 3-5<T" "property a 4<P" "method next 6<T" "class Q 7-8<T" "property b 8<Q" "method inside 8<Q")
               (definitions "a.kt" (lines "class T {" "  @Test fun `returns null`() { check() }" "  class P(" "    val a: Int," "  )" "  private fun next(): Int = 2"
                                          "  class Q" "    private constructor(val b: Int) { fun inside() {} }" "}"))))

(deftest swift-where-on-lines-of-its-own
  (check-equal '("extension Thing 1-6" "method default 5<Thing")
               (definitions "a.swift" (lines "extension Thing" "where" "  Self: CaseIterable, Self: RawRepresentable" "{" "  func `default`() {}" "}"))))
