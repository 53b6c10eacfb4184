(load (merge-pathnames "sources.lisp" *load-truename*))
(defpackage #:opl.test.languages-python (:use #:cl #:opl.test #:opl.test.sources))
(in-package #:opl.test.languages-python)

(defparameter *shop*
  (lines "import os.path as p"                                  ; 1
         "from .stock import Shelf, find as look"               ; 2
         "__all__ = ['Shop']"                                   ; 3
         "LIMIT: int = 10"                                      ; 4
         "for item in range(3): pass"                           ; 5
         "@dataclass(frozen=True)"                              ; 6
         "class Shop(Base, Generic[T], metaclass=Meta):"        ; 7
         "    name: str = field(default='x')"                   ; 8
         "    def __init__(self, shelf: 'Shelf | None'):"       ; 9
         "        self.shelf = shelf or Shelf()"                ; 10
         "        self.count: int = 0"                          ; 11
         "    @property"                                        ; 12
         "    def size(self): return len(self.shelf)"           ; 13
         "    @staticmethod"                                    ; 14
         "    async def load(path="                             ; 15
         "                   default()):"                       ; 16
         "        key = lambda x: rank(x)"                      ; 17
         "        def inner():"                                 ; 18
         "            return f\"{look(path)!r:>{width}}\""      ; 19
         "        with open(p) as f, lock():"                   ; 20
         "            if (n := read(f)) > 1:"                   ; 21
         "                return [make(x) for x in rows(n)"     ; 22
         "                        if keep(x)]"                  ; 23
         "        # the end"                                    ; 24
         ""                                                     ; 25
         "def after(): pass; more()"))                          ; 26

(deftest python-definitions
  (check-equal '("variable __all__ 3" "constant LIMIT 4" "class Shop 7-23" "field name 8<Shop" "constructor __init__ 9-11<Shop"
                 "field shelf 10<Shop" "field count 11<Shop" "accessor size 13<Shop" "method load 15-23<Shop" "function key 17<load"
                 "function inner 18-19<load" "function after 26")
               (definitions "shop.py" *shop*)))

(deftest python-calls
  (check-equal '("range:5" "dataclass:6" "Shop>field:8" "__init__>Shelf:10" "Shop>property:12" "size>len:13" "Shop>staticmethod:14"
                 "Shop>default:16" "load>rank:17" "inner>look:19" "load>open:20" "load>lock:20" "load>read:21" "load>make:22"
                 "load>rows:22" "load>keep:23" "after>more:26")
               (calls "shop.py" *shop*)))

(deftest python-imports
  (check-equal '("p=* of os.path" "Shelf=Shelf of .stock" "look=find of .stock") (imports "shop.py" *shop*))
  (check-equal '("a=* of a" "=* of a.b" "=* of ..c" "d=d of ." "e=e of .")
               (imports "x.py" (lines "import a.b" "if X:" "    from ..c import *" "    from . import (d," "        e)"))))

(deftest python-nothing-from-text
  (check-equal '() (calls "x.py" (lines "# call()" "'''" "call()" "'''" "x = 'f(1)' \"g(2)\"" "del x")))
  (check-equal '("b:2") (calls "x.py" (lines "x = a \\" "    [b(1)]"))))

(deftest python-broken-source-ends
  (check-equal '("function f 1-2" "function g 3-4")
               (definitions "x.py" (lines "def f(a, (b:" "    return (" "def g():" "    pass"))))

(deftest python-tests-are-marked
  (check-equal '("test_one 1-2" "TestBox 3-5" "test_two 4-5<TestBox")
               (tests "test_box.py" (lines "def test_one():" "    pass" "class TestBox:" "    def test_two(self):" "        pass")))
  (check-equal '("BoxCase 1-2" "test_it 2-2<BoxCase")
               (tests "box.py" (lines "class BoxCase(unittest.TestCase):" "    def test_it(self): pass"))))

(deftest python-resolution
  (check-equal
   '("src/shop/__init__.py:4 make > src/shop/stock.py:9"
     "src/shop/stock.py:10 Shelf > src/shop/stock.py:3"
     "src/shop/stock.py:4 fill > src/shop/stock.py:6"
     "tests/conftest.py:4 Shelf > src/shop/stock.py:3"
     "tests/test_shop.py:3 fill > src/shop/stock.py:6"
     "tests/test_shop.py:4 weigh > src/shop/stock.py:2"
     "tests/test_shop.py:5 build > src/shop/stock.py:9"
     "tests/test_shop.py:5 fill > src/shop/stock.py:6")
   (edges-of (list (cons "src/shop/__init__.py" (lines "from .stock import *" "from .stock import make as build" "" "box = make()"))
                    (cons "src/shop/stock.py" (lines "class Base:" "    def weigh(self): pass" "class Shelf(Base):" "    def open(self): self.fill()"
                                                     "" "    def fill(self): pass" "" "" "def make():" "    return Shelf()"))
                    (cons "tests/conftest.py" (lines "import pytest" "from shop import Shelf" "@pytest.fixture" "def shelf(): yield Shelf()"))
                    (cons "tests/test_shop.py" (lines "import shop, json" "def test_fill(shelf):" "    shelf.fill()" "    shelf.weigh()"
                                                      "    shop.build().fill()" "    json.dumps(1)"))))))
