(defpackage #:opl.failures.frames
  (:use #:cl #:opl.failures.report)
  (:shadowing-import-from #:opl.failures.pattern #:search)
  (:import-from #:opl.failures.pattern #:line #:matching)
  (:import-from #:opl.failures.table #:prefixp #:suffixp #:trim)
  (:export #:frame-of #:tidy-path #:foreign-path-p #:as-line))
(in-package #:opl.failures.frames)

(declaim (optimize (speed 1) (safety 1)))

;;; One line of a stack, in the shapes that languages print; which of them lie outside the project.

(defun as-line (string)
  "STRING as patterns want it."
  (coerce string 'line))

(defun without-prefixes (path prefixes)
  (loop for prefix in prefixes
        when (prefixp prefix path) do (setf path (subseq path (length prefix)))
        finally (return path)))

(defun tidy-path (path)
  "PATH with forward slashes, without schemes, hosts, queries and a leading `./`; nil for nil or an empty one."
  (when path
    (let* ((path (substitute #\/ #\\ (trim path)))
           (base (search "/base/" path)))
      (when (or (prefixp "http://" path) (prefixp "https://" path))
        (let ((webpack (search "_karma_webpack_/" path)))
          (cond (webpack (setf path (subseq path (+ webpack (length "_karma_webpack_/")))))
                (base (setf path (subseq path (+ base (length "/base/")))))
                (t (let ((slash (position #\/ path :start (min 8 (length path))))) (when slash (setf path (subseq path (1+ slash)))))))))
      (cond ((prefixp "file:///" path) (setf path (subseq path (if (and (< 9 (length path)) (char= #\: (char path 9))) 8 7))))
            ((prefixp "file://" path) (setf path (subseq path 7)))
            ((prefixp "webpack-internal:///" path) (setf path (subseq path 20)))
            ((prefixp "webpack:///" path) (setf path (subseq path 11)))
            ((prefixp "webpack://" path) (let ((slash (position #\/ path :start 10))) (setf path (subseq path (if slash (1+ slash) 10)))))
            ((prefixp "webpack:/" path) (setf path (subseq path 9)))
            ((prefixp "(rsc)/" path) (setf path (subseq path 6))))
      (let ((query (position #\? path))) (when (and query (plusp query)) (setf path (subseq path 0 query))))
      (when (and (prefixp "(" path) (not (find #\) path))) (setf path (subseq path 1)))
      (loop while (prefixp "./" path) do (setf path (subseq path 2)))
      (and (plusp (length path)) path))))

(defparameter *foreign-parts*
  '("node_modules/" "/site-packages/" "/dist-packages/" "/lib/python" "/lib64/python" "\\lib\\site-packages" "/.pyenv/" "/pythonwaf/" "/_pytest/"
    "/gems/" "/lib/ruby/" "/rubygems/" "/.rbenv/" "/.rvm/" "/bin/rake" "/bin/rspec" "/bin/bundle" "/ruby/gems" "/lib/bundler"
    "/vendor/phpunit/" "vendor/phpunit/" "vendor/pestphp/" "/vendor/bin/" "phar://" "vendor/laravel/" "vendor/symfony/" "vendor/"
    "/rustc/" "/.cargo/registry" "/.rustup/" "library/std/" "library/core/" "/toolchains/"
    "/usr/lib/go" "github.com/stretchr/testify" "/usr/local/go/src" "/go/pkg/mod/" "/src/testing/testing.go" "/src/runtime/" "/src/reflect/" "_testmain.go" "/hostedtoolcache/go/"
    "/usr/include/" "gtest/gtest" "/usr/src/" "catch2/" "/usr/lib/" "/.yarn/" "/deps/" "package:test_api" "package:flutter_test" "package:matcher" "package:stack_trace" "package:flutter/"
    "dart:" "package:test/" "package:expect/" "/jest-runtime/" "internal/process/" "internal/modules/" "internal/timers" "/opt/hostedtoolcache/"
    "deno.land/std" "std@" "__cypress/" "jsr.io/@std" "jsr.io"))

(defparameter *foreign-heads*
  '("node:" "internal/" "<" "ext:" "bun:" "deno:" "native" "Native" "Unknown" "unknown" "anonymous" "[" "module.js" "events.js" "timers.js" "domain.js" "async_hooks.js" "vm.js" "fs.js" "net.js"
    "_stream_" "stream.js" "_http_" "util.js" "bootstrap_node.js" "node.js" "child_process.js" "assert.js" "index 0" "library/" "core.js:" "webpack/" "/__w/_tool" "https:" "chunk-" "test_api" "dart-sdk"))

(defun foreign-path-p (path)
  "True when PATH lies outside the project: a dependency, the language's library, the runner itself."
  (or (null path)
      (some (lambda (part) (search part path)) *foreign-parts*)
      (some (lambda (head) (prefixp head path)) *foreign-heads*)))

(defparameter *foreign-packages*
  '("java." "javax." "jdk." "sun." "com.sun." "org.junit." "junit." "org.opentest4j." "org.hamcrest." "org.assertj." "org.mockito." "kotlin." "kotlinx." "scala." "org.scalatest."
    "org.apache.maven." "org.gradle." "org.testng." "groovy." "org.codehaus.groovy." "org.spockframework." "com.google.common." "io.kotest." "io.kotlintest." "worker.org.gradle."
    "org.apache.tools.ant." "org.powermock." "net.bytebuddy." "org.springframework." "com.google.truth." "akka." "zio." "sbt." "munit." "org.robolectric." "android." "androidx." "com.android."
    "org.easymock." "org.eclipse.jdt." "org.scalactic." "verify.asserts." "utest." "org.specs2." "cats." "io.mockk." "reactor." "com.intellij." "org.apache.commons." "com.squareup.javapoet." "org.testcontainers." "io.netty."
    "jakarta." "ch.qos." "org.slf4j." "org.apache.logging." "com.fasterxml." "net.sf.cglib." "clojure." "worksheet." "strikt." "assertk." "org.jetbrains." "io.vertx.junit5." "org.hibernate." "com.thoughtworks." "org.python."))

(defun java-function (text)
  "TEXT without the class loader and module that newer virtual machines print before the class."
  (let ((slash (position #\/ text :from-end t))) (if slash (subseq text (1+ slash)) text)))

(defparameter *elixir-libraries* '("elixir" "ex_unit" "stdlib" "kernel" "erts" "mix" "logger" "eex" "iex" "compiler" "phoenix" "ecto" "ecto_sql" "plug" "db_connection" "mox" "telemetry" "jason"))

(defun make (path line function &optional foreign)
  (let ((path (tidy-path path)))
    (make-frame :path path :line line :function (and function (trim function)) :foreign (or foreign (foreign-path-p path)))))

(defun in-js (text end)
  (or (matching (text end) (blanks "at " (? "async ") (function text+) " (" (path (not-of "()")) ":" (at integer) ":" integer (or ")" " <-" ", "))
        (make path at function))
      (matching (text end) (blanks (or "at " "❯ " "› ") (? "async ") (path path (? "(" word ")" (? path))) ":" (at integer) (? ":" integer) (? ")") end) (make path at nil))
      (matching (text end) (blanks (or "at " "❯ " "› ") (? "async ") (path (not-of "()❯›")) ":" (at integer) ":" integer (? ")") end)
        (let ((space (position #\Space path :from-end t)))
          (if (and space (search "❯" text)) (make (subseq path (1+ space)) at (subseq path 0 space)) (make path at nil))))
      (matching (text end) (blanks (or "❯ " "› ") (function (not-of "()")) (? " (" ) " " (path path) ":" (at integer) ":" integer (? ")") end) (make path at function))
      (matching (text end) (blanks (? "at ") (function (not-of "()@")) " (" (path path) ":" (at integer) (? ":" integer) ")" end) (and (or (find #\. path) (find #\/ path)) (make path at function)))
      (matching (text end) (blanks "at " (function text+) " (" (path (or "native" "<anonymous>" "index " "native:")) (? integer) text ")" end) (make path nil function t))
      (matching (text end) (blanks "at " (path "<" (not-of "<>") ">") end) (make path nil nil t))
      (matching (text end) (blanks (? (function (not-of "@ ()"))) "@" (path (or "http" "file" "webpack") text+) ":" (at integer) ":" integer end) (make path at function))
      (matching (text end) (blanks (path (or "file://" "node:") (not-of " ()\"'")) ":" (at integer) ":" integer end) (make path at nil))))

(defun in-python (text end)
  (or (matching (text end) (blanks "File \"" (path (not-of "\"")) "\", line " (at integer) (? ", in " (function rest))) (make path at function))
      (matching (text end) ((path path) ":" (at integer) ": in " (function rest)) (make path at function))
      (matching (text end) ((path path (or ".py" ".pyx" ".pyi" ".pxd" ".so" ".rst" ".txt" ".md" ".yaml" ".yml" ".feature" ".ipynb")) ":" (at integer) ":" (or end (seq blank "in " (function rest)) (seq blank word end)))
        (make path at function))))

(defun in-java (text end)
  (matching (text end) (blanks (or (seq "at " (function (not-of "()"))) (function (not-of "() "))) "(" (file (not-of ":()")) (? ":" (at integer)) ")" (or end " ~[" " ["))
    (let ((function (java-function function)))
      (and (find #\. function)
           (make file at function
                 (or (null at) (some (lambda (package) (prefixp package function)) *foreign-packages*)))))))

(defun in-go (text end)
  (or (matching (text end) (blanks (? "Error Trace:" blanks) (path path ".go") ":" (at integer) (? " +0x" word) (? ": " longest) end) (make path at nil))
      (matching (text end) (blanks (path path ".go") ":" (at integer) ":" integer (? ":") longest end) (make path at nil))))

(defun in-rust (text end)
  (or (matching (text end) (text "panicked at " (path path ".rs") ":" (at integer) ":" integer (? ":") end) (make path at nil))
      (matching (text end) (text "panicked at " longest ", " (path path ".rs") ":" (at integer) (? ":" integer) end) (make path at nil))
      (matching (text end) (text " as expected at " (path path ".rs") ":" (at integer) ":" integer end) (make path at nil))
      (matching (text end) ("', " (path path ".rs") ":" (at integer) ":" integer end) (make path at nil))
      (matching (text end) (longest ", " (path path ".rs") ":" (at integer) ":" integer end) (make path at nil))
      (matching (text end) (blanks "at " (path path ".rs") ":" (at integer) (? ":" integer) end) (make path at nil))))

(defun in-ruby (text end)
  (or (matching (text end) (blanks (? "# ") (? "from ") (path path) ":" (at integer) (? ":in " (or "`" "'") (function text+) "'") end) (make path at function))
      (matching (text end) (blanks "# " (path path) ":" (at integer) ":in " (function rest)) (make path at function))
      (matching (text end) (blanks (path path ".rb") ":" (at integer) ":in " (function rest)) (make path at function))))

(defun in-php (text end)
  (or (matching (text end) (blanks (? "at ") (? "in ") (path (? (or "/" drive)) (not-of ":()") ".php") ":" (at integer) end) (make path at nil))
      (matching (text end) (blanks "#" integer " " (path (not-of "():")) "(" (at integer) "): " (function rest)) (make path at function))
      (matching (text end) (blanks (? (of "0123456789") blank) (? (or "+ at " "▕ ")) (path path ".php") ":" (at integer) end) (make path at nil))))

(defun in-dotnet (text end)
  (or (matching (text end) (blanks (or "at " "à " "bei " "в ") (function text+) (or " in " " dans ") (path (not-of "*\"")) (or ":line " ":ligne " ":Zeile ") (at integer)) (make path at function))
      ;; xUnit's console
      (matching (text end) (blanks (path (? drive) (not-of "():")) "(" (at integer) "," integer "): at " (function rest)) (make path at function))
      ;; Mono's and NUnit's; without debugging symbols a frame names its module's checksum
      (matching (text end) (blanks "at " (function text+) " [0x" (of "0123456789abcdef") "] in <" (not-of "<>") ">:" integer) (make nil nil function t))
      (matching (text end) (blanks "at (wrapper " (function text+) ")" rest) (make nil nil function t))
      (matching (text end) (blanks "at " (function text+) " [0x" (of "0123456789abcdef") "] in " (path (? (or drive "/")) (not-of ":<>")) ":" (at integer) end) (make path at function))
      (matching (text end) (blanks "at " (function text+) " in " (path (? (or drive "/")) (not-of ":<>")) ":" (at integer) end) (make path at function))
      (matching (text end) (blanks "at " (function (not-of "()")) "(" longest ")" end) (make nil nil function t))))

(defun in-elixir (text end)
  (matching (text end) (blanks (? "(" (app (not-of " ()")) (? " " (not-of "()")) ") ") (path path (or ".exs" ".ex" ".erl" ".eex")) ":" (at integer) (? ": " (function rest)))
    (make path at function (and app (member app *elixir-libraries* :test #'string=) t))))

(defun in-perl (text end)
  (matching (text end) (text "at " (path path) " line " (at integer)) (make path at nil)))

(defun in-lua (text end)
  (or (matching (text end) (text "in test file " (path path) ", line " (at integer)) (make path at nil))
      (matching (text end) (blanks (path path (or ".lua" ".moon" ".bats" ".bash" ".sh" ".hs" ".zig" ".gleam" ".ml" ".nim" ".cr" ".jl" ".lisp" ".clj" ".erl" ".R")) ":" (at integer)) (make path at nil))))

(defun in-dart (text end)
  (or (matching (text end) (blanks (path (not-of " ()") ".dart") " " blanks (at integer) (? ":" integer) (or end (seq blanks+ (function rest)))) (make path at function))
      (matching (text end) (blanks "#" integer blanks+ (function text+) " (" (path (not-of "()") ".dart") ":" (at integer) (? ":" integer) ")") (make path at function))))

(defun in-c (text end)
  (matching (text end) (blanks (path path (or ".cc" ".cpp" ".cxx" ".c" ".h" ".hpp" ".hh" ".m" ".mm" ".swift" ".ino" ".cu")) (or (seq ":" (at integer)) (seq "(" (at integer) ")"))) (make path at nil)))

(defun frame-of (language text)
  "The frame that the line TEXT is in LANGUAGE (a keyword), or nil."
  (let ((end (length text)))
    (declare (type line text))
    (ecase language
      (:js (in-js text end)) (:python (in-python text end)) (:java (in-java text end)) (:go (in-go text end)) (:rust (in-rust text end))
      (:ruby (in-ruby text end)) (:php (in-php text end)) (:dotnet (in-dotnet text end)) (:elixir (in-elixir text end))
      (:perl (in-perl text end)) (:lua (in-lua text end)) (:dart (in-dart text end)) (:c (in-c text end)))))
