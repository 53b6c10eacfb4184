;;;; PHP's classes, their members, and the tests among them. Shares the package of php.lisp.

(in-package #:opl.languages.php)

;;; Classes

(defun class-like (r first flags)
  "class, interface, trait or enum, the keyword in hand."
  (declare (type php r) (type index first))
  (let* ((kind (name-at r (p))) (i (1+ (p))) (name (name-at r i)))
    (declare (type index i))
    (unless (identifier-at-p r i) (advance r) (return-from class-like))
    (setf (p) (1+ i))
    (class-body r (define r name kind i :from first :flags (logior flags +exported+) :parent (reading-def r)) name i)))

(defun anonymous-class (r)
  "new class (…) extends A implements B { … }: its node."
  (declare (type php r))
  (let* ((i (p)) (facts (reading-facts r)))
    (declare (type index i))
    (advance r)
    (when (is r (p) "(") (arguments r (p)))
    (let ((def (define r (known "anonymous class") (known "class") i :bind nil :flags (logior +local+ +generated+) :parent (reading-def r))))
      (class-body r def (known "anonymous class") i)
      (setf (draft-def-end facts def) (last-line r (p)))
      (node r +op-new+ (node r +op-def+ def)))))

(defun class-body (r def name i)
  "What stands between the name of DEF and the end of its braces."
  (declare (type php r) (type index i))
  (let ((facts (reading-facts r)) (scope (open-scope r +class-scope+ def)) (relation +extends+) (test nil))
    (loop while (and (more-p r) (not (is r (p) "{" ";")))
          do (let* ((at (p)) (end (+ at (the index (name-length-at r at)))))
               (declare (type index at end))
               (cond ((is r at "extends") (setf relation +extends+) (advance r))
                     ((is r at "implements") (setf relation +implements+) (advance r))
                     ((is r at ":") (advance r) (read-type r))
                     ((= at end) (advance r))
                     (t (when (and (= relation +extends+) (test-class-p r (1- end))) (setf test t))
                        (add-heritage facts def relation (name-node r (name-text r at end)))
                        (setf (p) end)))))
    (setf (draft-def-to facts def) (signature-end r (draft-def-from facts def) (p)))
    (when (is r (p) "{")
      (preserving (r php-class php-class-body reading-test)
        (let ((suite (and test (mark-test r name (line-at r i)))))
          (when suite (setf (reading-test r) suite) (flag r def +test+))
          (unless suite (setf (reading-test r) +none+))
          (setf (php-class r) def (php-class-body r) scope)
          (with-definition (r def scope :owner def)
            (within-bracket (r (p)) (with-depth (r) (members r))))
          (when suite (setf (draft-test-end facts suite) (last-line r (p)))))))
    (end-definition r def (last-line r (p)))))

(defun test-class-p (r i)
  "Whether the parent named by token I is PHPUnit's TestCase or one of its like."
  (let ((text (text-of r i)))
    (and (>= (length text) 8) (string= "TestCase" text :start2 (- (length text) 8)))))

(defun members (r)
  (declare (type php r))
  (loop while (more-p r)
        do (let ((from (p)))
             (member-declaration r)
             (when (= (p) from) (advance r)))))

(defun member-declaration (r)
  "One member of a class: modifiers, then a method, properties, constants, a case or traits."
  (declare (type php r))
  (let ((first (p)) (flags 0) (attributed nil))
    (declare (type index first))
    (loop
      (let ((i (p)))
        (cond ((is r i "#") (when (test-attribute-p r i) (setf attributed t)) (skip-attribute r) (setf first (p)))
              ((is r i "public" "final" "var" "readonly") (advance r))
              ((is r i "protected" "private") (setf flags (logior flags +private+)) (advance r))
              ((is r i "static") (setf flags (logior flags +static+)) (advance r))
              ((is r i "abstract") (setf flags (logior flags +abstract+)) (advance r))
              (t (return)))))
    (let ((i (p)))
      (declare (type index i))
      (cond
        ((not (more-p r)))
        ((is r i "use") (use-statement r))
        ((is r i "function") (method-declaration r first (if attributed (logior flags +test+) flags)))
        ((is r i "const") (constants r flags))
        ((and (is r i "case") (identifier-at-p r (1+ i)))
         (setf (p) (+ i 2))
         (let ((def (define r (name-at r (1+ i)) (known "enumerator") (1+ i) :from i)))
           (when (is r (p) "=") (advance r) (expression r nil))
           (setf (draft-def-end (reading-facts r) def) (last-line r (p)))))
        (t (properties r flags))))))

(defun properties (r flags)
  "type $a = value, $b; with hooks"
  (declare (type php r))
  (let ((type (read-type r)))
    (loop while (and (more-p r) (not (is r (p) ";" "}")))
          do (let ((i (p)) (value +none+))
               (declare (type index i))
               (advance r)
               (when (and (identifier-at-p r i) (name-begins-p r (name-at r i) 36))
                 (when (is r (p) "=") (advance r) (setf value (expression r t)))
                 (property r i type (reading-owner r) flags value)
                 (when (is r (p) "{") (enter-block r (p)) (return-from properties)))))
    (when (is r (p) ";") (advance r))))

(defun constants (r &optional (flags 0))
  "const A = 1, B = 2; const string C = 'x';"
  (declare (type php r))
  (advance r)
  (loop while (and (more-p r) (not (is r (p) ";" "}")))
        do (let ((i (p)))
             (declare (type index i))
             (advance r)
             (when (and (identifier-at-p r i) (is r (1+ i) "="))
               (advance r)
               (let ((value (expression r t)))
                 (define r (name-at r i) (known "constant") i :value value :end (last-line r (p)) :flags flags)))))
  (when (is r (p) ";") (advance r)))

;;; Tests

(defun test-attribute-p (r i)
  (declare (type index i))
  (let ((close (closer r (1+ i))))
    (loop for j of-type index from (+ i 2) below close thereis (is r j "Test"))))

(defun comment-says-test-p (r token)
  "Whether the comment right before TOKEN holds @test."
  (declare (type index token))
  (let* ((tokens (reading-tokens r)) (from (if (zerop token) 0 (token-end tokens (1- token)))) (to (token-start tokens token)))
    (loop for c of-type fixnum from (1- (tokens-comment-count tokens)) downto 0
          do (cond ((< (comment-start tokens c) from) (return nil))
                   ((< (comment-end tokens c) to)
                    (return (and (search "@test" (octets-string (tokens-octets tokens) :start (comment-start tokens c)
                                                                                       :end (comment-end tokens c)))
                                 t)))))))

(defun test-method (r name i flags first)
  "The test that the method NAME is to PHPUnit, or nil."
  (declare (type php r))
  (let ((text (opl.source.names:name-string (reading-names r) name)))
    (when (and (/= (reading-test r) +none+)
               (or (logtest +test+ (the node flags))
                   (and (> (length text) 4) (string= "test" text :end2 4))
                   (comment-says-test-p r first)))
      (mark-test r name (line-at r i)))))

(defun test-call-p (r from)
  "Whether the statement that began at FROM is one of Pest's: it('…', function …)."
  (declare (type index from))
  (and (is r from "it" "test" "describe") (is r (1+ from) "(") (= (kind-at r (+ from 2)) +string+) (= (mate-at r (+ from 2)) +none+)
       (is r (+ from 3) ",")))

(defun test-call (r from)
  (declare (type index from))
  (let ((test (mark-test r (intern-text r (text-of r (+ from 2))) (line-at r from))))
    (setf (draft-test-end (reading-facts r) test) (last-line r (p)))))

(define-extractor :php (tokens facts names path) (:ctags-kinds ())
  (opl.source.facts:add-scope facts +none+ +module-scope+ +none+)
  (statements (make-php :tokens tokens :facts facts :names names :path path :limit (opl.source.tokens:tokens-count tokens))))
