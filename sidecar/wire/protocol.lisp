;;;; protocol.tsv as Lisp sees it. DEFINE-OPERATION and EMIT are checked against the table while they are compiled, so that a sidecar which
;;;; does not keep the contract is not built.

(defpackage #:opl.wire.protocol
  (:use #:cl)
  (:import-from #:opl.wire.conditions #:fail)
  (:import-from #:opl.wire.fields
                #:octets #:line-buffer #:make-line-buffer #:line-buffer-fill
                #:put-octet #:put-text #:put-slice #:put-natural #:put-decimal #:put-name #:split-fields)
  (:export #:+protocol-version+ #:+sidecar-version+ #:limit #:error-codes #:operations #:operation-lane #:outside-rules
           #:define-operation #:run-operation #:defined-p
           #:emit #:slice #:progress #:check-cancelled
           #:reply #:make-reply #:reply-buffer #:reply-cancelled #:*reply*))

(in-package #:opl.wire.protocol)

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defun beside (relative)
    (merge-pathnames relative (or *compile-file-truename* *load-truename*)))

  (defun read-table (path)
    "The declarations of the table at PATH: a list of lists of strings."
    (with-open-file (in path :external-format :utf-8)
      (loop for line = (read-line in nil)
            while line
            unless (or (string= line "") (char= (char line 0) #\#))
              collect (let ((line (sb-ext:string-to-octets line :external-format :utf-8)))
                        (split-fields (coerce line 'octets) 0 (length line))))))

  (defun package-version (path)
    "The value of \"version\" in the package.json at PATH."
    (with-open-file (in path :external-format :utf-8)
      (loop for line = (read-line in)
            for key = (search "\"version\":" line)
            when key
              return (let* ((open (position #\" line :start (+ key 10))))
                       (subseq line (1+ open) (position #\" line :start (1+ open))))))))

(macrolet ((literal () `(defparameter *table* ',(read-table (beside "../../protocol/protocol.tsv"))
                          "The declarations of protocol.tsv, each a list of strings."))
           (version () `(defparameter +sidecar-version+ ,(package-version (beside "../../package.json"))
                          "The plugin's version, which is also the sidecar's.")))
  (eval-when (:compile-toplevel :load-toplevel :execute)
    (literal)
    (version)))

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defun declarations (kind &rest names)
    "What follows KIND and NAMES in each declaration that begins with them."
    (loop for declaration in *table*
          when (and (string= (first declaration) kind)
                    (loop for name in names for field in (rest declaration) always (string= name field)))
            collect (nthcdr (1+ (length names)) declaration)))

  (defun table-name (symbol) (string-downcase (symbol-name symbol)))

  (defun limit (name)
    "The number of the limit NAME (a string) of protocol.tsv."
    (parse-integer (first (first (declarations "limit" name)))))

  (defun operations () "The names of all operations, in table order." (mapcar #'first (declarations "operation")))

  (defun operation-lane (name) "The lane of the operation NAME (a string), or nothing." (first (first (declarations "operation" name))))

  (defun structure-names () (mapcar #'first (declarations "structure")))

  (defun structure-fields (name) "Name, type and meaning of each field of the structure NAME (a string)." (declarations "field" name))

  (defun outside-rules ()
    "(kind why patterns), strings, of the outside and unread rows, in the order in which they decide."
    (remove-if-not (lambda (row) (member (first row) '("outside" "unread") :test #'string=)) *table*))

  (defun error-codes () "All error codes as keywords." (mapcar (lambda (row) (intern (string-upcase (first row)) :keyword)) (declarations "error")))

  (defun enum-values (name) (mapcar (lambda (row) (intern (string-upcase (first row)) :keyword)) (declarations "enum" name)))

  (defun type-parts (type)
    "The plain name of TYPE and its suffix: #\\?, #\\* or nothing."
    (let ((last (char type (1- (length type)))))
      (if (find last "?*") (values (subseq type 0 (1- (length type))) last) (values type nil))))

  (defun allowed-rows (operation)
    "The bit set of the structures OPERATION may answer with."
    (let ((allowed (second (first (declarations "operation" operation)))))
      (loop for name in (structure-names) for bit from 0
            when (search (format nil " ~a " name) (format nil " ~a " allowed)) sum (ash 1 bit)))))

(defparameter +protocol-version+ (parse-integer (first (first (declarations "version" "protocol"))))
  "What the greeting says and the host compares.")

;;; A reply in the making

(defstruct reply
  "What a running operation writes its rows into."
  (id "" :type string)
  (operation "" :type string)
  (allowed 0 :type (unsigned-byte 62))
  (buffer (make-line-buffer) :type line-buffer)
  (flush #'identity :type function)
  (report (lambda (stage done total) (declare (ignore stage done total))) :type function)
  (cancelled nil))

(defvar *reply* nil "The reply of the operation that runs in this thread.")
(declaim (type (or null reply) *reply*))

(defconstant +flush-octets+ 65536 "Rows are written out when so many octets have gathered: a pipe's usual size.")

(defun check-cancelled ()
  "Ends the running operation when the host cancelled it. Long loops call it now and then; EMIT and PROGRESS do so themselves."
  (when (and *reply* (reply-cancelled *reply*))
    (fail :cancelled "The request was cancelled.")))

(defun progress (stage done total)
  "Tells the host that of TOTAL (0: unknown) steps of STAGE (a string) DONE are done. May be called often: the server thins it out."
  (check-cancelled)
  (when *reply*
    (funcall (reply-report *reply*) stage done total))
  nil)

(defun begin-row (bit name)
  (let ((reply *reply*))
    (unless reply (error "EMIT is called outside an operation."))
    (unless (logbitp bit (reply-allowed reply))
      (error "The operation ~a may not answer with ~a; see protocol.tsv." (reply-operation reply) name))
    (let ((buffer (reply-buffer reply)))
      (put-text buffer (reply-id reply))
      (put-octet buffer 9)
      (loop for character across "row" do (put-octet buffer (char-code character)))
      (put-octet buffer 9)
      (put-text buffer name)
      buffer)))

(defun end-row (buffer)
  (declare (type line-buffer buffer))
  (put-octet buffer 10)
  (when (> (line-buffer-fill buffer) +flush-octets+)
    (check-cancelled)
    (funcall (reply-flush *reply*) *reply*))
  nil)

(defun put-flag (buffer flag) (put-text buffer (if flag "true" "false")))

(defun put-enum (buffer keyword allowed name)
  (unless (member keyword allowed :test #'eq)
    (error "~s is no ~a; it is one of ~{~(~a~)~^, ~}." keyword name allowed))
  (put-name buffer keyword))

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defun put-form (type buffer value)
    "The form that appends VALUE (a symbol, or a list (slice octets start end) of symbols) of the table type TYPE to BUFFER."
    (multiple-value-bind (plain suffix) (type-parts type)
      (let ((put (cond ((consp value) `(put-slice ,buffer ,@(rest value)))
                       ((member plain '("text" "path") :test #'string=) `(put-text ,buffer ,value))
                       ((string= plain "natural") `(put-natural ,buffer ,value))
                       ((member plain '("integer" "decimal") :test #'string=) `(put-decimal ,buffer ,value))
                       ((string= plain "flag") `(put-flag ,buffer ,value))
                       (t `(put-enum ,buffer ,value ',(enum-values plain) ,plain)))))
        (case suffix
          (#\? (if (consp value) put `(when ,value ,put)))
          (#\* (let ((each (gensym)))
                 `(loop for ,each in ,value for first = t then nil
                        do (unless first (put-octet ,buffer 9))
                           ,(put-form plain buffer each))))
          (t put))))))

(defmacro emit (structure &rest values)
  "Appends a row of STRUCTURE (a name of protocol.tsv, quoted or not) with VALUES in the table's order to the running operation's reply.
Text is a string or octets of UTF-8; (slice octets start end) as a value writes a part of a vector; enums are keywords; a value of a ? type may be
nothing; a value of a * type is a list. Wrong names and wrong counts do not compile."
  (let* ((name (table-name (if (consp structure) (second structure) structure)))
         (fields (structure-fields name))
         (bit (position name (structure-names) :test #'string=))
         (bindings '()))
    (unless bit (error "protocol.tsv declares no structure ~a." name))
    (unless (= (length values) (length fields))
      (error "The structure ~a has the fields ~{~a~^, ~}; EMIT gives ~d values." name (mapcar #'first fields) (length values)))
    (flet ((once (form) (let ((variable (gensym))) (push (list variable form) bindings) variable)))
      (let ((places (loop for value in values
                          collect (if (and (consp value) (eq (first value) 'slice))
                                      (cons 'slice (mapcar #'once (rest value)))
                                      (once value))))
            (buffer (gensym "BUFFER")))
        ;; All values are computed before the row begins: an error in one leaves no half row.
        `(let* ,(reverse bindings)
           (let ((,buffer (begin-row ,bit ,name)))
             ,@(loop for (nil type) in fields for place in places
                     append (list `(put-octet ,buffer 9) (put-form type buffer place)))
             (end-row ,buffer)))))))

;;; Operations

(defvar *operations* (make-hash-table :test #'equal) "Name -> function of the argument fields.")

(defun decimal-value (text)
  "The rational that TEXT (digits, perhaps a sign, perhaps a point and digits) says, or nothing."
  (let* ((sign (if (and (plusp (length text)) (char= (char text 0) #\-)) 1 0))
         (point (or (position #\. text) (length text)))
         (digits (remove #\. (subseq text sign) :count 1)))
    (when (and (plusp (length digits)) (< sign point) (every (lambda (c) (char<= #\0 c #\9)) digits))
      (* (if (= sign 1) -1 1)
         (/ (parse-integer digits) (expt 10 (max 0 (- (length text) point 1))))))))

(defun decode-plain (type text argument)
  (flet ((wrong (wanted) (fail :bad-argument "The argument ~a must be ~a, not ~s." argument wanted text)))
    (cond ((member type '("text" "path") :test #'string=) text)
          ((string= type "natural")
           (if (and (plusp (length text)) (<= (length text) 15) (every (lambda (c) (char<= #\0 c #\9)) text))
               (parse-integer text)
               (wrong "a natural number")))
          ((string= type "integer")
           (or (ignore-errors (parse-integer text)) (wrong "an integer")))
          ((string= type "decimal")
           (or (decimal-value text) (wrong "a decimal number")))
          ((string= type "flag")
           (cond ((string= text "true") t) ((string= text "false") nil) (t (wrong "true or false"))))
          (t (or (find text (enum-values type) :test #'string-equal)
                 (wrong (format nil "one of ~{~(~a~)~^, ~}" (enum-values type))))))))

(defun decode-arguments (operation fields)
  "The values of FIELDS (strings) by the types that protocol.tsv gives the arguments of OPERATION."
  (let ((arguments (declarations "argument" operation)))
    (loop for (name type) in arguments
          for (plain suffix) = (multiple-value-list (type-parts type))
          collect (cond ((eql suffix #\*)
                         ;; One empty field is what an empty list looks like on a line.
                         (let ((rest (if (equal fields '("")) '() fields)))
                           (setf fields '())
                           (mapcar (lambda (field) (decode-plain plain field name)) rest)))
                        ((null fields)
                         (fail :bad-argument "~a wants the arguments ~{~a~^, ~}; ~a is missing." operation (mapcar #'first arguments) name))
                        ((and (eql suffix #\?) (string= (first fields) "")) (pop fields) nil)
                        (t (decode-plain plain (pop fields) name)))
            into values
          finally (when fields
                    (fail :bad-argument "~a wants the arguments ~{~a~^, ~}; there are ~d too many."
                          operation (mapcar #'first arguments) (length fields)))
                  (return values))))

(defun install-operation (name function)
  (setf (gethash name *operations*) function))

(defmacro define-operation (name (&rest arguments) documentation &body body)
  "Defines what the operation NAME does with its ARGUMENTS, which are those of protocol.tsv in their order and arrive by its types (text and path:
strings; natural: integers; flag: true or nothing; enums: keywords; ?: nothing when empty; *: a list). BODY answers with EMIT; its value is not used.
A name or argument that the table does not have is an error while compiling."
  (let* ((operation (table-name name))
         (wanted (mapcar #'first (declarations "argument" operation))))
    (check-type documentation string)
    (unless (operation-lane operation)
      (error "protocol.tsv declares no operation ~a." operation))
    (unless (equal wanted (mapcar #'table-name arguments))
      (error "protocol.tsv gives the operation ~a the arguments (~{~a~^ ~}), not (~{~(~a~)~^ ~})." operation wanted arguments))
    `(install-operation ,operation
                        (lambda ,arguments
                          ,documentation
                          (declare (ignorable ,@arguments))
                          ,@body))))

(defun defined-p (operation)
  "True when this build defines OPERATION (a string)."
  (and (gethash operation *operations*) t))

(defun run-operation (reply operation fields)
  "Runs OPERATION (a string) with FIELDS (strings) in this thread; its rows go into REPLY. Signals a FAULT for what the host did wrong."
  (unless (operation-lane operation)
    (fail :unknown-operation "There is no operation ~s; host and sidecar are of different builds: reinstall the plugin." operation))
  (let ((function (gethash operation *operations*))
        (values (decode-arguments operation fields)))
    (unless function
      (fail :not-implemented "This build does not have ~a yet." operation))
    (setf (reply-operation reply) operation
          (reply-allowed reply) (allowed-rows operation))
    (let ((*reply* reply))
      (apply function values)
      nil)))
