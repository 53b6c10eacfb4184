;;;; The world: what resolution reads. The runs of all files with lookups over them: definitions by name,
;;;; bindings by scope and name, members of a definition, exports of a file. A view of one file is built when
;;;; first asked for; whatever is stored here can be computed again from the runs, so that two threads that
;;;; build the same view at once do no harm.

(defpackage #:opl.graph.world
  (:use #:cl #:opl.source.facts)
  (:local-nicknames (#:store #:opl.index.store))
  (:import-from #:opl.index.store #:tag #:tag-file #:tag-def)
  (:import-from #:opl.source.language #:language-family)
  (:import-from #:opl.source.names #:u32-vector #:make-u32 #:+none+ #:known #:name-string)
  (:import-from #:opl.source.columns #:run)
  (:export #:world #:world-of #:world-index #:do-world-files #:world-names #:world-file-count #:world-path #:world-file-number #:world-run
           #:world-family
           #:tag #:make-tag #:tag-file #:tag-def #:tag-name #:tag-kind #:tag-flags #:tag-line #:tag-parent
           #:do-named #:do-files-in-directory #:directory-of #:files-in-directory
           #:view #:view-of #:view-run #:view-values #:view-types #:view-def-values
           #:find-parameter #:find-type-parameter #:view-imports #:view-holders
           #:find-binding #:last-binding #:do-bindings-named #:do-members #:find-export
           #:do-exports #:scope-class #:name-text #:remembered #:do-marks))
(in-package #:opl.graph.world)

(declaim (optimize (speed 1) (safety 1)))

(declaim (inline make-tag))
(defun make-tag (file def)
  "The tag of definition DEF (an ordinal) of file number FILE."
  (store:tag file def))

(defstruct (world (:constructor %make-world))
  (index nil :type store:index)
  (names nil :type opl.source.names:names)
  (runs #() :type simple-vector)                 ; run or nil
  (families #() :type simple-vector)             ; keyword of the extractor, or nil
  (views #() :type simple-vector)
  (shared '() :type list)                        ; (keyword . value), what is computed once for all of it
  (memo (make-hash-table :test 'equal :synchronized t)))

(defmethod print-object ((world world) stream)
  (print-unreadable-object (world stream :type t) (format stream "~A" (world-index world))))

(declaim (inline world-path world-run world-family))
(defun world-path (world file)
  "The path of file number FILE, or nil once the file is gone."
  (store:index-path (world-index world) file))
(defun world-run (world file)
  "The facts of file number FILE, which must be live."
  (the run (svref (world-runs world) file)))
(defun world-family (world file)
  "The family of the language of file number FILE, a keyword, or nil."
  (svref (world-families world) file))
(defun world-file-count (world)
  "One more than the greatest file number; some numbers have no run."
  (length (world-runs world)))
(defun world-file-number (world path)
  "The number of the file at PATH, or nil."
  (store:index-file-number (world-index world) path))

(defun directory-of (path)
  "PATH up to its last slash, without it; the empty string at the root."
  (let ((slash (position #\/ path :from-end t))) (if slash (subseq path 0 slash) "")))
(defmacro do-files-in-directory ((file) (world directory) &body body)
  "BODY for each file right in DIRECTORY, in order of path."
  `(store:do-files-in-directory (,file) ((world-index ,world) ,directory) ,@body))
(defun files-in-directory (world directory)
  "Numbers of the files right in DIRECTORY, in order of path."
  (let ((found '())) (do-files-in-directory (file) (world directory) (push file found)) (nreverse found)))
(defmacro do-world-files ((file) (world) &body body)
  "BODY for each file, in order of path."
  `(store:do-files (,file) ((world-index ,world)) ,@body))

(defmacro do-named ((tag) (world name) &body body)
  "BODY for each definition called NAME, files in order of path."
  (let ((file (gensym)) (def (gensym)))
    `(store:do-definitions (,file ,def) ((world-index ,world) ,name)
       (let ((,tag (make-tag ,file ,def))) ,@body))))

(defun make-world (index)
  "The world of INDEX, which is published and stays as it is. Nothing is read until asked for."
  (let ((languages (store:index-languages index)))
    (%make-world :index index :names (store:index-names index) :runs (store:index-runs index)
                 :families (map 'simple-vector (lambda (language) (and language (language-family language))) languages)
                 :views (make-array (length (store:index-runs index)) :initial-element nil))))

(defun world-of (index)
  "The world of INDEX, made when first asked for."
  (store:memo (index :world) (make-world index)))

(defun name-text (world name)
  "The string of name number NAME."
  (name-string (world-names world) name))

(defun keep-shared (world key value)
  "Keeps VALUE under KEY unless another thread has kept one meanwhile; the one kept. What is computed from it may be compared by eq."
  (loop
    (let* ((old (world-shared world)) (found (assoc key old :test #'eq)))
      (when found (return (cdr found)))
      (when (eq old (sb-ext:compare-and-swap (world-shared world) old (acons key value old))) (return value)))))

(defun keep-first (key table value)
  "The same in TABLE."
  (sb-ext:with-locked-hash-table (table)
    (multiple-value-bind (kept found) (gethash key table)
      (if found kept (setf (gethash key table) value)))))

(defmacro remembered ((world &rest key) &body body)
  "The value of BODY, kept in WORLD under KEY, a keyword and what it is asked for (compared by equal), from then on. What is kept
under a keyword alone is asked for at every call site: it is found without a lock."
  (let ((k (gensym)) (value (gensym)) (found (gensym)) (table (gensym)))
    (when (null (rest key))
      (return-from remembered
        `(let ((,found (assoc ,(first key) (world-shared ,world) :test #'eq)))
           (if ,found
               (cdr ,found)
               (keep-shared ,world ,(first key) (progn ,@body))))))
    `(let ((,k (list ,@key)) (,table (world-memo ,world)))
       (multiple-value-bind (,value ,found) (gethash ,k ,table)
         (if ,found ,value (keep-first ,k ,table (progn ,@body)))))))

;;; Reading a definition by its tag

(macrolet ((define (name reader)
             `(defun ,name (world tag)
                (declare (type world world) (type tag tag))
                (,reader (world-run world (tag-file tag)) (tag-def tag)))))
  (define tag-name def-name)
  (define tag-kind def-kind)
  (define tag-flags def-flags)
  (define tag-line def-line))
(defun tag-parent (world tag)
  "The tag of the definition that TAG stands in, or nil."
  (let ((parent (def-parent (world-run world (tag-file tag)) (tag-def tag))))
    (and (/= parent +none+) (make-tag (tag-file tag) parent))))

;;; Tables from two numbers to the rows that bear them: open addressing to the first row, then a chain.

(defstruct (pairs (:constructor make-pairs (slots next)))
  (slots (make-u32 1) :type u32-vector)          ; 1 + row, 0 is empty
  (next (make-u32 0) :type u32-vector))          ; the next row of the same pair, or +none+

(declaim (inline pair-hash))
(defun pair-hash (a b)
  (declare (type (unsigned-byte 32) a b))
  (let ((h (ldb (byte 32 0) (* 2654435761 (logxor (ldb (byte 32 0) (* a 40503)) b)))))
    (logxor h (ash h -15))))

(defmacro define-pairs (builder finder (count a b) documentation)
  "BUILDER makes the table of a run, FINDER the first row of a pair in it."
  `(progn
     (defun ,builder (run)
       (let* ((count (,count run)) (size (loop for s = 8 then (* 2 s) when (> s (* 2 count)) return s))
              (slots (make-u32 size)) (next (make-u32 count +none+)) (mask (1- size)))
         (declare (type u32-vector slots next) (type fixnum size mask) (optimize (speed 2) (safety 0)))
         (loop for row of-type fixnum from (1- count) downto 0
               do (let* ((a (,a run row)) (b (,b run row)) (slot (logand mask (pair-hash a b))))
                    (declare (type fixnum slot))
                    (loop
                      (let ((head (aref slots slot)))
                        (when (zerop head) (return))
                        (when (and (= a (,a run (1- head))) (= b (,b run (1- head))))
                          (setf (aref next row) (1- head))
                          (return))
                        (setf slot (logand mask (1+ slot)))))
                    (setf (aref slots slot) (1+ row))))
         (make-pairs slots next)))
     (defun ,finder (pairs run a b)
       ,documentation
       (declare (type pairs pairs) (type (unsigned-byte 32) a b) (optimize (speed 2) (safety 0)))
       (let* ((slots (pairs-slots pairs)) (mask (1- (length slots))) (slot (logand mask (pair-hash a b))))
         (declare (type fixnum slot mask))
         (loop
           (let ((head (aref slots slot)))
             (when (zerop head) (return nil))
             (when (and (= a (,a run (1- head))) (= b (,b run (1- head)))) (return (1- head)))
             (setf slot (logand mask (1+ slot)))))))))

(declaim (inline exported-zero))
(defun exported-zero (run row) (declare (ignore run row)) 0)

(define-pairs build-bindings first-binding (binding-count binding-scope binding-name)
  "The first binding of name B in scope A, or nil.")
(define-pairs build-members first-member (def-count def-parent def-name)
  "The first definition called B that stands in definition A (+none+: in none), or nil.")
(declaim (inline parameter-scope))
(defun parameter-scope (run binding)
  (let ((kind (binding-kind run binding)))
    (if (or (= kind +parameter+) (= kind +rest-parameter+) (= kind +optional-parameter+)) (binding-scope run binding) +none+)))
(define-pairs build-parameters first-parameter (binding-count parameter-scope binding-index)
  "The parameter number B of the function whose scope is A, or nil.")
(declaim (inline type-parameter-scope))
(defun type-parameter-scope (run binding)
  (if (= (binding-kind run binding) +type-parameter+) (binding-scope run binding) +none+))
(define-pairs build-type-parameters first-type-parameter (binding-count type-parameter-scope binding-index)
  "The type parameter number B of scope A, or nil.")
(define-pairs build-exports first-export (exported-count exported-zero exported-name)
  "The first export called B, or nil.")

;;; Views

(defstruct (view (:constructor make-view (file run bindings members parameters type-parameters exports holders values types def-values imports)))
  (file 0 :type (unsigned-byte 30))
  (run nil :type run)
  (bindings nil :type pairs)
  (members nil :type pairs)
  (parameters nil :type pairs)
  (type-parameters nil :type pairs)
  (exports nil :type pairs)
  (holders #* :type simple-bit-vector)           ; definitions that others, not local ones, stand in
  (values #() :type simple-vector)               ; node -> its value as an expression; 0 where not yet known
  (types #() :type simple-vector)                ; node -> its value as a type
  (def-values #() :type simple-vector)
  (imports #() :type simple-vector))             ; import -> what it means

(defun view-of (world file)
  "The lookups of FILE, built when first asked for."
  (declare (type world world))
  (or (svref (world-views world) file)
      (let ((run (world-run world file)))
        (setf (svref (world-views world) file)
              (flet ((memo (size) (make-array size :initial-element 0)))
                (make-view file run (build-bindings run) (build-members run) (build-parameters run) (build-type-parameters run)
                           (build-exports run)
                           (holders run) (memo (node-count run)) (memo (node-count run)) (memo (def-count run))
                           (memo (import-count run))))))))

(defun holders (run)
  (let ((bits (make-array (def-count run) :element-type 'bit :initial-element 0)))
    (dotimes (def (def-count run) bits)
      (let ((parent (def-parent run def)))
        (unless (or (= parent +none+) (logtest +local+ (def-flags run def))) (setf (aref bits parent) 1))))))

(defun find-type-parameter (view scope index)
  "Type parameter number INDEX bound right in SCOPE, or nil."
  (first-type-parameter (view-type-parameters view) (view-run view) scope index))

(defun find-parameter (view scope index)
  "Parameter number INDEX of the function whose scope is SCOPE, or its rest parameter; nil when it has neither.
Second value: whether it is the rest."
  (let ((run (view-run view)))
    (loop for i from index downto 0
          for binding = (first-parameter (view-parameters view) run scope i)
          do (when binding
               (let ((rest-p (= (binding-kind run binding) +rest-parameter+)))
                 (if (or rest-p (= i index)) (return (values binding rest-p)) (return nil)))))))

(declaim (inline find-binding next-binding))
(defun find-binding (view scope name)
  "The first binding of NAME right in SCOPE, or nil."
  (first-binding (view-bindings view) (view-run view) scope name))
(defun next-binding (view binding)
  "The next binding of the same name in the same scope, or nil."
  (let ((next (aref (pairs-next (view-bindings view)) binding))) (and (/= next +none+) next)))

(defmacro do-bindings-named ((binding) (view scope name) &body body)
  "BODY for each binding of NAME right in SCOPE, in file order."
  (let ((v (gensym)))
    `(let ((,v ,view))
       (loop for ,binding = (find-binding ,v ,scope ,name) then (next-binding ,v ,binding)
             while ,binding do (progn ,@body)))))

(defun last-binding (view scope name)
  "The last binding of NAME right in SCOPE, or nil."
  (let ((last nil)) (do-bindings-named (binding) (view scope name) (setf last binding)) last))

(defmacro do-members ((def) (view parent name) &body body)
  "BODY for each definition called NAME that stands in definition PARENT (+none+: in none), in file order."
  (let ((v (gensym)) (next (gensym)))
    `(let* ((,v ,view))
       (loop with ,next = (pairs-next (view-members ,v))
             for ,def = (first-member (view-members ,v) (view-run ,v) ,parent ,name)
               then (let ((n (aref ,next ,def))) (and (/= n +none+) n))
             while ,def do (progn ,@body)))))

(defun find-export (view name)
  "The first export called NAME, or nil."
  (first-export (view-exports view) (view-run view) 0 name))
(defmacro do-exports ((row) (view name) &body body)
  "BODY for each export called NAME, in file order."
  (let ((v (gensym)) (next (gensym)))
    `(let* ((,v ,view))
       (loop with ,next = (pairs-next (view-exports ,v))
             for ,row = (find-export ,v ,name)
               then (let ((n (aref ,next ,row))) (and (/= n +none+) n))
             while ,row do (progn ,@body)))))

(defmacro do-marks ((value more) (run key) &body body)
  "BODY for each mark with KEY in RUN, in order."
  (let ((r (gensym)) (k (gensym)) (i (gensym)))
    `(let ((,r ,run) (,k ,key))
       (dotimes (,i (mark-count ,r))
         (when (= (mark-key ,r ,i) ,k)
           (let ((,value (mark-value ,r ,i)) (,more (mark-more ,r ,i)))
             (declare (ignorable ,value ,more))
             ,@body))))))

(defun scope-class (run scope)
  "The ordinal of the innermost class-like definition whose body SCOPE is in, or nil."
  (loop repeat 200
        until (= scope +none+)
        do (when (and (= (scope-kind run scope) +class-scope+) (/= (scope-def run scope) +none+))
             (return (scope-def run scope)))
           (setf scope (scope-parent run scope))))
