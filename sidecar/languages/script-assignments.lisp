;;;; Assignments that define: exports.x = …, module.exports = …, X.prototype.m = function, this.x = …

(in-package #:opl.languages.script)
(declaim (optimize (speed 2) (safety 1)) (sb-ext:muffle-conditions sb-ext:compiler-note))

(defun exports-node-p (r node)
  (and (/= node +none+) (= (draft-node-op (script-facts r) node) +op-name+)
       (= (draft-node-a (script-facts r) node) (known "exports"))))

(defun note-assignment (r left from)
  "`=' after the expression LEFT, which begins at token FROM; the node of what is assigned."
  (declare (type script r) (type u32 left) (type index from))
  (let* ((target (1- (here r))) (facts (script-facts r))
         (op (if (= left +none+) +op-unknown+ (draft-node-op facts left))))
    (step-on r)
    (cond ((and (word-p r target) (or (= op +op-member+) (= op +op-name+)) (or (function-at-p r (here r)) (class-at-p r (here r)) (enclosed-function-at-p r (here r))))
           (assign-function r left op target from))
          ((exports-node-p r left)
           (let ((value (parse-assignment r)))
             (unless (exports-node-p r value) (export-whole r value))
             value))
          ((and (= op +op-index+) (function-at-p r (here r)))
           (parse-function-value r :this (indexed-receiver r (draft-node-a facts left))))
          (t (let ((value (expecting ((if (= left +none+) nil (lambda () (node r +op-typeof+ left)))) (parse-assignment r))))
               (when (= op +op-member+)
                 (if (and (/= value +none+) (= (draft-node-op facts value) +op-def+) (word-p r target))
                     (assign-again r left target from (draft-node-a facts value))
                     (assign-member r left (documented-value r value from))))
               value)))))

(defun assign-again (r left target from def)
  "LEFT = … = function: another name of the function DEF."
  (declare (type script r) (type u32 left def) (type index target from))
  (let* ((facts (script-facts r)) (object (draft-node-a facts left)) (exported (exports-node-p r object)))
    (multiple-value-bind (owner static) (if exported nil (member-owner r object))
      (let ((again (define r (name-at r target) (draft-def-kind facts def) target :from from :bind nil :scope (script-scope r)
                     :parent (or owner (script-def r)) :end (draft-def-end facts def)
                     :type (draft-def-type facts def)
                     :flags (logior (draft-def-flags facts def)
                                    (cond (owner (if static +static+ 0)) ((and exported (not (local-p r))) 0) (t +local+))))))
        (setf (draft-def-body facts again) (draft-def-body facts def))
        (when exported (export-assigned r (name-at r target) +none+ again))))))

(defun documented-value (r value from)
  "VALUE, or what the @type before token FROM says it is."
  (declare (type script r) (type u32 value) (type index from))
  (let ((type (if (script-typed r) +none+ (documented-type r from))))
    (if (= type +none+) value (node r +op-cast+ type value))))

(defun assign-member (r left value)
  "LEFT, a member, is given VALUE, which is no function."
  (declare (type script r) (type u32 left value))
  (let* ((facts (script-facts r)) (object (draft-node-a facts left)) (name (draft-node-b facts left)))
    (cond ((or (= object +none+) (= value +none+)))
          ((exports-node-p r object)
           (export-assigned r name value +none+))
          ((= (draft-node-op facts object) +op-self+)
           (let ((scope (this-scope r)))
             (when scope (bind r name +receiver+ :scope scope :value value)))))))

(defun export-assigned (r name value def)
  "exports.NAME = VALUE, or the definition DEF."
  (declare (type u32 def))
  (let ((hidden (intern-text r (format nil "exports.~A" (opl.source.names:name-string (script-names r) name)))))
    (if (= def +none+)
        (bind r hidden +variable+ :scope 0 :value value)
        (bind r hidden +defined+ :scope 0 :target def))
    (export-name r name hidden)))

(defun this-scope (r)
  "The scope of the class whose member, or the function which, is around `this'."
  (declare (type script r))
  (let ((facts (script-facts r)) (scope (script-scope r)) (function nil))
    (declare (type u32 scope))
    (loop repeat 100
          until (= scope +none+)
          do (let ((kind (draft-scope-kind facts scope)) (def (draft-scope-def facts scope)))
               (cond ((= kind +class-scope+) (return scope))
                     ((and (= kind +function-scope+) (/= def +none+) (null function)
                           (= (draft-def-kind facts def) (known "function")))
                      (setf function scope))
                     ((and (= kind +function-scope+) (/= def +none+) (draft-parent-body facts def))
                      (return (draft-parent-body facts def))))
               (setf scope (draft-scope-parent facts scope)))
          finally (return function))))

(defun draft-parent-body (facts def)
  "The scope of the function or class that DEF is a member of, or nil."
  (let ((parent (draft-def-parent facts def)))
    (and (/= parent +none+) (not (logtest +local+ (draft-def-flags facts def)))
         (let ((body (draft-def-body facts parent))) (and (/= body +none+) body)))))

(defconstant +definitions-looked-through+ 4000
  "Definitions looked through for the owner of an assigned member; more only stand in generated files.")

(defun find-drafted (r name)
  "The latest definition called NAME that is a variable, function or class, or nil."
  (declare (type script r) (type u32 name))
  (let ((facts (script-facts r)))
    (loop for def of-type fixnum from (1- (draft-def-count facts)) downto (max 0 (- (draft-def-count facts) +definitions-looked-through+))
          do (when (and (= (draft-def-name facts def) name)
                        (name-case (draft-def-kind facts def)
                          (("function" "class" "variable" "constant" "namespace") t) (t nil)))
               (return def)))))

(defun member-owner (r object)
  "The definition whose member an assignment to a member of OBJECT makes, and whether it is a static one; or nil."
  (declare (type script r) (type u32 object))
  (let ((facts (script-facts r)))
    (when (/= object +none+)
      (let ((op (draft-node-op facts object)))
        (cond ((= op +op-name+) (values (find-drafted r (draft-node-a facts object)) t))
              ((and (= op +op-member+) (= (draft-node-b facts object) (known "prototype")))
               (values (member-owner r (draft-node-a facts object)) nil))
              ((= op +op-self+)
               (let* ((scope (this-scope r)) (def (if scope (draft-scope-def facts scope) +none+)))
                 (values (and (/= def +none+) def) nil))))))))

(defun assign-function (r left op target from)
  "The function or class in hand is assigned to LEFT, whose last name is token TARGET."
  (declare (type script r) (type u32 left) (type index target from))
  (let* ((facts (script-facts r)) (object (if (= op +op-member+) (draft-node-a facts left) +none+))
         (exported (exports-node-p r object)) (whole (exports-node-p r left)) (class-p (class-at-p r (here r))))
    (when whole
      (let ((value (parse-assignment r))) (export-whole r value) (return-from assign-function value)))
    (multiple-value-bind (owner static) (if (or exported (= op +op-name+)) nil (member-owner r object))
      (let ((def (define r (name-at r target) (if class-p (known "class") (if owner (known "method") (known "function"))) target
                   :from from :bind nil :scope (script-scope r)
                   :parent (or owner (script-def r))
                   :flags (cond ((and owner (declared-member-p facts owner (name-at r target))) +local+)
                                (owner (if static +static+ 0)) ((and exported (not (local-p r))) 0) (t +local+)))))
        (when (= op +op-name+) (bind-again r (name-at r target) def))
        (when exported (flag r def +exported+) (export-assigned r (name-at r target) +none+ def))
        (prog1 (cond
                 (class-p (parse-class r (here r) :def def))
                 ((enclosed-function-at-p r (here r))
                  (setf (script-pending r) (cons (enclosed-function-at-p r (here r)) def))
                  (parse-assignment r))
                 (t
                   (parse-function-value r :def def :expected (and (null owner) (not exported) (lambda () (node r +op-typeof+ left)))
                                           :this (assigned-receiver r object owner static))))
          (finish r def))))))

(defun bind-again (r name def)
  "The variable NAME, declared without a value, is given the function DEF: a binding of its scope."
  (declare (type u32 name def))
  (let ((facts (script-facts r)))
    (loop for binding of-type fixnum from (1- (draft-binding-count facts)) downto (max 0 (- (draft-binding-count facts) 500))
          do (when (and (= (draft-binding-name facts binding) name) (= (draft-binding-kind facts binding) +variable+))
               (when (and (= (draft-binding-value facts binding) +none+) (= (draft-binding-type facts binding) +none+))
                 (bind r name +defined+ :scope (draft-binding-scope facts binding) :target def))
               (return)))))

(defun indexed-receiver (r object)
  "The node of `this' in a function assigned to OBJECT[…]."
  (declare (type u32 object))
  (let ((facts (script-facts r)))
    (cond ((= object +none+) nil)
          ((and (= (draft-node-op facts object) +op-member+) (= (draft-node-b facts object) (known "prototype")))
           (node r +op-new+ (draft-node-a facts object)))
          (t object))))

(defun declared-member-p (facts owner name)
  "Whether the class OWNER already has a member called NAME, which an assignment only gives its value."
  (declare (type fixnum owner) (type u32 name))
  (and (= (draft-def-kind facts owner) (known "class"))
       (loop for def of-type fixnum from (1+ owner) below (draft-def-count facts)
             thereis (and (= (draft-def-name facts def) name) (eql (draft-def-parent facts def) owner)))))

(defun assigned-receiver (r object owner static)
  "The node of `this' in a function assigned to a member of OBJECT that no definition of this file owns."
  (declare (ignore r))
  (and (null owner) static (/= object +none+) object))
