(defpackage #:opl.failures.table
  (:use #:cl #:opl.failures.report)
  (:shadowing-import-from #:opl.failures.pattern #:search)
  (:import-from #:opl.failures.pattern #:line #:captures #:captures-of #:matcher-of #:try-matcher #:with-captured #:pattern-needles)
  (:import-from #:opl.failures.lines #:make-needles #:needles-in)
  (:export #:define-runner #:define-rules #:include #:line #:sign #:on #:within #:finish #:also
           ;; verbs of a table's rules
           #:begin-failure #:add-line #:end-failure #:note-failure #:find-failure #:drop-failure #:pending
           #:tally #:total #:count-of #:enter #:mode #:flag #:flagged #:stash #:stashed #:reject #:leave #:suffixp #:prefixp #:trim #:joined
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
(defun suffixp (suffix string) "True when STRING ends with SUFFIX." (let ((n (length suffix)) (m (length string))) (and (<= n m) (string= suffix string :start2 (- m n)))))
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

;;; A line is looked through once for the needles of all rules; only rules that have one of theirs in it are tried.

(defconstant +always+ (ash 1 61) "The bit of rules that no needle guards.")
(defconstant +most-cells+ 60 "Cells of captures that a rule may have: twenty captures.")

(defstruct rule
  "MODES: :always, :any (some mode, or an open failure), or a list. BIT is set for lines that the rule may match."
  (matcher nil :type function) (cells 0 :type fixnum) (modes :always) (bit +always+ :type (unsigned-byte 62)) (action nil :type function))

(defun cells-of (pattern)
  (let ((cells (* 3 (length (captures-of pattern)))))
    (assert (<= cells +most-cells+) () "The pattern ~S has too many captures." pattern)
    cells))

(defun plain-part (needle)
  "The longest run of ASCII in NEEDLE: a decoded line is looked through for no other characters."
  (let ((best ""))
    (loop with start = 0
          for stop = (position-if (lambda (c) (> (char-code c) 127)) needle :start start)
          for part = (subseq needle start stop)
          do (when (> (length part) (length best)) (setf best part))
          while stop do (setf start (1+ stop)))
    best))

(defun guards-of (pattern)
  "Needles by which a decoded line shows that it may match PATTERN; nil when there are none."
  (let ((parts (mapcar #'plain-part (pattern-needles pattern))))
    (and parts (notany (lambda (part) (string= "" part)) parts) parts)))

(defun sign-function (signs)
  "What tells the index and weight of the first of SIGNS, ((weight . pattern) …), that a line matches."
  (let ((table (loop for (weight . pattern) in signs
                     for index from 0
                     collect (list* (matcher-of pattern) (cells-of pattern) (cons index weight)))))
    (lambda (line end)
      (let ((captures (make-array +most-cells+ :element-type '(unsigned-byte 32))))
        (declare (dynamic-extent captures))
        (loop for (matcher cells . sign) in table
              when (try-matcher matcher line end captures cells) return sign)))))

(defun automaton-of (needles)
  "The automaton of NEEDLES, ((string . rule's bit) …), each said once."
  (make-needles (remove-duplicates needles :test #'equal)))

(defun table-of-clauses (name options signs rules finish)
  "The runner of SIGNS, ((weight . pattern) …), and RULES, ((modes pattern action) …)."
  (let ((guards '()) (needles '()) (always '()) (blind '()) (wanted 0))
    (flet ((rule-of (index modes pattern action)
             (let ((bit (ash 1 (mod index 61))) (own (guards-of pattern)))
               (dolist (guard own) (push (cons guard bit) guards))
               (dolist (needle (pattern-needles pattern)) (push (cons needle bit) needles))
               (when (eq modes :always) (setf always (append (needles-of pattern) always) wanted (logior wanted bit)))
               (unless own (setf blind (append (if (consp modes) modes (list modes)) blind)))
               (make-rule :matcher (matcher-of pattern) :cells (cells-of pattern) :modes modes :action action
                          :bit (if own bit +always+)))))
      (let ((table (coerce (loop for (modes pattern action) in rules
                                 for index from 0
                                 collect (rule-of index modes pattern action))
                           'simple-vector)))
        (make-runner
         :name name :options options
         :sign (sign-function signs)
         :sign-needles (loop for (nil . pattern) in signs append (needles-of pattern))
         :rules table
         :needles (remove-duplicates always :test #'string=)
         :automaton (automaton-of guards) :scanner (automaton-of needles) :wanted wanted :blind (remove-duplicates blind)
         :finish finish)))))

(defmacro define-runner (name (&rest options) &body clauses)
  "Defines the table of the runner NAME. OPTIONS: :kind (:tests or :compiler), :contains (names whose output it repeats),
:group (of the tables of one group the likeliest alone reads), :start (the mode a log begins in), :category (where words do not tell),
:innermost (:first or :last frame of a stack), :frames (languages of its stacks)."
  (let* ((clauses (loop for clause in clauses
                        append (if (clause-p clause "INCLUDE") (get (second clause) 'rules) (list clause))))
         (signs (remove-if-not (lambda (c) (clause-p c "SIGN")) clauses))
         (rules (remove-if-not (lambda (c) (or (clause-p c "ON") (clause-p c "WITHIN"))) clauses))
         (finish (rest (find-if (lambda (c) (clause-p c "FINISH")) clauses))))
    (assert (= (length clauses) (+ (length signs) (length rules) (if finish 1 0))) () "Unknown clause in the table of ~A." name)
    (flet ((action (pattern forms)
             `(lambda (line mode captures)
                (declare (type line line) (type captures captures) (ignorable line mode captures))
                (with-captured (,pattern line captures) (not (eq reject (progn (seen) ,@forms)))))))
      `(add-runner
        (table-of-clauses
         ,name ',options
         ',(mapcar #'rest signs)
         (list ,@(loop for rule in rules
                       for (modes pattern . forms) = (if (clause-p rule "ON") (list* :always (rest rule)) (rest rule))
                       collect `(list ',(if (equal modes '(t)) :any modes) ',pattern ,(action pattern forms))))
         ,(and finish `(lambda () ,@finish)))))))

(defun apply-rules (runner line mode found)
  "Gives LINE to the first rule of RUNNER that wants it; a line that none wants is added to the open failure. FOUND: the mask of the
rules whose needles are in the line, where that is known already."
  (declare (type line line) (type (or null (unsigned-byte 62)) found))
  (let* ((end (length line))
         (mask (logior +always+ (the (unsigned-byte 62) (or found (needles-in (runner-automaton runner) line end)))))
         (captures (make-array +most-cells+ :element-type '(unsigned-byte 32))))
    (declare (dynamic-extent captures) (type (unsigned-byte 62) mask))
    (loop for rule across (runner-rules runner)
          do (when (and (logtest mask (rule-bit rule))
                        (let ((modes (rule-modes rule)))
                          (case modes
                            (:always t)
                            (:any (or mode (reading-open *reading*)))
                            (t (member mode modes :test #'eq))))
                        (try-matcher (rule-matcher rule) line end captures (rule-cells rule))
                        (funcall (rule-action rule) line mode captures))
               (return t))
          finally (incf (reading-idle *reading*))
                  (add-line line))))

(defparameter *enders*
  '("##[error]Process completed with exit code" "##[endgroup]" "##[group]" "##[section]" "##[error]Bash exited" "Error: Process completed with exit code" "Post job cleanup." "npm ERR!" "npm error " "error Command failed with exit code"
    "The command \"" " ELIFECYCLE " "ELIFECYCLE" "make: *** [" "error: script \"" "Cleaning up project directory" "ERROR: Job failed: " "Exited with code exit status " "Lifecycle script `" "The process '/")
  "How lines begin that tell of the run's end: no failure goes on behind them.")

(defun ender-p (line)
  (declare (type line line))
  (and (plusp (length line))
       (find (schar line 0) "#EPneTm LC")
       (some (lambda (ender) (prefixp ender line)) *enders*)))

(defun hosted-command (line)
  "What a line for the program that runs the job (`::group::FAIL a.test.js`, `::error file=a.js::…`) says to people: the heading of a group;
nil for any other."
  (if (prefixp "::group::" line) (subseq line 9) nil))

(defun deliver (reading line &optional found)
  "Gives LINE to READING's table; FOUND as APPLY-RULES has it."
  (declare (type line line))
  (when (and (> (length line) 2) (char= #\: (schar line 0)) (char= #\: (schar line 1)) (alpha-char-p (schar line 2))
             (not (eq :none (getf (runner-options (reading-runner reading)) :kind))))
    (let ((heading (hosted-command line)))
      (return-from deliver (and heading (deliver reading heading)))))
  (let ((*reading* reading))
    (when (and (reading-open reading) (ender-p line)) (end-failure))
    (apply-rules (reading-runner reading) line (reading-mode reading) found)))

(defun close-reading (reading)
  "Ends READING; returns it with its failures in the log's order."
  (let ((*reading* reading))
    (flet ((without-dropped () (setf (reading-failures reading) (delete-if #'draft-dropped (reading-failures reading)))))
      (without-dropped)
      (when (runner-finish (reading-runner reading)) (funcall (runner-finish (reading-runner reading))))
      (without-dropped))
    (setf (reading-failures reading) (nreverse (reading-failures reading)))
    reading))
