;;;; Words in lines: looking for one, and which ones every line that a pattern matches must contain. Part of the package of pattern.lisp.

(in-package #:opl.failures.pattern)

(declaim (optimize (speed 1) (safety 1)))

;;; SBCL's SEARCH asks for every character's key and test; the tables look for words in lines all the time

(declaim (inline found-in))
(defun found-in (needle text start end from-end)
  (declare (fixnum start end) (optimize (speed 3) (safety 0)) (sb-ext:muffle-conditions sb-ext:compiler-note))
  (let* ((n (length needle)) (last (- end n)))
    (declare (fixnum n last))
    (flet ((at (i)
             (declare (fixnum i))
             (loop for j of-type fixnum from 0 below n
                   for k of-type fixnum from i
                   always (char= (schar needle j) (schar text k)))))
      (declare (inline at))
      (cond ((zerop n) (if from-end end start))
            (from-end (loop for i of-type fixnum from last downto start when (at i) return i))
            (t (let ((head (schar needle 0)))
                 (loop for i of-type fixnum from start to last
                       when (and (char= head (schar text i)) (at i)) return i)))))))

(defun search (needle text &key (start2 0) end2 from-end)
  "CL's SEARCH for strings, and the few of its keys that are needed."
  ;; what SBCL prints from ASCII alone is a string of another type than what is read
  (macrolet ((by-types (&rest types)
               `(cond ,@(loop for needle-type in types
                              append (loop for text-type in types
                                           collect `((and (typep needle ',needle-type) (typep text ',text-type))
                                                     (let ((needle needle) (text text))
                                                       (declare (type ,needle-type needle) (type ,text-type text))
                                                       (found-in needle text start2 (or end2 (length text)) from-end)))))
                      (t (cl:search needle text :start2 start2 :end2 end2 :from-end from-end)))))
    (by-types line simple-base-string)))

(define-compiler-macro search (&whole form needle &rest more)
  (if (stringp needle) `(search (load-time-value (coerce ,needle 'line) t) ,@more) form))

;;; needles: what every matching line must contain, so that most lines are never looked at

(defun element-needles (element)
  (cond ((stringp element) (list element))
        ((atom element) nil)
        ((operator-p (first element) "OR")
         (let ((all (mapcar (lambda (alternative) (element-needles alternative)) (rest element))))
           (and (every #'identity all) (reduce #'append all))))
        ((operator-p (first element) "OF")
         ;; a run holds at least one of its characters
         (and (= 1 (length (second element))) (list (second element))))
        ((member (first element) '("?" "NOT-OF") :test #'operator-p) nil)
        (t (sequence-needles (rest element)))))

(defun sequence-needles (elements)
  ;; of two that are as long without their blanks, the one that has some is the rarer
  (flet ((strength (needles) (reduce #'min needles :key (lambda (needle) (+ (* 100 (length (string-trim " " needle))) (length needle))))))
    (let ((best nil))
      (dolist (element elements best)
        (let ((needles (element-needles element)))
          (when (and needles (or (null best) (> (strength needles) (strength best))))
            (setf best needles)))))))

(defun pattern-needles (pattern)
  "Strings of which every line matched by PATTERN (a list of elements) contains at least one; nil when there is no such set."
  (sequence-needles pattern))
