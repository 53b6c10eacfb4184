;;;; sidecar/session/journal.lisp, memory.lisp, observation.lisp

(defpackage #:opl.test.session.memory
  (:use #:cl #:opl.test #:opl.session.memory)
  (:import-from #:opl.session.observation #:make-observation #:observation-kind #:observation-subject #:observation-text
                #:observation-state #:line-octets #:read-observations #:shorten #:one-line #:now)
  (:import-from #:opl.session.journal #:journal-files #:read-journal #:prune-journals #:open-journal
                #:append-observation #:close-journal #:+journal-limit+))

(in-package #:opl.test.session.memory)

(defmacro with-memory ((folder) &body body)
  `(with-scratch-folder (,folder)
     (attach-memory ,folder)
     (unwind-protect (progn ,@body) (attach-memory nil))))

(defun texts (id) (mapcar #'observation-text (observations id)))

(deftest a-line-says-what-was-observed
  (let* ((text (format nil "a~Cb~%c\\d é 😀" #\Tab))
         (observation (make-observation :time 1234 :kind :edit :subject "src/a.ts" :state "change" :text text))
         (octets (line-octets observation))
         (seen '()))
    (check-equal (length octets) (read-observations octets 0 (length octets) (lambda (o) (push o seen))))
    (check-equal text (observation-text (first seen)))
    (check-equal "src/a.ts" (observation-subject (first seen)))
    (check-equal 1 (count 10 octets))))

(deftest a-torn-last-line-and-foreign-lines-are-passed-over
  (let* ((good (line-octets (make-observation :time 1 :kind :note :text "good")))
         (foreign (sb-ext:string-to-octets (format nil "no line of ours~%1~Cnote~%\\q~%" #\Tab)))
         (octets (coerce (concatenate 'vector good foreign good (subseq good 0 5)) '(simple-array (unsigned-byte 8) (*))))
         (count 0))
    (check-equal (- (length octets) 5)
                 (read-observations octets 0 (length octets) (lambda (o) (declare (ignore o)) (incf count))))
    (check-equal 2 count)))

(deftest what-was-observed-is-there-after-the-process-is-gone
  (with-memory (folder)
    (observe "ses_1" :request :text "fix the parser")
    (observe "ses_1" :note :text "we use tabs")
    ;; No detaching: a killed process does not close its files.
    (attach-memory folder)
    (check-equal '("fix the parser" "we use tabs") (texts "ses_1"))))

(deftest secrets-do-not-reach-the-journal
  (with-memory (folder)
    (observe "ses_1" :request :text "my password = \"hunter2\", use it" :subject "token=abc12345")
    (observe "ses_1" :edit :subject ".env" :text "COLOR=plainword")
    (let ((text (with-open-file (stream (first (journal-files folder)) :external-format :utf-8)
                  (let ((text (make-string (file-length stream)))) (subseq text 0 (read-sequence text stream))))))
      (check (not (search "hunter2" text)))
      (check (not (search "plainword" text)))
      (check (search "redacted" text)))))

(deftest journals-are-their-owners-alone
  (with-memory (folder)
    (observe "ses_1" :note :text "x")
    (check-equal #o600 (logand #o777 (sb-posix:stat-mode (sb-posix:stat (sb-ext:native-namestring (first (journal-files folder)))))))))

(deftest sessions-are-kept-apart-and-subagents-too
  (with-memory (folder)
    (observe "main" :request :text "one")
    (observe "child" :request :text "two" :parent "main")
    (check-equal '("one") (texts "main"))
    (check-equal '("two") (texts "child"))
    (check-equal "main" (session-parent-of "child"))
    (check-equal "main" (current-session))
    (check-equal "main" (latest-session))
    (attach-memory folder)
    (check-equal "main" (session-parent-of "child"))
    (check-equal "main" (latest-session))))

(deftest notes-of-other-processes-appear
  (with-memory (folder)
    (observe "mine" :note :text "here")
    (let ((other (open-journal folder (make-observation :time (now) :kind :session :subject "theirs"))))
      (append-observation other (make-observation :time (now) :kind :note :text "there"))
      (check-equal '("there") (texts "theirs"))
      (append-observation other (make-observation :time (now) :kind :note :text "again"))
      (check-equal '("there" "again") (texts "theirs"))
      (close-journal other))))

(defun writer-script (folder name count)
  (format nil "(progn (load ~S) (funcall (find-symbol \"ATTACH-MEMORY\" \"OPL.SESSION.MEMORY\") (sb-ext:parse-native-namestring ~S)) (dotimes (i ~D) (funcall (find-symbol \"OBSERVE\" \"OPL.SESSION.MEMORY\") \"shared\" :note :text (format nil \"~A ~~D\" i))) (sb-posix:kill (sb-posix:getpid) 9))"
          (sb-ext:native-namestring (merge-pathnames "../../sidecar/load.lisp" cl-user::*here*))
          (sb-ext:native-namestring folder) count name))

(deftest four-writers-of-one-session-lose-nothing-though-killed
  (with-memory (folder)
    (let ((writers (loop for name in '("a" "b" "c" "d")
                         collect (sb-ext:run-program "sbcl" (list "--noinform" "--no-sysinit" "--no-userinit" "--non-interactive"
                                                                  "--eval" "(require \"sb-posix\")"
                                                                  "--eval" (writer-script folder name 1000))
                                                     :search t :wait nil))))
      (mapc #'sb-ext:process-wait writers)
      (let ((found (texts "shared")))
        (check-equal 4000 (length found))
        (check-equal 4000 (length (remove-duplicates found :test #'string=)))))))

(deftest a-clock-put-back-turns-nothing-around
  (with-memory (folder)
    (observe "ses_1" :test :subject "adds" :state "failed")
    ;; As if the clock had been an hour ahead until now.
    (incf (opl.session.observation:observation-time (first (observations "ses_1"))) 3600000)
    (observe "ses_1" :test :subject "adds" :state "passed")
    (check-equal '("failed" "passed") (mapcar #'observation-state (observations "ses_1")))
    (attach-memory folder)
    (check-equal '("failed" "passed") (mapcar #'observation-state (observations "ses_1")))))

(deftest a-journal-of-broken-lines-costs-those-lines-alone
  (with-memory (folder)
    (observe "ses_1" :note :text "before")
    (let ((path (first (journal-files folder))))
      (with-open-file (stream path :direction :output :if-exists :append :element-type '(unsigned-byte 8))
        ;; No time, no kind, no UTF-8, half an escape, octets of a disk that was full, an empty line.
        (dolist (line (list "soon~Cnote~C~C~Cx~%" "12~Cnothing~C~C~Cx~%" "~%"))
          (write-sequence (sb-ext:string-to-octets (format nil line #\Tab #\Tab #\Tab #\Tab)) stream))
        (write-sequence #(49 9 110 111 116 101 9 255 254 9 9 120 10  49 9 110 111 116 101 9 9 9 92 10  0 0 0 0 10) stream))
      (observe "ses_1" :note :text "after")
      (attach-memory folder)
      (let ((texts (texts "ses_1")))
        (check-equal "before" (first texts))
        (check-equal "after" (first (last texts)))))))

#+linux
(deftest what-a-full-disk-refused-is-written-when-there-is-room-again
  (with-memory (folder)
    (observe "ses_1" :note :text "before")
    (let ((journal (opl.session.memory::session-journal (opl.session.memory::session-named *memory* "ses_1"))))
      (sb-posix:close (opl.session.journal::journal-descriptor journal))
      (setf (opl.session.journal::journal-descriptor journal) (sb-posix:open "/dev/full" sb-posix:o-wronly)))
    (observe "ses_1" :note :text "refused")
    (check (search "space" (memory-trouble *memory*)))
    (observe "ses_1" :note :text "refused too")
    (check-equal '("before" "refused" "refused too") (texts "ses_1"))
    ;; The time until the next try is over.
    (setf (opl.session.memory::memory-not-before *memory*) 0)
    (observe "ses_1" :note :text "after")
    (check-equal nil (memory-trouble *memory*))
    (attach-memory folder)
    (check-equal '("before" "refused" "refused too" "after") (texts "ses_1"))))

(deftest a-folder-that-cannot-be-written-costs-the-journal-alone
  (unwind-protect
       (progn
         (attach-memory (sb-ext:parse-native-namestring "/proc/nowhere/at/all/"))
         (observe "ses_1" :note :text "still here")
         (check-equal '("still here") (texts "ses_1"))
         (check (search "cannot be written down" (memory-trouble *memory*))))
    (attach-memory nil)))

(deftest a-journal-is-bounded-and-keeps-what-lasts
  (with-memory (folder)
    (observe "ses_1" :note :text "the first note")
    (let ((long (make-string 3900 :initial-element #\x)))
      (dotimes (i 1200) (observe "ses_1" :tool :subject "bash" :text long)))
    (let ((path (first (journal-files folder))) (notes 0))
      (check (<= (with-open-file (stream path) (file-length stream)) (+ +journal-limit+ 5000)))
      (read-journal path (lambda (o) (when (eq (observation-kind o) :note) (incf notes))))
      (check-equal 1 notes)
      (observe "ses_1" :note :text "the last note")
      (setf notes 0)
      (read-journal path (lambda (o) (when (eq (observation-kind o) :note) (incf notes))))
      (check-equal 2 notes))))

(deftest a-journal-of-notes-alone-is-bounded-too
  (with-memory (folder)
    (let ((long (make-string 3900 :initial-element #\x)))
      (dotimes (i 3000) (observe "ses_1" :note :text (format nil "~D ~A" i long))))
    (let ((path (first (journal-files folder))) (last nil))
      (check (<= (with-open-file (stream path) (file-length stream)) (+ +journal-limit+ 5000)))
      (read-journal path (lambda (o) (setf last o)))
      (check-equal 0 (search "2999 " (observation-text last)))
      (attach-memory folder)
      (check-equal "ses_1" (latest-session)))))

(deftest what-starts-does-not-wait-for-old-journals
  (with-memory (folder)
    (observe "main" :request :text "one")
    (observe "child" :note :text "two" :parent "main")
    (attach-memory folder)
    ;; Who asks before they are read gets all of them.
    (check-equal "main" (session-parent-of "child"))
    (check-equal 1 (observation-count "main"))
    (attach-memory folder)
    (check-equal "main" (latest-session))))

(deftest old-journals-go-but-their-notes-stay
  (with-scratch-folder (folder)
    (flet ((make (name kind age)
             (let ((path (merge-pathnames (format nil "~A.999999999.1.journal" name) folder)))
               (with-open-file (stream path :direction :output :element-type '(unsigned-byte 8))
                 (write-sequence (line-octets (make-observation :time 1 :kind :session :subject name)) stream)
                 (write-sequence (line-octets (make-observation :time 2 :kind kind :text "said")) stream)
                 (write-sequence (line-octets (make-observation :time 3 :kind :tool :text "called")) stream))
               (let ((then (- (floor (now) 1000) (* 86400 age))))
                 (sb-posix:utime (sb-ext:native-namestring path) then then)))))
      (make "old-tools" :tool 100)
      (make "old-note" :note 100)
      (make "young" :tool 1)
      (check-equal 2 (prune-journals folder))
      (attach-memory folder)
      (unwind-protect
           (progn (check-equal '() (texts "old-tools"))
                  (check-equal '("said") (texts "old-note"))
                  (check-equal '("said" "called") (texts "young")))
        (attach-memory nil)))))

(deftest shortening
  (check-equal "abc" (shorten "abc" 3))
  (check-equal "ab…" (shorten "abcd" 3))
  (check-equal "a b c" (one-line (format nil "  a~%~%b ~C c  " #\Tab))))
