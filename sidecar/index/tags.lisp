;;;; Tags and facts made one: what ctags found is added where the extractor found nothing of that name there, so
;;;; that the index comes out the same with ctags 5.9 as with 6.2.

(defpackage #:opl.index.tags
  (:use #:cl #:opl.source.facts #:opl.source.tokens)
  (:import-from #:opl.source.names #:octets #:u32-vector #:make-u32 #:+none+ #:known #:intern-octets #:intern-string #:name-string
                #:octets-string #:octet-position)
  (:import-from #:opl.index.ctags #:map-tags)
  (:export #:merge-tags #:make-seen #:*line-starts*))
(in-package #:opl.index.tags)

(defun make-seen ()
  "A table of definitions by name and line, to be used for file after file."
  (make-hash-table :test 'eql :size 2048))

(defun key (name line) (declare (type (unsigned-byte 32) name line)) (logior (ash name 26) (min line #x3FFFFFF)))

(defun scope-key (name) (declare (type (unsigned-byte 32) name)) (logior (ash name 26) #x3FFFFFF))

(defun note-definitions (facts seen)
  (clrhash seen)
  (dotimes (def (draft-def-count facts)) (note-definition facts seen def)))

(defun note-definition (facts seen def)
  (setf (gethash (key (draft-def-name facts def) (draft-def-line facts def)) seen) def)
  (let ((candidates (gethash (scope-key (draft-def-name facts def)) seen)))
    (when (< (length candidates) 64) ; a name defined more often scopes nothing
      (setf (gethash (scope-key (draft-def-name facts def)) seen) (cons def candidates)))))

(defconstant +same-line+ 2
  "Lines between where two programs see one definition (its name, its annotation, its return type).")

(defun known-definition (seen name line)
  (or (gethash (key name line) seen)
      (loop for distance from 1 to +same-line+
            thereis (or (gethash (key name (+ line distance)) seen)
                        (and (> line distance) (gethash (key name (- line distance)) seen))))))

(defvar *line-starts* (make-u32 4096) "Reused by one worker for file after file.")
(declaim (type u32-vector *line-starts*))

(defun line-starts (tokens)
  "Offsets at which the lines begin, line 1 at place 1, and at the place after the last line the size; the number of lines."
  (let* ((octets (tokens-octets tokens)) (size (tokens-size tokens)) (starts *line-starts*) (line 1))
    (declare (type octets octets) (type u32-vector starts) (type fixnum line))
    (setf (aref starts 1) 0)
    (loop for i = (octet-position 10 octets 0 size) then (octet-position 10 octets (1+ i) size)
          while i
          do (incf line)
             (when (>= (1+ line) (length starts))
               (setf starts (replace (make-u32 (* 2 (length starts))) starts) *line-starts* starts))
             (setf (aref starts line) (1+ i)))
    (setf (aref starts (1+ line)) size)
    (values starts line)))

(defconstant +longest-signature+ 240 "Octets of a line that are shown as a signature.")

(defun last-component (octets start end)
  "Start of what follows the last dot, colon or slash in OCTETS[START, END)."
  (declare (type octets octets))
  (let ((at (position-if (lambda (octet) (member octet '(46 58 47 92))) octets :start start :end end :from-end t)))
    (if at (1+ at) start)))

(defun enclosing (facts names seen octets scope-start scope-end line)
  "The definition that is called as the last part of the scope: the one around LINE, else the last one before it."
  (if (null scope-start)
      +none+
      (let* ((wanted (intern-octets names octets (last-component octets scope-start scope-end) scope-end))
             (candidates (gethash (scope-key wanted) seen)))
        (or (loop for def in candidates
                  for end = (draft-def-end facts def)
                  when (and (<= (draft-def-line facts def) line) (/= end +none+) (<= line end)) do (return def))
            (loop for def in candidates
                  when (<= (draft-def-line facts def) line) do (return def))
            +none+))))

(defun anonymous-p (octets start end)
  "Whether ctags made the name up."
  (declare (type octets octets))
  (and (> (- end start) 6) (= (aref octets start) 95) (= (aref octets (1+ start)) 95)
       (loop for c across "anon" for i from (+ start 2) always (= (char-code c) (aref octets i)))))

(defun add-tag (facts names seen starts last octets name kind line end scope-start scope-end)
  (let* ((at (if (<= 1 line last) (aref starts line) 0))
         (to (if (<= 1 line last) (min (1- (aref starts (1+ line))) (+ at +longest-signature+)) 0))
         (parent (enclosing facts names seen octets scope-start scope-end line))
         (def (add-def facts name kind line (or end +none+) parent 0 +none+ +none+
                       (logior +from-ctags+ (if end +has-body+ 0)) at (max at to) at)))
    (add-binding facts 0 name +defined+ +none+ +none+ def +none+)
    def))

(defun merge-tags (facts tokens names tagged from path seen kinds)
  "Adds the tags of PATH in TAGGED, from offset FROM, to FACTS where they are new. KINDS: :all or the kinds wanted (ctags' names).
SEEN: a table of `make-seen' to be reused. The offset of the next file's tags."
  (note-definitions facts seen)
  (let ((starts nil) (last 0))
    (when (zerop (draft-scope-count facts)) (add-scope facts +none+ +module-scope+ +none+))
    (map-tags
     (lambda (octets name-start name-end kind-start kind-end line end scope-start scope-end)
       (unless (or (= name-start name-end) (zerop line) (anonymous-p octets name-start name-end))
         (let* ((name (if (octet-position 92 octets name-start name-end)
                          (intern-string names (opl.index.ctags:unescape octets name-start name-end))
                          (intern-octets names octets name-start name-end)))
                (found (known-definition seen name line)))
           (cond ((null found)
                  (when (or (eq kinds :all) (member (octets-string octets :start kind-start :end kind-end) kinds :test #'string=))
                    (note-definition facts seen
                          (add-tag facts names seen (or starts (multiple-value-setq (starts last) (line-starts tokens))) last octets name
                                   (intern-octets names octets kind-start kind-end) line end scope-start scope-end))))
                 ((and end (= (draft-def-end facts found) +none+) (= (draft-def-line facts found) line) (> end line))
                  (setf (draft-def-end facts found) end))))))
     tagged from path)))
