;;;; Fixtures: pytest runs a fixture for whoever names it as a parameter, which no call shows.

(defpackage #:opl.change.fixtures
  (:use #:cl #:opl.index.store #:opl.source.facts #:opl.change.imports)
  (:import-from #:opl.source.language #:language-family #:path-name)
  (:import-from #:opl.graph.families.python #:parameter-fixture #:fixture-name)
  (:import-from #:opl.graph.edges #:make-edge)
  (:export #:fixture-edges #:fixture-p))
(in-package #:opl.change.fixtures)

(defun files-under (index file)
  "The files that may mean a fixture of FILE by its name: FILE itself, those that import it, and those that import these when they are
a conftest.py."
  (let ((importers (importers index)) (seen (list file)))
    (dolist (each (gethash file importers) seen)
      (pushnew each seen)
      (when (string= (path-name (index-path index each)) "conftest.py")
        (dolist (further (gethash each importers)) (pushnew further seen))))))

(defun given-name (world index tag)
  (and (eq (language-family (index-language index (tag-file tag))) :python) (fixture-name world tag)))

(defun fixture-p (world index tag)
  "Whether TAG is a fixture: tests mean it by a parameter and never by its bare name."
  (and (given-name world index tag) t))

(defun fixture-edges (world index tag)
  "Edges, of rule :fixture and no more than likely since no call stands there, from the tests and fixtures that pytest hands what the fixture TAG gives; none for another definition."
  (let ((name (given-name world index tag)) (edges '()))
    (when name
      (dolist (file (files-under index (tag-file tag)) (nreverse edges))
        (let ((run (index-run index file)))
          (dotimes (binding (binding-count run))
            (when (and (= name (binding-name run binding)) (= +parameter+ (binding-kind run binding))
                       (eql tag (parameter-fixture world file binding)))
              (let ((def (scope-def run (binding-scope run binding))))
                (push (make-edge (tag file def) file (def-line run def) name tag :likely :fixture nil) edges)))))))))
