;;;; Definitions are found by a part of their name or of their file's path.

(unless (find-package "OPL.TEST.REPOSITORY") (load (merge-pathnames "repository.lisp" *load-truename*)))

(defpackage #:opl.test.index-find
  (:use #:cl #:opl.test #:opl.test.repository)
  (:import-from #:opl.index.find #:find-tags)
  (:import-from #:opl.index.store #:index-names #:tag-name #:tag-path #:tag-line)
  (:import-from #:opl.source.names #:name-string))
(in-package #:opl.test.index-find)

(defun found (index wanted limit)
  "path:line name of what is found, and the total."
  (multiple-value-bind (hits total) (find-tags index wanted limit)
    (list (loop for (nil . tag) in hits
                collect (format nil "~A:~D ~A" (tag-path index tag) (tag-line index tag) (name-string (index-names index) (tag-name index tag))))
          total)))

(deftest the-name-itself-comes-before-parts-of-names-and-paths
  (with-repository (folder ("b.py" "def parse(): pass
def reparse(): pass
def PARSE(): pass
def parser(): pass
def straße_ü(): pass
") ("a.py" "def parse(): pass
") ("parse/other.py" "def unrelated():
    def inner(): pass
"))
    (let ((index (build folder)))
      (check-equal '(("a.py:1 parse" "b.py:1 parse" "b.py:3 PARSE" "b.py:4 parser" "b.py:2 reparse" "parse/other.py:1 unrelated") 6)
                   (found index "parse" 10))
      (check-equal '(("a.py:1 parse" "b.py:1 parse") 6) (found index "parse" 2))
      (check-equal '(("b.py:2 reparse") 1) (found index "EPARS" 10))
      (check-equal '(("b.py:5 straße_ü") 1) (found index "STRAßE_Ü" 10))
      (check-equal '(("parse/other.py:1 unrelated") 1) (found index "parse/o" 10))
      (check-equal '(() 0) (found index "no such name at all" 10))
      (check-equal '(() 0) (found index "" 10)))))
