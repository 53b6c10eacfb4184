;;;; The workspace: the one root this process serves. It opens from the snapshot or from scratch beside the
;;;; queries, looks at the tree before an answer, and writes the snapshot when things have settled.

(defpackage #:opl.index.workspace
  (:use #:cl #:opl.index.store #:opl.index.refresh)
  (:import-from #:opl.index.ctags #:check-ctags #:program-mark)
  (:import-from #:opl.index.watch #:watch-loose-p #:start-watch #:extend-watch #:watch-events #:stop-watch)
  (:import-from #:opl.index.snapshot #:read-snapshot #:write-snapshot #:snapshot-name)
  (:import-from #:opl.source.octets #:real-path #:file-state)
  (:import-from #:opl.wire.conditions #:fail)
  (:import-from #:opl.wire.server #:*at-end*)
  (:import-from #:opl.wire.protocol #:+sidecar-version+)
  (:export #:open-workspace #:workspace-index #:current-index #:fresh-index #:wait-for-index #:rebuild #:refresh-paths #:save
           #:workspace-state #:workspace-stage #:workspace-cache #:workspace-root
           #:*workspace* #:opened-p #:*published* #:*from-nothing* #:mark-unsaved #:workspace-reason))
(in-package #:opl.index.workspace)

(defstruct workspace
  (root "" :type string) (ctags "ctags" :type string) (ctags-version nil) (ctags-reason nil)
  (cache nil) (excludes '() :type list)
  (index nil) (state :empty :type symbol) (reason nil)
  (stage (list "" 0 0) :type list)
  (thread nil) (lock (sb-thread:make-mutex :name "workspace"))
  (unsaved nil) (dear nil) (saver nil)
  (watch nil) (watching nil)            ; the watch; the thread that starts it, or t once it was tried
  (looked 0) (looks 0)                  ; when, and how often, the whole tree was looked at
  (dirty t))                            ; whether the watch alone cannot tell what changed

(sb-ext:defglobal *workspace* nil "The one workspace of this process, or nil before it is opened.")

(defvar *published* '() "Functions called with each index when it is published, in the publishing thread.")

(defun opened-p ()
  "Whether a repository was opened; its index may still be being made."
  (and *workspace* t))
(defvar *from-nothing* '() "Functions called with the root before its index is made from nothing, in the same thread.")

(defun the-workspace ()
  (or *workspace* (fail :not-open "No root is open; the host sends `open' first.")))

(defun announce (workspace index)
  "Publishes INDEX."
  (setf (workspace-index workspace) index)
  (dolist (function *published*) (funcall function index))
  index)

(defun report-to (workspace)
  (lambda (stage done total) (setf (workspace-stage workspace) (list stage done total))))

(defun program (workspace) (and (null (workspace-ctags-reason workspace)) (workspace-ctags workspace)))

(defun mark-unsaved (workspace &key dear)
  "Notes that the index differs from its snapshot, which is written once edits have settled. DEAR: making it again takes so long that
it is written at the end of a process that ends before."
  (setf (workspace-unsaved workspace) t)
  (when dear (setf (workspace-dear workspace) t))
  (when (and (workspace-cache workspace) (null (workspace-saver workspace)))
    (setf (workspace-saver workspace)
          (sb-thread:make-thread (lambda () (save-when-settled workspace)) :name "snapshot"))))

(defconstant +settle-seconds+ 3 "A snapshot is written once nothing has changed for so long: edits come in bursts.")

(defun save-when-settled (workspace)
  "Writes the snapshot after a while without changes; ends when there is nothing left to write."
  (loop
    (let ((index (workspace-index workspace)))
      (sleep +settle-seconds+)
      (when (eq index (workspace-index workspace))
        (setf (workspace-unsaved workspace) nil (workspace-dear workspace) nil)
        (save workspace)
        (sb-thread:with-mutex ((workspace-lock workspace))
          (unless (workspace-unsaved workspace)
            (setf (workspace-saver workspace) nil)
            (return)))))))

(defun save (&optional (workspace (the-workspace)))
  "Writes the snapshot of what is published; t, or nil when it cannot be written."
  (let ((cache (workspace-cache workspace)) (index (workspace-index workspace)))
    (when (and cache index)
      (write-snapshot index cache +sidecar-version+ (workspace-excludes workspace) (ctags-identity workspace)))))

(defconstant +end-octets+ 100000000 "A larger snapshot takes longer to write than the end of a process may.")

(defun save-at-end ()
  "Writes what is dear and not yet saved: a shell's `opl context' is over before edits could settle, and each would read the history again."
  (let ((workspace *workspace*))
    (when (and workspace (workspace-cache workspace) (workspace-dear workspace) (eq :ready (workspace-state workspace)))
      (let ((size (nth-value 1 (file-state (snapshot-name (workspace-cache workspace))))))
        (when (and size (< size +end-octets+)) (save workspace))))))
(pushnew 'save-at-end *at-end*)

(defun build (workspace)
  (dolist (function *from-nothing*) (funcall function (workspace-root workspace)))
  (let ((index (build-index (workspace-root workspace) (program workspace) (workspace-excludes workspace)
                            :report (report-to workspace) :ctags-reason (workspace-ctags-reason workspace))))
    (announce workspace index)
    index))

(defconstant +worth-saving+ 100
  "A start that read more files than this writes the snapshot at once: the next start would read them all again.")

(defun read-anew (before after)
  "How many files AFTER holds as BEFORE does not."
  (let ((known (index-runs before)) (runs (index-runs after)))
    (loop for file below (length runs)
          count (and (svref runs file) (not (and (< file (length known)) (eq (svref runs file) (svref known file))))))))

(defun ask-ctags (workspace)
  "Asks the ctags program what it is. Its version, or nil."
  (multiple-value-bind (version reason) (check-ctags (workspace-ctags workspace))
    (setf (workspace-ctags-reason workspace) reason
          (workspace-ctags-version workspace) version)))

(defun ctags-identity (workspace)
  "What a snapshot keeps of ctags: its version, and the mark of the program that said so."
  (list (workspace-ctags-version workspace) (program-mark (workspace-ctags workspace))))

(defun same-ctags-p (workspace identity)
  "Whether ctags is what a snapshot keeps as IDENTITY. The program is not started to say its version again while it is the same file."
  (destructuring-bind (&optional version mark) (if (listp identity) identity (list identity))
    (if (and version mark (equal mark (program-mark (workspace-ctags workspace))))
        (setf (workspace-ctags-version workspace) version)
        (equal version (ask-ctags workspace)))))

(defun load-or-build (workspace rebuild)
  "Publishes an index. True when it should be written to the cache at once."
  (let* ((start (get-internal-real-time))
         (saved (and (not rebuild) (workspace-cache workspace)
                     (read-snapshot (workspace-root workspace) (workspace-cache workspace) +sidecar-version+
                                    (workspace-excludes workspace)
                                    (lambda (identity) (same-ctags-p workspace identity))))))
    (unless (or (workspace-ctags-version workspace) (workspace-ctags-reason workspace)) (ask-ctags workspace))
    (if saved
        (let ((index (refresh-index saved (program workspace) (workspace-excludes workspace)
                                    :ctags-reason (workspace-ctags-reason workspace) :report (report-to workspace))))
          (setf (index-seconds index) (/ (- (get-internal-real-time) start) internal-time-units-per-second))
          (announce workspace index)
          (cond ((eq index saved) nil)
                ((> (read-anew saved index) +worth-saving+) t)
                (t (mark-unsaved workspace) nil)))
        (progn (build workspace) t))))

(defun run-opening (workspace rebuild)
  (handler-case
      (let ((new (load-or-build workspace rebuild)))
        ;; who only asks need not wait for the disk
        (setf (workspace-state workspace) :ready (workspace-reason workspace) nil)
        (when new (save workspace)))
    ((or error storage-condition) (condition)
      (setf (workspace-state workspace) :failed
            (workspace-reason workspace)
            (format nil "Indexing ended with ~A: ~A. Set OPL_DEBUG to a file name and try again for a log." (type-of condition) condition)))))

(defun start-opening (workspace rebuild)
  (setf (workspace-state workspace) :indexing (workspace-reason workspace) nil
        (workspace-thread workspace)
        (sb-thread:make-thread #'run-opening :arguments (list workspace rebuild) :name "index")))

(defun open-workspace (root ctags cache excludes)
  "Fixes the root and starts indexing it. A second call for the same root changes nothing; another root is an error."
  (let ((real (real-path root)))
    (unless (eq (file-state real) :folder) (fail :not-found "~A is no folder; give another with --root." root))
    (cond ((and *workspace* (string= real (workspace-root *workspace*))) *workspace*)
          (*workspace* (fail :bad-argument "This sidecar serves ~A; start another for ~A." (workspace-root *workspace*) real))
          (t
           (let ((workspace (make-workspace :root real :ctags ctags :excludes excludes
                                            :cache (and cache (string/= cache "") cache))))
             (setf *workspace* workspace)
             (start-opening workspace nil)
             workspace)))))

(defun wait-for-index (&key progress saved)
  "The index once it is whole and, with SAVED, a new one is in the cache. PROGRESS: function of (stage done total) called while
waiting. Fails when indexing failed."
  (let ((workspace (the-workspace)))
    (loop while (or (eq (workspace-state workspace) :indexing)
                    (and saved (sb-thread:thread-alive-p (workspace-thread workspace))))
          do (when progress (apply progress (workspace-stage workspace)))
             (sb-thread:join-thread (workspace-thread workspace) :timeout 0.05 :default nil))
    (when (eq (workspace-state workspace) :failed) (fail :not-ready "~A" (workspace-reason workspace)))
    (workspace-index workspace)))

;;; What changed since the last answer: as the watch says it, or by looking at everything

(defconstant +looks-before-watch+ 2 "A process that answers once or twice, as `opl' in a shell, does not pay for a watch.")
(defconstant +seconds-between-looks+ 30
  "So often the whole tree is looked at although it is watched, beside the answers: a file may also change through a hard link
from elsewhere or a file system mounted inside.")

(defun begin-watch (workspace)
  "Starts watching, beside the answers, once that is worth it."
  (when (and (null (workspace-watching workspace)) (> (workspace-looks workspace) +looks-before-watch+))
    (setf (workspace-watching workspace)
          (sb-thread:make-thread
           (lambda ()
             (flet ((folders () (mapcar #'car (index-folders (workspace-index workspace)))))
               (let ((watch (start-watch (workspace-root workspace) (folders))))
                 (when watch
                   (sb-thread:with-mutex ((workspace-lock workspace))
                     ;; it may have been given up meanwhile, and the folders may be others now
                     (if (and (eq sb-thread:*current-thread* (workspace-watching workspace)) (extend-watch watch (folders)))
                         (setf (workspace-dirty workspace) t (workspace-watch workspace) watch)
                         (stop-watch watch)))))))
           :name "watch"))))

(defun look-beside (workspace index)
  "Looks at the whole tree in a thread of its own; what it finds is met by the next answer."
  (setf (workspace-looked workspace) (get-universal-time))
  (sb-thread:make-thread (lambda () (when (look index) (setf (workspace-dirty workspace) t))) :name "look"))

(defun look-at-all (workspace index)
  (begin-watch workspace)
  ;; whatever changes from here on is an event, so the flag goes down before the look
  (setf (workspace-dirty workspace) (null (workspace-watch workspace)))
  (when (workspace-watch workspace) (watch-events (workspace-watch workspace)))
  (incf (workspace-looks workspace))
  (setf (workspace-looked workspace) (get-universal-time))
  (look index))

(defun change-since (workspace index)
  "What differs between INDEX and the tree, a change, or nil."
  (let ((watch (workspace-watch workspace)))
    (if (or (null watch) (workspace-dirty workspace))
        (look-at-all workspace index)
        (multiple-value-bind (paths folders) (watch-events watch)
          (cond ((or folders (eq paths :lost))
                 (when (eq paths :lost) (stop-watching workspace))
                 (look-at-all workspace index))
                (t
                 (when (> (- (get-universal-time) (workspace-looked workspace)) +seconds-between-looks+) (look-beside workspace index))
                 (and paths (look-at index paths (workspace-excludes workspace)))))))))

(defun stop-watching (workspace)
  "Gives the watch up, to be started anew."
  (when (workspace-watch workspace) (stop-watch (workspace-watch workspace)))
  (setf (workspace-watch workspace) nil (workspace-watching workspace) nil))

(defun follow-folders (workspace before after)
  "Watches the folders that came with a new listing."
  (let ((watch (workspace-watch workspace)))
    (when (and watch (or (watch-loose-p watch) (not (eq before (index-folders after)))))
      (multiple-value-bind (all new) (extend-watch watch (mapcar #'car (index-folders after)))
        (unless all (stop-watch watch) (setf (workspace-watch workspace) nil))
        ;; files may have come between the listing and the watch
        (when (plusp new) (setf (workspace-dirty workspace) t))))))

(defun bring-up-to-date (workspace change)
  "The index after CHANGE; published when it differs. Under the lock."
  (let* ((before (workspace-index workspace)) (folders (index-folders before))
         (after (if change
                    (refresh-index before (program workspace) (workspace-excludes workspace) :change change
                                   :ctags-reason (workspace-ctags-reason workspace))
                    before)))
    (follow-folders workspace folders after)
    (unless (eq before after) (announce workspace after))
    after))

(defun rebuild ()
  "Starts indexing from scratch, the snapshot left aside. What is published stays until it is done."
  (let ((workspace (the-workspace)))
    (wait-for-index)
    (sb-thread:with-mutex ((workspace-lock workspace))
      (stop-watching workspace)
      (start-opening workspace t))
    workspace))

(defun refresh-now (workspace)
  "The index of the tree as it is now; published when it differs. One thread at a time."
  (sb-thread:with-mutex ((workspace-lock workspace))
    (let* ((before (workspace-index workspace))
           (after (bring-up-to-date workspace (change-since workspace before))))
      (values after (not (eq before after))))))

(defun fresh-index ()
  "The index of the tree as it is at this moment: waits while the first one is made, then looks what changed since."
  (let ((workspace (the-workspace)))
    (wait-for-index)
    (multiple-value-bind (index changed) (refresh-now workspace)
      (when changed (mark-unsaved workspace))
      index)))

(defun current-index ()
  "What is published, or nil while the first index is being made."
  (and *workspace* (workspace-index *workspace*)))

(defun refresh-paths (paths)
  "Brings the index up to date with PATHS alone (relative, inside the root), or with the whole tree when there are none or one
of them is new. Values: the index, and the paths read again, and those gone."
  (let ((workspace (the-workspace)))
    (wait-for-index)
    (sb-thread:with-mutex ((workspace-lock workspace))
      (let* ((before (workspace-index workspace))
             (change (if paths (look-at before paths (workspace-excludes workspace)) (look-at-all workspace before)))
             (after (bring-up-to-date workspace change)))
        (unless (eq before after) (mark-unsaved workspace))
        (values after
                (if change (length (change-changed change)) 0)
                (if change (length (change-removed change)) 0))))))
