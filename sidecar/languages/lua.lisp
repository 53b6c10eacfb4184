;;;; Lua: `function', `if' and `do' open what `end' closes, `repeat' what `until' closes.

(defpackage #:opl.languages.lua
  (:use #:cl #:opl.languages.reading)
  (:import-from #:opl.source.names #:+none+ #:known #:name-case)
  (:import-from #:opl.source.tokens #:+string+ #:+identifier+ #:+number+)
  (:import-from #:opl.source.facts #:+class-scope+ #:+function-scope+ #:+op-member+ #:+op-call+ #:draft-def-to #:draft-def-from
                #:draft-test-end #:+parameter+ #:+variable+ #:+call+ #:+exported+ #:+local+ #:+side-effect+ #:draft-def-end)
  (:import-from #:opl.languages.extractor #:define-extractor))
(in-package #:opl.languages.lua)
(declaim (optimize (speed 1) (safety 1)) (sb-ext:muffle-conditions sb-ext:compiler-note))
(declaim (ftype function item))

(defstruct (lua (:include reading) (:predicate nil))
  (tables '() :type list))              ; (name . definition) of the file's own variables
(define-steps p limit advance r)

(defun walk (r closing)
  "Reads to the limit or, when CLOSING, past the `end' or `until' that closes."
  (declare (type lua r))
  (or (with-depth (r)
        (loop
          (when (>= (p) (limit)) (return t))
          (let ((i (p)))
            (declare (type index i))
            (cond ((and (is r i "end" "until") (not (is r (1- i) "." ":")))
                   (advance r)
                   (when closing (return t)))
                  (t (item r i))))))
      (loop while (< (p) (limit)) do (let ((i (p))) (advance r) (when (and closing (is r i "end")) (return))))))

(defun item (r i)
  (declare (type lua r) (type index i))
  (let ((mate (mate-at r i)))
    (cond
      ((and (/= mate +none+) (> mate i)) (within-bracket (r i) (walk r nil)))
      ((/= (kind-at r i) +identifier+) (advance r))
      (t (name-case (name-at r i)
           ("local" (local r i))
           ("function" (function-definition r i 0))
           (("if" "do" "repeat") (advance r) (walk r t))
           (("then" "else" "elseif" "for" "while" "in" "return" "and" "or" "not" "nil" "true" "false" "break" "goto") (advance r))
           (t (chain r i)))))))

(defun chain-end (r i)
  "The token after the last name of a.b:c at I."
  (declare (type index i))
  (loop while (and (is r (1+ i) "." ":") (identifier-at-p r (+ i 2))) do (incf i 2))
  (1+ i))

(defun chain-node (r from last)
  "The node of the names from FROM up to and with LAST, the dots between them left out."
  (declare (type index from last))
  (let ((value (name-node r (name-at r from))))
    (loop for i of-type index from (+ from 2) to last by 2 do (setf value (member-node r value (name-at r i))))
    value))

(defun call-begins-p (r i)
  (declare (type index i))
  (and (< i (the index (limit)))
       (or (and (is r i "(") (not (line-begins-p r i)))
           (and (= (kind-at r i) +string+) (not (line-begins-p r i)))
           (and (is r i "{") (not (line-begins-p r i))))))

(defun chain (r i)
  "A variable with members: called, assigned a function or read."
  (declare (type lua r) (type index i))
  (let* ((end (chain-end r i)) (last (1- end)))
    (declare (type index end last))
    (setf (p) end)
    (cond
      ((and (is r end "=") (is r (1+ end) "function") (not (is r (1- i) "local")))
       (setf (p) (1+ end))
       (function-body r (declared r i last i) ))
      ((call-begins-p r end)
       (test-or-call r i last))
      ((and (is r end "=") (= i last) (= (reading-scope r) 0) (= (reading-depth r) 1) (not (assoc (name-at r i) (lua-tables r))))
       (own-variable r i +exported+)))))

(defun own-variable (r i flags)
  (let ((def (define r (name-at r i) (known "variable") i :flags flags :end (line-at r i))))
    (push (cons (name-at r i) def) (lua-tables r))
    def))

(defun test-or-call (r i last)
  (declare (type lua r) (type index i last))
  (let ((callee (chain-node r i last)))
    (site r (name-at r last) (line-at r last) +call+ callee)
    (when (and (= i last) (is r i "describe" "it" "context" "test" "pending") (is r (1+ i) "(") (= (kind-at r (+ i 2)) +string+))
      (let ((test (mark-test r (intern-text r (text-of r (+ i 2))) (line-at r i))))
        (preserving (r reading-test)
          (setf (reading-test r) test)
          (item r (1+ i)))
        (setf (draft-test-end (reading-facts r) test) (last-line r (p)))))))

(defun local (r i)
  "local function f, local a, b = …"
  (declare (type lua r) (type index i))
  (advance r)
  (cond
    ((is r (1+ i) "function") (function-definition r (1+ i) +local+))
    ((and (is r (+ i 2) "=") (is r (+ i 3) "function"))
     (setf (p) (+ i 3))
     (function-body r (define r (name-at r (1+ i)) (known "function") (1+ i) :from i :flags (if (= (reading-scope r) 0) 0 +local+))))
    ((and (is r (+ i 2) "=") (is r (+ i 3) "require"))
     (let ((path (if (is r (+ i 4) "(") (+ i 5) (+ i 4))))
       (setf (p) (+ i 3))
       (when (= (kind-at r path) +string+)
         (add-imported r (name-at r (1+ i)) (known "*") (intern-text r (text-of r path)) 0 (line-at r i)))))
    (t
     (loop while (identifier-at-p r (p))
           do (let ((j (p)))
                (if (and (= (reading-scope r) 0) (= (reading-depth r) 1))
                    (own-variable r j 0)
                    (bind r (name-at r j) +variable+))
                (advance r)
                (when (is r (p) "<") (incf (p) 3)) ; <const>
                (if (is r (p) ",") (advance r) (return)))))))

(defun declared (r from last first)
  "The definition of the function whose name is the tokens FROM up to LAST."
  (declare (type lua r) (type index from last))
  (let* ((table (and (/= from last) (cdr (assoc (name-at r from) (lua-tables r))))) (method (is r (1- last) ":")))
    (define r (name-at r last) (if (= from last) (known "function") (if method (known "method") (known "function")))
      last :from first :parent (or table +none+) :flags +exported+
                                                          :bind (and (= from last) (not (is r (1- first) "{" ","))))))

(defun function-definition (r i flags)
  "function a.b:c(…) … end, function (…) … end"
  (declare (type lua r) (type index i))
  (let ((from (1+ i)))
    (cond
      ((identifier-at-p r from)
       (let* ((end (chain-end r from)) (def (declared r from (1- end) i)))
         (setf (p) end)
         (unless (zerop (the node flags)) (flag r def (if (= (reading-scope r) 0) 0 +local+)))
         (parameters-and-body r def)))
      (t (setf (p) i) (function-body r nil)))))

(defun function-body (r def)
  "The function whose `function' is in hand; DEF: the definition it is the value of, or nil."
  (declare (type lua r))
  (advance r)
  (parameters-and-body r def))

(defun parameters-and-body (r def)
  (declare (type lua r))
  (let ((scope (open-scope r +function-scope+ (or def +none+))) (facts (reading-facts r)))
    (when (is r (p) "(")
      (let ((index 0))
        (within-bracket (r (p))
          (loop while (< (p) (limit))
                do (when (identifier-at-p r (p)) (bind r (name-at r (p)) +parameter+ :scope scope :index index) (incf index))
                   (advance r)))))
    (cond
      (def
       (setf (draft-def-to facts def) (signature-end r (draft-def-from facts def) (p)))
       (with-definition (r def scope) (walk r t))
       (end-definition r def (last-line r (p))))
      (t (preserving (r reading-scope reading-home)
           (setf (reading-scope r) scope (reading-home r) scope)
           (walk r t))))))

(define-extractor :lua (tokens facts names path) (:ctags-kinds ())
  (opl.source.facts:add-scope facts +none+ opl.source.facts:+module-scope+ +none+)
  (walk (make-lua :tokens tokens :facts facts :names names :path path :limit (opl.source.tokens:tokens-count tokens)) nil))
