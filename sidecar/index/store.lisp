;;;; The index: the names arena, a run a file, and what is looked up by name. Immutable once published; a
;;;; refresh makes a new one that shares all runs but those of the files that changed.

(defpackage #:opl.index.store
  (:use #:cl #:opl.source.columns #:opl.source.facts #:opl.index.postings)
  (:import-from #:opl.source.names #:names #:u32-vector #:make-u32 #:+none+ #:name-string #:names-count #:find-name)
  (:import-from #:opl.source.language #:language #:language-name)
  (:export #:index #:make-index #:index-names #:index-root #:index-file-count #:index-paths #:index-runs #:index-languages
           #:index-stamps #:index-path #:index-file-number #:index-run #:index-language #:index-live-count #:index-skipped
           #:index-complete-p #:index-reason #:index-from #:index-seconds #:index-generation
           #:index-order #:index-lock #:copy-index #:index-stale-stamps #:index-folders #:index-expansion #:index-source #:index-numbers #:index-extensions
           #:publish #:do-definitions #:do-sites #:do-files #:do-files-in-directory
           #:tag #:tag-file #:tag-def #:tag-name #:tag-kind #:tag-line #:tag-end #:tag-path #:tag-scope #:tag-signature-bounds
           #:definition-tags #:tag-count #:call-site-count #:memo
           #:stamp #:make-stamp #:stamp-size #:stamp-mtime #:stamp-inode #:stamp-seen #:stamp-hash #:tag< #:sorted-tags #:+most-recent+))
(in-package #:opl.index.store)

(defstruct (stamp (:constructor make-stamp (size mtime inode seen hash)))
  "What a file looked like when it was read: SIZE, MTIME and INODE of stat, SEEN the second of reading, HASH of its octets."
  (size 0 :type (unsigned-byte 62)) (mtime 0 :type (signed-byte 62)) (inode 0 :type (unsigned-byte 64))
  (seen 0 :type (unsigned-byte 62)) (hash 0 :type (unsigned-byte 62)))

(defstruct index
  (root "" :type string)
  (names nil :type (or null names))
  (paths (vector) :type simple-vector)             ; by file number; stays when the file is gone
  (runs (vector) :type simple-vector)              ; nil once the file is gone
  (languages (vector) :type simple-vector)         ; of language
  (stamps (vector) :type simple-vector)
  (numbers (make-hash-table :test 'equal) :type hash-table) ; path -> number, shared between generations, never shrinks
  (order (make-u32 0) :type u32-vector)            ; live file numbers by path
  (folders '() :type list)                         ; (path . mtime) of the folders whose change may mean new files
  (source :git :type symbol)
  (skipped '() :type list)                         ; (path . reason), by path
  (stale-stamps (make-hash-table :test 'equal) :type hash-table) ; stamps of skipped files
  (complete-p t) (reason nil)
  (from :scratch :type symbol) (seconds 0.0 :type real)
  (generation 0 :type fixnum)
  (definitions (make-rows-by-name) :type rows-by-name)
  (sites (make-rows-by-name) :type rows-by-name)
  (since-build (make-array 0 :element-type 'bit) :type simple-bit-vector) ; files that `definitions' and `sites' do not know as they are
  (recent '() :type list)                          ; their numbers by path, those of files that are gone too
  (expansion nil)                                  ; what macros of files make in others, see expansion.lisp; nil when not known
  (extensions (make-hash-table :test 'eq :synchronized t) :type hash-table) ; tables other rooms derive, by room
  (lock (sb-thread:make-mutex :name "index")))

(defmethod print-object ((index index) stream)
  (print-unreadable-object (index stream :type t)
    (format stream "~A, ~D files" (index-root index) (length (index-order index)))))

(declaim (inline index-file-count index-path index-run index-language index-live-count))
(defun index-file-count (index)
  "One more than the greatest file number."
  (length (index-paths index)))
(defun index-live-count (index)
  "How many files there are."
  (length (index-order index)))
(defun index-path (index file)
  "The path of file number FILE, also once the file is gone."
  (svref (index-paths index) file))
(defun index-run (index file)
  "The facts of file number FILE, or nil once the file is gone."
  (svref (index-runs index) file))
(defun index-language (index file)
  "The language of file number FILE, or nil once the file is gone."
  (svref (index-languages index) file))
(defun index-file-number (index path)
  "The number of the indexed file PATH, or nil."
  (let ((file (gethash path (index-numbers index))))
    (and file (< file (length (index-runs index))) (svref (index-runs index) file) file)))

(defmacro memo ((index key) &body body)
  "The value of BODY, computed once for INDEX under KEY (a keyword). What is there already is had without waiting for what another thread
is computing."
  (let ((table (gensym)) (value (gensym)) (found (gensym)))
    `(let ((,table (index-extensions ,index)))
       (multiple-value-bind (,value ,found) (gethash ,key ,table)
         (if ,found
             ,value
             (sb-thread:with-recursive-lock ((index-lock ,index))
               (multiple-value-bind (,value ,found) (gethash ,key ,table)
                 (if ,found ,value (setf (gethash ,key ,table) (progn ,@body))))))))))

;;; Tags: a definition's place in the index as one number

(deftype tag () '(unsigned-byte 62))
(declaim (inline tag tag-file tag-def))
(defun tag (file def)
  "The tag of definition number DEF of file number FILE."
  (declare (type (unsigned-byte 32) file def)) (logior (ash file 24) def))
(defun tag-file (tag)
  "The number of TAG's file."
  (declare (type tag tag)) (ash tag -24))
(defun tag-def (tag)
  "The number of TAG's definition within its file."
  (declare (type tag tag)) (logand tag #xFFFFFF))

(defun tag-run (index tag) (index-run index (tag-file tag)))
(defun tag-name (index tag) "Name number." (def-name (tag-run index tag) (tag-def tag)))
(defun tag-kind (index tag) "Name number of the kind." (def-kind (tag-run index tag) (tag-def tag)))
(defun tag-line (index tag)
  "The line on which TAG begins, from 1."
  (def-line (tag-run index tag) (tag-def tag)))
(defun tag-end (index tag)
  "The last line, or nil where none is known."
  (let ((end (def-end (tag-run index tag) (tag-def tag)))) (if (= end +none+) nil end)))
(defun tag-path (index tag)
  "The path of TAG's file."
  (index-path index (tag-file tag)))
(defun tag-scope (index tag)
  "The names of the definitions around TAG, outermost first, joined by dots; empty at the top."
  (let ((run (tag-run index tag)) (names '()))
    (loop for def = (def-parent run (tag-def tag)) then (def-parent run def)
          repeat 64 until (= def +none+)
          do (push (name-string (index-names index) (def-name run def)) names))
    (format nil "~{~A~^.~}" names)))
(defun tag-signature-bounds (index tag)
  "Octet offsets, in the file's text, of what is shown as TAG's signature."
  (let ((run (tag-run index tag))) (values (def-from run (tag-def tag)) (def-to run (tag-def tag)))))
(defun tag< (index a b)
  "Order of answers: path, then line, then place in the file."
  (let ((a-path (tag-path index a)) (b-path (tag-path index b)))
    (cond ((string< a-path b-path) t)
          ((string/= a-path b-path) nil)
          (t (let ((a-line (tag-line index a)) (b-line (tag-line index b)))
               (or (< a-line b-line) (and (= a-line b-line) (< a b))))))))

(defun sorted-tags (index tags)
  "TAGS in the order of answers, which unlike their numbers does not depend on what was indexed first."
  (sort (copy-list tags) (lambda (a b) (tag< index a b))))

;;; Rows by name, over what was built and what changed since

(defun merge-recent (index postings name function count-of name-of)
  "Calls FUNCTION with file and row of every row called NAME, files in order of path."
  (declare (type function function count-of name-of))
  (let ((recent (loop for file in (index-recent index)
                      for run = (index-run index file)
                      when run
                        nconc (loop for row below (funcall count-of run)
                                    when (= name (funcall name-of run row)) collect (cons file row))))
        (paths (index-paths index)) (since (index-since-build index)))
    (multiple-value-bind (start end) (rows-bounds postings name)
      (loop for i from start below end
            for file = (aref (rows-by-name-files postings) i)
            do (when (zerop (aref since file))
                 (loop while (and recent (string< (svref paths (car (first recent))) (svref paths file)))
                       do (let ((entry (pop recent))) (funcall function (car entry) (cdr entry))))
                 (funcall function file (aref (rows-by-name-rows postings) i))))
      (loop for (file . row) in recent do (funcall function file row)))))

(declaim (inline map-rows))
(defun map-rows (index postings name function count-of name-of)
  (declare (type function function) (type (unsigned-byte 32) name))
  (if (index-recent index)
      (merge-recent index postings name function count-of name-of)
      (multiple-value-bind (start end) (rows-bounds postings name)
        (let ((files (rows-by-name-files postings)) (rows (rows-by-name-rows postings)))
          (loop for i from start below end do (funcall function (aref files i) (aref rows i)))))))

(defmacro do-definitions ((file def) (index name) &body body)
  "Runs BODY for each definition called NAME (a number, or +none+ for none), files in order of path."
  (let ((i (gensym)) (n (gensym)))
    `(block nil
       (let ((,i ,index) (,n ,name))
         (map-rows ,i (index-definitions ,i) ,n (lambda (,file ,def) (declare (ignorable ,file ,def)) ,@body)
                   (lambda (run) (def-count run)) (lambda (run row) (def-name run row)))
         nil))))

(defmacro do-sites ((file site) (index name) &body body)
  "Runs BODY for each call site whose callee is written NAME, files in order of path."
  (let ((i (gensym)) (n (gensym)))
    `(block nil
       (let ((,i ,index) (,n ,name))
         (map-rows ,i (index-sites ,i) ,n (lambda (,file ,site) (declare (ignorable ,file ,site)) ,@body)
                   (lambda (run) (site-count run)) (lambda (run row) (site-name run row)))
         nil))))

(defmacro do-files ((file) (index) &body body)
  "Runs BODY for each file number, in order of path."
  `(loop for ,file across (index-order ,index) do (progn ,@body)))

(defun directories (index)
  (memo (index :directories)
    (let ((table (make-hash-table :test 'equal)))
      (do-files (file) (index)
        (let ((path (index-path index file)))
          (push file (gethash (subseq path 0 (or (position #\/ path :from-end t) 0)) table))))
      (loop for directory being the hash-keys of table using (hash-value files)
            do (setf (gethash directory table) (nreverse files)))
      table)))

(defmacro do-files-in-directory ((file) (index directory) &body body)
  "Runs BODY for each file directly in DIRECTORY (relative, \"\" for the root), in order of path."
  `(dolist (,file (gethash ,directory (directories ,index)))
     ,@body))

(defun definition-tags (index name)
  "Tags of the definitions called NAME, a string, by path and line; nil when there is none."
  (let ((number (find-name (index-names index) name)) (tags '()))
    (when number (do-definitions (file def) (index number) (push (tag file def) tags)))
    (nreverse tags)))

(defun sum-over-files (index function)
  (declare (type function function))
  (let ((sum 0)) (declare (type fixnum sum))
    (do-files (file) (index) (incf sum (the fixnum (funcall function (index-run index file)))))
    sum))
(defun tag-count (index)
  "How many definitions the live files have."
  (sum-over-files index (lambda (run) (def-count run))))
(defun call-site-count (index)
  "How many call sites the live files have."
  (sum-over-files index (lambda (run) (site-count run))))

;;; Publishing

(defconstant +most-recent+ 64
  "Files read again since the tables were built, beyond which they are built anew: looking through 64 runs costs about as
much as a query may (measured in microseconds a run).")

(defun live-order (paths runs)
  (let ((files (loop for file below (length paths) when (svref runs file) collect file)))
    (coerce (sort files #'string< :key (lambda (file) (svref paths file))) 'u32-vector)))

(defun build-tables (index)
  (let ((count (names-count (index-names index))))
    (setf (index-definitions index)
          (build-rows-by-name (index-runs index) (index-order index) count
                              (lambda (run) (def-count run)) (lambda (run row) (def-name run row)))
          (index-sites index)
          (build-rows-by-name (index-runs index) (index-order index) count
                              (lambda (run) (site-count run)) (lambda (run row) (site-name run row)))
          (index-since-build index) (make-array (length (index-runs index)) :element-type 'bit :initial-element 0)
          (index-recent index) '())))

(defun publish (index &optional changed expand)
  "Makes INDEX, whose paths, runs, languages and stamps are filled, ready to be read. CHANGED: the file numbers that differ
from the generation that its tables were copied of; :all builds them anew. EXPAND: called once the files are in order with INDEX
and CHANGED, returns the numbers of further files that differ."
  (setf (index-order index) (live-order (index-paths index) (index-runs index)))
  (let ((recent (if (eq changed :all) :all (union (union changed (and expand (funcall expand index changed))) (index-recent index)))))
    (if (or (eq recent :all) (> (length recent) +most-recent+))
        (build-tables index)
        (let ((since (make-array (length (index-runs index)) :element-type 'bit :initial-element 0)))
          (dolist (file recent) (setf (aref since file) 1))
          (setf (index-since-build index) since
                ;; a file that is gone stays among them: the tables hold its rows until they are built anew
                (index-recent index) (sort (copy-list recent) #'string< :key (lambda (file) (index-path index file)))))))
  index)
