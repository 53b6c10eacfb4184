;;;; Columns as narrow as their numbers allow give every number back.

(defpackage #:opl.test.columns
  (:use #:cl #:opl.test #:opl.source.columns #:opl.source.facts)
  (:import-from #:opl.source.names #:+none+))
(in-package #:opl.test.columns)

(defun given-back (numbers)
  "NUMBERS after packing, read row by row and by whole columns, from a run that does not start its vector."
  (let ((facts (make-facts)))
    (dolist (number numbers) (add-export facts number))
    (let* ((packed (pack-sections facts)) (size (run-size packed))
           (words (opl.source.names:make-u32 (+ size 3) 12345))
           (run (progn (replace words (run-words packed) :start1 3) (make-run words 3)))
           (rows (loop for i below (exported-count run) collect (exported-name run i))) (column '()))
      (do-column (row number) (run opl.source.facts::exported 0) (push number column))
      (check-equal rows (reverse column))
      ;; the columns beside it are not disturbed
      (loop for i below (exported-count run)
            do (check (= +none+ (exported-local run i))) (check (= (mod i 7) (exported-module run i))))
      rows)))

(defun add-export (facts number) (add-exported facts number +none+ (mod (draft-exported-count facts) 7)))

(deftest numbers-at-the-limits-of-each-width-come-back
  (dolist (numbers (list '() '(0) (list +none+) '(254) '(255) '(65534) '(65535) '(65536)
                         (list 0 254 +none+) (list 0 255 +none+) (list 1 65534 +none+ 3) (list 1 65535 +none+ 3 2)
                         (list 65536 +none+) (list (1- +none+) +none+ 0) (list +none+ +none+ +none+) '(5 5 5 5 5)
                         (loop for i below 300 collect i) (loop for i below 70000 collect i)
                         (loop for i below 9 collect (if (evenp i) +none+ i))))
    (check-equal numbers (given-back numbers))))

(deftest empty-sections-have-no-rows
  (let ((run (pack-sections (make-facts))))
    (check-equal 0 (def-count run))
    (check-equal 0 (site-count run))
    (do-column (row number) (run opl.source.facts::site 0) (check (null (list row number))))))

(deftest used-drafts-leave-nothing-behind
  (let ((facts (make-facts)))
    (dotimes (i 500) (add-export facts (* i 1000)))
    (pack-sections facts)
    (facts-reset facts)
    (add-export facts 7)
    (let ((run (pack-sections facts)))
      (check-equal 1 (exported-count run))
      (check-equal 7 (exported-name run 0)))))
