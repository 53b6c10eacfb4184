;;;; An index refreshed file by file equals one built from scratch, whatever happened to the tree.

(unless (find-package "OPL.TEST.REPOSITORY") (load (merge-pathnames "repository.lisp" *load-truename*)))

(defpackage #:opl.test.index-refresh
  (:use #:cl #:opl.test #:opl.test.repository)
  (:import-from #:opl.index.store #:index-complete-p #:definition-tags #:tag-line)
  (:import-from #:opl.index.snapshot #:write-snapshot #:read-snapshot #:snapshot-name)
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

(defun random-step (folder)
  "Does something to the tree that a person or an agent would."
  (let* ((n (draw 6)) (path (format nil "src/m~D.js" n)))
    (handler-case
        (ecase (draw 8)
          (0 (put-file folder path (source n)))
          (1 (put-file folder (format nil "lib/~D/new~D.py" (draw 3) n) (format nil "def made~D(a):~%    return made~D(a)~%" n (draw 4))))
          (2 (remove-file folder path))
          (3 (rename-file (native folder path) (native folder (format nil "src/moved~D.js" n))))
          (4 (git folder "checkout" "-q" "--" "."))
          (5 (git folder "stash" "-q" "-u"))
          (6 (git folder "checkout" "-q" "-f" (if (zerop (draw 2)) "other" "main")))
          (7 (put-file folder ".gitignore" (format nil "~[lib/~;*.py~%!lib/0/*.py~;src/m1.js~]~%" (draw 3)))))
      (error () nil))))

(deftest refreshed-equals-rebuilt-after-any-steps
  (with-repository (folder ("src/m0.js" "export const a = 1;") ("README.md" "words"))
    (dotimes (n 6) (put-file folder (format nil "src/m~D.js" n) (source n)))
    (git folder "add" "-A") (git folder "commit" "-q" "-m" "second")
    (git folder "checkout" "-q" "-b" "other")
    (put-file folder "src/m2.js" (source 3)) (put-file folder "src/only-other.js" "export function onlyThere() {}")
    (git folder "add" "-A") (git folder "commit" "-q" "-m" "third") (git folder "checkout" "-q" "main")
    (let ((index (build folder)))
      (dotimes (step 40)
        (random-step folder)
        (when (zerop (draw 2))
          (setf index (refresh index))
          (check-equal (dump (build folder)) (dump index)))))))

(defun watched (folder index)
  "A workspace of FOLDER whose tree is watched, where the system can."
  (let ((workspace (opl.index.workspace::make-workspace :root (opl.index.store:index-root index) :index index :looks 99)))
    (opl.index.workspace::refresh-now workspace)
    (sb-thread:join-thread (opl.index.workspace::workspace-watching workspace))
    (opl.index.workspace::refresh-now workspace)
    (check-equal (dump (build folder)) (dump (opl.index.workspace::workspace-index workspace)))
    workspace))

(deftest watched-equals-rebuilt-after-any-steps
  (with-repository (folder ("src/m0.js" "export const a = 1;") ("README.md" "words"))
    (dotimes (n 6) (put-file folder (format nil "src/m~D.js" n) (source n)))
    (git folder "add" "-A") (git folder "commit" "-q" "-m" "second")
    (git folder "checkout" "-q" "-b" "other")
    (put-file folder "src/only-other.js" "export function onlyThere() {}")
    (git folder "add" "-A") (git folder "commit" "-q" "-m" "third") (git folder "checkout" "-q" "main")
    (let ((workspace (watched folder (build folder))))
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

;;; Snapshots

(deftest snapshot-gives-the-index-back
  (with-repository (folder ("a.py" "def one():
    return two()

def two():
    pass
") ("b.js" "export class A { m() { return this.n(); } n() {} }"))
    (let ((index (build folder)) (cache (native folder ".git/cache")))
      (check (write-snapshot index cache "1" nil "c"))
      (let ((read (read-snapshot (opl.index.store:index-root index) cache "1" nil (constantly "c"))))
        (check read)
        (check-equal (dump index) (dump read))
        (let ((change (look read)))
          (check (or (null change)
                     (and (null (opl.index.refresh:change-changed change)) (null (opl.index.refresh:change-removed change)))))))
      (check-equal nil (read-snapshot (opl.index.store:index-root index) cache "2" nil (constantly "c")))
      (check-equal nil (read-snapshot (opl.index.store:index-root index) cache "1" '("x") (constantly "c")))
      (check-equal nil (read-snapshot "/elsewhere" cache "1" nil (constantly "c"))))))

(defun damage (cache change)
  "Rewrites the snapshot in CACHE as CHANGE, a function of its octets, gives it."
  (let* ((name (sb-ext:parse-native-namestring (snapshot-name cache)))
         (octets (with-open-file (in name :element-type '(unsigned-byte 8))
                   (let ((octets (make-array (file-length in) :element-type '(unsigned-byte 8)))) (read-sequence octets in) octets))))
    (with-open-file (out name :direction :output :if-exists :supersede :element-type '(unsigned-byte 8))
      (write-sequence (funcall change octets) out))))

(deftest torn-damaged-and-foreign-snapshots-are-not-trusted
  (with-repository (folder ("a.py" "def one():
    pass
"))
    (let* ((index (build folder)) (cache (native folder ".git/cache")) (root (opl.index.store:index-root index)))
      (dolist (change (list (lambda (octets) (subseq octets 0 (floor (length octets) 2)))
                            (lambda (octets) (subseq octets 0 (- (length octets) 8)))
                            (lambda (octets) (subseq octets 0 4))
                            (lambda (octets) (let ((copy (copy-seq octets))) (setf (aref copy (floor (* 2 (length copy)) 3)) (logxor 85 (aref copy (floor (* 2 (length copy)) 3)))) copy))
                            (lambda (octets) (fill (copy-seq octets) 255))
                            (lambda (octets) (declare (ignore octets)) (sb-ext:string-to-octets "something else altogether"))))
        (check (write-snapshot index cache "1" nil "c"))
        (damage cache change)
        (check-equal nil (read-snapshot root cache "1" nil (constantly "c")))))))

(deftest a-cache-that-cannot-be-written-costs-nothing
  (with-repository (folder ("a.py" "x = 1"))
    (put-file folder "file" "")
    (check-equal nil (write-snapshot (build folder) (native folder "file/cache") "1" nil "c"))))
