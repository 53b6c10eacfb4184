;;;; Definitions that macros of one C file make in another: functions of a source that is included under other names
;;;; (#define abs decDoubleAbs, #include "decBasic.c"), lists of uses of a macro that whoever includes them defines
;;;; (OP(ADD) in opcodes.h), functions made by a macro of a header (DEFINE_LOOKUP(user)). languages/c-macros.lisp says
;;;; what the files mark of themselves. What comes of it, a function of all files' marks and includes, stands behind the
;;;; definitions that a file has of its own, under the flag +expanded+, and is made anew when it would differ.

(defpackage #:opl.index.expansion
  (:use #:cl #:opl.index.store #:opl.source.facts #:opl.index.includes)
  (:import-from #:opl.source.names #:+none+ #:known #:name-string #:intern-string)
  (:import-from #:opl.source.columns #:make-facts #:unpack-sections #:pack-sections)
  (:import-from #:opl.source.language #:language-family)
  (:import-from #:opl.languages.c #:+arguments-marked+ #:filled-pattern #:source-path-p)
  (:export #:expand))
(in-package #:opl.index.expansion)

(declaim (optimize (speed 1) (safety 1)))

(defconstant +includers-followed+ 3 "So many files deep, from the one that is included to a source: deeper ones hold no macros for it.")
(defconstant +contexts-kept+ 32 "Places where a file is included that are looked at; a template has a handful.")

(defstruct plan
  "What was found in all files. MAKERS: name number of a macro => (file . mark) of each pattern of it. INCLUDED: file =>
(includer . import) of the places where one is included that may be read differently each time. LISTS: name number of a macro =>
(file . mark) of those that consist of uses of another."
  (makers (make-hash-table) :type hash-table)
  (included (make-hash-table) :type hash-table)
  (lists (make-hash-table) :type hash-table)
  (listed (make-hash-table :test 'equal) :type hash-table)) ; last parts of the paths of files that may be

;;; Reading what files mark

(defun c-p (index file)
  (let ((language (and (index-run index file) (index-language index file))))
    (and language (eq :c (language-family language)))))

(defmacro do-c-files ((file run) (index) &body body)
  `(do-files (,file) (,index)
     (when (c-p ,index ,file)
       (let ((,run (index-run ,index ,file))) ,@body))))

(defun mark-name (run mark)
  "The name of the macro that MARK is of."
  (def-name run (mark-more run mark)))

(defun note-makers (index file run plan)
  "Enters the macros of FILE that make something, and the file itself when it may be read differently by each that includes it."
  (let ((may nil))
    (dotimes (mark (mark-count run))
      (let ((key (mark-key run mark)))
        (cond ((or (= key (known "makes")) (= key (known "lists")))
               (push (cons file mark) (gethash (mark-name run mark) (plan-makers plan))))
              ((= key (known "list of")) (push (cons file mark) (gethash (mark-name run mark) (plan-lists plan))))
              ((or (= key (known "expands")) (= key (known "template"))) (setf may t)))))
    (when may
      (setf (gethash (base-name (index-path index file)) (plan-listed plan)) t))))

(defun note-includes (index file run plan wanted)
  "Enters the places where FILE includes a file that may be read differently. WANTED: module name => whether it may be one, filled here."
  (dotimes (import (import-count run))
    (let ((module (import-module run import)))
      (multiple-value-bind (want known) (gethash module wanted)
        (unless known
          (let ((text (name-string (index-names index) module)))
            (setf want (or (source-path-p text) (gethash (base-name text) (plan-listed plan)))
                  (gethash module wanted) want)))
        (when want
          (let ((target (included-file (includes-in index) file (name-string (index-names index) module))))
            (when (and target (/= target file))
              (push (cons file import) (gethash target (plan-included plan))))))))))

(defun make-plan-of (index)
  "The plan of all files of INDEX."
  (let ((plan (make-plan)) (wanted (make-hash-table)))
    (do-c-files (file run) (index) (when (plusp (mark-count run)) (note-makers index file run plan)))
    (do-c-files (file run) (index) (note-includes index file run plan wanted))
    plan))

;;; What is in force where a file is included

(defstruct (context (:constructor make-context (includers enumerates)))
  "One way in which a file is read: INCLUDERS, a list of (file . line of the include) from the nearest to the outermost, and
whether it is the body of an enum that it is read into."
  includers enumerates)

(defun enumerates-p (run import)
  (dotimes (mark (mark-count run) nil)
    (when (and (= (mark-key run mark) (known "enumerates")) (= (mark-more run mark) import)) (return t))))

(defun contexts (index plan file)
  "The ways in which FILE is read, in order of path and line of what includes it."
  (let ((found '()))
    (labels ((follow (file includers enumerates depth)
               (let ((outer (gethash file (plan-included plan))))
                 (if (or (null outer) (zerop depth))
                     (when includers (push (make-context (reverse includers) enumerates) found))
                     (loop for (includer . import) in (ordered index outer)
                           for run = (index-run index includer)
                           do (when (and (< (length found) +contexts-kept+) (not (member includer includers :key #'car)))
                                (follow includer (cons (cons includer (import-line run import)) includers)
                                        (or enumerates (enumerates-p run import)) (1- depth))))))))
      (follow file '() nil +includers-followed+))
    (nreverse found)))

(defun ordered (index places)
  "PLACES, (file . import), by path and line."
  (sort (copy-list places)
        (lambda (a b) (let ((x (index-path index (car a))) (y (index-path index (car b))))
                        (if (string= x y) (< (cdr a) (cdr b)) (string< x y))))))

(defun in-force (context file line)
  "Whether what stands at LINE of FILE is read before what CONTEXT is of."
  (let ((place (assoc file (context-includers context))))
    (and place (< line (the fixnum (cdr place))))))

(defun context-files (index context)
  "The files whose macros are in force in CONTEXT: those that include, nearest first, and what they include before."
  (let ((files (mapcar #'car (context-includers context))))
    (append files
            (loop for (includer . line) in (context-includers context)
                  append (loop for (place . target) in (included-places index includer)
                               while (< (the fixnum place) (the fixnum line))
                               unless (member target files) collect target)))))

(defun included-places (index file)
  "(line . file included there) of the includes of FILE that mean files of the repository, in order; found once for an index."
  (let ((known (memo (index :included-places) (make-hash-table))))
    (multiple-value-bind (places found) (gethash file known)
      (if found
          places
          (setf (gethash file known)
                (let ((run (index-run index file)) (includes (includes-in index)))
                  (loop for import below (import-count run)
                        for target = (included-file includes file (name-string (index-names index) (import-module run import)))
                        when target collect (cons (import-line run import) target))))))))

;;; What a file holds by it: rows (definition or nil, line or nil, name, kind), in order

(defun renamed-rows (index file context files)
  "A row for each function of FILE that bears another name in CONTEXT."
  (let ((renames (make-hash-table)) (run (index-run index file)) (rows '()))
    (dolist (other (reverse files))
      (let ((run (index-run index other)))
        (dotimes (mark (mark-count run))
          (when (= (mark-key run mark) (known "renames"))
            (let ((def (mark-more run mark)))
              (when (or (not (assoc other (context-includers context))) (in-force context other (def-line run def)))
                (setf (gethash (def-name run def) renames) (mark-value run mark))))))))
    (when (plusp (hash-table-count renames))
      (dotimes (def (own-count run))
        (let ((name (gethash (def-name run def) renames)))
          (when (and name (/= name (def-name run def)) (= (def-kind run def) (known "function")) (logtest +has-body+ (def-flags run def)))
            (push (list def nil name (def-kind run def)) rows)))))
    (nreverse rows)))

(defun own-count (run)
  "How many definitions RUN has without what other files' macros make in it."
  (let ((count (def-count run)))
    (loop while (and (plusp count) (logtest +expanded+ (def-flags run (1- count)))) do (decf count))
    count))

(defun uses (run)
  "(line macro . arguments) of the uses of macros marked in RUN; ARGUMENTS a list of name numbers, nil where it is no name."
  (let ((uses '()) (last nil))
    (dotimes (mark (mark-count run) (nreverse uses))
      (when (= (mark-key run mark) (known "expands"))
        (multiple-value-bind (site position) (floor (mark-more run mark) +arguments-marked+)
          (unless (eql site last)
            (push (list (site-line run site) (site-name run site)) uses)
            (setf last site))
          (let ((arguments (cddr (first uses))))
            (setf (cddr (first uses))
                  (append arguments (make-list (- position (length arguments)) :initial-element nil) (list (mark-value run mark))))))))))

(defun listed-uses (index plan run)
  "`uses' for the macros that RUN marks as used alone: those of the macros that they consist of."
  (let ((uses '()))
    (dotimes (mark (mark-count run) (nreverse uses))
      (when (= (mark-key run mark) (known "lists here"))
        (let* ((place (first (gethash (mark-value run mark) (plan-lists plan)))) (holder (and place (index-run index (car place)))))
          (when place
            (loop for listed from (1+ (the fixnum (cdr place))) below (mark-count holder)
                  while (= (mark-key holder listed) (known "listed"))
                  do (push (list (mark-more run mark) (mark-value holder (cdr place)) (mark-value holder listed)) uses))))))))

(defun maker-line (index maker)
  (let ((run (index-run index (car maker)))) (def-line run (mark-more run (cdr maker)))))

(defun maker-in-force (index makers context files)
  "Of MAKERS, (file . mark) of one name, those of the macro that is in force in CONTEXT: the last one before, in the nearest of FILES."
  (dolist (file files)
    (let ((here (remove-if-not (lambda (maker)
                                 (and (= (car maker) file)
                                      (or (not (assoc file (context-includers context))) (in-force context file (maker-line index maker)))))
                               makers)))
      (when here
        (let ((last (reduce #'max here :key (lambda (maker) (maker-line index maker)))))
          (return (remove last here :key (lambda (maker) (maker-line index maker)) :test-not #'=)))))))

(defun maker-agreed (index makers)
  "Of MAKERS, (file . mark) of one name, those of one macro, when all macros of that name make the same functions; else nil."
  (let ((by-macro '()))
    (dolist (maker makers)
      (let* ((run (index-run index (car maker))) (macro (cons (car maker) (mark-more run (cdr maker))))
             (group (or (assoc macro by-macro :test #'equal) (first (push (list macro) by-macro)))))
        (push maker (cdr group))))
    (flet ((patterns (group) (sort (mapcar (lambda (maker) (mark-value (index-run index (car maker)) (cdr maker))) (cdr group)) #'<)))
      (and by-macro (every (lambda (group) (equal (patterns group) (patterns (first by-macro)))) (rest by-macro))
           (cdr (first by-macro))))))

(defun rows-of-use (index use makers kind)
  "The rows that the macros MAKERS make of USE by their marks of KIND, the number of \"makes\" or of \"lists\"."
  (let ((names (index-names index)))
    (loop for (file . mark) in (sort (copy-list makers) #'< :key #'cdr)
          for run = (index-run index file)
          when (= (mark-key run mark) kind)
            append (let ((text (filled-pattern (name-string names (mark-value run mark))
                                               (mapcar (lambda (argument) (and argument (name-string names argument))) (cddr use)))))
                     (and text (list (list nil (first use) (intern-string names text)
                                           (if (= kind (known "lists")) (known "enumerator") (known "function")))))))))

(defun own-macro-p (run name)
  "Whether a macro NAME is defined in the file of RUN itself: its extractor has made of it what it makes."
  (dotimes (def (own-count run) nil)
    (when (and (= (def-name run def) name) (= (def-kind run def) (known "macro"))) (return t))))

(defun used-rows (index plan file contexts)
  "Rows of what the macros that FILE uses make. CONTEXTS: a list of (context . files)."
  (let ((run (index-run index file)) (rows '()))
    (flet ((add (use makers kind) (setf rows (revappend (rows-of-use index use makers (if kind (known "lists") (known "makes"))) rows)))
           (makers-of (use) (gethash (second use) (plan-makers plan))))
      (dolist (use (uses run))
        (let ((makers (makers-of use)) (found nil))
          (when (and makers (not (own-macro-p run (second use))))
            (loop for (context . files) in contexts
                  for here = (maker-in-force index makers context files)
                  do (when here (setf found t) (add use here (context-enumerates context))))
            (unless found (add use (maker-agreed index makers) nil)))))
      (dolist (use (listed-uses index plan run))
        (let ((makers (makers-of use)))
          (add use
               (or (maker-in-force index makers (make-context (list (cons file (first use))) nil) (list file)) (maker-agreed index makers))
               nil))))
    (nreverse rows)))

(defun rows (index plan file)
  "What macros of other files make in FILE: a list of rows without duplicates."
  (let* ((ways (contexts index plan file)) (contexts (mapcar (lambda (context) (cons context (context-files index context))) ways)))
    (remove-duplicates
     (append (loop for (context . files) in contexts append (renamed-rows index file context files))
             (used-rows index plan file contexts))
     :test #'equal :from-end t)))

;;; Runs with and without it

(defun expanded-rows-of (run)
  "What is told of the definitions of RUN that other files' macros made, to be compared with `told'."
  (loop for def from (own-count run) below (def-count run)
        collect (list (def-name run def) (def-kind run def) (def-line run def) (def-end run def) (def-from run def))))

(defun told (run rows)
  (loop for (def line name kind) in rows
        collect (if def
                    (list name kind (def-line run def) (def-end run def) (def-from run def))
                    (list name kind line line 0))))

(defun with-rows (run rows)
  "RUN with ROWS in place of the rows that it has of other files' macros."
  (let* ((facts (unpack-sections run (make-facts))) (own (own-count run)))
    (drop-defs facts own)
    (loop for (def line name kind) in rows
          do (if def
                 (add-def facts name kind (def-line run def) (def-end run def) (def-parent run def) (def-scope run def) (def-body run def)
                          (def-type run def) (logior +expanded+ (def-flags run def)) (def-from run def) (def-to run def) (def-where run def))
                 (add-def facts name kind line line +none+ 0 +none+ +none+
                          (logior +expanded+ (if (= kind (known "function")) +has-body+ 0)) 0 0 0)))
    (pack-sections facts)))

;;; An index brought up to date

(defun interface (index file)
  "What plans are made of, of the file FILE of INDEX, or nil where it has nothing to do with them: its marks, and its includes
each with the number of macros before it. Lines alone do not alter it."
  (when (c-family-p index file)
    (let* ((run (index-run index file)) (places '()) (marks '()))
      (dotimes (mark (mark-count run))
        (let ((key (mark-key run mark)))
          (unless (or (= key (known "expands")) (= key (known "template")) (= key (known "enumerates")) (= key (known "lists here")))
            (push (def-line run (mark-more run mark)) places)
            (push (mark-name run mark) marks))
          (push key marks)
          (push (mark-value run mark) marks)))
      (list marks
            (loop for import below (import-count run)
                  collect (import-module run import)
                  collect (count-if (lambda (line) (< (the fixnum line) (import-line run import))) places))))))

(defun same-interface-p (index before file)
  (and (< file (index-file-count before)) (index-run index file) (index-run before file)
       (eq (c-p index file) (c-p before file))
       (equal (interface index file) (interface before file))))

(defun put-rows (index plan files)
  "Brings the runs of FILES up to date with PLAN. Those that were replaced."
  (let ((replaced '()))
    (dolist (file files replaced)
      (when (c-p index file)
        (let* ((run (index-run index file)) (rows (rows index plan file)))
          (unless (equal (told run rows) (expanded-rows-of run))
            (setf (svref (index-runs index) file) (with-rows run rows))
            (push file replaced)))))))

(defun expand (index changed before)
  "Puts into the runs of INDEX, which is not published yet, what macros of other files make in each file. CHANGED: the numbers of
the files in which it differs from the index BEFORE. The numbers of the files whose runs were replaced."
  (let ((changed (remove-if-not (lambda (file) (or (c-family-p index file) (and (< file (index-file-count before)) (c-family-p before file))))
                                changed))
        (plan (index-expansion before)))
    (cond ((null changed) '())
          ((and plan (every (lambda (file) (same-interface-p index before file)) changed)) (put-rows index plan changed))
          (t (setf (index-expansion index) (make-plan-of index))
             (put-rows index (index-expansion index) (coerce (index-order index) 'list))))))
