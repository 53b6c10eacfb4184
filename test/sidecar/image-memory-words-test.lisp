;;;; sidecar/image/memory-words.lisp: the words as an agent types them.

(defpackage #:opl.test.image.memory-words
  (:use #:cl #:opl.test)
  (:import-from #:opl.image.evaluate #:evaluate #:evaluation-values #:evaluation-message #:evaluation-output)
  (:import-from #:opl.image.world #:take-baseline)
  (:import-from #:opl.session.memory #:attach-memory #:observe))

(in-package #:opl.test.image.memory-words)

(take-baseline)

(defun value (code) (car (first (evaluation-values (evaluate code)))))

(deftest the-memory-can-be-asked-and-told
  (with-scratch-folder (folder)
    (attach-memory folder)
    (unwind-protect
         (progn
           (check-equal "NIL" (value "(observations)"))
           (observe "s" :request :text "fix token expiry")
           (observe "s" :edit :subject "src/a.ts" :state "change" :text "f: +1 -1")
           (observe "s" :test :subject "t" :state "failed" :text "a.test.ts:3")
           (check-equal "\"we chose JWT\"" (value "(remember \"we chose JWT\")"))
           (check-equal "4" (value "(length (observations))"))
           (check-equal "(\"fix token expiry\")" (value "(mapcar #'fifth (observations :request))"))
           (check-equal "((\"src/a.ts\" \"change\" \"f: +1 -1\"))" (value "(edited-symbols)"))
           (check-equal "\"we chose JWT\"" (value "(fifth (first (recall \"why jwt\")))"))
           (check-equal "((\"t\" \"a.test.ts:3\"))" (value "(failing-tests)"))
           (check-equal "((\"s\" 4))" (value "(sessions)"))
           (check (search "No kind" (evaluation-message (evaluate "(observations :nonsense)"))))
           (check (search "(recall \"token expiry\")" (evaluation-output (evaluate "(help)")))))
      (attach-memory nil))))

(deftest each-session-asks-for-its-own-memory
  (with-scratch-folder (folder)
    (attach-memory folder)
    (flet ((value-in (session code) (car (first (evaluation-values (evaluate code :session session))))))
      (unwind-protect
           (progn
             (observe "a" :edit :subject "src/a.ts" :state "change" :text "f")
             (observe "b" :edit :subject "src/b.ts" :state "change" :text "g")
             (observe "child" :edit :subject "src/c.ts" :state "change" :text "h" :parent "a")
             (check-equal "((\"src/a.ts\" \"change\" \"f\"))" (value-in "a" "(edited-symbols)"))
             (check-equal "((\"src/c.ts\" \"change\" \"h\"))" (value-in "child" "(edited-symbols)"))
             (value-in "a" "(remember \"a's own note\")")
             (check-equal "0" (value-in "b" "(length (observations :note))"))
             (check-equal "1" (value-in "a" "(length (observations :note))"))
             ;; Nobody in particular: the session observed last.
             (check-equal "((\"src/b.ts\" \"change\" \"g\"))" (progn (observe "b" :request :text "go on") (value "(edited-symbols)"))))
        (attach-memory nil)))))
