;;;; The sidecar's files in the order data flows; that order is the architecture: a file sees only what stands above it.
;;;; One package per file, named opl.<room>.<file>. load.lisp reads this form itself, so ASDF is not needed to run.

(defsystem "sidecar"
  :description "The Lisp child of opencode-plugin-lisp: symbols, calls, history, failures and memory of one repository."
  :license "MIT"
  :depends-on ("sb-posix")
  :serial t
  :components
  (;; wire: the contract with the host
   (:file "wire/conditions")
   (:file "wire/fields")
   (:file "wire/protocol")
   (:file "wire/descriptors")
   (:file "wire/children")
   (:file "wire/server")
   ;; source: files, languages, the scanner
   (:file "source/names")
   (:file "source/columns")
   (:file "source/facts")
   (:file "source/tokens")
   (:file "source/lexer")
   (:file "source/literals")
   (:file "source/language")
   (:file "source/scanner")
   (:file "source/octets")
   (:file "source/files")
   (:file "source/text")
   ;; languages: what the tokens of a file say, one extractor a family
   (:file "languages/extractor")
   (:file "languages/reading")
   (:file "languages/python-expressions")
   (:file "languages/python")
   (:file "languages/ruby")
   (:file "languages/ruby-definitions")
   (:file "languages/braces")
   (:file "languages/go")
   (:file "languages/java")
   (:file "languages/c")
   (:file "languages/rust")
   ;; index: ctags, tags, the columnar store
   (:file "index/postings")
   (:file "index/store")
   (:file "index/ctags")
   (:file "index/tags")
   (:file "index/reading")
   (:file "index/refresh")
   (:file "index/snapshot")
   (:file "index/workspace")
   ;; graph: names, types and calls resolved over the whole index; families/ say what each group of languages does its own way
   (:file "graph/world")
   (:file "graph/family")
   (:file "graph/values")
   (:file "graph/types")
   (:file "graph/callables")
   (:file "graph/resolve")
   (:file "graph/edges")
   (:file "graph/families/python")
   (:file "graph/families/go")
   ;; search: tokens, fields, ranking
   (:file "search/terms")
   (:file "search/text")
   ;; change: diffs, impact, the test map
   ;; failures: the pattern language, one table per runner
   ;; session: observations, recall, summary
   (:file "session/observation")
   (:file "session/redact")
   (:file "session/journal")
   (:file "session/memory")
   (:file "session/recall")
   (:file "session/change")
   (:file "session/decision")
   (:file "session/facts")
   (:file "session/summary")
   (:file "session/intake")
   (:file "session/runs")
   ;; image: lisp_eval and its vocabulary
   (:file "image/printing")
   (:file "image/near")
   (:file "image/guard")
   (:file "image/vocabulary")
   (:file "image/explain")
   (:file "image/definitions")
   (:file "image/world")
   (:file "image/evaluate")
   (:file "image/keep")
   (:file "image/memory-words")
   (:file "image/targets")
   (:file "image/queries")
   ;; one form per operation
   (:file "operations")
   (:file "operations/index")
   (:file "operations/image")
   (:file "operations/memory")
   (:file "operations/runs")))
