(load (merge-pathnames "sources.lisp" *load-truename*))
(defpackage #:opl.test.graph-families (:use #:cl #:opl.test #:opl.test.sources))
(in-package #:opl.test.graph-families)

(defun sorted (list) (sort (copy-list list) #'string<))

(defun check-edges (wanted files) (check-equal (sorted wanted) (sorted (edges-of files))))

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

(deftest kotlin-extensions-of-types-from-outside
  (check-edges '("b/Use.kt:4 shorten > a/Text.kt:2 likely" "c/Star.kt:3 shorten > a/Text.kt:2 likely")
               `(("a/Text.kt" . ,(lines "package a" "fun String.shorten(n: Int): String = this" "fun String.repeat(n: Int): String = this" "fun String.size2(): Int = 1"))
                 ("a/Box.kt" . ,(lines "package other" "class Box { fun size2(): Int = 2 }"))
                 ("b/Use.kt" . ,(lines "package b" "import a.shorten" "import a.repeat" "fun run(x: String) { x.shorten(1); x.repeat(2); unknown().size2() }"))
                 ("c/Star.kt" . ,(lines "package c" "import a.*" "fun run() { open().shorten(1) }"))
                 ;; not imported
                 ("d/None.kt" . ,(lines "package d" "fun run() { open().shorten(1) }")))))

(deftest c-sharp-extensions-of-types-from-outside
  (check-edges '("Use.cs:3 Shorten > Text.cs:2 likely")
               `(("Text.cs" . ,(lines "namespace Shop.Text;" "public static class Texts { public static string Shorten(this string text, int n) { return text; } }"))
                 ("Use.cs" . ,(lines "namespace Shop.App;" "class Use {" "  void Run(object x) { x.ToString().Shorten(1); }" "}")))))

(deftest swift-extensions-of-types-from-outside
  (check-edges '("Use.swift:2 shorten > Text.swift:2 likely")
               `(("Text.swift" . ,(lines "extension String {" "  func shorten() -> String { return self }" "}"))
                 ("Use.swift" . ,(lines "func run(x: String) {" "  print(x.shorten())" "}")))))

(deftest packages-of-r-are-seen-by-their-tests
  (check-edges '("R/b.R:1 trim > R/a.R:1" "tests/testthat/test-a.R:1 trim > R/a.R:1")
               `(("R/a.R" . ,(lines "trim <- function(x) base::nchar(x)")) ("other/R/c.R" . ,(lines "trim <- function(x) 2"))
                 ("R/b.R" . ,(lines "more <- function(x) trim(x)"))
                 ("tests/testthat/test-a.R" . ,(lines "test_that('x', expect_equal(trim(1), 1))")))))

(deftest packages-of-julia-modules-by-another-name-and-methods
  (check-edges '("src/Shop.jl:4 read! > src/b.jl:1 likely" "src/Shop.jl:4 read! > src/b.jl:2 likely" "test/runtests.jl:3 read! > src/b.jl:1 likely"
                 "test/runtests.jl:3 read! > src/b.jl:2 likely" "test/runtests.jl:4 Box > src/b.jl:3" "test/runtests.jl:5 start > src/Shop.jl:4")
               `(("src/Shop.jl" . ,(lines "module Shop" "include(\"b.jl\")" "Base.push!(b::Box, x) = b" "start(x) = read!(x)" "end"))
                 ("src/b.jl" . ,(lines "read!(x) = 1" "read!(x, y) = 2" "struct Box" "  n" "end"))
                 ;; a method of Base's function is not what push! means
                 ("test/runtests.jl" . ,(lines "using Shop" "const S = Shop" "f() = Shop.read!(1)" "g() = S.Box(1)" "h() = start(1)" "k() = push!([], 1)")))))

(deftest ruby-helpers-of-tests-and-classes-from-outside-that-are-opened-again
  (check-edges '("lib/tasks.rb:2 say > lib/say.rb:1 likely" "spec/a_spec.rb:2 expect_offense > lib/support.rb:2 likely" "test/a_test.rb:2 assert_body > test/helper.rb:2"
                 "lib/other.rb:3 expect_offense > lib/support.rb:2 possible")
               `(("lib/support.rb" . ,(lines "module Support" "  def expect_offense(x); end" "  def describe(x); end" "end"))
                 ("lib/say.rb" . ,(lines "def say(x); end"))
                 ("lib/tasks.rb" . ,(lines "task :x do" "  say(1)" "end"))
                 ("lib/other.rb" . ,(lines "class Other" "  def run" "    expect_offense(1)" "  end" "end"))
                 ("spec/a_spec.rb" . ,(lines "describe 'x' do" "  it('y') { expect_offense(1) }" "end"))
                 ("test/helper.rb" . ,(lines "class Minitest::Test" "  def assert_body(x); end" "end"))
                 ("test/a_test.rb" . ,(lines "class ATest < Minitest::Test" "  def test_a; assert_body(1); end" "end")))))

(deftest zig-files-are-structs-imported-by-path
  (check-edges '("a.zig:7 go > util.zig:1" "a.zig:8 open > util.zig:5" "a.zig:9 open > util.zig:5" "a.zig:10 more > Own.zig:3" "a.zig:12 init > util.zig:4"
                 "a.zig:13 open > util.zig:5" "a.zig:14 init > util.zig:4" "a.zig:15 named > src/tracy.zig:1")
               `(("util.zig" . ,(lines "pub fn go(x: i32) void {}" "pub const Box = struct {" "    n: i32," "    pub fn init() !Box { return .{ .n = 1 }; }"
                                       "    pub fn open(self: *Box) void {}" "};"))
                 ("Own.zig" . ,(lines "const Own = @This();" "n: i32," "pub fn more(self: *Own) void { self.n = 1; }"))
                 ("src/tracy.zig" . ,(lines "pub fn named() void {}"))
                 ("a.zig" . ,(lines "const util = @import(\"util.zig\");" "const Box = util.Box;" "const Box2 = @import(\"util.zig\").Box;" "const Own = @import(\"Own.zig\");"
                                    "const tracy = @import(\"tracy\");" "pub fn run(b: *Box, c: *util.Box, o: *Own) void {" "  util.go(1);" "  b.open();" "  c.open();" "  o.more();"
                                    "  std.debug.print(1);" "  var d = Box.init();" "  d.open();" "  Box2.init();" "  tracy.named();" "}")))))

(deftest ocaml-files-are-modules
  (check-edges '("bin/a.ml:2 get_stderr > lib/formatters.ml:1" "bin/a.ml:3 trim > lib/util.ml:1" "bin/a.ml:4 deep > lib/formatters.ml:3" "bin/a.ml:5 trim > lib/util.ml:1")
               `(("lib/formatters.ml" . ,(lines "let get_stderr () = 1" "module Inner = struct" "  let deep x = x" "end")) ("lib/formatters.mli" . ,(lines "val get_stderr : unit -> int"))
                 ("lib/util.ml" . ,(lines "let trim x = x"))
                 ("bin/a.ml" . ,(lines "open Util" "let run x = Formatters.get_stderr ()" "let b x = trim x" "let c x = Formatters.Inner.deep x" "let d x = List.map go x; Util.trim x")))))

;; Two threads that came to the packages of a repository at once had two tables of them, and a package of the one was none of the other's.
(deftest what-two-threads-compute-at-once-is-one-thing-afterwards
  (with-scratch-folder (folder)
    (let* ((world (opl.graph.world:world-of (opl.index.refresh:build-index (sb-ext:native-namestring folder) nil '())))
           (threads (loop repeat 8 collect (sb-thread:make-thread
                                            (lambda ()
                                              (list (opl.graph.world:remembered (world :probe) (sleep 0.1) (list 1))
                                                    (opl.graph.world:remembered (world :probe "x") (sleep 0.1) (list 2)))))))
           (values (mapcar #'sb-thread:join-thread threads)))
      (check (every (lambda (pair) (and (eq (first pair) (first (first values))) (eq (second pair) (second (first values))))) values)))))

(deftest a-base-from-outside-is-not-the-interface-beside-it
  (check-edges '("Own.cs:4 base > Own.cs:2")
               `(("Shop.cs" . ,(lines "namespace Shop;" "interface IRepo { }" "class Service : Outside, IRepo {" "  Service(int n) : base(n) { }" "}"))
                 ("Own.cs" . ,(lines "namespace Own;" "class Base { public Base(int n) { } }" "class Service : Base {" "  Service(int n) : base(n) { }" "}")))))
