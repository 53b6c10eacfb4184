;;;; Roots: the definitions that a diff touches. The lines of its hunks are held against the tree, which may stand
;;;; before or after the change; the other side is made by applying the hunks, so that deleted definitions and
;;;; changed signatures are seen without asking git.

(defpackage #:opl.change.roots
  (:use #:cl #:opl.change.diff #:opl.index.store #:opl.source.facts)
  (:import-from #:opl.source.names #:octets #:+none+ #:name-string #:octets-string #:string-octets #:known #:name-case)
  (:import-from #:opl.source.octets #:make-octet-buffer #:octet-buffer-octets #:octet-buffer-size)
  (:import-from #:opl.source.text #:load-text)
  (:import-from #:opl.source.language #:language-family #:language-of-path)
  (:import-from #:opl.index.reading #:facts-of-octets)
  (:export #:root #:root-tag #:root-name #:root-kind #:root-path #:root-line #:root-end #:root-scope #:root-what #:root-lines
           #:roots-of-diff #:findings #:findings-roots #:findings-files #:findings-remarks #:findings-unplaced #:findings-changes
           #:innermost-definition #:definitions-at #:root-aliases #:root-names #:definition-root #:file-lines #:code-p))
(in-package #:opl.change.roots)

(defstruct root
  "What a diff touches: TAG of the definition now, nil when it is gone; WHAT: :body :signature :added :deleted :module (lines
outside any definition). LINES: changed line numbers in the tree (or in the old file when it is gone)."
  (tag nil) (name "" :type string) (kind "" :type string) (path "" :type string) (line 1 :type fixnum) (end nil)
  (scope nil) (what :body :type symbol) (lines '() :type list))

(defstruct findings
  "ROOTS in order of the diff; FILES the changed paths; REMARKS texts on what could not be placed; UNPLACED the paths outside the
graph; CHANGES the parsed diff."
  (roots '() :type list) (files '() :type list) (remarks '() :type list) (unplaced '() :type list) (changes '() :type list))

;;; The text of both sides

(defun file-lines (index path)
  "The lines of PATH in the tree as a vector of strings without their ends, or nil when it cannot be read."
  (let ((buffer (make-octet-buffer)))
    (when (load-text buffer (index-root index) path 1)
      (let* ((octets (octet-buffer-octets buffer)) (size (octet-buffer-size buffer)) (lines (make-array 256 :adjustable t :fill-pointer 0)))
        (loop with start = 0
              for end = (opl.source.names:octet-position 10 octets start size)
              do (vector-push-extend (string-right-trim '(#\Return) (octets-string octets :start start :end (or end size))) lines)
              while end do (setf start (1+ end)))
        lines))))

(defun side-matches (hunks lines side)
  "How many of the lines that HUNKS show of SIDE (:old or :new) stand where they should in LINES, and how many do not."
  (let ((right 0) (wrong 0))
    (dolist (hunk hunks)
      (map-hunk-lines
       (lambda (mark text old new)
         (unless (char= mark (if (eq side :new) #\- #\+))
           (let ((at (1- (if (eq side :new) new old))))
             (if (and (< -1 at (length lines)) (string= (aref lines at) text)) (incf right) (incf wrong)))))
       hunk))
    (values right wrong)))

(defun hunk-texts (hunk side)
  (loop for mark in (hunk-marks hunk) for text in (hunk-lines hunk)
        unless (char= mark (if (eq side :new) #\- #\+)) collect text))

(defun find-lines (wanted lines from)
  (loop for at from from to (- (length lines) (length wanted))
        when (loop for text in wanted for i from at always (string= text (aref lines i))) do (return at)))

(defun place-loose-hunks (change lines side)
  "Gives hunks without line numbers the place at which their text stands; nil when one is not found."
  (let ((from 0) (shift 0))
    (dolist (hunk (file-change-hunks change) t)
      (let ((at (find-lines (hunk-texts hunk side) lines from)))
        (unless at (return nil))
        (let ((added (count #\+ (hunk-marks hunk))) (removed (count #\- (hunk-marks hunk))))
          (if (eq side :new)
              (setf (hunk-new-start hunk) (1+ at) (hunk-old-start hunk) (- (1+ at) shift))
              (setf (hunk-old-start hunk) (1+ at) (hunk-new-start hunk) (+ (1+ at) shift)))
          (incf shift (- added removed))
          (setf from at))))))

(defun tree-side (change lines)
  "Which side of CHANGE the tree shows: :new, :old, or nil when neither fits."
  (if (file-change-loose-p change)
      (cond ((place-loose-hunks change lines :new) :new) ((place-loose-hunks change lines :old) :old))
      (multiple-value-bind (new-right new-wrong) (side-matches (file-change-hunks change) lines :new)
        (multiple-value-bind (old-right old-wrong) (side-matches (file-change-hunks change) lines :old)
          (cond ((zerop new-wrong) :new)
                ((zerop old-wrong) :old)
                ((and (> new-right (* 4 new-wrong)) (>= new-right old-right)) :new)
                ((> old-right (* 4 old-wrong)) :old))))))

(defun other-side (change lines side)
  "The lines of the file on the side that the tree does not show."
  (let ((out '()) (at 0))
    (dolist (hunk (file-change-hunks change))
      (let* ((shown (hunk-texts hunk side)) (start (1- (if (eq side :new) (hunk-new-start hunk) (hunk-old-start hunk)))))
        (loop while (and (< at start) (< at (length lines))) do (push (aref lines at) out) (incf at))
        (dolist (text (hunk-texts hunk (if (eq side :new) :old :new))) (push text out))
        (incf at (length shown))))
    (loop while (< at (length lines)) do (push (aref lines at) out) (incf at))
    (nreverse out)))

(defun run-of-lines (index language path lines)
  (let ((octets (string-octets (format nil "~{~A~%~}" lines))))
    (facts-of-octets octets (length octets) language (index-names index) path)))

;;; Both sides of a file, kept as long as its run for the change that was asked for last: the same diff is asked about again
;;; while its tests are run and its failures attributed

(sb-ext:defglobal **sides** (make-hash-table :test 'eq :weakness :key :synchronized t))

(defun hunks-key (change)
  (loop for hunk in (file-change-hunks change)
        collect (list* (hunk-old-start hunk) (hunk-new-start hunk) (hunk-marks hunk) (hunk-lines hunk))))

(defun find-sides (index path language change)
  (let* ((lines (file-lines index path)) (side (and lines (tree-side change lines))))
    (values side
            (and side (not (eq (file-change-status change) :added))
                 (run-of-lines index language path (other-side change lines side))))))

(defun sides (index run path language change)
  "Values: which side of CHANGE the tree shows, or nil, and the run of the other side of a file that was there before."
  (if (file-change-loose-p change)      ; its hunks are given their places while the side is sought
      (find-sides index path language change)
      (let ((key (cons (file-change-status change) (hunks-key change))) (known (gethash run **sides**)))
        (unless (and known (equal key (first known)))
          (setf known (cons key (multiple-value-list (find-sides index path language change)))
                (gethash run **sides**) known))
        (values-list (rest known)))))

;;; Definitions at lines

(defun def-last-line (run def)
  (let ((end (def-end run def))) (if (= end +none+) (def-line run def) (max end (def-line run def)))))

(defun innermost-definition (run line)
  "The definition of RUN with the fewest lines that holds LINE, or nil. A variable on one line inside a function is its own."
  (let ((best nil) (size most-positive-fixnum))
    (dotimes (def (def-count run) best)
      (let ((from (def-line run def)) (to (def-last-line run def)))
        (when (and (<= from line to) (<= (- to from) size) (not (module-kind-p run def)))
          (setf best def size (- to from)))))))

(defconstant +most-on-a-line+ 16 "Definitions that begin on one line beyond which it was written by a program.")

(defun definitions-at (run line)
  "What LINE of RUN means: the definitions that begin on it (attr_reader :a, :b; a = b = function c () …), else the innermost around it."
  (let ((found (loop for def below (def-count run)
                     when (and (= line (def-line run def)) (not (module-kind-p run def))) collect def)))
    (if (<= 1 (length found) +most-on-a-line+)
        found
        (let ((def (innermost-definition run line))) (and def (list def))))))

(defun module-kind-p (run def)
  (name-case (def-kind run def) (("package" "namespace" "packageName" "heredoc") t) (t nil)))

(defun kind-text (index run def) (name-string (index-names index) (def-kind run def)))

(defun def-scope-text (index run def)
  (let ((names '()))
    (loop for p = (def-parent run def) then (def-parent run p)
          repeat 64 until (= p +none+)
          do (push (name-string (index-names index) (def-name run p)) names))
    (and names (format nil "~{~A~^.~}" names))))

(defun twin (run def other)
  "The definition of the run OTHER with the name, kind and scope of RUN's DEF, or nil; the nearest in line of several."
  (let ((best nil) (distance most-positive-fixnum))
    (dotimes (candidate (def-count other) best)
      (when (and (= (def-name other candidate) (def-name run def)) (= (def-kind other candidate) (def-kind run def))
                 (same-chain-p run def other candidate)
                 (< (abs (- (def-line other candidate) (def-line run def))) distance))
        (setf best candidate distance (abs (- (def-line other candidate) (def-line run def))))))))

(defun same-chain-p (run def other candidate)
  (loop for a = (def-parent run def) then (def-parent run a)
        for b = (def-parent other candidate) then (def-parent other b)
        repeat 64
        do (cond ((or (= a +none+) (= b +none+)) (return (= a b)))
                 ((/= (def-name run a) (def-name other b)) (return nil)))
        finally (return t)))

(defun signature-touched-p (run def lines texts)
  "Whether one of LINES lies in DEF's signature; TEXTS the file's lines or nil."
  (declare (ignore texts))
  (let* ((from (def-line run def)) (to (if (< (def-from run def) (def-to run def)) from from)))
    (some (lambda (line) (<= from line to)) lines)))

;;; Other names of a root

(defconstant +alias-lines+ 3 "Lines within which `a = b = function' stands.")

(defun root-aliases (index root)
  "Tags of the definitions that are the same body by another name: `req.get = req.header = function header () …'."
  (let ((tag (root-tag root)) (found '()))
    (when tag
      (let* ((run (index-run index (tag-file tag))) (def (tag-def tag)) (end (def-end run def)))
        (unless (or (= end +none+) (= end (def-line run def)))
          (dotimes (other (def-count run))
            (when (and (/= other def) (= end (def-end run other)) (/= (def-name run other) (def-name run def))
                       (<= (abs (- (def-line run other) (def-line run def))) +alias-lines+)
                       (function-like-p run other) (function-like-p run def)
                       (/= other (def-parent run def)) (/= def (def-parent run other)))
              (push (tag (tag-file tag) other) found))))))
    (nreverse found)))

(defun function-like-p (run def)
  (name-case (def-kind run def) (("function" "method" "constructor" "accessor") t) (t nil)))

(defun constructor-p (root)
  "Whether making an object of its class runs ROOT."
  (or (string= (root-kind root) "constructor")
      (member (root-name root) '("__init__" "__new__" "__post_init__" "initialize" "__construct") :test #'string=)))

(defun root-names (index root)
  "(text . weight) of what ROOT is called: itself, its aliases, its class, which is as good as it where making one runs it."
  (unless (eq (root-what root) :module)
    (append (list (cons (root-name root) 1.0))
            (loop for alias in (root-aliases index root) collect (cons (name-string (index-names index) (tag-name index alias)) 1.0))
            (let ((scope (root-scope root)))
              (and scope
                   (list (cons (subseq scope (1+ (or (position #\. scope :from-end t) -1))) (if (constructor-p root) 1.0 0.4))))))))

;;; One file

(defun touched-lines (change side)
  "Line numbers on SIDE that the change writes or takes away; for a pure insertion or deletion seen from the other side, the
lines at the seam, as (line . :seam)."
  (let ((lines '()))
    (dolist (hunk (file-change-hunks change))
      (map-hunk-lines
       (lambda (mark text old new)
         (declare (ignore text))
         (cond ((char= mark (if (eq side :new) #\+ #\-)) (push (if (eq side :new) new old) lines))
               ((char= mark (if (eq side :new) #\- #\+))
                (push (cons (if (eq side :new) new old) :seam) lines))))
       hunk))
    (let ((lines (remove-duplicates (nreverse lines) :test #'equal)))
      ;; where lines were replaced, the seam says nothing that the lines do not
      (remove-if (lambda (line) (and (consp line) (or (member (car line) lines) (member (1- (car line)) lines)))) lines))))

(defun holder-of (run line)
  "The definition at LINE, a number, or at the seam before it: both neighbours must lie in it."
  (if (consp line)
      (let ((best nil) (size most-positive-fixnum) (at (car line)))
        (dotimes (def (def-count run) best)
          (let ((from (def-line run def)) (to (def-last-line run def)))
            (when (and (< from at) (<= at to) (< (- to from) size) (not (module-kind-p run def)))
              (setf best def size (- to from))))))
      (innermost-definition run line)))

(defun group-by-holder (run lines)
  "((definition or nil) . lines) in order of the first line."
  (let ((groups '()))
    (dolist (line lines (mapcar (lambda (group) (cons (car group) (nreverse (cdr group)))) (nreverse groups)))
      (let* ((holder (holder-of run line)) (group (assoc holder groups)))
        (if group (push line (cdr group)) (push (list holder line) groups))))))

(defun plain (lines) (remove-duplicates (mapcar (lambda (line) (if (consp line) (car line) line)) lines)))

(defun module-root (path lines)
  (let ((lines (sort (plain lines) #'<)))
    (make-root :name (subseq path (1+ (or (position #\/ path :from-end t) -1))) :kind "file" :path path
               :line (or (first lines) 1) :end (or (first (last lines)) 1) :what :module :lines lines)))

(defun definition-root (index path run def lines what tag)
  "The root for definition DEF of RUN, the facts of PATH; TAG is nil when it is gone, WHAT one of those of `root'."
  (make-root :tag tag :name (name-string (index-names index) (def-name run def)) :kind (kind-text index run def) :path path
             :line (def-line run def) :end (let ((end (def-end run def))) (if (= end +none+) nil end))
             :scope (def-scope-text index run def) :what what :lines (sort (plain lines) #'<)))

(defun roots-in-tree (index file run change side other)
  "Roots among the definitions of the tree's FILE. OTHER: the run of the other side or nil."
  (let ((path (index-path index file)))
    (loop for (def . lines) in (group-by-holder run (touched-lines change side))
          collect (cond ((null def) (module-root path lines))
                        (t (definition-root index path run def lines
                                            (cond ((and other (null (twin run def other))) (if (eq side :new) :added :deleted))
                                                  ((signature-touched-p run def (remove-if #'consp lines) nil) :signature)
                                                  (t :body))
                                            (tag file def)))))))

(defun roots-gone (index path run other change side)
  "Definitions that only the side OTHER has: deleted ones when the tree shows the new side."
  (when (eq side :new)
    (loop for (def . lines) in (group-by-holder other (remove-if #'consp (touched-lines change :old)))
          when (and def (null (twin other def run)))
            collect (definition-root index path other def lines :deleted nil))))

(defun whole-file-roots (index file)
  (let ((run (index-run index file)) (path (index-path index file)))
    (or (loop for def below (def-count run)
              when (= (def-parent run def) +none+)
                collect (definition-root index path run def (list (def-line run def)) :added (tag file def)))
        (list (module-root path '(1))))))

(defun deleted-file-roots (index change)
  "The definitions of a file that is gone, from the lines that the diff takes away."
  (let* ((path (file-change-old-path change)) (language (language-of-path path))
         (lines (loop for hunk in (file-change-hunks change) append (hunk-texts hunk :old))))
    (if (and language (language-family language) lines)
        (let ((run (run-of-lines index language path lines)))
          (or (loop for def below (def-count run)
                    when (= (def-parent run def) +none+)
                      collect (definition-root index path run def (list (def-line run def)) :deleted nil))
              (list (module-root path '(1)))))
        (list (module-root path '(1))))))

(defparameter *data-families* '(:json :cargo) "Families that are read for their imports and hold no code: no call shows who reads the data.")

(defun code-path-p (path)
  (let* ((language (language-of-path path)) (family (and language (language-family language)))) (and family (not (member family *data-families*)))))

(defun code-p (index file)
  "Whether FILE holds code, rather than data."
  (let ((family (language-family (index-language index file)))) (and family (not (member family *data-families*)))))

(defun roots-of-change (index change findings)
  (let* ((path (file-change-path change)) (file (index-file-number index path)) (hunks (file-change-hunks change)))
    (flet ((remark (control &rest arguments) (push (apply #'format nil control arguments) (findings-remarks findings)))
           (add (roots) (setf (findings-roots findings) (append (findings-roots findings) roots))))
      (cond ((and (eq (file-change-status change) :deleted) (null file)) (add (deleted-file-roots index change)))
            ((null file)
             (let ((old (and (file-change-old-path change) (index-file-number index (file-change-old-path change)))))
               (cond (old
                      (let ((copy (copy-file-change change))) ; a rename that was not made yet
                        (setf (file-change-new-path copy) (file-change-old-path change))
                        (roots-of-change index copy findings)))
                     ((and (eq (file-change-status change) :added) (not (file-change-binary-p change)) (code-path-p path))
                      (remark "~A is new and not in the tree yet: who will use it is not known" path)
                      (add (list (module-root path '(1)))))
                     (t (push path (findings-unplaced findings))))))
            ((not (code-p index file)) (push path (findings-unplaced findings)))
            ((file-change-binary-p change) (push path (findings-unplaced findings)))
            ((null hunks) (unless (eq (file-change-status change) :mode) (add (list (module-root path '(1))))))
            (t
             (let ((run (index-run index file)))
               (multiple-value-bind (side other) (sides index run path (index-language index file) change)
                 (cond ((null side)
                        (remark "~A: the diff fits neither the file as it is nor its state before the change; the whole file is taken" path)
                        (add (whole-file-roots index file)))
                       ((eq (file-change-status change) :added)
                        (add (if (eq side :new) (whole-file-roots index file) (list (module-root path '(1))))))
                       (t
                        (add (roots-in-tree index file run change side other))
                        (add (roots-gone index path run other change side)))))))))))

(defun roots-of-diff (index text)
  "Findings on the diff TEXT held against INDEX. Signals `diff-error' when TEXT is no diff."
  (multiple-value-bind (changes outside)
      (settle-paths (parse-diff text) (string-right-trim "/" (namestring (index-root index))) (lambda (path) (index-file-number index path)))
    (let ((findings (make-findings :changes changes)))
      (dolist (path outside) (push (format nil "~A lies outside ~A; it was not looked at" path (index-root index)) (findings-remarks findings)))
      (dolist (change changes)
        (dolist (fault (change-faults change)) (push fault (findings-remarks findings)))
        (pushnew (file-change-path change) (findings-files findings) :test #'string=)
        (when (and (member (file-change-status change) '(:renamed)) (file-change-old-path change))
          (pushnew (file-change-old-path change) (findings-files findings) :test #'string=))
        (roots-of-change index change findings))
      (setf (findings-files findings) (nreverse (findings-files findings))
            (findings-remarks findings) (nreverse (findings-remarks findings))
            (findings-unplaced findings) (nreverse (findings-unplaced findings)))
      findings)))
