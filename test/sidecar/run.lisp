;;;; sbcl --script test/sidecar/run.lisp [name…]: runs the Lisp tests, or those of the named files (failures/pattern or pattern for pattern-test.lisp).

(defvar cl-user::*here* (make-pathname :name nil :type nil :defaults *load-truename*))

(setf sb-ext:*default-external-format* :utf-8) ; --script takes the locale's, and a bare machine has none
(load (merge-pathnames "../../sidecar/load.lisp" cl-user::*here*))
(load (merge-pathnames "harness.lisp" cl-user::*here*))

(let* ((names (rest sb-ext:*posix-argv*))
       (files (sort (directory (merge-pathnames "**/*-test.lisp" cl-user::*here*)) #'string< :key #'namestring))
       (chosen (if names
                   (remove-if-not (lambda (file)
                                    (member (subseq (pathname-name file) 0 (- (length (pathname-name file)) 5)) names :test #'string=))
                                  files)
                   files)))
  (when (null chosen)
    (format t "No test file matches ~{~a~^, ~}.~%" names)
    (sb-ext:exit :code 2 :abort t))
  (dolist (file chosen) (load file :external-format :utf-8))
  (let ((good (opl.test:run-tests)))
    (finish-output)
    (sb-ext:exit :code (if good 0 1) :abort t)))
