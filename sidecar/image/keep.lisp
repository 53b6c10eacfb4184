;;;; Definitions that outlive the process: one file each in the project's cache folder, evaluated again
;;;; at the start. A broken one is set aside and said; it never blocks the start.

(defpackage #:opl.image.keep
  (:use #:cl)
  (:import-from #:opl.image.definitions #:definition-source)
  (:import-from #:opl.image.evaluate #:evaluate #:evaluation-outcome #:evaluation-message)
  (:import-from #:opl.image.vocabulary #:define-query)
  (:export #:keep #:kept #:drop #:attach-kept #:load-kept))

(in-package #:opl.image.keep)

(declaim (optimize (speed 1) (safety 1)))

(defconstant +load-deadline+ 5
  "Seconds that one kept definition may take at the start.")

(defvar *folder* nil
  "The project's folder of kept definitions, a pathname, or NIL while no project is open.")

(defvar *set-aside* '()
  "Of this process: a list of (name . message) for definitions that did not load.")

(defun file-name (name)
  "NAME as a file name: letters, digits and - as they are, everything else as its code."
  (with-output-to-string (stream)
    (loop for character across (string-downcase (string name))
          do (if (or (char<= #\a character #\z) (char<= #\0 character #\9) (char= character #\-))
                 (write-char character stream)
                 (format stream "_~X_" (char-code character))))))

(defun file-of (name type)
  (unless *folder*
    (error "No project is open with a cache folder, so nothing can be kept."))
  (make-pathname :name (file-name name) :type type :version nil :defaults *folder*))

(defun write-whole (path text)
  "Write TEXT to PATH by way of another name, so that a reader never meets half a file."
  (let ((scratch (make-pathname :name (format nil "~A-~D" (pathname-name path) (sb-posix:getpid))
                                :type "tmp" :defaults path)))
    (ensure-directories-exist path)
    (with-open-file (stream scratch :direction :output :if-exists :supersede :external-format :utf-8)
      (write-string text stream)
      (finish-output stream)
      (sb-posix:fsync (sb-sys:fd-stream-fd stream)))
    (rename-file scratch path)))

(defun read-whole (path)
  (with-open-file (stream path :external-format '(:utf-8 :replacement #\?))
    (let* ((text (make-string (file-length stream)))
           (length (read-sequence text stream)))
      (subseq text 0 length))))

(defun files (type)
  (when *folder*
    (sort (directory (make-pathname :name :wild :type type :version nil :defaults *folder*))
          #'string< :key #'namestring)))

(defun ordered-files ()
  "Kept files in the order they were kept: the first line of each carries it, for macros come before their uses."
  (flet ((order (path)
           (or (ignore-errors (parse-integer (read-whole path) :start 9 :junk-allowed t)) 0)))
    (stable-sort (mapcar (lambda (path) (cons (order path) path)) (files "lisp")) #'< :key #'car)))

(defun stored-name (text)
  "The name that a kept file's first line gives."
  (let* ((end (or (position #\Newline text) (length text)))
         ;; After ";;; kept " and the number.
         (space (and (> end 9) (position #\Space text :start 9 :end end))))
    (if space (subseq text (1+ space) end) "")))

(define-query keep (name) (:example "(keep 'my-rule)" :group "Kept definitions")
  "Keep the definition of NAME, a function, macro, variable or rule that you defined at top level, for this
project: it is there again in every later session. Returns the name."
  (let ((source (definition-source name)))
    (unless source
      (error "No definition of ~A is known; evaluate its defun (or def…) form at top level first, then keep it." name))
    (let ((path (file-of name "lisp"))
          (last (reduce #'max (mapcar #'car (ordered-files)) :initial-value 0)))
      ;; A definition kept again keeps its place.
      (let ((place (or (car (find path (ordered-files) :key #'cdr :test #'equal)) (1+ last))))
        (write-whole path (format nil ";;; kept ~D ~A~%~A~%" place (string-downcase (string name)) source)))
      name)))

(define-query kept () (:example "(kept)" :group "Kept definitions")
  "The kept definitions of this project: a list of (name source), in the order they were kept, then those
that were set aside as broken: (name :broken message). Nothing kept gives an empty list."
  (append
   (loop for (nil . path) in (ordered-files)
         for text = (read-whole path)
         collect (list (stored-name text)
                       (string-right-trim '(#\Newline)
                                          (subseq text (1+ (or (position #\Newline text) -1))))))
   (loop for path in (files "broken")
         for name = (stored-name (read-whole path))
         collect (list name :broken (or (cdr (assoc name *set-aside* :test #'string=))
                                        "did not load in an earlier session")))))

(define-query drop (name) (:example "(drop 'my-rule)" :group "Kept definitions")
  "Keep NAME no longer. The definition stays until the session ends. Returns T, or NIL when it was not kept."
  (let ((found nil))
    (dolist (type '("lisp" "broken") found)
      (let ((path (file-of name type)))
        (when (probe-file path)
          (delete-file path)
          (setf found t))))))

;;; The start.

(defun try-file (path)
  "Evaluate the kept file PATH; NIL when it loaded, else why it did not."
  (let ((evaluation (evaluate (format nil "(in-package :opl-user)~%~A" (read-whole path))
                              :deadline-seconds +load-deadline+)))
    (unless (eq (evaluation-outcome evaluation) :value)
      (evaluation-message evaluation))))

(defun set-aside (path message)
  (let ((name (stored-name (read-whole path))))
    (push (cons name message) *set-aside*)
    (rename-file path (make-pathname :type "broken" :defaults path))
    (format nil "The kept definition ~A was set aside: ~A (drop '~A) forgets it." name message name)))

(defun load-kept ()
  "Evaluate the kept definitions again. Returns a list of messages, one for each that was set aside."
  (setf *set-aside* '())
  ;; Twice for those that failed: one may need another that was kept after it.
  (let* ((failed (remove-if-not (lambda (entry) (try-file (cdr entry))) (ordered-files))))
    (loop for (nil . path) in failed
          for message = (ignore-errors (try-file path))
          when message
            collect (set-aside path message))))

(defun attach-kept (folder)
  "Make FOLDER (a pathname, or NIL for none) the project's folder of kept definitions and load them.
Returns the messages of LOAD-KEPT; an unreadable folder gives a message, not an error."
  (setf *folder* folder)
  (handler-case (load-kept)
    (error (condition)
      (list (format nil "The kept definitions could not be read: ~A" condition)))))
