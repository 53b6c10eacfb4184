;;;; Paths as imports write them.

(defpackage #:opl.graph.families.paths
  (:use #:cl)
  (:export #:plain-path #:path-from))
(in-package #:opl.graph.families.paths)

(defun plain-path (path)
  "PATH without `.' and `..' steps; those that lead out of the root are dropped."
  (let ((steps '()) (start 0))
    (loop for slash = (position #\/ path :start start)
          do (let ((step (subseq path start slash)))
               (cond ((or (string= step "") (string= step ".")))
                     ((string= step "..") (pop steps))
                     (t (push step steps)))
               (if slash (setf start (1+ slash)) (return))))
    (format nil "~{~A~^/~}" (reverse steps))))

(defun path-from (directory path)
  "PATH as seen from DIRECTORY, relative to the root."
  (plain-path (if (string= directory "") path (concatenate 'string directory "/" path))))
