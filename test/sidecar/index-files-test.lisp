;;;; Which files are indexed, and what odd ones do to the others.

(unless (find-package "OPL.TEST.REPOSITORY") (load (merge-pathnames "repository.lisp" *load-truename*)))

(defpackage #:opl.test.index-files
  (:use #:cl #:opl.test #:opl.test.repository)
  (:import-from #:opl.source.files #:glob-match-p #:excluded-p)
  (:import-from #:opl.index.store #:index-skipped #:index-complete-p #:index-reason)
  (:import-from #:opl.index.ctags #:check-ctags #:*ctags-runs*))
(in-package #:opl.test.index-files)

(deftest git-ignore-rules-nested-negated-anchored
  (with-repository (folder (".gitignore" "*.gen.js
!keep.gen.js
/build/
") ("a.js" "x"))
    (put-file folder "b.gen.js" "function hidden() {}")
    (put-file folder "keep.gen.js" "function kept() {}")
    (put-file folder "build/out.js" "function built() {}")
    (put-file folder "src/build/real.js" "function real() {}")
    (put-file folder "bin/tool.py" (format nil "def tool():~%    pass~%"))
    (put-file folder "packages/build/x.js" "function inBuild() {}")
    (put-file folder "sub/.gitignore" "*.js")
    (put-file folder "sub/no.js" "x")
    (let ((paths (paths (build folder))))
      (dolist (path '("a.js" "keep.gen.js" "src/build/real.js" "bin/tool.py" "packages/build/x.js")) (check (member path paths :test #'string=)))
      (dolist (path '("b.gen.js" "build/out.js" "sub/no.js")) (check (not (member path paths :test #'string=)))))))

(deftest without-git-dependencies-are-left-out
  (with-scratch-folder (folder)
    (put-file folder "src/a.js" "function mine() {}")
    (put-file folder "bin/b.py" (format nil "def also_mine():~%    pass~%"))
    (put-file folder "node_modules/x/index.js" "function theirs() {}")
    (put-file folder "target/y.rs" "fn here() {}")
    (check-equal '("bin/b.py" "src/a.js" "target/y.rs") (paths (build folder)))
    (put-file folder "Cargo.toml" "")
    (check (not (member "target/y.rs" (paths (build folder)) :test #'string=)))))

(deftest excludes-hold-in-full-and-incremental-runs
  (with-repository (folder ("a.js" "x") ("gen/b.js" "x"))
    (let ((index (build folder :excludes '("gen" "*.min.css"))))
      (check-equal '("a.js") (paths index))
      (put-file folder "gen/c.js" "function g() {}")
      (put-file folder "d.js" "function d() {}")
      (check-equal '("a.js" "d.js") (paths (refresh index :excludes '("gen" "*.min.css")))))))

(deftest patterns-as-ctags-takes-them
  (check (glob-match-p "*.js" "a.js"))
  (check (glob-match-p "src/*" "src/a/b.js"))
  (check (glob-match-p "[a-c]?.py" "b1.py"))
  (check (not (glob-match-p "[!a]x" "ax")))
  (check (not (glob-match-p "*.js" "a.jsx")))
  (check (excluded-p "a/node_modules/b.js" '("node_modules")))
  (check (excluded-p "a/b/c.js" '("a/b")))
  (check (not (excluded-p "ab/c.js" '("a")))))

(deftest names-of-every-kind
  (with-repository (folder)
    (let ((names (list "with space.py" "ä b.py" "日本.py" "quote\"d.py" "'single'.py" "-dash.py" (format nil "tab~Ahere.py" #\Tab) (format nil "line~%end.py") "back\\slash.py")))
      (dolist (name names) (put-file folder name (format nil "def here():~%    pass~%")))
      (git folder "add" "-A")
      (let ((index (build folder)))
        (dolist (name names) (check-equal '("here") (tag-names index name)))))))

#+linux
(defun put-latin-file (folder name)
  "An empty file in FOLDER whose NAME is written in Latin-1. macOS and Windows allow no such name."
  (let ((sb-alien::*default-c-string-external-format* :latin-1))
    (sb-unix:unix-close (sb-unix:unix-open (native folder name) (logior sb-unix:o_wronly sb-unix:o_creat) #o644))))

#+linux
(defun remove-latin-file (folder name)
  (let ((sb-alien::*default-c-string-external-format* :latin-1)) (sb-unix:unix-unlink (native folder name))))

#+linux
(deftest files-whose-names-are-no-utf-8-are-listed-as-skipped
  (flet ((names-skipped (index)
           (loop for (path . reason) in (index-skipped index)
                 do (check-equal opl.source.files:*name-unreadable* reason)
                 collect path)))
    (dolist (git '(t nil))
      (with-scratch-folder (folder)
        (when git (git folder "init" "-q"))
        (put-file folder "a\\xE4.py" (format nil "def here():~%    pass~%"))
        (put-latin-file folder "spät.py")
        (put-latin-file folder "spöt.py")
        (let ((index (build folder)))
          (check-equal '("a\\xE4.py") (paths index))
          (check-equal '("sp\\xE4t.py" "sp\\xF6t.py") (names-skipped index))
          (remove-latin-file folder "spät.py")
          (put-latin-file folder "neuß.py")
          (let ((next (refresh index)))
            (check-equal '("neu\\xDF.py" "sp\\xF6t.py") (names-skipped next))
            (check-equal (dump (build folder)) (dump next))))
        ;; SBCL itself cannot delete a folder with such names in it
        (dolist (name '("spät.py" "spöt.py" "neuß.py")) (remove-latin-file folder name))))))

(deftest encodings-of-every-kind
  (with-repository (folder ("plain.py" "def plain():
    pass
"))
    (let ((text (format nil "~%~%~%def found():~%    pass~%")))
      (put-octets folder "bom.py" (concatenate 'vector #(239 187 191) (map 'vector #'char-code text)))
      (put-octets folder "latin.py" (concatenate 'vector #(35 32 228 246 252 10) (map 'vector #'char-code text)))
      (put-octets folder "gbk.py" (concatenate 'vector #(35 32 214 208 206 196 10) (map 'vector #'char-code text)))
      (put-octets folder "wide.py" (concatenate 'vector #(255 254) (loop for c across text append (list (char-code c) 0))))
      (put-octets folder "crlf.py" (loop for c across text append (if (char= c #\Newline) '(13 10) (list (char-code c))))))
    (let ((index (build folder)))
      (dolist (path '("bom.py" "latin.py" "gbk.py" "wide.py" "crlf.py")) (check-equal '("found") (tag-names index path)))
      (check-equal '("plain") (tag-names index "plain.py"))
      (check-equal 4 (opl.index.store:tag-line index (find "crlf.py" (opl.index.store:definition-tags index "found")
                                                          :key (lambda (tag) (opl.index.store:tag-path index tag)) :test #'string=)))
      (check-equal 4 (opl.index.store:tag-line index (find "bom.py" (opl.index.store:definition-tags index "found")
                                                          :key (lambda (tag) (opl.index.store:tag-path index tag)) :test #'string=))))))

(deftest minified-binary-and-huge-files-are-skipped-and-listed
  (with-repository (folder ("a.py" "def here():
    pass
"))
    (put-file folder "big.js" (apply #'concatenate 'string (loop repeat 3000 collect "var a=function(){return 1};")))
    (put-octets folder "data.py" (loop repeat 100 collect 0))
    (put-file folder "package-lock.json" "{}")
    (let* ((index (build folder)) (skipped (index-skipped index)))
      (check-equal '("here") (tag-names index "a.py"))
      (dolist (path '("big.js" "data.py" "package-lock.json")) (check (assoc path skipped :test #'string=))))))

#-win32
(deftest pipes-links-and-cycles-are-not-followed
  (with-repository (folder ("a.py" "def here():
    pass
"))
    (sb-posix:mkfifo (native folder "pipe.py") #o600)
    (sb-posix:symlink "/etc/passwd" (native folder "outside.py"))
    (sb-posix:symlink "." (native folder "cycle"))
    (sb-posix:symlink "a.py" (native folder "inside.py"))
    (sb-posix:symlink "nowhere" (native folder "broken.py"))
    (check-equal '("a.py") (paths (build folder)))))

#-win32
(deftest unreadable-and-vanishing-files-cost-only-themselves
  (with-repository (folder ("a.py" "def here():
    pass
") ("b.py" "def other():
    pass
"))
    (let ((index (build folder)))
      (remove-file folder "b.py")
      (let ((next (refresh index)))
        (check-equal '("here") (tag-names next "a.py"))
        (check-equal :absent (tag-names next "b.py"))))))

(deftest repositories-without-commits-detached-and-bare-files
  (with-scratch-folder (folder)
    (git folder "init" "-q")
    (put-file folder "a.py" (format nil "def untracked():~%    pass~%"))
    (check-equal '("untracked") (tag-names (build folder) "a.py")))
  (with-scratch-folder (folder)
    (check-equal '() (paths (build folder)))
    (put-file folder ".git" "gitdir: /nowhere")
    (put-file folder "a.py" (format nil "def walked():~%    pass~%"))
    (check-equal '("walked") (tag-names (build folder) "a.py")))
  (with-repository (folder ("a.py" "def one():
    pass
"))
    (git folder "checkout" "-q" "--detach")
    (check-equal '("one") (tag-names (build folder) "a.py"))))

(deftest submodules-initialised-and-not
  (with-repository (folder ("a.py" "x = 1"))
    (with-repository (other ("inner.py" "def inside():
    pass
"))
      (git folder "submodule" "add" "-q" (native other) "mod")
      (git folder "commit" "-q" "-m" "sub")
      (check-equal '("inside") (tag-names (build folder) "mod/inner.py"))
      (git folder "submodule" "deinit" "-q" "-f" "mod")
      (check-equal :absent (tag-names (build folder) "mod/inner.py"))
      (check (member "a.py" (paths (build folder)) :test #'string=)))))

(deftest the-home-folder-is-capped-and-said
  (with-scratch-folder (folder)
    (put-file folder "a.py" "x = 1")
    (let ((home (sb-posix:getenv "HOME")))
      (unwind-protect
           (progn (sb-posix:setenv "HOME" (string-right-trim "/" (native folder)) 1)
                  (let ((opl.source.files::*home-limit* 0))
                    (let ((index (build folder)))
                      (check (not (index-complete-p index)))
                      (check (search "no project" (index-reason index))))))
        (sb-posix:setenv "HOME" (or home "/") 1)))))

(deftest a-bare-repository-says-that-it-holds-no-files
  (with-repository (folder ("a.py" "def first(): pass
"))
    (git folder "clone" "-q" "--bare" "." "bare.git")
    (let ((index (build (pathname (format nil "~Abare.git/" (native folder))))))
      (check-equal '() (paths index))
      (check (not (index-complete-p index)))
      (check (search "bare repository" (index-reason index))))))

;;; ctags that are none: small programs named for their fault

(defun script (folder name text)
  (put-file folder name text)
  (sb-posix:chmod (native folder name) #o755)
  (native folder name))

#-win32
(deftest other-ctags-are-told-with-what-mends-it
  (with-scratch-folder (folder)
    (flet ((advice (program) (nth-value 1 (check-ctags program))))
      (check (search "BSD" (advice (script folder "bsd-ctags" (format nil "#!/bin/sh~%echo 'ctags: illegal option -- -' >&2~%exit 1~%")))))
      (check (search "Exuberant" (advice (script folder "exuberant-ctags" (format nil "#!/bin/sh~%echo 'Exuberant Ctags 5.8'~%")))))
      (check (search "not installed" (advice (native folder "no-ctags"))))
      (check (search "universal-ctags" (advice (native folder "no-ctags")))))
    (check (check-ctags "ctags"))))

;; A start does not run ctags for its version while the program is the same file; a script may call another program tomorrow.
#-win32
(deftest a-ctags-is-known-by-its-file
  (let ((mark (opl.index.ctags:program-mark "ctags")))
    (check (or (null mark) (and (equal mark (opl.index.ctags:program-mark "ctags")) (eql 0 (position #\/ (first mark)))))))
  (with-scratch-folder (folder)
    (check-equal nil (opl.index.ctags:program-mark (script folder "wrapper" (format nil "#!/bin/sh~%exec ctags \"$@\"~%"))))
    (check-equal nil (opl.index.ctags:program-mark (native folder "none")))
    (put-octets folder "program" '(127 69 76 70 1))
    (check-equal nil (opl.index.ctags:program-mark (native folder "program")))
    (sb-posix:chmod (native folder "program") #o755)
    (let ((mark (opl.index.ctags:program-mark (native folder "program"))))
      (check-equal 5 (second mark))
      (put-octets folder "program" '(127 69 76 70 1 2))
      (check (not (equal mark (opl.index.ctags:program-mark (native folder "program"))))))))

#-win32
(deftest options-the-user-keeps-for-ctags-are-left-aside
  (with-repository (folder ("a.c" "int answer(void) { return 42; }
") (".ctags.d/own.ctags" "--no-such-option=1
"))
    (let ((home (sb-posix:getenv "HOME")))
      (unwind-protect
           (progn (sb-posix:setenv "HOME" (string-right-trim "/" (native folder)) 1)
                  (check (check-ctags "ctags")))
        (sb-posix:setenv "HOME" (or home "/") 1)))
    (check-equal '("answer") (tag-names (build folder) "a.c"))))

#-win32
(deftest a-ctags-that-hangs-on-one-file-costs-that-file
  (with-scratch-folder (bin)
    (let ((ctags (script bin "hangs-on-one-file"
                         (format nil "#!/bin/sh~%list=$(cat)~%case \"$list\" in *stuck*) sleep 600;; esac~%printf '%s\\n' \"$list\" | ctags \"$@\"~%"))))
      (with-repository (folder ("one.sh" "one() { :; }
") ("stuck.sh" "two() { :; }
") ("three.sh" "three() { :; }
"))
        (put-file folder "x.tcl" "proc fromCtags {} {}")
        (put-file folder "stuck.tcl" "proc lost {} {}")
        (put-file folder "z.tcl" "proc alsoFound {} {}")
        (let* ((usual opl.index.ctags::*batch-seconds*)
               (index (unwind-protect (progn (setf opl.index.ctags::*batch-seconds* 2) (build folder :ctags ctags))
                        (setf opl.index.ctags::*batch-seconds* usual))))
          (check-equal '("fromCtags") (tag-names index "x.tcl"))
          (check-equal '("alsoFound") (tag-names index "z.tcl"))
          (check (assoc "stuck.tcl" (index-skipped index) :test #'string=)))))))

(deftest the-users-ctags-options-do-not-count
  (with-repository (folder ("a.tcl" "proc here {} {}") (".ctags.d/x.ctags" "--this-is-no-option
"))
    (check-equal '("here") (tag-names (build folder) "a.tcl"))))
