;;;; Java: packages and imports, and which overload a call means by number and types of its arguments. Bare names, the
;;;; library and the family itself: java.lisp.

(defpackage #:opl.graph.families.java
  (:use #:cl #:opl.source.facts #:opl.graph.world #:opl.graph.family #:opl.graph.values #:opl.graph.types)
  (:import-from #:opl.source.names #:+none+ #:known #:find-name)
  (:export #:select-by-arguments))
(in-package #:opl.graph.families.java)

(declaim (optimize (speed 1) (safety 1)))

;;; Packages

(defun clause-name (world file)
  "The name number of FILE's package, or nil."
  (do-marks (value more) ((world-run world file) (known "package")) (return value)))

(defstruct packages
  (types (make-hash-table) :type hash-table)       ; package name, type name -> tags
  (names (make-hash-table) :type hash-table)       ; numbers of package names
  (prefixes (make-hash-table :test 'equal) :type hash-table)) ; texts of packages and of what they stand in

(defun type-key (package name) (logior (ash package 32) name))

(defun packages-of (world)
  (remembered (world :java-packages)
    (let ((packages (make-packages)))
      (do-world-files (file) (world)
        (let ((run (world-run world file)))
          (when (and run (eq (world-family world file) :java))
            (let ((package (or (clause-name world file) +none+)))
              (unless (gethash package (packages-names packages))
                (setf (gethash package (packages-names packages)) t)
                (note-prefixes (name-text world package) (packages-prefixes packages)))
              (dotimes (def (def-count run))
                (when (and (zerop (def-scope run def)) (= (def-parent run def) +none+))
                  (push (make-tag file def) (gethash (type-key package (def-name run def)) (packages-types packages)))))))))
      packages)))

(defun note-prefixes (text table)
  (loop for dot = (position #\. text) then (position #\. text :start (1+ dot))
        while dot do (setf (gethash (subseq text 0 dot) table) t))
  (setf (gethash text table) t))

(defun one-or-all (tags) (if (rest tags) (reverse tags) (first tags)))

(defun type-in-package (world package name)
  "The type NAME of the package whose name's number is PACKAGE: a meaning, or nil."
  (one-or-all (gethash (type-key package name) (packages-types (packages-of world)))))

(defun type-at (world path)
  "The type whose qualified name is the text PATH, or nil."
  (remembered (world :java-type path)
    (let ((dot (position #\. path :from-end t)))
      (when dot
        (let ((name (find-name (world-names world) (subseq path (1+ dot)))))
          (when name
            (let ((meaning (member-at world (subseq path 0 dot) name)))
              (if (consp meaning) (first meaning) meaning))))))))

(defun member-at (world path name)
  "NAME within the package or type that the text PATH names: a meaning, or nil."
  (let ((package (find-name (world-names world) path)))
    (or (and package (type-in-package world package name))
        (let ((type (type-at world path)))
          (and (integerp type)
               (values (locate-member world (make-value :class :file (tag-file type) :ref (tag-def type)) name))))
        (let ((longer (format nil "~A.~A" path (name-text world name))))
          (and (gethash longer (packages-prefixes (packages-of world)))
               (make-value :package :name longer :file (java-file world)))))))

(defun java-file (world)
  "Any Java file: tells whose family a package value is."
  (remembered (world :java-file)
    (do-world-files (file) (world) (when (eq (world-family world file) :java) (return file)))))

(defun import-module-of (world file import)
  (cons :package (name-text world (import-module (world-run world file) import))))

(defun builtin (name &rest arguments) (make-value :builtin :file :java :name name :arguments arguments))

(defun ours-p (world path)
  (or (gethash path (packages-prefixes (packages-of world))) (type-at world path)))

(defun member-of-package (world package name)
  (let ((path (value-name package)))
    (or (member-at world path name)
        ;; a type of a library keeps its name and its type arguments
        (and (not (ours-p world path)) (builtin name)))))

(defun outer-name-of (world file name mode)
  (declare (ignorable mode))
  (let ((run (world-run world file)) (package (clause-name world file)))
    (or (type-in-package world (or package +none+) name)
        (dotimes (import (import-count run))
          (when (logtest +star+ (import-flags run import))
            (let ((meaning (member-at world (name-text world (import-module run import)) name)))
              (when (and meaning (not (typep meaning 'value))) (return meaning)))))
        (let ((text (name-text world name)))
          (and (eq mode :expression)
               (cond ((gethash text (packages-prefixes (packages-of world))) (make-value :package :name text :file file))
                     ;; Math, Double, Arrays … of java.lang or of a star import
                     ((and (plusp (length text)) (upper-case-p (char text 0))) (builtin name))))))))

;;; Which overload

(defun variadic-p (world tag)
  (let* ((run (world-run world (tag-file tag))) (view (view-of world (tag-file tag))) (scope (def-body run (tag-def tag))))
    (loop for i from 0
          do (multiple-value-bind (binding rest) (find-parameter view scope i)
               (cond ((null binding) (return nil)) (rest (return t)))))))

(defun parameter-count (world tag)
  "How many parameters the method TAG has, and whether the last takes the rest."
  (let* ((run (world-run world (tag-file tag))) (view (view-of world (tag-file tag))) (scope (def-body run (tag-def tag))))
    (if (= scope +none+)
        (values 0 nil)
        (loop for i from 0 below 64
              do (multiple-value-bind (binding rest) (find-parameter view scope i)
                   (cond ((null binding) (return (values i nil)))
                         (rest (return (values (1+ i) t)))))
              finally (return (values 0 t))))))

(defun arity-fits-p (world tag arity)
  (multiple-value-bind (count variadic) (parameter-count world tag)
    (if variadic (>= arity (1- count)) (= arity count))))

(defun argument-values (world file site)
  (let ((run (world-run world file)))
    (loop for cell = (site-arguments run site) then (node-b run cell)
          until (= cell +none+)
          collect (let ((node (node-a run cell))) (if (= node +none+) nil (expression-value world file node))))))

(defparameter *widenings*
  '(("byte" "short" "int" "long" "float" "double") ("short" "int" "long" "float" "double") ("char" "int" "long" "float" "double")
    ("int" "long" "float" "double") ("long" "float" "double") ("float" "double"))
  "https://docs.oracle.com/javase/specs/jls/se21/html/jls-5.html#jls-5.1.2")
(defparameter *boxes*
  '(("int" . "Integer") ("long" . "Long") ("double" . "Double") ("float" . "Float") ("boolean" . "Boolean") ("char" . "Character")
    ("byte" . "Byte") ("short" . "Short")))

(defun type-text (world value)
  (let ((text (name-text world (value-name value)))) (if (string= text "string") "String" text)))

(defparameter *relatives*
  '(("Appendable" "StringBuilder" "StringBuffer" "Writer" "PrintStream" "PrintWriter" "CharBuffer")
    ("CharSequence" "String" "StringBuilder" "StringBuffer" "CharBuffer")
    ("Type" "Class" "ParameterizedType" "GenericArrayType" "WildcardType" "TypeVariable")
    ("Number" "BigInteger" "BigDecimal" "AtomicInteger" "AtomicLong")
    ("Map" "Properties" "Hashtable") ("Throwable" "Exception" "Error") ("Date" "Timestamp")
    ("Collection" "List" "Set" "Queue" "Deque" "ArrayList" "Vector" "HashSet") ("Iterable" "Collection" "List" "Set" "Queue"))
  "Types of the library and some of their subtypes, where the name of one does not end in that of the other.")

(defun boxed-p (text) (rassoc text *boxes* :test #'string=))
(defun primitive-p (text) (assoc text *boxes* :test #'string=))

(defun ends-with-p (text end)
  (let ((at (- (length text) (length end)))) (and (plusp at) (string= end text :start2 at))))

(defun related-p (argument parameter)
  (or (ends-with-p argument parameter)
      (let ((known (rest (assoc parameter *relatives* :test #'string=))))
        (some (lambda (name) (or (string= argument name) (ends-with-p argument name))) known))))

(defun builtin-distance (argument parameter)
  "How far the library type PARAMETER is from ARGUMENT, both names; nil: does not fit."
  (cond ((string= argument parameter) 0)
        ((string= argument "null") (if (primitive-p parameter) nil 1))
        ((primitive-p argument)
         (let ((step (position parameter (rest (assoc argument *widenings* :test #'string=)) :test #'string=)))
           (cond (step (1+ step))
                 ((equal parameter (cdr (primitive-p argument))) 7)
                 ((and (string= parameter "Number") (not (member argument '("boolean" "char") :test #'string=))) 8)
                 ((member parameter '("Object" "Comparable" "Serializable") :test #'string=) 9))))
        ((primitive-p parameter) (if (equal argument (cdr (primitive-p parameter))) 7 nil))
        ((string= parameter "Object") 6)
        ((related-p argument parameter) 1)
        ;; classes without subclasses
        ((or (boxed-p parameter) (member parameter '("String" "Class" "Array") :test #'string=)) nil)
        ((boxed-p argument) (if (member parameter '("Number" "Comparable" "Serializable") :test #'string=) 3 nil))
        ((member argument '("String" "Array") :test #'string=)
         (if (member parameter '("Comparable" "Serializable") :test #'string=) 5 nil))
        ((string= argument "Class") (if (member parameter '("Serializable" "AnnotatedElement" "GenericDeclaration") :test #'string=) 3 nil))
        ;; two types of a library: one may be the other's parent
        ((member parameter '("Appendable" "Type" "CharSequence" "Number") :test #'string=) 9)
        (t 5)))

(defun inherits-distance (world from to &optional (depth 0))
  "How many steps up the class FROM has TO as parent, or nil."
  (cond ((= from to) depth)
        ((> depth 12) nil)
        (t (let ((best nil) (open nil))
             (do-parents (parent relation) (world from)
               (let ((tag (value-tag parent)))
                 (if tag
                     (let ((found (inherits-distance world tag to (1+ depth))))
                       (when (and found (or (null best) (< found best))) (setf best found)))
                     (setf open t))))
             (values best open)))))

(defun library-distance (world tag parameter &optional (depth 0))
  "How far the library type called PARAMETER is above our class TAG, or nil."
  (cond ((string= parameter "Object") 8)
        ((or (primitive-p parameter) (boxed-p parameter) (member parameter '("String" "Array" "Class") :test #'string=)) nil)
        ((> depth 12) nil)
        (t (let ((best nil))
             (do-parents (parent relation) (world tag)
               (let ((found (cond ((value-is parent :instance) (library-distance world (value-tag parent) parameter (1+ depth)))
                                  ((value-is parent :builtin)
                                   (let ((text (type-text world parent)))
                                     (cond ((string= text parameter) (1+ depth))
                                           ((related-p text parameter) (+ 2 depth))
                                           (t 7))))
                                  (t 7))))
                 (when (and found (or (null best) (< found best))) (setf best found))))
             best))))

(defun functional-p (world value)
  "Whether a lambda may stand for VALUE: an interface, or a type of a library that is none of the plain ones."
  (case (value-kind value)
    (:instance (= (def-kind (world-run world (value-file value)) (value-ref value)) (known "interface")))
    (:builtin (let ((text (type-text world value)))
                (not (or (assoc text *boxes* :test #'string=) (rassoc text *boxes* :test #'string=)
                         (member text '("String" "Object" "Array" "Class" "Number") :test #'string=)))))
    (t t)))

(defun fit (world argument parameter)
  "How far the type PARAMETER is from that of ARGUMENT, a small number; nil: it does not fit. Values or nil for
what is not known."
  (cond ((and (null argument) (null parameter)) 2)
        ((null parameter) 5)                       ; a type parameter
        ((null argument) (if (value-is parameter :instance) 5 3))
        ((eq argument *external*) (if (value-is parameter :instance) 5 3))
        ((value-is argument :signature :function) (if (functional-p world parameter) 1 nil))
        ((value-is argument :union)
         (let ((fits (mapcar (lambda (part) (fit world part parameter)) (value-arguments argument))))
           (if (some #'null fits) nil (reduce #'max fits))))
        ((value-is parameter :union) (some (lambda (part) (fit world argument part)) (value-arguments parameter)))
        ((and (value-is argument :instance) (value-is parameter :instance))
         (multiple-value-bind (distance) (inherits-distance world (value-tag argument) (value-tag parameter)) distance))
        ((value-is argument :instance)
         (if (value-is parameter :builtin) (library-distance world (value-tag argument) (type-text world parameter)) 6))
        ((value-is parameter :instance)
         (if (value-is argument :builtin)
             (let ((text (type-text world argument)))
               (if (string= text "null") 1
                   (if (or (assoc text *boxes* :test #'string=) (rassoc text *boxes* :test #'string=)
                           (member text '("String" "Class" "Array" "boolean") :test #'string=))
                       nil
                       6)))
             6))
        ((and (value-is argument :builtin) (value-is parameter :builtin))
         (let ((distance (builtin-distance (type-text world argument) (type-text world parameter))))
           (if (and distance (string= (type-text world argument) "Array") (string= (type-text world parameter) "Array"))
               (or (fit world (first (value-arguments argument)) (first (value-arguments parameter))) nil)
               distance)))
        (t 4)))

(defun weak-p (distance)
  "Whether a distance is one of those that stand for `perhaps'."
  (member distance '(3 5 6 9)))

(defun cost (world tag arguments)
  "The sum of the distances of the parameters of TAG from ARGUMENTS, or nil; whether one of them is a guess."
  (let* ((file (tag-file tag)) (run (world-run world file)) (view (view-of world file)) (scope (def-body run (tag-def tag)))
         (count (length arguments)) (total 0) (weak nil))
    (loop for argument in arguments for i from 0
          do (multiple-value-bind (binding rest) (find-parameter view scope i)
               (let* ((type (and binding (/= (binding-type run binding) +none+) (type-value world file (binding-type run binding))))
                      ;; the rest may be given one by one
                      (distance (or (and rest type (value-is type :builtin)
                                         (not (and (= i (1- count)) (eql 0 (fit world argument type))))
                                         (let ((single (fit world argument (first (value-arguments type))))) (and single (+ 20 single))))
                                    (fit world argument type))))
                 (unless distance (return-from cost nil))
                 (when (weak-p distance) (setf weak t))
                 (incf total distance))))
    (values (if (variadic-p world tag) (+ total 20) total) weak)))

(defun select-by-arguments (world file site tags)
  "TAGS, overloads, less those that the arguments of SITE cannot mean; the nearest alone when one is nearest. Second
value: whether that is a guess."
  (let* ((run (world-run world file)) (arity (site-arity run site))
         (fitting (if (= arity +none+) tags (remove-if-not (lambda (tag) (arity-fits-p world tag arity)) tags))))
    (cond ((null fitting) (values tags t))
          ((or (null (rest fitting)) (= arity +none+)) fitting)
          (t (let* ((arguments (argument-values world file site))
                    (arguments (append arguments (make-list (max 0 (- arity (length arguments))))))
                    (costs (loop for tag in fitting
                                 for (cost weak) = (multiple-value-list (cost world tag arguments))
                                 when cost collect (list cost tag weak))))
               (if (null costs)
                   (values (list (first fitting)) t)
                   (let* ((best (reduce #'min costs :key #'first)) (chosen (find best costs :key #'first)))
                     (values (list (second chosen))
                             (and (rest costs)
                                  (or (third chosen) (some #'null arguments)
                                      (> (count best costs :key #'first) 1)))))))))))

(defun constructor-of (world tag file site)
  (let ((run (world-run world file)))
    (if (= (node-op run (site-callee run site)) +op-pointer+)
        nil                                        ; of a class without a name, see the extractor
        (let ((found (constructors world tag)))
          (if (rest found)
              (multiple-value-bind (chosen unsure) (select-by-arguments world file site found) (values (first chosen) unsure))
              (first found))))))

(defun constructors (world tag)
  (let ((found '()) (view (view-of world (tag-file tag))) (run (world-run world (tag-file tag))))
    (do-members (def) (view (tag-def tag) (tag-name world tag))
      (when (= (def-kind run def) (known "constructor")) (push (make-tag (tag-file tag) def) found)))
    (nreverse found)))

(defun accepts-p (world file site tag rule)
  "A call means a method, a construction a type."
  (declare (ignore rule))
  (let ((kind (tag-kind world tag)) (how (site-how (world-run world file) site)))
    (cond ((or (= how +construct+) (= how +super-call+)) (or (class-kind-p kind) (= kind (known "constructor"))))
          (t (= kind (known "method"))))))
