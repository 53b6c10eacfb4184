(load (merge-pathnames "sources.lisp" *load-truename*))
(defpackage #:opl.test.graph-families (:use #:cl #:opl.test #:opl.test.sources))
(in-package #:opl.test.graph-families)

(defun sorted (list) (sort (copy-list list) #'string<))

(deftest go-packages-receivers-and-embedding
  (check-equal (sorted '("a.go:8 New > store/store.go:3" "a.go:9 Put > store/more.go:2" "a.go:10 Size > store/store.go:5" "a.go:11 twice > b.go:2"))
               (sorted (edges-of `(("go.mod" . "module example.com/shop
")
                           ("store/store.go" . ,(lines "package store" "type Base struct{ n int }" "func New() *Store { return &Store{} }" "type Store struct { Base }"
                                                       "func (b *Base) Size() int { return len([]int{}) }"))
                           ("store/more.go" . ,(lines "package store" "func (s *Store) Put(k string) error { return nil }"))
                           ("b.go" . ,(lines "package shop" "func twice(n int) int { return n * 2 }" "type Name string"))
                           ("a.go" . ,(lines "package shop" "import (" "  \"fmt\"" "  \"example.com/shop/store\"" ")"
                                             "func run(put func()) {" "  put(); fmt.Println(Name(\"x\"))" "  s := store.New()" "  if err := s.Put(\"a\"); err != nil { }"
                                             "  s.Size()" "  twice(1)" "}")))))))

(deftest java-overloads-imports-and-inheritance
  (check-equal (sorted '("a/Base.java:4 id > a/Base.java:3" "b/Main.java:5 Child > a/Child.java:3" "b/Main.java:6 add > a/Base.java:5" "b/Main.java:7 add > a/Base.java:6"
                 "b/Main.java:8 name > a/Base.java:4" "b/Main.java:9 helper > b/Main.java:11" "b/Main.java:10 get > a/Child.java:4"))
               (sorted (edges-of `(("a/Base.java" . ,(lines "package a;" "public class Base {" "  private int id() { return 1; }" "  public String name() { return \"\" + id(); }"
                                                    "  public void add(String s) {}" "  public void add(Number n) {}" "}"))
                           ("a/Child.java" . ,(lines "package a;" "public class Child extends Base {" "  public Child() {}" "  public static Child get() { return null; }" "}"))
                           ("b/Main.java" . ,(lines "package b;" "import a.Child;" "class Main {" "  void run(String helper) {" "    Child c = new Child();" "    c.add(\"x\");"
                                                    "    c.add(3);" "    c.name().length();" "    helper(1);" "    Child.get();" "  } void helper(int n) {}" "}")))))))

;; `source.load()' reads the field; the method beside it is meant where it is called: `source().load()'.
(deftest java-fields-beside-methods-of-their-name
  (check-equal (sorted '("a/Child.java:4 load > a/Store.java:2" "a/Child.java:5 load > a/Store.java:2" "a/Child.java:6 other > a/Other.java:2"
                         "a/Child.java:6 source > a/Base.java:4"))
               (sorted (edges-of `(("a/Store.java" . ,(lines "package a;" "interface Store { int load(); }"))
                           ("a/Other.java" . ,(lines "package a;" "interface Other { int other(); }"))
                           ("a/Base.java" . ,(lines "package a;" "class Base {" "  protected final Store source = null;" "  Other source() { return null; }" "}"))
                           ("a/Child.java" . ,(lines "package a;" "class Child extends Base {" "  void run() {" "    source.load();" "    this.source.load();"
                                                     "    source().other();" "  }" "}")))))))

(deftest c-includes-statics-and-macros
  (check-equal (sorted '("a.c:4 MAX > a.h:1" "a.c:5 shared > b.c:2" "a.c:6 own > a.c:3" "b.c:3 own > b.c:1"))
               (sorted (edges-of `(("a.h" . ,(lines "#define MAX(a, b) ((a) > (b))" "int shared(int x);"))
                           ("b.c" . ,(lines "static int own(void) { return 1; }" "int shared(int x) { return x; }" "int other(int (*f)(int)) { own(); return f(1); }"))
                           ("a.c" . ,(lines "#include \"a.h\"" "#include <stdlib.h>" "static int own(void) { return 0; }" "int main() { MAX(1, 2);" "shared(1);" "own();" "exit(0); }")))))))

(deftest rust-crates-modules-and-traits
  (check-equal (sorted '("src/lib.rs:6 new > src/shop.rs:3" "src/lib.rs:7 price > src/shop.rs:4" "src/lib.rs:8 label > src/item.rs:1" "src/lib.rs:9 help > src/util/mod.rs:1"))
               (sorted (edges-of `(("Cargo.toml" . ,(lines "[package]" "name = \"shop-core\""))
                           ("src/item.rs" . "pub trait Item { fn label(&self) -> u8 { 1 } }")
                           ("src/util/mod.rs" . "pub fn help() {}")
                           ("src/shop.rs" . ,(lines "use crate::item::Item;" "pub struct Shop { n: u8 } impl Item for Shop {} impl Shop {" "pub fn new() -> Self { Shop { n: 1 } }"
                                                    "pub fn price(&self) -> u8 { self.n } }"))
                           ("src/lib.rs" . ,(lines "mod item;" "mod shop;" "mod util;" "use shop::Shop;" "pub fn run() {" "let s = Shop::new();" "s.price();" "s.label();"
                                                   "util::help(); std::process::exit(0) }")))))))

(deftest declared-names-of-a-package
  (check-equal (sorted '("a/B.kt:4 Store > a/A.kt:2" "a/B.kt:5 load > a/A.kt:2" "a/B.kt:6 helper > a/A.kt:3" "c/C.kt:2 lonely > a/A.kt:4 likely"))
               (sorted (edges-of `(("a/A.kt" . ,(lines "package a" "class Store { fun load(): Int = 1 }" "fun helper() {}" "fun lonely() {}"))
                           ("a/B.kt" . ,(lines "package a" "fun run(s: Store) {" "  println(1)" "  val t = Store()" "  s.load()" "  helper()" "}"))
                           ("c/C.kt" . ,(lines "package c" "fun go() { lonely() }")))))))
