;;;; An index refreshed file by file equals one built from scratch, whatever happened to the tree.

(unless (find-package "OPL.TEST.REPOSITORY") (load (merge-pathnames "repository.lisp" *load-truename*)))

(defpackage #:opl.test.index-refresh
  (:use #:cl #:opl.test #:opl.test.repository)
  (:import-from #:opl.index.store #:index-complete-p #:definition-tags #:tag-line)
  (:import-from #:opl.index.refresh #:look))
(in-package #:opl.test.index-refresh)

(defparameter *state* 7)
(defun draw (limit)
  "A number below LIMIT; the same ones in every run."
  (setf *state* (mod (+ (* 1103515245 *state*) 12345) 2147483648))
  (mod (ash *state* -8) limit))

(defun source (n)
  (format nil "import { helper~D } from './m~D';~%export function work~D(x) {~%  return helper~D(x) + other~D(x);~%}~%export const helper~D = (x) => work~D(x);~%function other~D(x) { return x; }~%"
          (mod (+ n 1) 6) (mod (+ n 1) 6) n (mod (+ n 1) 6) n n (draw 5) n))

(defun move (folder from to) (sb-unix:unix-rename (native folder from) (native folder to)))

(defun random-step (folder)
  "Does something to the tree that a person or an agent would."
  (let* ((n (draw 6)) (path (format nil "src/m~D.js" n)))
    (handler-case
        (ecase (draw 16)
          (0 (put-file folder path (source n)))
          (1 (put-file folder (format nil "lib/~D/new~D.py" (draw 3) n) (format nil "def made~D(a):~%    return made~D(a)~%" n (draw 4))))
          (2 (remove-file folder path))
          (3 (rename-file (native folder path) (native folder (format nil "src/moved~D.js" n))))
          (4 (git folder "checkout" "-q" "--" "."))
          (5 (git folder "stash" "-q" "-u"))
          (6 (git folder "checkout" "-q" "-f" (if (zerop (draw 2)) "other" "main")))
          (7 (put-file folder ".gitignore" (format nil "~[lib/~;*.py~%!lib/0/*.py~;src/m1.js~]~%" (draw 3))))
          (8 (put-file folder "lib/.gitignore" (format nil "~[*~;new1.py~;0/~]~%" (draw 3))))
          (9 (move folder (nth (draw 3) '("src" "lib" "lib/0")) (nth (draw 3) '("lib2" "src/inner" "lib/1"))))
          (10 (move folder (nth (draw 3) '("lib2" "src/inner" "lib/1")) (nth (draw 3) '("src" "lib" "lib/0"))))
          (11 (if (zerop (draw 2)) (move folder "src" ".git/away") (move folder ".git/away" "src")))
          (12 (if (zerop (draw 2)) (git folder "add" "-A" "-f" "lib") (git folder "rm" "-r" "-q" "--cached" "lib")))
          (13 (remove-file folder path) (put-file folder (format nil "~A/inside.js" path) (source n)))
          (14 (put-file folder (format nil "nested/n~D.js" n) (source n))
           (git (sb-ext:parse-native-namestring (native folder "nested/")) "init" "-q"))
          (15 (remove-file folder path) (sb-posix:symlink "m0.js" (native folder path))))
      (error () nil))))

(defun tabled (index)
  "INDEX with its rows in tables, as one of many files or from a snapshot has them; a small new one's are all looked through."
  (opl.index.store:publish index :all))

(deftest refreshed-equals-rebuilt-after-any-steps
  (with-repository (folder ("src/m0.js" "export const a = 1;") ("README.md" "words"))
    (dotimes (n 6) (put-file folder (format nil "src/m~D.js" n) (source n)))
    (git folder "add" "-A") (git folder "commit" "-q" "-m" "second")
    (git folder "checkout" "-q" "-b" "other")
    (put-file folder "src/m2.js" (source 3)) (put-file folder "src/only-other.js" "export function onlyThere() {}")
    (git folder "add" "-A") (git folder "commit" "-q" "-m" "third") (git folder "checkout" "-q" "main")
    (let ((index (tabled (build folder))))
      (dotimes (step 40)
        (random-step folder)
        (when (zerop (draw 2))
          (setf index (refresh index))
          (check-equal (dump (build folder)) (dump index)))))))

(defun watched (folder index &optional (below ""))
  "A workspace of INDEX, of the folder BELOW FOLDER, whose tree is watched, where the system can."
  (let ((workspace (opl.index.workspace::make-workspace :root (opl.index.store:index-root index) :index index :looks 99)))
    (opl.index.workspace::refresh-now workspace)
    (sb-thread:join-thread (opl.index.workspace::workspace-watching workspace))
    (opl.index.workspace::refresh-now workspace)
    (check-equal (dump (opl.index.refresh:build-index (native folder below) "ctags" nil)) (dump (opl.index.workspace::workspace-index workspace)))
    workspace))

(deftest watched-equals-rebuilt-after-any-steps
  (with-repository (folder ("src/m0.js" "export const a = 1;") ("README.md" "words"))
    (dotimes (n 6) (put-file folder (format nil "src/m~D.js" n) (source n)))
    (git folder "add" "-A") (git folder "commit" "-q" "-m" "second")
    (git folder "checkout" "-q" "-b" "other")
    (put-file folder "src/only-other.js" "export function onlyThere() {}")
    (git folder "add" "-A") (git folder "commit" "-q" "-m" "third") (git folder "checkout" "-q" "main")
    (let ((workspace (watched folder (tabled (build folder)))))
      (dotimes (step 40)
        (random-step folder)
        (when (zerop (draw 2))
          (check-equal (dump (build folder)) (dump (opl.index.workspace::refresh-now workspace)))))
      (opl.index.workspace::stop-watching workspace))))

#+linux
(deftest a-watched-tree-is-not-looked-at-for-an-edit
  (with-repository (folder ("src/a.py" "def first(): pass") (".gitignore" "*.log"))
    (let* ((workspace (watched folder (build folder))) (looks (opl.index.workspace::workspace-looks workspace)))
      (flet ((names (path) (tag-names (opl.index.workspace::refresh-now workspace) path)))
        (check (opl.index.workspace::workspace-watch workspace))
        (put-file folder "src/a.py" (format nil "def second(): pass~%"))
        (check-equal '("second") (names "src/a.py"))
        (put-file folder "src/new file.py" (format nil "def third(): pass~%"))
        (put-file folder "src/noise.log" "def fourth(): pass")
        (check-equal '("third") (names "src/new file.py"))
        (remove-file folder "src/new file.py")
        (names "src/a.py")
        (check-equal nil (opl.index.store:index-file-number (opl.index.workspace::workspace-index workspace) "src/new file.py"))
        (check-equal looks (opl.index.workspace::workspace-looks workspace))
        ;; a folder that comes is watched from then on
        (put-file folder "deep/er/b.py" (format nil "def fifth(): pass~%"))
        (check-equal '("fifth") (names "deep/er/b.py"))
        (put-file folder "deep/er/b.py" (format nil "def sixth(): pass~%"))
        (check-equal '("sixth") (names "deep/er/b.py"))
        (rename-file (native folder "deep/er") (native folder "deep/moved"))
        (check-equal '("sixth") (names "deep/moved/b.py"))
        (put-file folder "deep/moved/b.py" (format nil "def seventh(): pass~%"))
        (check-equal '("seventh") (names "deep/moved/b.py"))
        (opl.index.workspace::stop-watching workspace)))))

(defmacro with-watched ((folder workspace &rest files) &body body)
  "BODY with a watched repository FOLDER of FILES, in which (names path) tells what is defined in a file now."
  `(with-repository (,folder ,@files)
     (let ((,workspace (watched ,folder (build ,folder))))
       (flet ((names (path) (tag-names (opl.index.workspace::refresh-now ,workspace) path)))
         ,@body
         (check-equal (dump (build ,folder)) (dump (opl.index.workspace::refresh-now ,workspace))))
       (opl.index.workspace::stop-watching ,workspace))))

(defun python (name) (format nil "def ~A(): pass~%" name))

(deftest a-folder-that-takes-the-place-of-a-moved-one-is-watched
  (with-watched (folder workspace ("a/sub/x.py" "def one(): pass"))
    (dolist (away '("b" ".git/away"))
      (move folder "a" away)
      (names "a/sub/x.py")
      (dolist (name '("two" "three" "four"))
        (put-file folder "a/sub/x.py" (python name))
        (check-equal (list name) (names "a/sub/x.py"))))
    (put-file folder "b/sub/x.py" (python "five"))
    (check-equal '("five") (names "b/sub/x.py"))))

(deftest a-root-that-is-deleted-and-made-again-is-watched
  (with-scratch-folder (outer)
    (flet ((fill-root (name) (put-file outer "root/a.py" (python name))))
      (fill-root "one")
      (let ((workspace (watched outer (opl.index.refresh:build-index (native outer "root") "ctags" nil) "root")))
        (flet ((names () (tag-names (opl.index.workspace::refresh-now workspace) "a.py")))
          (sb-ext:delete-directory (sb-ext:parse-native-namestring (native outer "root/")) :recursive t)
          (check-equal :absent (names))
          (fill-root "two")
          (check-equal '("two") (names))
          (move outer "root" "elsewhere")
          (fill-root "three")
          (check-equal '("three") (names))
          (fill-root "four")
          (check-equal '("four") (names)))))))

(deftest what-git-is-told-alone-is-seen
  (flet ((run (names folder)
           (check-equal :absent (funcall names "hidden.log.py"))
           (git folder "add" "-f" "hidden.log.py")
           (check-equal '("hidden") (funcall names "hidden.log.py"))
           (git folder "rm" "-q" "--cached" "hidden.log.py")
           (check-equal :absent (funcall names "hidden.log.py"))
           (put-file folder ".git/info/exclude" "b.py")
           (put-file folder "b.py" (python "b"))
           (check-equal :absent (funcall names "b.py"))
           (put-file folder ".git/info/exclude" "")
           (check-equal '("b") (funcall names "b.py"))))
    (with-repository (folder (".gitignore" "*.log.py") ("a.py" "x = 1"))
      (put-file folder "hidden.log.py" (python "hidden"))
      (let ((index (build folder)))
        (run (lambda (path) (tag-names (setf index (refresh index)) path)) folder)))
    (with-watched (folder workspace (".gitignore" "*.log.py") ("a.py" "x = 1"))
      (put-file folder "hidden.log.py" (python "hidden"))
      (run #'names folder))))

(deftest a-worktrees-own-index-counts
  (with-repository (folder (".gitignore" "*.log.py") ("a.py" "x = 1"))
    (git folder "worktree" "add" "-q" (native folder "tree") "-b" "side")
    (let ((tree (sb-ext:parse-native-namestring (native folder "tree/"))))
      (put-file tree "hidden.log.py" (python "hidden"))
      (let ((index (build tree)))
        (check-equal :absent (tag-names index "hidden.log.py"))
        (git tree "add" "-f" "hidden.log.py")
        (check-equal '("hidden") (tag-names (refresh index) "hidden.log.py"))))))

(deftest a-new-file-in-a-nested-repository-is-seen
  (with-watched (folder workspace ("a.py" "x = 1") ("inner/b.py" "y = 1"))
    (put-file folder "own/c.py" (python "first"))
    (git (sb-ext:parse-native-namestring (native folder "own/")) "init" "-q")
    (check-equal '("first") (names "own/c.py"))
    (names "own/c.py")
    (put-file folder "own/d.py" (python "second"))
    (check-equal '("second") (names "own/d.py"))))

#+linux
(deftest lost-events-and-too-many-folders-cost-only-the-watch
  (with-watched (folder workspace ("a.py" "x = 1"))
    (setf (opl.index.watch::watch-complete (opl.index.workspace::workspace-watch workspace)) nil)
    (put-file folder "b.py" (python "b"))
    (check-equal '("b") (names "b.py")))
  (let ((usual opl.index.watch::*most-folders*))
    (unwind-protect
         (progn
           (setf opl.index.watch::*most-folders* 8)
           (with-watched (folder workspace ("a.py" "x = 1"))
             (check (opl.index.workspace::workspace-watch workspace))
             (dotimes (n 12) (put-file folder (format nil "d~D/b.py" n) (python "b")))
             (check-equal '("b") (names "d7/b.py"))
             (check-equal nil (opl.index.workspace::workspace-watch workspace))
             (put-file folder "d11/b.py" (python "c"))
             (check-equal '("c") (names "d11/b.py"))))
      (setf opl.index.watch::*most-folders* usual))))

(deftest edit-then-revert-leaves-nothing
  (with-repository (folder ("a.py" "def first():
    pass
"))
    (let ((index (build folder)))
      (put-file folder "a.py" (format nil "def ghost():~%    pass~%"))
      (setf index (refresh index))
      (check-equal '("ghost") (tag-names index "a.py"))
      (git folder "checkout" "-q" "--" "a.py")
      (setf index (refresh index))
      (check-equal '("first") (tag-names index "a.py")))))

(deftest same-size-same-second-edit-is-seen
  (with-repository (folder ("a.py" "def one():
    pass
"))
    (let ((index (build folder)))
      (put-file folder "a.py" (format nil "def two():~%    pass~%"))
      (check-equal '("two") (tag-names (refresh index) "a.py")))))

(deftest an-old-index-is-not-changed-by-a-refresh
  (with-repository (folder ("a.py" "def one():
    pass
"))
    (let ((before (build folder)))
      (put-file folder "b.py" (format nil "def new():~%    one()~%"))
      (let ((after (refresh before)))
        (check-equal '("a.py") (paths before))
        (check-equal '("a.py" "b.py") (paths after))
        (check-equal nil (definition-tags before "new"))
        (check-equal 1 (length (definition-tags after "new")))))))

(deftest a-deleted-file-stays-deleted-when-another-is-edited
  (with-repository (folder ("a.py" "def gone(): pass") ("b.py" "gone()"))
    (let ((index (tabled (build folder))))
      (remove-file folder "a.py")
      (setf index (refresh index))
      (check-equal '() (definition-tags index "gone"))
      (put-file folder "b.py" "gone(1)")
      (setf index (refresh index))
      (check-equal '() (definition-tags index "gone"))
      (check-equal (dump (build folder)) (dump index)))))

(deftest which-of-two-parts-is-called-does-not-depend-on-which-came-first
  (let ((drop "module Shop
  module Drops
    class Drop
      def fill; end
    end
  end
end
"))
    (with-repository (folder ("lib/b.rb" drop) ("lib/use.rb" "module Shop
  module Drops
  end
  class Use
    def go
      Drops::Drop.new(1).fill
    end
  end
end
"))
      (let ((index (build folder)))
        (put-file folder "lib/a.rb" drop)
        (setf index (refresh index))
        (check-equal (dump (build folder)) (dump index))))))

(deftest a-clean-tree-gives-the-same-index
  (with-repository (folder ("a.py" "x = 1"))
    (let ((index (build folder))) (check (eq index (refresh index))))))

(deftest worktrees-see-their-own-branch
  (with-repository (folder ("a.py" "def on_main():
    pass
"))
    (git folder "branch" "side")
    (git folder "worktree" "add" "-q" (native folder "tree") "side")
    (put-file folder "tree/a.py" (format nil "def on_side():~%    pass~%"))
    (check-equal '("on_side") (tag-names (opl.index.refresh:build-index (native folder "tree") "ctags" nil) "a.py"))
    (check-equal '("on_main") (tag-names (build folder) "a.py"))))

(deftest nested-repositories-follow-their-branch
  (with-repository (folder ("a.py" "x = 1"))
    (put-file folder "inner/b.py" (format nil "def before():~%    pass~%"))
    (git (sb-ext:parse-native-namestring (native folder "inner/")) "init" "-q")
    (git (sb-ext:parse-native-namestring (native folder "inner/")) "add" "-A")
    (git (sb-ext:parse-native-namestring (native folder "inner/")) "commit" "-q" "-m" "x")
    (let ((index (build folder)))
      (check-equal '("before") (tag-names index "inner/b.py"))
      (put-file folder "inner/b.py" (format nil "def after():~%    pass~%"))
      (check-equal '("after") (tag-names (refresh index) "inner/b.py")))))
