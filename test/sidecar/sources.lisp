;;;; For tests of extractors and of the graph: what a small source says, and what a folder's calls resolve to,
;;;; as lists of strings that a test can state.

(defpackage #:opl.test.sources
  (:use #:cl #:opl.source.facts)
  (:import-from #:opl.source.names #:+none+ #:name-string #:string-octets)
  (:export #:lines #:read-source #:definitions #:calls #:imports #:tests #:edges-of))
(in-package #:opl.test.sources)

(defun lines (&rest lines) (format nil "~{~A~%~}" lines))

(defvar *names*)
(defun text (name) (if (= name +none+) "" (name-string *names* name)))

(defun read-source (path source function)
  "Calls FUNCTION with the facts of SOURCE, a string, as the file PATH would say them."
  (let* ((*names* (opl.source.names:make-names-arena)) (octets (coerce (string-octets source) 'opl.source.names:octets))
         (tokens (opl.source.scanner:scan (opl.source.scanner:make-scanner) octets (length octets)
                                          (opl.source.language:language-of-path path) *names*)))
    (funcall function (opl.languages.extractor:extract tokens (make-facts) *names* path))))

(defun definitions (path source)
  "kind name line-end<parent of each definition, in order."
  (read-source path source
               (lambda (facts)
                 (loop for i below (draft-def-count facts)
                       for end = (draft-def-end facts i) for parent = (draft-def-parent facts i)
                       collect (format nil "~A ~A ~D~@[-~D~]~@[<~A~]" (text (draft-def-kind facts i)) (text (draft-def-name facts i))
                                       (draft-def-line facts i) (and (/= end +none+) (/= end (draft-def-line facts i)) end)
                                       (and (/= parent +none+) (text (draft-def-name facts parent))))))))

(defun calls (path source)
  "caller>name:line of each call site, in order of line."
  (read-source path source
               (lambda (facts)
                 (mapcar #'cdr
                         (stable-sort
                          (loop for i below (draft-site-count facts)
                                for def = (draft-site-def facts i)
                                collect (cons (draft-site-line facts i)
                                              (format nil "~@[~A>~]~A:~D" (and (/= def +none+) (text (draft-def-name facts def)))
                                                      (text (draft-site-name facts i)) (draft-site-line facts i))))
                          #'< :key #'car)))))

(defun imports (path source)
  "local=name of module, for each import."
  (read-source path source
               (lambda (facts)
                 (loop for i below (draft-import-count facts)
                       collect (format nil "~A=~A of ~A" (text (draft-import-local facts i)) (text (draft-import-name facts i))
                                       (text (draft-import-module facts i)))))))

(defun tests (path source)
  "title line-end<suite of each test."
  (read-source path source
               (lambda (facts)
                 (loop for i below (draft-test-count facts)
                       for parent = (draft-test-parent facts i)
                       collect (format nil "~A ~D-~D~@[<~A~]" (text (draft-test-name facts i)) (draft-test-line facts i)
                                       (draft-test-end facts i)
                                       (and (/= parent +none+) (text (draft-test-name facts parent))))))))

(defun edges-of (files)
  "path:line name > path:line certainty, for every call of FILES (a list of (path . source)) that is resolved,
those that are only possible with it; sorted as texts by what calls."
  (opl.test:with-scratch-folder (folder)
    (loop for (path . source) in files
          do (let ((full (merge-pathnames (sb-ext:parse-native-namestring path) folder)))
               (ensure-directories-exist full)
               (with-open-file (out full :direction :output :external-format :utf-8) (write-string source out))))
    (let* ((index (opl.index.refresh:build-index (sb-ext:native-namestring folder) nil '()))
           (world (opl.graph.world:world-of index)) (found '()))
      (opl.graph.edges:map-edges
       (lambda (edge)
         (let ((callee (opl.graph.edges:edge-callee edge)))
           (when callee
             (push (format nil "~A:~D ~A > ~A:~D~:[ ~(~A~)~;~]"
                           (opl.graph.world:world-path world (opl.graph.edges:edge-file edge)) (opl.graph.edges:edge-line edge)
                           (opl.graph.world:name-text world (opl.graph.edges:edge-name edge))
                           (opl.graph.world:world-path world (opl.graph.world:tag-file callee)) (opl.graph.world:tag-line world callee)
                           (eq (opl.graph.edges:edge-certainty edge) :exact) (opl.graph.edges:edge-certainty edge))
                   found))))
       world :possible t :threads 1)
      (stable-sort (nreverse found) #'string< :key (lambda (edge) (subseq edge 0 (search " > " edge)))))))
