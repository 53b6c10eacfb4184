(load (merge-pathnames "sources.lisp" *load-truename*))
(defpackage #:opl.test.languages-script (:use #:cl #:opl.test #:opl.test.sources))
(in-package #:opl.test.languages-script)

(defparameter *classes*
  (lines "abstract class Box<T extends object = {}> extends Base.Inner<T> implements Shape, Other {" ; 1
         "  private items = new Map<string, number>()"         ; 2
         "  #secret: string = `a ${tag(1)} b`"                 ; 3
         "  onClick = (event: Event): void => {"               ; 4
         "    this.use(event)"                                 ; 5
         "  }"                                                 ; 6
         "  constructor(private readonly store: Store, plain = make()) {" ; 7
         "    super(store)"                                    ; 8
         "  }"                                                 ; 9
         "  get size(): number { return 1 }"                   ; 10
         "  set size(n) {}"                                    ; 11
         "  find(key: string): T"                              ; 12
         "  find(key: number): T"                              ; 13
         "  find(key: unknown): T {"                           ; 14
         "    return <T>this.look(key)!"                       ; 15
         "  }"                                                 ; 16
         "  abstract draw(): void"                             ; 17
         "  static async *all<U>(f: (u: U) => U) { yield* walk<U>(f) }" ; 18
         "  @Input() name!: string"                            ; 19
         "  #hidden() {}"                                      ; 20
         "  static { boot() }"                                 ; 21
         "}"))                                                 ; 22

(deftest script-classes
  (check-equal '("class Box 1-22" "field items 2<Box" "field #secret 3<Box" "method onClick 4-6<Box" "constructor constructor 7-9<Box"
                 "field store 7<Box" "accessor size 10<Box" "accessor size 11<Box" "method find 12<Box" "method find 13<Box"
                 "method find 14-16<Box" "method draw 17<Box" "method all 18<Box" "field name 19<Box" "method #hidden 20<Box")
               (definitions "box.ts" *classes*))
  (check-equal '("Box>Map:2" "Box>tag:3" "onClick>use:5" "onClick>event:5" "constructor>make:7" "constructor>super:8" "constructor>store:8"
                 "find>look:15" "find>key:15" "all>walk:18" "all>f:18" "Box>Input:19" "Box>boot:21")
               (calls "box.ts" *classes*)))

(defparameter *functions*
  (lines "export default function main() {}"                   ; 1
         "const a = () => b(), c = function named() {}"        ; 2
         "export const wrapped = debounce(async (x) => {"      ; 3
         "  await x.go?.(1)"                                   ; 4
         "}, 10)"                                              ; 5
         "const cast = ((p) => {"                              ; 6
         "  inner(p)"                                          ; 7
         "}) as Handler"                                       ; 8
         "const api = { get() { list.map(show) }, post: (r) => r, 'x-y': function () {}, nested: { deep() {} } }" ; 9
         "let { first, second: [third] } = load()"             ; 10
         "function after<T>(x: Array<Array<T>>): ((y: T) => void) {" ; 11
         "  return (y) => a ? (b) : c(y)"                      ; 12
         "}"                                                   ; 13
         "const generic = <E extends Env = Env>(m: [E][]): ((c: E) => Promise<E>) => {" ; 14
         "  return run"                                        ; 15
         "}"                                                   ; 16
         "for (const [k, v] of Object.entries(o)) use(k, v)")) ; 17

(deftest script-functions
  (check-equal '("function main 1" "function a 2" "function c 2" "function named 2" "constant wrapped 3-5" "function cast 6-8" "constant api 9"
                 "method get 9<api" "method post 9<api" "method x-y 9<api" "method deep 9" "function after 11-13" "function generic 14-16")
               (definitions "f.ts" *functions*))
  (check-equal '("a>b:2" "wrapped>debounce:3" "wrapped>go:4" "cast>inner:7" "cast>p:7" "get>map:9" "get>show:9" "load:10" "after>c:12" "after>y:12"
                 "entries:17" "o:17" "use:17" "k:17" "v:17")
               (calls "f.ts" *functions*)))

