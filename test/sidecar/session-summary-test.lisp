;;;; sidecar/session/summary.lisp, facts.lisp, change.lisp, decision.lisp

(defpackage #:opl.test.session.summary
  (:use #:cl #:opl.test #:opl.session.summary)
  (:import-from #:opl.session.memory #:attach-memory #:observe #:observations #:family-observations)
  (:import-from #:opl.session.facts #:facts #:section-title #:section-items #:edited-symbols #:*callers-of*)
  (:import-from #:opl.session.change #:describe-diff #:diff-line-numbers)
  (:import-from #:opl.session.decision #:decisions #:trivial-request-p)
  (:import-from #:opl.session.recall #:recall)
  (:import-from #:opl.session.observation #:observation-text #:observation-subject))

(in-package #:opl.test.session.summary)

(defmacro with-memory (&body body)
  `(with-scratch-folder (folder)
     (attach-memory folder)
     (unwind-protect (progn ,@body) (attach-memory nil))))

(defparameter *diff*
  (format nil "--- a/src/token.ts~%+++ b/src/token.ts~%@@ -10,7 +10,8 @@ export class Lexer {~% function parseToken(input) {~%-  const limit = 15~%+  const limit = 30~%+  check(limit)~%   return limit~% }~%"))

(deftest a-diff-in-a-line
  (check-equal "parseToken: +2 -1 | was: const limit = 15 | now: const limit = 30" (describe-diff *diff*))
  (check-equal "Lexer.parseToken: +2 -1 | was: const limit = 15 | now: const limit = 30"
               (describe-diff *diff* '("Lexer.parseToken")))
  (check-equal '(11 12) (diff-line-numbers *diff*))
  (check-equal "not a diff at all" (describe-diff (format nil "not a diff~%at all")))
  (check-equal "" (describe-diff "")))

(deftest names-in-diffs-of-several-languages
  (flet ((named (line) (describe-diff (format nil "@@ -1 +1,2 @@~%+~A~%" line))))
    (check (search "def_one:" (named "def def_one(self):")))
    (check (search "Handle:" (named "func Handle(w http.ResponseWriter) {")))
    (check (search "Point:" (named "pub struct Point {")))
    (check (search "render:" (named "  render(props: Props): Node {")))
    (check (search "square:" (named "(defun square (x)")))))

(deftest decisions-in-prose
  (check-equal '("We chose JWT because sessions do not scale.")
               (decisions (format nil "I looked at the code. We chose JWT because sessions do not scale. Then I ran the tests.")))
  (check-equal '("Always use tabs here.") (decisions (format nil "- Always use tabs here.~%```~%// we use spaces~%```~%")))
  (check-equal '() (decisions "Should we use tabs or go with spaces?"))
  (check-equal '() (decisions "The test fails.")))

(deftest turns-that-ask-nothing
  (dolist (text '("yes" "ok" "Continue." "go on!" " thanks " "OK, continue" "y")) (check (trivial-request-p text)))
  (dolist (text '("fix the parser" "why does parseToken fail?" "yes, and rename it to Lexer")) (check (not (trivial-request-p text)))))

(deftest the-last-word-on-tests-counts
  (with-memory
    (observe "s" :test :subject "a" :state "failed" :text "src/a.test.ts:3 expected 1")
    (observe "s" :test :subject "b" :state "failed")
    (observe "s" :test :subject "a" :state "passed")
    (observe "s" :test :subject "c" :state "passed")
    (let ((sections (facts (observations "s"))))
      (check-equal '("b") (section-items (find "Failing tests" sections :key #'section-title :test #'string=)))
      (check-equal '("a") (section-items (find "Fixed tests" sections :key #'section-title :test #'string=))))))

(deftest edits-of-one-file-are-one-item
  (with-memory
    (observe "s" :edit :subject "src/a.ts" :state "add" :text "one: +1 -0")
    (observe "s" :edit :subject "src/b.ts" :state "change" :text "two: +1 -1")
    (observe "s" :edit :subject "src/a.ts" :state "change" :text "three: +2 -0")
    (check-equal '(("src/b.ts" "change" "two: +1 -1") ("src/a.ts" "change" "one: +1 -0" "three: +2 -0"))
                 (edited-symbols (observations "s")))))

;;; A session of 60 turns with 30 facts planted among the ordinary.

(defparameter *subjects*
  '("session store" "rate limiter" "upload form" "mail queue" "price rounding" "search index" "login page" "cache layer"
    "export job" "date picker"))

(defun plant (id)
  "Observe 60 turns in the session ID. Returns a list of (fact . words that recall it); every fact holds a word found nowhere else."
  (let ((facts '()))
    (flet ((fact (mark query) (push (cons mark query) facts)))
      (dotimes (turn 60)
        (let* ((subject (nth (mod turn 10) *subjects*))
               (number (floor turn 2)))
          (cond ((oddp turn)
                 (observe id :request :text (if (zerop (mod turn 3)) "continue" (format nil "now look at how the ~A behaves when the input is empty and tell me what you see there (~D)" subject turn))))
                ((< number 8)
                 (let ((mark (format nil "mark~Da" number)))
                   (observe id :edit :subject (format nil "src/~A.ts" mark) :state "change"
                                     :text (describe-diff (format nil "@@ -1,3 +1,3 @@~% function handle~D(x) {~%-  old(~D)~%+  fresh(~D)~% }~%" number number number)))
                   (fact mark (format nil "~A handle~D" mark number))))
                ((< number 16)
                 (let ((mark (format nil "mark~Db" number)))
                   (observe id :decision :text (format nil "We chose ~A for the ~A because the older way loses updates under load" mark subject))
                   (fact mark (format nil "why ~A for the ~A" mark subject))))
                ((< number 23)
                 (let ((mark (format nil "mark~Dc" number)))
                   (observe id :test :subject (format nil "~A > ~A keeps order" subject mark) :state "failed"
                                     :text (format nil "test/~A.test.ts:~D expected 3 to be 4" mark number))
                   (fact mark (format nil "failing test ~A" mark))))
                (t
                 (let ((mark (format nil "mark~Dd" number)))
                   (observe id :request :text (format nil "Make the ~A of ~A accept empty input, but keep the error for null" subject mark))
                   (fact mark (format nil "request about ~A" mark)))))
          (dotimes (call 4)
            (observe id :tool :subject (nth call '("read" "bash" "grep" "edit"))
                              :text (format nil "call ~D of turn ~D on the ~A: a longer text that says nothing that matters" call turn subject))))))
    (nreverse facts)))

(defun in-summary (facts text)
  (count-if (lambda (fact) (search (car fact) text)) facts))

(deftest planted-facts-are-in-the-summary-and-findable
  (with-memory
    (let* ((facts (plant "s"))
           (text (summary (observations "s") :tokens 1500)))
      (check-equal 30 (length facts))
      (check (>= (in-summary facts text) 28))
      (check (<= (estimate-tokens text) 1500))
      (check (<= (ceiling (length text) 4) 1500))
      (dolist (fact facts)
        (check (find-if (lambda (entry)
                          (search (car fact) (concatenate 'string (observation-subject (cdr entry)) " " (observation-text (cdr entry)))))
                        (recall (cdr fact) :limit 5)))))))

(deftest the-same-after-the-process-was-killed
  (with-memory
    (let ((facts (plant "s")))
      (attach-memory folder)
      (check (>= (in-summary facts (summary (observations "s") :tokens 1500)) 28))
      (check-equal 30 (count-if (lambda (fact)
                                  (find-if (lambda (entry)
                                             (search (car fact) (concatenate 'string (observation-subject (cdr entry)) " " (observation-text (cdr entry)))))
                                           (recall (cdr fact) :limit 5)))
                                facts)))))

(deftest a-tight-budget-is-kept
  (with-memory
    (plant "s")
    (dolist (tokens '(50 100 300 700))
      (check (<= (estimate-tokens (summary (observations "s") :tokens tokens)) tokens)))
    (check-equal "" (summary (observations "s") :tokens 5))
    (check-equal "" (summary '()))))

(defun items-of (title observations)
  (let ((section (find title (facts observations) :key #'section-title :test (lambda (title other) (eql 0 (search title other))))))
    (and section (section-items section))))

(deftest a-verdict-says-what-was-edited-since
  (with-memory
    (observe "s" :edit :subject "src/a.py" :state "change" :text "f: +1 -1")
    (observe "s" :verdict :subject "pytest" :state "passed" :text "3 passed, 0 failed at 0123456789")
    (check-equal '("pytest: passed, 3 passed, 0 failed at 0123456789") (items-of "Last test runs" (observations "s")))
    (dolist (path '("src/b.py" "src/c.py" "src/b.py")) (observe "s" :edit :subject path :state "change" :text "g: +1 -1"))
    (check-equal '("pytest: passed, 3 passed, 0 failed at 0123456789; edited since: src/b.py, src/c.py")
                 (items-of "Last test runs" (observations "s")))))

(deftest failures-that-tell-nothing-any-more-are-left-out
  (with-memory
    (observe "s" :failure :subject "make" :text "linker: no such symbol (exit 2)")
    (observe "s" :failure :subject "grep -rn x src" :text " (exit 1)")
    (observe "s" :failure :subject "pytest -q" :text "1 failed (exit 1)")
    (observe "s" :verdict :subject "pytest -q" :state "failed" :text "0 passed, 1 failed")
    (observe "s" :failure :subject "deploy" :text "disk full (exit 1)")
    (observe "s" :tool :subject "bash" :text "make (exit 2)")
    (check-equal '("make: linker: no such symbol (exit 2)" "deploy: disk full (exit 1)") (items-of "Failures met" (observations "s")))
    (observe "s" :tool :subject "bash" :text "make")
    (check-equal '("deploy: disk full (exit 1)") (items-of "Failures met" (observations "s")))))

(deftest callers-that-were-not-looked-at-are-open
  (with-memory
    (let ((*callers-of* (lambda (path name)
                          (cond ((string= name "broken") (error "no such thing"))
                                ((equal (list path name) '("src/a.py" "Box.f")) '(("src/b.py" . 3) ("src/c.py" . 9) ("test/t.py" . 1)))))))
      (observe "s" :edit :subject "src/new.py" :state "add" :text "Box.f: +1 -0")
      (observe "s" :tool :subject "read" :text "{\"filePath\":\"/repo/src/b.py\"} -> text")
      (check-equal '() (items-of "Open impact" (observations "s")))
      (observe "s" :edit :subject "src/a.py" :state "change" :text "Box.f, broken: +1 -1 | was: 1 | now: 2")
      (check-equal '("Box.f (src/a.py) is called from src/b.py:3, src/c.py:9, test/t.py:1") (items-of "Open impact" (observations "s")))
      ;; What was read or edited since is looked at; a path that only ends alike is another.
      (observe "s" :tool :subject "read" :text "{\"filePath\":\"/repo/src/b.py\"} -> text")
      (observe "s" :tool :subject "read" :text "{\"filePath\":\"/repo/mytest/t.py\"} -> text")
      (observe "s" :edit :subject "src/c.py" :state "change" :text "+1 -1")
      (check-equal '("Box.f (src/a.py) is called from test/t.py:1") (items-of "Open impact" (observations "s")))
      (observe "s" :verdict :subject "pytest" :state "failed" :text "")
      (check-equal 1 (length (items-of "Open impact" (observations "s"))))
      (observe "s" :verdict :subject "pytest" :state "passed" :text "")
      (check-equal '() (items-of "Open impact" (observations "s"))))))

(deftest what-a-subagent-did-to-the-tree-concerns-its-session
  (with-memory
    (observe "main" :request :text "make the router faster")
    (observe "child" :request :text "look for slow loops" :parent "main")
    (observe "child" :edit :subject "src/loop.py" :state "change" :text "turn: +1 -1" :parent "main")
    (observe "grandchild" :test :subject "t" :state "failed" :text "a.py:1" :parent "child")
    (observe "other" :edit :subject "src/other.py" :state "change" :text "x: +1 -1")
    (let ((all (family-observations "main")))
      (check-equal '("make the router faster") (items-of "Requests" all))
      (check-equal '("src/loop.py: turn: +1 -1") (items-of "Edited" all))
      (check-equal '("t: a.py:1") (items-of "Failing tests" all)))
    (check-equal 1 (length (observations "main")))))

(deftest many-decisions-keep-their-reasons-and-leave-room-for-the-rest
  (with-memory
    (observe "s" :request :text "FIRST request of all")
    (dotimes (i 150)
      (observe "s" :decision :text (format nil "We chose way ~D of doing it in the module that matters most to all of us here because REASON~D" i i))
      (observe "s" :failure :subject (format nil "command-~D" i) :text "went wrong (exit 1)"))
    (observe "s" :edit :subject "src/a.py" :state "change" :text "f: +1 -1")
    (observe "s" :request :text "LAST request of all")
    (let ((text (summary (observations "s"))))
      (check (<= (estimate-tokens text) 1500))
      (dolist (word '("FIRST" "LAST" "src/a.py" "REASON149")) (check (search word text)))
      (check (> (loop for i below 150 count (search (format nil "REASON~D" i) text)) 20)))))
