;;;; The past as evidence: which files the commits changed whose messages resemble the task, which words messages gave each
;;;; file, what changed lately, which commits refer to the same issue.

(defpackage #:opl.search.past
  (:use #:cl #:opl.index.store #:opl.search.tables #:opl.search.evidence #:opl.search.query #:opl.search.reading #:opl.search.history)
  (:import-from #:opl.source.names #:u32-vector #:make-u32 #:+none+ #:names-count)
  (:import-from #:opl.source.language #:path-name)
  (:import-from #:opl.search.places #:path-components)
  (:import-from #:opl.search.lexical #:inverse-frequency)
  (:export #:similar-commit-scores #:message-scores #:recency-scores #:reference-scores #:past-of #:past-files #:past-commits
           #:similar-commits))
(in-package #:opl.search.past)

(declaim (optimize (speed 2) (safety 1)))

(deftype index-number () '(integer 0 #.(ash most-positive-fixnum -3)))

(defconstant +day+ 86400.0)

;;; What a history says of an index's files whatever the task: once for each pair

(defstruct past
  history
  (files (make-u32 0) :type u32-vector)            ; path number of the history -> file, +none+ when it is gone
  (commits (make-floats 0) :type floats)           ; by file: commits that touched it
  (recent (make-floats 0) :type floats))           ; by file: the same, halved every 42 days before the newest commit

(defun tail-name (path components)
  "The last COMPONENTS components of PATH."
  (let ((end (length path)) (at (length path)))
    (loop repeat components
          do (let ((slash (position #\/ path :end end :from-end t)))
               (unless slash (return-from tail-name path))
               (setf at (1+ slash) end slash)))
    (subseq path at)))

(defun unique-tails (index components)
  "Tails of COMPONENTS components -> the one file that has it, or nil when several do."
  (let ((table (make-hash-table :test 'equal)))
    (do-files (file) (index)
      (let ((tail (tail-name (index-path index file) components)))
        (setf (gethash tail table) (if (nth-value 1 (gethash tail table)) nil file))))
    table))

(defun map-paths (index history)
  "Where each path of HISTORY is now: itself, else the one file with the same folder and name, else the one with the name."
  (let* ((names (history-names history)) (count (names-count names)) (files (make-u32 count +none+))
         (pairs (unique-tails index 2)) (singles (unique-tails index 1)))
    (dotimes (number count files)
      (let* ((path (history-path history number))
             (file (or (index-file-number index path) (gethash (tail-name path 2) pairs) (gethash (tail-name path 1) singles))))
        (when file (setf (aref files number) file))))))

(defconstant +recent-days+ 60.0 "Days over which a change fades to 1/e. Recipe 2.7, `hrec60'.")
(defconstant +broad+ 30 "Source files of a commit beyond which it says nothing of what changes often. Recipe 2.7.")

(defun past-of (index history)
  "The past of INDEX's files by HISTORY, kept with the index."
  (let ((past (memo (index :past) nil)))
    (if (and past (eq (past-history past) history))
        past
        (let ((past (make-past :history history :files (map-paths index history)
                               :commits (make-floats (index-file-count index)) :recent (make-floats (index-file-count index))))
              (newest (newest-time history)) (times (history-times history)) (breadths (history-breadths history)))
          (declare (type u32-vector times breadths) (type (unsigned-byte 32) newest))
          (dotimes (commit (history-count history))
            (let ((breadth (ash (aref breadths commit) -1)))
              ;; a merge repeats what its commits changed
              (when (and (evenp (aref breadths commit)) (<= breadth +broad+))
                (let ((weight (exp (- (/ (float (- newest (min newest (aref times commit)))) (* +day+ +recent-days+))))))
                  (do-commit-files (number) (history commit)
                    (let ((file (aref (past-files past) number)))
                      (unless (= file +none+)
                        (incf (aref (past-commits past) file) 1.0)
                        (incf (aref (past-recent past) file) weight))))))))
          (sb-thread:with-recursive-lock ((opl.index.store:index-lock index))
            (setf (gethash :past (index-extensions index)) past))
          past))))

;;; Which commits hold which terms of the task

(defstruct commit-hits
  (starts (make-u32 1) :type u32-vector)           ; slot -> its first commit in COMMITS
  (commits (make-u32 0) :type u32-vector)
  (frequencies (make-u32 1) :type u32-vector))     ; slot -> commits that hold it

(defun find-commits (evidence history)
  "One pass over the terms of all messages."
  (let* ((count (history-count history)) (starts (history-term-starts history)) (terms (history-terms history))
         (table (evidence-slot-table evidence)) (slots (evidence-term-count evidence))
         (pairs (make-u32 8192)) (at 0) (frequencies (make-u32 (1+ slots))))
    (declare (type u32-vector starts terms pairs frequencies) (type fixnum at slots))
    (dotimes (commit count)
      (loop for k of-type index-number from (aref starts commit) below (aref starts (1+ commit))
            do (let ((slot (slot-of table (aref terms k))))
                 (when slot
                   (when (>= (+ at 2) (length pairs)) (setf pairs (replace (make-u32 (* 2 (length pairs))) pairs)))
                   (setf (aref pairs at) slot (aref pairs (1+ at)) commit)
                   (incf at 2)
                   (incf (aref frequencies slot))))))
    (let ((slot-starts (make-u32 (+ 2 slots))) (commits (make-u32 (floor at 2))))
      (dotimes (slot slots) (setf (aref slot-starts (+ 2 slot)) (+ (aref slot-starts (1+ slot)) (aref frequencies slot))))
      (loop for i of-type fixnum from 0 below at by 2
            do (let ((slot (aref pairs i)))
                 (setf (aref commits (aref slot-starts (1+ slot))) (aref pairs (1+ i)))
                 (incf (aref slot-starts (1+ slot)))))
      (make-commit-hits :starts slot-starts :commits commits :frequencies frequencies))))

(defun commit-evidence (evidence)
  "The commits that hold the task's terms, or nil without a history."
  (let ((history (evidence-history evidence)))
    (when (and history (plusp (history-count history)))
      (or (gethash 'commits (evidence-memo evidence))
          (setf (gethash 'commits (evidence-memo evidence)) (find-commits evidence history))))))

(defun region-weight (term weights cap)
  (let ((sum 0.0))
    (declare (type single-float sum))
    (loop for count of-type fixnum across (term-counts term) for weight of-type single-float across (the simple-vector weights)
          do (incf sum (* weight (min (the fixnum cap) count))))
    sum))

(defparameter *similarity-regions* #(2.0 1.0 1.5 0.5 0.5) "Title, prose, inline code, code, trace. Recipe 2.7, `csim'.")
(defconstant +similar-commits+ 60 "Commits that count as similar. Recipe 2.7.")
(defconstant +similar-breadth+ 20 "Source files beyond which a commit says nothing. Recipe 2.7.")
(defconstant +similarity-days+ 3000.0 "Days over which a similar commit fades to 1/e. Recipe 2.7.")

(defun commit-similarities (evidence history hits)
  "By commit: how much of the task its message says."
  (let* ((count (history-count history)) (scores (make-floats count)) (terms (evidence-terms evidence)))
    (dotimes (slot (evidence-term-count evidence))
      (let* ((frequency (aref (commit-hits-frequencies hits) slot)) (term (svref terms slot)))
        (when (and (plusp frequency) (not (term-plain-p term)) (<= (term-kind term) 1) (or (< count 200) (<= frequency (* 0.1 count))))
          (let ((worth (* (inverse-frequency count frequency) (log (+ 1.0 (the single-float (region-weight term *similarity-regions* 3)))))))
            (declare (type single-float worth))
            (loop for k from (aref (commit-hits-starts hits) slot) below (aref (commit-hits-starts hits) (1+ slot))
                  do (incf (aref scores (aref (commit-hits-commits hits) k)) worth))))))
    (dotimes (commit count scores)
      (unless (zerop (aref scores commit))
        (setf (aref scores commit) (/ (aref scores commit) (sqrt (+ 5.0 (aref (history-lengths history) commit)))))))))

(defun best-places (scores wanted)
  "The places of the WANTED greatest of SCORES above 0, greatest first; of equals the later, which is the newer."
  (declare (type floats scores) (type fixnum wanted))
  (let ((best '()) (count 0) (least 0.0))
    (declare (type fixnum count) (type single-float least))
    (loop for i of-type fixnum from (1- (length scores)) downto 0
          do (let ((score (aref scores i)))
               (when (or (> score least) (and (plusp score) (< count wanted)))
                 (setf best (merge 'list best (list i) (lambda (a b) (> (aref scores a) (aref scores b)))))
                 (if (< count wanted)
                     (incf count)
                     (setf best (nbutlast best)))
                 (when (= count wanted) (setf least (aref scores (the fixnum (car (last best)))))))))
    best))

(defun similar-commits (evidence)
  "A list of (commit . similarity between 0 and 1), most similar first; nil without a history."
  (let ((hits (commit-evidence evidence)) (history (evidence-history evidence)))
    (when hits
      (let* ((scores (commit-similarities evidence history hits)) (best (best-places scores +similar-commits+)))
        (when best
          (let ((greatest (aref scores (the fixnum (first best)))))
            (loop for commit of-type fixnum in best collect (cons commit (/ (aref scores commit) greatest)))))))))

(defun age-in-days (history newest commit)
  (declare (type (unsigned-byte 32) newest))
  (/ (float (- newest (min newest (aref (history-times history) commit)))) +day+))

(defun similar-commit-scores (evidence)
  "By file: similar commits that changed it. Recipe 2.7, `csim'."
  (let* ((history (evidence-history evidence)) (similar (similar-commits evidence))
         (scores (if similar (make-floats (evidence-file-count evidence)) **nothing**)))
    (when similar
      (let ((past (past-of (evidence-index evidence) history)) (newest (newest-time history)))
        (loop for (commit . similarity) in similar
              for breadth of-type fixnum = (ash (aref (history-breadths history) commit) -1)
              do (when (<= 1 breadth +similar-breadth+)
                   (let ((share (/ (* (expt (the single-float similarity) 3) (exp (- (/ (the single-float (age-in-days history newest commit)) +similarity-days+))))
                                   (expt (float breadth) 0.6))))
                     (do-commit-files (number) (history commit)
                       (let ((file (aref (past-files past) number)))
                         (unless (= file +none+) (incf (aref scores file) share)))))))))
    scores))

(defparameter *message-regions* #(2.5 1.0 1.5 0.6 0.5) "Title, prose, inline code, code, trace. Recipe 2.7, `hbm'.")
(defconstant +message-days+ 1000.0)
(defconstant +message-commits+ 3000 "Commits that hold a term beyond which it is passed over. Recipe 2.7.")

(defun message-scores (evidence)
  "By file: BM25 over the words of the messages of the commits that touched it. Recipe 2.7, `hbm'."
  (let* ((size (evidence-file-count evidence)) (hits (commit-evidence evidence)) (history (evidence-history evidence))
         (scores (if hits (make-floats size) **nothing**)))
    (when hits
      (let* ((past (past-of (evidence-index evidence) history)) (newest (newest-time history)) (count (history-count history))
             (frequencies (make-floats size)) (touched (make-u32 size)) (touched-count 0) (commits (past-commits past))
             (average (max 1e-6 (/ (reduce #'+ commits) (max 1 (tables-candidates (evidence-tables evidence))))))
             (fading (make-floats count)))
        (declare (type fixnum touched-count count) (type floats commits fading frequencies) (type single-float average))
        (flet ((fade (commit)
                 (when (zerop (aref fading commit))
                   (let ((breadth (ash (aref (history-breadths history) commit) -1)))
                     (setf (aref fading commit)
                           (if (<= 1 breadth +similar-breadth+)
                               (/ (exp (- (/ (the single-float (age-in-days history newest commit)) +message-days+))) breadth)
                               -1.0))))
                 (aref fading commit)))
          (dotimes (slot (evidence-term-count evidence))
            (let* ((frequency (aref (commit-hits-frequencies hits) slot)) (term (svref (evidence-terms evidence) slot)))
              (when (and (<= 1 frequency +message-commits+) (not (term-plain-p term)))
                (loop for k from (aref (commit-hits-starts hits) slot) below (aref (commit-hits-starts hits) (1+ slot))
                      do (let* ((commit (aref (commit-hits-commits hits) k)) (share (fade commit)))
                           (when (plusp share)
                             (do-commit-files (number) (history commit)
                               (let ((file (aref (past-files past) number)))
                                 (unless (= file +none+)
                                   (when (zerop (aref frequencies file))
                                     (setf (aref touched touched-count) file) (incf touched-count))
                                   (incf (aref frequencies file) share)))))))
                (let ((worth (* (inverse-frequency count frequency)
                                (log (+ 1.0 (the single-float (region-weight term *message-regions* most-positive-fixnum))))
                                (if (term-whole-p term) 1.5 1.0))))
                  (declare (type single-float worth))
                  (dotimes (i touched-count)
                    (let* ((file (aref touched i))
                           (normal (/ (aref frequencies file) (+ 0.7 (* 0.3 (/ (aref commits file) average))))))
                      (incf (aref scores file) (* worth (/ normal (+ 1.0 normal))))
                      (setf (aref frequencies file) 0.0)))
                  (setf touched-count 0))))))))
    scores))

(defun recency-scores (evidence)
  "By file: changes of late. Recipe 2.7, `hrec60'."
  (let ((history (evidence-history evidence)))
    (if (and history (plusp (history-count history)))
        (let* ((recent (past-recent (past-of (evidence-index evidence) history))) (scores (make-floats (evidence-file-count evidence))))
          (declare (type floats recent))
          (dotimes (file (length scores) scores)
            (unless (zerop (aref recent file))
              (setf (aref scores file) (the single-float (log (+ 1.0 (* 3.0 (aref recent file)))))))))
        **nothing**)))

(defconstant +reference-breadth+ 15 "Source files of a commit beyond which a reference to it says nothing. Recipe 2.7.")

(defun referred-commits (task history)
  "Commits whose message names one of TASK's issues, and commits that TASK names."
  (let ((commits '()) (references (history-references history)))
    (when (task-references task)
      (loop for i of-type fixnum from 0 below (* 2 (history-reference-count history)) by 2
            do (when (member (aref references i) (task-references task)) (pushnew (aref references (1+ i)) commits))))
    (dolist (sha (task-commits task))
      (let* ((digits (min 8 (length (the string sha)))) (wanted (parse-integer sha :end digits :radix 16)))
        (declare (type (unsigned-byte 32) wanted) (type fixnum digits))
        (dotimes (commit (history-count history))
          (when (= wanted (ash (aref (history-shas history) commit) (* -4 (- 8 digits)))) (pushnew commit commits)))))
    (sort commits #'<)))

(defun reference-scores (evidence)
  "By file: commits that the task refers to, or that refer to what it refers to. Recipe 2.7, `refs'."
  (let* ((history (evidence-history evidence))
         (referred (and history (plusp (history-count history)) (referred-commits (evidence-task evidence) history)))
         (scores (if referred (make-floats (evidence-file-count evidence)) **nothing**)))
    (when referred
      (let ((files (past-files (past-of (evidence-index evidence) history))))
        (dolist (commit referred)
          (declare (type fixnum commit))
          (let ((breadth (ash (aref (history-breadths history) commit) -1)))
            (when (<= 1 breadth +reference-breadth+)
              (do-commit-files (number) (history commit)
                (let ((file (aref files number)))
                  (unless (= file +none+)
                    (setf (aref scores file) (max (aref scores file) (/ 1.0 (sqrt (float breadth)))))))))))))
    scores))
