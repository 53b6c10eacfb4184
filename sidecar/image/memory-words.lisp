;;;; The memory of sessions as words of the vocabulary.

(defpackage #:opl.image.memory-words
  (:use #:cl)
  (:import-from #:opl.image.vocabulary #:define-query)
  (:import-from #:opl.session.observation
                #:observation-time #:observation-kind #:observation-subject #:observation-state
                #:observation-text #:observation-session #:now #:kind-named #:+kinds+)
  (:import-from #:opl.session.memory #:current-session)
  (:import-from #:opl.session.facts)
  (:import-from #:opl.session.recall)
  (:export #:observations #:edited-symbols #:recall #:remember #:failing-tests #:sessions))

(in-package #:opl.image.memory-words)

(declaim (optimize (speed 1) (safety 1)))

(defun age-text (time)
  "How long ago TIME was, in the largest unit that is whole."
  (let ((seconds (max 0 (floor (- (now) time) 1000))))
    (cond ((< seconds 60) (format nil "~D s ago" seconds))
          ((< seconds 3600) (format nil "~D min ago" (floor seconds 60)))
          ((< seconds 86400) (format nil "~D h ago" (floor seconds 3600)))
          (t (format nil "~D days ago" (floor seconds 86400))))))

(defun row (observation)
  (list (observation-kind observation) (age-text (observation-time observation))
        (observation-subject observation) (observation-state observation) (observation-text observation)))

(define-query observations (&optional kind) (:example "(observations :decision)" :group "Memory")
  "What happened in this session: a list of (kind age subject state text) in the order of time. With KIND, as
:request :edit :test :decision :note :tool, that alone. Nothing observed gives an empty list."
  (let ((wanted (and kind (or (kind-named (string kind))
                              (error "No kind is called ~S; there are ~{~(~S~)~^ ~}." kind +kinds+)))))
    (loop for observation in (opl.session.memory:observations (current-session))
          when (or (null wanted) (eq wanted (observation-kind observation)))
            collect (row observation))))

(define-query edited-symbols () (:example "(edited-symbols)" :group "Memory")
  "What was edited in this session: a list of (path state change…), the file edited last at the end."
  (opl.session.facts:edited-symbols (opl.session.memory:observations (current-session))))

(define-query recall (words &optional (limit 10)) (:example "(recall \"token expiry\")" :group "Memory")
  "What was observed about WORDS, here or in earlier sessions of this project: a list of (kind age subject state
text), best first. Nothing found gives an empty list."
  (loop for (nil . observation) in (opl.session.recall:recall words :limit limit)
        collect (row observation)))

(define-query remember (text) (:example "(remember \"we chose JWT because …\")" :group "Memory")
  "Store TEXT for this session and later ones of the project; secrets are taken out. Returns what was stored."
  (check-type text string)
  (observation-text (opl.session.memory:remember text)))

(define-query failing-tests () (:example "(failing-tests)" :group "Memory")
  "The tests of this session whose last word is that they fail: a list of (test where-and-why)."
  (loop for observation in (opl.session.facts:failing (opl.session.memory:observations (current-session)))
        collect (list (observation-subject observation) (observation-text observation))))

(define-query sessions () (:example "(sessions)" :group "Memory")
  "The sessions known for this project, the last active first: a list of (id observations)."
  (loop for id in (opl.session.memory:sessions)
        collect (list id (opl.session.memory:observation-count id))))
