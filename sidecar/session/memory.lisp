;;;; What this process knows of the project's sessions: the journals of all of them, read as they grow, and
;;;; this process's own, written as things happen.

(defpackage #:opl.session.memory
  (:use #:cl)
  (:import-from #:opl.session.observation
                #:observation #:make-observation #:observation-time #:observation-kind #:observation-subject
                #:observation-state #:observation-text #:observation-session #:now)
  (:import-from #:opl.session.redact #:redact)
  (:import-from #:opl.session.journal
                #:open-journal #:append-observation #:sync-journal #:close-journal #:journal-files #:journal-size-of #:read-journal
                #:prune-journals)
  (:export #:memory #:memory-trouble #:*memory* #:attach-memory
           #:observe #:remember #:observations #:family-observations #:all-observations #:session-parent-of #:session-head-of #:sessions
           #:observation-count #:last-time #:latest-session #:current-session #:*asking-session* #:sync-session))

(in-package #:opl.session.memory)

(declaim (optimize (speed 1) (safety 1)))

(defstruct (session (:conc-name session-))
  (id "" :type string)
  (parent "" :type string)
  (head "" :type string)
  (observations (make-array 64 :adjustable t :fill-pointer 0) :type vector)
  (journal nil)
  ;; Held and not in the journal yet: while it cannot be written, the newest of them.
  (unwritten '() :type list))

(defconstant +unwritten-limit+ 1000
  "Observations of one session that wait for a journal that cannot be written.")

(defconstant +retry-seconds+ 30
  "After a journal could not be written, the next is tried so much later: disks are full for a while.")

(defstruct memory
  "The sessions of one project."
  (folder nil)
  (sessions (make-hash-table :test #'equal) :type hash-table)
  ;; Path -> octets read; own journals are not read back.
  (read (make-hash-table :test #'equal) :type hash-table)
  (own '() :type list)
  ;; True when the journals that were there at the start are read.
  (complete nil)
  (current "" :type string)
  ;; Why nothing is written, when nothing can be, and until when (internal real time) nothing is tried.
  (trouble nil)
  (not-before 0 :type integer)
  (lock (sb-thread:make-mutex :name "memory")))

(defvar *memory* (make-memory)
  "The memory of the project that is open; without a folder it lasts as long as the process.")

(defconstant +session-limit+ 20000
  "Observations of one session that are held; the older half goes when there are more.")

(defun session-named (memory id)
  (or (gethash id (memory-sessions memory))
      (setf (gethash id (memory-sessions memory)) (make-session :id id))))

(defun hold (session observation)
  "Add OBSERVATION to what is held of SESSION. Journals of two processes may interleave: order is by time."
  (let ((held (session-observations session)))
    (setf (observation-session observation) (session-id session))
    (when (>= (length held) +session-limit+)
      (let ((half (floor (length held) 2)))
        (replace held held :start2 half)
        (decf (fill-pointer held) half)))
    (vector-push-extend observation held)
    (loop for index downfrom (1- (length held)) above 0
          while (< (observation-time (aref held index)) (observation-time (aref held (1- index))))
          do (rotatef (aref held index) (aref held (1- index))))))

(defun last-time-of (session)
  (let ((held (session-observations session)))
    (if (plusp (length held)) (observation-time (aref held (1- (length held)))) 0)))

(defun take (memory session observation)
  "What a line of a journal means: the head names the session of those that follow. Returns that session."
  (cond ((eq (observation-kind observation) :session)
         (let ((session (session-named memory (observation-subject observation))))
           (setf (session-parent session) (observation-state observation)
                 (session-head session) (observation-text observation))
           session))
        (t (when session (hold session observation))
           session)))

(defun catch-up-with (memory path)
  "Read what the journal PATH has gained. Most of a project's hundreds will never grow: a look at the size tells."
  (let ((name (namestring path)) (size (journal-size-of path)))
    (unless (or (null size) (member name (memory-own memory) :test #'string=))
      (destructuring-bind (at . session) (gethash name (memory-read memory) '(0))
        (cond ((> size at)
               (let ((end (read-journal path (lambda (observation) (setf session (take memory session observation))) at)))
                 (setf (gethash name (memory-read memory)) (cons end session))))
              ;; It was written anew, shorter: what is in it is known, what follows is not.
              ((< size at)
               (setf (gethash name (memory-read memory)) (cons size session))))))))

(defun catch-up (memory)
  "Read what other processes have appended. The caller holds the lock."
  (when (memory-folder memory)
    (dolist (path (ignore-errors (journal-files (memory-folder memory))))
      (catch-up-with memory path))))

(defun read-beside (memory)
  "Prune and read the journals of MEMORY in a thread of its own, one at a time: months of them take a second, and nothing that starts
waits for it. Who asks before it is done reads what is missing."
  (sb-thread:make-thread
   (lambda ()
     (ignore-errors (prune-journals (memory-folder memory)))
     (dolist (path (ignore-errors (journal-files (memory-folder memory))))
       (sb-thread:with-mutex ((memory-lock memory))
         (ignore-errors (catch-up-with memory path))))
     (setf (memory-complete memory) t))
   :name "memory"))

(defun known-session (id)
  "The session ID, or NIL; what was there at the start is read before."
  (let ((memory *memory*))
    (unless (memory-complete memory)
      (sb-thread:with-mutex ((memory-lock memory))
        (ignore-errors (catch-up memory))))
    (gethash id (memory-sessions memory))))

(defun attach-memory (folder)
  "Make FOLDER (a pathname, or NIL for none) the place of the project's journals; they are read beside whatever comes next. What is too
old or too large goes first. Never signals: without a usable folder memory lasts as long as the process."
  (detach-memory)
  (setf *memory* (make-memory :folder folder))
  (when folder
    (read-beside *memory*))
  *memory*)

(defun detach-memory ()
  "Close the journals."
  (let ((memory *memory*))
    (sb-thread:with-mutex ((memory-lock memory))
      (loop for session being the hash-values of (memory-sessions memory)
            do (when (session-journal session)
                 (ignore-errors (close-journal (session-journal session)))
                 (setf (session-journal session) nil))))))

(defun note-trouble (memory session condition)
  "The journal of SESSION cannot be written: another is begun later, for this one may end in half a line."
  (when (session-journal session)
    (ignore-errors (close-journal (session-journal session))))
  (setf (session-journal session) nil
        (memory-not-before memory) (+ (get-internal-real-time) (* +retry-seconds+ internal-time-units-per-second))
        (memory-trouble memory)
        (format nil "What happens in this session cannot be written down now (~A); until it can, it is remembered by the process alone."
                condition)))

(defun ensure-journal (memory session)
  "Open the journal of SESSION if none is."
  (unless (or (session-journal session) (null (memory-folder memory)) (< (get-internal-real-time) (memory-not-before memory)))
    (let ((journal (open-journal (memory-folder memory)
                                 (make-observation :time (now) :kind :session :subject (session-id session)
                                                   :state (session-parent session) :text (session-head session)))))
      (setf (session-journal session) journal)
      (push (namestring (opl.session.journal:journal-path journal)) (memory-own memory)))))

(defun write-down (memory session observation sync)
  "Append OBSERVATION to the journal of SESSION, after those that could not be written before it; trouble is kept for whoever asks."
  (let ((waiting (append (session-unwritten session) (list observation))))
    (handler-case
        (progn
          (ensure-journal memory session)
          (when (session-journal session)
            (loop while waiting
                  do (append-observation (session-journal session) (first waiting) :sync sync)
                     (pop waiting))
            (setf (memory-trouble memory) nil)))
      (error (condition) (note-trouble memory session condition)))
    (setf (session-unwritten session)
          (and (memory-folder memory) (last waiting +unwritten-limit+)))))

(defun observe (session-id kind &key (subject "") (state "") (text "") (parent "") (head ""))
  "Remember that KIND happened in the session SESSION-ID, secrets taken out first: in the journal, then here.
Returns the observation."
  (let* ((memory *memory*)
         (observation (make-observation :time (now) :kind kind
                                        :subject (redact subject)
                                        :state (redact state)
                                        :text (redact text :path (if (eq kind :edit) subject "")))))
    (sb-thread:with-mutex ((memory-lock memory))
      (let ((session (session-named memory session-id)))
        (when (string/= parent "") (setf (session-parent session) parent))
        (when (string/= head "") (setf (session-head session) head))
        ;; A clock that was put back must not turn around what happened.
        (setf (observation-time observation) (max (observation-time observation) (last-time-of session)))
        (when (string= (session-parent session) "")
          ;; A subagent's doings do not make it the session that the user is in.
          (setf (memory-current memory) session-id))
        (write-down memory session observation (member kind '(:note :decision)))
        (hold session observation)))
    observation))

(defun remember (text &optional session-id)
  "Store TEXT as a note of the session SESSION-ID, or of the current one. Returns the observation."
  (observe (or session-id (current-session)) :note :text text))

(defvar *asking-session* nil
  "The id of the session on whose behalf code runs, or NIL: several sessions share this process, and each asks for its own memory.")

(defun current-session ()
  "The id of the session that asks, else of the one last observed, subagents excepted; an empty string when there was none."
  (or *asking-session* (memory-current *memory*)))

(defun session-observations-of (id)
  (let ((session (gethash id (memory-sessions *memory*))))
    (if session (coerce (session-observations session) 'list) '())))

(defun observations (id)
  "The observations of the session ID in the order of their time: a list; NIL when nothing is known of it."
  (sb-thread:with-mutex ((memory-lock *memory*))
    (catch-up *memory*)
    (session-observations-of id)))

(defparameter *handed-up* '(:edit :test :verdict :decision :note)
  "What a subagent does that concerns the session that started it: the tree and what was settled, not its own requests and steps.")

(defun family (id)
  "The sessions that the session ID started as subagents, and theirs: a list of ids. The caller holds the lock."
  (let ((ids (list id)))
    (loop for fresh = (loop for session being the hash-values of (memory-sessions *memory*)
                            when (and (member (session-parent session) ids :test #'string=)
                                      (not (member (session-id session) ids :test #'string=)))
                              collect (session-id session))
          while fresh do (setf ids (append ids fresh)))
    (rest ids)))

(defun family-observations (id)
  "The observations of the session ID and, of those of its subagents, what concerns it too, in the order of their time."
  (sb-thread:with-mutex ((memory-lock *memory*))
    (catch-up *memory*)
    (let ((children (loop for child in (sort (family id) #'string<)
                          append (remove-if-not (lambda (observation) (member (observation-kind observation) *handed-up*))
                                                (session-observations-of child)))))
      (if children
          (stable-sort (append (session-observations-of id) children) #'< :key #'observation-time)
          (session-observations-of id)))))

(defun session-parent-of (id)
  "The id of the session that started the session ID, or an empty string."
  (let ((session (known-session id)))
    (if session (session-parent session) "")))

(defun session-head-of (id)
  "The commit the session ID was last seen at, or an empty string."
  (let ((session (known-session id)))
    (if session (session-head session) "")))

(defun last-time (id)
  "When the last observation known of the session ID was made, in milliseconds since 1970; 0 when there is none."
  (let ((session (known-session id)))
    (if session (last-time-of session) 0)))

(defun observation-count (id)
  "How many observations are known of the session ID; other processes' journals are not looked at anew."
  (let ((session (known-session id)))
    (if session (length (session-observations session)) 0)))

(defun sessions ()
  "The ids of all sessions known for the project, the one that was active last first, ties by id."
  (sb-thread:with-mutex ((memory-lock *memory*))
    (catch-up *memory*)
    (let ((ids '()))
      (maphash (lambda (id session) (push (cons (last-time-of session) id) ids))
               (memory-sessions *memory*))
      (mapcar #'cdr (sort ids (lambda (a b) (or (> (car a) (car b))
                                                (and (= (car a) (car b)) (string< (cdr a) (cdr b))))))))))

(defun all-observations ()
  "The observations of all sessions known for the project: a list, the session that was active last first."
  (let ((ids (sessions)))
    (sb-thread:with-mutex ((memory-lock *memory*))
      (loop for id in ids append (session-observations-of id)))))

(defun latest-session (&key except)
  "The id of the main session (no subagent's) that was active last, EXCEPT not counted; NIL when there is none."
  (find-if (lambda (id)
             (and (not (equal id except))
                  (string= (session-parent-of id) "")
                  (plusp (last-time id))))
           (sessions)))

(defun sync-session (id)
  "Force the journal of the session ID to the disk, if this process writes one."
  (let ((session (gethash id (memory-sessions *memory*))))
    (when (and session (session-journal session))
      ;; File systems without fsync refuse it; the lines are with the kernel already.
      (ignore-errors (sync-journal (session-journal session))))))
