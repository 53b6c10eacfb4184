;;;; sidecar/image/targets.lisp and queries.lisp: the words as an agent types them, over a real index.

(defpackage #:opl.test.image.queries
  (:use #:cl #:opl.test)
  (:import-from #:opl.image.evaluate #:evaluate #:evaluation-values #:evaluation-message #:evaluation-outcome)
  (:import-from #:opl.image.targets #:*index*)
  (:import-from #:opl.image.world #:take-baseline #:reset)
  (:import-from #:opl.index.refresh #:build-index))

(in-package #:opl.test.image.queries)

(take-baseline)

(defparameter *files*
  '(("app/shapes.py" "class Shape:" "    def area(self):" "        return 0" "" "class Circle(Shape):"
     "    def area(self):" "        return scale(3)" "" "def scale(x):" "    return x * 2")
    ("app/main.py" "from app.shapes import Circle, scale" "" "def measure(shape):" "    return scale(1)" ""
     "def main():" "    return measure(Circle())")
    ("tests/test_main.py" "from app.main import main" "" "def test_main():" "    assert main() == 2")))

(defun write-files (folder)
  (loop for (path . lines) in *files*
        do (let ((file (merge-pathnames path folder)))
             (ensure-directories-exist file)
             (with-open-file (stream file :direction :output)
               (format stream "~{~A~%~}" lines)))))

(defmacro with-index (&body body)
  `(with-scratch-folder (folder)
     (reset)
     (write-files folder)
     (setf *index* (build-index (sb-ext:native-namestring folder) "ctags" '()))
     (unwind-protect (progn ,@body) (setf *index* nil))))

(defun value (code)
  (let ((evaluation (evaluate code)))
    (or (car (first (evaluation-values evaluation))) (evaluation-message evaluation))))

(defun result (code)
  "What CODE returns, as data."
  (let ((*package* (find-package :opl-user))) (read-from-string (value code))))

(deftest definitions-by-name-scope-place-and-symbol
  (with-index
    (check-equal '(("app/shapes.py" 9 "scale" "function")) (result "(definitions \"scale\")"))
    (check-equal 2 (length (result "(definitions \"area\")")))
    (check-equal '("app/shapes.py" 6 "Circle.area") (subseq (first (result "(definitions \"Circle.area\")")) 0 3))
    (check-equal "Circle.area" (third (first (result "(definitions \"app/shapes.py:7\")"))))
    (check-equal '("Circle.area") (mapcar #'third (result "(definitions \"app/shapes.py:Circle.area\")")))
    (check-equal '("scale") (mapcar #'third (result "(definitions \"app/shapes.py:scale\")")))
    (check (search "no such symbol" (value "(definitions \"app/main.py:scale\")")))
    (check-equal "scale" (third (first (result "(definitions 'scale)"))))
    (check-equal '("measure" "main") (mapcar #'third (result "(definitions \"app/main.py\")")))))

(deftest a-line-on-which-several-definitions-begin-means-them-all
  (with-index
    (let ((file (merge-pathnames "lib/watch.rb" folder)))
      (ensure-directories-exist file)
      (with-open-file (stream file :direction :output) (format stream "class Watch~%  attr_reader :path, :mtime~%  def age~%    mtime~%  end~%end~%")))
    (setf *index* (build-index (sb-ext:native-namestring folder) "ctags" '()))
    (check-equal '("Watch.path" "Watch.mtime") (mapcar #'third (result "(definitions \"lib/watch.rb:2\")")))
    (check-equal '("Watch.age") (mapcar #'third (result "(callers \"lib/watch.rb:2\")")))
    (check-equal '("Watch.age") (mapcar #'third (result "(definitions \"lib/watch.rb:4\")")))))

(deftest what-is-not-there-says-what-is-near
  (with-index
    (check (search "no such symbol, near: scale" (value "(callers \"scael\")")))
    (check (search "no such symbol, near: measure" (value "(callers \"mesure\")")))
    (check (search "no such file in the index, near: app/shapes.py" (value "(symbols-in \"src/shapes.py\")")))
    (check-equal :error (evaluation-outcome (evaluate "(callers \"zzqqxx\")")))))

(deftest calls-in-both-directions
  (with-index
    (check-equal '(("app/main.py" 4 "measure") ("app/shapes.py" 7 "Circle.area"))
                 (mapcar (lambda (row) (subseq row 0 3)) (result "(callers \"scale\")")))
    (check (find "measure" (result "(callees \"main\")") :key #'third :test #'string=))
    (check-equal '(("app/main.py" 4 "measure") ("app/shapes.py" 7 "Circle.area")) (result "(references \"scale\")"))
    (check-equal '() (result "(references \"nobody\")"))
    (check-equal '() (result "(callers \"test_main\")"))))

(deftest chains-reach-and-tests
  (with-index
    (check-equal '("main" "measure" "scale") (mapcar #'third (result "(path-between \"main\" \"scale\")")))
    (check-equal '() (result "(path-between \"scale\" \"main\")"))
    (check (find "test_main" (result "(impact-of \"scale\")") :key #'third :test #'string=))
    (check-equal '("tests/test_main.py") (mapcar #'first (result "(tests-of \"measure\")")))
    (check-equal '("test_main") (fourth (first (result "(tests-of 'measure)"))))
    (check-equal (result "(impact-of \"measure\")") (result "(impact-of \"app/main.py:4\")"))
    (check-equal '() (remove :exact (result "(impact-of \"measure\" :possible nil)") :key #'fifth))
    (check (not (search "#1=" (value "(callers \"scale\")")))) ; a path in two rows is printed twice
    (dolist (word '("impact-of" "tests-of" "path-between"))
      (check (search word (opl.image.evaluate:evaluation-output (evaluate "(help)")))))))

(deftest hotspots-types-files-and-totals
  (with-index
    (check-equal '(2 "app/shapes.py" 9 "scale" "function") (first (result "(hotspots)")))
    (check-equal '("Circle") (mapcar #'third (result "(subclasses \"Shape\")")))
    (check-equal '("Shape") (mapcar #'third (result "(superclasses \"Circle\")")))
    (check-equal '("Circle.area") (mapcar #'third (result "(overrides \"Shape.area\")")))
    (check-equal '("app/main.py" "tests/test_main.py") (result "(files \"MAIN\")"))
    (check-equal 3 (getf (result "(index-totals)") :files))))

(deftest words-compose-with-the-language
  (with-index
    (check-equal '("app/main.py" "app/shapes.py")
                 (result "(remove-duplicates (mapcar #'first (callers \"scale\")) :test #'string=)"))
    (check-equal 2 (result "(defun caller-count (name) (length (callers name))) (caller-count \"scale\")"))))
