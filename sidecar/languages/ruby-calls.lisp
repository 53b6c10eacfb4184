;;;; Ruby's names: variables, constants, calls with and without parentheses, blocks. Shares the package of ruby.lisp.

(in-package #:opl.languages.ruby)

;;; Names

(defun local-p (r name) (member name (ruby-locals r)))

(defun assigned-p (r i)
  "Whether the token at I is a plain `='."
  (declare (type index i))
  (and (is r i "=") (not (line-begins-p r i))))

(defun name (r i want)
  "A variable, constant or call that begins with the name at I."
  (declare (type ruby r) (type index i))
  (let ((name (name-at r i)))
    (advance r)
    (cond
      ((and (assigned-p r (p)) (not (is r (1- i) "." "&.")))
       (cond ((capitalised-p r name) (constant-definition r i name) +none+)
             (t (advance r)
                (let ((value (expression r t)))
                  (loop while (and (more-p r) (is r (p) ",") (not (is r (1- i) ",")) (not (is r (1- i) "(")))
                        do (advance r) (expression r nil))
                  (assign r name value)
                  value))))
      ((and (is r (p) "||=") (not (capitalised-p r name)))
       (advance r)
       (let ((value (expression r t))) (assign r name value) (if want (name-node r name) +none+)))
      ((or (name-begins-p r name 64) (name-begins-p r name 36)) (postfix r (name-node r name)))
      ((and (capitalised-p r name) (not (and (is r (p) "(") (adjacent-p r (p))))) (postfix r (name-node r name)))
      ((local-p r name) (postfix r (name-node r name)))
      (t (own-call r i name want)))))

(defun assign (r name value)
  "NAME is given VALUE: a local variable, or one of the instance, which is known all over the class."
  (declare (type ruby r))
  (cond ((name-begins-p r name 64)
         (let ((scope (class-scope r)))
           (when scope (bind r name +variable+ :scope scope :value value))))
        ((name-begins-p r name 36))
        (t (local r name value))))

(defun class-scope (r)
  (let ((owner (reading-owner r)))
    (and (/= owner +none+)
         (let ((scope (opl.source.facts:draft-def-body (reading-facts r) owner))) (and (/= scope +none+) scope)))))

(defun own-call (r i name want)
  "A call without a receiver of the method NAME at I, which was read."
  (declare (type ruby r) (type index i))
  (let ((declared (declared-by r i name)))
    (or declared
        (let* ((callee (name-node r name)) (site (site r name (line-at r i) +call+ callee)))
          (setf (draft-site-arity (reading-facts r) site) (call-arguments r))
          (test-suite r i name)
          (postfix r (if (or want (is r (p) "." "&.")) (node r +op-call+ callee +none+ site) +none+))))))

(defun operand-begins-p (r i)
  "Whether the token at I, after a method's name and a blank, begins an argument without parentheses."
  (declare (type ruby r) (type index i))
  (and (< i (the index (limit))) (not (line-begins-p r i)) (not (adjacent-p r i))
       (let ((kind (kind-at r i)) (tight (adjacent-p r (1+ i))))
         (cond
           ((= kind +identifier+)
            (or (and (is r (1+ i) ":") (adjacent-p r (1+ i)))
                (not (is r i "and" "or" "then" "do" "end" "if" "unless" "while" "until" "rescue" "in" "else" "elsif" "when" "ensure"))))
           ((or (= kind +string+) (= kind +number+) (= kind +regexp+) (= kind +character+)) t)
           ((is r i "->" "!" "~") t)
           ((is r i ":" "::") tight)
           ((is r i "[" "(") t)
           ((is r i "*" "&" "-" "**") tight)))))

(defun call-arguments (r)
  "The arguments of the call whose name was read, and its block. The number of arguments."
  (declare (type ruby r))
  (let ((i (p)) (count 0))
    (cond
      ((not (more-p r)))
      ((and (is r i "(") (adjacent-p r i)) (setf count (with-bracket (r i) (arguments r nil))))
      ((operand-begins-p r i)
       (let ((no-do (ruby-no-do r)))
         (setf (ruby-no-do r) t)
         (setf count (arguments r t))
         (setf (ruby-no-do r) no-do))))
    count))

(defun arguments (r command)
  "Arguments with commas between, to the limit, or when COMMAND to the end of the statement. Their number."
  (declare (type ruby r))
  (let ((count 0))
    (loop
      (unless (more-p r) (return count))
      (let ((from (p)))
        (when (is r from "*" "**" "&") (advance r))
        (expression r nil)
        (when (and (more-p r) (is r (p) "=>")) (advance r) (expression r nil))
        (when (and (label-read-p r) (not (ends-statement-p r (p))) ) (expression r nil))
        (incf count)
        (cond ((and (more-p r) (is r (p) ",")) (advance r))
              (command (return count))
              ((is r (p) "if" "unless" "for") (walk r nil))
              ((= (p) from) (advance r)))))))

(defun label-read-p (r)
  "Whether what was read last is a label, whose value follows."
  (let ((i (p))) (and (> i 1) (is r (1- i) ":") (adjacent-p r (1- i)))))

;;; Members, calls, indices, blocks

(defun chain-goes-on-p (r i)
  (declare (type index i))
  (and (is r i "." "&.") (< (1+ i) (the index (limit)))
       (or (not (line-begins-p r i)) (adjacent-p r (1+ i)))))

(defun postfix (r value)
  "What is applied to VALUE, a node or `nothing'."
  (declare (type ruby r) (type node value))
  (loop
    (let ((i (p)))
      (declare (type index i))
      (cond
        ((not (more-p r)) (return value))
        ((chain-goes-on-p r i)
         (advance r)
         (setf value (if (is r (p) "(") (progn (call-arguments r) +none+) (method-call r value))))
        ((and (is r i "::") (adjacent-p r i) (identifier-at-p r (1+ i)))
         (advance r)
         (let ((name (name-at r (p))))
           (if (and (capitalised-p r name) (not (and (is r (1+ (p)) "(") (adjacent-p r (1+ (p))))))
               (progn
                 (advance r)
                 (setf value (if (= value +none+) +none+ (member-node r value name 1)))
                 (when (assigned-p r (p)) (constant-definition r (1- (p)) name)))
               (setf value (method-call r value)))))
        ((and (is r i "[") (adjacent-p r i))
         (with-bracket (r i) (arguments r nil))
         (setf value (if (= value +none+) +none+ (node r +op-index+ value +none+))))
        ((and (or (is r i "{") (and (is r i "do") (not (ruby-no-do r)))) (call-precedes-p r i))
         (block-body r value))
        (t (return value))))))

(defun call-precedes-p (r i)
  "Whether a block may follow what stands before I."
  (declare (type ruby r) (type index i))
  (and (not (line-begins-p r i))
       (or (is r i "do")
           (is r (1- i) ")")
           (and (identifier-at-p r (1- i)) (not (is r (1- i) "nil" "true" "false" "self"))
                (not (and (capitalised-p r (name-at r (1- i))) (not (is r (- i 2) "." "&.")))))
           (= (kind-at r (1- i)) +identifier+))))

(defun method-call (r receiver)
  "The method whose name is in hand is called on RECEIVER."
  (declare (type ruby r) (type node receiver))
  (let* ((i (p)) (name (name-at r i)))
    (declare (type index i))
    (advance r)
    (cond
      ((not (identifier-at-p r i)) +none+)
      ((and (assigned-p r (p)) (not (is r (1+ (p)) "="))) ; an attribute is assigned
       (advance r)
       (expression r nil)
       +none+)
      ((and (= name (known "class")) (/= receiver +none+) (= (draft-node-op (reading-facts r) receiver) +op-self+)
            (/= (reading-owner r) +none+))
       (node r +op-def+ (reading-owner r)))
      (t
       (let* ((new (and (= name (known "new")) (/= receiver +none+)))
              (callee (cond (new receiver) ((= receiver +none+) +none+) (t (member-node r receiver name))))
              (site (site r name (line-at r i) (if new +construct+ +call+) callee)))
         (setf (draft-site-arity (reading-facts r) site) (call-arguments r))
         (test-suite r i name)
         (cond ((= callee +none+) +none+)
               (new (node r +op-new+ callee +none+ site))
               (t (node r +op-call+ callee +none+ site))))))))

(defun block-if-any (r)
  (declare (type ruby r))
  (when (and (more-p r) (or (is r (p) "{") (and (is r (p) "do") (not (ruby-no-do r)))))
    (block-body r +none+)))

(defun lambda-parameters (r)
  "(a, b) or a, b between -> and its block."
  (declare (type ruby r))
  (loop while (and (more-p r) (not (is r (p) "{" "do")))
        do (when (identifier-at-p r (p)) (local r (name-at r (p))))
           (advance r)))

(defun block-body (r receiver)
  "A block in braces or do … end. RECEIVER: what its call's value is, whose elements it may be given."
  (declare (type ruby r) (ignore receiver))
  (let* ((i (p)) (scope (reading-scope r)) (locals (ruby-locals r)) (no-do (ruby-no-do r)) (pending (ruby-pending r))
         (inner (if (= pending +none+) (open-scope r +block-scope+) +none+)))
    (declare (type index i))
    (flet ((read-body ()
             (if (is r i "{")
                 (with-bracket (r i) (block-parameters r) (walk r nil))
                 (progn (advance r) (setf (ruby-no-do r) nil) (block-parameters r) (walk r t)))))
      (cond ((= pending +none+)
             (setf (reading-scope r) inner)
             (read-body)
             (setf (reading-scope r) scope))
            (t (setf (ruby-pending r) +none+)
               (class-body r pending #'read-body))))
    (setf (ruby-locals r) locals (ruby-no-do r) no-do)))

(defun block-parameters (r)
  "|a, (b, c), *d; e|"
  (declare (type ruby r))
  (when (and (more-p r) (is r (p) "|"))
    (advance r)
    (let ((index 0))
      (loop while (and (more-p r) (not (is r (p) "|")))
            do (let ((i (p)))
                 (when (and (identifier-at-p r i) (or (is r (1- i) "|" "," "(" "*" "**" "&" ";")))
                   (pushnew (name-at r i) (ruby-locals r))
                   (bind r (name-at r i) +parameter+ :scope (reading-scope r) :index index)
                   (incf index))
                 (advance r))))
    (advance r))
  (when (and (more-p r) (is r (p) "||")) (advance r)))
