(defpackage #:opl.failures.formats
  (:use #:cl #:opl.failures.report)
  (:shadowing-import-from #:opl.failures.pattern #:search)
  (:import-from #:opl.failures.json #:parse-json #:json-fault #:member-of #:path-of #:elements)
  (:import-from #:opl.failures.xml #:parse-xml #:node #:node-p #:node-name #:node-children #:attribute #:node-text #:children-named)
  (:import-from #:opl.failures.table #:make-draft #:split-on #:joined #:prefixp #:suffixp #:trim)
  (:import-from #:opl.failures.frames #:tidy-path #:as-line)
  (:import-from #:opl.failures.digest #:digest)
  (:import-from #:opl.failures.lines #:clean-line)
  (:import-from #:opl.failures.verdict #:verdict-of #:with-exit-code)
  (:export #:parse-format))
(in-package #:opl.failures.formats)

(declaim (optimize (speed 1) (safety 1)))

;;; Machine-readable reports: each shape is a predicate on the document's head and a reader of it.

(defconstant +largest+ (* 32 1024 1024) "Octets of a report that is read whole; a larger one is told by the text log beside it.")

(defparameter *languages* '(:js :python :java :ruby :php :dotnet :rust :elixir :dart :go :lua))

(defun plain (text)
  "TEXT without escape sequences."
  (let ((octets (sb-ext:string-to-octets text :external-format :utf-8)))
    (if (find 27 octets) (clean-line octets 0 (length octets)) text)))

(defun told (test text &key path line category message suite (languages *languages*) (innermost :first))
  "The failure of TEST with what TEXT (message and stack) says of it."
  (digest (make-draft :failure (make-failure :test test :path path :line line :category category :message (or message "") :suite suite)
                      :lines (reverse (mapcar (lambda (line) (as-line (plain (string-right-trim '(#\Return) line)))) (split-on (string #\Newline) (or text "")))))
          (list :frames languages :innermost innermost :message (if (eq innermost :last) :python :plain))))

(defun report-of (runner failures passed failed skipped &rest flags)
  (make-report :runner runner :runners (list runner) :failures failures :passed passed :failed failed :skipped skipped
               :verdict (verdict-of flags failures passed failed)))

;;; jest and vitest

(defun jest-report (document)
  (let ((runner (if (or (member-of document "numRuntimeErrorTestSuites") (member-of document "openHandles")) "jest" "vitest")) (failures '()))
    (dolist (file (elements (member-of document "testResults")))
      (let ((path (or (member-of file "name") (member-of file "testFilePath")))
            (tests (elements (or (member-of file "assertionResults") (member-of file "testResults")))))
        (when (and (null tests) (equal "failed" (member-of file "status")))
          (push (told path (or (member-of file "message") "") :path path :suite t :languages '(:js)) failures))
        (dolist (test tests)
          (when (equal "failed" (member-of test "status"))
            (push (told (joined (append (remove "" (elements (member-of test "ancestorTitles")) :test #'equal) (list (or (member-of test "title") ""))))
                        (joined (elements (member-of test "failureMessages")) (string #\Newline)) :path path :languages '(:js))
                  failures)))))
    (report-of runner (nreverse failures) (member-of document "numPassedTests") (member-of document "numFailedTests")
               (+ (or (member-of document "numPendingTests") 0)))))

;;; mocha's json reporter and mochawesome

(defun mocha-report (document)
  (let ((stats (member-of document "stats")))
    (report-of "mocha"
               (loop for test in (elements (member-of document "failures"))
                     for error = (member-of test "err")
                     collect (told (or (member-of test "fullTitle") (member-of test "title")) (or (member-of error "stack") (member-of error "message") "")
                                   :path (member-of test "file") :languages '(:js)))
               (member-of stats "passes") (member-of stats "failures") (member-of stats "pending"))))

;;; playwright

(defun playwright-suites (suite names)
  (let ((names (append names (and (member-of suite "title") (not (equal (member-of suite "title") (member-of suite "file"))) (list (member-of suite "title"))))) (failures '()))
    (dolist (spec (elements (member-of suite "specs")))
      (dolist (test (elements (member-of spec "tests")))
        (when (equal "unexpected" (member-of test "status"))
          (let* ((result (first (elements (member-of test "results"))))
                 (error (or (member-of result "error") (first (elements (member-of result "errors"))))))
            (push (told (joined (append names (list (or (member-of spec "title") "")))) (or (member-of error "stack") (member-of error "message") "")
                        :path (or (path-of error "location" "file") (member-of spec "file")) :line (or (path-of error "location" "line") (member-of spec "line")) :languages '(:js)
                        :category (and (equal "timedOut" (member-of result "status")) "timeout"))
                  failures)))))
    (append (nreverse failures) (loop for inner in (elements (member-of suite "suites")) append (playwright-suites inner names)))))

(defun playwright-report (document)
  (let ((stats (member-of document "stats")))
    (report-of "playwright"
               (append (loop for suite in (elements (member-of document "suites")) append (playwright-suites suite '()))
                       (loop for error in (elements (member-of document "errors"))
                             collect (told nil (or (member-of error "stack") (member-of error "message") "") :suite t :languages '(:js))))
               (+ (or (member-of stats "expected") 0) (or (member-of stats "flaky") 0)) (member-of stats "unexpected") (member-of stats "skipped"))))

;;; rspec

(defun rspec-report (document)
  (let* ((summary (member-of document "summary")) (count (or (member-of summary "example_count") 0)) (outside (or (member-of summary "errors_outside_of_examples_count") 0))
         (failed (or (member-of summary "failure_count") 0)) (pending (or (member-of summary "pending_count") 0)))
    (report-of "rspec"
               (loop for example in (elements (member-of document "examples"))
                     for exception = (member-of example "exception")
                     when (equal "failed" (member-of example "status"))
                       collect (told (member-of example "full_description")
                                     (format nil "~A~%~{~A~%~}# ~A:~D" (or (member-of exception "message") "") (elements (member-of exception "backtrace")) (member-of example "file_path") (or (member-of example "line_number") 0))
                                     :languages '(:ruby)
                                     :category (let ((class (member-of exception "class"))) (cond ((null class) nil) ((some (lambda (word) (search word class)) '("ExpectationNotMet" "ExpectationsNotMet" "PendingExampleFixed" "MockExpectationError")) "assertion") (t "error")))))
               (max 0 (- count failed pending)) (+ failed outside) pending)))

;;; pytest-json-report

(defun pytest-report (document)
  (let ((summary (member-of document "summary")))
    (report-of "pytest"
               (loop for test in (elements (member-of document "tests"))
                     for stage = (find-if (lambda (stage) (equal "failed" (path-of test stage "outcome"))) '("setup" "call" "teardown"))
                     when (member (member-of test "outcome") '("failed" "error") :test #'equal)
                       collect (told (member-of test "nodeid") (or (path-of test stage "longrepr") "") :languages '(:python) :innermost :last
                                     :message (path-of test stage "crash" "message") :path (path-of test stage "crash" "path") :line (path-of test stage "crash" "lineno")
                                     :category (and (equal stage "setup") "setup")))
               (or (member-of summary "passed") 0) (+ (or (member-of summary "failed") 0) (or (member-of summary "error") 0)) (or (member-of summary "skipped") 0))))

;;; eslint

(defun eslint-report (document)
  (let ((problems 0))
    (let ((failures (loop for file in (elements document)
                          append (loop for message in (elements (member-of file "messages"))
                                       do (incf problems)
                                       when (eql 2 (member-of message "severity"))
                                         collect (make-failure :test (member-of message "ruleId") :path (tidy-path (member-of file "filePath")) :line (member-of message "line")
                                                               :message (or (member-of message "message") "") :category (if (eq :true (member-of message "fatal")) "compile" "error"))))))
      (report-of "eslint" failures nil problems nil (if failures :failed :passed)))))

;;; one object a line: libtest and nextest, cargo's messages, dart and flutter

(defun libtest-report (documents)
  (let ((passed 0) (failed 0) (skipped 0) (failures '()))
    (dolist (event documents)
      (cond ((equal "test" (member-of event "type"))
             (let ((kind (member-of event "event")) (name (member-of event "name")))
               (cond ((equal kind "ok") (incf passed))
                     ((equal kind "ignored") (incf skipped))
                     ((member kind '("failed" "timeout") :test #'equal) (incf failed)
                      (let ((dollar (position #\$ name)))
                        (push (told (if dollar (subseq name (1+ dollar)) name) (or (member-of event "stdout") (member-of event "message") "") :languages '(:rust)
                                    :category (and (equal kind "timeout") "timeout"))
                              failures))))))
            ((equal "compiler-message" (member-of event "reason"))
             (let* ((message (member-of event "message")) (span (find-if (lambda (span) (eq :true (member-of span "is_primary"))) (elements (member-of message "spans")))))
               (when (and (equal "error" (member-of message "level")) span)
                 (pushnew (make-failure :test (path-of event "target" "name") :path (tidy-path (member-of span "file_name")) :line (member-of span "line_start")
                                        :message (or (member-of message "rendered") (member-of message "message") "") :category "compile" :suite t)
                          failures :test (lambda (a b) (and (equal (failure-path a) (failure-path b)) (equal (failure-line a) (failure-line b)) (equal (failure-message a) (failure-message b))))))))))
    (report-of "cargo-test" (nreverse failures) passed failed skipped)))

(defun dart-report (documents)
  (let ((tests (make-hash-table)) (errors '()) (passed 0) (failed 0) (skipped 0))
    (dolist (event documents)
      (let ((type (member-of event "type")))
        (cond ((equal type "testStart") (setf (gethash (path-of event "test" "id") tests) (member-of event "test")))
              ((equal type "error") (push event errors))
              ((and (equal type "testDone") (not (eq :true (member-of event "hidden"))))
               (cond ((eq :true (member-of event "skipped")) (incf skipped))
                     ((equal "success" (member-of event "result")) (incf passed))
                     (t (incf failed)))))))
    (report-of "flutter"
               (loop for event in (reverse errors)
                     for test = (gethash (member-of event "testID") tests)
                     collect (told (member-of test "name") (format nil "~A~%~A" (or (member-of event "error") "") (or (member-of event "stackTrace") "")) :languages '(:dart)
                                   :path (or (member-of test "root_url") (member-of test "url")) :line (or (member-of test "root_line") (member-of test "line"))
                                   :category (and (eq :true (member-of event "isFailure")) "assertion")))
               passed failed skipped)))

;;; JUnit's XML, which many runners write

(defun walk (function nodes)
  (dolist (node nodes) (when (node-p node) (funcall function node) (walk function (node-children node)))))

(defun junit-runner (nodes)
  "The runner that wrote the report, by the names it gives its suites, else \"junit\"."
  (let ((suite nil) (root (first nodes)))
    (walk (lambda (node) (when (and (null suite) (string= "testsuite" (node-name node))) (setf suite node))) nodes)
    (let ((name (format nil "~@[~A~] ~@[~A~]" (and root (attribute root "name")) (and suite (attribute suite "name")))) (schema (and suite (or (attribute suite "xsi:noNamespaceSchemaLocation") ""))))
      (flet ((says (word) (search word name)))
        (cond ((says "pytest") "pytest") ((says "jest") "jest") ((says "vitest") "vitest") ((says "Mocha") "mocha") ((says "bun test") "bun") ((says "nextest") "nextest")
              ((says "rspec") "rspec") ((says "AllTests") "gtest") ((says "deno") "deno") ((and schema (search "surefire" schema)) "maven-surefire")
              ((says "playwright") "playwright") ((says "Gradle Test") "gradle") ((says "bats") "bats") (t "junit"))))))

(defun path-like-p (text) (and text (or (find #\/ text) (some (lambda (ending) (suffixp ending text)) '(".js" ".ts" ".tsx" ".jsx" ".mjs" ".rb" ".py" ".bats" ".t")))))

(defun junit-name (case)
  (let ((class (or (attribute case "classname") (attribute case "class"))) (name (or (attribute case "name") "")))
    (cond ((or (null class) (string= class "") (path-like-p class) (prefixp class name)) name)
          ((search name class) class)
          (t (format nil "~A.~A" class name)))))

(defun junit-report (nodes)
  (let ((runner (junit-runner nodes)) (passed 0) (failed 0) (skipped 0) (failures '()))
    (labels ((case-of (node suite)
               (let ((fault (first (children-named node "failure" "error"))))
                 (cond (fault
                        (incf failed)
                        (let* ((text (node-text fault)) (message (or (attribute fault "message") "")) (type (attribute fault "type"))
                               (class (or (attribute node "classname") "")) (python (string= runner "pytest"))
                               (file (or (attribute node "file") (and (path-like-p class) class) (attribute suite "file")))
                               (whole (and file (equal file (attribute node "name")))))
                          (push (told (junit-name node) (if (search message text) text (format nil "~A~%~A" message text))
                                      :message (and python message) :path file :suite whole
                                      :line nil :innermost (if python :last :first)
                                      :category (cond ((and type (or (search "Assert" type) (search "ComparisonFailure" type))) "assertion") ((and python (search "failed on setup" message)) "setup")))
                                failures)
                          (let ((failure (first failures)))
                            (when (and (null (failure-line failure)) (attribute node "line")) (setf (failure-line failure) (parse-integer (attribute node "line") :junk-allowed t))))))
                       ((or (children-named node "skipped" "disabled") (equal "notrun" (attribute node "status")) (equal "disabled" (attribute node "status"))) (incf skipped))
                       (t (incf passed)))))
             (suite-of (node)
               (dolist (child (node-children node))
                 (when (node-p child)
                   (cond ((string= "testcase" (node-name child)) (case-of child node))
                         ((member (node-name child) '("testsuite" "testsuites") :test #'string=) (suite-of child))
                         ;; a suite's own error: nothing of it ran
                         ((member (node-name child) '("error" "failure") :test #'string=)
                          (incf failed)
                          (push (told (attribute node "name") (format nil "~@[~A~]~%~A" (attribute child "message") (node-text child)) :suite t :path (attribute node "file")) failures)))))))
      (suite-of (opl.failures.xml:make-node :children nodes)))
    (report-of runner (nreverse failures) passed failed skipped)))

;;; TRX (dotnet test --logger trx), NUnit's and xUnit.net's own XML

(defun trx-report (nodes)
  (let ((passed 0) (failed 0) (skipped 0) (failures '()))
    (walk (lambda (node)
            (when (string= "UnitTestResult" (node-name node))
              (let ((outcome (attribute node "outcome")))
                (cond ((equal outcome "Passed") (incf passed))
                      ((member outcome '("Failed" "Error" "Timeout" "Aborted") :test #'equal)
                       (incf failed)
                       (let ((message "") (stack ""))
                         (walk (lambda (inner) (cond ((string= "Message" (node-name inner)) (setf message (node-text inner))) ((string= "StackTrace" (node-name inner)) (setf stack (node-text inner))))) (node-children node))
                         (push (told (attribute node "testName") (format nil "~A~%~A" message stack) :languages '(:dotnet) :category (and (equal outcome "Timeout") "timeout")) failures)))
                      (t (incf skipped))))))
          nodes)
    (report-of "dotnet-test" (nreverse failures) passed failed skipped)))

(defun nunit-report (nodes)
  (let ((passed 0) (failed 0) (skipped 0) (failures '()))
    (walk (lambda (node)
            (when (member (node-name node) '("test-case" "test") :test #'string=)
              (let ((result (attribute node "result")))
                (cond ((member result '("Passed" "Pass" "Success") :test #'equal) (incf passed))
                      ((member result '("Failed" "Fail" "Failure" "Error") :test #'equal)
                       (incf failed)
                       (push (told (or (attribute node "fullname") (attribute node "name")) (joined (mapcar #'node-text (children-named node "failure")) (string #\Newline)) :languages '(:dotnet)) failures))
                      (t (incf skipped))))))
          nodes)
    (report-of "dotnet-test" (nreverse failures) passed failed skipped)))

;;; which of them a file is

(defun file-octets (path)
  (with-open-file (in path :element-type '(unsigned-byte 8))
    (let ((octets (make-array (file-length in) :element-type '(unsigned-byte 8)))) (read-sequence octets in) octets)))

(defun head-of (path)
  (with-open-file (in path :element-type '(unsigned-byte 8))
    (let* ((octets (make-array (min 4096 (file-length in)) :element-type '(unsigned-byte 8))) (n (read-sequence octets in)))
      (string-left-trim '(#\Space #\Tab #\Newline #\Return #\ZERO_WIDTH_NO-BREAK_SPACE) (sb-ext:octets-to-string octets :end n :external-format '(:utf-8 :replacement #\?))))))

(defun json-documents (octets)
  "All the JSON values in OCTETS, one after another; what is none ends them."
  (let ((at 0) (documents '()))
    (handler-case
        (loop
          (setf at (or (position-if-not (lambda (octet) (member octet '(32 9 10 13))) octets :start at) (return)))
          (multiple-value-bind (value after) (parse-json octets :start at) (push value documents) (setf at after)))
      (json-fault () nil))
    (nreverse documents)))

(defun json-report (octets)
  (let* ((documents (json-documents octets)) (document (first documents)))
    (cond ((null document) nil)
          ((member-of document "testResults") (jest-report document))
          ((and (member-of document "stats") (member-of document "failures")) (mocha-report document))
          ((and (member-of document "suites") (member-of document "config")) (playwright-report document))
          ((and (member-of document "examples") (member-of document "summary")) (rspec-report document))
          ((and (member-of document "tests") (member-of document "summary")) (pytest-report document))
          ((and (simple-vector-p document) (plusp (length document)) (member-of (svref document 0) "filePath")) (eslint-report document))
          ((find-if (lambda (event) (or (equal "suite" (member-of event "type")) (member-of event "reason"))) documents :end (min 20 (length documents)))
           (if (find "testStart" documents :key (lambda (event) (member-of event "type")) :test #'equal) (dart-report documents) (libtest-report documents)))
          ((find "testStart" documents :key (lambda (event) (member-of event "type")) :test #'equal) (dart-report documents)))))

(defun xml-report (octets)
  (let* ((nodes (parse-xml (sb-ext:octets-to-string octets :external-format '(:utf-8 :replacement #\?)))) (root (first nodes)))
    (cond ((null root) nil)
          ((member (node-name root) '("testsuites" "testsuite") :test #'string=) (junit-report nodes))
          ((string= "TestRun" (node-name root)) (trx-report nodes))
          ((member (node-name root) '("test-run" "test-results" "assemblies" "assembly") :test #'string=) (nunit-report nodes)))))

(defun json-start (octets)
  "Where a report begins behind other lines: a line that is `{` and no more, or begins a known document."
  (loop for start = 0 then (1+ end)
        for end = (position 10 octets :start start)
        when (and (< start (length octets)) (= 123 (aref octets start))
                  (or (= start (or end 0)) (and end (<= (- end start) 2)) (search (map 'vector #'char-code "\"numTotalTest") octets :start2 start :end2 (min (length octets) (+ start 4000)))))
          return start
        while end))

(defun parse-format (path exit-code &key embedded)
  "The report of the machine-readable report at PATH, or nil when it is none that is known. With EMBEDDED one that begins
behind other lines is looked for."
  (let* ((head (head-of path)) (first (and (plusp (length head)) (char head 0)))
         (small (with-open-file (in path :element-type '(unsigned-byte 8)) (<= (file-length in) +largest+)))
         (report (and small
                      (case first
                        ((#\{ #\[) (unless (or (search "\"Action\":" head :end2 (min 400 (length head))) (and (char= first #\[) (not (member (char (string-left-trim '(#\Space #\Newline #\Return #\Tab) (subseq head 1)) 0) '(#\{ #\])))))
                                     (json-report (file-octets path))))
                        (#\< (xml-report (file-octets path)))
                        (t (and embedded
                                (let* ((octets (file-octets path)) (start (json-start octets)))
                                  (and start (json-report (subseq octets start))))))))))
    (when report
      (setf (report-verdict report) (with-exit-code (report-verdict report) exit-code (report-failures report)))
      report)))
