;;;; Where JavaScript and TypeScript modules are: relative paths with their extensions, path aliases of tsconfig and
;;;; jsconfig, packages of the workspace with their `exports', all read from marks (languages/script-config.lisp).

(defpackage #:opl.graph.families.script-modules
  (:use #:cl #:opl.source.facts #:opl.graph.world)
  (:import-from #:opl.source.names #:+none+)
  (:export #:script-module #:declaration-twin #:declarations-p))
(in-package #:opl.graph.families.script-modules)

(declaim (optimize (speed 1) (safety 1)))

(defun join-path (directory path)
  "PATH, relative to DIRECTORY, without `.' and `..'; nil when it leaves the root."
  (let ((parts '()))
    (flet ((add (text)
             (loop with start = 0
                   for slash = (position #\/ text :start start)
                   for part = (subseq text start (or slash (length text)))
                   do (cond ((or (string= part "") (string= part ".")))
                            ((string= part "..") (if parts (pop parts) (return-from join-path nil)))
                            (t (push part parts)))
                   while slash do (setf start (1+ slash)))))
      (add directory)
      (add path))
    (format nil "~{~A~^/~}" (reverse parts))))

(defparameter *extensions*
  '(".ts" ".tsx" ".d.ts" ".mts" ".cts" ".d.mts" ".d.cts" ".js" ".jsx" ".mjs" ".cjs" ".vue" ".svelte")
  "In the order in which TypeScript looks.")

(defparameter *written-for*
  '((".js" ".ts" ".tsx" ".d.ts") (".jsx" ".tsx" ".d.ts") (".mjs" ".mts" ".d.mts") (".cjs" ".cts" ".d.cts"))
  "An extension that is imported, and those of the files it is compiled of.")

(defun ends-with (text end)
  (let ((start (- (length text) (length end)))) (and (>= start 0) (string= end text :start2 start))))

(defun code-file (world path)
  "The number of the module at PATH exactly, or nil."
  (let ((file (world-file-number world path))) (and file (eq (world-family world file) :script) file)))

(defparameter *twins* '((".js" . ".d.ts") (".jsx" . ".d.ts") (".mjs" . ".d.mts") (".cjs" . ".d.cts"))
  "Extensions of code, and of what declares its types.")

(defun declarations-p (world file)
  "Whether FILE declares types and has no code."
  (loop for (nil . extension) in *twins* thereis (ends-with (world-path world file) extension)))

(defun declaration-twin (world file)
  "The .d.ts beside the JavaScript file FILE, the JavaScript beside a .d.ts; nil when there is none."
  (let ((path (world-path world file)))
    (loop for (code . declared) in *twins*
          do (flet ((twin (from to)
                      (and (ends-with path from)
                           (code-file world (concatenate 'string (subseq path 0 (- (length path) (length from))) to)))))
               (let ((file (or (twin code declared) (twin declared code)))) (when file (return file)))))))

(defun find-module (world path &optional (depth 0))
  "The file that importing PATH, relative to the root, without or with an extension, leads to; nil when there is none."
  (or (code-file world path)
      (loop for (written . sources) in *written-for*
            do (when (ends-with path written)
                 (let ((stem (subseq path 0 (- (length path) (length written)))))
                   (dolist (source sources)
                     (let ((file (code-file world (concatenate 'string stem source)))) (when file (return-from find-module file)))))))
      (loop for extension in *extensions*
            thereis (code-file world (concatenate 'string path extension)))
      (and (< depth 2)
           (or (let ((package (package-file world path))) (and package (package-main world package (1+ depth))))
               (loop for extension in *extensions*
                     thereis (code-file world (join-path path (concatenate 'string "index" extension))))))))

;;; Marks of a configuration file

(defun config-values (world file &rest keys)
  "Values of the marks of FILE whose path of keys is KEYS, in order."
  (let ((wanted (format nil (concatenate 'string "~{~A~^" (string #\Newline) "~}") keys)) (run (world-run world file)) (found '()))
    (dotimes (i (mark-count run))
      (when (string= wanted (name-text world (mark-key run i)))
        (push (name-text world (mark-value run i)) found)))
    (nreverse found)))

(defun config-under (world file &rest keys)
  "List of (rest-of-the-path . value) of the marks of FILE below KEYS."
  (let ((prefix (format nil (concatenate 'string "~{~A" (string #\Newline) "~}") keys)) (run (world-run world file)) (found '()))
    (dotimes (i (mark-count run))
      (let ((key (name-text world (mark-key run i))))
        (when (eql 0 (search prefix key))
          (push (cons (subseq key (length prefix)) (name-text world (mark-value run i))) found))))
    (nreverse found)))

;;; tsconfig

(defun script-config (world directory)
  "The paths that hold for files of DIRECTORY: list of (pattern . paths relative to the root), the pattern nil for baseUrl."
  (remembered (world :script-config directory)
    (let ((file (or (world-file-number world (join-path directory "tsconfig.json"))
                    (world-file-number world (join-path directory "jsconfig.json"))))
          (inherited (and (plusp (length directory))
                          (not (eq 0 (length directory)))
                          (script-config world (directory-of directory)))))
      (or (and file (config-paths world file 0)) inherited))))

(defun config-paths (world file depth)
  (let* ((directory (directory-of (world-path world file)))
         (base (first (config-values world file "compilerOptions" "baseUrl")))
         (root (if base (join-path directory base) directory))
         (own '()))
    (when (and root (< depth 6))
      (loop for (pattern . target) in (config-under world file "compilerOptions" "paths")
            for path = (join-path root target)
            do (when path
                 (let ((entry (assoc pattern own :test #'string=)))
                   (if entry (setf (cdr entry) (append (cdr entry) (list path))) (push (list pattern path) own)))))
      (when base (push (list nil root) own))
      (setf own (nreverse own))
      (dolist (parent (config-values world file "extends"))
        (let ((path (and (eql 0 (position #\. parent)) (join-path directory parent))))
          (when path
            (let ((number (or (world-file-number world path) (world-file-number world (concatenate 'string path ".json"))
                              (world-file-number world (join-path path "tsconfig.json")))))
              (when (and number (null own)) (setf own (config-paths world number (1+ depth))))))))
      (dolist (reference (config-values world file "references" "path"))
        (let* ((path (join-path directory reference))
               (number (and path (or (world-file-number world path) (world-file-number world (join-path path "tsconfig.json"))))))
          (when (and number (/= number file) (null own)) (setf own (config-paths world number (1+ depth))))))
      own)))

(defun match-pattern (pattern text)
  "What the star of PATTERN stands for in TEXT; the empty string when both are equal without a star; nil for no match."
  (let ((star (position #\* pattern)))
    (if star
        (let ((tail (- (length pattern) star 1)))
          (and (>= (length text) (+ star tail))
               (string= pattern text :end1 star :end2 star)
               (string= pattern text :start1 (1+ star) :start2 (- (length text) tail))
               (subseq text star (- (length text) tail))))
        (and (string= pattern text) ""))))

(defun put-star (pattern text)
  (let ((star (position #\* pattern)))
    (if star (concatenate 'string (subseq pattern 0 star) text (subseq pattern (1+ star))) pattern)))

(defun aliased-module (world directory specifier)
  (loop for (pattern . targets) in (script-config world directory)
        thereis (if pattern
                    (let ((star (match-pattern pattern specifier)))
                      (and star (loop for target in targets thereis (find-module world (put-star target star)))))
                    (find-module world (join-path (first targets) specifier)))))

;;; Packages of the workspace

(defun package-file (world directory)
  (world-file-number world (join-path directory "package.json")))

(defun workspace (world)
  "Table from the names of the packages in the repository to their package.json."
  (remembered (world :script-workspace)
    (let ((table (make-hash-table :test 'equal)))
      (do-world-files (file) (world)
        (when (and (eq (world-family world file) :json) (ends-with (world-path world file) "package.json"))
          (let ((name (first (config-values world file "name"))))
            (when (and name (not (gethash name table)) (not (search "node_modules/" (world-path world file))))
              (setf (gethash name table) file)))))
      table)))

(defparameter *built-folders* '("dist/" "lib/" "build/" "out/" "esm/" "cjs/" "es/" "dist/esm/" "dist/cjs/" "dist/src/" "dist/types/" "types/" "")
  "Where packages put what they build of src/; a target that is not in the repository is looked for there.")

(defun package-target (world directory target depth)
  "The source of TARGET, a path that a package.json in DIRECTORY names."
  (let* ((target (if (eql 0 (search "./" target)) (subseq target 2) target)) (path (join-path directory target)))
    (or (and path (find-module world path depth))
        (loop for folder in *built-folders*
              do (when (eql 0 (search folder target))
                   (let* ((rest (subseq target (length folder)))
                          (stem (loop for extension in '(".d.ts" ".d.mts" ".d.cts" ".js" ".mjs" ".cjs")
                                      do (when (ends-with rest extension) (return (subseq rest 0 (- (length rest) (length extension)))))
                                      finally (return rest)))
                          (file (or (find-module world (join-path directory (concatenate 'string "src/" stem)) 2)
                                    (find-module world (join-path directory stem) 2))))
                     (when file (return file))))))))

(defun package-main (world package depth)
  "The module that importing PACKAGE, a package.json, by its name leads to."
  (let ((directory (directory-of (world-path world package))))
    (or (package-export world package "." depth)
        (loop for key in '("source" "types" "typings" "module" "main")
              for value = (first (config-values world package key))
              thereis (and value (package-target world directory value depth)))
        (loop for extension in *extensions*
              thereis (or (code-file world (join-path directory (concatenate 'string "src/index" extension)))
                          (code-file world (join-path directory (concatenate 'string "index" extension))))))))

(defun package-export (world package subpath depth)
  "What `exports' of PACKAGE give for SUBPATH (\".\" or \"./x\"), or nil."
  (let ((directory (directory-of (world-path world package))) (newline (string #\Newline)))
    (or (and (string= subpath ".")
             (loop for value in (config-values world package "exports") thereis (package-target world directory value depth)))
        (loop for (path . value) in (config-under world package "exports")
              do (let* ((end (or (search newline path) (length path))) (pattern (subseq path 0 end))
                        (star (if (and (string= subpath ".") (not (eql 0 (position #\. pattern))))
                                  ""    ; conditions without a subpath
                                  (match-pattern pattern subpath)))
                        (file (and star (package-target world directory (put-star value star) depth))))
                   (when file (return file)))))))

(defun nearest-package (world directory)
  "The package.json in DIRECTORY or the nearest above it, or nil."
  (loop
    (let ((package (package-file world directory)))
      (when package (return package))
      (when (string= directory "") (return nil))
      (setf directory (directory-of directory)))))

(defun package-module (world directory specifier)
  "The module that SPECIFIER, which begins with the name of a package of the workspace, leads to; :unknown when the package is
ours but the module is not found; nil for other packages."
  (let* ((slash (position #\/ specifier)) (scoped (and (plusp (length specifier)) (char= (char specifier 0) #\@)))
         (end (if (and scoped slash) (position #\/ specifier :start (1+ slash)) slash))
         (name (subseq specifier 0 end)) (package (gethash name (workspace world))))
    ;; the package at the root is seen by its own files alone: others in the repository have it installed
    (when (and package (string= (directory-of (world-path world package)) "")
               (not (eql package (nearest-package world directory))))
      (setf package nil))
    (when package
      (let ((directory (directory-of (world-path world package))))
        (or (if end
                (let ((rest (subseq specifier (1+ end))))
                  (or (package-export world package (concatenate 'string "./" rest) 1)
                      (find-module world (join-path directory rest) 1)
                      (find-module world (join-path directory (concatenate 'string "src/" rest)) 1)))
                (package-main world package 1))
            :unknown)))))

(defun internal-module (world directory specifier)
  "#name: `imports' of the package around DIRECTORY."
  (loop
    (let ((package (package-file world directory)))
      (when package
        (return
          (loop for (path . value) in (config-under world package "imports")
                do (let* ((pattern (subseq path 0 (or (position #\Newline path) (length path)))) (star (match-pattern pattern specifier))
                          (file (and star (package-target world (directory-of (world-path world package)) (put-star value star) 1))))
                     (when file (return file)))))))
    (when (string= directory "") (return nil))
    (setf directory (directory-of directory))))

(defparameter *customary*
  '(("$lib" "src/lib/") ("@" "src/" "" "app/" "resources/js/") ("~" "src/" "app/" "") ("@@" "") ("~~" ""))
  "Beginnings of specifiers that no package can have, and the folders they mean in a project of SvelteKit, Vue, Nuxt, Remix or Laravel, whose
tools say so in code or in files that they generate.")

(defun customary-module (world directory specifier)
  (let* ((slash (position #\/ specifier)) (folders (rest (assoc (subseq specifier 0 slash) *customary* :test #'string=))))
    (when folders
      (let* ((package (nearest-package world directory)) (root (if package (directory-of (world-path world package)) ""))
             (rest (if slash (subseq specifier (1+ slash)) "")))
        (loop for folder in folders
              for path = (join-path root (concatenate 'string folder rest))
                thereis (and path (find-module world path)))))))

(defun resolve-specifier (world directory specifier)
  (let ((query (position-if (lambda (c) (find c "?!")) specifier)))
    (when (and query (plusp query)) (setf specifier (subseq specifier 0 query))))
  (cond ((zerop (length specifier)) :external)
        ((char= (char specifier 0) #\.)
         (let ((path (join-path directory specifier))) (or (and path (find-module world path)) :external)))
        ((char= (char specifier 0) #\/) (or (find-module world (subseq specifier 1)) :external))
        ((char= (char specifier 0) #\#) (or (internal-module world directory specifier) (aliased-module world directory specifier) :external))
        (t (let ((found (or (aliased-module world directory specifier) (package-module world directory specifier)
                            (customary-module world directory specifier))))
             (cond ((eq found :unknown) nil) (found found) (t :external))))))

(defun script-module (world file import)
  "Where import IMPORT of FILE leads: a file number, :external, or nil when its package is ours but not what is in it."
  (let* ((module (import-module (world-run world file) import)) (directory (directory-of (world-path world file))))
    (if (= module +none+)
        nil
        (remembered (world :script-module directory module)
          (resolve-specifier world directory (name-text world module))))))
