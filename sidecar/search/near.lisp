;;;; Near: what the files that a task speaks of most bring with them. What they import, what the tests that resemble the
;;;; task import, whose types they use, and what changed together with them; and the part of the program that a title begins with.

(defpackage #:opl.search.near
  (:use #:cl #:opl.index.store #:opl.search.tables #:opl.search.evidence #:opl.search.history #:opl.search.past #:opl.search.places)
  (:import-from #:opl.source.facts #:import-count #:def-count #:def-name #:def-kind #:word-count #:word-name #:word-uses)
  (:import-from #:opl.source.columns #:run)
  (:import-from #:opl.source.names #:u32-vector #:make-u32 #:names-count #:+none+)
  (:import-from #:opl.search.text #:symbol-class #:uses-code)
  (:import-from #:opl.graph.world #:world-of)
  (:import-from #:opl.graph.types #:import-file)
  (:import-from #:opl.search.query #:task-title)
  (:export #:imports-of #:imported-scores #:used-scores #:together-scores #:part-scores #:title-parts))
(in-package #:opl.search.near)

(declaim (optimize (speed 2) (safety 1)))

;;; Which files each file imports

(defconstant +package-files+ 14 "Files of a folder imported as a whole beyond which the import says nothing of any of them.")

(defun import-files (index target)
  "The files that an import which leads to TARGET reaches."
  (cond ((integerp target) (list target))
        ((and (consp target) (eq (car target) :package) (stringp (cdr target)))
         (let ((files '()) (count 0))
           (declare (type fixnum count))
           (do-files-in-directory (file) (index (cdr target)) (incf count) (push file files))
           (and (<= count +package-files+) (nreverse files))))))

(defun read-imports (index file)
  (let ((world (world-of index)) (run (index-run index file)) (found '()))
    (dotimes (import (import-count run) (nreverse found))
      ;; one import that cannot be followed costs none of the others
      (dolist (other (import-files index (handler-case (import-file world file import) (error () nil))))
        (unless (= (the fixnum other) (the fixnum file)) (pushnew other found))))))

(defvar *imports* (make-hash-table :test 'eq :weakness :key :synchronized t)
  "By the index's table of file numbers, which all its generations share: the order of files, and by file its run and what it imports.")

(defun known-imports (index)
  "What an earlier generation with the same files knew, by file number; nothing when files came or went, since then any import may lead elsewhere."
  (let ((known (gethash (index-numbers index) *imports*)))
    (and known (equalp (car known) (index-order index)) (cdr known))))

(defun imports-of (index)
  "By file number: the files it imports. An edit costs only what the edited files import."
  (memo (index :imports)
    (let* ((known (known-imports index)) (size (index-file-count index)) (runs (make-array size :initial-element nil))
           (imports (make-array size :initial-element '())))
      (do-files (file) (index)
        (let* ((run (index-run index file)) (old (and known (< file (length (the simple-vector known))) (svref known file))))
          (setf (svref imports file) (if (and old (eq (car old) run)) (cdr old) (read-imports index file))
                (svref runs file) (cons run (svref imports file)))))
      (setf (gethash (index-numbers index) *imports*) (cons (index-order index) runs))
      imports)))

(defconstant +importers-power+ 0.33 "How far being imported by many takes from what one import says. By experiment: +0.2 at 3, 5 and 10 over none.")

(defun rarities (counts)
  (declare (type floats counts))
  (map-into counts (lambda (count) (declare (type single-float count)) (expt (+ 1.0 count) (- +importers-power+))) counts))

(defun rarity-of-imports (index)
  "By file: less the more files import it."
  (memo (index :rarity-of-imports)
    (let ((counts (make-floats (index-file-count index))))
      (loop for imports across (the simple-vector (imports-of index))
            do (dolist (file imports) (incf (aref counts (the fixnum file)))))
      (rarities counts))))

;;; The best files so far

(defun best-files (evidence scores class-p count)
  "At most COUNT files with the greatest of SCORES, best first, among those whose class CLASS-P holds of."
  (declare (type floats scores) (type function class-p) (type fixnum count))
  (let ((best '()) (held 0) (least 0.0) (classes (tables-classes (evidence-tables evidence))))
    (declare (type fixnum held) (type single-float least))
    (loop for file across (the u32-vector (index-order (evidence-index evidence)))
          do (let ((score (aref scores file)))
               (when (and (plusp score) (or (< held count) (> score least)) (funcall class-p (aref classes file)))
                 (setf best (merge 'list best (list file) (lambda (a b) (> (aref scores (the fixnum a)) (aref scores (the fixnum b))))))
                 (if (< held count) (incf held) (setf best (butlast best)))
                 (setf least (aref scores (the fixnum (car (last best))))))))
    best))

(defun source-class-p (class) (candidate-class-p class))
(defun test-class-p (class) (= (the fixnum class) +tests+))

(defconstant +importing+ 8 "Best files whose imports count.")
(defconstant +importing-tests+ 6 "Best tests whose imports count.")

(defun imported-scores (evidence first tests)
  "By file: what the files with the greatest of FIRST, a float vector by file, import; TESTS true: what the tests do. A file that
imports much says less of each."
  (declare (type floats first))
  (when (nothing-p first) (return-from imported-scores first))
  (let* ((index (evidence-index evidence)) (scores (make-floats (evidence-file-count evidence))) (imports (imports-of index))
         (rarity (rarity-of-imports index)))
    (declare (type simple-vector imports) (type floats rarity))
    (dolist (file (if tests
                      (best-files evidence first #'test-class-p +importing-tests+)
                      (best-files evidence first #'source-class-p +importing+))
                  scores)
      (let* ((others (svref imports (the fixnum file)))
             (share (/ (aref first (the fixnum file)) (sqrt (float (max 1 (length (the list others))))))))
        (dolist (other others)
          (declare (type fixnum other))
          (incf (aref scores other) (* share (aref rarity other))))))))

;;; Whose types they use: where a language needs no import to see a type, or the import cannot be followed

(defconstant +several+ #xFFFFFFFE "In place of a file: more than one defines a type of the name.")

(defun type-places (index)
  "By name number: the one candidate that defines a type of that name, `+several+', or `+none+'."
  (memo (index :type-places)
    (let ((places (make-u32 (names-count (index-names index)) +none+)) (classes (tables-classes (tables-of index))))
      (do-files (file) (index)
        (when (candidate-class-p (aref classes file))
          (let ((run (index-run index file)))
            (declare (type run run))
            (dotimes (def (the (unsigned-byte 32) (def-count run)))
              (let ((name (def-name run def)))
                (declare (type (unsigned-byte 32) name))
                (when (and (zerop (the fixnum (symbol-class (def-kind run def)))) (< name (length places)))
                  (setf (aref places name)
                        (if (or (= (aref places name) +none+) (= (aref places name) (the fixnum file))) file +several+))))))))
      places)))

(defmacro do-used-files ((other) (index places file) &body body)
  "Runs BODY with OTHER bound to the file that defines each type whose name FILE's code holds, once a name."
  (let ((run (gensym)) (name (gensym)) (row (gensym)))
    `(let ((,run (index-run ,index ,file)))
       (declare (type run ,run))
       (dotimes (,row (the (unsigned-byte 32) (word-count ,run)))
         (let ((,name (word-name ,run ,row)))
           (declare (type (unsigned-byte 32) ,name))
           (when (< ,name (length ,places))
             (let ((,other (aref ,places ,name)))
               (when (and (< ,other +several+) (/= ,other (the fixnum ,file)) (plusp (the fixnum (uses-code (word-uses ,run ,row)))))
                 ,@body))))))))

(defun rarity-of-types (index)
  "By file: less the more files use its types."
  (memo (index :rarity-of-types)
    (let* ((size (index-file-count index)) (counts (make-floats size)) (last (make-u32 size +none+)) (places (type-places index)))
      (declare (type u32-vector places last))
      (do-files (file) (index)
        (do-used-files (other) (index places file)
          (unless (= (aref last other) (the fixnum file))
            (setf (aref last other) file)
            (incf (aref counts other)))))
      (rarities counts))))

(defun used-scores (evidence first)
  "By file: types of its own that the files with the greatest of FIRST use. A file that uses many says less of each."
  (declare (type floats first))
  (when (nothing-p first) (return-from used-scores first))
  (let* ((index (evidence-index evidence)) (size (evidence-file-count evidence)) (scores (make-floats size)) (counts (make-floats size))
         (places (type-places index)) (rarity (rarity-of-types index)))
    (declare (type u32-vector places) (type floats rarity))
    (dolist (file (best-files evidence first #'source-class-p +importing+) scores)
      (let ((used '()) (sum 1.0))
        (declare (type single-float sum))
        (do-used-files (other) (index places file)
          (when (zerop (aref counts other)) (push other used))
          (incf (aref counts other)))
        (dolist (other used) (incf sum (log (+ 1.0 (aref counts (the fixnum other))))))
        (dolist (other used)
          (declare (type fixnum other))
          (incf (aref scores other) (/ (* (aref first (the fixnum file)) (aref rarity other) (log (+ 1.0 (aref counts other)))) (sqrt sum)))
          (setf (aref counts other) 0.0))))))

;;; What changes together

(defconstant +together-files+ 5 "Best files whose commits count.")
(defconstant +together-breadth+ 10 "Source files of a commit beyond which it says nothing of what belongs together.")

(defconstant +commits-in-doubt+ 3.0 "Added to how often a file changed: of one that changed once or twice, what came along may be chance. Set by hand.")

(defun together-scores (evidence first)
  "By file: commits that changed it along with one of the files with the greatest of FIRST. A file that changes often says less."
  (declare (type floats first))
  (when (or (nothing-p first) (null (evidence-history evidence))) (return-from together-scores **nothing**))
  (let* ((size (evidence-file-count evidence)) (scores (make-floats size)) (history (evidence-history evidence)) (marks (make-floats size)))
    (when (and history (plusp (history-count history)))
      (let* ((past (past-of (evidence-index evidence) history)) (files (past-files past)) (commits (past-commits past))
             (breadths (history-breadths history)))
        (declare (type u32-vector files breadths) (type floats commits))
        (dolist (file (best-files evidence first #'source-class-p +together-files+))
          (declare (type fixnum file))
          (setf (aref marks file) (/ (aref first file) (+ +commits-in-doubt+ (aref commits file)))))
        (dotimes (commit (history-count history))
          (let ((breadth (ash (aref breadths commit) -1)) (worth 0.0))
            (declare (type single-float worth))
            (when (and (evenp (aref breadths commit)) (<= 2 breadth +together-breadth+))
              (do-commit-files (number) (history commit)
                (let ((file (aref files number))) (unless (= file +none+) (incf worth (aref marks file)))))
              (when (plusp worth)
                (do-commit-files (number) (history commit)
                  (let ((file (aref files number)))
                    (unless (= file +none+) (incf (aref scores file) (/ worth (float breadth)))))))))))) 
    scores))

;;; The part of the program that a title names before a colon: `fix(compiler): …', `net/http: …'

(defconstant +part-characters+ 60 "Characters of a title in which its part ends.")

(defun title-parts (title)
  "The names, in lower case, that the title gives as the part it is about; nothing when it names none."
  (declare (type string title))
  (let* ((colon (position #\: title :end (min +part-characters+ (length title))))
         (open (and colon (position #\( title :end colon)))
         (close (and open (position #\) title :start open :end colon)))
         (text (cond ((null colon) "")
                     (close (subseq title (1+ open) close))
                     ((find #\Space title :end colon) "")
                     (t (subseq title 0 colon)))))
    (remove "" (path-components (substitute #\/ #\, (string-downcase (remove-if (lambda (c) (find c " `")) text)))) :test #'string=)))

(defun part-scores (evidence)
  "By file: how many of the parts that the title names are its folders or its name without extension."
  (let* ((index (evidence-index evidence)) (parts (title-parts (task-title (evidence-task evidence))))
         (scores (if parts (make-floats (evidence-file-count evidence)) **nothing**)))
    (when parts
      (do-files (file) (index)
        (let* ((components (path-components (index-path index file))) (name (path-stem (car (last components)))))
          (dolist (part parts)
            (when (or (string-equal part name) (member part (butlast components) :test #'string-equal))
              (incf (aref scores file) 1.0))))))
    scores))
