;;;; Places: what a path alone says of a file. Its class (source, aside, test, document, foreign), its prior marks, and the
;;;; terms of its name and of the folders it stands in.

(defpackage #:opl.search.places
  (:use #:cl)
  (:import-from #:opl.source.names #:string-octets #:make-u32 #:u32-vector)
  (:import-from #:opl.source.language #:language-of-path #:language-text-p #:path-name #:extension-of)
  (:import-from #:opl.search.terms #:map-terms)
  (:export #:path-class #:path-components #:entry-file-p #:path-stem #:component-terms #:test-path-p
           #:+source+ #:+aside+ #:+tests+ #:+documents+ #:+foreign+ #:source-path-p))
(in-package #:opl.search.places)

(defconstant +source+ 0 "The program itself.")
(defconstant +aside+ 1 "Source beside the program: documentation's, examples, scripts, benches, locales, migrations, declarations.")
(defconstant +tests+ 2 "Tests and what they alone use.")
(defconstant +documents+ 3 "Prose, configuration, data, style sheets and markup.")
(defconstant +foreign+ 4 "Vendored, bundled or built.")

(defun string-set (&rest lists)
  (let ((table (make-hash-table :test 'equal)))
    (dolist (text lists table)
      (loop with start = 0
            for end = (position #\Space text :start start)
            do (setf (gethash (subseq text start end) table) t)
               (if end (setf start (1+ end)) (return))))))

(defparameter *test-folders*
  (string-set "test tests __tests__ spec specs e2e testdata test-data test_data fixtures __fixtures__ __mocks__ testsuite test-suite test_suite testcases integrationtest integration-tests integration_tests unittest unittests unit-tests androidtest testfixtures __snapshots__ cypress regrtest"))
(defparameter *aside-folders*
  (string-set "doc docs documentation examples samples demos benchmark benchmarks bench benches asv_bench fuzz tutorial tutorials locale locales storybook stories playground playgrounds extern externals deps bundled .github .circleci build_tools"))
(defparameter *aside-roots*
  (string-set "script scripts tool tools bin ci hack contrib release releasing packaging maint website site example sample demo perf generated external")
  "Folders that lie beside the program when they are the root's own; deeper (src/bin, app/contrib) they are parts of it.")
(defparameter *foreign-folders*
  (string-set "node_modules bower_components vendor vendored _vendor third_party third-party thirdparty godeps dist compiled"))
(defparameter *aside-names*
  (string-set "setup.py conf.py noxfile.py fabfile.py tasks.py conftest.py gulpfile.js gruntfile.js webpack.config.js rollup.config.js vite.config.ts vite.config.js vitest.config.ts jest.config.js jest.config.ts babel.config.js karma.conf.js eslint.config.js .eslintrc.js .eslintrc.cjs rakefile build.rs build.js release.py"))
(defparameter *entry-names*
  (string-set "__init__.py index.js index.ts index.tsx index.jsx index.mjs mod.rs lib.rs main.go main.rs"))

(defun path-components (path)
  "The names in PATH, the file's own last."
  (loop with start = 0
        for slash = (position #\/ path :start start)
        collect (subseq path start slash)
        while slash do (setf start (1+ slash))))

(defun ends-p (suffix text)
  (let ((start (- (length text) (length suffix)))) (and (>= start 0) (string= suffix text :start2 start))))
(defun begins-p (prefix text)
  (and (>= (length text) (length prefix)) (string= prefix text :end2 (length prefix))))

(defun path-stem (name)
  "NAME without its extension; `a.test' of `a.test.ts'."
  (let ((dot (position #\. name :from-end t))) (if (and dot (plusp dot)) (subseq name 0 dot) name)))

(defun test-name-p (name)
  "Whether a file called NAME is a test wherever it lies."
  (let ((stem (path-stem name)) (extension (or (extension-of name) "")))
    (flet ((extension-p (&rest those) (member extension those :test #'string=)))
      (or (and (extension-p "py" "rb" "js" "ts" "php" "mjs" "cjs" "c") (begins-p "test_" stem))
          (and (extension-p "js" "ts" "mjs" "cjs") (or (begins-p "test-" stem) (ends-p "-test" stem) (ends-p "-test-d" stem)))
          (ends-p "_test" stem) (ends-p "_tests" stem) (ends-p "_spec" stem)
          (ends-p ".test" stem) (ends-p ".spec" stem) (ends-p ".tests" stem) (ends-p ".e2e" stem) (ends-p ".cy" stem) (ends-p ".bench" stem)
          (ends-p ".test-d" stem) (ends-p ".stories" stem)
          (and (extension-p "java" "kt" "php" "cs" "groovy" "scala" "swift")
               (or (ends-p "Test" stem) (ends-p "Tests" stem) (ends-p "TestCase" stem) (ends-p "IT" stem) (ends-p "Spec" stem)
                   (and (extension-p "java") (begins-p "Test" stem) (> (length stem) 4) (upper-case-p (char stem 4)))))
          (and (extension-p "py" "rs" "go" "js" "ts") (member stem '("test" "tests") :test #'string=))
          (string= name "conftest.py")))))

(defun test-folder-p (name)
  (or (gethash (string-downcase name) *test-folders*) (ends-p "-tests" name) (ends-p "_tests" name)
      (and (ends-p "Tests" name) (> (length name) 5))))

(defun package-of-tests-p (folders name)
  "Whether the folder `test' that FOLDERS hold is a part of a Python program rather than its tests: nested, singular, and
NAME no test's."
  (let ((at (position "test" folders :test #'string=)))
    (and at (plusp at) (equal (extension-of name) "py") (not (test-name-p name))
         (not (some #'test-folder-p (remove "test" folders :test #'string=)))
         (notany (lambda (folder) (gethash folder *test-folders*)) (nthcdr (1+ at) folders)))))

(defun test-path-p (path)
  "Whether PATH, relative to the root, is a test's or its fixtures'."
  (let* ((components (path-components path)) (name (car (last components))) (folders (butlast components)))
    (and (or (test-name-p name)
             (and (some #'test-folder-p folders) (not (package-of-tests-p folders name))))
         t)))

(defun path-class (path)
  "The class of the file PATH, relative to the root, by its name and folders alone."
  (let* ((components (path-components path)) (name (car (last components))) (folders (butlast components))
         (language (language-of-path path)))
    (flet ((within (set) (some (lambda (folder) (gethash (string-downcase folder) set)) folders)))
      (cond ((or (within *foreign-folders*) (search ".min." name)) +foreign+)
            ((or (null language) (language-text-p language)) +documents+)
            ((test-path-p path) +tests+)
            ((or (within *aside-folders*)
                 (and folders (gethash (string-downcase (first folders)) *aside-roots*))
                 (gethash (string-downcase name) *aside-names*) (ends-p ".d.ts" name)) +aside+)
            (t +source+)))))

(defun source-path-p (path)
  "Whether PATH is source, or source beside the program."
  (<= (path-class path) +aside+))

(defun entry-file-p (path)
  "Whether PATH is a package's entry (`index.ts', `__init__.py', `mod.rs'), which every mention of the package touches."
  (and (gethash (path-name path) *entry-names*) t))

(defun component-terms (name)
  "The hashes of the terms of NAME, a file's stem or a folder; `rate-limit' is one name of two parts, as rateLimit is."
  (let ((octets (string-octets (substitute #\_ #\- (substitute #\_ #\. name)))) (hashes '()))
    (map-terms (lambda (hash whole-p) (declare (ignore whole-p)) (pushnew hash hashes)) octets 0 (length octets))
    (nreverse hashes)))
