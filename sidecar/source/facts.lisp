;;;; Facts: what one file says of itself, language by language, and nothing of any other file. A language's
;;;; extractor (sidecar/languages/) writes them out of the tokens; the graph reads them. All names are
;;;; numbers of the names arena; all references between facts are ordinals within the file's own sections.

(defpackage #:opl.source.facts
  (:use #:cl #:opl.source.columns)
  (:import-from #:opl.source.names #:known #:+none+)
  (:export #:make-facts #:facts-reset
           ;; definitions
           #:add-def #:drop-defs #:def-count #:def-name #:def-kind #:def-line #:def-end #:def-parent #:def-scope #:def-body
           #:def-type #:def-flags #:def-from #:def-to #:def-where
           #:draft-def-count #:draft-def-name #:draft-def-kind #:draft-def-line #:draft-def-end #:draft-def-parent
           #:draft-def-scope #:draft-def-body #:draft-def-type #:draft-def-flags #:draft-def-from #:draft-def-to
           #:draft-def-where
           #:+exported+ #:+static+ #:+abstract+ #:+test+ #:+has-body+ #:+from-ctags+ #:+local+ #:+private+
           #:+declaration+ #:+async+ #:+generated+ #:+override+ #:+default-export+ #:+embedded+ #:+generator+ #:+getter+
           #:+expanded+
           ;; scopes
           #:add-scope #:scope-count #:scope-parent #:scope-kind #:scope-def
           #:draft-scope-count #:draft-scope-parent #:draft-scope-kind #:draft-scope-def
           #:+module-scope+ #:+class-scope+ #:+function-scope+ #:+block-scope+
           ;; bindings
           #:add-binding #:binding-count #:binding-scope #:binding-name #:binding-kind #:binding-type #:binding-value
           #:binding-target #:binding-index
           #:draft-binding-count #:draft-binding-scope #:draft-binding-name #:draft-binding-kind #:draft-binding-type
           #:draft-binding-value #:draft-binding-target #:draft-binding-index
           #:+parameter+ #:+variable+ #:+imported+ #:+defined+ #:+type-parameter+ #:+rest-parameter+ #:+receiver+
           #:+optional-parameter+
           ;; nodes
           #:add-node #:node-count #:node-op #:node-a #:node-b #:node-c
           #:draft-node-count #:draft-node-op #:draft-node-a #:draft-node-b #:draft-node-c
           #:op-name #:+op-name+ #:+op-member+ #:+op-call+ #:+op-new+ #:+op-index+ #:+op-literal+ #:+op-self+ #:+op-super+
           #:+op-await+ #:+op-apply+ #:+op-cons+ #:+op-function+ #:+op-union+ #:+op-callback+ #:+op-element+
           #:+op-object+ #:+op-property+ #:+op-either+ #:+op-pointer+ #:+op-array+ #:+op-tuple+ #:+op-typeof+
           #:+op-intersection+ #:+op-cast+ #:+op-def+ #:+op-unknown+ #:+op-spread+
           ;; call sites
           #:add-site #:site-count #:site-name #:site-line #:site-scope #:site-def #:site-callee #:site-how
           #:site-arity #:site-arguments
           #:draft-site-count #:draft-site-name #:draft-site-line #:draft-site-scope #:draft-site-def
           #:draft-site-callee #:draft-site-how #:draft-site-arity #:draft-site-arguments
           #:+call+ #:+construct+ #:+element+ #:+decorate+ #:+pass+ #:+macro+ #:+tagged+ #:+super-call+ #:+method-reference+
           ;; imports, exports, heritage
           #:add-import #:import-count #:import-local #:import-name #:import-module #:import-scope #:import-flags
           #:import-line
           #:draft-import-count #:draft-import-local #:draft-import-name #:draft-import-module #:draft-import-line
           #:+type-only+ #:+reexport+ #:+star+ #:+side-effect+ #:+relative+ #:+dynamic+ #:+conditional+
           #:add-exported #:exported-count #:exported-name #:exported-local #:exported-module
           #:draft-exported-count #:draft-exported-name #:draft-exported-local #:draft-exported-module
           #:add-heritage #:heritage-count #:heritage-def #:heritage-relation #:heritage-node
           #:draft-heritage-count #:draft-heritage-def #:draft-heritage-relation #:draft-heritage-node
           #:+extends+ #:+implements+ #:+mixes-in+ #:+embeds+
           ;; tests
           #:add-test #:test-count #:test-name #:test-line #:test-end #:test-parent
           #:draft-test-count #:draft-test-name #:draft-test-line #:draft-test-end #:draft-test-parent
           ;; marks: whatever a language wants to remember of a file (package name, namespace …)
           #:add-mark #:mark-count #:mark-key #:mark-value #:mark-more #:draft-mark-count
           #:draft-mark-key #:draft-mark-value #:draft-mark-more
           ;; words, for search
           #:add-word #:word-count #:word-name #:word-uses))
(in-package #:opl.source.facts)

(defmacro define-numbers (&rest names)
  `(progn ,@(loop for name in names for i from 0 collect `(defconstant ,name ,i))))
(defmacro define-flags (&rest names)
  `(progn ,@(loop for name in names for i from 0 collect `(defconstant ,name ,(ash 1 i)))))

;;; A definition: KIND a name number of the kind's word ("function" "method" "constructor" "accessor" "class"
;;; "interface" "struct" "enum" "trait" "alias" "module" "namespace" "macro" "field" "property" "constant"
;;; "variable" "enumerator" …); LINE and END 1-based, END +none+ where there is no body to end; PARENT the
;;; ordinal of the definition it stands in (for a Go method its receiver's type when in the same file), else
;;; +none+; SCOPE the scope whose name it is; BODY the scope it opens, or +none+; TYPE a node: the declared
;;; type of a value, the return type of a function, the aliased type; FROM and TO octet offsets of what is
;;; shown as its signature; WHERE the octet offset of the name itself. The flag +expanded+: what macros of other
;;; files make of this one, the last definitions of a run; see index/expansion.lisp.
(define-section def (name kind line end parent scope body type flags from to where))
(define-flags +exported+ +static+ +abstract+ +test+ +has-body+ +from-ctags+ +local+ +private+
  +declaration+ +async+ +generated+ +override+ +default-export+ +embedded+ +generator+ +getter+
  +expanded+)

;;; A scope: names bound in it are seen within it and the scopes inside. Scope 0 is the file's own.
;;; DEF: the definition whose body it is (a function, a class), or +none+.
(define-section scope (parent kind def))
(define-numbers +module-scope+ +class-scope+ +function-scope+ +block-scope+)

;;; A binding of NAME in SCOPE. TYPE: node of its annotation; VALUE: node of its initial value; TARGET: the
;;; ordinal of the definition (+defined+) or import (+imported+); INDEX: place of a parameter among its like.
(define-section binding (scope name kind type value target index))
(define-numbers +parameter+ +variable+ +imported+ +defined+ +type-parameter+ +rest-parameter+ +receiver+
  +optional-parameter+)

;;; A node of an expression or a type, as far as resolution needs it; `a' and its like are node ordinals
;;; unless said otherwise, +none+ where absent.
;;;   name       a: name number, b: scope it is read in                 x
;;;   member     a: node, b: name number, c: 1 when static (`::')       a.b  a->b  A::b
;;;   call       a: callee node, b: first argument cell, c: site ordinal or +none+    f(x)
;;;   new        a: type node, b: first argument cell, c: site ordinal    new T(x)  T{…}
;;;   index      a: node, b: index node                                 a[i]
;;;   literal    a: name number of the built-in type                    "string" "number" "array" "regexp" …
;;;   self       a: scope it is read in (class found through it)        this self
;;;   super      a: scope
;;;   await      a
;;;   apply      a: generic type node, b: first cell of type arguments   Array<T>
;;;   cons       a: node (or +none+), b: next cell                      list cell
;;;   function   a: first cell of parameter types, b: return type node, c: its def or scope for a function value
;;;   union / intersection   a: first cell
;;;   callback   a: site ordinal, b: argument index, c: parameter index  parameter typed by what it is passed to
;;;   element    a: what is iterated over, b: 1 for the key
;;;   object     a: first cell of properties                            { … } as value or type
;;;   property   a: value or type node, b: name number
;;;   either     a, b                                                   c ? a : b, a || b
;;;   pointer    a                                                      *T &T
;;;   array      a: element type                                        T[] []T
;;;   tuple      a: first cell
;;;   typeof     a                                                      typeof x
;;;   cast       a: type node, b: value                                 x as T, (T) x
;;;   def        a: definition ordinal of this file                     a class or function expression
;;;   spread     a
(define-section node (op a b c))
(define-numbers +op-unknown+ +op-name+ +op-member+ +op-call+ +op-new+ +op-index+ +op-literal+ +op-self+ +op-super+
  +op-await+ +op-apply+ +op-cons+ +op-function+ +op-union+ +op-callback+ +op-element+
  +op-object+ +op-property+ +op-either+ +op-pointer+ +op-array+ +op-tuple+ +op-typeof+
  +op-intersection+ +op-cast+ +op-def+ +op-spread+)

;;; A call site: NAME as written last (`c' of a.b.c()), DEF the innermost definition around it (+none+: the
;;; module itself), CALLEE the node of what is called, HOW one of the numbers below, ARITY the number of
;;; arguments (+none+: unknown), ARGUMENTS first cell of their nodes or +none+.
(define-section site (name line scope def callee how arity arguments))
(define-numbers +call+ +construct+ +element+ +decorate+ +pass+ +macro+ +tagged+ +super-call+ +method-reference+)

;;; An import: LOCAL the name bound here (+none+ for a bare import), NAME what it is called there ("default",
;;; "*" for the whole module), MODULE the specifier as written ("./a", "os.path", "java.util.List").
(define-section import (local name module scope flags line))
(define-flags +type-only+ +reexport+ +star+ +side-effect+ +relative+ +dynamic+ +conditional+)

;;; An export: NAME seen from outside, LOCAL the name it has here or in MODULE; MODULE +none+ when it is ours;
;;; NAME "*" with MODULE: everything of that module.
(define-section exported (name local module))

;;; A class's parents: RELATION of DEF to the type NODE.
(define-section heritage (def relation node))
(define-numbers +extends+ +implements+ +mixes-in+ +embeds+)

;;; A test case: NAME the title or function name, PARENT the ordinal of the suite around it or +none+.
(define-section test (name line end parent))

;;; A mark: KEY a name ("package", "namespace", "module", "autoload" …), VALUE a name, MORE free for its use.
(define-section mark (key value more))

;;; A word: NAME occurs in the file; USES packs occurrences as code (bits 0-11), in comments (12-21), in
;;; strings (22-31), each cut at its greatest value.
(define-section word (name uses))
