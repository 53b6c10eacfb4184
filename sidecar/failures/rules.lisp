;;;; Rules of a runner's table, made ready. A line is looked through once for the needles of all rules; only rules that have one of
;;;; theirs in it are tried. Part of the package of table.lisp.

(in-package #:opl.failures.table)

(declaim (optimize (speed 1) (safety 1)))

(defconstant +dull+ (ash 1 61) "The bit of lines that say nothing.")
(defconstant +rule-bits+ 61 "Bits of a line's mask; the rule at index i has the bit i mod 61.")
(defconstant +most-cells+ 60 "Cells of captures that a rule may have: twenty captures.")

(defstruct rule
  "MODES: :always, :any (some mode, or an open failure), or a list."
  (matcher nil :type function) (cells 0 :type fixnum) (modes :always) (action nil :type function))

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

(defun table-of-clauses (name options signs rules dull finish)
  "The runner of SIGNS, ((weight . pattern) …), RULES, ((modes pattern action) …), and DULL needles."
  (let ((guards '()) (needles '()) (always '()) (blind '()) (wanted 0)
        (unguarded (make-array (ceiling (length rules) +rule-bits+) :initial-element 0)))
    (flet ((rule-of (index modes pattern action)
             (let ((bit (ash 1 (mod index +rule-bits+))) (own (guards-of pattern)))
               (dolist (guard own) (push (cons guard bit) guards))
               (dolist (needle (pattern-needles pattern)) (push (cons needle bit) needles))
               (when (eq modes :always) (setf always (append (needles-of pattern) always) wanted (logior wanted bit)))
               (unless own
                 (setf blind (append (if (consp modes) modes (list modes)) blind)
                       (svref unguarded (floor index +rule-bits+)) (logior bit (svref unguarded (floor index +rule-bits+)))))
               (make-rule :matcher (matcher-of pattern) :cells (cells-of pattern) :modes modes :action action))))
      (let ((table (coerce (loop for (modes pattern action) in rules
                                 for index from 0
                                 collect (rule-of index modes pattern action))
                           'simple-vector)))
        (make-runner
         :name name :options options
         :sign (sign-function signs)
         :sign-needles (loop for (nil . pattern) in signs append (needles-of pattern))
         :rules table :unguarded unguarded
         :needles (remove-duplicates always :test #'string=)
         :automaton (automaton-of guards) :scanner (automaton-of (append (loop for needle in dull collect (cons needle +dull+)) needles)) :wanted wanted :blind (remove-duplicates blind)
         :finish finish)))))

(defmacro define-runner (name (&rest options) &body clauses)
  "Defines the table of the runner NAME. OPTIONS: :kind (:tests or :compiler), :contains (names whose output it repeats),
:group (of the tables of one group the likeliest alone reads), :start (the mode a log begins in), :category (where words do not tell),
:innermost (:first or :last frame of a stack), :frames (languages of its stacks)."
  (let* ((clauses (loop for clause in clauses
                        append (if (clause-p clause "INCLUDE") (get (second clause) 'rules) (list clause))))
         (signs (remove-if-not (lambda (c) (clause-p c "SIGN")) clauses))
         (rules (remove-if-not (lambda (c) (or (clause-p c "ON") (clause-p c "WITHIN"))) clauses))
         (dull (loop for clause in clauses when (clause-p clause "DULL") append (rest clause)))
         (finish (rest (find-if (lambda (c) (clause-p c "FINISH")) clauses))))
    (assert (= (length clauses) (+ (length signs) (length rules) (if dull 1 0) (if finish 1 0))) () "Unknown clause in the table of ~A." name)
    (flet ((action (pattern forms)
             `(lambda (line mode captures)
                (declare (type line line) (type captures captures) (ignorable line mode captures))
                (with-captured (,pattern line captures)
                  ;; the line is lent; what an action does with it may be to keep it
                  ,(if (mentioned-p 'line forms)
                       `(let ((line (copy-seq line))) (not (eq reject (progn (seen) ,@forms))))
                       `(not (eq reject (progn (seen) ,@forms))))))))
      `(add-runner
        (table-of-clauses
         ,name ',options
         ',(mapcar #'rest signs)
         (list ,@(loop for rule in rules
                       for (modes pattern . forms) = (if (clause-p rule "ON") (list* :always (rest rule)) (rest rule))
                       collect `(list ',(if (equal modes '(t)) :any modes) ',pattern ,(action pattern forms))))
         ',dull
         ,(and finish `(lambda () ,@finish)))))))

(defun apply-rules (runner line mode found)
  "Gives LINE to the first rule of RUNNER that wants it; a line that none wants is added to the open failure. FOUND: the mask of the
rules whose needles are in the line, where that is known already. LINE may be lent: what is kept of it is copied."
  (declare (type line line) (type (or null (unsigned-byte 62)) found))
  (let* ((end (length line))
         (mask (or found (needles-in (runner-automaton runner) line end)))
         (rules (runner-rules runner))
         (captures (make-array +most-cells+ :element-type '(unsigned-byte 32))))
    (declare (dynamic-extent captures) (type (unsigned-byte 62) mask))
    (flet ((takes-p (rule)
             (and (let ((modes (rule-modes rule)))
                    (case modes
                      (:always t)
                      (:any (or mode (reading-open *reading*)))
                      (t (member mode modes :test #'eq))))
                  (try-matcher (rule-matcher rule) line end captures (rule-cells rule))
                  (funcall (rule-action rule) line mode captures))))
      (loop for unguarded of-type (unsigned-byte 61) across (runner-unguarded runner)
            for first of-type fixnum from 0 by +rule-bits+
            ;; from the lowest bit up, which is the order of the rules
            do (loop with left of-type (unsigned-byte 61) = (logior unguarded (ldb (byte 61 0) mask))
                     until (zerop left)
                     do (let ((index (+ first (1- (integer-length (logand left (- left)))))))
                          (declare (fixnum index))
                          (when (and (< index (length rules)) (takes-p (svref rules index))) (return-from apply-rules t))
                          (setf left (logand left (1- left))))))
      (incf (reading-idle *reading*))
      (when (wants-lines-p) (add-line (copy-seq line))))))

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
