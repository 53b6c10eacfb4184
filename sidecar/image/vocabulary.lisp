;;;; The public query vocabulary: what code given to lisp_eval can ask. Each word is an ordinary
;;;; function that returns ordinary data, so that words compose with the rest of Lisp.

(defpackage #:opl.image.vocabulary
  (:nicknames #:opl)
  (:use #:cl)
  (:import-from #:opl.image.guard #:threads #:thread-output #:kill-thread)
  (:export #:define-query #:register #:help #:threads #:thread-output #:kill-thread))

(in-package #:opl.image.vocabulary)

(declaim (optimize (speed 1) (safety 1)))

(defstruct (word (:conc-name word-))
  (name nil :type symbol)
  (arguments '() :type list)
  (text "" :type string)
  (example "" :type string)
  (group "" :type string))

(defvar *words* '()
  "The words in the order of their definition.")

(defun register (name arguments text example group)
  "Make NAME, a function or macro, a word of the vocabulary; a later definition of the same name takes its place. ARGUMENTS, TEXT,
EXAMPLE and GROUP are what (help) shows."
  (let ((word (make-word :name name :arguments arguments :text text :example example :group group))
        (old (find name *words* :key #'word-name)))
    (unless (eq (symbol-package name) (find-package :opl.image.vocabulary))
      (import name :opl.image.vocabulary))
    (export name :opl.image.vocabulary)
    (setf *words* (if old
                      (substitute word old *words*)
                      (append *words* (list word))))
    name))

(defmacro define-query (name (&rest arguments) (&key example (group "Index")) documentation &body body)
  "Define NAME as a function of ARGUMENTS and as a word of the vocabulary. EXAMPLE is a call as text and
is shown by (help); DOCUMENTATION says what it returns, and what when nothing is found."
  (check-type documentation string)
  `(progn
     (register ',name ',arguments ,documentation ,(or example (format nil "(~(~A~))" name)) ,group)
     (defun ,name ,arguments ,documentation ,@body)))

(defun first-sentence (text)
  (let* ((flat (substitute #\Space #\Newline text))
         (end (search ". " flat)))
    (if end (subseq flat 0 (1+ end)) flat)))

(defun groups ()
  (remove-duplicates (mapcar #'word-group *words*) :test #'string= :from-end t))

(defun help-all ()
  (with-output-to-string (stream)
    (format stream "Words of the vocabulary; they return lists, and all of Common Lisp works on them.~%")
    (dolist (group (groups))
      (format stream "~%~A~%" group)
      (dolist (word *words*)
        (when (string= group (word-group word))
          (format stream "  ~40A ~A~%" (word-example word) (first-sentence (word-text word))))))
    (format stream "~%(help 'name) tells more of one word.")))

(defun help-one (name)
  (let ((word (find (string name) *words* :key #'word-name :test #'string-equal)))
    (if word
        (format nil "(~(~A~)~{ ~(~A~)~})~%~A~%Example: ~A" (word-name word) (word-arguments word)
                (word-text word) (word-example word))
        (format nil "No word ~(~A~). (help) lists them." name))))

(define-query help (&optional name) (:example "(help)" :group "Image")
  "Print what can be asked, each word with an example. With NAME, all about that word. Returns no value."
  (write-string (if name (help-one name) (help-all)))
  (terpri)
  (values))

(register 'threads '() (documentation 'threads 'function) "(threads)" "Image")
(register 'thread-output '(number) (documentation 'thread-output 'function) "(thread-output 1)" "Image")
(register 'kill-thread '(which) (documentation 'kill-thread 'function) "(kill-thread :all)" "Image")
