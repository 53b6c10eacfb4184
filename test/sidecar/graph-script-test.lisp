(load (merge-pathnames "sources.lisp" *load-truename*))
(defpackage #:opl.test.graph-script (:use #:cl #:opl.test #:opl.test.sources))
(in-package #:opl.test.graph-script)

(deftest script-modules
  (check-equal '("src/main.ts:4 start > src/deep/index.ts:1" "src/main.ts:5 other > src/other.ts:1" "src/main.ts:6 plus > lib/math.ts:1"
                 "src/main.ts:7 util > packages/util/src/index.ts:1")
               (edges-of `(("tsconfig.json" . "{ // paths
  \"compilerOptions\": { \"paths\": { \"@lib/*\": [\"./lib/*\"], }, } }")
                           ("package.json" . "{\"name\": \"app\", \"workspaces\": [\"packages/*\"]}")
                           ("packages/util/package.json" . "{\"name\": \"@app/util\", \"exports\": {\".\": {\"import\": \"./dist/index.js\"}}}")
                           ("packages/util/src/index.ts" . "export default function util() {}")
                           ("lib/math.ts" . "export const plus = (a: number) => a")
                           ("src/deep/index.ts" . "export function begin() {}")
                           ("src/other.ts" . "export function other() {}")
                           ("src/barrel.ts" . ,(lines "export { begin as start } from './deep'" "export * from './other.js'"))
                           ("src/main.ts" . ,(lines "import { start, other } from './barrel'" "import { plus } from '@lib/math'" "import util, { nothing } from '@app/util'"
                                                    "start()" "other()" "plus(1)" "util()" "nothing(); parseInt('1'); describe('x')"))))))

(deftest script-commonjs
  (check-equal '("main.js:3 run > lib.js:1" "main.js:4 named > lib.js:3" "main.js:5 View > view.js:1" "view.js:1 lookup > view.js:2")
               (edges-of `(("lib.js" . ,(lines "exports.run = function run() {}" "module.exports.value = 1" "exports.named = named; function named() {}"))
                           ("view.js" . ,(lines "function View() { this.path = this.lookup() }" "View.prototype.lookup = function () {}" "module.exports = View"))
                           ("main.js" . ,(lines "var lib = require('./lib'), View = require('./view')" "const { named } = require('./lib')" "lib.run()" "named()" "new View()"))))))

(deftest script-receivers
  (check-equal '("a.ts:13 Base > a.ts:1" "a.ts:13 open > a.ts:2" "a.ts:14 open > a.ts:2" "a.ts:14 open > a.ts:7 possible" "a.ts:15 read > a.ts:3" "a.ts:16 open > a.ts:2"
                 "a.ts:16 open > a.ts:7 possible" "a.ts:8 open > a.ts:2")
               (sort (edges-of `(("a.ts" . ,(lines "export class Base {" "  open(): this { return this }" "  read = () => 1" "}"
                                                   "interface Door { open(): void }"
                                                   "class Safe extends Base implements Door {"
                                                   "  open() { return this }"
                                                   "  twice() { super.open(); const open = (x: number) => x; return open }"
                                                   "}"
                                                   "class Holder { constructor(private base: Base, readonly all: Base[]) {}"
                                                   "  list = new Map<string, Base>()"
                                                   "  go(other: any) {"
                                                   "    new Base().open()"
                                                   "    this.base.open()"
                                                   "    this.list.get('x')?.read()"
                                                   "    this.all.forEach((one) => one.open())"
                                                   "    other.missing(); [].map(String); JSON.parse('1')"
                                                   "  }" "}"))))
                     #'string<)))

(deftest script-callbacks
  (check-equal '("app.ts:10 json > app.ts:1" "app.ts:8 json > app.ts:1" "app.ts:8 use > app.ts:6" "app.ts:9 use > app.ts:6")
               (sort (remove "App" (edges-of `(("app.ts" . ,(lines "class Context<E> { json(x: unknown): Response { return new Response() } }"
                                                      "type Next = () => Promise<void>"
                                                      "type Handler<E> = (c: Context<E>, next: Next) => unknown"
                                                      "interface Use<E> { (path: string, handler: Handler<E>): void; (...handlers: Handler<E>[]): void }"
                                                      "class App<E = {}> {"
                                                      "  use!: Use<E>" "}"
                                                      "new App().use('/', (c) => c.json(1))"
                                                      "new App().use(async (c, next) => {"
                                                      "  c.json(2)" "})"))))
                             :test (lambda (word edge) (search word edge)))
                     #'string<)))

(deftest script-comments
  (check-equal '("b.js:12 start > b.js:5" "b.js:14 go > a.js:1" "b.js:5 go > a.js:1" "b.js:9 go > a.js:1")
               (sort (edges-of `(("a.js" . ,(lines "class Engine { go() {} }" "module.exports = Engine"))
                           ("b.js" . ,(lines "/** @import Motor, { Other as O } from \"./a\" */" "/** @typedef {import('./a')} Engine */"
                                             "/** @param {Engine|null} engine the one" " * @returns {Promise<Engine[]>} */"
                                             "function start(engine) { engine.go() }"
                                             "class Car {"
                                             "  constructor(x) { /** @type {Engine=} */"
                                             "    this.engine = x }"
                                             "  run() { this.engine.go() }"
                                             "}"
                                             "async function all() {"
                                             "  const engines = await start()"
                                             "  /** @type {Motor} */"
                                             "  const motor = find(); motor.go(); engines.length"
                                             "}"))))
                     #'string<)))

;; A value said to be of another type is called by what it is called here; that the function behind it answers is possible.
(deftest script-casts-and-wrapped-functions
  (check-equal '("b.ts:2 store > a.ts:2 possible" "b.ts:2 store > a.ts:3" "b.ts:4 slow > b.ts:3 likely")
               (edges-of `(("a.ts" . ,(lines "type Store = { (n: number): void }" "const storeImpl = (n: number) => n" "export const store = storeImpl as unknown as Store"))
                           ("b.ts" . ,(lines "import { store } from './a'" "store(1)" "function run() { const slow = debounce(() => 1)" "return slow() }"))))))

(deftest script-hierarchy-and-reach
  (with-scratch-folder (folder)
    (with-open-file (out (merge-pathnames "h.ts" folder) :direction :output)
      (write-string (lines "interface Shape { area(): number }" "class Square implements Shape { area() { return side() } }"
                           "class Big extends Square { area() { return 2 } }" "function side() { return 1 }"
                           "export function total(shapes: Shape[]) { return shapes.map((s) => s.area()) }" "const run = () => total([])")
                    out))
    (let* ((index (opl.index.refresh:build-index (sb-ext:native-namestring folder) nil '())) (world (opl.graph.world:world-of index)))
      (flet ((tag (name &optional (place 0)) (nth place (opl.index.store:definition-tags index name)))
             (names (tags) (mapcar (lambda (tag) (opl.graph.world:name-text world (opl.graph.world:tag-name world tag))) tags)))
        (check-equal '("Square") (names (mapcar #'car (opl.graph.resolve:subclasses world (tag "Shape")))))
        (check-equal '("Square") (names (mapcar #'car (opl.graph.resolve:superclasses world (tag "Big")))))
        (check-equal (list (tag "area" 1) (tag "area" 2)) (opl.graph.resolve:overrides world (tag "area" 0)))
        (check-equal (list (tag "area" 0) (tag "area" 1)) (opl.graph.resolve:overridden world (tag "area" 2)))
        (check-equal '(6) (mapcar #'opl.graph.edges:edge-line (opl.graph.edges:callers world (tag "total"))))
        (check-equal '() (opl.graph.edges:callers world (tag "area" 2)))
        (check-equal '(:override) (mapcar #'opl.graph.edges:edge-rule (opl.graph.edges:callers world (tag "area" 2) :possible t)))
        (check-equal '(("area" 1) ("total" 2) ("run" 3))
                     (mapcar (lambda (edge) (list (first (names (list (opl.graph.edges:edge-caller edge)))) (opl.graph.edges:edge-hops edge)))
                             (opl.graph.edges:reach world (list (tag "side")) :hops 5 :possible t)))))))

;; `@/', `~/' and `$lib/' are no packages: the tools of these projects say elsewhere what they mean.
(deftest customary-names-of-a-projects-own-folders
  (check-equal '("resources/js/page.js:2 send > resources/js/api.js:1" "web/src/routes/page.ts:3 get > web/src/lib/api.ts:1" "web/src/routes/page.ts:4 put > web/src/lib/index.ts:1"
                 "web/src/routes/page.ts:5 trim > web/src/text.ts:1")
               (edges-of `(("web/package.json" . "{\"name\": \"web\"}")
                           ("web/src/lib/api.ts" . "export function get() {}")
                           ("web/src/lib/index.ts" . "export function put() {}")
                           ("web/src/text.ts" . "export function trim() {}")
                           ("web/src/routes/page.ts" . ,(lines "import { get } from '$lib/api'; import { put } from '$lib'; import { trim } from '@/text'" "import { other } from '@other/text'"
                                                               "get()" "put()" "trim(); other()"))
                           ("resources/js/api.js" . "export function send() {}")
                           ("resources/js/page.js" . ,(lines "import { send } from '@/api'" "send()"))))))
