;;;; Saves the sidecar as a core, which starts in some tens of milliseconds:
;;;;   sbcl --non-interactive --no-sysinit --no-userinit --load sidecar/build.lisp --end-toplevel-options CORE
;;;; Prints lines `progress <done> <total> <file>` (TAB between fields). The core appears under its name only when it is whole.
;;;; Warnings are errors when OPL_STRICT is set, as it is in the tests; on a user's machine a newer SBCL may know a warning we do not.

;; SBCL's own handlers unwind, and a second signal meanwhile waits for the first for ever: this process has nothing to put in order
#-win32
(dolist (signal (list sb-unix:sigterm sb-unix:sigint sb-unix:sighup)) (sb-sys:enable-interrupt signal :default))

(push :opl-build *features*)
(load (merge-pathnames "load.lisp" *load-truename*))

(in-package #:opl.load)

(setf *features* (remove :opl-build *features*)
      *strict* (and (sb-posix:getenv "OPL_STRICT") t)
      *report* (lambda (done total file)
                 (format t "progress~c~d~c~d~c~a~%" #\Tab done #\Tab total #\Tab file)
                 (finish-output)))

(defun give-up (condition)
  "Says on one line why there is no core, and ends."
  (format *error-output* "~&no core: ~a~%" (substitute #\Space #\Newline (princ-to-string condition)))
  (finish-output *error-output*)
  (sb-ext:exit :code 1 :abort t))

(handler-bind ((error (lambda (condition) (unless (compiling-p) (give-up condition)))))
  (load-system))

(defconstant +kept-seconds+ (* 14 24 60 60) "Compiled files serve the next build of a development tree; so old ones serve none.")

(let ((now (get-universal-time)) (folder (fasl-folder)))
  (when folder
    (dolist (fasl (directory (merge-pathnames "*.fasl" folder) :resolve-symlinks nil))
      (ignore-errors
       (when (> (- now (file-write-date fasl)) +kept-seconds+)
         (delete-file fasl))))))

(let* ((core (sb-ext:parse-native-namestring (car (last sb-ext:*posix-argv*))))
       (scratch (make-pathname :name (format nil "~a-~d" (pathname-name core) (sb-posix:getpid)) :type "tmp" :defaults core))
       (writer (sb-posix:fork)))
  ;; A fork saves and dies of it; its parent lives to give the whole core its name.
  (cond ((zerop writer)
         (sb-ext:save-lisp-and-die scratch :toplevel (intern "MAIN" "OPL.WIRE.SERVER")))
        ((zerop (nth-value 1 (sb-posix:waitpid writer 0)))
         (rename-file scratch core)
         (sb-ext:exit :code 0 :abort t))
        (t
         (ignore-errors (delete-file scratch))
         (format *error-output* "The core could not be saved.~%")
         (sb-ext:exit :code 1))))
