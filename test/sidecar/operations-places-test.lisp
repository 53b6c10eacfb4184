;;;; sidecar/operations/places.lisp: tables are handed from one index to the next, and only those that still hold.

(defpackage #:opl.test.operations.places
  (:use #:cl #:opl.test)
  (:import-from #:opl.index.refresh #:build-index #:refresh-index)
  (:import-from #:opl.operations.places))

(in-package #:opl.test.operations.places)

(defun put (folder name text)
  (let ((path (merge-pathnames name folder)))
    (ensure-directories-exist path)
    (with-open-file (stream path :direction :output :if-exists :supersede) (write-string text stream))))

(defun root-of (folder) (string-right-trim "/" (sb-ext:native-namestring folder)))

(defun kept (index) (gethash :tests-by-file (opl.index.store::index-extensions index)))

(defun ranked (index)
  (mapcar #'opl.search.answer:file-row-path
          (opl.search.answer:answer-files (opl.operations.places::answer-from index "where is the parser of dates"))))

(deftest tables-of-paths-are-handed-on-while-no-file-comes-or-goes
  (with-scratch-folder (folder)
    (put folder "src/parser.py" (format nil "def parse_dates(text):~%    return text~%"))
    (put folder "src/other.py" (format nil "def unrelated():~%    return 1~%"))
    (let* ((first (build-index (root-of folder) nil '())) (second nil) (third nil))
      (opl.operations.places::inherit first)
      (check-equal "src/parser.py" (first (ranked first)))
      (put folder "src/other.py" (format nil "def unrelated(a, b):~%    return a~%"))
      (setf second (refresh-index first nil '()))
      (check (not (eq first second)))
      (opl.operations.places::inherit second)
      (check (kept second))
      (check (eq (kept first) (kept second)))
      (put folder "src/dates.py" (format nil "def parse_dates_of_mail(text):~%    return text~%"))
      (setf third (refresh-index second nil '()))
      (opl.operations.places::inherit third)
      (check-equal nil (kept third))
      (check-equal (ranked (build-index (root-of folder) nil '())) (ranked third))
      (check (member "src/dates.py" (ranked third) :test #'string=)))))
