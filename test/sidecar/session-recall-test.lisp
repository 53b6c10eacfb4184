;;;; sidecar/session/recall.lisp

(defpackage #:opl.test.session.recall
  (:use #:cl #:opl.test #:opl.session.recall)
  (:import-from #:opl.session.memory #:attach-memory #:observe #:current-session)
  (:import-from #:opl.session.observation #:observation-text #:observation-session))

(in-package #:opl.test.session.recall)

(defmacro with-memory (&body body)
  `(with-scratch-folder (folder)
     (attach-memory folder)
     (unwind-protect (progn ,@body) (attach-memory nil))))

(defun found (query &rest keys)
  (mapcar (lambda (entry) (observation-text (cdr entry))) (apply #'recall query keys)))

(deftest words-of-names-and-prose
  (check-equal '("get" "user" "id" "getuserid") (words "getUserID"))
  (check-equal '("http" "server" "httpserver") (words "HTTPServer"))
  (check-equal '("pars" "token") (words "parse_token"))
  (check-equal (words "failing tests updated") (words "failed test updates")))

(deftest words-that-others-call-stop-words-find-their-line
  (with-memory
    (observe "s" :tool :subject "bash" :text "npm run build ended well")
    (observe "s" :failure :text "the test run failed after the update of the lock file")
    (observe "s" :request :text "please rename the button")
    (check-equal "the test run failed after the update of the lock file" (first (found "test run failed update")))))

(deftest the-current-session-comes-first
  (with-memory
    (observe "old" :note :text "token expiry is 15 minutes")
    (observe "new" :note :text "token expiry is 30 minutes")
    (check-equal "new" (current-session))
    (check-equal '("token expiry is 30 minutes" "token expiry is 15 minutes") (found "token expiry"))
    (check-equal '("token expiry is 15 minutes") (found "token expiry" :session "old" :only t))))

(deftest the-same-thing-is-not-said-twice
  (with-memory
    (observe "a" :note :text "use tabs")
    (observe "b" :note :text "use tabs")
    (check-equal 1 (length (recall "tabs")))
    (check-equal "b" (observation-session (cdr (first (recall "tabs")))))))

(deftest nothing-known-and-nothing-found
  (with-memory
    (check-equal '() (recall "anything"))
    (observe "a" :note :text "use tabs")
    (check-equal '() (recall "spaces"))
    (check-equal '() (recall ""))))

(deftest twenty-calls-in-a-row-answer-alike
  (with-memory
    (dotimes (i 200) (observe "a" :tool :subject "read" :text (format nil "file number ~D of the parser" i)))
    (observe "a" :note :text "the parser keeps comments")
    (let ((first (found "parser comments")))
      (check-equal "the parser keeps comments" (first first))
      (loop repeat 20 do (check-equal first (found "parser comments"))))))
