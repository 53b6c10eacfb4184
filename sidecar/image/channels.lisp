;;;; The channels of repo_context as words of the vocabulary: seen, explained, added, weighed and taken out at run time. The
;;;; two that begin with def are definitions like any other, so `keep' keeps them for the project.

(defpackage #:opl.image.channels
  (:use #:cl)
  (:local-nicknames (#:rank #:opl.search.rank) (#:ranking #:opl.search.ranking))
  (:import-from #:opl.image.vocabulary #:define-query #:register)
  (:import-from #:opl.image.targets #:the-index)
  (:import-from #:opl.index.store #:index-path #:index-root)
  (:import-from #:opl.search.lexical #:gather)
  (:import-from #:opl.search.query #:parse-task)
  (:import-from #:opl.search.commits #:current-history)
  (:export #:channels #:shares-of #:defchannel #:defweight #:remove-channel #:reset-channels))
(in-package #:opl.image.channels)

(declaim (optimize (speed 1) (safety 1)))

(defun channel-name-of (designator) (string-downcase (string designator)))

(define-query channels () (:example "(channels)" :group "Ranking")
  "The channels of repo_context in force: a list of (name weight source), in the order in which they are added up."
  (loop for channel in (rank:channels)
        collect (list (rank:channel-name channel) (rank:channel-weight channel) (rank:channel-source channel))))

(define-query shares-of (task &key (limit 5)) (:example "(shares-of \"router ignores case\")" :group "Ranking")
  "Why the best LIMIT files of TASK stand where they do: a list of (path score ((channel . share) …)), greatest share first.
The shares add up to the score. Nothing found gives an empty list."
  (let* ((index (the-index))
         (ranking (ranking:rank (gather index (current-history (index-root index)) (parse-task task))))
         (files (coerce (ranking:ranking-files ranking) 'list)))
    (loop for file in files repeat limit
          collect (list (index-path index file) (aref (ranking:ranking-scores ranking) file) (ranking:shares ranking file)))))

(defmacro defchannel (name weight (path task) &body body)
  "Add the channel NAME to repo_context: BODY gives a number for the file PATH and the text TASK; the greatest over all files counts
WEIGHT, the others in proportion. It stays until the session ends, or for the project with (keep 'NAME)."
  `(rank:add-channel ,(channel-name-of name) ,weight (lambda (,path ,task) (declare (ignorable ,path ,task)) ,@body)))

(defmacro defweight (name weight)
  "Give the channel NAME of repo_context the WEIGHT, 0 to silence it; (keep 'NAME) keeps that for the project."
  `(set-weight ,(channel-name-of name) ,weight))

(defun set-weight (name weight)
  (or (rank:set-channel-weight name weight)
      (error "There is no channel ~A. (channels) lists them." name))
  (list name (rank:channel-weight (rank:find-channel name))))

(define-query remove-channel (name) (:example "(remove-channel \"edited\")" :group "Ranking")
  "Take the channel NAME out of repo_context until the session ends. Returns T, or NIL when there is none of that name."
  (rank:remove-channel (channel-name-of name)))

(define-query reset-channels () (:example "(reset-channels)" :group "Ranking")
  "Put the channels and weights of repo_context back to what the program comes with. Returns T."
  (rank:reset-channels))

(register 'defchannel '(name weight (path task) &body body) (documentation 'defchannel 'function)
          "(defchannel mine 2.0 (path task) …)" "Ranking")
(register 'defweight '(name weight) (documentation 'defweight 'function) "(defweight title 3.0)" "Ranking")
