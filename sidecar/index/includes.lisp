;;;; What #include means: which file of the repository. Known without the graph, for what macros of one file make in another
;;;; is a part of the index.

(defpackage #:opl.index.includes
  (:use #:cl #:opl.index.store #:opl.source.facts)
  (:import-from #:opl.source.names #:name-string)
  (:import-from #:opl.source.language #:language-family)
  (:export #:c-family-p #:base-name #:includes-in #:included-file #:includes-of))
(in-package #:opl.index.includes)

(declaim (optimize (speed 1) (safety 1)))

(defun c-family-p (index file)
  "Whether FILE is there and has a preprocessor's lines read: C and what is read alike, C++."
  (let ((language (and (index-run index file) (index-language index file))))
    (and language (member (language-family language) '(:c :c++)) t)))

(defun base-name (path)
  "What stands behind the last slash of PATH."
  (let ((slash (position #\/ path :from-end t))) (if slash (subseq path (1+ slash)) path)))

(defun directory-part (path) (let ((slash (position #\/ path :from-end t))) (if slash (subseq path 0 slash) "")))

(defstruct (includes (:constructor make-includes (index by-name known)))
  "What the includes of INDEX mean: BY-NAME, from the last part of a path to the files that end in it; KNOWN, what was asked for."
  index (by-name nil :type hash-table) (known (vector) :type simple-vector))

(defun files-by-name (index)
  "Table from the last part of a path to the files that end in it, for files that can be included."
  (let ((table (make-hash-table :test 'equal)))
    (do-files (file) (index)
      (when (c-family-p index file) (push file (gethash (base-name (index-path index file)) table))))
    table))

(defun includes-in (index)
  "What `included-file' and `includes-of' are asked with, for the files of INDEX."
  (memo (index :includes)
    (make-includes index (files-by-name index) (make-array (index-file-count index) :initial-element :unknown))))

(defun shared-length (a b) (or (mismatch a b) (min (length a) (length b))))

(defun normal-path (path)
  "PATH without `.' and `..' parts; nil when it leaves the root."
  (let ((parts '()) (start 0))
    (loop
      (let* ((slash (position #\/ path :start start)) (part (subseq path start slash)))
        (cond ((or (string= part "") (string= part ".")))
              ((string= part "..") (if parts (pop parts) (return-from normal-path nil)))
              (t (push part parts)))
        (if slash (setf start (1+ slash)) (return))))
    (format nil "~{~A~^/~}" (nreverse parts))))

(defun remove-leading-dots (text)
  (loop while (and (> (length text) 3) (string= "../" text :end2 3)) do (setf text (subseq text 3)))
  text)

(defun included-file (includes file text)
  "The file that FILE means by including TEXT: beside it, else the one whose path ends so, the nearest when there are
several; nil when there is none."
  (let* ((index (includes-index includes)) (path (index-path index file)) (directory (directory-part path))
         (beside (normal-path (if (string= directory "") text (format nil "~A/~A" directory text)))))
    (or (and beside (index-file-number index beside))
        (let ((wanted (normal-path (remove-leading-dots text))) (best nil) (score -1))
          (when wanted
            (dolist (candidate (gethash (base-name wanted) (includes-by-name includes)) best)
              (let* ((other (index-path index candidate)) (start (- (length other) (length wanted))))
                (when (and (>= start 0) (string= wanted other :start2 start)
                           (or (zerop start) (char= (char other (1- start)) #\/)))
                  (let ((near (- (* 1000 (shared-length path other)) (length other))))
                    (when (or (> near score) (null best)) (setf best candidate score near)))))))))))

(defun includes-of (includes file)
  "The files that FILE includes itself, each once."
  (let ((known (includes-known includes)) (index (includes-index includes)))
    (if (eq :unknown (svref known file))
        (setf (svref known file)
              (let ((run (index-run index file)) (found '()))
                (dotimes (import (import-count run) (nreverse found))
                  (let ((target (included-file includes file (name-string (index-names index) (import-module run import)))))
                    (when target (pushnew target found))))))
        (svref known file))))
