;;;; The test macros: DEFTEST names a test, CHECK and its kin count and report. No dependency, no cleverness.

(defpackage #:opl.test
  (:use #:cl)
  (:export #:deftest #:check #:check-equal #:check-error #:run-tests #:with-scratch-folder))

(in-package #:opl.test)

(defvar *tests* '() "Name and function of each test, newest first.")
(defvar *failures* '() "What failed in the running test, newest first.")

(defmacro deftest (name &body body)
  "Defines the test NAME. It passes when no check in BODY fails and nothing is signalled."
  `(setf *tests* (cons (cons ',name (lambda () ,@body)) (remove ',name *tests* :key #'car))))

(defun note-failure (control &rest arguments)
  (push (apply #'format nil control arguments) *failures*))

(defmacro check (form)
  "Fails when FORM is false."
  (let ((value (gensym)))
    `(let ((,value ,form))
       (unless ,value (note-failure "~s is false" ',form))
       ,value)))

(defun same-p (a b)
  "Equal, looking into vectors too; letters keep their case."
  (cond ((and (stringp a) (stringp b)) (string= a b))
        ((and (consp a) (consp b)) (and (same-p (car a) (car b)) (same-p (cdr a) (cdr b))))
        ((and (vectorp a) (vectorp b)) (and (= (length a) (length b)) (every #'same-p a b)))
        (t (equal a b))))

(defmacro check-equal (expected form)
  "Fails when FORM's value is not the same as EXPECTED."
  (let ((wanted (gensym)) (value (gensym)))
    `(let ((,wanted ,expected) (,value ,form))
       (unless (same-p ,wanted ,value)
         (note-failure "~s~%      wanted ~s~%      got    ~s" ',form ,wanted ,value))
       ,value)))

(defmacro check-error (condition form)
  "Fails when FORM does not signal CONDITION (a type); the value is the condition."
  (let ((caught (gensym)))
    `(let ((,caught (handler-case (progn ,form nil) (,condition (c) c))))
       (unless ,caught (note-failure "~s signals no ~(~a~)" ',form ',condition))
       ,caught)))

(defmacro with-scratch-folder ((variable) &body body)
  "Runs BODY with VARIABLE bound to the pathname of a new folder, which is deleted afterwards."
  `(call-with-scratch-folder (lambda (,variable) ,@body)))

(defun call-with-scratch-folder (function)
  (let ((folder (sb-ext:parse-native-namestring
                 (format nil "~a/" (sb-posix:mkdtemp (format nil "~a/opl-test-XXXXXX" (or (sb-posix:getenv "TMPDIR") "/tmp")))))))
    (unwind-protect (funcall function folder)
      (sb-ext:delete-directory folder :recursive t))))

(defun run-one (name function)
  "True when the test passes."
  (let ((*failures* '()))
    (handler-case (funcall function)
      (serious-condition (condition) (note-failure "~a: ~a" (type-of condition) condition)))
    (when *failures*
      (format t "FAIL ~(~a~)~%~{    ~a~%~}" name (reverse *failures*))
      (finish-output))
    (null *failures*)))

(defun run-tests ()
  "Runs all tests in the order of their definition, prints failures and the closing line; true when none failed and at least one ran."
  (let ((passed 0) (failed 0))
    (loop for (name . function) in (reverse *tests*)
          do (if (run-one name function) (incf passed) (incf failed)))
    (format t "~d passed, ~d failed~%" passed failed)
    (finish-output)
    (and (zerop failed) (plusp passed))))
