;;;; Reading: the state of a recursive-descent extractor as it goes over one file's tokens, and the small
;;;; steps that such extractors share: looking at tokens, making nodes, opening scopes, ending definitions.

(defpackage #:opl.languages.reading
  (:use #:cl)
  (:import-from #:opl.source.names #:+none+ #:known #:u32-vector #:octets #:intern-octets #:intern-string #:name-string)
  (:import-from #:opl.source.tokens #:tokens #:tokens-octets #:tokens-count #:tokens-starts #:tokens-size
                #:token-kind #:token-name #:token-line #:token-start #:token-end #:token-mate #:token-end-line
                #:token-is #:+identifier+ #:+string+ #:string-content)
  (:import-from #:opl.source.facts #:add-def #:add-scope #:add-binding #:add-node #:add-site #:add-mark #:add-exported
                #:draft-def-end #:draft-def-body #:draft-def-flags #:draft-def-from #:draft-def-to #:+defined+ #:draft-site-callee
                #:+module-scope+ #:+op-cons+ #:+op-name+ #:+op-member+ #:+op-call+ #:+op-literal+ #:+has-body+
                #:add-test #:add-import #:+imported+ #:draft-def-name #:draft-def-kind #:draft-def-parent #:draft-def-line)
  (:export #:reading #:make-reading #:reading-tokens #:reading-facts #:reading-names #:reading-p #:reading-limit
           #:reading-scope #:reading-home #:reading-def #:reading-owner #:reading-depth #:reading-test
           #:start-reading #:is #:name-at #:kind-at #:line-at #:mate-at #:identifier-at-p #:closer #:last-line
           #:node #:name-node #:member-node #:literal-node #:cell #:reverse-cells
           #:define #:end-definition #:open-scope #:bind #:site #:mark #:text-of #:intern-text #:column #:mark-test
           #:too-deep-p #:with-depth #:adjacent-p #:flag #:name-begins-p #:octet-in #:signature-end #:with-definition
           #:+longest-signature+ #:capitalised-p #:path-name-of
           #:within-bracket #:line-begins-p #:words-name #:preserving #:add-imported
           #:index #:define-steps #:walk-with #:over-string))
(in-package #:opl.languages.reading)
(declaim (optimize (speed 2) (safety 1)) (sb-ext:muffle-conditions sb-ext:compiler-note))

(deftype index () '(integer 0 #.(ash most-positive-fixnum -2)))
(deftype node () '(unsigned-byte 32))

(defstruct (reading (:predicate nil))
  (tokens (error "tokens") :type tokens)
  (facts #() :type simple-vector)
  (names nil)
  (path "" :type string)
  (p 0 :type index)                     ; the token in hand
  (limit 0 :type index)                 ; first token that is not to be read now
  (scope 0 :type (unsigned-byte 32))    ; names are read in it
  (home 0 :type (unsigned-byte 32))     ; names are bound in it (functions, classes: blocks do not count everywhere)
  (def +none+ :type (unsigned-byte 32)) ; innermost definition around
  (owner +none+ :type (unsigned-byte 32)) ; innermost class or module around, when directly inside it
  (test +none+ :type (unsigned-byte 32)) ; innermost suite of tests around
  (depth 0 :type fixnum)                ; of recursion
  (quiet nil))                          ; the value of the expression in hand is of no use to anyone

(defconstant +deepest-nesting+ 300
  "Brackets or blocks within one another beyond which code is skipped: hand-written code stays below 30, the
control stack of a thread holds several thousand frames.")

(defun start-reading (tokens facts names path)
  "A reading at the first token, with the module's scope added as scope 0."
  (add-scope facts +none+ +module-scope+ +none+)
  (make-reading :tokens tokens :facts facts :names names :path path :limit (tokens-count tokens)))

(declaim (inline name-at kind-at line-at mate-at identifier-at-p))
(defun name-at (r i)
  "The name of token I, a local number, or +none+."
  (token-name (reading-tokens r) i))
(defun kind-at (r i)
  "The kind of token I; outside the file one that no token has."
  (token-kind (reading-tokens r) i))
(defun line-at (r i)
  "The line of token I, from 1; 0 outside the file."
  (token-line (reading-tokens r) i))
(defun mate-at (r i)
  "The bracket that token I closes or is closed by, or +none+."
  (token-mate (reading-tokens r) i))
(defun identifier-at-p (r i)
  "Whether token I is an identifier; keywords are identifiers as well."
  (= (token-kind (reading-tokens r) i) +identifier+))

(defmacro is (r i &rest literals)
  "Whether token I reads as one of LITERALS."
  `(token-is (reading-tokens ,r) ,i ,@literals))

(declaim (inline closer))
(defun closer (r i)
  "The token that closes the bracket at I; the limit when it is left open or is no bracket."
  (declare (type reading r) (type index i))
  (let ((mate (token-mate (reading-tokens r) i)))
    (if (and (/= mate +none+) (> mate i) (< mate (reading-limit r))) mate (reading-limit r))))

(defun last-line (r i)
  "The line on which the token before I ends."
  (declare (type reading r) (type index i))
  (if (zerop i) 1 (token-end-line (reading-tokens r) (1- i))))

(declaim (inline octet-in))
(defun octet-in (r offset)
  "The octet at OFFSET of the file, or 0 behind its end."
  (declare (type reading r) (type index offset))
  (let ((tokens (reading-tokens r)))
    (if (< offset (tokens-size tokens)) (aref (tokens-octets tokens) offset) 0)))

(defun adjacent-p (r i)
  "Whether nothing stands between token I and the one before."
  (declare (type reading r) (type index i))
  (and (plusp i) (= (token-end (reading-tokens r) (1- i)) (token-start (reading-tokens r) i))))

(defun column (r i)
  "The column of token I, tabs going on to the next multiple of eight."
  (declare (type reading r) (type index i) (optimize (speed 3) (safety 0)))
  (let* ((tokens (reading-tokens r)) (octets (tokens-octets tokens)) (start (token-start tokens i)) (from start))
    (declare (type octets octets) (type index start from))
    (loop while (and (plusp from) (/= (aref octets (1- from)) 10)) do (decf from))
    (let ((column 0))
      (declare (type index column))
      (loop for j of-type index from from below start
            do (if (= (aref octets j) 9)
                   (setf column (* 8 (1+ (floor column 8))))
                   (incf column)))
      column)))

(defun text-of (r i)
  "The text of token I; of a string, what stands between the quotes."
  (if (= (kind-at r i) +string+)
      (string-content (reading-tokens r) i)
      (opl.source.tokens:token-text (reading-tokens r) i)))

(defun intern-text (r text)
  "The number of TEXT in the names, added when new."
  (intern-string (reading-names r) text))

(defun name-begins-p (r name octet)
  "Whether the first octet of NAME is OCTET."
  (let ((names (reading-names r)))
    (and (/= name +none+) (plusp (the index (opl.source.names:name-length names name)))
         (= octet (the (unsigned-byte 8) (opl.source.names:name-octet names name 0))))))

(defun capitalised-p (r name)
  "Whether NAME begins with a capital letter, underscores left aside."
  (let ((names (reading-names r)))
    (and (/= name +none+)
         (loop for i of-type index below (the index (opl.source.names:name-length names name))
               for octet of-type (unsigned-byte 8) = (opl.source.names:name-octet names name i)
               do (cond ((<= 65 octet 90) (return t))
                        ((/= octet 95) (return nil)))))))

(defun path-name-of (r)
  "The name of the file that is read, without its folders."
  (let ((path (reading-path r))) (subseq path (1+ (or (position #\/ path :from-end t) -1)))))

;;; Facts

(declaim (inline node name-node member-node literal-node))
(defun node (r op &optional (a +none+) (b +none+) (c +none+))
  "The number of a new expression node; what A, B and C mean, OP says (see facts.lisp)."
  (add-node (reading-facts r) op a b c))
(defun name-node (r name)
  "The node of NAME as seen from the present scope."
  (add-node (reading-facts r) +op-name+ name (reading-scope r) +none+))
(defun member-node (r object name &optional (static +none+))
  "The node of NAME in OBJECT, a node; STATIC is not +none+ where it belongs to the class itself."
  (add-node (reading-facts r) +op-member+ object name static))
(defun literal-node (r type)
  "The node of a literal whose type is the name TYPE."
  (add-node (reading-facts r) +op-literal+ type +none+ +none+))

(defun cell (r node next)
  "The node of a list whose first is NODE; NEXT is the rest or +none+."
  (add-node (reading-facts r) +op-cons+ node next +none+))

(defun reverse-cells (r cells)
  "CELLS were added last first; turns their order in place. The first cell."
  (declare (type (unsigned-byte 32) cells))
  (let ((facts (reading-facts r)) (before +none+))
    (loop until (= cells +none+)
          do (let ((next (opl.source.facts:draft-node-b facts cells)))
               (setf (opl.source.facts:draft-node-b facts cells) before before cells cells next)))
    before))

(defun open-scope (r kind &optional (def +none+))
  "A scope inside the one in hand; its number. Does not enter it."
  (add-scope (reading-facts r) (reading-scope r) kind def))

(defun bind (r name kind &key (scope (reading-home r)) (type +none+) (value +none+) (target +none+) (index 0))
  "The number of a new binding of NAME, in the home of the present scope unless SCOPE says otherwise."
  (add-binding (reading-facts r) scope name kind type value target index))

(defun mark (r key value &optional (more 0))
  "Notes VALUE and MORE under KEY, which families read by `do-marks'."
  (add-mark (reading-facts r) key value more))

(defconstant +longest-signature+ 200 "Octets of a declaration that are shown.")

(defun signature-end (r from token)
  "Offset where a signature ends that begins at offset FROM and is followed by TOKEN."
  (declare (type index from token))
  (let ((end (if (zerop token) from (token-end (reading-tokens r) (1- token)))))
    (declare (type index end))
    (max from (min end (+ from +longest-signature+)))))

(defun define (r name kind token &key (flags 0) (parent (reading-owner r)) (scope (reading-home r)) (type +none+)
                                   (from token) (line (line-at r token)) (end +none+) (bind t) (value +none+))
  "A definition of NAME whose name is TOKEN and whose text begins at token FROM, bound in SCOPE unless BIND is
nil; its ordinal."
  (declare (type index token from))
  (let* ((tokens (reading-tokens r)) (start (token-start tokens from))
         (def (add-def (reading-facts r) name kind line end parent scope +none+ type flags start
                       (max start (min (+ start +longest-signature+) (token-end tokens token)))
                       (token-start tokens token))))
    (when bind (add-binding (reading-facts r) scope name +defined+ type value def 0))
    def))

(defun flag (r def flags)
  "Adds the bits FLAGS to definition DEF."
  (setf (draft-def-flags (reading-facts r) def) (logior flags (draft-def-flags (reading-facts r) def))))

(defun end-definition (r def line)
  "DEF has a body that ends on LINE."
  (setf (draft-def-end (reading-facts r) def) line)
  (flag r def +has-body+)
  def)

(defmacro with-definition ((r def scope &key (owner +none+) (home scope)) &body body)
  "Runs BODY inside DEF, whose body opens SCOPE."
  (let ((g (gensym "R")) (d (gensym)) (s (gensym)) (h (gensym)) (o (gensym)))
    `(let* ((,g ,r) (,d (reading-def ,g)) (,s (reading-scope ,g)) (,h (reading-home ,g)) (,o (reading-owner ,g)))
       (setf (reading-def ,g) ,def (reading-scope ,g) ,scope (reading-home ,g) ,home (reading-owner ,g) ,owner)
       (setf (draft-def-body (reading-facts ,g) (reading-def ,g)) ,scope)
       (multiple-value-prog1 (progn ,@body)
         (setf (reading-def ,g) ,d (reading-scope ,g) ,s (reading-home ,g) ,h (reading-owner ,g) ,o)))))

(defun site (r name line how callee &key (arity +none+) (arguments +none+) (def (reading-def r)))
  "A call site; its ordinal."
  (add-site (reading-facts r) name line (reading-scope r) def callee how arity arguments))

(defun mark-test (r name line)
  "A test or suite of tests called NAME within the suite in hand; its ordinal. Its end is set later."
  (add-test (reading-facts r) name line line (reading-test r)))

;;; Depth

(declaim (inline too-deep-p))
(defun too-deep-p (r)
  "Whether expressions are nested so deeply that they are stepped over rather than read."
  (> (reading-depth r) +deepest-nesting+))

(defmacro with-depth ((r &optional otherwise) &body body)
  "Runs BODY, which may not be left but at its end, one level deeper; beyond the deepest level OTHERWISE instead."
  (let ((g (gensym "R")))
    `(let ((,g ,r))
       (if (too-deep-p ,g)
           ,otherwise
           (progn
             (incf (reading-depth ,g))
             (multiple-value-prog1 (progn ,@body) (decf (reading-depth ,g))))))))

;;; Walking

(defmacro preserving ((r &rest slots) &body body)
  "Runs BODY and gives SLOTS (readers of R) their values back."
  (let ((g (gensym "R")) (vars (loop for nil in slots collect (gensym))))
    `(let* ((,g ,r) ,@(loop for var in vars for slot in slots collect `(,var (,slot ,g))))
       (multiple-value-prog1 (progn ,@body)
         (setf ,@(loop for var in vars for slot in slots append `((,slot ,g) ,var)))))))

(defmacro within-bracket ((r open) &body body)
  "Runs BODY with the limit at the mate of the bracket at OPEN and the position after the bracket; then goes on
after the mate."
  (let ((g (gensym "R")) (o (gensym)) (close (gensym)) (limit (gensym)))
    `(let* ((,g ,r) (,o ,open) (,close (closer ,g ,o)) (,limit (reading-limit ,g)))
       (declare (type index ,o ,close ,limit))
       (setf (reading-p ,g) (1+ ,o) (reading-limit ,g) ,close)
       (multiple-value-prog1 (progn ,@body)
         (setf (reading-limit ,g) ,limit
               (reading-p ,g) (if (< ,close ,limit) (1+ ,close) ,limit))))))

(defmacro define-steps (p limit advance r)
  "Names an extractor's steps: P and LIMIT, the position and the limit of the reading that the code around calls R, and ADVANCE, a
function that goes past the token in hand."
  `(progn
     (defmacro ,p () '(reading-p ,r))
     (defmacro ,limit () '(reading-limit ,r))
     (defun ,advance (,r) (incf (reading-p ,r)))))

(defun walk-with (item r)
  "Calls ITEM, a function of R and a position, at one place after another up to the limit; what it leaves where it is, is stepped over."
  (declare (type function item) (type reading r))
  (with-depth (r)
    (loop while (< (reading-p r) (reading-limit r))
          do (let ((from (reading-p r)))
               (funcall item r from)
               (when (= (reading-p r) from) (incf (reading-p r)))))))

(defmacro over-string ((r advance) &body interpolation)
  "Goes past the string in hand by ADVANCE, a function of R, and runs INTERPOLATION at the `${' of each piece of code in it."
  (let ((mate (gensym "MATE")) (last (gensym "LAST")))
    `(let ((,mate (mate-at ,r (reading-p ,r))))
       (if (or (= ,mate +none+) (< ,mate (reading-p ,r)))
           (,advance ,r)
           (let ((,last (min ,mate (reading-limit ,r))))
             (declare (type index ,last))
             (,advance ,r)
             (loop while (< (reading-p ,r) ,last)
                   do (if (is ,r (reading-p ,r) "${") (progn ,@interpolation) (,advance ,r)))
             (setf (reading-p ,r) ,last)
             (when (< ,last (reading-limit ,r)) (,advance ,r)))))))

(defun line-begins-p (r i)
  "Whether token I begins a line and no backslash joins it to the one before."
  (declare (type reading r) (type index i))
  (or (zerop i)
      (and (/= (line-at r i) (line-at r (1- i)))
           (> (the index (line-at r i)) (the index (last-line r i)))
           (not (is r (1- i) "\\")))))

(defun words-name (r from to)
  "The name that the adjacent tokens [FROM, TO) write together."
  (declare (type reading r) (type index from to))
  (let ((tokens (reading-tokens r)))
    (if (= to (1+ from))
        (if (/= (name-at r from) +none+) (name-at r from)
            (intern-octets (reading-names r) (tokens-octets tokens) (token-start tokens from) (token-end tokens from)))
        (intern-octets (reading-names r) (tokens-octets tokens) (token-start tokens from) (token-end tokens (1- to))))))

(defun add-imported (r local name module flags line)
  "An import, and the binding of LOCAL to it unless that is `nothing'."
  (let ((import (add-import (reading-facts r) local name module (reading-home r) flags line)))
    (unless (= local +none+) (bind r local +imported+ :target import))
    import))
