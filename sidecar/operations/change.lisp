;;;; The operations on changes: impact and attribute.

(defpackage #:opl.operations.change
  (:use #:cl #:opl.index.store #:opl.index.workspace #:opl.change.roots #:opl.change.reach #:opl.change.tests #:opl.change.impact)
  (:import-from #:opl.wire.conditions #:fail)
  (:import-from #:opl.wire.protocol #:define-operation #:emit)
  (:import-from #:opl.source.names #:name-string #:octets-string #:find-name)
  (:import-from #:opl.source.facts #:def-count #:def-line)
  (:import-from #:opl.source.files #:git-output)
  (:import-from #:opl.source.octets #:make-octet-buffer #:read-octets-into #:octet-buffer-octets #:octet-buffer-size)
  (:import-from #:opl.change.diff #:diff-error #:diff-error-reason)
  (:import-from #:opl.search.answer #:answer #:answer-symbols #:symbol-row-path #:symbol-row-role #:symbol-row-score #:symbol-row-tag)
  (:import-from #:opl.search.commits #:history-within #:follow-head)
  (:import-from #:opl.graph.world #:world-of)
  (:import-from #:opl.graph.edges #:callers #:edge-caller)
  (:import-from #:opl.operations.index #:signature-text)
  (:export #:impact-beforehand))
(in-package #:opl.operations.change)

(defconstant +diff-limit+ 67108864 "Octets of a diff at most.")
(defconstant +history-seconds+ 5 "So long an answer waits for a history that is still being read; what changed together ranks tests.")
(defconstant +most-shown+ 40 "Dependants shown when the caller names no limit: about half of the 4 KB an answer may take.")

;;; Where the diff comes from

(defun git-text (root &rest arguments)
  "What git prints, or nil when it fails."
  (multiple-value-bind (output status) (git-output root arguments :limit +diff-limit+)
    (and output (eql status 0) (octets-string output))))

(defun untracked-diff (root)
  "Untracked files as a diff that adds them, their content left out: they are in the tree."
  (let ((names (git-text root "ls-files" "-z" "--others" "--exclude-standard")))
    (with-output-to-string (out)
      (when names
        (loop with start = 0
              for end = (position (code-char 0) names :start start)
              while end
              do (let ((name (subseq names start end)))
                   (unless (find #\Newline name)
                     (format out "diff --git a/~A b/~A~%new file mode 100644~%" name name)))
                 (setf start (1+ end)))))))

(defparameter *diff-options* '("diff" "--no-color" "--no-ext-diff" "--src-prefix=a/" "--dst-prefix=b/" "--relative" "-M"))

(defun working-tree-diff (root)
  "Values: the diff of the working tree against HEAD, untracked files included, and what was looked at."
  (let ((head (git-text root "rev-parse" "--short" "HEAD")))
    (cond (head (values (concatenate 'string (or (apply #'git-text root (append *diff-options* '("HEAD"))) "") (untracked-diff root))
                        (format nil "~A, the working tree against HEAD ~A" root (string-trim '(#\Newline) head))))
          ((git-text root "rev-parse" "--git-dir")
           (values (concatenate 'string (or (apply #'git-text root (append *diff-options* '("--cached"))) "") (untracked-diff root))
                   (format nil "~A, which has no commit yet: everything is new" root)))
          (t (fail :not-found "~A is no git repository, so there is nothing to compare with; give a diff (--diff) or a target (--target)." root)))))

(defun revision-p (root text)
  "Whether TEXT names a commit or range of git."
  (and (< (length text) 200) (not (find #\Space text)) (not (find #\: text)) (plusp (length text)) (char/= (char text 0) #\-)
       (let ((dots (search ".." text)))
         (if dots
             (and (git-text root "rev-parse" "--verify" "--quiet" (concatenate 'string (if (zerop dots) "HEAD" (subseq text 0 dots)) "^{commit}")) t)
             (and (or (string= text "HEAD") (find #\~ text) (find #\^ text)
                      (and (<= 7 (length text) 40) (every (lambda (c) (digit-char-p c 16)) text)))
                  (git-text root "rev-parse" "--verify" "--quiet" (concatenate 'string text "^{commit}")) t)))))

(defun revision-diff (root text)
  (if (search ".." text)
      (apply #'git-text root (append *diff-options* (list text)))
      (git-text root "show" "--format=" "--no-color" "--no-ext-diff" "--src-prefix=a/" "--dst-prefix=b/" "-m" "--first-parent" text)))

(defun file-text (path)
  (let ((buffer (make-octet-buffer)))
    (unless (read-octets-into buffer path +diff-limit+) (fail :not-found "~A cannot be read." path))
    (octets-string (octet-buffer-octets buffer) :end (octet-buffer-size buffer))))

;;; Targets

(defun place-target (index target)
  "Tags at `path:line' or in `path', or :none when TARGET names no file of the index."
  (let* ((colon (position #\: target :from-end t))
         (line (and colon (parse-integer target :start (1+ colon) :junk-allowed t)))
         (path (if line (subseq target 0 colon) target)) (file (index-file-number index path)))
    (cond ((null file) :none)
          (line (mapcar (lambda (def) (tag file def)) (definitions-at (index-run index file) line)))
          (t (loop for def below (def-count (index-run index file))
                   when (= opl.source.names:+none+ (opl.source.facts:def-parent (index-run index file) def)) collect (tag file def))))))

(defun name-target (index target)
  "Tags of the definitions called TARGET, `Class.name' included."
  (let* ((dot (position-if (lambda (c) (find c ".#")) target :from-end t)) (name (if dot (subseq target (1+ dot)) target))
         (tags (definition-tags index name)))
    (if dot
        (let ((scope (subseq target 0 dot)))
          (or (remove-if-not (lambda (tag) (let ((own (tag-scope index tag))) (and (>= (length own) (length scope)) (search scope own)))) tags) tags))
        tags)))

(defun words-in (text)
  (loop with i = 0
        for start = (position-if (lambda (c) (or (alphanumericp c) (find c "_$"))) text :start i)
        while start
        for end = (or (position-if-not (lambda (c) (or (alphanumericp c) (find c "_$"))) text :start start) (length text))
        collect (subseq text start end)
        do (setf i end)
        while (< i (length text))))

(defconstant +most-guesses+ 4 "Definitions that a description is taken to mean: repo_context's first are right more often than not, the later rarely.")
(defconstant +near-best-guess+ 0.5 "Share of the best one's score below which a match is no guess.")

(defun guesses (index text)
  "Tags of the definitions that retrieval finds for TEXT, likeliest first; tests are not meant."
  (let* ((rows (remove-if (lambda (row) (or (not (eq :match (symbol-row-role row))) (opl.search.places:test-path-p (symbol-row-path row))))
                          (answer-symbols (answer index (history-within (index-root index) +history-seconds+) text :limit 3 :neighbours nil))))
         (best (reduce #'max (mapcar #'symbol-row-score rows) :initial-value 0.0)))
    (loop for row in (stable-sort (copy-list rows) #'> :key #'symbol-row-score) repeat +most-guesses+
          when (>= (symbol-row-score row) (* +near-best-guess+ best)) collect (symbol-row-tag row))))

(defun described-target (index target)
  "Tags that the description TARGET names or, failing that, resembles."
  (or (loop for word in (words-in target)
            append (let ((tags (and (> (length word) 3) (some #'upper-or-mark-p word) (definition-tags index word)))) (and (<= (length tags) 4) tags)))
      (guesses index target)))

(defun upper-or-mark-p (c) (or (upper-case-p c) (char= c #\_)))

(defun target-impact (index target)
  "Values: the impact of TARGET, what was looked at, whether it is a guess."
  (let* ((root (index-root index)) (place (place-target index target)))
    (cond ((and (listp place) place) (values (impact-of-tags index place) (format nil "~A in ~A" target root) nil))
          ((null place) (fail :not-found "No definition stands at ~A; `opl symbols' lists them." target))
          ((revision-p root target) (values (impact-of-diff index (or (revision-diff root target) "")) (format nil "~A in ~A, against the tree as it is" target root) nil))
          ((opl.image.targets:tags-of-file index target)
           (values (impact-of-tags index (opl.image.targets:tags-of-file index target)) (format nil "~A in ~A" target root) nil))
          (t (let ((tags (and (not (find #\Space target)) (name-target index target))))
               (if tags
                   (values (impact-of-tags index tags) (format nil "the definition~P called ~A in ~A" (length tags) target root) nil)
                   (let ((guesses (described-target index target)))
                     (unless guesses (fail :not-found "Nothing in ~A is called or resembles \"~A\"; give path:line, a name, a revision, or a diff." root target))
                     (values (impact-of-tags index guesses) (format nil "the definitions that \"~A\" most likely means" target) t))))))))

;;; What earlier runs taught

(defun learned-tests (index roots)
  "(test path . strength) for the tests that failed in recorded runs while one of ROOTS had changed: the share of such runs."
  (declare (ignore index))
  (let ((cache (and *workspace* (workspace-cache *workspace*))) (strengths (make-hash-table :test 'equal)))
    (when cache
      (let ((symbols (mapcar (lambda (root) (format nil "~A:~A" (root-path root) (root-name root))) roots)))
        (dolist (lesson (opl.session.runs:lessons-of cache symbols))
          (let ((failed (opl.session.runs:lesson-failed lesson)) (passed (opl.session.runs:lesson-passed lesson)))
            (when (plusp failed)
              (setf (gethash (opl.session.runs:lesson-path lesson) strengths)
                    (max (/ failed (+ failed passed)) (gethash (opl.session.runs:lesson-path lesson) strengths 0))))))))
    (sort (loop for path being the hash-keys of strengths using (hash-value strength) collect (cons path strength)) #'string< :key #'car)))

(setf *learned* #'learned-tests)

;;; Rows

(defun emit-root (index root)
  (emit root (root-path root) (root-line root) (root-end root) (root-kind root) (root-name root) (root-scope root)
        (and (root-tag root) (signature-text index (root-tag root))) (root-what root)))

(defun emit-dependant (index dependant)
  (let ((tag (dependant-tag dependant)) (names (index-names index)))
    (emit dependant (index-path index (dependant-file dependant))
          (if tag (tag-line index tag) (dependant-line dependant)) (and tag (tag-end index tag))
          (if tag (name-string names (tag-kind index tag)) "file") (if tag (name-string names (tag-name index tag)) "<module>")
          (and tag (let ((scope (tag-scope index tag))) (and (string/= scope "") scope)))
          (dependant-line dependant) (dependant-hop dependant) (dependant-certainty dependant)
          (string-downcase (or (dependant-rule dependant) ""))
          (test-dependant-p index dependant)
          (mapcar (lambda (via) (name-string names (tag-name index via))) (dependant-via dependant)))))

(defun test-dependant-p (index dependant) (and (opl.search.places:test-path-p (index-path index (dependant-file dependant))) t))

(defun dependant< (index a b)
  (flet ((rank (dependant) (position (dependant-certainty dependant) '(:exact :likely :possible))))
    (cond ((/= (dependant-hop a) (dependant-hop b)) (< (dependant-hop a) (dependant-hop b)))
          ((/= (rank a) (rank b)) (< (rank a) (rank b)))
          (t (let ((a-path (index-path index (dependant-file a))) (b-path (index-path index (dependant-file b))))
               (or (string< a-path b-path) (and (string= a-path b-path) (< (dependant-line a) (dependant-line b)))))))))

(defun emit-impact (index impact inspected guessed limit)
  (let* ((dependants (sort (copy-list (impact-dependants impact)) (lambda (a b) (dependant< index a b))))
         (in-tests (count-if (lambda (dependant) (test-dependant-p index dependant)) dependants)))
    (emit impact (and (impact-complete-p impact) (not guessed)) inspected guessed (length dependants) in-tests (length (impact-tests impact)))
    (when guessed (emit reason :incomplete "the roots are guesses from a description; give a diff or path:line to be sure"))
    (dolist (reason (impact-reasons impact)) (emit reason :incomplete reason))
    (dolist (reason (impact-full-suite impact)) (emit reason :full-suite reason))
    (dolist (root (impact-roots impact)) (emit-root index root))
    (loop for dependant in dependants repeat limit do (emit-dependant index dependant))
    (dolist (hit (impact-tests impact))
      (emit affected-test (test-hit-path hit) (test-hit-score hit) (test-hit-certainty hit) (test-hit-reason hit) (test-hit-names hit)))
    (dolist (path (impact-files impact)) (emit changed-file path))))

(defun blank-p (text) (every (lambda (c) (member c '(#\Space #\Tab #\Newline #\Return))) text))

(defun begin-tables (index)
  "Makes what every ranking of tests reads in a thread of its own, once an index, while the ways that lead to the change are followed. On
4,300 files of Python that is a third of the first answer's time."
  (memo (index :tables-begun)
    (sb-thread:make-thread (lambda () (ignore-errors (tables-beforehand index))) :name "tables of tests")
    t))

(define-operation impact (diff file target limit)
  "What a change touches and who depends on it."
  (let ((index (fresh-index)) (limit (if (plusp limit) limit +most-shown+)))
    (begin-tables index)
    (follow-head (index-root index) (index-live-count index))
    (history-within (index-root index) +history-seconds+)
    (handler-case
        (flet ((of-diff (text inspected)
                 (emit-impact index (impact-of-diff index text) (if (and (or diff file) (blank-p text)) (format nil "~A, which is empty" inspected) inspected) nil limit)))
          (cond (diff (of-diff diff (format nil "~A, the diff given" (index-root index))))
                (file (of-diff (file-text file) (format nil "~A, the diff in ~A" (index-root index) file)))
                (target (multiple-value-bind (impact inspected guessed) (target-impact index target)
                          (emit-impact index impact inspected guessed limit)))
                (t (multiple-value-call #'of-diff (working-tree-diff (index-root index))))))
      (diff-error (condition) (fail :bad-argument "~A Looked at: ~A." (diff-error-reason condition) (index-root index))))))

;;; Beforehand

(defconstant +most-files-beforehand+ 30000 "Files beyond which a change is not followed unasked: git alone takes a second there.")

(defun impact-beforehand (index)
  "Makes what the next answer of INDEX needs: the tables of its tests and the ways that lead to what the working tree changes now. On
4,300 files of Python the first answer costs 3.5 s of processor time without, most of it for resolving the calls on these ways."
  (tables-beforehand index)
  (when (<= (index-live-count index) +most-files-beforehand+)
    (let ((diff (working-tree-diff (index-root index))))
      (when (string/= diff "") (impact-of-diff index diff))))
  t)

;;; Attribution

(defun split-tabs (text)
  (loop with start = 0
        for end = (position #\Tab text :start start)
        collect (subseq text start end)
        while end do (setf start (1+ end))))

(defun places-of (fields)
  "((path . line) …) of a failure: where it stands, then its frames."
  (destructuring-bind (test path line &rest frames) fields
    (declare (ignore test))
    (append (and (string/= path "") (list (cons path (or (parse-integer line :junk-allowed t) 0))))
            (loop for frame in frames
                  for colon = (position #\: frame :from-end t)
                  when colon collect (cons (subseq frame 0 colon) (or (parse-integer frame :start (1+ colon) :junk-allowed t) 0))))))

(defun root-at (impact path line)
  (find-if (lambda (root)
             (and (string= (root-path root) path)
                  (or (member line (root-lines root)) (and (root-end root) (<= (root-line root) line (root-end root))))))
           (impact-roots impact)))

(defun root-of-dependant (index impact dependant)
  "The root whose change reaches DEPENDANT: the one that the last call of the way leads to."
  (let* ((world (world-of index)) (roots (remove nil (impact-roots impact) :key #'root-tag))
         (last (or (first (dependant-via dependant)) (dependant-tag dependant))))
    (or (and (rest roots) last
             (find-if (lambda (root) (find last (callers world (root-tag root) :possible t) :key #'edge-caller)) roots))
        (first roots))))

(defun way-text (index impact dependant)
  "`f -> g`: the functions between a test and the change, the changed one last."
  (let ((names (index-names index)) (root (root-of-dependant index impact dependant)))
    (format nil "~{~A~^ -> ~}" (append (mapcar (lambda (via) (name-string names (tag-name index via))) (reverse (dependant-via dependant)))
                                       (list (if root (root-name root) "the change"))))))

(defun dependant-at (index impact places)
  "The nearest dependant that stands in a file of PLACES, the outermost frame's first."
  (loop for (path . nil) in (reverse places)
        for file = (index-file-number index path)
        thereis (and file (find file (impact-dependants impact) :key #'dependant-file))))

(defun reached-text (index impact test dependant)
  (format nil "reached from ~A by ~A (~(~A~))" (if (string= test "") "its file" (format nil "test ~A" test)) (way-text index impact dependant)
          (dependant-certainty dependant)))

(defun attribution (index impact fields)
  "Values: relation and why."
  (let* ((places (places-of fields)) (test (first fields)) (test-path (second fields))
         (reached (dependant-at index impact places)))
    (loop for (path . line) in places
          do (let ((root (root-at impact path line)))
               (when root
                 (return-from attribution
                   (values :changed (format nil "~A:~D, in ~A, changed~@[, ~A~]" path line (root-name root) (and reached (reached-text index impact test reached))))))))
    (loop for (path . nil) in places
          do (when (member path (impact-files impact) :test #'string=)
               (return-from attribution (values :reached (format nil "~A changed, and a frame of the failure stands in it" path)))))
    (let* ((file (index-file-number index test-path))
           (hit (and file (find file (impact-tests impact) :key #'test-hit-file)))
           (root (and reached (root-of-dependant index impact reached))))
      (cond (reached (values :reached (format nil "~@[~A:~]~@[~D, ~]changed, ~A" (and root (root-path root)) (and root (or (first (root-lines root)) (root-line root)))
                                              (reached-text index impact test reached))))
            (hit (values :reached (format nil "~A ~A" test-path (test-hit-reason hit))))
            ((impact-full-suite impact) (values :unknown (first (impact-full-suite impact))))
            (file (values :unrelated "no call, import or name leads from it to the change"))
            (t (values :unknown "the log does not say where it stands"))))))

(define-operation attribute (diff failures)
  "What each failure has to do with the diff."
  (let* ((index (fresh-index))
         (impact (handler-case (impact-of-diff index diff)
                   (diff-error (condition) (fail :bad-argument "~A" (diff-error-reason condition))))))
    (dolist (failure failures)
      (let ((fields (split-tabs failure)))
        (multiple-value-bind (relation why) (if (>= (length fields) 3) (attribution index impact fields) (values :unknown "nothing is known of it"))
          (emit attributed relation why))))))
