;;;; Diffs as they come, and the definitions they touch.

(unless (find-package "OPL.TEST.REPOSITORY") (load (merge-pathnames "repository.lisp" *load-truename*)))

(defpackage #:opl.test.change-diff
  (:use #:cl #:opl.test #:opl.test.repository #:opl.change.diff #:opl.change.roots #:opl.change.impact #:opl.change.tests))
(in-package #:opl.test.change-diff)

(defparameter *here* *load-truename*)

(defun lines (&rest lines) (format nil "~{~A~%~}" lines))

(defun summary (text)
  "(status old-path new-path hunks) of each file of TEXT."
  (mapcar (lambda (change) (list (file-change-status change) (file-change-old-path change) (file-change-new-path change) (length (file-change-hunks change))))
          (parse-diff text)))

(deftest git-with-any-prefix
  (flet ((diff (old new) (lines (format nil "diff --git ~A ~A" old new) "index 1..2 100644" (format nil "--- ~A" old) (format nil "+++ ~A" new)
                                "@@ -1,2 +1,2 @@" " a" "-b" "+c")))
    (check-equal '((:modified "src/x.js" "src/x.js" 1)) (summary (diff "a/src/x.js" "b/src/x.js")))
    (check-equal '((:modified "src/x.js" "src/x.js" 1)) (summary (diff "i/src/x.js" "w/src/x.js")))
    (check-equal '((:modified "src/x.js" "src/x.js" 1)) (summary (diff "src/x.js" "src/x.js")))
    (check-equal '((:modified "a/x" "a/x" 1)) (summary (diff "a/x" "a/x")))
    (check-equal '((:modified "lib/b/x.js" "lib/b/x.js" 1)) (summary (diff "lib/b/x.js" "lib/b/x.js")))
    (check-equal '((:modified "with space/x y.js" "with space/x y.js" 1)) (summary (diff "a/with space/x y.js" "b/with space/x y.js")))))

(deftest prefixes-that-nobody-knows-are-what-differs-before-one-path
  (flet ((diff (old new) (lines (format nil "diff --git ~A ~A" old new) (format nil "--- ~A" old) (format nil "+++ ~A" new) "@@ -1 +1 @@" "-b" "+c")))
    (check-equal '((:modified "src/x.js" "src/x.js" 1)) (summary (diff "x/src/x.js" "y/src/x.js")))
    (check-equal '((:modified "src/x.js" "src/x.js" 1)) (summary (diff "left/one/src/x.js" "right/two/src/x.js"))))
  (flet ((plain (old new) (lines (format nil "--- ~A" old) (format nil "+++ ~A" new) "@@ -1 +1 @@" "-b" "+c")))
    (check-equal '((:modified "src/x.c" "src/x.c" 1)) (summary (plain "tool-1.0/src/x.c" "tool-1.1/src/x.c")))
    (check-equal '((:modified "src/one/x.c" "src/two/x.c" 1)) (summary (plain "src/one/x.c" "src/two/x.c")))
    (check-equal '((:modified "/tmp/old.c" "src/x.c" 1)) (summary (plain "/tmp/old.c" "src/x.c")))))

(deftest colours-of-a-terminal-are-no-part-of-a-diff
  (flet ((coloured (text) (format nil "~C[1m~A~C[m" #\Escape text #\Escape)))
    (check-equal '((:modified "x.py" "x.py" 1))
                 (summary (lines (coloured "diff --git a/x.py b/x.py") (coloured "--- a/x.py") (coloured "+++ b/x.py") (coloured "@@ -1 +1 @@") (coloured "-a") (coloured "+b"))))
    ;; but a file may hold them
    (check-equal (list (format nil "~C[1m" #\Escape))
                 (hunk-lines (first (file-change-hunks (first (parse-diff (lines "--- a/x.py" "+++ b/x.py" "@@ -0,0 +1 @@" (format nil "+~C[1m" #\Escape))))))))))

(deftest new-deleted-renamed-copied-mode-binary
  (check-equal '((:added nil "n.py" 1))
               (summary (lines "diff --git a/n.py b/n.py" "new file mode 100644" "--- /dev/null" "+++ b/n.py" "@@ -0,0 +1 @@" "+x = 1")))
  (check-equal '((:deleted "n.py" nil 1))
               (summary (lines "diff --git a/n.py b/n.py" "deleted file mode 100644" "--- a/n.py" "+++ /dev/null" "@@ -1 +0,0 @@" "-x = 1")))
  (check-equal '((:renamed "old name.py" "new.py" 0))
               (summary (lines "diff --git a/old name.py b/new.py" "similarity index 100%" "rename from old name.py" "rename to new.py")))
  (check-equal '((:copied "a.py" "c.py" 0)) (summary (lines "diff --git a/a.py b/c.py" "similarity index 100%" "copy from a.py" "copy to c.py")))
  (check-equal '((:mode "x.sh" "x.sh" 0)) (summary (lines "diff --git a/x.sh b/x.sh" "old mode 100644" "new mode 100755")))
  (check (file-change-binary-p (first (parse-diff (lines "diff --git a/i.png b/i.png" "index 1..2" "Binary files a/i.png and b/i.png differ"))))))

(deftest quoted-and-plain-and-combined
  (check-equal '((:modified "ä b.py" "ä b.py" 1))
               (summary (lines "diff --git \"a/\\303\\244 b.py\" \"b/\\303\\244 b.py\"" "--- \"a/\\303\\244 b.py\"" "+++ \"b/\\303\\244 b.py\"" "@@ -1 +1 @@" "-a" "+b")))
  (check-equal '((:modified "old/x.c" "old/x.c" 1))
               (summary (lines "--- old/x.c	2020-01-01 00:00:00" "+++ old/x.c	2020-01-02 00:00:00" "@@ -1 +1 @@" "-a" "+b")))
  (check-equal '((:modified "m.c" "m.c" 1))
               (summary (lines "diff --cc m.c" "index 1,2..3" "--- a/m.c" "+++ b/m.c" "@@@ -1,2 -1,2 +1,3 @@@" "  a" "+ b" " +c"))))

(deftest apply-patch-form
  (check-equal '((:modified "a.py" "a.py" 2) (:added nil "b.py" 1) (:deleted "c.py" nil 0))
               (summary (lines "*** Begin Patch" "*** Update File: a.py" "@@ def f" "-x" "+y" "@@" " z" "+w" "*** Add File: b.py" "+new" "*** Delete File: c.py" "*** End Patch"))))

(deftest what-is-no-diff-is-told-so
  (check-equal '() (parse-diff ""))
  (check (search "no diff" (diff-error-reason (check-error diff-error (parse-diff "hello")))))
  (check (parse-diff (lines "diff --git a/x b/x" "--- a/x" "+++ b/x" "@@ -1,5 +1,9 @@" " cut"))))

(defparameter *module*
  (lines "import os" "" "LIMIT = 3" "" "def first(a):" "    return a" "" "def second(b):" "    x = first(b)" "    return x" "" "class Shop:" "    def sell(self):"
         "        return second(1)"))

(defun roots (index text)
  (mapcar (lambda (root) (list (root-name root) (root-what root))) (findings-roots (roots-of-diff index text))))

(defun working-diff (folder)
  (with-output-to-string (out)
    (sb-ext:run-program "git" (list "-C" (native folder) "diff" "HEAD") :search t :output out)))

(deftest two-lines-touch-one-definition
  (with-repository (folder ("m.py" *module*))
    (put-file folder "m.py" (lines "import os" "" "LIMIT = 3" "" "def first(a):" "    return a" "" "def second(b):" "    y = first(b)" "    return y" "" "class Shop:" "    def sell(self):"
                                   "        return second(1)"))
    (let ((index (build folder)) (diff (working-diff folder)))
      (check-equal '(("second" :body)) (roots index diff))
      ;; the same diff against a tree that does not have it yet
      (git folder "checkout" "-q" "--" ".")
      (check-equal '(("second" :body)) (roots (build folder) diff)))))

(deftest deletions-signatures-and-module-lines
  (with-repository (folder ("m.py" *module*))
    (put-file folder "m.py" (lines "import os" "import re" "" "LIMIT = 3" "" "def second(b, c):" "    x = first(b)" "    return x" "" "class Shop:" "    def sell(self):"
                                   "        return second(1)"))
    (let ((roots (roots (build folder) (working-diff folder))))
      (check (member '("first" :deleted) roots :test #'equal))
      (check (member '("second" :signature) roots :test #'equal))
      (check (find :module roots :key #'second)))))

(deftest tests-that-call-the-change-come-first
  (with-repository (folder ("m.py" *module*)
                           ("tests/test_shop.py" (lines "from m import Shop" "" "def test_sell():" "    assert Shop().sell() == 1"))
                           ("tests/test_first.py" (lines "from m import first" "" "def test_first():" "    assert first(2) == 2"))
                           ("tests/test_other.py" (lines "def test_nothing():" "    assert True")))
    (put-file folder "m.py" (substitute #\9 #\1 *module*))
    (let* ((index (build folder)) (impact (impact-of-diff index (working-diff folder))))
      (check-equal "tests/test_shop.py" (test-hit-path (first (impact-tests impact))))
      (check (not (find "tests/test_other.py" (impact-tests impact) :key #'test-hit-path :test #'string=)))
      (check-equal '("test_sell") (test-hit-names (first (impact-tests impact)))))))

(deftest changes-outside-the-graph-ask-for-the-full-suite
  (with-repository (folder ("m.py" *module*) ("package.json" "{}") ("data.json" "{}"))
    (put-file folder "package.json" "{ }") (put-file folder "data.json" "{ }")
    (let ((impact (impact-of-diff (build folder) (working-diff folder))))
      (check (not (impact-complete-p impact)))
      (check (find "package.json" (impact-full-suite impact) :test #'search)))))

(deftest an-edited-test-is-its-own-first-test
  (with-repository (folder ("m.py" *module*) ("tests/test_a.py" (lines "def test_a():" "    assert 1")))
    (put-file folder "tests/test_a.py" (lines "def test_a():" "    assert 2"))
    (check-equal "tests/test_a.py" (test-hit-path (first (impact-tests (impact-of-diff (build folder) (working-diff folder))))))))

(deftest paths-outside-the-graph-are-those-of-the-vectors
  (let ((rows 0))
    (with-open-file (in (merge-pathnames "../../protocol/vectors/outside.tsv" *here*) :external-format :utf-8)
      (loop for line = (read-line in nil)
            for tab = (and line (position #\Tab line))
            while line
            do (when (and tab (char/= #\# (char line 0)))
                 (incf rows)
                 (let* ((path (subseq line 0 tab)) (word (subseq line (1+ tab)))
                        (why (or (opl.change.outside:outside-reason path) (if (opl.change.outside:unread-p path) "unread" ""))))
                   (if (string= word "") (check-equal (list path "") (list path why)) (check (search word why)))))))
    (check (> rows 20))))

(deftest a-new-file-that-is-not-in-the-tree-yet-is-a-root-and-no-reason-to-run-everything
  (with-repository (folder ("m.py" *module*))
    (let ((impact (impact-of-diff (build folder) (lines "*** Begin Patch" "*** Add File: n.py" "+x = 1" "*** End Patch"))))
      (check-equal '("n.py") (mapcar #'root-path (impact-roots impact)))
      (check-equal '() (impact-full-suite impact))
      (check (find "not in the tree yet" (impact-reasons impact) :test #'search)))
    (check (impact-full-suite (impact-of-diff (build folder) (lines "*** Begin Patch" "*** Add File: n.json" "+{}" "*** End Patch"))))))

(defun remarks (folder text)
  (let ((impact (impact-of-diff (build folder) text))) (values (format nil "~{~A~%~}" (impact-reasons impact)) impact)))

(deftest a-diff-that-is-malformed-or-cut-says-so
  (with-repository (folder ("m.py" *module*))
    (dolist (case (list (cons (lines "diff --git a/m.py b/m.py") "no change")
                        (cons (lines "--- a/m.py" "+++ b/m.py" "@@ -3,3 +3,4 @@" " LIMIT = 3") "before its counts")
                        (cons (lines "--- a/m.py" "+++ b/m.py" "@@ three @@" " LIMIT = 3") "cannot be read")
                        (cons (lines "diff --git a/m.py b/m.py" "--- a/m.py" "+++ b/m.py" "@@ -3,0 +4,2 @@" "+<<<<<<< HEAD" "+=======") "conflict")))
      (multiple-value-bind (text impact) (remarks folder (car case))
        (check (search (cdr case) text))
        (check (not (impact-complete-p impact)))))))

(deftest paths-of-a-diff-are-held-against-the-root
  (with-repository (folder ("m.py" *module*) ("lib/m.py" *module*))
    (flet ((diff (path) (lines (format nil "--- ~A" path) (format nil "+++ ~A" path) "@@ -5,2 +5,2 @@" " def first(a):" "-    return a" "+    return b")))
      (multiple-value-bind (text impact) (remarks folder (diff "../../etc/passwd"))
        (check (search "lies outside" text))
        (check-equal '() (impact-files impact)))
      (check-equal '("lib/m.py") (impact-files (nth-value 1 (remarks folder (diff (format nil "~A/lib/m.py" (string-right-trim "/" (native folder))))))))
      (check-equal '("lib/m.py") (impact-files (nth-value 1 (remarks folder (diff "same/lib/m.py")))))))) ; one prefix before both

(deftest data-among-tests-is-no-test
  (with-repository (folder ("m.py" *module*) ("tests/test_m.py" (lines "import m" "" "def test_m():" "    assert m.first(1)")) ("tests/static/first.json" "{\"first\": 1}"))
    (check-equal '("tests/test_m.py") (mapcar #'test-hit-path (impact-tests (nth-value 1 (remarks folder (lines "--- a/m.py" "+++ b/m.py" "@@ -5,2 +5,2 @@" " def first(a):" "-    return a" "+    return b"))))))))
