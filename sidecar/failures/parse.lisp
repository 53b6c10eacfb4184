(defpackage #:opl.failures.parse
  (:use #:cl #:opl.failures.report)
  (:import-from #:opl.failures.lines #:make-needles #:scan-lines #:clean-line #:make-lent)
  (:import-from #:opl.failures.prefixes #:layout-of #:unprefixed)
  (:import-from #:opl.failures.table #:all-runners #:find-runner #:runner-name #:runner-needles #:runner-scanner #:runner-wanted #:runner-sign-needles #:runner-sign #:runner-options #:runner-rules
                #:+dull+ #:make-reading #:reading-runner #:reading-failures #:count-in #:reading-flags #:deliver #:close-reading #:attention #:attentive-p)
  (:import-from #:opl.failures.digest #:digest)
  (:import-from #:opl.failures.formats #:parse-format)
  (:import-from #:opl.failures.verdict #:verdict-of #:with-exit-code)
  (:export #:parse-log))
(in-package #:opl.failures.parse)

(declaim (optimize (speed 1) (safety 1)))

;;; A log is read twice: for the signs that tell which runners speak in it, then with those runners' tables.

(defconstant +certain+ 10 "The weight of signs that makes a runner.")
(defconstant +likely+ 5 "The weight of signs of a runner that is tried where none is certain: the log may be a part of one.")
(defconstant +hits-of-a-sign+ 2 "How often one sign is weighed: a weak one that is repeated stays weak.")
(defconstant +signs-enough+ 200 "Lines with signs of one runner after which no more are asked for.")
(defconstant +tries-enough+ 20000 "Lines that had a part of a sign after which no more are looked at.")
(defconstant +tail-lines+ 40 "Lines of a log's end that are kept for an answer that has nothing better to say.")

(defvar *layout* nil "The prefixes of the log's lines, as LAYOUT-OF tells them.")

(defun line-of (buffer start end lent)
  "The line's text without what others put before it, and the prefix that tells whose it is; lent, as CLEAN-LINE has it."
  (let ((line (clean-line buffer start end lent)))
    (if *layout* (unprefixed line *layout*) (values line nil))))

(defvar *sign-needles* nil "The automaton of all signs and the runners it was made for.")

(defun sign-needles (runners)
  (unless (and *sign-needles* (equal (car *sign-needles*) runners))
    (setf *sign-needles*
          (cons runners
                (make-needles (loop for runner in runners
                                    for index from 0
                                    append (loop for needle in (runner-sign-needles runner) collect (cons needle (ash 1 (bit-of index)))))))))
  (cdr *sign-needles*))

(defconstant +bits+ 61 "Bits of a line's mask; the runners share them.")
(defun bit-of (index) (mod index +bits+))

(defun signed-runners () "The runners that are known by signs." (remove-if-not #'runner-sign-needles (all-runners)))

;; all tables are defined by now: made when the sidecar is built, the automaton does not cost each process a third of a second
(sign-needles (signed-runners))

(defun survey (path &optional (limit most-positive-fixnum))
  "The runners whose signs the log at PATH holds in its first LIMIT octets, as a list of (name . weight), heaviest first."
  (let* ((runners (signed-runners)) (lent (make-lent))
         (table (coerce runners 'simple-vector))
         (weights (make-array (length table) :initial-element 0))
         (hits (make-array (length table) :initial-element '()))
         (seen (make-array (length table) :initial-element 0)) (tried (make-array (length table) :initial-element 0))
         ;; the bits of runners of which more is asked
         (asked (1- (ash 1 (min +bits+ (length table))))))
    (declare (type (unsigned-byte 62) asked))
    (flet ((enough-p (index) (or (>= (the fixnum (svref seen index)) +signs-enough+) (>= (the fixnum (svref tried index)) +tries-enough+)))
           (ask (index line)
             (incf (the fixnum (svref tried index)))
             (let ((sign (funcall (runner-sign (svref table index)) line (length line))))
               (when sign (incf (the fixnum (svref seen index))))
               (when (and sign (< (count sign (svref hits index) :test #'equal) +hits-of-a-sign+))
                 (push sign (svref hits index))
                 (incf (svref weights index) (cdr sign))))))
      (scan-lines path (sign-needles runners)
                  (lambda (buffer start end mask)
                    (declare (type (unsigned-byte 62) mask))
                    (let ((line nil) (mask (logand mask asked)))
                      (declare (type (unsigned-byte 62) mask))
                      (loop until (zerop mask)
                            for bit of-type (integer 0 61) = (1- (integer-length mask))
                            do (setf mask (logxor mask (ash 1 bit)))
                               (let ((more nil))
                                 (loop for index of-type fixnum from bit below (length table) by +bits+
                                       do (unless (enough-p index)
                                            (setf more t)
                                            (ask index (or line (setf line (line-of buffer start end lent))))))
                                 (unless more (setf asked (logandc2 asked (ash 1 bit))))))))
                  :limit limit))
    (sort (loop for runner across table
                for weight across weights
                when (plusp weight) collect (cons (runner-name runner) weight))
          #'> :key #'cdr)))

(defun new-readings (runners)
  (mapcar (lambda (runner) (make-reading :runner runner :mode (getf (runner-options runner) :start))) runners))

(defun read-together (path main readings-of over-p)
  "Reads the log at PATH with the tables of MAIN's readings until OVER-P; READINGS-OF tells those of a prefix, and of nil MAIN."
  (let ((lent (make-lent))
        (needles (make-needles (loop for reading in main
                                     for bit from 0
                                     append (loop for needle in (runner-needles (reading-runner reading)) collect (cons needle (ash 1 bit)))))))
    (scan-lines path needles
                (lambda (buffer start end mask)
                  (multiple-value-bind (line prefix) (line-of buffer start end lent)
                    (loop for reading in (funcall readings-of prefix)
                          for bit from 0
                          do (when (or (logbitp bit mask) (attention reading))
                               (deliver reading line)))))
                :always (lambda () (some #'attentive-p (funcall readings-of t))) :over-p over-p)))

(defun read-alone (path reading readings-of over-p)
  "READ-TOGETHER of one table: the scan itself tells which rules' needles a line holds, so it is not looked through again."
  (let ((wanted (runner-wanted (reading-runner reading))) (lent (make-lent)))
    (declare (type (unsigned-byte 62) wanted))
    (scan-lines path (runner-scanner (reading-runner reading))
                (lambda (buffer start end mask)
                  (declare (type (unsigned-byte 62) mask))
                  (cond
                    ((logtest +dull+ mask))
                    (*layout*
                      (multiple-value-bind (line prefix) (line-of buffer start end lent)
                        (let ((reading (first (funcall readings-of prefix))))
                          (when (or (logtest wanted mask) (attention reading)) (deliver reading line mask)))))
                    ((or (logtest wanted mask) (attention reading))
                     (deliver reading (clean-line buffer start end lent) mask))))
                :always (if *layout*
                            (lambda () (some #'attentive-p (funcall readings-of t)))
                            (lambda () (attentive-p reading)))
                :over-p over-p)))

(defun read-with (path runners &optional (over-p (constantly nil)))
  "The readings of the log at PATH by the tables of RUNNERS; one of each for each stream of lines. Given up when OVER-P returns true."
  (let ((main (new-readings runners)) (streams '()))
    (flet ((readings-of (prefix)
             (cond ((null prefix) main)
                   ((eq prefix t) (append main (loop for (nil . readings) in (reverse streams) append readings)))
                   ((cdr (assoc prefix streams :test #'string=)))
                   (t (let ((new (new-readings runners))) (push (cons prefix new) streams) new)))))
      (if (rest main)
          (read-together path main #'readings-of over-p)
          (read-alone path (first main) #'readings-of over-p))
      (let ((readings (readings-of t)))
        (mapc #'close-reading readings)
        (dolist (reading readings readings)
          (setf (reading-failures reading)
                (mapcar (lambda (draft) (digest draft (runner-options (reading-runner reading)))) (reading-failures reading))))))))

(defparameter *no-text* "(octets that are no text)")

(defun shown (line)
  "LINE, or *no-text* where more than a twentieth of it are control characters: a terminal would take them for orders."
  (let ((controls (count-if (lambda (c) (and (char/= c #\Tab) (or (< (char-code c) 32) (<= 127 (char-code c) 159)))) line)))
    (if (> (* 20 controls) (length line)) *no-text* line)))

(defun log-tail (path)
  "The last lines of the log at PATH, cleaned; runs of lines that are no text are one."
  (with-open-file (in path :element-type '(unsigned-byte 8))
    (let* ((length (file-length in)) (from (max 0 (- length 16384)))
           (octets (make-array (- length from) :element-type '(unsigned-byte 8))))
      (file-position in from)
      (let ((end (read-sequence octets in)) (lines '()))
        (loop with start = 0
              while (< start end)
              do (let ((stop (or (position-if (lambda (octet) (or (= octet 10) (= octet 13))) octets :start start :end end) end)))
                   (let ((line (shown (clean-line octets start stop))))
                     (unless (or (string= "" (string-trim " " line)) (and (eq line *no-text*) (eq line (first lines)))) (push line lines)))
                   (setf start (1+ stop))))
        (format nil "~{~A~^~%~}" (reverse (subseq lines 0 (min +tail-lines+ (length lines)))))))))

;;; verdicts

(defun kind-of-reading (reading) (getf (runner-options (reading-runner reading)) :kind :tests))

(defun telling-p (reading)
  (or (reading-failures reading) (count-in reading :passed) (count-in reading :failed)
      (intersection '(:passed :ok :none-ran :timeout :failed :setup :compile) (reading-flags reading))))

(defun swallowed-p (reading readings)
  "True when another reading's runner repeats the output of this one's."
  (let ((name (runner-name (reading-runner reading))))
    (some (lambda (other)
            (and (not (eq other reading)) (telling-p other)
                 (or (member name (getf (runner-options (reading-runner other)) :contains) :test #'string=)
                     (and (eq (kind-of-reading reading) :compiler) (not (eq (kind-of-reading other) :compiler))
                          (or (reading-failures other) (null (reading-failures reading)))))))
          readings)))

(defun sum-of (readings key)
  (let ((numbers (loop for reading in readings for n = (count-in reading key) when n collect n)))
    (and numbers (max 0 (reduce #'+ numbers)))))

(defun rank (reading weights)
  "How much a reading has to say: failures before counts, tests before compilers, then the weight of its signs."
  (+ (if (reading-failures reading) 4000 0)
     (if (or (count-in reading :passed) (count-in reading :failed)) 2000 0)
     (if (eq (kind-of-reading reading) :tests) 1000 0)
     (min 900 (or (cdr (assoc (runner-name (reading-runner reading)) weights :test #'string=)) 0))))

(defun as-report (path readings weights exit-code)
  (let* ((telling (remove-if-not #'telling-p readings))
         (kept (or (remove-if (lambda (reading) (swallowed-p reading telling)) telling) telling))
         (ranked (stable-sort (copy-list kept) #'> :key (lambda (reading) (rank reading weights))))
         (first (first ranked))
         ;; several runners in one log: those that counted tests are added up
         (counted (remove-if-not (lambda (reading) (and (eq (kind-of-reading reading) (if first (kind-of-reading first) :tests)))) ranked))
         (told (if (some #'reading-failures counted) counted ranked))
         (failures (loop for reading in told append (reading-failures reading)))
         (passed (sum-of counted :passed)) (failed (sum-of counted :failed)) (skipped (sum-of counted :skipped))
         (verdict (if first (verdict-of (reduce #'union (mapcar #'reading-flags counted) :initial-value '()) failures passed failed) "unparsed"))
         (verdict (with-exit-code verdict exit-code failures))
         (runner (if first (runner-name (reading-runner first)) (car (first weights)))))
    (make-report :runner runner :verdict verdict :passed passed :failed failed :skipped skipped
                 :failures failures
                 :tail (and (null failures) (not (member verdict '("passed" "no-tests-ran") :test #'string=)) (log-tail path))
                 :runners (if ranked (mapcar (lambda (reading) (runner-name (reading-runner reading))) ranked) (and runner (list runner))))))

(defun survived-p (failure)
  "Whether FAILURE is one that a command which ended well has lived through: something was missing or died, and no test is named."
  (and (failure-suite failure) (member (failure-category failure) '("setup" "crash") :test #'equal)))

(defun bare-report (path weights exit-code)
  "What a log says in which no runner got to speak."
  (let* ((reading (first (read-with path (list (find-runner "none")))))
         (failures (if (eql exit-code 0) (remove-if #'survived-p (reading-failures reading)) (reading-failures reading)))
         (verdict (cond ((null failures) "unparsed")
                        ((notevery #'failure-suite failures) "failed")
                        ((every (lambda (failure) (equal "compile" (failure-category failure))) failures) "compile-error")
                        (t "setup-error"))))
    (let ((runner (car (first weights))))
      (make-report :runner (or runner "none") :verdict verdict :failures failures :runners (and runner (list runner))
                   :tail (and (string= verdict "unparsed") (log-tail path))))))

(defun chosen-runners (weights)
  "The runners of enough weight; the heaviest alone of each group."
  (let ((groups '()))
    (loop for (name . weight) in weights
          for runner = (find-runner name)
          for group = (getf (runner-options runner) :group)
          when (and (>= weight +certain+) (not (and group (member group groups))))
            collect runner and do (when group (push group groups)))))

(defparameter *other-names*
  '(("go" . "go-test") ("gotest" . "go-test") ("cargo" . "cargo-test") ("maven" . "maven-surefire") ("surefire" . "maven-surefire") ("dotnet" . "dotnet-test")
    ("swift" . "swift-test") ("xcodebuild" . "xctest") ("googletest" . "gtest") ("mix" . "exunit") ("sbt" . "scalatest") ("nose" . "unittest") ("django" . "unittest")
    ("tape" . "tap") ("dart" . "flutter") ("pest" . "phpunit") ("make" . "gcc"))
  "What others call the runners.")

(defun known-runner (name)
  "The table of the runner that NAME means, or nil."
  (and name (find-runner (or (cdr (assoc name *other-names* :test #'string-equal)) name))))

(defun weighed (path runner &optional (limit most-positive-fixnum))
  "The survey of the log at PATH, RUNNER's table in it whatever its signs; LIMIT as SURVEY has it."
  (let ((weights (survey path limit)) (known (known-runner runner)))
    (if known
        (let ((own (assoc (runner-name known) weights :test #'string=)))
          (cons (cons (runner-name known) (+ +certain+ (if own (cdr own) 0))) (remove own weights)))
        weights)))

;;; SBCL lets 50 MB of garbage gather before it looks for some; a large log's lines are garbage at once. Collected oftener,
;;; they cost a third of the memory and, staying in the processor's cache, no time.

(defconstant +large-log+ (* 4 1024 1024) "Octets of a log from which on its lines are collected oftener.")
(defconstant +garbage+ (* 12 1024 1024) "Octets of garbage that may gather while a large log is read.")

(defvar *frugal* 0 "Threads that read large logs now.")
(defvar *usual* 0 "The octets of garbage that gather when none does.")
(defvar *frugal-lock* (sb-thread:make-mutex :name "frugal"))

(defun call-frugally (function)
  "FUNCTION's value; meanwhile little garbage gathers."
  (sb-thread:with-mutex (*frugal-lock*)
    (when (= 1 (incf *frugal*))
      (setf *usual* (sb-ext:bytes-consed-between-gcs)
            (sb-ext:bytes-consed-between-gcs) (min *usual* +garbage+))
      ;; it holds from the next collection on
      (sb-ext:gc)))
  (unwind-protect (funcall function)
    (sb-thread:with-mutex (*frugal-lock*)
      (when (zerop (decf *frugal*)) (setf (sb-ext:bytes-consed-between-gcs) *usual*)))))

(defun large-p (path) (> (file-octets path) +large-log+))

;;; Which runners speak is known when the whole log was looked through, but mostly its head tells already: a large log is read with the
;;; tables of those while a second processor looks for others.

(defconstant +head+ (* 1024 1024) "Octets of a large log by which its runners are guessed.")

(defun call-beside (function main)
  "Calls FUNCTION in a thread of its own with a function that tells whether to give up, and MAIN here with one that returns what FUNCTION
returned, nil when it failed. When MAIN ends, so does FUNCTION's thread."
  (let* ((over nil) (layout *layout*)
         (thread (sb-thread:make-thread (lambda ()
                                          (let ((*layout* layout))
                                            ;; what fails here is done again by who asked, and fails there
                                            (handler-case (funcall function (lambda () over)) (serious-condition () nil))))
                                        :name "log reader")))
    (unwind-protect (funcall main (lambda () (sb-thread:join-thread thread :default nil)))
      (setf over t)
      (sb-thread:join-thread thread :default nil))))

(defun surveyed-and-read (path runner)
  "The weights of the runners in the log at PATH, and the readings of it by the tables of those that weigh enough."
  (let ((guess (and (large-p path) (chosen-runners (weighed path runner +head+)))))
    (flet ((outcome (readings-of)
             (let* ((weights (weighed path runner)) (chosen (chosen-runners weights)))
               (values weights (and chosen (or (and (equal chosen guess) (funcall readings-of)) (read-with path chosen)))))))
      (if guess
          (call-beside (lambda (over-p) (read-with path guess over-p)) #'outcome)
          (outcome (constantly nil))))))

(defun file-octets (path) (with-open-file (in path :element-type '(unsigned-byte 8)) (file-length in)))

(defun parse-log (path &key runner exit-code)
  "The report of the captured log, or machine-readable report, at PATH. RUNNER: the name of the runner that is known to have written
it; without one, or with one that has no table, it is recognised. EXIT-CODE: the command's, where known: other than 0, the verdict is
never \"passed\". Signals FILE-ERROR when PATH cannot be read."
  (if (large-p path)
      (call-frugally (lambda () (read-log path runner exit-code)))
      (read-log path runner exit-code)))

(defun likely-report (path weights exit-code)
  "What a part of a log says by the table of the runner that is likeliest, though not certain, to have written it; nil when that names no failure."
  (let ((likely (and weights (find-runner (car (first weights))))))
    (when (and likely (>= (cdr (first weights)) +likely+))
      (let ((report (as-report path (read-with path (list likely)) weights exit-code)))
        (and (report-failures report) report)))))

(defun read-log (path runner exit-code)
  (or (parse-format path exit-code)
      (let ((*layout* (layout-of path)))
        (multiple-value-bind (weights readings) (surveyed-and-read path runner)
          (let ((report (and readings (as-report path readings (remove +certain+ weights :key #'cdr :test #'>) exit-code))))
            (if (and report (not (and (string= "unparsed" (report-verdict report)) (null (report-failures report)))))
                report
                (let ((bare (bare-report path weights exit-code)))
                  (or (parse-format path exit-code :embedded t)
                      (and (null readings) (likely-report path weights exit-code))
                      (if (or (report-failures bare) (null report)) bare report)))))))))
