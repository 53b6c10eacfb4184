;;;; The operations on the record of test runs: record-run, past-runs, still-failing, lessons.

(defpackage #:opl.operations.runs
  (:use #:cl)
  (:import-from #:opl.wire.protocol #:define-operation #:emit)
  (:import-from #:opl.session.observation #:now)
  (:import-from #:opl.session.runs
                #:make-run #:run-scope #:run-folder #:run-runner #:run-verdict #:run-seconds #:run-files #:run-failures
                #:past-test-name #:past-test-path #:lesson-symbol #:lesson-path #:lesson-test #:lesson-failed #:lesson-passed
                #:add-entry #:runs-of-tree #:lessons))

(in-package #:opl.operations.runs)

(define-operation record-run (cache tree scope folder runner verdict seconds passed failed skipped command entries)
  "Adds a run to the record in the cache folder."
  (let ((run (make-run :time (now) :tree tree :scope scope :folder folder :runner runner :verdict verdict :seconds seconds
                       :passed passed :failed failed :skipped skipped :command command)))
    (dolist (entry entries) (add-entry run entry))
    (opl.session.runs:record-run cache run)))

(define-operation past-runs (cache tree)
  "The runs recorded at one state of the tree, each followed by its failures."
  (loop for run in (runs-of-tree cache tree)
        for number from 1
        do (emit past-run number (run-scope run) (run-folder run) (run-runner run) (run-verdict run) (run-seconds run) (run-files run))
           (dolist (past (run-failures run))
             (emit past-failure number (past-test-name past) (past-test-path past)))))

(define-operation still-failing (cache)
  "The tests whose newest run failed."
  (dolist (past (opl.session.runs:still-failing cache))
    (emit past-failure 0 (past-test-name past) (past-test-path past))))

(define-operation lessons (cache)
  "What the recorded runs teach of symbols and tests."
  (dolist (lesson (lessons cache))
    (emit lesson (lesson-symbol lesson) (lesson-path lesson) (lesson-test lesson) (lesson-failed lesson) (lesson-passed lesson))))
