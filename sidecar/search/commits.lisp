;;;; Commits: reading `git log' of HEAD beside everything else, going on from what was read before, and keeping it with the
;;;; snapshot. A task that comes before it is read is answered without history, and the answer says so.

(defpackage #:opl.search.commits
  (:use #:cl #:opl.search.history)
  (:import-from #:opl.source.names #:octets #:make-octets #:octets-string #:string-octets)
  (:import-from #:opl.source.files #:git-output)
  (:import-from #:opl.search.head #:plain-git-folder #:plain-head)
  (:import-from #:opl.wire.children #:with-child)
  (:import-from #:opl.index.store #:index-root #:index-live-count)
  (:export #:read-history #:current-history #:history-state #:follow-head #:history-within #:begin-reading
           #:*on-change*))
(in-package #:opl.search.commits)

(defconstant +history-octets+ 16000000 "Octets a history may take; one that takes more is read again with half the commits.")
(defconstant +many-files+ 30000 "Files of an index from which merges are left out: comparing each with its first parent takes minutes.")
(defconstant +read-octets+ 1048576)

(defun git-text (root &rest arguments)
  "What git prints for ARGUMENTS in ROOT, without blanks around it; nil when it fails."
  (multiple-value-bind (output status) (git-output root arguments :limit 65536)
    (and output (eql status 0) (string-trim '(#\Space #\Newline) (octets-string output)))))

(defparameter *format* (format nil "--format=~C%H %ct %P~C%B~C" (code-char 1) (code-char 2) (code-char 2)))

(defun log-arguments (root range commits merges)
  (append (list "-C" root "--no-optional-locks" "-c" "core.quotepath=off" "-c" "log.showSignature=false" "-c" "core.fsmonitor=false"
                "log" "-z" "--reverse" "--no-renames" "--name-only" *format* (format nil "--max-count=~D" commits))
          (if merges '("--diff-merges=first-parent") '("--no-merges"))
          (list range "--")))

(defun feed-child (child reader history)
  "Reads the log that CHILD prints. True when it all came and the history stayed within its limit."
  (let ((buffer (make-octets +read-octets+)) (stream (sb-ext:process-output child)))
    (loop
      (let ((count (read-sequence buffer stream)))
        (when (plusp count) (feed-log reader buffer count))
        (when (> (history-octets history) +history-octets+) (return :too-large))
        (when (< count +read-octets+) (return))))
    (finish-log reader)
    (sb-ext:process-wait child)
    (eql 0 (sb-ext:process-exit-code child))))

(defun read-log (root range commits merges history)
  "Appends the commits of RANGE to HISTORY. True when git ended well, :too-large beyond the limit, nil when it failed."
  (handler-case
      (with-child (child "git" (log-arguments root range commits merges)
                         :input nil :output :stream :error nil
                         ;; a blobless clone would be asked for objects over the network
                         :environment (list* "GIT_TERMINAL_PROMPT=0" "LC_ALL=C" "GIT_OPTIONAL_LOCKS=0" "GIT_NO_LAZY_FETCH=1"
                                             (remove-if (lambda (entry) (or (eql 0 (search "GIT_DIR=" entry)) (eql 0 (search "GIT_WORK_TREE=" entry))
                                                                            (eql 0 (search "LC_ALL=" entry))))
                                                        (sb-ext:posix-environ))))
        (feed-child child (make-log-reader history) history))
    (error () nil)))

(defun note-of (root history commits)
  "What was used, in words."
  (format nil "~:D commit~:P~A" (history-count history)
          (cond ((equal (git-text root "rev-parse" "--is-shallow-repository") "true") ", all that a shallow clone has")
                ((>= (history-count history) commits) ", the newest")
                (t ""))))

(defun descends-p (root ancestor head)
  (multiple-value-bind (output status) (git-output root (list "merge-base" "--is-ancestor" ancestor head) :limit 4096)
    (and output (eql status 0))))

(defun ancestors (root head)
  "The first eight digits, as numbers, of HEAD and its ancestors: a table; nil when git fails."
  (multiple-value-bind (output status) (git-output root (list "rev-list" (format nil "--max-count=~D" (* 2 +commits+)) head))
    (when (and output (eql status 0))
      (let ((table (make-hash-table)))
        (loop with start = 0
              for end = (position 10 (the octets output) :start start)
              while end
              do (let ((sha 0))
                   (loop for i from start below (min end (+ start 8))
                         do (setf sha (logior (ash sha 4) (or (digit-char-p (code-char (aref output i)) 16) 0))))
                   (setf (gethash sha table) t))
                 (setf start (1+ end)))
        table))))

(defun known-part (root known head)
  "What of KNOWN HEAD descends from: KNOWN itself, or, after a switch to another branch, the commits they share."
  (if (descends-p root (history-head known) head)
      (copy-history known)
      (let ((table (ancestors root head)))
        (and table (history-kept known (lambda (sha) (gethash sha table)))))))

(defun extended (root known head)
  "The part of KNOWN that HEAD descends from and the commits since; nil when that cannot be told."
  (let ((range (format nil "~A..~A" (history-head known) head)))
    (dolist (merges '(t nil))
      (let ((history (known-part root known head)))
        (unless history (return nil))
        (when (eq t (read-log root range +commits+ merges history))
          (setf (history-head history) head (history-note history) (note-of root history +commits+))
          (return history))))))

(defun read-whole (root head files)
  (loop with commits = +commits+ with merges = (< files +many-files+)
        repeat 12
        do (let* ((history (make-history)) (outcome (read-log root head commits merges history)))
             (case outcome
               (:too-large (setf commits (floor commits 2)))
               ((nil) (if merges
                          (setf merges nil) ; git before 2.31 does not know the option
                          (return (make-history :head head :note "git log failed"))))
               (t (setf (history-head history) head (history-note history) (note-of root history commits))
                  (return history))))
        finally (return (make-history :head head :note "too large to be read"))))

(defun head-of (root)
  "The commit that HEAD of ROOT stands on, or nil."
  (let ((folder (plain-git-folder root)))
    (or (and folder (plain-head folder)) (git-text root "rev-parse" "--verify" "-q" "HEAD"))))

(defun read-history (root &key known (files 0))
  "The history of ROOT's HEAD. KNOWN: what was read before, gone on from where HEAD descends from it. FILES: of the index.
Without git, or without a commit, an empty one whose note says so. KNOWN itself when nothing is new."
  (let ((head (head-of root)))
    (cond ((null head)
           (if (and known (zerop (history-count known)) (string= "" (history-head known))) known (make-history :note "no git history")))
          ((and known (string= head (history-head known))) known)
          ((and known (plusp (history-count known)) (extended root known head)))
          (t (read-whole root head files)))))

;;; The one root this process serves

(defstruct state
  (root "" :type string) history thread
  (folder nil)                          ; git's own, once it has been asked for it
  (mark nil)                            ; of HEAD as it stood before HISTORY was read; :none where nothing tells
  (asked nil))                          ; when git was asked last, in seconds
(sb-ext:defglobal **state** nil)
(sb-ext:defglobal **lock** (sb-thread:make-mutex :name "history"))

(defvar *on-change* '() "Functions of the root and how many commits were read, called in the reading thread when another history is there.")

(defun state-of (root)
  (sb-thread:with-recursive-lock (**lock**)
    (unless (and **state** (string= root (state-root **state**))) (setf **state** (make-state :root root)))
    **state**))

(defun current-history (root)
  "The history read last for ROOT; nil when none is there yet."
  (let ((state **state**)) (and state (string= root (state-root state)) (state-history state))))

(defun set-history (root history) (setf (state-history (state-of root)) history))

(defun reading-p (root) (let ((thread (state-thread (state-of root)))) (and thread (sb-thread:thread-alive-p thread))))

(defun history-state (root)
  "What answers say of the history."
  (let ((history (current-history root)))
    (cond (history (history-note history))
          ((reading-p root) "history is still being read")
          (t "history was not read"))))

(defun head-mark (folder)
  "What git's journal of HEAD in FOLDER looks like: it grows with every commit, checkout and pull. Nil where none is kept."
  (and folder
       (multiple-value-bind (type size time) (opl.source.octets:file-state (opl.source.octets:native-join folder "logs/HEAD"))
         (and (eq type :regular) (list size time)))))

(defconstant +seconds-without-git+ 30
  "A folder that is no repository is asked again after so long: starting git copies the page tables of this process, and in a tree of 70,000
files what then has to be copied at the next writing took half the time of an answer.")

(defun head-moved-p (state)
  "Whether HEAD stands elsewhere than when the history of STATE was read, as far as two numbers tell: nothing is started."
  (let ((mark (head-mark (state-folder state))))
    (cond (mark (not (equal mark (state-mark state))))
          ((and (state-asked state) (null (state-folder state)))
           (or (> (- (get-universal-time) (state-asked state)) +seconds-without-git+)
               (opl.source.octets:file-state (opl.source.octets:native-join (state-root state) ".git"))))
          (t t))))

(defun bring-up-to-date (state files)
  (let* ((root (state-root state)) (folder (or (state-folder state) (plain-git-folder root) (git-text root "rev-parse" "--absolute-git-dir")))
         ;; taken first: what happens while git reads is read the next time
         (mark (head-mark folder)) (known (state-history state)) (history (read-history root :known known :files files)))
    (unless (eq history known)
      (setf (state-history state) history)
      (let ((read (- (history-count history) (if known (history-count known) 0))))
        (dolist (function *on-change*) (funcall function root read))))
    (setf (state-folder state) folder (state-mark state) (or mark :none) (state-asked state) (get-universal-time))))

(defun follow-head (root files)
  "Reads, in a thread of its own, what HEAD has that is not known yet. Returns at once."
  (sb-thread:with-recursive-lock (**lock**)
    (let ((state (state-of root)))
      (when (and (not (reading-p root)) (head-moved-p state))
        ;; A history that cannot be read is one that is not there: answers do without it, and the next question tries again.
        (setf (state-thread state)
              (sb-thread:make-thread (lambda () (ignore-errors (bring-up-to-date state files))) :name "history"))))
    nil))

(defun history-within (root seconds)
  "The history of ROOT, waiting at most SECONDS when one is being read because none is there or because HEAD has left the one that
is there behind; nil when there is none by then. What a pull or a switch of branches brought is read in some ten milliseconds as a
rule; without it the commits most like the task are missing: of four issues of axios two fell from the first two files to the ninth
and the twelfth."
  (let ((end (+ (get-internal-real-time) (* seconds internal-time-units-per-second))) (state (state-of root)))
    (loop while (and (reading-p root)
                     (or (null (current-history root)) (and (not (eq (state-mark state) :none)) (head-moved-p state)))
                     (< (get-internal-real-time) end))
          do (sleep 0.002))
    (current-history root)))

(defun begin-reading (root)
  "Starts reading the history of ROOT before its files are known; git's own index tells whether they are many."
  (let ((size (nth-value 1 (opl.source.octets:file-state (opl.source.octets:native-join root ".git/index")))))
    (follow-head root (if (and size (> size (* 100 +many-files+))) +many-files+ 0))))

;;; With the index

(defun follow-index (index) (follow-head (index-root index) (index-live-count index)))
(pushnew 'follow-index opl.index.workspace:*published*)
(pushnew 'begin-reading opl.index.workspace:*from-nothing*)
(defconstant +dear-commits+ 500 "Reading so many again takes git longer than writing a snapshot.")

(push (lambda (root read)
        ;; what is empty is not kept, and a snapshot of hundreds of megabytes is not written for it
        (when (and opl.index.workspace:*workspace* (plusp (history-count (current-history root))))
          (opl.index.workspace:mark-unsaved opl.index.workspace:*workspace* :dear (>= read +dear-commits+))))
      *on-change*)

(defun history-part (index)
  "What the snapshot keeps, for `opl.index.snapshot:*parts*'."
  (let ((history (current-history (index-root index))))
    (when (and history (plusp (history-count history)))
      (multiple-value-bind (columns octets head note) (history-columns history)
        (append columns (list octets (string-octets head) (string-octets note)))))))

(defun take-history-part (index vectors)
  (when (= 13 (length vectors))
    (let ((history (history-from-columns (subseq vectors 0 10) (nth 10 vectors) (octets-string (nth 11 vectors)) (octets-string (nth 12 vectors)))))
      (when history (set-history (index-root index) history)))))

(setf opl.index.snapshot:*parts*
      (sort (cons (list "history" 'history-part 'take-history-part)
                  (remove "history" opl.index.snapshot:*parts* :key #'first :test #'string=))
            #'string< :key #'first))
