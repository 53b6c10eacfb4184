;;;; Callers against calls: whatever resolution finds from a call site must be found again from what is called.

(unless (find-package "OPL.TEST.REPOSITORY") (load (merge-pathnames "repository.lisp" *load-truename*)))

(defpackage #:opl.test.graph-callers
  (:use #:cl #:opl.test #:opl.test.repository #:opl.graph.edges)
  (:import-from #:opl.graph.world #:world-of)
  (:import-from #:opl.index.store #:index-path #:index-names #:tag-name #:tag-line #:tag-path #:definition-tags)
  (:import-from #:opl.source.names #:name-string))
(in-package #:opl.test.graph-callers)

(defun lines (&rest lines) (format nil "~{~A~%~}" lines))

(defun call-text (index edge)
  (format nil "~A:~D -> ~A" (index-path index (edge-file edge)) (edge-line edge) (name-string (index-names index) (tag-name index (edge-callee edge)))))

(defun calls (index)
  (let ((found '())) (do-edges (edge (world-of index) :possible t) (push edge found)) (nreverse found)))

(defun calls-to (index name)
  (remove-duplicates (loop for edge in (calls index)
                           when (string= name (name-string (index-names index) (tag-name index (edge-callee edge)))) collect (call-text index edge))
                     :test #'string=))

(defun lost-calls (index)
  "Calls that the callers of what they call lack."
  (loop for edge in (calls index)
        unless (find-if (lambda (caller) (and (= (edge-file caller) (edge-file edge)) (= (edge-line caller) (edge-line edge))))
                        (callers (world-of index) (edge-callee edge) :possible t))
          collect (call-text index edge)))

(defmacro check-found-again ((&rest files) &rest calls)
  "That each of CALLS, `path:line -> name', is resolved, and that no call of FILES is lost on the way back."
  `(with-repository (folder ,@files)
     (let* ((index (build folder)) (texts (mapcar (lambda (edge) (call-text index edge)) (calls index))))
       (dolist (call ',calls) (check-equal call (find call texts :test #'string=)))
       (check-equal '() (lost-calls index)))))

(deftest a-module-that-a-crowd-imports-under-many-names-keeps-the-callers-within
  (with-repository (folder ("lib/headers.js" (lines "function match(a) {" "  return a" "}" "class Headers {" "  has(a) { return match(a) }" "}" "export default Headers")))
    (dotimes (i 90)
      (put-file folder (format nil "lib/m~D.js" i) (format nil "import Own~D from './headers.js'~%import local~D from './m~D.js'~%export default function made~D() { return new Own~D() }~%"
                                                           i i (mod (1+ i) 90) i i)))
    (let ((index (build folder)))
      (check-equal '("lib/headers.js:5 -> match") (calls-to index "match"))
      (check-equal '() (lost-calls index)))))

(deftest a-default-that-another-file-hands-on-under-a-name-is-found-by-it
  (check-found-again (("lib/a.js" (lines "export default function made() {" "  return 1" "}")) ("lib/index.js" (lines "export { default as build } from './a.js'"))
                      ("lib/again.js" (lines "export { default } from './a.js'"))
                      ("use.js" (lines "import { build } from './lib/index.js'" "import Own from './lib/again.js'" "export function run() {" "  build()" "  Own()" "}")))
                     "use.js:4 -> made" "use.js:5 -> made"))

(deftest what-a-function-gives-is-called-by-the-name-that-keeps-it
  (check-found-again (("lib/tags.js" (lines "exports.etag = create(false)" "exports.wetag = create(true)" "function create(weak) {" "  return function generate(body) { return body }" "}"))
                      ("test/tags.js" (lines "var tags = require('../lib/tags')" "tags.etag('a')" "tags.wetag('b')")))
                     "test/tags.js:2 -> generate" "test/tags.js:3 -> generate"))

(deftest one-of-two-functions-is-called-by-the-name-of-the-choice
  (check-found-again (("asap.js" (lines "function slow(f) { f() }" "const soon = typeof queueMicrotask !== 'undefined' ? queueMicrotask : slow" "export function run(f) {" "  soon(f)" "}")))
                     "asap.js:4 -> slow"))

(deftest a-partial-application-is-called-by-its-own-name
  (check-found-again (("conf.py" (lines "from functools import partial" "" "def _path(route, Pattern=None):" "    return route" "" "path = partial(_path, Pattern=int)"))
                      ("urls.py" (lines "from conf import path" "" "URLS = [path('a')]")))
                     "urls.py:3 -> _path"))

(deftest a-class-is-found-by-the-word-that-makes-it
  (check-found-again (("lib/app.rb" (lines "module Shop" "  class Cart" "    def total" "      1" "    end" "  end" "  class Kept < Cart" "    def initialize(a)" "      @a = a" "    end"
                                           "    def total" "      super + 1" "    end" "  end" "end"))
                      ("test/app_test.rb" (lines "require_relative '../lib/app'" "def run" "  Shop::Cart.new" "  Shop::Kept.new(1)" "end")))
                     "test/app_test.rb:3 -> Cart" "test/app_test.rb:4 -> initialize" "lib/app.rb:12 -> total")
  (check-found-again (("src/Factory.php" (lines "<?php" "namespace App;" "class Factory {" "    public function __construct(int $a = 1) {}" "    public static function made() {" "        return new static(2);" "    }"
                                                "    public static function own() {" "        return new self();" "    }" "}")))
                     "src/Factory.php:6 -> __construct" "src/Factory.php:9 -> __construct")
  (check-found-again (("ops.py" (lines "class Operation:" "    def __new__(cls, *args):" "        return object.__new__(cls)" "" "def make():" "    return Operation(1)")))
                     "ops.py:6 -> __new__"))

(deftest a-function-is-found-by-the-name-that-a-macro-puts-it-in-place-of
  (check-found-again (("lexer.c" (lines "#define yyalloc jq_yyalloc" "void *yyalloc(int n) {" "  return 0;" "}" "void *make(void) {" "  return yyalloc(2);" "}")))
                     "lexer.c:6 -> jq_yyalloc"))

(deftest an-overload-has-the-callers-that-choose-it
  (with-repository (folder ("src/Makes.java" (lines "package shop;" "class Makes {" "  static int of(int a) { return of(a, \"x\"); }" "  static int of(int a, String b) { return a; }" "}"))
                           ("src/Uses.java" (lines "package shop;" "class Uses {" "  int one() { return Makes.of(1); }" "}")))
    (let* ((index (build folder)) (world (world-of index)))
      (flet ((caller-lines (line)
               (loop for tag in (definition-tags index "of") when (= line (tag-line index tag))
                     append (mapcar (lambda (edge) (cons (index-path index (edge-file edge)) (edge-line edge))) (callers world tag)))))
        (check-equal '(("src/Uses.java" . 3)) (caller-lines 3))
        (check-equal '(("src/Makes.java" . 3)) (caller-lines 4)))
      (check-equal '() (lost-calls index)))))
