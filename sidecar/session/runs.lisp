;;;; The record of test runs: which tree, which tests, how they ended. Kept with the project's cache, so that the next verification
;;;; knows what failed last, what failed without the change, and which tests have told about which symbol.
;;;;
;;;; One line a run in runs.tsv, in the grammar of the wire; appended by one write, so that processes may share the file. A line that
;;;; was torn or is of another make is passed over.

(defpackage #:opl.session.runs
  (:use #:cl)
  (:import-from #:opl.wire.fields #:octets #:line-buffer #:make-line-buffer #:line-buffer-octets #:line-buffer-fill
                #:put-octet #:put-text #:split-fields)
  (:export #:run #:make-run #:run-tree #:run-scope #:run-folder #:run-runner #:run-verdict #:run-seconds
           #:run-passed #:run-failed #:run-command #:run-files #:run-failures
           #:past-test #:past-test-name #:past-test-path
           #:lesson #:lesson-symbol #:lesson-path #:lesson-test #:lesson-failed #:lesson-passed
           #:add-entry #:record-run #:recorded-runs #:runs-of-tree #:still-failing #:lessons #:lessons-of))

(in-package #:opl.session.runs)

(declaim (optimize (speed 1) (safety 1)))

(defconstant +kept-runs+ 500 "Runs that a file written anew keeps: some months of a busy agent.")
(defconstant +most-octets+ (* 8 1024 1024) "Past it the file is written anew with the newest runs.")
(defparameter *form* "run1" "First field of a line; another form is not read.")

(defstruct past-test
  "A test that failed: its NAME or nil (a file that did not load), and the test file's PATH or nil."
  (name nil :type (or null string)) (path nil :type (or null string)))

(defstruct lesson
  "Runs in which the tests of PATH (or the one named TEST) FAILED or PASSED while SYMBOL (\"path:name\") had changed."
  (symbol "" :type string) (path "" :type string) (test nil :type (or null string))
  (failed 0 :type unsigned-byte) (passed 0 :type unsigned-byte))

(defstruct run
  "A run as recorded. TREE names the content that was tested; FILES are the test files asked for, none for a full suite."
  (time 0 :type unsigned-byte) (tree "" :type string) (scope :full :type keyword) (folder "" :type string) (runner "" :type string)
  (verdict :unparsed :type keyword) (seconds 0 :type real)
  (passed nil :type (or null unsigned-byte)) (failed nil :type (or null unsigned-byte)) (skipped nil :type (or null unsigned-byte))
  (command "" :type string) (files '() :type list) (failures '() :type list) (lessons '() :type list))

;;; A run as entries, and back. An entry is one text whose parts are separated by TAB: `file path`, `failure test path`,
;;; `lesson symbol path test passed|failed`.

(defun parts-of (text)
  (loop with start = 0
        for tab = (position #\Tab text :start start)
        collect (subseq text start tab)
        while tab do (setf start (1+ tab))))

(defun joined (&rest parts)
  (format nil (format nil "~~{~~@[~~a~~]~~^~c~~}" #\Tab) parts))

(defun unless-empty (text) (and text (string/= text "") text))

(defun add-entry (run text)
  "Takes what the entry TEXT says into RUN; what it does not know it passes over. The run."
  (destructuring-bind (kind &optional a b c d &rest more) (parts-of text)
    (declare (ignore more))
    (cond ((and (string= kind "file") (unless-empty a)) (setf (run-files run) (append (run-files run) (list a))))
          ((string= kind "failure")
           (setf (run-failures run)
                 (append (run-failures run) (list (make-past-test :name (unless-empty a) :path (unless-empty b))))))
          ((and (string= kind "lesson") (unless-empty a) (unless-empty b))
           (setf (run-lessons run)
                 (append (run-lessons run)
                         (list (make-lesson :symbol a :path b :test (unless-empty c)
                                            :failed (if (equal d "failed") 1 0) :passed (if (equal d "passed") 1 0))))))))
  run)

(defun entries-of (run)
  (append (loop for file in (run-files run) collect (joined "file" file))
          (loop for past in (run-failures run) collect (joined "failure" (past-test-name past) (past-test-path past)))
          (loop for lesson in (run-lessons run)
                collect (joined "lesson" (lesson-symbol lesson) (lesson-path lesson) (lesson-test lesson)
                                (if (plusp (lesson-failed lesson)) "failed" "passed")))))

(defun run-line (run)
  "RUN as a line, LF included: a line-buffer."
  (let ((buffer (make-line-buffer)))
    (loop for field in (list* *form* (princ-to-string (run-time run)) (run-tree run) (string-downcase (run-scope run)) (run-folder run)
                              (run-runner run) (string-downcase (run-verdict run))
                              (princ-to-string (round (* 1000 (run-seconds run))))
                              (format nil "~@[~d~]" (run-passed run)) (format nil "~@[~d~]" (run-failed run))
                              (format nil "~@[~d~]" (run-skipped run)) (run-command run) (entries-of run))
          for first = t then nil
          do (unless first (put-octet buffer 9))
             (put-text buffer field))
    (put-octet buffer 10)
    buffer))

(defun number-or-nil (text) (and (unless-empty text) (every #'digit-char-p text) (parse-integer text)))

(defun line-run (fields)
  "The run that FIELDS say, or nil when they are of another form."
  (when (and (string= (first fields) *form*) (>= (length fields) 12))
    (destructuring-bind (time tree scope folder runner verdict milliseconds passed failed skipped command &rest entries) (rest fields)
      (let ((run (make-run :time (or (number-or-nil time) 0) :tree tree :folder folder :runner runner
                           :scope (if (string= scope "targeted") :targeted :full)
                           :verdict (or (find verdict '(:passed :failed :no-tests-ran :compile-error :setup-error :timeout :cancelled)
                                              :test #'string-equal)
                                        :unparsed)
                           :seconds (/ (or (number-or-nil milliseconds) 0) 1000)
                           :passed (number-or-nil passed) :failed (number-or-nil failed) :skipped (number-or-nil skipped)
                           :command command)))
        (dolist (entry entries run) (add-entry run entry))))))

;;; The file

(defun runs-file (cache) (concatenate 'string (string-right-trim "/" cache) "/runs.tsv"))

(defun native (name) (sb-ext:parse-native-namestring name))

(defun file-octets (name)
  (with-open-file (in (native name) :element-type '(unsigned-byte 8) :if-does-not-exist nil)
    (if in
        (let* ((octets (make-array (file-length in) :element-type '(unsigned-byte 8)))
               (end (read-sequence octets in)))
          (if (= end (length octets)) octets (subseq octets 0 end)))
        (make-array 0 :element-type '(unsigned-byte 8)))))

(defun read-runs (name)
  "The runs in the file NAME, newest first; none when it is missing."
  (let ((octets (file-octets name)) (runs '()))
    (loop with start = 0
          for end = (position 10 octets :start start)
          while end
          do (let ((run (ignore-errors (line-run (split-fields octets start end)))))
               (when run (push run runs)))
             (setf start (1+ end)))
    runs))

(defvar *lock* (sb-thread:make-mutex :name "runs"))
(defvar *read* '() "The last file read: its name, its size and time then, and its runs.")

(defun stamp (name)
  (handler-case (let ((stat (sb-posix:stat name))) (list (sb-posix:stat-size stat) (sb-posix:stat-mtime stat) (sb-posix:stat-ino stat)))
    (error () nil)))

(defun recorded-runs (cache)
  "The runs recorded in the folder CACHE (a native name, or nil), newest first; none when there is no record."
  (when cache
    (sb-thread:with-mutex (*lock*)
      (let* ((name (runs-file cache)) (stamp (stamp name)))
        (unless (and stamp (equal (first *read*) name) (equal (second *read*) stamp))
          (setf *read* (list name stamp (and stamp (read-runs name)))))
        (third *read*)))))

(defun write-lines (name runs how)
  "Writes RUNS (oldest first) to the file NAME: HOW is :append or :supersede. An error of the system is signalled."
  (ensure-directories-exist (native name) :mode #o700)
  (let ((fd (sb-posix:open name (logior sb-posix:o-wronly sb-posix:o-creat (if (eq how :append) sb-posix:o-append sb-posix:o-trunc)) #o600)))
    (unwind-protect
         (dolist (run runs)
           (let ((buffer (run-line run)))
             (loop with octets = (line-buffer-octets buffer) and fill = (line-buffer-fill buffer) and at = 0
                   while (< at fill)
                   do (incf at (sb-sys:with-pinned-objects (octets)
                                 (sb-posix:write fd (sb-sys:sap+ (sb-sys:vector-sap octets) at) (- fill at)))))))
      (sb-posix:close fd))))

(defun record-run (cache run)
  "Adds RUN to the record in the folder CACHE. Past its limit the file is written anew with the newest runs, under another name first."
  (let ((name (runs-file cache)))
    (sb-thread:with-mutex (*lock*)
      (write-lines name (list run) :append)
      (when (> (or (first (stamp name)) 0) +most-octets+)
        (let ((runs (read-runs name)) (new (format nil "~a.~d" name (sb-posix:getpid))))
          (write-lines new (reverse (subseq runs 0 (min +kept-runs+ (length runs)))) :supersede)
          (sb-posix:rename new name))))
    run))

;;; Questions

(defun runs-of-tree (cache tree)
  "The runs recorded while the content was TREE, newest first."
  (remove tree (recorded-runs cache) :key #'run-tree :test-not #'string=))

(defun decides-p (run) (member (run-verdict run) '(:passed :failed)))

(defun still-failing (cache)
  "The tests whose newest run failed, the latest failure first: a list of PAST-TESTs. A run covers the files it was asked for, a full
suite everything of its runner and folder; runs that came to no result decide nothing."
  (let ((done '()) (covered (make-hash-table :test #'equal)) (failing '()))
    (dolist (run (recorded-runs cache) (nreverse failing))
      (let ((key (list (run-runner run) (run-folder run))))
        (when (and (decides-p run) (not (member key done :test #'equal)))
          (dolist (past (run-failures run))
            (unless (or (gethash (past-test-path past) covered)
                        (find-if (lambda (other) (and (equal (past-test-name other) (past-test-name past))
                                                      (equal (past-test-path other) (past-test-path past))))
                                 failing))
              (push past failing)))
          (if (eq (run-scope run) :full)
              (push key done)
              (dolist (file (run-files run)) (setf (gethash file covered) t))))))))

(defun lessons (cache)
  "What the recorded runs teach of symbols and tests, each pair once with its counts. Order: symbol, path, test ascending."
  (let ((table (make-hash-table :test #'equal)))
    (dolist (run (recorded-runs cache))
      (dolist (lesson (run-lessons run))
        (let* ((key (list (lesson-symbol lesson) (lesson-path lesson) (lesson-test lesson)))
               (sum (or (gethash key table)
                        (setf (gethash key table)
                              (make-lesson :symbol (first key) :path (second key) :test (third key))))))
          (incf (lesson-failed sum) (lesson-failed lesson))
          (incf (lesson-passed sum) (lesson-passed lesson)))))
    (sort (loop for lesson being the hash-values of table collect lesson)
          #'string< :key (lambda (lesson) (joined (lesson-symbol lesson) (lesson-path lesson) (or (lesson-test lesson) ""))))))

(defun lessons-of (cache symbols)
  "The lessons about SYMBOLS (\"path:name\"), in the order of LESSONS."
  (remove-if-not (lambda (lesson) (member (lesson-symbol lesson) symbols :test #'string=)) (lessons cache)))
