;;;; sidecar/wire/protocol.lisp: what does not keep protocol.tsv does not compile, and what comes over the wire is decoded by it.

(defpackage #:opl.test.protocol
  (:use #:cl #:opl.test)
  (:import-from #:opl.wire.conditions #:fault #:fault-code)
  (:import-from #:opl.wire.fields #:line-buffer-octets #:line-buffer-fill)
  (:import-from #:opl.wire.protocol
                #:define-operation #:emit #:slice #:run-operation #:make-reply #:reply-buffer #:reply-cancelled #:check-cancelled #:*reply*
                #:operations #:defined-p #:operation-lane #:error-codes #:progress))

(in-package #:opl.test.protocol)

(defun written (reply)
  (let ((buffer (reply-buffer reply)))
    (sb-ext:octets-to-string (subseq (line-buffer-octets buffer) 0 (line-buffer-fill buffer)) :external-format :utf-8)))

(defmacro rows (&body forms)
  "What FORMS write as rows of a request 7 that may answer with anything."
  `(let* ((reply (make-reply :id "7" :allowed (1- (ash 1 62)))) (*reply* reply))
     ,@forms
     (written reply)))

(defun line (&rest fields) (format nil "~{~a~^	~}~%" fields))

(deftest every-operation-of-the-table-is-defined
  (dolist (name (operations))
    (check (defined-p name))
    (check (member (operation-lane name) '("query" "work" "evaluation") :test #'string=))))

(deftest what-the-table-does-not-know-does-not-compile
  (check-error error (macroexpand-1 '(define-operation frobnicate () "No such operation.")))
  (check-error error (macroexpand-1 '(define-operation search (limit name) "Arguments in another order." nil)))
  (check-error error (macroexpand-1 '(define-operation search (name) "An argument too few." nil)))
  (check-error error (macroexpand-1 '(emit weather "fine")))
  (check-error error (macroexpand-1 '(emit value "one field of two")))
  (check (macroexpand-1 '(define-operation search (name limit) "As the table has it." nil))))

(deftest values-are-written-by-their-types
  (check-equal (line 7 "row" "value" "a\\tb" "string") (rows (emit 'value (format nil "a~cb" #\Tab) "string")))
  (check-equal (line 7 "row" "tag" "p" "n" "function" 3 "" "") (rows (emit tag "p" "n" "function" 3 nil nil)))
  (check-equal (line 7 "row" "ranked-file" "p" "1.5" "same-file" 0 "one" "two") (rows (emit ranked-file "p" 3/2 :same-file 0 '("one" "two"))))
  (check-equal (line 7 "row" "ranked-file" "p" "0" "match" 0 "") (rows (emit ranked-file "p" 0 :match 0 '())))
  (let ((arena (sb-ext:string-to-octets "xxnamexx" :external-format :utf-8)))
    (check-equal (line 7 "row" "value" "name" "t") (rows (emit value (slice arena 2 6) "t")))))

(deftest a-value-that-is-wrong-leaves-no-half-row
  (let* ((reply (make-reply :id "7" :allowed (1- (ash 1 62)))) (*reply* reply))
    (check-error error (emit value (error "no value") "t"))
    (check-equal "" (written reply)))
  (check-error error (rows (emit ranked-file "p" 0 :nosuchrole 0 '()))))

(deftest rows-that-the-operation-may-not-have-are-refused
  (check-error error (let ((*reply* (make-reply :id "7" :allowed 0))) (emit value "1" "t")))
  (check-error error (let ((*reply* nil)) (emit value "1" "t"))))

(defun code-of (operation &rest fields)
  (handler-case (progn (run-operation (make-reply :id "1") operation fields) nil)
    (fault (fault) (fault-code fault))))

(deftest wrong-requests-are-faults-of-their-own
  (check-equal :unknown-operation (code-of "frobnicate"))
  (check-equal :bad-argument (code-of "search" "name"))
  (check-equal :bad-argument (code-of "search" "name" "-1"))
  (check-equal :bad-argument (code-of "search" "name" ""))
  (check-equal :bad-argument (code-of "search" "name" "1" "more"))
  (check-equal :bad-argument (code-of "calls" "maybe")))

(deftest a-cancelled-request-ends-at-its-next-word
  (let ((*reply* (make-reply :id "7" :allowed 0 :cancelled t)))
    (check-equal :cancelled (fault-code (check-error fault (check-cancelled))))
    (check-error fault (progress "reading" 1 2)))
  (check (member :cancelled (error-codes))))
