;;;; The hierarchy of classes: subclasses, implementers, what overrides what. Part of the package of resolve.lisp.

(in-package #:opl.graph.resolve)

(declaim (optimize (speed 1) (safety 1)))

(defun hierarchy (world)
  "Tables from a class's tag to its direct subclasses, and to its direct superclasses: lists of (tag . relation)."
  (remembered (world :hierarchy)
    (with-trail ()
      (let ((down (make-hash-table)) (up (make-hash-table)))
        (do-world-files (file) (world)
          (let ((run (world-run world file)))
            (when run
              (let ((seen '()))
                (dotimes (row (heritage-count run))
                  (pushnew (heritage-def run row) seen))
                (dolist (def (nreverse seen))
                  (let ((tag (make-tag file def)))
                    (dolist (parent (heritage-tags world tag))
                      (push (cons tag (cdr parent)) (gethash (car parent) down))
                      (push parent (gethash tag up)))))))))
        (maphash (lambda (tag list) (setf (gethash tag down) (sort (copy-list list) #'< :key #'car))) down)
        (cons down up)))))

(defun subclasses (world tag)
  "Direct subclasses and implementers of TAG: list of (tag . relation), ascending."
  (values (gethash tag (car (hierarchy world)))))
(defun superclasses (world tag)
  "Direct parents of TAG in the repository: list of (tag . relation)."
  (reverse (gethash tag (cdr (hierarchy world)))))

(defun descendants (world class)
  "Subclasses and implementers of CLASS at any depth, each once. Found once a world: a base of tests has thousands."
  (remembered (world :descendants class)
    (let ((seen (make-hash-table)) (found '()))
      (labels ((walk (class)
                 (loop for (sub) in (subclasses world class)
                       do (unless (gethash sub seen)
                            (setf (gethash sub seen) t)
                            (push sub found)
                            (walk sub)))))
        (walk class))
      (nreverse found))))

(defun overrides (world tag)
  "Tags of the members of subclasses, at any depth, that override or implement member TAG; by path and line."
  (let ((class (tag-parent world tag)))
    (when class
      (remembered (world :overrides tag)
        (let ((name (tag-name world tag)) (found '()))
          (dolist (sub (descendants world class))
            (let ((meaning (locate-own-member world sub name)))
              (dolist (tag (if (listp meaning) meaning (list meaning)))
                (when (integerp tag) (pushnew tag found)))))
          (opl.index.store:sorted-tags (world-index world) found))))))

(defun overridden (world tag)
  "Tags of the members of parents, at any depth, that member TAG overrides or implements; by path and line."
  (let ((class (tag-parent world tag)) (name (tag-name world tag)) (seen '()) (found '()))
    (when class
      (labels ((walk (class)
                 (loop for (super) in (superclasses world class)
                       do (unless (member super seen)
                            (push super seen)
                            (let ((meaning (locate-own-member world super name)))
                              (dolist (tag (if (listp meaning) meaning (list meaning)))
                                (when (integerp tag) (pushnew tag found))))
                            (walk super)))))
        (walk class)))
    (opl.index.store:sorted-tags (world-index world) found)))
