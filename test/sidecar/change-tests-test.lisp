;;;; Which tests a change concerns, by the ways in which frameworks and languages reach code without a plain call.

(unless (find-package "OPL.TEST.REPOSITORY") (load (merge-pathnames "repository.lisp" *load-truename*)))

(defpackage #:opl.test.change-tests
  (:use #:cl #:opl.test #:opl.test.repository #:opl.change.impact #:opl.change.tests #:opl.change.reach #:opl.change.roots)
  (:import-from #:opl.index.store #:index-path #:definition-tags #:tag-name #:index-names)
  (:import-from #:opl.source.names #:name-string))
(in-package #:opl.test.change-tests)

(defun lines (&rest lines) (format nil "~{~A~%~}" lines))

(defun impact-of-name (index name) (impact-of-tags index (definition-tags index name)))

(defun tests-of-name (index name) (mapcar #'test-hit-path (impact-tests (impact-of-name index name))))

(defun reaches-p (index name path)
  "Whether a call or mention in the file PATH depends on the definition NAME."
  (find path (impact-dependants (impact-of-name index name)) :key (lambda (each) (index-path index (dependant-file each))) :test #'string=))

(deftest a-function-in-a-table-is-reached-by-who-uses-the-table
  (with-repository (folder ("app/dates.py" (lines "def parse_iso(text):" "    return text" "" "PARSERS = {" "    'iso': parse_iso," "}" ""
                                                  "def read(kind, text):" "    return PARSERS[kind](text)"))
                           ("tests/test_read.py" (lines "from app.dates import read" "" "def test_read():" "    assert read('iso', '1')"))
                           ("tests/test_else.py" (lines "def test_else():" "    assert True")))
    (let ((index (build folder)))
      (check (reaches-p index "parse_iso" "tests/test_read.py"))
      (check-equal "tests/test_read.py" (first (tests-of-name index "parse_iso"))))))

(deftest what-a-metaclass-does-is-reached-by-who-makes-a-class
  (with-repository (folder ("app/__init__.py" "") ("app/model.py" (lines "def register(cls):" "    return cls" "" "class Meta(type):" "    def __init__(cls, name, bases, space):" "        register(cls)"
                                                  "" "class Model(metaclass=Meta):" "    pass"))
                           ("tests/test_model.py" (lines "from app.model import Model" "" "class Own(Model):" "    pass" "" "def test_own():" "    assert Own")))
    (check (reaches-p (build folder) "register" "tests/test_model.py"))))

(deftest two-names-of-one-function-are-both-asked-for
  (with-repository (folder ("lib/request.js" (lines "var req = {}" "module.exports = req" "" "req.get =" "req.header = function header (name) {" "  var lower = name" "  return this[lower]" "}"))
                           ("test/get.js" (lines "var req = require('../lib/request')" "describe('req', function () {" "  it('reads', function () { req.get('a') })" "})")))
    (let ((index (build folder)))
      (check (reaches-p index "header" "test/get.js")))))

(deftest a-default-handed-on-by-an-index-is-called-by-its-local-names
  (with-repository (folder ("index.js" (lines "module.exports = require('./lib/app')")) ("lib/app.js" (lines "exports = module.exports = createApp" "" "function createApp () {" "  return 1" "}"))
                           ("test/app.js" (lines "var app = require('..')" "describe('app', function () {" "  it('starts', function () { app() })" "})")))
    (check (reaches-p (build folder) "createApp" "test/app.js"))))

(deftest a-deleted-function-breaks-who-still-calls-it
  (with-repository (folder ("m.py" (lines "def kept():" "    return 1" "" "def gone():" "    return 2"))
                           ("tests/test_m.py" (lines "from m import gone" "" "def test_gone():" "    assert gone() == 2")))
    (put-file folder "m.py" (lines "def kept():" "    return 1"))
    (let* ((index (build folder))
           (impact (impact-of-diff index (with-output-to-string (out) (sb-ext:run-program "git" (list "-C" (native folder) "diff" "HEAD") :search t :output out)))))
      (check (find :deleted (impact-roots impact) :key #'root-what))
      (check (find "tests/test_m.py" (impact-dependants impact) :key (lambda (each) (index-path index (dependant-file each))) :test #'string=))
      (check-equal '("test_gone") (test-hit-names (first (impact-tests impact)))))))

(deftest fixtures-and-examples-stand-for-the-tests-that-load-them
  (with-repository (folder ("app.py" (lines "class Engine:" "    def start(self):" "        return 1"))
                           ("tests/conftest.py" (lines "import pytest" "from app import Engine" "" "@pytest.fixture" "def engine():" "    return Engine().start()"))
                           ("tests/test_engine_use.py" (lines "def test_use(engine):" "    assert engine == 1")))
    (check-equal '("tests/test_engine_use.py") (tests-of-name (build folder) "start")))
  (with-repository (folder ("lib/view.js" (lines "exports.render = function render (name) {" "  return name" "}"))
                           ("examples/blog/index.js" (lines "var view = require('../../lib/view')" "module.exports = function blog () { return view.render('blog') }"))
                           ("test/blog.js" (lines "var blog = require('../examples/blog')" "describe('blog', function () {" "  it('answers', function () { blog() })" "})"))
                           ("test/none.js" (lines "describe('none', function () {" "  it('is', function () {})" "})")))
    (check-equal "test/blog.js" (first (tests-of-name (build folder) "render")))))

(defun shares-of (impact path)
  "The evidence of IMPACT for the test PATH; nil when it is not listed."
  (let ((hit (find path (impact-tests impact) :key #'test-hit-path :test #'string=))) (and hit (test-hit-shares hit))))

(deftest a-fixture-is-run-by-who-names-it-as-a-parameter
  (with-repository (folder ("store.py" (lines "def connect():" "    return 1"))
                           ("tests/conftest.py" (lines "import pytest" "from store import connect" "" "@pytest.fixture" "def store():" "    return connect()" ""
                                                       "@pytest.fixture(name='filled')" "def make_filled(store):" "    return store"))
                           ("tests/test_a.py" (lines "def test_a(filled):" "    assert filled")) ("tests/test_b.py" (lines "def test_b():" "    store = 1" "    assert store"))
                           ("tests/test_c.py" (lines "import pytest" "" "@pytest.fixture" "def store():" "    return 2" "" "def test_c(store):" "    assert store")))
    (let ((index (build folder)))
      (check (reaches-p index "connect" "tests/test_a.py"))
      (check (not (reaches-p index "connect" "tests/test_b.py")))
      (check (not (reaches-p index "connect" "tests/test_c.py")))))) ; its own fixture of that name

(deftest tests-of-a-class-are-run-by-its-subclasses
  (with-repository (folder ("shop.py" (lines "def sell(x):" "    return x"))
                           ("tests/__init__.py" "")
                           ("tests/shared.py" (lines "from shop import sell" "" "class SharedTests:" "    def setUp(self):" "        sell(1)" "" "    def test_sell(self):" "        assert sell(self.kind)"))
                           ("tests/test_own.py" (lines "from tests.shared import SharedTests" "" "class TestOwn(SharedTests):" "    kind = 1" "" "    def test_more(self):" "        assert True")))
    (check (reaches-p (build folder) "sell" "tests/test_own.py"))))

(deftest what-every-test-loads-stands-for-none
  (with-repository (folder ("index.js" (lines "module.exports = require('./lib/main')")) ("lib/main.js" (lines "exports.part = require('./part')"))
                           ("lib/part.js" (lines "exports.turn = function turn (x) {" "  return spin(x)" "}" "function spin (x) {" "  return x" "}"))
                           ("examples/map/index.js" (lines "var main = require('../../lib/main')" "module.exports = function map () { return main }"))
                           ("test/map.js" (lines "var map = require('../examples/map')" "describe('map', function () {" "  it('is', function () { map() })" "})")))
    (loop for name in '("a" "b" "c" "d")
          do (put-file folder (format nil "test/~A.js" name) (lines "var main = require('..')" (format nil "describe('~A', function () {" name) "  it('is', function () { main })" "})")))
    ;; what part.js calls itself is no call of the one test whose example takes a shorter way to it
    (check (not (assoc :calls (shares-of (impact-of-name (build folder) "spin") "test/map.js"))))))

(deftest strings-that-a-change-takes-away-tell
  (with-repository (folder ("m.py" (lines "def check(x):" "    if not x: raise ValueError('malformed escape')" "    return x"))
                           ("tests/test_a.py" (lines "import m" "" "def test_a():" "    assert str(m.go()) == 'malformed'")) ("tests/test_b.py" (lines "import m" "" "def test_b():" "    assert m.go()")))
    (put-file folder "m.py" (lines "def check(x):" "    return x"))
    (let ((impact (impact-of-diff (build folder) (with-output-to-string (out) (sb-ext:run-program "git" (list "-C" (native folder) "diff" "HEAD") :search t :output out)))))
      (check (assoc :strings (shares-of impact "tests/test_a.py")))
      (check (not (assoc :strings (shares-of impact "tests/test_b.py")))))))

(deftest words-of-a-name-and-of-strings-in-a-test-tell
  (with-repository (folder ("lib/app.js" (lines "exports.compileQueryReader = function compileQueryReader (x) {" "  if (!x) return 'malformed escape'" "  return x" "}"))
                           ("test/a.js" (lines "var app = require('../lib/app')" "describe('a', function () {" "  it('is', function () { app.go(req.query) })" "})"))
                           ("test/b.js" (lines "var app = require('../lib/app')" "describe('b', function () {" "  it('is', function () { app.go('malformed') })" "})"))
                           ("test/c.js" (lines "var app = require('../lib/app')" "describe('c', function () {" "  it('is', function () { app.go() })" "})")))
    (let ((impact (impact-of-name (build folder) "compileQueryReader")))
      (check (assoc :vocabulary (shares-of impact "test/a.js")))
      (check (assoc :strings (shares-of impact "test/b.js")))
      (check-equal "test/c.js" (test-hit-path (third (impact-tests impact)))))))

(deftest the-surest-way-to-a-dependant-is-told
  (with-repository (folder ("m.py" (lines "def root():" "    return 1" "" "def near():" "    return root()" "" "def far():" "    return near()" "" "def both():" "    far()" "    return root()")))
    (let* ((index (build folder)) (all (impact-dependants (impact-of-name index "root"))))
      (flet ((hop (name) (dependant-hop (find name all :key (lambda (each) (name-string (index-names index) (tag-name index (dependant-tag each)))) :test #'string=))))
        (check-equal '(1 1 2) (list (hop "near") (hop "both") (hop "far")))))))

(deftest what-adds-nothing-is-left-out-of-the-list
  (with-repository (folder ("shop.py" (lines "def sell(x):" "    return x" "" "def rent(x):" "    return x"))
                           ("tests/test_sell.py" (lines "from shop import sell" "" "def test_sell():" "    assert sell(1)"))
                           ("tests/test_a.py" (lines "import shop" "" "def test_a():" "    assert shop.rent(1)")) ("tests/test_b.py" (lines "import shop" "" "def test_b():" "    assert shop.rent(1)"))
                           ("tests/test_c.py" (lines "import shop" "" "def test_c():" "    assert shop.rent(1)")) ("tests/test_d.py" (lines "import shop" "" "def test_d():" "    assert shop.rent(1)")))
    (let ((tests (tests-of-name (build folder) "sell")))
      (check-equal "tests/test_sell.py" (first tests))
      (check (<= (length tests) 3)))))

(deftest a-rust-crate-does-not-stop-the-imports-of-the-others
  (with-repository (folder ("src/lib.rs" (lines "pub mod store;" "use crate::store::open;" "pub fn start() -> u32 { open() }")) ("src/store.rs" (lines "pub fn open() -> u32 { 1 }"))
                           ("m.py" (lines "def f():" "    return 1")) ("tests/test_m.py" (lines "from m import f" "" "def test_f():" "    assert f()")))
    (let ((index (build folder)))
      (check-equal '("tests/test_m.py") (tests-of-name index "f"))
      (check (reaches-p index "open" "src/lib.rs")))))

(deftest what-is-kept-of-an-answer-is-not-kept-beyond-an-edit
  (with-repository (folder ("m.py" (lines "def first():" "    return 1" "" "def second():" "    return 2"))
                           ("tests/test_m.py" (lines "from m import first, second" "" "def test_first_of_all():" "    assert first()" "" "def test_other():" "    assert second()")))
    (flet ((ask (index)
             (let ((impact (impact-of-diff index (with-output-to-string (out) (sb-ext:run-program "git" (list "-C" (native folder) "diff" "HEAD") :search t :output out)))))
               (list (mapcar #'root-name (impact-roots impact)) (mapcar #'test-hit-names (impact-tests impact))))))
      (put-file folder "m.py" (lines "def first():" "    return 3" "" "def second():" "    return 2"))
      (let* ((index (build folder)) (answer (ask index)))
        (check-equal '(("first") (("test_first_of_all"))) answer)
        (check-equal answer (ask index))
        (put-file folder "m.py" (lines "def first():" "    return 3" "" "def second():" "    return 4"))
        (let ((index (opl.index.refresh:refresh-index index "ctags" nil)))
          (check-equal '(("first" "second") (("test_first_of_all" "test_other"))) (ask index)))))))

;;; A list that may lack a test says so

(defun reasons (impact) (format nil "~{~A~%~}" (impact-reasons impact)))

(defparameter *other-tests*
  (loop for name in '("a" "b" "c" "d") collect (list (format nil "tests/test_~A.py" name) (lines "from far import go" "" (format nil "def test_~A():" name) "    assert go()")))
  "Tests that load visit.py over far.py, which calls into it where the name is made at run time.")

(deftest what-is-called-by-a-name-made-while-running-leaves-the-list-incomplete
  (flet ((ask (call)
           (with-repository (folder ("tests/test_merge.py" (lines "from visit import merge" "" "def test_merge():" "    assert merge(1)")))
             (put-file folder "visit.py" (lines "def merge(x):" "    return x" "" "class Visitor:" "    def visit_If(self, node):" "        return merge(node)" "" "def walk(node):" call))
             (put-file folder "far.py" (lines "from visit import walk" "" "def go():" "    return walk(1)"))
             (loop for (path text) in *other-tests* do (put-file folder path text))
             (impact-of-name (build folder) "merge"))))
    (let ((impact (ask "    return getattr(Visitor(), 'visit_' + node)(node)")))
      (check (search "visit_If" (reasons impact)))
      (check (not (impact-complete-p impact))))
    (let ((impact (ask "    return Visitor().visit_If(node)")))
      (check-equal 5 (length (impact-tests impact)))
      (check (impact-complete-p impact)))))

(deftest what-runs-while-a-file-is-loaded-leaves-the-list-incomplete
  (with-repository (folder ("limits.py" (lines "LIMIT = 3" "" "def used():" "    return LIMIT" "" "def other():" "    return 1"))
                           ("tests/test_used.py" (lines "from limits import used" "" "def test_used():" "    assert used() == 3")))
    (loop for (path text) in *other-tests* do (put-file folder path text))
    (put-file folder "far.py" (lines "import limits" "" "def go():" "    return 1"))
    (put-file folder "limits.py" (lines "import os" "LIMIT = 3" "" "def used():" "    return LIMIT + 1" "" "def other():" "    return 1"))
    (let* ((index (build folder))
           (impact (impact-of-diff index (with-output-to-string (out) (sb-ext:run-program "git" (list "-C" (native folder) "diff" "HEAD") :search t :output out)))))
      (check (search "outside any definition" (reasons impact))))))

(deftest a-rust-import-of-a-type-and-of-a-whole-crate-are-no-fault
  (with-repository (folder ("Cargo.toml" (lines "[workspace]" "members = [\"core\", \"web\"]"))
                           ("core/Cargo.toml" (lines "[package]" "name = \"core-part\"")) ("web/Cargo.toml" (lines "[package]" "name = \"web\""))
                           ("core/src/lib.rs" (lines "pub mod body;" "pub fn start() {}")) ("core/src/body.rs" (lines "pub struct Body;" "impl Body { pub fn open(&self) {} }"))
                           ("web/src/lib.rs" (lines "use core_part;" "use core_part::body::Body;" "use core_part::body;" "pub fn serve(b: Body) { b.open(); core_part::start(); }"
                                                    "#[test]" "fn serves() { serve(Body); }")))
    (let ((index (build folder)))
      (flet ((number (path) (opl.index.store:index-file-number index path)))
        (check (member (number "web/src/lib.rs") (gethash (number "core/src/body.rs") (opl.change.imports:importers index)))))
      (check (reaches-p index "open" "web/src/lib.rs")))))

(defun impact-of-tree (folder index)
  (impact-of-diff index (with-output-to-string (out) (sb-ext:run-program "git" (list "-C" (native folder) "diff" "HEAD") :search t :output out))))

(deftest changed-data-asks-for-the-full-suite-and-a-changed-test-for-nothing-else
  (with-repository (folder ("src/data.json" (lines "{\"rate\": 2}")) ("src/rate.js" (lines "import data from './data.json'" "export function rate () { return data.rate }"))
                           ("test/rate.test.js" (lines "import { rate } from '../src/rate.js'" "test('rate', () => { rate() })")))
    (put-file folder "src/data.json" (lines "{\"rate\": 3}"))
    (let ((impact (impact-of-tree folder (build folder))))
      (check (search "src/data.json changed" (format nil "~{~A~}" (impact-full-suite impact))))
      (check (not (impact-complete-p impact))))
    (git folder "checkout" "-q" ".")
    (put-file folder "test/rate.test.js" (lines "import { rate } from '../src/rate.js'" "test('rate is', () => { rate() })"))
    (let ((impact (impact-of-tree folder (build folder))))
      (check-equal "test/rate.test.js" (test-hit-path (first (impact-tests impact))))
      (check (impact-complete-p impact)))))

;;; What runs while a file is loaded

(deftest what-a-class-body-runs-reaches-every-test-that-loads-it
  (with-repository (folder ("hooks.py" (lines "def hook(f):" "    return f"))
                           ("tests/shared.py" (lines "from hooks import hook" "" "class Shared:" "    @hook" "    def run(self):" "        return 1"))
                           ("tests/later.py" (lines "from hooks import hook" "" "def later():" "    return hook(1)"))
                           ("tests/test_loads.py" (lines "from tests.shared import Shared" "" "def test_loads():" "    assert Shared"))
                           ("tests/test_may.py" (lines "from tests.later import later" "" "def test_may():" "    assert later")))
    (let ((tests (impact-tests (impact-of-name (build folder) "hook"))))
      (flet ((reach (path)
               (let ((hit (find path tests :key #'test-hit-path :test #'string=)))
                 (or (cdr (assoc :reach (and hit (test-hit-shares hit)))) 0.0))))
        (check (> (reach "tests/test_loads.py") (reach "tests/test_may.py")))))))

(deftest making-a-class-runs-its-metaclass
  (with-repository (folder ("meta.py" (lines "def note(cls):" "    return 1" "" "class Meta(type):" "    def __init__(cls, name, bases, attrs):" "        note(cls)"
                                             "" "class Model(metaclass=Meta):" "    pass"))
                           ("tests/test_m.py" (lines "from meta import Model" "" "class Mine(Model):" "    pass" "" "def test_mine():" "    assert Mine")))
    (let ((impact (impact-of-name (build folder) "note")))
      (check (find :metaclass (impact-dependants impact) :key #'opl.change.reach:dependant-rule))
      (check (find "tests/test_m.py" (impact-tests impact) :key #'test-hit-path :test #'string=)))))

(deftest a-module-taken-from-its-package-is-imported
  (with-repository (folder ("pkg/__init__.py" "") ("pkg/rules.py" (lines "def rule():" "    return 1"))
                           ("tests/test_r.py" (lines "from pkg import rules" "" "def test_r():" "    assert rules.rule()"))
                           ("tests/test_else.py" (lines "def test_rule_else():" "    assert True")))
    (let ((index (build folder)))
      (check-equal '("tests/test_r.py")
                   (mapcar (lambda (file) (index-path index file))
                           (gethash (opl.index.store:index-file-number index "pkg/rules.py") (opl.change.imports:importers index))))
      ;; what loads nothing that changed cannot tell, whatever its titles say
      (check-equal '("tests/test_r.py") (tests-of-name index "rule")))))

(deftest what-comes-from-outside-is-no-namesake
  (with-repository (folder ("Money.cs" (lines "namespace N {" "  public class Money { public static bool TryParse(string s, out Money v) { v = null; return true; } }" "}"))
                           ("Number.cs" (lines "using System;" "class Number { bool One(string s) { return int.TryParse(s, out var v); } bool Two(string s) { return Int32.TryParse(s, out var v); } }"))
                           ("Open.cs" (lines "class Open { bool Three(dynamic parser, string s) { return parser.TryParse(s); } }")))
    (let ((index (build folder)))
      (check (not (reaches-p index "TryParse" "Number.cs")))
      (check (reaches-p index "TryParse" "Open.cs")))))

(deftest a-test-named-after-the-file-comes-first-where-no-call-is-to-be-trusted
  ;; nothing calls emit by any name that is seen; the other test writes its words
  (let ((files '(("web/logger.go" "package web" "" "type Entry struct{ line string }" "" "func (e *Entry) Emit(status int, bytes int) {" "	e.line = \"status bytes\"" "}")
                 ("web/logger_test.go" "package web" "" "import \"testing\"" "" "func TestLines(t *testing.T) {" "	t.Log(1)" "}")
                 ("web/other_test.go" "package web" "" "import \"testing\"" "" "func TestEmitter(t *testing.T) {" "	t.Log(\"emit\", \"bytes\")" "}"))))
    (with-repository (folder)
      (loop for (path . text) in files do (put-file folder path (apply #'lines text)))
      (check-equal "web/logger_test.go" (first (tests-of-name (build folder) "Emit"))))))

(defun listed-files (scores &rest tables)
  "The files that stay of tests with SCORES, (file . score) with the best first, by TABLES, (evidence (file . value) …)."
  (flet ((table (pairs) (let ((table (make-hash-table))) (loop for (file . value) in pairs do (setf (gethash file table) value)) table)))
    (mapcar #'test-hit-file
            (opl.change.tests::listed-hits (loop for (file . score) in scores collect (opl.change.tests::make-test-hit :file file :score score))
                                           (loop for evidence in '(:calls :reach :called :loaded :nearby) collect (cons evidence (table (rest (assoc evidence tables)))))))))

(deftest a-test-that-nothing-of-the-change-reaches-is-not-listed-where-others-are-reached
  (let ((scores '((1 . 1.0) (2 . 0.9) (3 . 0.8) (4 . 0.2) (5 . 0.2) (6 . 0.01))))
    ;; no call to be trusted: what is reached however little stays
    (check-equal '(1 2 3 4) (listed-files scores '(:calls (1 . 0.01)) '(:reach (1 . 0.1) (4 . 0.001))))
    ;; nothing is reached at all: the graph knows nothing, so nothing goes for its sake
    (check-equal '(1 2 3 4 5) (listed-files scores '(:calls) '(:reach)))
    ;; calls to be trusted: enough must arrive
    (check-equal '(1 2 3 5) (listed-files scores '(:calls (1 . 0.5)) '(:reach (1 . 0.5) (4 . 0.001) (5 . 0.2)) '(:called (4 . 0.001) (5 . 0.2))))))
