;;;; Python's imports. Shares the package of python.lisp.

(in-package #:opl.languages.python)
(declaim (optimize (speed 2) (safety 1)) (sb-ext:muffle-conditions sb-ext:compiler-note))

(defun dotted (r from to)
  "The name that the tokens [FROM, TO) make together."
  (declare (type source r) (type index from to))
  (if (= from to)
      +none+
      (let ((tokens (reading-tokens r)))
        (intern-octets (reading-names r) (tokens-octets tokens) (token-start tokens from) (token-end tokens (1- to))))))

(defun chain-end (r i)
  (declare (type index i))
  (loop while (and (is r (1+ i) ".") (identifier-at-p r (+ i 2))) do (incf i 2))
  (1+ i))

(defun imported (r local name module flags line)
  (declare (type source r))
  (let ((import (add-import (reading-facts r) local name module (reading-home r)
                            (if (source-conditional r) (logior flags +conditional+) flags) line)))
    (unless (= local +none+) (bind r local +imported+ :target import))))

(defun import-statement (r)
  "import a.b, c as d"
  (declare (type source r))
  (loop while (and (< (p) (limit)) (identifier-at-p r (p)))
        do (let* ((i (p)) (end (chain-end r i)) (module (dotted r i end)))
             (declare (type index i end))
             (setf (p) end)
             (cond ((and (is r end "as") (identifier-at-p r (1+ end)))
                    (imported r (name-at r (1+ end)) (known "*") module 0 (line-at r i))
                    (setf (p) (+ end 2)))
                   (t (imported r (name-at r i) (known "*") (name-at r i) 0 (line-at r i))
                      ;; the module itself is loaded too, whatever name leads to it
                      (when (> end (1+ i))
                        (imported r +none+ (known "*") module opl.source.facts:+side-effect+ (line-at r i)))))
             (when (is r (p) ",") (advance r)))))

(defun from-statement (r)
  "from ..a.b import c as d, (e), *"
  (declare (type source r))
  (advance r)
  (let* ((i (p)) (import (skip-to r i (limit) (known "import"))) (module (dotted r i import))
         (flags (if (is r i "." ".." "...") +relative+ 0)))
    (declare (type index i import))
    (setf (p) (min (limit) (1+ import)))
    (when (is r (p) "\\") (advance r))
    (loop while (< (p) (limit))
          do (let ((at (p)))
               (cond ((is r at "*") (imported r +none+ (known "*") module (logior flags +star+) (line-at r at)) (advance r))
                     ((not (identifier-at-p r at)) (advance r))
                     ((and (is r (1+ at) "as") (identifier-at-p r (+ at 2)))
                      (imported r (name-at r (+ at 2)) (name-at r at) module flags (line-at r at))
                      (setf (p) (+ at 3)))
                     (t (imported r (name-at r at) (name-at r at) module flags (line-at r at)) (advance r)))
               (when (is r (p) ";") (return))))))
