;;;; Ruby's definitions: methods, classes and modules, constants, and what methods of Module and of the test
;;;; frameworks declare. Shares the package of ruby.lisp.

(in-package #:opl.languages.ruby)

(defun class-body (r def read)
  "Runs READ inside DEF, a class or module, whose scope is opened here."
  (declare (type ruby r) (type function read))
  (let ((scope (open-scope r +class-scope+ def)))
    (preserving (r ruby-static ruby-hidden ruby-locals ruby-method ruby-no-do)
      (setf (ruby-static r) nil (ruby-hidden r) nil (ruby-locals r) '() (ruby-method r) +none+ (ruby-no-do r) nil)
      (with-definition (r def scope :owner def) (funcall read)))
    (end-definition r def (last-line r (p)))))

;;; Methods

(defun method-name (r)
  "The name of the method in hand after `def' and its receiver: its number; the position is after it."
  (declare (type ruby r))
  (let* ((i (p)) (tokens (reading-tokens r)) (end i))
    (declare (type index i end))
    (cond
      ((identifier-at-p r i)
       (setf end (1+ i))
       (when (and (is r end "=") (adjacent-p r end) (or (is r (1+ end) "(") (identifier-at-p r (1+ end))) )
         (setf end (1+ end))))
      (t (setf end (1+ i))
         (loop while (and (< end (limit)) (adjacent-p r end) (not (is r end "(")) (not (identifier-at-p r end))
                          (< end (+ i 4)))
               do (incf end))))
    (setf (p) end)
    (if (= end (1+ i))
        (if (identifier-at-p r i) (name-at r i)
            (intern-octets (reading-names r) (tokens-octets tokens) (token-start tokens i) (token-end tokens i)))
        (intern-octets (reading-names r) (tokens-octets tokens) (token-start tokens i) (token-end tokens (1- end))))))

(defun definition (r want)
  "def name, def self.name, def object.name"
  (declare (type ruby r) (ignore want))
  (let* ((from (p)) (i (1+ from)) (static (ruby-static r)) (facts (reading-facts r)))
    (declare (type index from i))
    (setf (p) i)
    (when (and (identifier-at-p r i) (is r (1+ i) "." "::") (adjacent-p r (1+ i)))
      (setf static t (p) (+ i 2)))
    (when (is r (p) "(")                ; def (expression).name
      (setf static t (p) (+ 2 (the index (closer r (p))))))
    (unless (more-p r) (return-from definition +none+))
    (let* ((at (p)) (name (method-name r)) (owner (reading-owner r))
           (def (define r name (cond ((= owner +none+) (if static (known "method") (known "function")))
                                     ((and (= name (known "initialize")) (not static)) (known "constructor"))
                                     (t (known "method")))
                  at :from from :parent owner
                     :flags (logior (if static +static+ 0) (if (ruby-hidden r) +private+ +exported+))))
           (scope (open-scope r +function-scope+ def)))
      (test-method r def name at)
      (preserving (r ruby-locals ruby-method ruby-no-do ruby-static)
        (setf (ruby-locals r) '() (ruby-method r) name (ruby-no-do r) nil (ruby-static r) static)
        (with-definition (r def scope :owner owner)
          (parameters r)
          (setf (draft-def-to facts def) (signature-end r (draft-def-from facts def) (p)))
          (let ((value (if (and (is r (p) "=") (not (line-begins-p r (p))))
                           (progn (advance r) (expression r t))
                           (walk r t t))))
            (unless (= value +none+) (bind r (known "return") +variable+ :value value)))))
      (end-definition r def (last-line r (p)))
      (end-test-method r def)
      +none+)))

(defun parameters (r)
  "The parameters after a method's name, in parentheses or to the end of the line."
  (declare (type ruby r))
  (let ((i (p)))
    (cond
      ((not (more-p r)))
      ((is r i "(") (with-bracket (r i) (parameter-list r (lambda () (more-p r)))))
      ((or (line-begins-p r i) (is r i ";" "=")))
      (t (parameter-list r (lambda () (and (more-p r) (not (line-begins-p r (p))) (not (is r (p) ";")))))))))

(defun parameter-list (r going)
  (declare (type ruby r) (type function going))
  (let ((index 0) (rest nil))
    (declare (type index index))
    (loop while (funcall going)
          do (let ((i (p)))
               (cond
                 ((is r i "*" "**" "&" "...") (setf rest t) (advance r))
                 ((identifier-at-p r i)
                  (let ((name (name-at r i)) (kind (if rest +rest-parameter+ +parameter+)) (value +none+))
                    (pushnew name (ruby-locals r))
                    (advance r)
                    (when (and (funcall going) (or (is r (p) "=") (and (is r (p) ":") (adjacent-p r (p)))))
                      (advance r)
                      (unless (or (not (funcall going)) (is r (p) ","))
                        (setf kind +optional-parameter+ value (expression r t))))
                    (bind r name kind :value value :index index)
                    (incf index)
                    (setf rest nil)))
                 (t (setf rest nil) (advance r)))))))

;;; Classes and modules

(defun class-definition (r)
  (declare (type ruby r))
  (let ((from (p)))
    (advance r)
    (cond
      ((is r (p) "<<")                  ; class << self
       (advance r)
       (operand r nil)
       (preserving (r ruby-static ruby-hidden ruby-locals ruby-method)
         (setf (ruby-static r) t (ruby-hidden r) nil (ruby-locals r) '() (ruby-method r) +none+)
         (walk r t)))
      (t (named-class r from (known "class"))))))

(defun module-definition (r)
  (declare (type ruby r))
  (let ((from (p))) (advance r) (named-class r from (known "module"))))

(defun named-class (r from kind)
  "class A::B < C, module A::B"
  (declare (type ruby r) (type index from))
  (when (is r (p) "::") (advance r))
  (loop while (and (is r (1+ (p)) "::") (identifier-at-p r (+ 2 (p)))) do (incf (p) 2))
  (let ((i (p)) (facts (reading-facts r)))
    (declare (type index i))
    (unless (and (more-p r) (identifier-at-p r i)) (return-from named-class))
    (let ((def (define r (name-at r i) kind i :from from :flags +exported+)) (test +none+))
      (when (> i (+ from 1)) (mark r (known "within") (within-name r (1+ from) (- i 1)) def))
      (advance r)
      (when (and (is r (p) "<") (more-p r))
        (advance r)
        (let ((at (p)) (parent (let ((no-do (ruby-no-do r))) (prog1 (expression r t) (setf (ruby-no-do r) no-do)))))
          (when (test-class-p r at (p))
            (flag r def +test+)
            (setf test (mark-test r (name-at r i) (line-at r i))))
          (unless (= parent +none+) (add-heritage facts def +extends+ parent))))
      (setf (draft-def-to facts def) (signature-end r (draft-def-from facts def) (p)))
      (preserving (r reading-test)
        (unless (= test +none+) (setf (reading-test r) test))
        (class-body r def (lambda () (walk r t))))
      (unless (= test +none+) (setf (draft-test-end facts test) (last-line r (p)))))))

(defun within-name (r from to)
  "The name of the module that the tokens [FROM, TO) name, their last `::' left out."
  (declare (type index from to))
  (let ((tokens (reading-tokens r)))
    (intern-octets (reading-names r) (tokens-octets tokens) (token-start tokens from) (token-end tokens (max from (1- to))))))

(defun test-class-p (r from to)
  "Whether the parent written in the tokens [FROM, TO) is a test case of minitest, test-unit or Rails."
  (declare (type index from to))
  (loop for i of-type index from from below to
        thereis (and (identifier-at-p r i)
                     (let ((text (text-of r i)))
                       (or (string= text "TestCase") (string= text "IntegrationTest") (string= text "SystemTestCase")
                           (and (string= text "Test") (is r (1- i) "::")))))))

;;; Constants

(defun constant-definition (r i name)
  "NAME = …, the `=' in hand; a class when the value makes one."
  (declare (type ruby r) (type index i))
  (advance r)
  (let* ((v (p)) (makes (and (is r (1+ v) ".") (or (and (is r v "Struct" "Class" "Module") (is r (+ v 2) "new"))
                                                    (and (is r v "Data") (is r (+ v 2) "define"))))))
    (if makes
        (let ((def (define r name (if (is r v "Module") (known "module") (known "class")) i :flags +exported+))
              (pending (ruby-pending r)))
          (when (and (is r v "Class") (is r (+ v 3) "(") (identifier-at-p r (+ v 4)))
            (add-heritage (reading-facts r) def +extends+ (parent-node r (+ v 4))))
          (setf (ruby-pending r) def)
          (expression r nil)
          (setf (ruby-pending r) pending)
          (end-definition r def (last-line r (p))))
        (let* ((def (define r name (known "constant") i :flags +exported+ :bind nil)) (value (expression r t)))
          (loop while (and (more-p r) (is r (p) ",")) do (advance r) (expression r nil))
          (bind r name opl.source.facts:+defined+ :value value :target def)
          (setf (opl.source.facts:draft-def-end (reading-facts r) def) (last-line r (p)))))))

(defun parent-node (r i)
  "The node of the constant, with its members, at I."
  (declare (type index i))
  (let ((value (name-node r (name-at r i))))
    (loop while (and (is r (1+ i) "::") (identifier-at-p r (+ i 2)))
          do (incf i 2) (setf value (member-node r value (name-at r i) 1)))
    value))

;;; What calls declare

(defun declared-by (r i name)
  "Reads the arguments of NAME when a call of it declares something; nil where it does not."
  (declare (type ruby r) (type index i))
  (name-case name
    (("attr_accessor" "attr_reader" "attr_writer" "attr")
     (when (symbols-follow-p r) (note-call r i name) (attributes r) +none+))
    ("define_method"
     (when (symbols-follow-p r) (defined-method r i) +none+))
    (("include" "extend" "prepend")
     (when (and (/= (reading-owner r) +none+) (= (ruby-method r) +none+) (operand-begins-or-parenthesis-p r))
       (note-call r i name) (mixed-in r) +none+))
    (("require" "require_relative" "load" "autoload")
     (when (required r i name) +none+))
    (("private" "protected" "public" "module_function")
     (cond ((ends-statement-p r (p))
            (if (= name (known "module_function"))
                (setf (ruby-static r) t)
                (setf (ruby-hidden r) (not (= name (known "public")))))
            +none+)
           ((and (is r (p) "def") (/= name (known "module_function")))
            (preserving (r ruby-hidden) (setf (ruby-hidden r) (/= name (known "public"))) (expression r nil))
            +none+)))
    (t nil)))

(defun operand-begins-or-parenthesis-p (r)
  (or (is r (p) "(") (operand-begins-p r (p))))

(defun symbols-follow-p (r)
  (declare (type ruby r))
  (let ((i (if (is r (p) "(") (1+ (p)) (p))))
    (or (and (is r i ":") (adjacent-p r (1+ i)) (identifier-at-p r (1+ i)))
        (and (= (kind-at r i) +string+) (= (mate-at r i) +none+)))))

(defun note-call (r i name) (site r name (line-at r i) +call+ (name-node r name)))

(defun attributes (r)
  "The symbols that follow are attributes of the class."
  (declare (type ruby r))
  (let ((parenthesis (is r (p) "(")))
    (when parenthesis (advance r))
    (loop
      (let ((i (p)))
        (cond ((and (is r i ":") (identifier-at-p r (1+ i)) (adjacent-p r (1+ i)))
               (define r (name-at r (1+ i)) (known "accessor") (1+ i)
                 :flags (logior (if (ruby-static r) +static+ 0) (if (ruby-hidden r) +private+ +exported+))
                 :end (line-at r i) :bind nil)
               (incf (p) 2))
              ((and (more-p r) (= (kind-at r i) +string+) (= (mate-at r i) +none+) (not (line-begins-p r i)))
               (define r (intern-text r (text-of r i)) (known "accessor") i :end (line-at r i) :bind nil)
               (advance r))
              (t (return)))
        (if (and (more-p r) (is r (p) ",")) (advance r) (return))))
    (when (and parenthesis (is r (p) ")")) (advance r))))

(defun defined-method (r i)
  "define_method(:name) { … }"
  (declare (type ruby r) (type index i))
  (let* ((open (is r (p) "(")) (at (+ (p) (if open 1 0))) (symbol (is r at ":")) (name-at (if symbol (1+ at) at))
         (name (if symbol (name-at r name-at) (intern-text r (text-of r at))))
         (def (define r name (known "method") name-at :from i :parent (reading-owner r) :flags (logior +generated+ +exported+)))
         (scope (open-scope r +function-scope+ def)))
    (declare (type index at name-at))
    (note-call r i (known "define_method"))
    (preserving (r ruby-method ruby-locals)
      (setf (ruby-method r) name)
      (with-definition (r def scope :owner (reading-owner r))
        (call-arguments r)
        (block-if-any r)))
    (end-definition r def (last-line r (p)))))

(defun mixed-in (r)
  (declare (type ruby r))
  (let ((parenthesis (is r (p) "(")))
    (when parenthesis (advance r))
    (loop
      (let ((value (expression r t)))
        (unless (= value +none+) (add-heritage (reading-facts r) (reading-owner r) +mixes-in+ value))
        (if (and (more-p r) (is r (p) ",")) (advance r) (return))))
    (when (and parenthesis (is r (p) ")")) (advance r))))

(defun required (r i name)
  "require 'x', autoload :X, 'x'; nil when it says no literal path."
  (declare (type ruby r) (type index i))
  (let* ((open (is r (p) "(")) (at (+ (p) (if open 1 0))) (local +none+))
    (declare (type index at))
    (when (= name (known "autoload"))
      (unless (and (is r at ":") (identifier-at-p r (1+ at)) (is r (+ at 2) ",")) (return-from required nil))
      (setf local (name-at r (1+ at)) at (+ at 3)))
    (when (and (< at (limit)) (= (kind-at r at) +string+) (= (mate-at r at) +none+))
      (note-call r i name)
      (add-import (reading-facts r) local (known "*") (intern-text r (text-of r at)) (reading-scope r)
                  (logior +side-effect+ (if (= name (known "require_relative")) +relative+ 0)) (line-at r i))
      (setf (p) (+ at 1 (if (and open (is r (1+ at) ")")) 1 0)))
      t)))

;;; Tests

(defun test-method (r def name at)
  (declare (type ruby r))
  (let ((text (opl.source.names:name-string (reading-names r) name)))
    (when (and (> (length text) 5) (string= "test_" text :end2 5) (/= (reading-test r) +none+) (/= (reading-owner r) +none+))
      (flag r def +test+)
      (mark-test r name (line-at r at)))))

(defun end-test-method (r def)
  (let ((facts (reading-facts r)))
    (when (logtest +test+ (the node (draft-def-flags facts def)))
      (loop for test of-type fixnum from (1- (opl.source.facts:draft-test-count facts)) downto 0
            when (= (opl.source.facts:draft-test-name facts test) (draft-def-name facts def))
              do (setf (draft-test-end facts test) (last-line r (p))) (return)))))

(defun test-suite (r i name)
  "When the call of NAME at I, whose arguments were read, is one of RSpec, minitest/spec, Rails or shoulda with
a title and a block, reads its block as a test or a suite of tests."
  (declare (type ruby r) (type index i))
  (let ((suite (name-case name
                 (("describe" "context" "feature" "shared_examples" "shared_examples_for" "shared_context" "xdescribe" "fdescribe") :suite)
                 (("it" "specify" "example" "scenario" "test" "should" "fit" "xit" "its") :test)
                 (t nil))))
    (when (and suite (more-p r) (or (is r (p) "{") (and (is r (p) "do") (not (ruby-no-do r)))))
      (let ((title (test-title r (1+ i) (p))))
        (when (or title (eq suite :test))
          (let ((test (mark-test r (intern-text r (or title "it")) (line-at r i))))
            (preserving (r reading-test)
              (setf (reading-test r) test)
              (block-body r +none+))
            (setf (draft-test-end (reading-facts r) test) (last-line r (p)))))))))

(defun test-title (r from to)
  "The first argument in the tokens [FROM, TO) as a title, or nil."
  (declare (type index from to))
  (let ((i (if (is r from "(") (1+ from) from)))
    (cond ((>= i to) nil)
          ((= (kind-at r i) +string+) (text-of r i))
          ((identifier-at-p r i)
           (let ((tokens (reading-tokens r)) (end i))
             (loop while (and (is r (1+ end) "::") (identifier-at-p r (+ end 2))) do (incf end 2))
             (opl.source.names:octets-string (tokens-octets tokens) :start (token-start tokens i) :end (token-end tokens end)))))))

(define-extractor :ruby (tokens facts names path) (:ctags-kinds ())
  (opl.source.facts:add-scope facts +none+ +module-scope+ +none+)
  (walk (make-ruby :tokens tokens :facts facts :names names :path path :limit (opl.source.tokens:tokens-count tokens)) nil))