(deftest script-types
  (check-equal '("interface Store 1-5" "property items 2<Store" "method get 3<Store" "alias Handler 6" "alias Shape 7-9" "property kind 8<Shape"
                 "enum Color 10" "enumerator Red 10<Color" "enumerator blue 10<Color" "namespace Outer 11" "function inner 11<Outer" "function declared 12")
               (definitions "t.ts" (lines "export interface Store<T> extends Base<T> {"
                                          "  readonly items?: Map<string, T[]>"
                                          "  get<K extends keyof T>(key: K): T[K]"
                                          "  (call: string): void"
                                          "}"
                                          "type Handler<E> = (c: Context<E>, next: () => Promise<void>) => E extends string ? A : B"
                                          "type Shape = {"
                                          "  kind: 'a' | 'b'"
                                          "}"
                                          "const enum Color { Red = 1, 'blue' = f() }"
                                          "namespace Outer { export function inner() {} }"
                                          "declare function declared(x: number): string"
                                          "declare module 'elsewhere' {}"))))

(deftest script-assigned-members
  (check-equal '("function App 1" "method start 2<App" "method of 3<App" "variable res 4" "method header 5<res" "method get 5<res" "function send 6")
               (definitions "a.js" (lines "function App() { this.x = 1 }"
                                          "App.prototype.start = function () {}"
                                          "App.of = () => new App()"
                                          "var res = module.exports = Object.create(null)"
                                          "res.get = res.header = function header() { return this.x }"
                                          "exports.send = function send() {}"))))

(defparameter *markup*
  (lines "const App = ({ onSave }) => ("                       ; 1
         "  <Layout title=\"it's\" {...rest}>"                 ; 2
         "    <button onClick={save} disabled>don't call() me</button>" ; 3
         "    {items.map((item) => <Item key={item.id} render={() => <Icon.Small />} />)}" ; 4
         "  </Layout>"                                         ; 5
         ")"                                                   ; 6
         "function After() { return a < b && c > d }"))        ; 7

(deftest script-markup
  (check-equal '("function App 1-6" "function After 7") (definitions "m.jsx" *markup*))
  (check-equal '("App>Layout:2" "App>rest:2" "App>save:3" "App>map:4" "App>Item:4" "App>Small:4") (calls "m.jsx" *markup*)))

(deftest script-imports
  (check-equal '("d=default of ./d" "ns2=* of ./d" "ns=* of ns" "x=x of ./x" "z=y of ./x" "T=T of ./t" "= of ./side" "= of ./re" "require ./c=* of ./c"
                 "require ./dyn=* of ./dyn")
               (imports "i.ts" (lines "import d, * as ns2 from './d'" "import * as ns from 'ns'" "import { x, y as z } from './x'"
                                      "import type { T } from './t'" "import './side'" "export type { T }" "export { q } from './re'"
                                      "const c = require('./c'); const lazy = () => import('./dyn')"))))

(deftest script-tests
  (check-equal '("outer 1-6" "works 2-2<outer" "for %i 3-3<outer" "only 4-4<outer" "node 5-5<outer")
               (tests "x.test.ts" (lines "describe('outer', () => {"
                                         "  it('works', async () => { expect(1) })"
                                         "  test.each([1, 2])('for %i', (i) => {})"
                                         "  it.only(`only`, () => {})"
                                         "  test('node', { skip: true }, () => {})"
                                         "})"
                                         "format('not', 'one')"))))

(defun repeated (count text) (format nil "~{~A~}" (loop repeat count collect text)))

(deftest script-survives-anything
  (dolist (source (list "" "}}}})))" "class {" "const = ;;; function (" "a ? b : c ? d" "`${`${`" "<T" "interface X { [" "import {"
                        (repeated 2000 "(") (repeated 20000 "!") (repeated 2000 "[{a:") (repeated 2000 "<A>")
                        (concatenate 'string "x" (repeated 3000 ".f()")) (repeated 2000 "if(a){}else ") (repeated 2000 "a?b:")))
    (check (listp (definitions "x.ts" source)))
    (check (listp (calls "x.jsx" source)))))
