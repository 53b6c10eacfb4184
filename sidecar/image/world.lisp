;;;; The user's side of the image: the package OPL-USER, the package that is current between
;;;; evaluations, and how all of it is forgotten again.

(defpackage #:opl.image.world
  (:use #:cl)
  (:import-from #:opl.image.guard #:forget-threads)
  (:import-from #:opl.image.definitions #:forget-definitions)
  (:import-from #:opl.image.vocabulary)
  (:export #:user-package #:user-package-p #:current-package #:remember-package
           #:take-baseline #:reset))

(in-package #:opl.image.world)

(declaim (optimize (speed 1) (safety 1)))

(defparameter *user-package-name* "OPL-USER")

(defvar *current* nil
  "The package that the last evaluation left, or NIL for the user's own.")

(defvar *packages* '()
  "The packages of a pristine image; every other one is the user's.")

(defvar *methods* (make-hash-table :test #'eq)
  "Generic function -> its methods in a pristine image, for the functions of COMMON-LISP.")

(defun furnish (package)
  "Give PACKAGE the names every evaluation may use."
  (use-package '(#:common-lisp #:opl.image.vocabulary) package)
  ;; People type them; the guard answers.
  (import '(sb-ext:exit sb-ext:quit) package))

(defun user-package ()
  "The package that code is read in by default: COMMON-LISP and the vocabulary. Made anew when it was
deleted."
  (or (find-package *user-package-name*)
      (let ((package (make-package *user-package-name*)))
        (furnish package)
        package)))

(defun user-package-p (package)
  "True when PACKAGE is the one that code is read in by default."
  (eq package (find-package *user-package-name*)))

(defun current-package ()
  "The package the last evaluation left; the user's own at first, or when that one was deleted."
  (if (and *current* (package-name *current*))
      *current*
      (user-package)))

(defun remember-package (package)
  "Make PACKAGE the one the next evaluation begins in."
  (setf *current* (and (package-name package)
                       (find-package *user-package-name*)
                       (not (user-package-p package))
                       package)))

(defun map-language-generics (function)
  (do-external-symbols (symbol :common-lisp)
    (when (and (fboundp symbol)
               (typep (fdefinition symbol) 'generic-function))
      (funcall function (fdefinition symbol)))))

(defun lock-own-packages ()
  "Lock the sidecar's packages, so that a definition of the user's never takes the place of one of ours."
  (dolist (package (list-all-packages))
    (when (and (eql 0 (search "OPL." (package-name package)))
               (not (eql 0 (search "OPL.TEST" (package-name package)))))
      (sb-ext:lock-package package))))

(defun take-baseline ()
  "Remember what a pristine image holds and lock the sidecar's packages. To be called once, after
everything is loaded."
  (user-package)
  (lock-own-packages)
  (setf *packages* (list-all-packages))
  (clrhash *methods*)
  (map-language-generics
   (lambda (generic)
     (setf (gethash generic *methods*) (copy-list (sb-mop:generic-function-methods generic))))))

(defun user-made-p (package)
  "True for packages that are not of the pristine image. Packages of SBCL's contribs, loaded by a
REQUIRE in user code, stay: they are not definitions, and *MODULES* says that they are there. So do those of the
sidecar's own prefix, which tests load later."
  (not (or (member package *packages*)
           (let ((name (package-name package)))
             (some (lambda (prefix) (eql 0 (search prefix name))) '("OPL." "SB-" "ASDF" "UIOP" "COMMON-LISP"))))))

(defun forget-class (class)
  "Remove the methods that specialise on CLASS."
  (dolist (method (ignore-errors (copy-list (sb-mop:specializer-direct-methods class))))
    (let ((generic (sb-mop:method-generic-function method)))
      (when generic (remove-method generic method)))))

(defun forget-symbol (symbol)
  "Take every meaning from SYMBOL: function, macro, SETF function, variable, class, property list."
  (let ((class (find-class symbol nil)))
    (when class
      (forget-class class)
      (ignore-errors (setf (find-class symbol) nil))))
  (ignore-errors (fmakunbound symbol))
  (ignore-errors (fmakunbound (list 'setf symbol)))
  (ignore-errors (makunbound symbol))
  (setf (symbol-plist symbol) '()))

(defun forget-package (package)
  (let ((own '()))
    (do-symbols (symbol package)
      (when (eq (symbol-package symbol) package) (push symbol own)))
    (dolist (symbol own)
      (ignore-errors (forget-symbol symbol))
      (unintern symbol package))
    (length own)))

(defun delete-user-package (package)
  (ignore-errors (sb-ext:unlock-package package))
  (forget-package package)
  (dolist (user (package-used-by-list package))
    (ignore-errors (unuse-package package user)))
  (ignore-errors (delete-package package)))

(defun forget-methods ()
  (map-language-generics
   (lambda (generic)
     (multiple-value-bind (pristine known) (gethash generic *methods*)
       (when known
         (dolist (method (set-difference (sb-mop:generic-function-methods generic) pristine))
           (ignore-errors (remove-method generic method))))))))

(defun reset ()
  "Forget what user code defined: its functions, variables, classes, methods, packages and channels; end its
threads; go back to OPL-USER. Returns how many names were forgotten and how many threads ended.
Kept definitions are not dropped from the project: the caller loads them again."
  (let ((threads (forget-threads))
        (package (user-package)))
    (setf *current* nil)
    (forget-definitions)
    (forget-methods)
    (opl.search.rank:reset-channels)
    (dolist (made (remove-if-not #'user-made-p (list-all-packages)))
      (unless (eq made package) (delete-user-package made)))
    (let ((names (forget-package package)))
      (dolist (used (package-use-list package))
        (unless (member (package-name used) '("COMMON-LISP" "OPL.IMAGE.VOCABULARY") :test #'string=)
          (unuse-package used package)))
      (dolist (shadow (package-shadowing-symbols package))
        (unintern shadow package))
      (furnish package)
      (values names threads))))
