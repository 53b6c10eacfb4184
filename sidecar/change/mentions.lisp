;;;; Mentions: definitions named without being called. A function in a table (`"iso": parse_iso`), a class that another
;;;; is made from or with (`metaclass=Meta`), a constant: whoever holds the name depends on what it means, and the key
;;;; it stands under is what users write.

(defpackage #:opl.change.mentions
  (:use #:cl #:opl.index.store #:opl.source.facts)
  (:import-from #:opl.source.names #:octets #:+none+ #:name-string #:octets-string #:string-octets #:octet-position)
  (:import-from #:opl.source.octets #:make-octet-buffer #:octet-buffer-octets #:octet-buffer-size)
  (:import-from #:opl.source.text #:load-text)
  (:import-from #:opl.source.language #:language-family)
  (:import-from #:opl.search.places #:entry-file-p)
  (:import-from #:opl.change.roots #:innermost-definition)
  (:export #:mention #:mention-file #:mention-line #:mention-tag #:mention-key #:mentions-of #:with-texts #:implicit-member-p))
(in-package #:opl.change.mentions)

(defstruct (mention (:constructor make-mention (file line tag key)))
  "FILE and LINE of a name that is not called there, TAG the innermost definition around it (nil: none), KEY the text that it
is registered under, or nil."
  file line tag key)

(defconstant +most-files+ 60 "Files that import a definition's file beyond which only its own is read.")
(defconstant +most-mentions+ 80 "Mentions kept of one definition.")
(defconstant +least-length+ 3 "Characters of a name that can be told from others in a text.")

;;; Files that may mean a definition by its name

(defun word-in-file-p (index file name)
  "Whether the name number NAME is among the words of FILE."
  (let ((run (index-run index file)))
    (dotimes (i (word-count run) nil)
      (when (= name (word-name run i)) (return t)))))

(defun files-that-see (index file importers)
  "FILE, those that import it, and those that import it through a package's entry."
  (let ((seen (list file)))
    (dolist (importer (gethash file importers))
      (pushnew importer seen)
      (when (entry-file-p (index-path index importer))
        (dolist (further (gethash importer importers)) (pushnew further seen))))
    (if (> (length seen) +most-files+) (list file) (nreverse seen))))

;;; One line

(defun word-octet-p (octet)
  (or (<= 97 (logior octet 32) 122) (<= 48 octet 57) (= octet 95) (= octet 36) (> octet 127)))

(defparameter *silent-starts* '("#" "//" "*" "/*" "--" ";" "import " "from " "export " "use " "require" "package " "__all__" "module.exports" "exports.")
  "Beginnings of lines on which a name means nothing by itself: comments, imports, exports.")

(defun silent-line-p (line)
  (let ((start (position-if-not (lambda (c) (find c '(#\Space #\Tab))) line)))
    (or (null start)
        (some (lambda (text) (let ((end (+ start (length text)))) (and (<= end (length line)) (string= text line :start2 start :end2 end)))) *silent-starts*)
        (search "require(" line) (search "import(" line))))

(defun plain-character-p (c) (or (alphanumericp c) (find c "_$-")))

(defun key-before (line at)
  "The key that the name at AT in LINE is the value of: `\"iso\": utils.parse', `iso = parse', `'iso' => parse'; or nil."
  (let ((i (1- at)))
    (flet ((back-over (test) (loop while (and (>= i 0) (funcall test (char line i))) do (decf i)))
           (blank (c) (find c '(#\Space #\Tab))))
      (back-over (lambda (c) (or (plain-character-p c) (char= c #\.))))
      (back-over #'blank)
      (when (and (> i 0) (char= (char line i) #\>) (char= (char line (1- i)) #\=)) (decf i 1) (setf line (substitute #\= #\> line :start i :end (1+ i))))
      (when (and (> i 0) (find (char line i) ":="))
        (decf i)
        (back-over #'blank)
        (when (and (>= i 0) (find (char line i) "'\"`")) (decf i))
        (let ((end (1+ i)))
          (back-over #'plain-character-p)
          (let ((key (subseq line (1+ i) end)))
            (and (>= (length key) +least-length+) key)))))))

(defun meant-at-p (line at end)
  "Whether the name at [AT, END) in LINE stands for its value: neither called nor defined nor quoted there."
  (let ((next (position #\Space line :start end :test-not #'char=)))
    (and (not (and (plusp at) (find (char line (1- at)) "'\"`@")))
         (or (null next)
             (not (or (find (char line next) "(:'\"`")
                      (and (char= (char line next) #\=) (not (and (< (1+ next) (length line)) (find (char line (1+ next)) "=>"))))))))))

;;; Together

(defun note-mentions (index file tag octets size pattern found)
  "Pushes to the list FOUND the mentions in one file's text."
  (declare (type octets octets pattern))
  (let* ((run (index-run index file)) (own (and (= file (tag-file tag)) (tag-def tag))) (first (aref pattern 0))
         (length (length pattern)) (line 1) (line-start 0) (from 0))
    (loop
      (let ((at (octet-position first octets from size)))
        (unless at (return found))
        (if (and (<= (+ at length) size)
                 (loop for i from 1 below length always (= (aref pattern i) (aref octets (+ at i))))
                 (or (zerop at) (not (word-octet-p (aref octets (1- at)))))
                 (or (= (+ at length) size) (not (word-octet-p (aref octets (+ at length))))))
            (progn
              (loop for break = (octet-position 10 octets line-start at)
                    while break do (incf line) (setf line-start (1+ break)))
              (let* ((stop (or (octet-position 10 octets at size) size))
                     (text (octets-string octets :start line-start :end stop))
                     (column (length (octets-string octets :start line-start :end at)))
                     (def (innermost-definition run line)))
                (unless (or (silent-line-p text) (not (meant-at-p text column (+ column length)))
                            (and own (or (eql def own) (<= (def-line run own) line (let ((end (def-end run own))) (if (= end +none+) (def-line run own) end))))))
                  (push (make-mention file line (and def (tag file def)) (key-before text column)) found)
                  (when (> (length found) +most-mentions+) (return found))))
              (setf from (+ at length)))
            (setf from (1+ at)))))))

;;; Texts: one change asks for the same few hundred files again and again

(defconstant +texts-kept+ 33554432 "Octets of files kept while one change is followed; what is beyond is read again.")

(defstruct (texts (:constructor make-texts ()))
  "FILES: file to octets, or :none where it cannot be read. ROOM: octets still to be kept. BUFFER: what files are read into."
  (files (make-hash-table) :type hash-table) (room +texts-kept+ :type fixnum) (buffer (make-octet-buffer)))

(defvar *texts* nil "While one change is followed: its texts.")

(defmacro with-texts (() &body body)
  "BODY with the texts that `mentions-of' reads kept until it ends."
  `(let ((*texts* (or *texts* (make-texts)))) ,@body))

(defun text-of (index file)
  "The octets of FILE, or nil when it cannot be read."
  (let ((known (and *texts* (gethash file (texts-files *texts*)))))
    (cond ((eq known :none) nil)
          (known)
          (t (let* ((buffer (or (and *texts* (texts-buffer *texts*)) (make-octet-buffer)))
                    (text (and (load-text buffer (index-root index) (index-path index file) 1)
                               (subseq (octet-buffer-octets buffer) 0 (octet-buffer-size buffer)))))
               (when (and *texts* (<= (length text) (texts-room *texts*)))
                 (setf (gethash file (texts-files *texts*)) (or text :none))
                 (decf (texts-room *texts*) (length text)))
               text)))))

(defun mentions-of (index tag importers)
  "Mentions of the definition TAG in its own file and in those that see it by the table IMPORTERS; by path and line."
  (let* ((name (tag-name index tag)) (pattern (string-octets (name-string (index-names index) name))) (found '()))
    (when (>= (length pattern) +least-length+)
      (dolist (file (files-that-see index (tag-file tag) importers))
        (when (and (language-family (index-language index file)) (word-in-file-p index file name))
          (let ((text (text-of index file)))
            (when text (setf found (note-mentions index file tag text (length text) pattern found)))))))
    (nreverse found)))

;;; Members that nobody calls by name

(defparameter *implicit-members*
  '("constructor" "toString" "valueOf" "toJSON" "inspect" "equals" "hashCode" "compareTo" "iterator" "initialize" "method_missing" "respond_to_missing?"
    "to_s" "to_str" "inherited" "included" "extended" "drop" "fmt" "String" "Error" "GoString" "MarshalJSON" "UnmarshalJSON" "init" "deinit"
    "setUp" "setUpClass" "setUpTestData" "tearDown" "tearDownClass" "setup_method" "setup_class" "teardown_method" "teardown_class" "setup" "teardown"
    "SetupTest" "SetupSuite" "TearDownTest" "TearDownSuite")
  "What the language, its library or a framework for tests calls on an object without the program naming it.")

(defun implicit-member-p (name)
  "Whether a member called NAME runs without being called: Python's __names__ and the like."
  (let ((length (length name)))
    (or (and (> length 4) (string= "__" name :end2 2) (string= "__" name :start2 (- length 2)))
        (and (member name *implicit-members* :test #'string=) t))))
