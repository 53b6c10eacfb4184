;;;; Extractors: one a family of languages. An extractor reads the tokens of one file and writes what the
;;;; file says of itself as facts: definitions, scopes, bindings, call sites, imports, heritage, tests.

(defpackage #:opl.languages.extractor
  (:use #:cl)
  (:import-from #:opl.source.tokens #:tokens #:tokens-language)
  (:import-from #:opl.source.language #:language-family)
  (:export #:define-extractor #:extract #:extractor-ctags-kinds))
(in-package #:opl.languages.extractor)

(defvar *extractors* (make-hash-table))
(defvar *ctags-kinds* (make-hash-table))

(defmacro define-extractor (families (tokens facts names path) (&key (ctags-kinds :all)) &body body)
  "Defines how files of FAMILIES (a keyword of the language table or a list of them) are read. BODY appends
to FACTS with the `add-…' functions of opl.source.facts; PATH is relative to the root; NAMES is the arena.
CTAGS-KINDS: the kinds of ctags' tags that are added where BODY found no definition of that name on that
line: :all, or a list of ctags' kind names (those that the extractor finds itself more surely are left out)."
  `(progn
     (dolist (family ',(if (listp families) families (list families)))
       (setf (gethash family *ctags-kinds*) ',ctags-kinds
             (gethash family *extractors*)
             (lambda (,tokens ,facts ,names ,path)
               (declare (type tokens ,tokens) (type simple-vector ,facts) (ignorable ,names ,path))
               ,@body)))
     ',families))

(defun extractor-ctags-kinds (family)
  "The kinds of ctags that FAMILY's extractor leaves to it; :all where there is no extractor."
  (gethash family *ctags-kinds* :all))

(defun extract (tokens facts names path)
  "Appends what the file of TOKENS says of itself to FACTS. Nothing where its language has no extractor."
  (let ((extractor (gethash (language-family (tokens-language tokens)) *extractors*)))
    (when extractor (funcall (the function extractor) tokens facts names path))
    facts))
