;;;; Small real repositories for the tests of source, index and change.

(defpackage #:opl.test.repository
  (:use #:cl #:opl.test)
  (:import-from #:opl.index.store #:index #:do-files #:index-path #:index-run #:index-names #:index-language #:index-skipped
                #:do-definitions #:do-sites)
  (:import-from #:opl.index.refresh #:build-index #:refresh-index)
  (:export #:put-file #:remove-file #:git #:with-repository #:native #:build #:refresh #:dump #:paths #:put-octets #:tag-names))
(in-package #:opl.test.repository)

(defun native (folder &optional (path "")) (concatenate 'string (sb-ext:native-namestring folder) path))

(defun put-octets (folder path octets)
  "Writes OCTETS, a sequence, to PATH below FOLDER; PATH may hold any characters."
  (let ((name (sb-ext:parse-native-namestring (native folder path))))
    (ensure-directories-exist name)
    (with-open-file (out name :direction :output :if-exists :supersede :element-type '(unsigned-byte 8))
      (write-sequence (coerce octets '(simple-array (unsigned-byte 8) (*))) out))))

(defun put-file (folder path text) (put-octets folder path (sb-ext:string-to-octets text :external-format :utf-8)))
(defun remove-file (folder path) (delete-file (sb-ext:parse-native-namestring (native folder path))))

(defun git (folder &rest arguments)
  "Runs git in FOLDER with an identity of its own and none of the user's settings."
  (let ((process (sb-ext:run-program "git" (append (list "-C" (native folder) "-c" "user.name=t" "-c" "user.email=t@t" "-c" "init.defaultBranch=main"
                                                         "-c" "commit.gpgsign=false" "-c" "protocol.file.allow=always")
                                                   arguments)
                                     :search t :output nil :error nil
                                     :environment (list* "GIT_CONFIG_NOSYSTEM=1" "HOME=/nonexistent" (sb-ext:posix-environ)))))
    (unless (zerop (sb-ext:process-exit-code process)) (error "git ~{~A~^ ~} failed" arguments))))

(defmacro with-repository ((folder &rest files) &body body)
  "Runs BODY with FOLDER a new git repository that holds FILES, (path text) each, committed."
  `(with-scratch-folder (,folder)
     (git ,folder "init" "-q")
     ,@(loop for (path text) in files collect `(put-file ,folder ,path ,text))
     ,@(when files `((git ,folder "add" "-A") (git ,folder "commit" "-q" "-m" "first")))
     ,@body))

(defun build (folder &key (ctags "ctags") excludes) (build-index (native folder) ctags excludes))
(defun refresh (index &key (ctags "ctags") excludes) (refresh-index index ctags excludes))

(defun tag-names (index path)
  "Names of the definitions of PATH, sorted; :absent when it is not indexed."
  (let ((file (opl.index.store:index-file-number index path)))
    (if (null file)
        :absent
        (let ((run (index-run index file)))
          (sort (loop for def below (opl.source.facts:def-count run)
                      collect (opl.source.names:name-string (index-names index) (opl.source.facts:def-name run def)))
                #'string<)))))

(defun paths (index) (let ((paths '())) (do-files (file) (index) (push (index-path index file) paths)) (nreverse paths)))

(defun rows-found-by-name (index)
  "What looking up every name finds: a list of (name path line …), by name; nil for the path of a file that is gone."
  (let ((names (index-names index)) (found '()))
    (dotimes (name (opl.source.names:names-count names) (sort found #'string< :key #'first))
      (let ((places '()))
        (do-definitions (file def) (index name)
          (push (index-path index file) places)
          (when (index-run index file) (push (opl.source.facts:def-line (index-run index file) def) places)))
        (do-sites (file site) (index name)
          (push (index-path index file) places)
          (when (index-run index file) (push (opl.source.facts:site-line (index-run index file) site) places)))
        (when places (push (cons (opl.source.names:name-string names name) (nreverse places)) found))))))

(defun dump (index)
  "Everything that can be asked of INDEX, without numbers that depend on the way it was made."
  (let ((rows '()) (names (index-names index)))
    (flet ((name (n) (opl.source.names:name-string names n)))
      (do-files (file) (index)
        (let ((run (index-run index file)) (path (index-path index file)))
          (push (list path (opl.source.language:language-name (index-language index file))) rows)
          (dotimes (def (opl.source.facts:def-count run))
            (push (list path (name (opl.source.facts:def-name run def)) (name (opl.source.facts:def-kind run def))
                        (opl.source.facts:def-line run def) (opl.source.facts:def-end run def))
                  rows))
          (dotimes (site (opl.source.facts:site-count run))
            (push (list path :site (name (opl.source.facts:site-name run site)) (opl.source.facts:site-line run site)) rows))))
      (push (rows-found-by-name index) rows)
      (opl.graph.edges:map-edges
       (lambda (edge)
         (when (opl.graph.edges:edge-callee edge)
           (push (list :edge (index-path index (opl.graph.edges:edge-file edge)) (opl.graph.edges:edge-line edge)
                       (opl.index.store:tag-path index (opl.graph.edges:edge-callee edge))
                       (opl.index.store:tag-line index (opl.graph.edges:edge-callee edge)) (opl.graph.edges:edge-certainty edge))
                 rows)))
       (opl.graph.world:world-of index) :possible t))
    (list (nreverse rows) (index-skipped index))))
