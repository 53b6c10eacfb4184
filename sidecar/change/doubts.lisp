;;;; Doubts: why a list of tests may lack some. A list is cut where its evidence ends, which is no proof: what calls by
;;;; names that many things bear, what a framework calls, and what runs when a file is loaded can reach tests that no evidence names.

(defpackage #:opl.change.doubts
  (:use #:cl #:opl.index.store #:opl.change.roots #:opl.change.imports)
  (:import-from #:opl.source.names #:name-case #:name-string)
  (:import-from #:opl.search.places #:test-path-p)
  (:export #:faint-doubt #:end-doubt #:module-doubt))
(in-package #:opl.change.doubts)

(defun faint-doubt (count)
  "The doubt about COUNT test files that are not listed though some way leads from them to the change."
  (when (plusp count)
    (format nil "~D more test file~:P may reach the change, over calls that only bear a name or from far; not listed" count)))

;;; Ways that end

(defconstant +telling-end+ 0.1 "How much of a change must arrive where a way ends; below, other ways tell more.")
(defconstant +most-ends+ 3 "Ends that are named.")

(defun callable-p (index tag)
  (name-case (tag-kind index tag) (("function" "method" "constructor" "accessor") t) (t nil)))

(defun loading-tests (index file tests)
  "How many of TESTS load FILE."
  (let ((count 0))
    (map-importing (lambda (test steps) (declare (ignore test steps)) (incf count)) index (list file) tests :loaders)
    count))

(defun unlisted-text (count)
  (format nil "~D test file~:P that load~[~;s~:;~] it, not listed" count count))

(defun end-doubt (index ends rest)
  "The doubt about ENDS, (tag . weight) of what nothing is seen to call, when tests of REST, which are not listed, load its file: a
framework, a table or a name made at run time may lead on."
  (let ((open (loop for (tag . weight) in ends
                    when (and (>= weight +telling-end+) (callable-p index tag) (not (test-path-p (tag-path index tag)))
                              (plusp (loading-tests index (tag-file tag) rest)))
                      collect tag)))
    (when open
      (format nil "nothing is seen to call ~{~A~^, ~}~@[ and ~D more~], which the change reaches; a framework, a table or a name made while running may (~A)"
              (loop for tag in open repeat +most-ends+ collect (name-string (index-names index) (tag-name index tag)))
              (and (> (length open) +most-ends+) (- (length open) +most-ends+))
              (unlisted-text (reduce #'max (mapcar (lambda (tag) (loading-tests index (tag-file tag) rest)) open)))))))

;;; What runs when a file is loaded

(defun module-doubt (index roots rest)
  "The doubt about ROOTS outside any definition: whoever loads the file runs them, and tests of REST do."
  (let* ((files (loop for root in roots
                      for file = (and (eq (root-what root) :module) (index-file-number index (root-path root)))
                      when (and file (not (test-path-p (root-path root)))) collect file))
         (count (if files (reduce #'max (mapcar (lambda (file) (loading-tests index file rest)) files)) 0)))
    (when (plusp count)
      (format nil "lines outside any definition changed, which run when their file is loaded (~A)" (unlisted-text count)))))
