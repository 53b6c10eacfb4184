;;;; The repository's files: git's list where there is git (tracked, and untracked but not ignored), a walk
;;;; with defaults where there is none. Links are not followed: what they point to inside the root is listed
;;;; under its own name, what lies outside is never read.

(defpackage #:opl.source.files
  (:use #:cl #:opl.source.octets)
  (:import-from #:opl.source.names #:octets #:octets-string)
  (:import-from #:opl.wire.children #:with-child)
  (:export #:listing #:listing-paths #:listing-folders #:listing-source #:listing-reason #:listing-skipped #:*name-unreadable*
           #:rule-file-p #:listed-native #:*rule-files* #:list-files #:excluded-p #:glob-match-p #:git-output #:listed-names))
(in-package #:opl.source.files)

(defconstant +file-limit+ 400000
  "Files at most in one index: five times the Linux kernel. Beyond it the index says that it is partial.")
(defvar *home-limit* 20000
  "Files at most when the root is the home folder or the file system's root: nobody means all of it.")

(defparameter *name-unreadable* "its name is not UTF-8; rename it to have it indexed"
  "Why a file is left out that cannot be named on the wire.")

(defstruct listing
  (paths '() :type list)                ; relative, sorted
  (folders '() :type list)              ; relative; "" is the root. Where a file may appear unseen by others' times; and rule files
  (source :git :type (member :git :walk))
  (reason nil)                          ; why the list is partial, or nil
  (skipped '() :type list))             ; (path . reason), sorted by path: listed, and never to be read

;;; Patterns, as ctags --exclude takes them: with `*' `?' `[a-z]'; tried on the whole path and on each name in it

(defun class-end (pattern i)
  (position #\] pattern :start (min (length pattern) (+ i (if (and (< (1+ i) (length pattern)) (find (char pattern (1+ i)) "!^")) 3 2)))))

(defun glob-match-p (pattern text &optional (i 0) (j 0))
  "Whether all of TEXT from J on matches PATTERN from I on. `*' crosses slashes, as in fnmatch(3) without flags."
  (declare (type string pattern text) (type fixnum i j))
  (loop
    (when (= i (length pattern)) (return (= j (length text))))
    (let ((c (char pattern i)))
      (case c
        (#\* (loop while (and (< (1+ i) (length pattern)) (char= (char pattern (1+ i)) #\*)) do (incf i))
         (when (= (1+ i) (length pattern)) (return t))
         (return (loop for k from j to (length text) thereis (glob-match-p pattern text (1+ i) k))))
        (#\? (when (= j (length text)) (return nil)) (incf i) (incf j))
        (#\[ (let ((end (class-end pattern i)))
               (cond ((= j (length text)) (return nil))
                     ((null end) (unless (char= c (char text j)) (return nil)) (incf i) (incf j))
                     (t (let* ((negated (find (char pattern (1+ i)) "!^")) (k (if negated (+ i 2) (1+ i))) (hit nil))
                          (loop while (< k end)
                                do (if (and (< (+ k 2) end) (char= (char pattern (1+ k)) #\-))
                                       (progn (when (char<= (char pattern k) (char text j) (char pattern (+ k 2))) (setf hit t))
                                              (incf k 3))
                                       (progn (when (char= (char pattern k) (char text j)) (setf hit t)) (incf k))))
                          (when (eq hit (not (null negated))) (return nil))
                          (setf i (1+ end)) (incf j))))))
        (t (unless (and (< j (length text)) (char= c (char text j))) (return nil))
         (incf i) (incf j))))))

(defun excluded-p (path patterns)
  "Whether one of PATTERNS matches PATH, one of the folders it stands in, or one of the names in it."
  (and patterns
       (loop for start = 0 then (1+ slash)
             for slash = (position #\/ path :start start)
             for name = (subseq path start slash)
             thereis (loop for pattern in patterns
                           thereis (let ((pattern (string-right-trim "/" pattern)))
                                     (or (glob-match-p pattern name)
                                         (glob-match-p pattern (subseq path 0 (or slash (length path)))))))
             while slash)))

;;; git

(defun git-output (root arguments &key (limit (* 256 1024 1024)))
  "The octets that git prints for ARGUMENTS in ROOT and its exit status; nil when git cannot be run. Never takes
git's locks, asks nothing, reads at most LIMIT octets."
  (let ((buffer (make-octet-buffer)))
    (handler-case
        (with-child (child "git" (list* "-C" root "--no-optional-locks" "-c" "core.quotepath=off" "-c" "core.fsmonitor=false" arguments)
                           :input nil :output :stream :error nil
                           :environment (list* "GIT_TERMINAL_PROMPT=0" "LC_ALL=C" "GIT_OPTIONAL_LOCKS=0"
                                               (remove-if (lambda (entry)
                                                            (or (eql 0 (search "GIT_DIR=" entry)) (eql 0 (search "GIT_WORK_TREE=" entry))
                                                                (eql 0 (search "GIT_INDEX_FILE=" entry)) (eql 0 (search "LC_ALL=" entry))))
                                                          (sb-ext:posix-environ))))
          (let ((fd (sb-sys:fd-stream-fd (sb-ext:process-output child))))
            (opl.source.octets:read-descriptor fd buffer limit)
            (sb-ext:process-wait child)
            (values (subseq (octet-buffer-octets buffer) 0 (octet-buffer-size buffer))
                    (sb-ext:process-exit-code child))))
      (error () nil))))

(defun split-names (octets)
  "The names in OCTETS, each ended by NUL."
  (loop with start = 0
        for end = (position 0 octets :start start)
        while end
        collect (octets-name octets :start start :end end)
        do (setf start (1+ end))))

(defun unreadable-name-p (root path)
  "Whether PATH, listed below ROOT, is how `octets-name' spells a name that is no UTF-8."
  (and (search "\\x" path) (not (file-state (native-join root path)))))

(defun git-names (root)
  "Names that git lists below ROOT, or :none where it lists none because this is no repository. A name that ends in / is
a repository of its own."
  (multiple-value-bind (output status)
      (git-output root '("ls-files" "-z" "--cached" "--others" "--exclude-standard"))
    (if (and output (eql status 0)) (split-names output) :none)))

(defun nested-p (root path)
  "Whether PATH lies in a repository of its own within ROOT."
  (loop for slash = (position #\/ path :from-end t) then (position #\/ path :end slash :from-end t)
        while slash
        thereis (file-state (native-join root (concatenate 'string (subseq path 0 slash) "/.git")))))

(defun listed-names (root paths)
  "Those of PATHS that git lists below ROOT; :unknown where git does not say: asked about a path of another repository within
this one, it says nothing at all."
  (if (some (lambda (path) (nested-p root path)) paths)
      :unknown
      (multiple-value-bind (output status)
          (git-output root (list* "--literal-pathspecs" "ls-files" "-z" "--cached" "--others" "--exclude-standard" "--" paths))
        (if (and output (eql status 0))
            (let ((names (split-names output))) (remove-if-not (lambda (path) (member path names :test #'string=)) paths))
            :unknown))))

;;; What decides what git lists, besides the files and folders: its index, and a list of ignored names of its own

(defparameter *rule-files* '("index" "exclude") "Names of the files in git's folder that change what it lists.")

(defun rule-file-p (name)
  "Whether NAME, of a listing's folders, is a file that decides what is listed: these have absolute names."
  (and (plusp (length name)) (char= #\/ (char name 0))))

(defun listed-native (root name)
  "The native name of NAME, one of a listing's folders or a file of rules, below ROOT."
  (if (rule-file-p name) name (native-join root name)))

(defun first-line (name)
  "The first line of the small file NAME, or nil."
  (let ((buffer (make-octet-buffer)))
    (when (read-octets-into buffer name 4096)
      (octets-string (octet-buffer-octets buffer)
                     :end (or (position 10 (octet-buffer-octets buffer) :end (octet-buffer-size buffer)) (octet-buffer-size buffer))))))

(defun git-folder (root)
  "Where git keeps the index of the work tree that ROOT lies in, an absolute name, or nil."
  (loop for folder = root then (subseq folder 0 (position #\/ folder :from-end t))
        for name = (concatenate 'string (string-right-trim "/" folder) "/.git")
        do (case (file-state name)
             (:folder (return name))
             (:link (return (real-path name)))
             (:regular (let ((line (first-line name)))
                         (return (and line (eql 0 (search "gitdir: " line))
                                      (let ((to (subseq line 8)))
                                        (real-path (if (rule-file-p to) to (concatenate 'string folder "/" to)))))))))
        until (member folder '("" "/") :test #'string=)))

(defun rule-files (root)
  "The files besides .gitignore that decide what git lists of ROOT."
  (let ((git (git-folder root)))
    (when git
      (let* ((line (first-line (concatenate 'string git "/commondir")))
             (shared (cond ((null line) git) ((rule-file-p line) line) (t (real-path (concatenate 'string git "/" line))))))
        (list (concatenate 'string git "/index") (concatenate 'string shared "/info/exclude"))))))

(defun nested-names (root name)
  "What the repository NAME within ROOT lists, its names made relative to ROOT; nil when it has none of its own."
  (let* ((folder (native-join root name)))
    (when (file-state (native-join folder ".git"))
      (let ((names (git-names folder)))
        (unless (eq names :none)
          (loop for inner in names collect (concatenate 'string name "/" inner)))))))

(defun git-paths (root names)
  "NAMES and, in place of nested repositories (submodules, other checkouts), what these list themselves; and the folders of these."
  (let ((paths (make-hash-table :test 'equal :size (max 64 (length names)))) (queue names) (depth 0) (nested '()))
    (loop while (and queue (< depth 8))
          do (let ((next '()))
               (dolist (name queue)
                 (let ((plain (string-right-trim "/" name)))
                   (if (or (/= (length plain) (length name)) (eq (file-state (native-join root plain)) :folder))
                       (unless (string= plain "")
                         (push plain nested)
                         (setf next (nconc (nested-names root plain) next)))
                       (setf (gethash plain paths) t))))
               (setf queue next)
               (incf depth)))
    (values (loop for path being the hash-keys of paths collect path) nested)))

;;; Without git

(defparameter *never-walked*
  '(".git" ".hg" ".svn" ".bzr" "CVS" "node_modules" "bower_components" "jspm_packages" "__pycache__" ".venv" ".tox" ".nox"
    ".mypy_cache" ".pytest_cache" ".ruff_cache" ".eggs" ".gradle" ".idea" ".vscode" ".cache" ".next" ".nuxt" ".svelte-kit"
    ".terraform" ".dart_tool" ".pub-cache" ".stack-work" ".cargo" ".rustup" ".npm" ".yarn" ".pnpm-store" "site-packages"
    "Library" "AppData")
  "Folders of tools and dependencies that no project keeps its own source in. `build', `target', `bin' and `vendor' are not
among them: real code lives there.")

(defun build-output-p (folder name)
  "Whether the folder NAME in FOLDER was made by a build: it has the tool's mark, or the project file beside it."
  (flet ((there (path) (file-state (native-join folder path))))
    (cond ((string= name "target") (and (or (there "Cargo.toml") (there "pom.xml")) t))
          ((member name '("venv" "env") :test #'string=) (and (there (concatenate 'string name "/pyvenv.cfg")) t))
          ((member name '("dist" "build") :test #'string=) (and (or (there "package.json") (there "setup.py") (there "pyproject.toml")) t)))))

(defun walk-paths (root limit)
  "Paths below ROOT by looking: paths, whether the walk was cut at LIMIT."
  (let ((paths '()) (count 0) (queue (list "")))
    (loop while queue
          do (let* ((folder (pop queue)) (native (native-join root folder)))
               (dolist (name (sort (directory-entries native) #'string<))
                 (let* ((path (if (string= folder "") name (concatenate 'string folder "/" name)))
                        (state (file-state (native-join root path))))
                   (case (if (and (null state) (unreadable-name-p root path)) :regular state)
                     (:regular (push path paths)
                      (when (> (incf count) limit) (return-from walk-paths (values paths t))))
                     (:folder
                      (unless (or (member name *never-walked* :test #'string=) (build-output-p native name))
                        (setf queue (nconc queue (list path))))))))))
    (values paths nil)))

;;; Together

(defun folder-of (path) (subseq path 0 (or (position #\/ path :from-end t) 0)))

(defun folders-of (root paths)
  "Every folder that holds one of PATHS, those above it, and the folders directly inside these: a file that
appears in any of them changes its time."
  (let ((known (make-hash-table :test 'equal)) (inner '()))
    (setf (gethash "" known) t)
    (dolist (path paths)
      (loop for folder = (folder-of path) then (folder-of folder)
            until (gethash folder known)
            do (setf (gethash folder known) t)))
    (loop for folder being the hash-keys of known
          do (dolist (name (directory-entries (native-join root folder)))
               (let ((path (if (string= folder "") name (concatenate 'string folder "/" name))))
                 (unless (or (gethash path known) (string= name ".git") (member name *never-walked* :test #'string=))
                   (when (eq (file-state (native-join root path)) :folder) (push path inner))))))
    (nconc inner (loop for folder being the hash-keys of known collect folder))))

(defun limit-of (root)
  (let ((home (sb-posix:getenv "HOME")))
    (if (or (string= root "/") (and home (string= root (string-right-trim "/" home)))) *home-limit* +file-limit+)))

(defun bare-p (root)
  "Whether ROOT is a repository without a work tree: what git keeps of files is no source."
  (flet ((there (name kind) (eq kind (file-state (native-join root name)))))
    (and (there "HEAD" :regular) (there "objects" :folder) (there "refs" :folder) (there "config" :regular))))

(defun list-files (root excludes)
  "The listing of ROOT (a native name without links) less what EXCLUDES match."
  (let* ((limit (limit-of root)) (names (if (= limit *home-limit*) :none (git-names root))) (listing (make-listing)))
    (multiple-value-bind (paths cut nested)
        (if (eq names :none)
            (walk-paths root limit)
            (multiple-value-bind (paths nested) (git-paths root names) (values paths nil nested)))
      (when (eq names :none) (setf (listing-source listing) :walk))
      (when (and (eq names :none) (bare-p root))
        (setf paths '() (listing-reason listing) (format nil "~A is a bare repository; give a work tree of it with --root." root)))
      (when excludes (setf paths (delete-if (lambda (path) (excluded-p path excludes)) paths)))
      (setf paths (sort paths #'string<)
            (listing-skipped listing) (loop for path in paths when (unreadable-name-p root path) collect (cons path *name-unreadable*))
            paths (delete-if (lambda (path) (unreadable-name-p root path)) paths))
      (when (or cut (> (length paths) limit))
        (setf paths (subseq paths 0 (min limit (length paths)))
              (listing-reason listing)
              (if (= limit *home-limit*)
                  (format nil "~A is no project: only its first ~:D files are indexed; start in a project's folder or give --root." root limit)
                  (format nil "only the first ~:D files are indexed; leave folders out with OPL_CTAGS_EXCLUDES." limit))))
      (setf (listing-paths listing) paths
            (listing-folders listing)
            (nconc (unless (eq names :none)
                     (append (rule-files root) (loop for folder in nested append (rule-files (native-join root folder)))))
                   (folders-of root paths))))
    listing))
