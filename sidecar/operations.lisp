;;;; One form per operation of protocol.tsv: the only file that sees both a request and an index. An operation the table has and this file
;;;; does not is answered with not-implemented.

(defpackage #:opl.operations
  (:use #:cl)
  (:import-from #:opl.wire.conditions #:fail)
  (:import-from #:opl.wire.protocol #:define-operation #:emit #:progress #:slice))

(in-package #:opl.operations)
