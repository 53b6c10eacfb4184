(load (merge-pathnames "sources.lisp" *load-truename*))
(defpackage #:opl.test.languages-php (:use #:cl #:opl.test #:opl.test.sources))
(in-package #:opl.test.languages-php)

(defparameter *shop*
  (lines "<html><?php"                                                            ; 1
         "namespace Trade\\Shops;"                                                ; 2
         "use Trade\\{Shelf, Lock as Padlock};"                                   ; 3
         "use function Trade\\weigh;"                                             ; 4
         "#[Service(name: make())]"                                               ; 5
         "final class Shop extends Base implements Countable, \\Sized {"          ; 6
         "    use Counting, Logging { log as note; }"                             ; 7
         "    public const LIMIT = 3, LEAST = self::LIMIT - 1;"                   ; 8
         "    private ?Shelf $shelf = null, $other;"                              ; 9
         "    public function __construct(private readonly Shelf&Sized $main, int ...$sizes) {" ; 10
         "        $this->shelf = new Shelf(weigh($main));"                        ; 11
         "    }"                                                                  ; 12
         "    abstract protected function area(): int;"                           ; 13
         "    public static function open(array $list = [1, 2]): static|null {"   ; 14
         "        return array_map(fn($x) => self::check($x), $list)[0]"          ; 15
         "            ?? new class($list) implements Sized { public function size() { return count([]); } };" ; 16
         "    }"                                                                  ; 17
         "    function echoes() {"                                                ; 18
         "        $text = \"not() {$this->shelf->label()} function()\";"          ; 19
         "        $more = <<<TXT"                                                 ; 20
         "          class Not { function no() {} }"                               ; 21
         "          TXT;"                                                         ; 22
         "        return parent::echoes() . Padlock::close(); // call()"          ; 23
         "    }"                                                                  ; 24
         "}"                                                                      ; 25
         "enum Kind: string { case A = 'a'; public function label(): string { return ucfirst($this->value); } }" ; 26
         "function helper(callable $f) { return $f(1); } ?> text() <?= helper(1) ?>")) ; 27

(deftest php-definitions
  (check-equal '("class Shop 6-25" "constant LIMIT 8<Shop" "constant LEAST 8<Shop" "property shelf 9<Shop" "property other 9<Shop"
                 "constructor __construct 10-12<Shop" "property main 10<Shop" "method area 13<Shop" "method open 14-17<Shop"
                 "class anonymous class 16<open" "method size 16<anonymous class" "method echoes 18-24<Shop" "enum Kind 26"
                 "enumerator A 26<Kind" "method label 26<Kind" "function helper 27")
               (definitions "shop.php" *shop*)))

(deftest php-calls
  (check-equal '("Service:5" "make:5" "__construct>Shelf:11" "__construct>weigh:11" "open>array_map:15" "open>check:15" "size>count:16"
                 "echoes>label:19" "echoes>echoes:23" "echoes>close:23" "label>ucfirst:26" "helper:27")
               (remove "helper>$f:27" (calls "shop.php" *shop*) :test #'string=)))

(deftest php-imports
  (check-equal '("Shelf=Shelf of Trade\\Shelf" "Padlock=Lock of Trade\\Lock" "weigh=weigh of Trade\\weigh") (imports "shop.php" *shop*)))

(deftest php-tests-are-marked
  (check-equal '("ShopTest 2-6" "testOpen 3-3<ShopTest" "closes 5-5<ShopTest")
               (tests "ShopTest.php" (lines "<?php" "class ShopTest extends TestCase {" "  public function testOpen() {}" "  /** @test */"
                                            "  public function closes() {}" "}"))))

(deftest php-resolution
  (check-equal
   '("src/Shelf.php:4 weigh > src/Weighs.php:3" "src/Shop.php:5 Shelf > src/Shelf.php:3" "src/Shop.php:6 fill > src/Shelf.php:4"
     "src/Shop.php:6 weigh > src/Weighs.php:3" "src/Shop.php:7 trimmed > src/functions.php:3")
   (edges-of (list (cons "src/Weighs.php" (lines "<?php namespace Trade;" "trait Weighs {" "  function weigh() {}" "}"))
                   (cons "src/functions.php" (lines "<?php" "namespace Trade;" "function trimmed($x) { return trim($x); }"))
                   (cons "src/Shelf.php" (lines "<?php" "namespace Trade;" "class Shelf { use Weighs;"
                                                "  function fill(): static { $this->weigh(); return $this; } }"))
                   (cons "src/Shop.php" (lines "<?php" "use Trade\\Shelf; use function Trade\\trimmed;" "class Shop { private Shelf $shelf;"
                                               "  function run() {" "    $this->shelf = new Shelf();" "    $this->shelf->fill()->weigh();"
                                               "    trimmed(strlen('x'));" "  } }"))))))

;; A class without a name is a place for its methods; nobody looks it up.
(deftest php-nameless-classes-are-not-listed
  (read-source "a.php" (lines "<?php" "$size = new class { public function size() { return 1; } };")
               (lambda (facts)
                 (check (logtest opl.source.facts:+generated+ (opl.source.facts:draft-def-flags facts 0))))))
