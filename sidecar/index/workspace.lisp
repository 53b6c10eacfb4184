;;;; The workspace: the one root this process serves. It opens from the snapshot or from scratch beside the
;;;; queries, looks at the tree before an answer, and writes the snapshot when things have settled.

(defpackage #:opl.index.workspace
  (:use #:cl #:opl.index.store #:opl.index.refresh)
  (:import-from #:opl.index.ctags #:check-ctags)
  (:import-from #:opl.index.snapshot #:read-snapshot #:write-snapshot)
  (:import-from #:opl.source.octets #:real-path #:file-state)
  (:import-from #:opl.wire.conditions #:fail)
  (:import-from #:opl.wire.protocol #:+sidecar-version+)
  (:export #:open-workspace #:workspace-index #:current-index #:fresh-index #:wait-for-index #:rebuild #:refresh-paths
           #:workspace-state #:workspace-stage #:workspace-cache #:workspace-root #:workspace-ctags #:workspace-excludes
           #:*workspace* #:opened-p #:*published*))
(in-package #:opl.index.workspace)

(defstruct workspace
  (root "" :type string) (ctags "ctags" :type string) (ctags-version nil) (ctags-reason nil)
  (cache nil) (excludes '() :type list)
  (index nil) (state :empty :type symbol) (reason nil)
  (stage (list "" 0 0) :type list)
  (thread nil) (lock (sb-thread:make-mutex :name "workspace"))
  (unsaved nil) (saver nil) (looked 0))

(sb-ext:defglobal *workspace* nil)

(defvar *published* '() "Functions called with each index when it is published, in the publishing thread.")

(defun opened-p () (and *workspace* t))
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

(defun mark-unsaved (workspace)
  (setf (workspace-unsaved workspace) t)
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
        (setf (workspace-unsaved workspace) nil)
        (save workspace)
        (sb-thread:with-mutex ((workspace-lock workspace))
          (unless (workspace-unsaved workspace)
            (setf (workspace-saver workspace) nil)
            (return)))))))

(defun save (workspace)
  (let ((cache (workspace-cache workspace)) (index (workspace-index workspace)))
    (when (and cache index)
      (write-snapshot index cache +sidecar-version+ (workspace-excludes workspace) (workspace-ctags-version workspace)))))

(defun build (workspace)
  (let ((index (build-index (workspace-root workspace) (program workspace) (workspace-excludes workspace)
                            :report (report-to workspace) :ctags-reason (workspace-ctags-reason workspace))))
    (announce workspace index)
    (save workspace)
    index))

(defun load-or-build (workspace rebuild)
  (let* ((start (get-internal-real-time))
         (saved (and (not rebuild) (workspace-cache workspace)
                     (read-snapshot (workspace-root workspace) (workspace-cache workspace) +sidecar-version+
                                    (workspace-excludes workspace) (workspace-ctags-version workspace)))))
    (if saved
        (let ((index (refresh-index saved (program workspace) (workspace-excludes workspace)
                                    :ctags-reason (workspace-ctags-reason workspace) :report (report-to workspace))))
          (setf (index-seconds index) (/ (- (get-internal-real-time) start) internal-time-units-per-second))
          (announce workspace index)
          (unless (eq index saved) (mark-unsaved workspace)))
        (build workspace))))

(defun run-opening (workspace rebuild)
  (handler-case
      (progn
        (load-or-build workspace rebuild)
        (setf (workspace-state workspace) :ready (workspace-reason workspace) nil))
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
             (multiple-value-bind (version reason) (check-ctags ctags)
               (setf (workspace-ctags-version workspace) version (workspace-ctags-reason workspace) reason))
             (setf *workspace* workspace)
             (start-opening workspace nil)
             workspace)))))

(defun wait-for-index (&key progress)
  "The index once it is whole. PROGRESS: function of (stage done total) called while waiting. Fails when indexing failed."
  (let ((workspace (the-workspace)))
    (loop while (and (eq (workspace-state workspace) :indexing))
          do (when progress (apply progress (workspace-stage workspace)))
             (sb-thread:join-thread (workspace-thread workspace) :timeout 0.05 :default nil))
    (when (eq (workspace-state workspace) :failed) (fail :not-ready "~A" (workspace-reason workspace)))
    (workspace-index workspace)))

(defun rebuild ()
  "Starts indexing from scratch, the snapshot left aside. What is published stays until it is done."
  (let ((workspace (the-workspace)))
    (wait-for-index)
    (start-opening workspace t)
    workspace))

(defun refresh-now (workspace)
  "The index of the tree as it is now; published when it differs. One thread at a time."
  (sb-thread:with-mutex ((workspace-lock workspace))
    (let* ((before (workspace-index workspace))
           (after (refresh-index before (program workspace) (workspace-excludes workspace)
                                 :ctags-reason (workspace-ctags-reason workspace))))
      (unless (eq before after) (announce workspace after))
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
      (let* ((before (workspace-index workspace)) (change (if paths (look-at before paths) (look before)))
             (after (if change
                        (refresh-index before (program workspace) (workspace-excludes workspace) :change change
                                       :ctags-reason (workspace-ctags-reason workspace))
                        before)))
        (unless (eq before after) (announce workspace after) (mark-unsaved workspace))
        (values after
                (if change (length (change-changed change)) 0)
                (if change (length (change-removed change)) 0))))))
