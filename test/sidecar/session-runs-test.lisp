;;;; sidecar/session/runs.lisp

(defpackage #:opl.test.session.runs
  (:use #:cl #:opl.test #:opl.session.runs))

(in-package #:opl.test.session.runs)

(defun sample (tree verdict scope &rest entries)
  (let ((run (make-run :time 1 :tree tree :scope scope :folder "packages/a" :runner "jest" :verdict verdict :seconds 3/2
                       :passed 3 :command (format nil "npm test~ca\\b" #\Tab))))
    (dolist (entry entries run) (add-entry run (substitute #\Tab #\| entry)))))

(defmacro with-record ((cache &rest runs) &body body)
  `(with-scratch-folder (folder)
     (let ((,cache (sb-ext:native-namestring folder)))
       ,@(loop for run in runs collect `(record-run ,cache ,run))
       ,@body)))

(defun failing (cache) (mapcar #'past-test-name (still-failing cache)))

(deftest a-run-comes-back-as-it-was-recorded
  (with-record (cache (sample "t1" :failed :targeted "file|a.test.js" "failure|adds > twice|a.test.js" "lesson|src/a.js:add|a.test.js|adds|failed"))
    (let ((run (first (recorded-runs cache))))
      (check-equal "t1" (run-tree run))
      (check-equal 3/2 (run-seconds run))
      (check-equal (list 3 nil) (list (run-passed run) (run-failed run)))
      (check-equal (format nil "npm test~ca\\b" #\Tab) (run-command run))
      (check-equal '("a.test.js") (run-files run))
      (check-equal "adds > twice" (past-test-name (first (run-failures run)))))))

(deftest no-record-is-no-runs
  (with-record (cache) (check-equal '() (recorded-runs cache)))
  (check-equal '() (recorded-runs nil)))

(deftest runs-are-found-by-the-tree-they-ran-on
  (with-record (cache (sample "t1" :passed :full) (sample "t2" :failed :full) (sample "t1" :failed :full))
    (check-equal '(:failed :passed) (mapcar #'run-verdict (runs-of-tree cache "t1")))
    (check-equal '() (runs-of-tree cache "t3"))))

(deftest what-failed-last-still-fails-until-a-run-that-covers-it-passed
  (with-record (cache (sample "t1" :failed :full "failure|one|a.test.js" "failure|two|b.test.js"))
    (check-equal '("one" "two") (failing cache))
    (record-run cache (sample "t2" :passed :targeted "file|a.test.js"))
    (check-equal '("two") (failing cache))
    (record-run cache (sample "t3" :timeout :full))
    (check-equal '("two") (failing cache))
    (record-run cache (sample "t4" :passed :full))
    (check-equal '() (failing cache))))

(deftest lessons-are-summed
  (with-record (cache (sample "t1" :failed :full "lesson|s|a.test.js|one|failed") (sample "t2" :failed :full "lesson|s|a.test.js|one|failed")
                      (sample "t3" :passed :full "lesson|s|a.test.js|one|passed" "lesson|other|b.test.js||passed"))
    (let ((lesson (first (lessons-of cache '("s")))))
      (check-equal '(2 1) (list (lesson-failed lesson) (lesson-passed lesson))))
    (check-equal '("other" "s") (mapcar #'lesson-symbol (lessons cache)))))

(deftest a-torn-or-foreign-line-is-passed-over
  (with-record (cache (sample "t1" :passed :full))
    (with-open-file (out (sb-ext:parse-native-namestring (format nil "~aruns.tsv" cache)) :direction :output :if-exists :append)
      (format out "run9~cx~%run1~c12" #\Tab #\Tab))
    (check-equal 1 (length (recorded-runs cache)))))
