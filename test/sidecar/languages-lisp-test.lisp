(load (merge-pathnames "sources.lisp" *load-truename*))
(defpackage #:opl.test.languages-lisp (:use #:cl #:opl.test #:opl.test.sources))
(in-package #:opl.test.languages-lisp)

(defun sorted (list) (sort (copy-list list) #'string<))
(defun check-edges (wanted files) (check-equal (sorted wanted) (sorted (edges-of files))))

(deftest common-lisp-functions
  (let ((source (lines "(defvar *x* (make-x))"                  ; 1
                       "(defun foo (a &optional (b (bar)))"     ; 2
                       "  \"(doc)\""                            ; 3
                       "  (let ((x (baz a)) (y 1))"             ; 4
                       "    (cond ((null x) (qux b))"           ; 5
                       "          (t (mapcar #'foo '(no code)))))" ; 6
                       "  (flet ((inner (z) (baz z))) (inner 1)))" ; 7
                       "(defmethod (setf size) (v (s shelf)) (foo v))" ; 8
                       "(defmacro with-foo ((name (kind)) &body body) `(let ((,name (foo 1))) ,@body))" ; 9
                       "(setf *x* (lambda (y) (foo y)))"))) ; 10
    (check-equal '("variable *x* 1" "function foo 2-7" "function inner 7<foo" "method size 8" "macro with-foo 9") (definitions "a.lisp" source))
    (check-equal '("make-x:1" "foo>bar:2" "foo>baz:4" "foo>null:5" "foo>qux:5" "foo>mapcar:6" "foo>foo:6" "inner>baz:7" "foo>inner:7" "size>foo:8"
                   "with-foo>foo:9" "foo:10")
                 (calls "a.lisp" source))))

(deftest what-structures-and-classes-define-of-themselves
  (check-equal '("struct shelf 1-2" "constructor make-shelf 1<shelf" "function shelf-p 1<shelf" "field shelf-a 2<shelf" "field shelf-b 2<shelf"
                 "struct box 3-4" "constructor box 3<box" "function copy-box 3<box" "field box-of-a 4<box"
                 "class k 5-6" "field s 6<k" "field k-s 6<k" "field t2 6<k" "field t2-of 6<k")
               (definitions "a.lisp" (lines "(defstruct (shelf (:copier nil))" "  \"doc\" a (b (init) :type (list 1)))"
                                            "(defstruct (box (:constructor box (a)) (:predicate nil) (:conc-name box-of-) (:include shelf))" "  a)"
                                            "(defclass k (base)" "  ((s :initarg :s :accessor k-s :initform (f)) (t2 :reader t2-of)))")))
  (check-equal '("init:2" "f:4")
               (calls "a.lisp" (lines "(defstruct shelf" "  a (b (init) :type (list 1)))" "(defclass k (base)" "  ((s :initarg :s :accessor k-s :initform (f))))")))
  (check-equal '("struct point 1" "constructor point 1<point" "function point? 1<point" "field point-x 1<point" "field point-y 1<point")
               (definitions "a.rkt" (lines "(struct point (x y))")))
  (check-equal '("struct point 1" "constructor make-point 1<point" "function point? 1<point" "field point-x 1<point" "field set-point-x! 1<point")
               (definitions "a.scm" (lines "(define-record-type point (make-point x) point? (x point-x set-point-x!))"))))

(deftest clojure-names-metadata-and-protocols
  (let ((source (lines "(ns app.core (:require [app.util :as u :refer [trim]] [app.other]) (:use [app.all]))" ; 1
                       "(defn- helper [x] (inc x))"                            ; 2
                       "(defn run \"doc\""                                     ; 3
                       "  ([a] (run a 1))"                                     ; 4
                       "  ([a b] (u/go (helper a)) (-> a u/first (trim b))))"  ; 5
                       "(def ^:private limit 3)"                               ; 6
                       "(def ^{:doc \"x\"} twice (fn [x] (helper x)))"         ; 7
                       "(defprotocol Store (put [s k]) (take-out [s]))"        ; 8
                       "(defrecord Disk [path] Store (put [s k] (helper k)) (take-out [s] (u/go s)))" ; 9
                       "(defroutes app (GET \"/\" [] (run 1)))"                ; 10
                       "(deftest ^:slow run-test (is (= 1 (run 1))))")))       ; 11
    (check-equal '("namespace app.core 1" "function helper 2" "function run 3-5" "variable limit 6" "function twice 7" "protocol Store 8" "method put 8<Store"
                   "method take-out 8<Store" "struct Disk 9" "constructor ->Disk 9<Disk" "constructor map->Disk 9<Disk" "constructor Disk. 9<Disk"
                   "method put 9<Disk" "method take-out 9<Disk" "function app 10" "function run-test 11")
                 (definitions "a.clj" source))
    (check-equal '("helper>inc:2" "run>run:4" "run>go:5" "run>helper:5" "run>first:5" "run>trim:5" "twice>helper:7" "put>helper:9" "take-out>go:9"
                   "defroutes:10" "app>GET:10" "app>run:10" "run-test>is:11" "run-test>=:11" "run-test>run:11")
                 (calls "a.clj" source))
    (check-equal '("run-test 11-11") (tests "a.clj" source))
    (check-equal '("u=* of app.util" "trim=trim of app.util" "=* of app.other" "=* of app.all") (imports "a.clj" source))))

(deftest packages-of-common-lisp
  (check-edges '("app.lisp:3 trim > text.lisp:3" "app.lisp:4 make-box > text.lisp:5" "app.lisp:5 hidden > text.lisp:4" "app.lisp:6 box-lid > text.lisp:5"
                 "app.lisp:7 own > more.lisp:2" "app.lisp:8 tokens > other.lisp:3" "app.lisp:9 tokens > other.lisp:3" "text.lisp:3 hidden > text.lisp:4")
               `(("text.lisp" . ,(lines "(defpackage #:shop.text (:use #:cl) (:export #:trim #:make-box #:box-lid))" "(in-package #:shop.text)"
                                        "(defun trim (x) (hidden x))" "(defun hidden (x) x)" "(defstruct box lid)"))
                 ("other.lisp" . ,(lines "(defpackage :shop.other (:use :cl) (:nicknames :oth) (:export :tokens))" "(in-package :shop.other)" "(defun tokens (x) x)"
                                         "(defun own (x) x)" "(defun from-nowhere (x) x)"))
                 ("more.lisp" . ,(lines "(in-package #:shop.app)" "(defun own (x) x)"))
                 ("app.lisp" . ,(lines "(defpackage #:shop.app (:use #:cl #:shop.text) (:import-from #:shop.other #:tokens) (:local-nicknames (#:o #:shop.other)))"
                                       "(in-package #:shop.app)" "(defun a (x) (trim x))" "(defun b () (make-box))" "(defun c (x) (shop.text::hidden x))"
                                       "(defun d (x) (setf (box-lid x) 1))" "(defun e (x) (own x))" "(defun f (x) (tokens x))" "(defun g (x) (o:tokens x))"
                                       ;; not exported, not imported; known nowhere
                                       "(defun h (x) (hidden x) (from-nowhere x) (uiop:trim x))")))))

(deftest a-generic-function-stands-before-its-methods
  (check-edges '("a.lisp:5 area > a.lisp:2" "b.lisp:3 area > a.lisp:2")
               `(("a.lisp" . ,(lines "(in-package #:shapes)" "(defgeneric area (shape))" "(defmethod area ((s square)) 1)" "(defmethod area ((s circle)) 2)" "(defun total (s) (area s))"))
                 ("b.lisp" . ,(lines "(in-package #:shapes)" "(defmethod area ((s oval)) 3)" "(defun other (s) (area s))")))))

(deftest namespaces-of-clojure
  (check-edges '("src/app/core.clj:2 go > src/app/text_util.clj:2" "src/app/core.clj:2 trim > src/app/text_util.clj:3"
                 "src/app/core.clj:3 whole > src/app/all.clj:2" "src/app/core.clj:4 go > src/app/text_util.clj:2")
               `(("src/app/text_util.clj" . ,(lines "(ns app.text-util)" "(defn go [x] x)" "(defn trim [x] x)" "(defn hidden [x] x)"))
                 ("src/app/all.clj" . ,(lines "(ns app.all)" "(defn whole [x] x)"))
                 ("src/app/core.clj" . ,(lines "(ns app.core (:require [app.text-util :as t :refer [trim]] [clojure.string :as s]) (:use [app.all]))"
                                               "(defn run [x] (t/go (trim x)))" "(defn more [x] (whole x) (s/trim x) (hidden x))"
                                               "(defn through [x] (-> x t/go))")))))

(deftest one-space-of-names-for-emacs-lisp
  (check-edges '("lisp/shop.el:2 shop-util-trim > util/shop-util.el:1 likely")
               `(("util/shop-util.el" . ,(lines "(defun shop-util-trim (x) x)" "(provide 'shop-util)"))
                 ("util/other.clj" . ,(lines "(defn shop-run-more [x] x)"))
                 ("util/other.scm" . ,(lines "(define (shop-run-more x) x)"))
                 ;; a Lisp knows nothing of another
                 ("util/use.lisp" . ,(lines "(defun use (x) (shop-run-more x) (shop-run x))"))
                 ("lisp/shop.el" . ,(lines "(require 'shop-util)" "(defun shop-run (x) (shop-util-trim (format \"%s\" x)))")))))
