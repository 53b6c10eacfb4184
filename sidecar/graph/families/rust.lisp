;;;; Rust: crates of a workspace, modules as files or inline, paths through crate, self and super, impl blocks away
;;;; from their type, traits as parents, smart pointers seen through, Option and Result unwrapped.

(defpackage #:opl.graph.families.rust
  (:use #:cl #:opl.source.facts #:opl.graph.world #:opl.graph.family #:opl.graph.values #:opl.graph.types)
  (:import-from #:opl.source.names #:+none+ #:known #:find-name))
(in-package #:opl.graph.families.rust)

(declaim (optimize (speed 1) (safety 1)))

;;; Crates and modules

(defun rust-file (world path)
  (let ((file (world-file-number world path))) (and file (world-run world file) file)))

(defun join (directory name) (if (string= directory "") name (format nil "~A/~A" directory name)))

(defun crates (world)
  "The crates of the repository: list of (name . directory), dashes in names turned to underscores."
  (remembered (world :rust-crates)
    (let ((found '()))
      (do-world-files (file) (world)
        (when (and (eq (world-family world file) :cargo) (world-run world file))
          (do-marks (value more) ((world-run world file) (known "crate"))
            (push (cons (substitute #\_ #\- (name-text world value)) (directory-of (world-path world file))) found))))
      (nreverse found))))

(defun root-of-crate (world directory)
  "The root file of the crate in DIRECTORY: its library, else its program."
  (or (rust-file world (join directory "src/lib.rs")) (rust-file world (join directory "src/main.rs"))))

(defun crate-directory (world file)
  "The directory of the crate that FILE belongs to: the nearest above it that has a src/lib.rs or src/main.rs."
  (remembered (world :rust-crate-of file)
    (loop for directory = (directory-of (world-path world file)) then (directory-of directory)
          do (when (root-of-crate world directory) (return directory))
             (when (string= directory "") (return nil)))))

(defun crate-root (world file)
  "The file that `crate' means in FILE: of a test, example or program of several the file itself."
  (let* ((directory (crate-directory world file)) (path (world-path world file))
         (inside (and directory (let ((prefix (join directory "src/")))
                                  (and (> (length path) (length prefix)) (string= prefix path :end2 (length prefix)))))))
    (if inside
        (let ((main (rust-file world (join directory "src/main.rs"))) (lib (rust-file world (join directory "src/lib.rs"))))
          (if (and main (or (= file main) (null lib))) main lib))
        (root-of-files world file))))

(defun root-of-files (world file)
  "The root of a crate that is no library: climbs from module to parent as far as there is one."
  (loop repeat 20
        for parent = (parent-module world file)
        while parent do (setf file parent))
  file)

(defun stem (path)
  (let* ((slash (position #\/ path :from-end t)) (name (subseq path (if slash (1+ slash) 0))) (dot (position #\. name)))
    (subseq name 0 dot)))

(defun module-directory (world file)
  "Where the files of FILE's child modules are."
  (let* ((path (world-path world file)) (stem (stem path)) (directory (directory-of path)))
    (if (or (member stem '("lib" "main" "mod" "build") :test #'string=) (not (declared-module-p world file)))
        directory
        (join directory stem))))

(defun declared-module-p (world file)
  "Whether FILE is some other file's module, not the root of a crate."
  (let* ((path (world-path world file)) (directory (directory-of path)))
    (or (rust-file world (join directory "mod.rs")) (rust-file world (join directory "lib.rs")) (rust-file world (join directory "main.rs"))
        (rust-file world (format nil "~A.rs" directory)))))

(defun parent-module (world file)
  "The file of the module that FILE is a child of, or nil."
  (let* ((path (world-path world file)) (stem (stem path)) (directory (directory-of path)))
    (when (member stem '("lib" "main") :test #'string=) (return-from parent-module nil))
    (let ((directory (if (string= stem "mod") (directory-of directory) directory)))
      (flet ((other (name) (let ((f (rust-file world (join directory name)))) (and f (/= f file) f))))
        (or (other "mod.rs") (other "lib.rs") (other "main.rs")
            (let ((f (rust-file world (format nil "~A.rs" directory)))) (and f (/= f file) f))
            (declaring-file world file directory stem))))))

(defun declaring-file (world file directory stem)
  "A file of DIRECTORY, the root of a test or program of its own, that says `mod STEM;'."
  (remembered (world :rust-declaring file)
    (block search
      (let ((name (find-name (world-names world) stem)))
        (do-files-in-directory (other) (world directory)
          (let ((run (world-run world other)))
            (when (and run (/= other file) (eq (world-family world other) :rust))
              (dotimes (import (import-count run))
                (when (and (eql name (import-module run import)) (logtest +relative+ (import-flags run import)))
                  (return-from search other))))))))))

(defun child-module (world file name)
  (let ((directory (module-directory world file)))
    (or (rust-file world (join directory (format nil "~A.rs" name)))
        (rust-file world (join directory (format nil "~A/mod.rs" name))))))

;;; Paths

(defun split-path (text)
  (loop with start = 0
        for colon = (search "::" text :start2 start)
        collect (subseq text start colon)
        while colon do (setf start (+ colon 2))))

(defun module-value (file) (make-value :module :file file))

(defun head-value (world file name)
  "What the first part NAME of a path means in FILE: a value, or nil when it is from outside."
  (cond ((string= name "crate") (let ((root (crate-root world file))) (and root (module-value root))))
        ((string= name "self") (module-value file))
        ((string= name "super") (let ((parent (parent-module world file))) (module-value (or parent file))))
        (t (let ((crate (assoc name (crates world) :test #'string=)))
             (if crate
                 (let ((root (root-of-crate world (cdr crate)))) (and root (module-value root)))
                 (let ((number (find-name (world-names world) name)))
                   (and number (local-head world file number))))))))

(defun local-head (world file name)
  "A module or type of FILE itself that begins a path."
  (let* ((view (view-of world file)) (run (view-run view)))
    (do-bindings-named (binding) (view 0 name)
      (cond ((and (= (binding-kind run binding) +imported+)
                  (logtest +relative+ (import-flags run (binding-target run binding))))
             (let ((child (child-module world file (name-text world name)))) (return (and child (module-value child)))))
            ((= (binding-kind run binding) +defined+)
             (return (tag-value world (make-tag file (binding-target run binding)))))
            ;; a name that another `use' binds
            ((= (binding-kind run binding) +imported+)
             (return (meaning-value world (import-meaning world file (binding-target run binding)))))))))

(defvar *following* '() "Paths being followed, to cut circles of `use'.")

(defun path-value (world file text)
  "The module or type that the path TEXT of a `use' in FILE leads to, or nil."
  (let ((key (cons file text)))
    (unless (or (member key *following* :test #'equal) (> (length *following*) 20))
      (let* ((*following* (cons key *following*)) (parts (split-path text)) (value (head-value world file (first parts))))
        (dolist (part (rest parts) value)
          (let ((name (find-name (world-names world) part)))
            (setf value (cond ((or (null value) (null name)) (return nil))
                              ((string= part "super")
                               (let ((parent (and (value-is value :module) (parent-module world (value-file value)))))
                                 (and parent (module-value parent))))
                              ((and (value-is value :module) (declared-child world (value-file value) name)))
                              (t (meaning-value world (values (locate-member world value name))))))))))))

(defun declared-child (world file name)
  "The module NAME that FILE declares by `mod name;', whatever else bears that name there, or nil."
  (let* ((view (view-of world file)) (run (view-run view)))
    (do-bindings-named (binding) (view 0 name)
      (when (and (= (binding-kind run binding) +imported+) (logtest +relative+ (import-flags run (binding-target run binding))))
        (let ((child (child-module world file (name-text world name)))) (return (and child (module-value child))))))))

(defun import-module-of (world file import)
  (let* ((run (world-run world file)) (text (name-text world (import-module run import))))
    (if (logtest +relative+ (import-flags run import))
        (or (child-module world file text) :external)
        (if (string= text "")
            (whole-crate world (import-name run import))
            (let ((value (path-value world file text)))
              (cond ((null value) :external)
                    ((value-is value :module) (value-file value))
                    (t (cons :package (cons file text)))))))))

(defun whole-crate (world name)
  "`use name;': a crate of the workspace under its own name."
  (let ((crate (assoc (name-text world name) (crates world) :test #'string=))) (if crate (cons :package (cons :crate (car crate))) :external)))

(defun member-of-package (world package name)
  (let ((place (value-name package)))
    (if (eq (car place) :crate)
        (let ((root (root-of-crate world (cdr (assoc (cdr place) (crates world) :test #'string=))))) (and root (module-value root)))
        (let ((value (path-value world (car place) (cdr place))))
          (and value (values (locate-member world value name)))))))

(defun macro-named (world file name)
  "The macro NAME of FILE's crate, or the only one of the workspace."
  (let ((crate (crate-directory world file)) (near nil) (far '()))
    (do-named (tag) (world name)
      (when (and (= (tag-kind world tag) (known "macro")) (eq (world-family world (tag-file tag)) :rust))
        (if (equal crate (crate-directory world (tag-file tag))) (unless near (setf near tag)) (push tag far))))
    (or near (and (null (rest far)) (first far)))))

(defun outer-name-of (world file name mode)
  (let ((run (world-run world file)) (text (name-text world name)))
    (or (and (member text '("crate" "super" "self") :test #'string=) (head-value world file text))
        (dotimes (import (import-count run))
          (when (and (logtest +star+ (import-flags run import)) (= (import-name run import) (known "*")))
            (let* ((target (star-target world file import))
                   (meaning (cond ((integerp target) (exported-meaning world target name))
                                  (target (values (locate-member world target name))))))
              (when meaning (return meaning)))))
        (let ((crate (assoc text (crates world) :test #'string=)))
          (and crate (let ((root (root-of-crate world (cdr crate)))) (and root (module-value root)))))
        (and (eq mode :expression) (macro-named world file name)))))

(defun star-target (world file import)
  (remembered (world :rust-star file import)
    (let ((value (path-value world file (name-text world (import-module (world-run world file) import)))))
      (cond ((null value) nil) ((value-is value :module) (if (= (value-file value) file) nil (value-file value))) (t value)))))

;;; Members and traits written away from the type

(defun impl-table (world)
  "Methods and traits of impl blocks whose type is not in their file: type name, method name -> tags; type name -> (file . node)."
  (remembered (world :rust-impls)
    (let ((methods (make-hash-table)) (traits (make-hash-table)))
      (do-world-files (file) (world)
        (let ((run (world-run world file)))
          (when (and run (eq (world-family world file) :rust))
            (do-marks (type def) (run (known "receiver"))
              (when (= (def-parent run def) +none+)
                (push (make-tag file def) (gethash (logior (ash type 32) (def-name run def)) methods))))
            (do-marks (type node) (run (known "implements"))
              (push (cons file node) (gethash type traits))))))
      (cons methods traits))))

(defun extra-members-of (world tag name)
  (remove-if-not (lambda (other) (equal (crate-directory world (tag-file other)) (crate-directory world (tag-file tag))))
                 (gethash (logior (ash (tag-name world tag) 32) name) (car (impl-table world)))))

(defun extra-heritage-of (world tag)
  (let ((found '()))
    (loop for (file . node) in (gethash (tag-name world tag) (cdr (impl-table world)))
          do (when (equal (crate-directory world file) (crate-directory world (tag-file tag)))
               (let ((trait (value-tag (type-value world file node)))) (when (and trait (/= trait tag)) (pushnew trait found)))))
    found))

;;; The library

(defparameter *transparent* '("Box" "Rc" "Arc" "Ref" "RefMut" "Cow" "Pin" "MutexGuard" "RwLockReadGuard" "RwLockWriteGuard" "ManuallyDrop")
  "Types that give access to what they hold as if they were it.")

(defun builtin (name &rest arguments) (make-value :builtin :file :rust :name name :arguments arguments))

(defun applied (world name arguments)
  (if (and arguments (member (name-text world name) *transparent* :test #'string=))
      (car (last arguments))
      (and arguments (apply #'builtin name arguments))))

(defun called (world value name argument)
  "What method NAME of the library type VALUE gives."
  (declare (ignorable argument))
  (when (value-is value :builtin)
    (let* ((arguments (value-arguments value)) (first (first arguments)) (last (car (last arguments))) (method (name-text world name))
           (type (name-text world (value-name value))))
      (flet ((is (&rest names) (member method names :test #'string=)))
        (cond ((null arguments) nil)
              ((is "unwrap" "expect" "unwrap_or" "unwrap_or_default" "unwrap_or_else" "borrow" "borrow_mut" "into_inner" "get_mut" "take" "next" "next_back"
                   "pop" "pop_front" "pop_back" "remove" "swap_remove" "load" "deref" "as_deref" "unwrap_unchecked")
               (if (member type '("HashMap" "BTreeMap") :test #'string=) last first))
              ((is "get" "first" "last" "front" "back" "peek" "nth" "find" "min" "max" "first_mut" "last_mut" "min_by_key" "max_by_key" "max_by" "min_by" "reduce")
               (if (member type '("HashMap" "BTreeMap") :test #'string=) last first))
              ((is "lock" "read" "write" "try_lock") first)
              ((is "iter" "iter_mut" "into_iter" "drain" "filter" "rev" "skip" "take_while" "skip_while" "cloned" "copied" "peekable" "chain" "clone" "as_ref" "as_mut"
                   "to_vec" "ok" "collect" "by_ref" "step_by" "inspect" "or" "or_else" "map_err" "ok_or" "ok_or_else" "to_owned" "as_slice" "windows" "chunks")
               value)
              ((is "values" "values_mut" "into_values") (builtin (value-name value) last))
              ((is "keys" "into_keys") (builtin (value-name value) first))
              ((is "insert" "get_or_insert_with" "entry" "or_insert_with" "or_insert" "or_default") last))))))

(defun callback-parameter (world value name argument parameter)
  (declare (ignorable argument))
  (let ((arguments (value-arguments value)) (method (name-text world name)))
    (and arguments (zerop parameter)
         (member method '("map" "for_each" "filter" "filter_map" "flat_map" "any" "all" "find" "position" "and_then" "is_some_and" "map_or" "max_by_key"
                          "min_by_key" "sort_by_key" "retain" "take_while" "skip_while" "inspect" "partition" "map_while" "sort_by" "unwrap_or_else")
                 :test #'string=)
         (first arguments))))

(defun accepts-p (world file site tag rule)
  (let ((kind (tag-kind world tag)) (how (site-how (world-run world file) site)))
    (cond ((eq rule :alias) nil)
          ((= how +macro+) (= kind (known "macro")))
          (t (or (= kind (known "function")) (= kind (known "method")) (= kind (known "struct")))))))

(define-family :rust
  :import-module #'import-module-of
  :outer-name #'outer-name-of
  :package-member #'member-of-package
  :extra-members #'extra-members-of
  :extra-heritage #'extra-heritage-of
  :accepts #'accepts-p
  :apply-builtin #'applied
  :builtin-call #'called
  :builtin-callback #'callback-parameter
  :all-exported t
  :guess nil)
