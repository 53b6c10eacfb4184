;;;; The index and the graph as words of the vocabulary.

(defpackage #:opl.image.queries
  (:use #:cl)
  (:local-nicknames (#:store #:opl.index.store) (#:world #:opl.graph.world) (#:edges #:opl.graph.edges)
                    (#:resolve #:opl.graph.resolve))
  (:import-from #:opl.source.names #:name-string #:find-name)
  (:import-from #:opl.source.facts #:site-line #:site-def)
  (:import-from #:opl.image.vocabulary #:define-query)
  (:import-from #:opl.image.targets #:the-index #:the-world #:targets #:file-number #:tag-row #:own-path #:tag-label #:no-such-symbol)
  (:import-from #:opl.change.impact #:impact-of-tags #:impact-dependants #:impact-tests)
  (:import-from #:opl.change.reach #:dependant-tag #:dependant-file #:dependant-line #:dependant-hop #:dependant-certainty)
  (:import-from #:opl.change.tests #:test-hit-path #:test-hit-certainty #:test-hit-reason #:test-hit-names)
  (:export #:definitions #:files #:symbols-in #:callers #:callees #:references #:path-between #:impact-of #:tests-of
           #:hotspots #:subclasses #:superclasses #:overrides #:index-totals))

(in-package #:opl.image.queries)

(declaim (optimize (speed 1) (safety 1)))

(defun rows (index tags)
  (mapcar (lambda (tag) (tag-row index tag)) (store:sorted-tags index tags)))

(define-query definitions (target) (:example "(definitions \"parse\")")
  "Where TARGET is defined: a list of (path line name kind). TARGET is a name, a name with its scope as
\"Lexer.parse\", a place as \"src/a.ts:42\", or a path. A name that nothing has is an error that says what is near."
  (let ((index (the-index))) (rows index (targets index target))))

(define-query files (&optional (part "")) (:example "(files \"router\")")
  "The indexed files whose path contains PART, in any case: a list of paths in order. None gives an empty list."
  (let ((index (the-index)) (found '()))
    (store:do-files (file) (index)
      (let ((path (store:index-path index file)))
        (when (search part path :test #'char-equal) (push path found))))
    (nreverse found)))

(define-query symbols-in (path) (:example "(symbols-in \"src/router.ts\")")
  "The definitions of the file PATH: a list of (path line name kind), by line."
  (let* ((index (the-index)) (file (file-number index path)))
    (rows index (loop for def below (opl.source.facts:def-count (store:index-run index file))
                      collect (store:tag file def)))))

;;; Calls.

(defun module-label () (own-path "<module>"))

(defun caller-label (index edge)
  (if (edges:edge-caller edge) (tag-label index (edges:edge-caller edge)) (module-label)))

(defun caller-row (world edge)
  (list (own-path (world:world-path world (edges:edge-file edge))) (edges:edge-line edge)
        (caller-label (world:world-index world) edge) (edges:edge-certainty edge)))

(defun each-target (target function)
  "The lists that FUNCTION returns for each tag of TARGET, as one, without repetition."
  (let ((world (the-world)))
    (remove-duplicates
     (loop for tag in (targets (world:world-index world) target) append (funcall function world tag))
     :test #'equal :from-end t)))

(define-query callers (target &key (possible t)) (:example "(callers \"createUser\")")
  "Who calls TARGET: a list of (path line caller certainty), certainty being :exact, :likely or :possible; with
POSSIBLE NIL without the last. <module> calls stand outside any definition. No caller gives an empty list."
  (each-target target (lambda (world tag)
                        (mapcar (lambda (edge) (caller-row world edge)) (edges:callers world tag :possible possible)))))

(define-query callees (target &key (possible t)) (:example "(callees \"main\")")
  "What TARGET calls in this repository: a list of (path line name certainty), path and line of the callee."
  (each-target target (lambda (world tag)
                        (loop for edge in (edges:callees world tag :possible possible)
                              for callee = (edges:edge-callee edge)
                              when callee
                                collect (let ((row (tag-row (world:world-index world) callee)))
                                          (list (first row) (second row) (third row) (edges:edge-certainty edge)))))))

(define-query references (name) (:example "(references \"parse\")")
  "Every call written NAME, whatever it means: a list of (path line caller). None gives an empty list."
  (let* ((index (the-index)) (number (find-name (store:index-names index) name)) (found '()))
    (when number
      (store:do-sites (file site) (index number)
        (let* ((run (store:index-run index file)) (def (site-def run site)))
          (push (list (own-path (store:index-path index file)) (site-line run site)
                      (if (= def opl.source.names:+none+) (module-label) (tag-label index (store:tag file def))))
                found))))
    (nreverse found)))

(defun chain-to (world from goal hops)
  "The tags from FROM (excluded) to the first of GOAL that calls reach, or NIL."
  (dolist (edge (edges:reach world (list from) :direction :callees :hops hops :possible nil :limit 20000))
    (when (member (edges:edge-callee edge) goal)
      (return (append (edges:edge-via edge) (list (edges:edge-callee edge)))))))

(define-query path-between (from to &key (hops 8)) (:example "(path-between \"main\" \"parse\")")
  "The shortest chain of calls from FROM to TO, at most HOPS long: a list of (path line name kind) that begins with
FROM and ends with TO. NIL when none is known."
  (let* ((world (the-world)) (index (world:world-index world)) (goal (targets index to)) (best nil))
    (dolist (tag (targets index from))
      (let ((chain (chain-to world tag goal hops)))
        (when (and chain (or (null best) (< (1+ (length chain)) (length best))))
          (setf best (cons tag chain)))))
    (mapcar (lambda (tag) (tag-row index tag)) best)))

(defun impact-of-target (target)
  "Values: the impact of a change of TARGET, as change_impact finds it, and the index."
  (let ((index (the-index))) (values (impact-of-tags index (targets index target)) index)))

(define-query impact-of (target &key (hops 3) (possible t)) (:example "(impact-of \"src/a.ts:42\")")
  "Who depends on TARGET, as change_impact finds it: a list of (path line caller hop certainty), nearest first, at most HOPS
calls away; with POSSIBLE NIL without what is only possible. <module> calls stand outside any definition."
  (multiple-value-bind (impact index) (impact-of-target target)
    (flet ((before-p (a b)
             (cond ((/= (fourth a) (fourth b)) (< (fourth a) (fourth b)))
                   ((string/= (first a) (first b)) (and (string< (first a) (first b)) t))
                   (t (< (second a) (second b))))))
      (sort (loop for dependant in (impact-dependants impact)
                  when (and (<= (dependant-hop dependant) hops) (or possible (not (eq :possible (dependant-certainty dependant)))))
                    collect (list (own-path (store:index-path index (dependant-file dependant))) (dependant-line dependant)
                                  (if (dependant-tag dependant) (tag-label index (dependant-tag dependant)) (module-label))
                                  (dependant-hop dependant) (dependant-certainty dependant)))
            #'before-p))))

(define-query tests-of (target) (:example "(tests-of 'create-user)")
  "The test files that would tell of a change of TARGET, as change_impact ranks them, most telling first: a list of (path
certainty reason names), names those of single tests that calls lead from. None gives an empty list."
  (loop for hit in (impact-tests (impact-of-target target))
        collect (list (own-path (test-hit-path hit)) (test-hit-certainty hit) (test-hit-reason hit) (test-hit-names hit))))

(defun count-callers (world)
  "A table from tag to how many calls are known to mean it, kept with the world."
  (world:remembered (world :hotspots)
    (let ((table (make-hash-table)))
      (edges:map-edges (lambda (edge)
                         (when (edges:edge-callee edge) (incf (gethash (edges:edge-callee edge) table 0))))
                       world)
      table)))

(define-query hotspots (&key (limit 20)) (:example "(hotspots)")
  "The definitions that are called from most places: a list of (calls path line name kind), most first."
  (let* ((world (the-world)) (index (world:world-index world)) (counted '()))
    (maphash (lambda (tag count) (push (cons count tag) counted)) (count-callers world))
    (loop for (count . tag) in (sort counted (lambda (a b) (or (> (car a) (car b))
                                                               (and (= (car a) (car b)) (store:tag< index (cdr a) (cdr b))))))
          repeat limit
          collect (cons count (tag-row index tag)))))

;;; Types.

(defun relatives (target function)
  (each-target target (lambda (world tag)
                        (rows (world:world-index world)
                              (mapcar (lambda (found) (if (consp found) (car found) found)) (funcall function world tag))))))

(define-query subclasses (target) (:example "(subclasses \"Shape\")" :group "Types")
  "The direct subclasses and implementers of TARGET: a list of (path line name kind)."
  (relatives target #'resolve:subclasses))

(define-query superclasses (target) (:example "(superclasses \"Circle\")" :group "Types")
  "The direct parents of TARGET in this repository: a list of (path line name kind)."
  (relatives target #'resolve:superclasses))

(define-query overrides (target) (:example "(overrides \"Shape.area\")" :group "Types")
  "The members of subclasses that override or implement TARGET: a list of (path line name kind)."
  (relatives target #'resolve:overrides))

(define-query index-totals () (:example "(index-totals)")
  "What the index holds: (:files n :definitions n :calls n :complete t-or-nil)."
  (let ((index (the-index)))
    (list :files (store:index-live-count index) :definitions (store:tag-count index)
          :calls (store:call-site-count index) :complete (and (store:index-complete-p index) t))))
