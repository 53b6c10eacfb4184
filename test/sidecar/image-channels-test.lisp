;;;; sidecar/image/channels.lisp

(defpackage #:opl.test.image.channels
  (:use #:cl #:opl.test)
  (:import-from #:opl.image.evaluate #:evaluate #:evaluation-values #:evaluation-outcome)
  (:import-from #:opl.image.keep #:attach-kept)
  (:import-from #:opl.image.world #:take-baseline #:reset))
(in-package #:opl.test.image.channels)

(take-baseline)

(defun value (code) (car (first (evaluation-values (evaluate code)))))

(defmacro with-project ((folder) &body body)
  "BODY with an index of three files for the queries and FOLDER for what is kept."
  (let ((root (gensym)))
    `(with-scratch-folder (,root)
       (loop for (name text) in '(("alpha.py" "def read_line(): pass  # line") ("beta.py" "def other(): pass  # line") ("gamma.py" "line = 1"))
             do (with-open-file (out (merge-pathnames name ,root) :direction :output) (write-string text out)))
       (with-scratch-folder (,folder)
         (reset)
         (attach-kept ,folder)
         (setf opl.image.targets:*index* (opl.index.refresh:build-index (sb-ext:native-namestring ,root) nil '()))
         (unwind-protect (progn ,@body)
           (setf opl.image.targets:*index* nil)
           (attach-kept nil)
           (reset))))))

(defparameter *first* "(first (first (shares-of \"read line\")))")

(defparameter *title-weight* "(second (assoc \"title\" (channels) :test #'string=))")

(deftest channels-are-seen-weighed-added-and-taken-out-by-code
  (with-project (folder)
    (let ((shipped (value *title-weight*)))
      (check-equal "\"alpha.py\"" (value *first*))
      (check-equal "T" (value (format nil "(plusp ~A)" *title-weight*)))
      (value "(defchannel mine 30 (path task) (if (search \"gamma\" path) (length task) 0))")
      (check-equal "\"gamma.py\"" (value *first*))
      (check-equal "(\"mine\" . 30.0)" (value "(first (third (first (shares-of \"read line\"))))"))
      (value "(defweight mine 0)")
      (check-equal "\"alpha.py\"" (value *first*))
      (check-equal "T" (value "(remove-channel \"mine\")"))
      (check-equal "NIL" (value "(remove-channel 'mine)"))
      (check-equal :error (evaluation-outcome (evaluate "(defweight nonesuch 1)")))
      (value "(defweight title 0)")
      (check-equal "0.0" (value *title-weight*))
      (value "(reset-channels)")
      (check-equal shipped (value *title-weight*)))))

(deftest channels-and-weights-are-kept-for-the-project
  (with-project (folder)
    (value "(defchannel mine 30 (path task) (if (search \"gamma\" path) 1 0)) (keep 'mine) (defweight title 7) (keep 'title)")
    (let ((index opl.image.targets:*index*))
      (reset)
      (setf opl.image.targets:*index* index))
    (check-equal "\"alpha.py\"" (value *first*))
    (check-equal '() (attach-kept folder))
    (check-equal "\"gamma.py\"" (value *first*))
    (check-equal "7.0" (value *title-weight*))
    (value "(drop 'mine) (reset-channels)")
    (check-equal '() (attach-kept folder))
    (check-equal "\"alpha.py\"" (value *first*))))

(deftest an-added-channel-that-fails-costs-no-answer
  (with-project (folder)
    (value "(defchannel broken 30 (path task) (error \"no\"))")
    (check-equal "\"alpha.py\"" (value *first*))))
