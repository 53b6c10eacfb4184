;;;; The task as the ranking sees it: names with the regions they stand in, terms with their counts, files and dotted
;;;; modules named, commits and issues referred to, three words in a row.

(defpackage #:opl.search.query
  (:use #:cl #:opl.search.reading)
  (:import-from #:opl.source.names #:string-octets)
  (:import-from #:opl.search.terms #:part-count #:map-terms #:map-name-terms #:pair-hash #:+part+ #:+whole+ #:+pair+ #:+root+)
  (:import-from #:opl.search.text #:map-trigrams)
  (:import-from #:opl.search.plain #:plain-word-p #:word-shape #:*foreign-grammar*)
  (:import-from #:opl.search.glossary #:tongue-of #:tongue-grammar #:map-meanings)
  (:export #:task #:parse-task #:task-text #:task-words #:task-marked #:task-terms #:task-mentions #:task-chains #:task-trigrams
           #:task-references #:task-commits #:task-title #:task-raw
           #:word #:word-text #:word-counts #:word-called-p #:word-inline-p #:word-qualifiers #:word-shape-of #:word-total #:word-marked-p
           #:term #:make-term #:term-hash #:term-counts #:term-whole-p #:term-kind #:term-plain-p #:term-text
           #:mention #:mention-path #:mention-region
           #:chain #:chain-names #:chain-import-p))
(in-package #:opl.search.query)

(declaim (optimize (speed 1) (safety 1)))

(defconstant +longest-task+ 200000 "Characters of a task that are read; longer ones are logs, of which the beginning tells.")

(defstruct word
  (text "" :type string)
  (counts (make-array +regions+ :initial-element 0) :type simple-vector)
  (called-p nil)                        ; a `(' follows somewhere
  (inline-p nil)
  (marked-p nil)                        ; holds a character that words do not, as `read-file' does
  (qualifiers '() :type list)           ; names before it in a chain
  (shape-of 0.0 :type single-float))

(defstruct term
  (hash 0 :type (unsigned-byte 32))
  (text "" :type string)
  (counts (make-array +regions+ :initial-element 0) :type simple-vector)
  (kind +part+ :type fixnum)
  (plain-p t))                          ; all its forms are plain words

(defun term-whole-p (term)
  "Whether TERM is a whole name rather than a part of one."
  (= (term-kind term) +whole+))

(defstruct mention path region)
(defstruct chain names import-p)

(defstruct task
  (text "" :type string)                ; without comments and URLs
  (raw "" :type string)
  (title "" :type string)
  (words '() :type list) (terms '() :type list)
  (marked '() :type list)               ; words that are names if the index says so
  (mentions '() :type list) (chains '() :type list)
  (trigrams '() :type list)             ; (hash . share of its words that are not plain)
  (references '() :type list)           ; numbers of issues
  (commits '() :type list))             ; shas as written, lower case

(defun word-total (word)
  "How often WORD stands in the task, in all regions."
  (reduce #'+ (word-counts word)))

;;; Collecting

(defstruct collector
  (words (make-hash-table :test 'equal)) (word-list '())
  (marked (make-hash-table :test 'equal)) (marked-list '())
  (terms (make-hash-table)) (term-list '())
  (mentions '()) (chains '()) (references '()) (commits '())
  (tongue nil))                         ; the language of the task when it is not English

(defun note-term (collector hash kind text region)
  (let ((term (gethash hash (collector-terms collector))))
    (unless term
      (setf term (make-term :hash hash :kind kind :text text)
            (gethash hash (collector-terms collector)) term)
      (push term (collector-term-list collector)))
    (incf (svref (term-counts term) region))
    (when (or (= kind +whole+) (= kind +pair+)) (setf (term-plain-p term) nil))
    term))

(defun note-terms (collector text region)
  (let ((octets (string-octets text)))
    (map-name-terms (lambda (hash kind) (note-term collector hash kind text region)) octets 0 (length octets))))

(defun note-plainness (collector text)
  "Terms of parts that are not plain words are none themselves."
  (let ((octets (string-octets text)))
    (map-part-texts (lambda (part)
                      (unless (plain-word-p part)
                        (let ((part-octets (string-octets part)))
                          (map-name-terms (lambda (hash kind)
                                            (unless (= kind +whole+)
                                              (let ((term (gethash hash (collector-terms collector))))
                                                (when term (setf (term-plain-p term) nil)))))
                                          part-octets 0 (length part-octets)))))
                    octets)))

(defun edge-hash (text last)
  "The hash of TEXT's LAST part, or of its first; nil when that is a plain word or no word."
  (let* ((octets (string-octets text)) (parts '()))
    (opl.search.terms:map-parts (lambda (from to) (push (cons from to) parts)) octets 0 (length octets))
    (let ((part (if last (first parts) (car (last parts)))))
      (when part
        (destructuring-bind (from . to) part
          (unless (or (< (- to from) 2) (<= 48 (aref octets from) 57)
                      (plain-word-p (opl.source.names:octets-string octets :start from :end to)))
            (opl.search.terms:term-hash octets from to)))))))

(defun note-pair (collector before text region)
  "Two words in a row, as the one name that code would make of them."
  (let ((first (edge-hash before t)) (second (edge-hash text nil)))
    (when (and first second)
      (note-term collector (pair-hash first second) +pair+ (format nil "~A ~A" before text) region))))

(defun map-part-texts (function octets)
  (opl.search.terms:map-parts
   (lambda (from to) (funcall function (opl.source.names:octets-string octets :start from :end to)))
   octets 0 (length octets)))

(defun note-word (collector text region called-p)
  (let* ((word (gethash text (collector-words collector))) (new-p (null word)))
    (when new-p
      (setf word (make-word :text text :shape-of (word-shape text (part-count text)))
            (gethash text (collector-words collector)) word)
      (push word (collector-word-list collector)))
    (incf (svref (word-counts word) region))
    (when called-p (setf (word-called-p word) t))
    (when (= region +inline+) (setf (word-inline-p word) t))
    (note-terms collector text region)
    (when new-p (note-plainness collector text))
    word))

(defun note-marked (collector text region)
  (let ((word (gethash text (collector-marked collector))))
    (unless word
      (setf word (make-word :text text :marked-p t :shape-of 1.0)
            (gethash text (collector-marked collector)) word)
      (push word (collector-marked-list collector)))
    (incf (svref (word-counts word) region))
    (when (= region +inline+) (setf (word-inline-p word) t))))

(defparameter *plain-in-english-alone* '("template" "log")
  "Words that issues in English are full of since their forms have them, and that another language's word for the thing is not.")

(defun note-meaning (collector word region)
  "WORD, English, for one of the task's in another language."
  (note-terms collector word region)
  (if (member word *plain-in-english-alone* :test #'string=)
      (let ((octets (string-octets word)))
        (map-name-terms (lambda (hash kind) (declare (ignore kind)) (setf (term-plain-p (gethash hash (collector-terms collector))) nil))
                        octets 0 (length octets)))
      (note-plainness collector word)))

(defun note-text (collector text region)
  "Words, pairs of them, names with marks, chains and paths of TEXT, all of one region."
  (let ((before nil) (before-end 0))
    (map-words (lambda (from to)
                 (let ((word (subseq text from to)))
                   (note-word collector word region (and (< to (length text)) (char= (char text to) #\()))
                   (when (and before (<= region +inline+) (= from (1+ before-end)) (find (char text before-end) " -"))
                     (note-pair collector before word region))
                   (setf before word before-end to)))
               text))
  (map-marked-names (lambda (name) (note-marked collector name region)) text)
  (when (and (collector-tongue collector) (<= region +prose+))
    (map-meanings (lambda (word) (note-meaning collector word region)) (collector-tongue collector) text))
  (map-chains (lambda (names position)
                (declare (ignore position))
                (push (make-chain :names names) (collector-chains collector))
                (loop for (before name) on names while name
                      do (let ((word (gethash name (collector-words collector))))
                           (when word (pushnew before (word-qualifiers word) :test #'string=)))))
              text)
  (map-path-mentions (lambda (path end)
                       (declare (ignore end))
                       (note-mention collector path region))
                     text))

(defun note-mention (collector path region)
  (push (make-mention :path path :region region)
        (collector-mentions collector)))

(defun note-import (collector line)
  "`from a.b import c' names a module, more weakly than a chain of calls."
  (let ((from (search "from " line)) (import (search " import " line)))
    (when (and from import (< from import))
      (map-chains (lambda (names position) (declare (ignore position))
                    (push (make-chain :names names :import-p t) (collector-chains collector)))
                  (concatenate 'string (string-trim " " (subseq line (+ from 5) import)) "."
                               (string-trim " " (subseq line (+ import 8))))))))

(defun number-after (text start)
  (multiple-value-bind (number end) (parse-integer text :start start :junk-allowed t)
    (and number (plusp number) (> end start) (char/= (char text start) #\+) number)))

(defun note-references (collector text)
  "#123 and abbreviated shas in TEXT."
  (loop for at = (position #\# text) then (position #\# text :start (1+ at))
        while at
        do (when (and (< (1+ at) (length text)) (digit-char-p (char text (1+ at)))
                      (or (zerop at) (not (find (char text (1- at)) "&"))))
             (let ((number (number-after text (1+ at))))
               (when number (pushnew number (collector-references collector))))))
  (map-words-and-numbers (lambda (from to)
                           (when (hexadecimal-p text from to)
                             (pushnew (string-downcase (subseq text from to)) (collector-commits collector) :test #'string=)))
                         text))

(defun map-words-and-numbers (function text)
  (let ((i 0) (size (length text)))
    (loop
      (setf i (or (position-if #'word-character-p text :start i) size))
      (when (>= i size) (return))
      (let ((end (or (position-if-not #'word-character-p text :start i) size)))
        (funcall function i end)
        (setf i end)))))

(defun note-url (collector url)
  (let ((path (url-path url)))
    (when path (note-mention collector path +prose+)))
  (dolist (mark '("/pull/" "/issues/" "/ticket/" "/merge_requests/" "/bugs/"))
    (let ((at (search mark url)))
      (when at
        (let ((number (number-after url (+ at (length mark)))))
          (when number (pushnew number (collector-references collector)))))))
  (let ((at (search "/commit/" url)))
    (when at
      (let ((end (or (position-if-not (lambda (c) (digit-char-p c 16)) url :start (+ at 8)) (length url))))
        (when (<= 7 (- end (+ at 8)) 40)
          (pushnew (string-downcase (subseq url (+ at 8) end)) (collector-commits collector) :test #'string=))))))

(defun note-prose (collector line region)
  "LINE of title or prose: what stands in backticks is inline code, and in a title counts as title too."
  (loop with start = 0
        for tick = (position #\` line :start start)
        for close = (and tick (position #\` line :start (1+ tick)))
        do (note-text collector (subseq line start (if close tick (length line))) region)
        while close
        do (let ((code (subseq line (1+ tick) close)))
             (note-text collector code +inline+)
             (when (= region +title+) (note-text collector code +title+)))
           (setf start (1+ close))))

(defun note-line (collector line region)
  (note-references collector line)
  (multiple-value-bind (file function) (and (= region +trace+) (python-frame line))
    (cond (file
           (note-mention collector (substitute #\/ #\\ file) +trace+)
           (when function (note-text collector function +trace+)))
          ((<= region +prose+) (note-prose collector line region))
          (t (note-text collector line region)
             (when (= region +code+) (note-import collector line))))))

(defun plain-share (text)
  "The share of TEXT's words that are not plain."
  (let ((words 0) (telling 0))
    (map-words-and-numbers (lambda (from to)
                             (incf words)
                             (unless (plain-word-p (subseq text from to)) (incf telling)))
                           text)
    (if (zerop words) 0.0 (/ telling (float words)))))

(defun trigrams (text)
  (let ((octets (string-octets text)) (table (make-hash-table)))
    (map-trigrams (lambda (hash from to)
                    (unless (gethash hash table)
                      (setf (gethash hash table)
                            (plain-share (opl.source.names:octets-string octets :start from :end to)))))
                  octets 0 (length octets))
    (sort (loop for hash being the hash-keys of table using (hash-value share)
                when (plusp share) collect (cons hash share))
          #'< :key #'car)))

(defun boilerplate-p (line)
  "Whether LINE is an item that an issue's template wants ticked off, or a heading of plain words alone."
  (let ((from (position-if-not (lambda (c) (find c " *-+")) line)))
    (and from
         (or (and (starts-with "[" line from) (< (+ from 2) (length line)) (find (char line (1+ from)) "xX ") (char= (char line (+ from 2)) #\])
                  (search " I" line))
             (and (char= (char line from) #\#) (zerop from)
                  (not (digit-char-p (char line (min 1 (1- (length line))))))
                  (progn (map-words (lambda (from to)
                                      (unless (plain-word-p (subseq line from to)) (return-from boilerplate-p nil)))
                                    line)
                         t))))))

(defun parse-task (text)
  "What TEXT, a task, an issue or a commit message, says, as a TASK. Never fails; an empty text gives an empty task."
  (let* ((raw (subseq text 0 (min (length text) +longest-task+)))
         (tongue (tongue-of raw)) (collector (make-collector :tongue tongue)) (fenced nil) (title nil)
         (*foreign-grammar* (and tongue (tongue-grammar tongue)))
         (kept (make-string-output-stream)))
    (dolist (line (split-lines (without-comments raw)))
      (if (fence-p line)
          (setf fenced (not fenced))
          (let* ((line (map-urls (lambda (url) (note-url collector url)) line))
                 (blank (null (position-if-not (lambda (c) (member c '(#\Space #\Tab))) line))))
            (unless (or blank (boilerplate-p line))
              (note-line collector line (line-region line fenced (null title)))
              (unless title (setf title line))
              (write-line line kept)))))
    (let ((text (get-output-stream-string kept)))
      (make-task :raw raw :text text :title (or title "")
                 :words (nreverse (collector-word-list collector))
                 :marked (nreverse (collector-marked-list collector))
                 :terms (nreverse (collector-term-list collector))
                 :mentions (nreverse (collector-mentions collector))
                 :chains (nreverse (collector-chains collector))
                 :trigrams (trigrams text)
                 :references (nreverse (collector-references collector))
                 :commits (nreverse (collector-commits collector))))))
