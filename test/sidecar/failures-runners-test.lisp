;;;; sidecar/failures/runners/: each table has captured inputs in logs/<runner>/<name>.txt, and beside each what it says, <name>.expected.
;;;; OPL_WRITE_EXPECTED=1 writes the expectations anew; look at the difference before it is committed.

(defpackage #:opl.test.failures.runners
  (:use #:cl #:opl.test #:opl.failures.report)
  (:import-from #:opl.failures.parse #:parse-log)
  (:import-from #:opl.failures.table #:all-runners #:runner-name))

(in-package #:opl.test.failures.runners)

(defvar *logs* (merge-pathnames "logs/" (make-pathname :name nil :type nil :version nil :defaults *load-truename*)))

(defun inputs (runner)
  (directory (merge-pathnames (format nil "~a/*.txt" runner) *logs*)))

(defun facts-of (report)
  (list :runner (report-runner report) :verdict (report-verdict report)
        :passed (report-passed report) :failed (report-failed report) :skipped (report-skipped report)
        :failures (mapcar (lambda (failure)
                            (list (failure-test failure) (failure-path failure) (failure-line failure) (failure-category failure)
                                  (let ((message (failure-message failure)))
                                    (subseq message 0 (or (position #\Newline message) (length message))))))
                          (report-failures report))))

(defun expectation (file)
  (with-open-file (in (make-pathname :type "expected" :defaults file) :external-format :utf-8)
    (let ((*read-eval* nil)) (read in))))

(defun write-expectation (file facts)
  (with-open-file (out (make-pathname :type "expected" :defaults file) :direction :output :if-exists :supersede :external-format :utf-8)
    (let ((*print-right-margin* 140) (*print-pretty* t)) (with-standard-io-syntax (let ((*print-pretty* t) (*print-right-margin* 140) (*print-readably* nil)) (format out "~s~%" facts))))))

(deftest every-runner-s-table-has-a-captured-input-and-reads-it
  (dolist (runner (remove "none" (mapcar #'runner-name (all-runners)) :test #'string=))
    (check-equal (list runner :captured) (list runner (if (inputs runner) :captured :none)))
    (dolist (file (inputs runner))
      (let ((facts (facts-of (parse-log file))))
        (when (sb-posix:getenv "OPL_WRITE_EXPECTED") (write-expectation file facts))
        (check-equal (list (pathname-name file) runner) (list (pathname-name file) (getf facts :runner)))
        (check-equal (expectation file) facts)))))

(deftest a-failing-exit-code-is-never-a-pass
  (let ((log (merge-pathnames "plain.log" *logs*)))
    (with-open-file (out log :direction :output :if-exists :supersede) (format out "OK (3 tests, 3 assertions)~%"))
    (unwind-protect
         (progn (check-equal "passed" (report-verdict (parse-log log)))
                (check-equal "unparsed" (report-verdict (parse-log log :exit-code 1)))
                (check (report-tail (parse-log log :exit-code 1))))
      (delete-file log))))

(deftest what-nothing-understands-is-unparsed-with-its-tail
  (with-scratch-folder (folder)
    (let ((log (merge-pathnames "log" folder)))
      (with-open-file (out log :direction :output) (format out "one~%two~%"))
      (check-equal "unparsed" (report-verdict (parse-log log)))
      (check-equal (format nil "one~%two") (report-tail (parse-log log))))))

(defparameter *missing*
  '(
    "Could not find rspec-3.12.0, rake-13.0.6 in locally installed gems"
    "bundler: command not found: rspec"
    "PHP Fatal error:  Uncaught Error: Failed opening required '/w/vendor/autoload.php' (include_path='.:/usr/share/php') in /w/tests/bootstrap.php:3"
    "error: failed to get `serde` as a dependency of package `shop v0.1.0 (/w/shop)`"
    "error: failed to select a version for the requirement `serde = \"^99\"`"
    "error: package `clap v4.5.1` cannot be built because it requires rustc 1.74 or newer, while the currently active rustc version is 1.63.0"
    "go: errors parsing go.mod:"
    "main.go:4:2: missing go.sum entry for module providing package github.com/acme/lib (imported by example.com/shop); to add:"
    "CMake Error at CMakeLists.txt:5 (find_package):"
    "make: *** No rule to make target 'test'.  Stop."
    "[ERROR] Plugin org.apache.maven.plugins:maven-resources-plugin:3.3.0 or one of its dependencies could not be resolved: Cannot access central"
    "[ERROR] Failed to execute goal on project shop: Could not resolve dependencies for project com.acme:shop:jar:1.0: Could not find artifact com.acme:lib:jar:2.0"
    "[error] (update) sbt.librarymanagement.ResolveException: Error downloading com.acme:lib_2.13:9.9"
    "/w/Shop.Tests/Shop.Tests.csproj : error NU1101: Unable to find package Acme.Lib. No packages exist with this id in source(s): nuget.org"
    "MSBUILD : error MSB1003: Specify a project or solution file. The current working directory does not contain a project or solution file."
    "npm error Missing script: \"test\""
    "npm error code ERESOLVE"
    " ERR_PNPM_NO_SCRIPT  Missing script: test"
    "error shop@1.0.0: The engine \"node\" is incompatible with this module. Expected version \">=20\". Got \"16.20.0\""
    "Internal Error: shop@workspace:.: This package doesn't seem to be present in your lockfile; run \"yarn install\" to update the lockfile"
    "error: No solution found when resolving dependencies:"
    "ERROR: Could not find a version that satisfies the requirement nosuch (from versions: none)"
    "Unchecked dependencies for environment test:"
    "error: 'shop': Failed to clone repository https://github.com/acme/lib.git:"
    "Could not find package `test` or file `test`"
    "Because shop depends on lib any which doesn't exist (could not find package lib at https://pub.dev), version solving failed."
    "Error: cabal: Could not resolve dependencies:"
    "/w/build.zig.zon:7:20: error: unable to connect to server: UnknownHostName"
    "sh: 1: jest: not found"
    "sh: ./gradlew: Permission denied"
    "Error: Could not find or load main class org.gradle.wrapper.GradleWrapperMain"
    "ERROR: JAVA_HOME is not set and no 'java' command could be found in your PATH."
    "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?"
    "npm ERR! nospc ENOSPC: no space left on device, write")
  "What tools say whose dependencies, programs or scripts are missing: one line of each.")

(deftest what-keeps-a-run-from-its-tests-is-a-setup-error
  (with-scratch-folder (folder)
    (let ((log (merge-pathnames "log" folder)))
      (dolist (line *missing*)
        (with-open-file (out log :direction :output :if-exists :supersede) (format out "starting~%~A~%" line))
        (check-equal (list line "setup-error") (list line (report-verdict (parse-log log :exit-code 1))))
        ;; a command that ended well has lived through it; what it tested nobody knows
        (check-equal (list line "unparsed") (list line (report-verdict (parse-log log :exit-code 0)))))
      ;; warnings of a run that came to its tests are none
      (with-open-file (out log :direction :output :if-exists :supersede)
        (format out "npm warn code EBADENGINE~%npm error code ENOENT~%OK (3 tests, 3 assertions)~%"))
      (check-equal "passed" (report-verdict (parse-log log))))))

(deftest octets-that-are-no-text-are-not-shown
  (with-scratch-folder (folder)
    (let ((log (merge-pathnames "log" folder)))
      (with-open-file (out log :direction :output :element-type '(unsigned-byte 8))
        (write-sequence (sb-ext:string-to-octets (format nil "starting~%")) out)
        (dotimes (i 3000) (write-byte (mod (* i 7) 256) out))
        (write-sequence (sb-ext:string-to-octets (format nil "~%the end~%")) out))
      (let ((tail (report-tail (parse-log log :exit-code 1))))
        (check (search "(octets that are no text)" tail))
        (check (search "the end" tail))
        (check (notany (lambda (c) (and (char/= c #\Newline) (< (char-code c) 32))) tail))))))

(deftest a-log-of-annotations-alone-is-read-from-them
  (with-scratch-folder (folder)
    (let ((log (merge-pathnames "log" folder)))
      (with-open-file (out log :direction :output)
        (format out "~%::error file=/repo/test/a.test.js,title=test/a.test.js > sums > adds(2%2C 2),line=5,column=9::AssertionError: expected 3 to be 4%0A%0A- 4%0A+ 3%0A~%")
        (format out "::error file=/repo/test/b.test.js,line=1,title=test/b.test.js::Error: at load~%"))
      (let ((facts (facts-of (parse-log log))))
        (check-equal "failed" (getf facts :verdict))
        (check-equal '(("sums > adds(2, 2)" "/repo/test/a.test.js" 5 "assertion" "AssertionError: expected 3 to be 4")
                       ("/repo/test/b.test.js" "/repo/test/b.test.js" 1 "setup" "Error: at load"))
                     (getf facts :failures))))))

(defparameter *before-lines*
  '("2024-03-05T10:11:12.1234567Z " "[2024-03-05T10:11:12.123Z] " "2024-03-05T10:11:12.123456Z 01O " "10:11:12  " "app-1  | " "@acme/web:test: " "packages/web test: " "[0] " "│ ")
  "What hosted runners, build servers, containers and task runners put before each line.")

(defun lines-of (file)
  (with-open-file (in file :external-format :utf-8)
    (loop for line = (read-line in nil) while line collect line)))

(deftest what-others-put-before-the-lines-changes-nothing
  (with-scratch-folder (folder)
    (dolist (name '("jest/several" "pytest/several" "go-test/verbose" "mocha/several" "cargo-test/several" "maven-surefire/several"))
      (let* ((file (merge-pathnames (format nil "~a.txt" name) *logs*)) (log (merge-pathnames "log" folder)))
        (dolist (prefix *before-lines*)
          (with-open-file (out log :direction :output :if-exists :supersede :external-format :utf-8)
            (dolist (line (lines-of file)) (format out "~a~a~%" prefix line)))
          (check-equal (list name prefix (expectation file)) (list name prefix (facts-of (parse-log log)))))))))

(deftest two-packages-in-one-log-are-told-apart-line-by-line
  (with-scratch-folder (folder)
    (let ((log (merge-pathnames "log" folder))
          (one (lines-of (merge-pathnames "jest/several.txt" *logs*))) (two (lines-of (merge-pathnames "mocha/several.txt" *logs*))))
      (with-open-file (out log :direction :output :external-format :utf-8)
        (loop while (or one two)
              do (when one (format out "web:test: ~a~%" (pop one)))
                 (when two (format out "api:test: ~a~%" (pop two)))))
      (let ((jest (expectation (merge-pathnames "jest/several.txt" *logs*))) (mocha (expectation (merge-pathnames "mocha/several.txt" *logs*)))
            (both (facts-of (parse-log log))))
        (check-equal (+ (getf jest :failed) (getf mocha :failed)) (getf both :failed))
        (check-equal (sort (mapcar #'first (append (getf jest :failures) (getf mocha :failures))) #'string<)
                     (sort (mapcar #'first (getf both :failures)) #'string<))))))

(deftest more-failures-than-are-kept-are-counted
  (with-scratch-folder (folder)
    (let ((log (merge-pathnames "log" folder)))
      (with-open-file (out log :direction :output)
        (loop for i from 1 to 6000
              do (format out "=== RUN   Test~d~%    a_test.go:5: got ~d~%--- FAIL: Test~d (0.00s)~%" i i i))
        (format out "FAIL~%FAIL	example.com/a	0.1s~%"))
      (let ((report (parse-log log)))
        (check-equal 6000 (report-failed report))
        (check-equal 2000 (length (report-failures report)))))))

(defun write-large (log lines count-of-fillers)
  "Writes COUNT-OF-FILLERS passing tests of go and then LINES."
  (with-open-file (out log :direction :output :if-exists :supersede :external-format :utf-8)
    (loop for i from 1 to count-of-fillers do (format out "=== RUN   TestNumber~d~%--- PASS: TestNumber~d (0.00s)~%" i i))
    (format out "PASS~%ok  	example.com/a	0.1s~%")
    (dolist (line lines) (format out "~a~%" line))))

(deftest what-comes-late-in-a-large-log-is-read-as-in-a-small-one
  ;; of more than 4 MB the head tells which tables begin to read
  (with-scratch-folder (folder)
    (let ((log (merge-pathnames "log" folder)))
      (dolist (late (list '() '("=== RUN   TestLate" "    late_test.go:7: got 1, want 2" "--- FAIL: TestLate (0.00s)" "FAIL" "FAIL	example.com/b	0.1s")
                          (lines-of (merge-pathnames "jest/several.txt" *logs*))))
        (let ((small (progn (write-large log late 10) (facts-of (parse-log log))))
              (large (progn (write-large log late 100000) (facts-of (parse-log log)))))
          (check (> (with-open-file (in log) (file-length in)) 5000000))
          (check-equal (+ 99990 (getf small :passed)) (getf large :passed))
          (check-equal (list (getf small :verdict) (getf small :failed) (getf small :failures))
                       (list (getf large :verdict) (getf large :failed) (getf large :failures))))))))

(deftest go-s-events-may-have-their-keys-in-any-order
  (with-scratch-folder (folder)
    (let ((log (merge-pathnames "log" folder)))
      (with-open-file (out log :direction :output)
        (dolist (event '("{\"Time\":\"2024-01-01T00:00:00Z\",\"Test\":\"TestA\",\"Package\":\"example.com/p\",\"Action\":\"run\"}"
                         "{\"Time\":\"2024-01-01T00:00:00Z\",\"Output\":\"    a_test.go:3: say \\\"Action\\\":\\\"pass\\\" \\u003c2\\u003e\\n\",\"Test\":\"TestA\",\"Package\":\"example.com/p\",\"Action\":\"output\"}"
                         "{\"Time\":\"2024-01-01T00:00:00Z\",\"Elapsed\":0,\"Test\":\"TestA\",\"Package\":\"example.com/p\",\"Action\":\"fail\"}"
                         "{\"Time\":\"2024-01-01T00:00:00Z\",\"Test\":\"TestB\",\"Package\":\"example.com/p\",\"Action\":\"pass\"}"
                         "{\"Time\":\"2024-01-01T00:00:00Z\",\"Package\":\"example.com/p\",\"Action\":\"fail\"}"))
          (write-line event out)))
      (let ((facts (facts-of (parse-log log :runner "go"))))
        (check-equal '(1 1) (list (getf facts :passed) (getf facts :failed)))
        (check-equal '(("TestA" "a_test.go" 3 "assertion" "a_test.go:3: say \"Action\":\"pass\" <2>")) (getf facts :failures))))))

(deftest lines-that-say-nothing-are-passed-over-wherever-they-stand
  ;; a test's heading and its passing are told by events as well as by its output
  (with-scratch-folder (folder)
    (let ((log (merge-pathnames "log" folder)))
      (flet ((event (action &optional output)
               (format nil "{\"Time\":\"2024-01-01T00:00:00Z\",\"Action\":\"~a\",\"Package\":\"example.com/p\",\"Test\":\"TestA\"~@[,\"Output\":\"~a\"~]}" action output)))
        (with-open-file (out log :direction :output)
          (dolist (line (list (event "run") (event "output" "=== RUN   TestA\\n") (event "output" "    a_test.go:3: \\\"Output\\\":\\\"=== RUN   TestB\\n")
                              (event "output" "--- FAIL: TestA (0.00s)\\n") (event "fail")
                              "{\"Time\":\"2024-01-01T00:00:00Z\",\"Action\":\"fail\",\"Package\":\"example.com/p\"}"))
            (write-line line out))))
      (check-equal '(("TestA" "a_test.go" 3 "assertion" "a_test.go:3: \"Output\":\"=== RUN   TestB")) (getf (facts-of (parse-log log)) :failures)))))

(deftest a-part-of-a-log-is-no-pass-and-names-what-it-shows
  (with-scratch-folder (folder)
    (let ((log (merge-pathnames "log" folder)))
      (flet ((head-of (file)
               (let ((lines (lines-of file)))
                 (with-open-file (out log :direction :output :if-exists :supersede :external-format :utf-8)
                   (dolist (line (subseq lines 0 (floor (* 7 (length lines)) 10))) (write-line line out)))
                 (facts-of (parse-log log)))))
        (dolist (file (directory (merge-pathnames "*/*.txt" *logs*)))
          ;; there the tests pass, and what fails is said in the last line
          (unless (or (search "coverage" (pathname-name file)) (equal "passed" (getf (expectation file) :verdict)))
            (check-equal (list (namestring file) nil) (list (namestring file) (equal "passed" (getf (head-of file) :verdict))))))
        (check-equal '("SampleUnitTestProject.UnitTest1.FailingTest" "SampleUnitTestProject.UnitTest1.FailingTestWithTraits")
                     (mapcar #'first (getf (head-of (merge-pathnames "dotnet-test/vstest-15.txt" *logs*)) :failures)))))))
