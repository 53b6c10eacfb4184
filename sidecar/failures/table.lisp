(defpackage #:opl.failures.table
  (:use #:cl #:opl.failures.report)
  (:shadowing-import-from #:opl.failures.pattern #:search)
  (:import-from #:opl.failures.pattern #:line #:captures #:captures-of #:matcher-of #:try-matcher #:with-captured #:mentioned-p #:pattern-needles)
  (:import-from #:opl.failures.lines #:make-needles #:needles-in)
  (:export #:define-runner #:define-rules #:include #:line #:sign #:on #:within #:dull #:+dull+ #:finish #:also
           ;; verbs of a table's rules
           #:begin-failure #:add-line #:end-failure #:note-failure #:find-failure #:drop-failure #:pending
           #:tally #:total #:count-of #:enter #:mode #:flag #:flagged #:stash #:stashed #:reject #:leave #:suffixp #:prefixp #:text= #:trim #:joined
           #:blank-line-p #:indentation #:split-on
           ;; for the driver
           #:runner #:runner-name #:runner-needles #:runner-scanner #:runner-wanted #:runner-sign-needles #:runner-sign #:runner-rules #:runner-options #:find-runner #:all-runners
           #:reading #:make-reading #:reading-runner #:reading-failures #:reading-open #:reading-flags #:count-in
           #:deliver #:close-reading #:attention #:attentive-p #:*reading*
           #:reading-kept #:draft-dropped #:draft-beyond #:draft #:make-draft #:draft-failure #:draft-lines #:draft-late))
(in-package #:opl.failures.table)

;;; A runner's table: signs by which its output is known, and rules (pattern, what to do) for its lines.
;;;
;;;   (define-runner "name" (option value …)
;;;     (sign weight pattern…)                ; ten points make a runner; ((…)) alternatives are several signs
;;;     (on (pattern…) form…)                 ; tried on every line that could match
;;;     (within (mode…) (pattern…) form…)     ; tried in these modes alone; (t): in any mode or open failure
;;;     (dull "needle"…)                      ; a line with one of these says nothing: it is not even decoded
;;;     (finish form…))                       ; when the log ends
;;;
;;; The first rule whose pattern matches consumes the line, unless its forms return REJECT. A line that no rule wants is added
;;; to the open failure.

(declaim (optimize (speed 1) (safety 1)))

(defstruct runner
  (name "" :type string)
  (options '() :type list)
  (sign nil :type (or null function))
  (sign-needles '() :type list)
  (rules #() :type simple-vector)
  ;; for each 61 rules a mask of those that no needle guards
  (unguarded #() :type simple-vector)
  (needles '() :type list)
  (automaton nil) (scanner nil)
  (wanted 0 :type (unsigned-byte 62))
  ;; the modes that have rules without a needle
  (blind '() :type list)
  (finish nil :type (or null function)))

(defvar *runners* '() "All runners, in the order of definition.")

(defun all-runners () "Every table, in the order of definition." (reverse *runners*))
(defun find-runner (name) "The table called NAME, or nil." (find name *runners* :key #'runner-name :test #'string-equal))

(defun add-runner (runner)
  (setf *runners* (cons runner (remove (runner-name runner) *runners* :key #'runner-name :test #'string=)))
  (runner-name runner))

(defun blind-in-p (runner mode) "True when RUNNER has rules for MODE that no needle guards." (or (member :any (runner-blind runner)) (member mode (runner-blind runner))))

;;; the state of one table's reading of a log

(defconstant +lines-of-a-failure+ 400 "Lines of a failure that are kept; a stack is told by fewer.")
(defconstant +last-lines+ 200 "Lines of a longer failure's end that are kept as well: the last exception of a chain stands there.")
(defconstant +failures-kept+ 2000 "Failures of one log that are kept; more are counted alone.")
(defconstant +patience+ 4000 "Lines without a rule's match after which an open failure is taken to have ended.")

(defstruct draft
  "A failure being read: FAILURE with what the rules said, LINES (latest first) what was printed below it. BEYOND: it stands
for all those that are more than are kept."
  (failure nil :type failure) (lines '() :type list) (count 0 :type fixnum) (late '() :type list) (late-count 0 :type fixnum)
  (beyond nil) (dropped nil))

;;; What rules keep, they keep under keywords, on every line of a verbose log: a key is a place in a vector, looked up when it is compiled.

(defconstant +most-keys+ 512 "Keys of all tables; they have some 150.")
(defvar *key-places* (make-hash-table :test 'eq))

(defun place-of-key (key)
  "The place of KEY in a reading's cells."
  (or (gethash key *key-places*)
      (let ((place (hash-table-count *key-places*)))
        (assert (< place +most-keys+) () "More keys than ~D." +most-keys+)
        (setf (gethash key *key-places*) place))))

(defun make-cells () (make-array +most-keys+ :initial-element nil))

(defstruct reading
  (runner nil :type runner)
  (mode nil :type symbol)
  (open nil :type (or null draft))
  (failures '() :type list) (kept 0 :type fixnum)
  (index (make-hash-table :test 'equal))
  (counts (make-cells) :type simple-vector) (flags '() :type list) (stash (make-cells) :type simple-vector)
  (beyond nil :type (or null draft))
  (idle 0 :type fixnum))

(defvar *reading*)

(defconstant reject 'reject "Returned by a rule's forms: the line is not this rule's after all.")

(defun attention (reading)
  "Which lines READING wants: :all, :some (those that hold a needle of any rule), or nil, those of the rules that hold in every mode.
Below a failure that is not kept nothing is read but what ends it."
  (and (< (reading-idle reading) +patience+)
       (let ((open (reading-open reading)) (mode (reading-mode reading)))
         (cond ((and open (not (draft-beyond open))) :all)
               ((null mode) nil)
               ((and open (not (blind-in-p (reading-runner reading) mode))) :some)
               (t :all)))))

(defun attentive-p (reading) "True when READING wants every line." (eq :all (attention reading)))

(defun end-failure ()
  "Closes the open failure."
  (setf (reading-open *reading*) nil) t)

(defun find-failure (test &optional path)
  "The draft of the failure of TEST, or nil; with PATH that of the same file where both are known."
  (when test
    (find-if (lambda (draft)
               (let ((other (failure-path (draft-failure draft))))
                 (or (null path) (null other) (string= path other))))
             (gethash test (reading-index *reading*)))))

(defun keep (draft)
  (incf (reading-kept *reading*))
  (when (<= (reading-kept *reading*) +failures-kept+)
    (push draft (reading-failures *reading*))
    (let ((test (failure-test (draft-failure draft))))
      (when test (push draft (gethash test (reading-index *reading*)))))))

(defun beyond (draft)
  "The one draft that all failures share which are not kept: their lines are not read."
  (let ((shared (or (reading-beyond *reading*) (setf (reading-beyond *reading*) (make-draft :failure (draft-failure draft) :beyond t)))))
    (setf (draft-failure shared) (draft-failure draft) (draft-lines shared) '() (draft-late shared) '())
    shared))

(defun begin-failure (&key test path line category message suite merge)
  "Opens a failure; lines that follow belong to it. With MERGE one of the same test that was seen before is completed
when it has no lines yet, and left alone when it has."
  (let ((known (and merge (find-failure test (and (not (eq merge :name)) path)))))
    (cond ((and known (null (draft-lines known)))
           (let ((failure (draft-failure known)))
             (when (and path (null (failure-line failure))) (setf (failure-path failure) path (failure-line failure) line))
             (when (and message (string= "" (failure-message failure))) (setf (failure-message failure) message))
             (when category (setf (failure-category failure) category)))
           (setf (reading-open *reading*) known))
          (t (let ((draft (make-draft :failure (make-failure :test test :path path :line line :category category :message (or message "") :suite suite))))
               (unless known (keep draft))
               (setf (reading-open *reading*) (if (<= (reading-kept *reading*) +failures-kept+) draft (beyond draft))))))
    (setf (reading-idle *reading*) 0)
    t))

(defun note-failure (&rest arguments)
  "A failure told by one line (arguments as BEGIN-FAILURE's): nothing that follows belongs to it."
  (let ((open (reading-open *reading*)))
    (apply #'begin-failure arguments)
    (setf (reading-open *reading*) open)
    t))

(defun drop-failure (draft)
  "Forgets DRAFT."
  ;; taken out of the list when the reading ends: a log may have many
  (setf (draft-dropped draft) t)
  (let ((test (failure-test (draft-failure draft))))
    (when test (setf (gethash test (reading-index *reading*)) (delete draft (gethash test (reading-index *reading*)) :test #'eq))))
  t)

(defun pending () "The open failure, or nil." (let ((draft (reading-open *reading*))) (and draft (draft-failure draft))))

(defun wants-lines-p ()
  "True when a failure is open of which lines are kept."
  (let ((draft (reading-open *reading*))) (and draft (not (draft-beyond draft)))))

(defun add-line (line)
  "Adds LINE to the open failure, if any."
  (let ((draft (reading-open *reading*)))
    (when (and draft (not (draft-beyond draft)))
      (cond ((< (draft-count draft) +lines-of-a-failure+)
             (incf (draft-count draft))
             (push line (draft-lines draft)))
            (t (push line (draft-late draft))
               (when (>= (incf (draft-late-count draft)) (* 2 +last-lines+))
                 (setf (cdr (nthcdr (1- +last-lines+) (draft-late draft))) nil (draft-late-count draft) +last-lines+)))))
    t))

(defun count-at (place) (svref (reading-counts *reading*) place))
(defun add-at-or-one (place &optional (count 1)) (add-at place count))
(defun add-at (place count)
  (when count (setf (svref (reading-counts *reading*) place) (+ count (or (count-at place) 0))))
  t)
(defun set-at (place count) (setf (svref (reading-counts *reading*) place) count) t)
(defun stashed-at (place) (svref (reading-stash *reading*) place))
(defun stash-at (place value) (setf (svref (reading-stash *reading*) place) value) t)

(defun count-in (reading key) "The count KEY of READING, or nil." (svref (reading-counts reading) (place-of-key key)))
(defun count-of (key) "The count KEY (:passed :failed :skipped), or nil." (count-at (place-of-key key)))
(defun tally (key &optional (count 1)) "Adds COUNT to the count KEY." (add-at (place-of-key key) count))
(defun total (key count) "Sets the count KEY." (set-at (place-of-key key) count))
(defun enter (mode) "Goes into MODE (nil: none)." (setf (reading-mode *reading*) mode (reading-idle *reading*) 0) t)
(defun leave () "Closes the open failure and leaves the mode." (end-failure) (enter nil))
(defun mode () "The mode." (reading-mode *reading*))
(defun flag (&rest flags) "Notes FLAGS for the verdict: :passed :failed :none-ran :timeout :setup :compile." (dolist (flag flags t) (pushnew flag (reading-flags *reading*))))
(defun flagged (flag) "True when FLAG was noted." (member flag (reading-flags *reading*)))
(defun stashed (key) "What a rule stashed under KEY, or nil." (stashed-at (place-of-key key)))
(defun stash (key value) "Keeps VALUE under KEY for this table's other rules." (stash-at (place-of-key key) value))

(macrolet ((placed (name function)
             `(define-compiler-macro ,name (&whole form key &rest others)
                (declare (ignore others))
                (if (keywordp key) (list* ',function `(load-time-value (place-of-key ,key)) (cddr form)) form))))
  (placed count-of count-at) (placed tally add-at-or-one) (placed total set-at)
  (placed stashed stashed-at) (placed stash stash-at))

;;; words on strings

(defun trim (string) "STRING without blanks at its ends; nil stays nil." (and string (string-trim '(#\Space #\Tab #\No-break_space) string)))
(defun prefixp (prefix string)
  "True when STRING begins with PREFIX."
  (let ((n (length prefix)))
    (and (<= n (length string))
         (if (and (typep prefix 'line) (typep string 'line))
             (locally (declare (type line prefix string) (optimize (speed 3) (safety 0)))
               (loop for i of-type fixnum from 0 below n always (char= (schar prefix i) (schar string i))))
             (string= prefix string :end2 n)))))
(defun suffixp (suffix string)
  "True when STRING ends with SUFFIX."
  (let* ((n (length suffix)) (from (- (length string) n)))
    (and (>= from 0)
         (if (and (typep suffix 'line) (typep string 'line))
             (locally (declare (type line suffix string) (fixnum from) (optimize (speed 3) (safety 0)))
               (loop for i of-type fixnum from 0 below n always (char= (schar suffix i) (schar string (+ from i)))))
             (string= suffix string :start2 from)))))
(defun text= (string other)
  "CL's STRING= for whole strings, of which CL's own takes longer to begin than to compare; nil is the same as nothing."
  (and string other (= (length (the string string)) (length (the string other))) (prefixp string other)))
(defun blank-line-p (line) "True when LINE is blank." (every (lambda (c) (member c '(#\Space #\Tab #\No-break_space))) line))
(defun indentation (line) "The number of blanks LINE begins with." (or (position-if-not (lambda (c) (member c '(#\Space #\Tab))) line) (length line)))
(defun split-on (separator string)
  "The parts of STRING between occurrences of SEPARATOR."
  (loop with start = 0
        for at = (search separator string :start2 start)
        collect (subseq string start at)
        while at do (setf start (+ at (length separator)))))
(defun joined (parts &optional (separator " > "))
  "PARTS with SEPARATOR between them."
  (with-output-to-string (out)
    (loop for (part . more) on parts do (write-string part out) (when more (write-string separator out)))))

;;; the macro

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defun clause-p (clause name) (and (consp clause) (symbolp (first clause)) (string= (first clause) name)))
  (defun needles-of (pattern)
    (or (pattern-needles pattern)
        (error "The pattern ~S has no literal by which its lines can be found." pattern))))

(defmacro define-rules (name &body rules)
  "Names RULES, which several tables may have as (include NAME)."
  `(eval-when (:compile-toplevel :load-toplevel :execute) (setf (get ',name 'rules) ',rules)))

(defun seen () (setf (reading-idle *reading*) 0) t)
