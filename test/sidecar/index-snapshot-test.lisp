;;;; A snapshot gives back the index it was written from, or nothing: torn, damaged, foreign, in the way.

(unless (find-package "OPL.TEST.REPOSITORY") (load (merge-pathnames "repository.lisp" *load-truename*)))

(defpackage #:opl.test.index-snapshot
  (:use #:cl #:opl.test #:opl.test.repository)
  (:import-from #:opl.index.snapshot #:write-snapshot #:read-snapshot #:snapshot-name)
  (:import-from #:opl.index.refresh #:look))
(in-package #:opl.test.index-snapshot)

(deftest snapshot-gives-the-index-back
  (with-repository (folder ("a.py" "def one():
    return two()

def two():
    pass
") ("b.js" "export class A { m() { return this.n(); } n() {} }"))
    (let ((index (build folder)) (cache (native folder ".git/cache")))
      (check (write-snapshot index cache "1" nil "c"))
      (let ((read (read-snapshot (opl.index.store:index-root index) cache "1" nil (lambda (ctags) (equal ctags "c")))))
        (check read)
        (check-equal (dump index) (dump read))
        (let ((change (look read)))
          (check (or (null change)
                     (and (null (opl.index.refresh:change-changed change)) (null (opl.index.refresh:change-removed change)))))))
      (check-equal nil (read-snapshot (opl.index.store:index-root index) cache "2" nil (lambda (ctags) (equal ctags "c"))))
      (check-equal nil (read-snapshot (opl.index.store:index-root index) cache "1" '("x") (lambda (ctags) (equal ctags "c"))))
      ;; the sources that read files have changed since, the version has not
      (let ((opl.load:*reading-key* (1+ opl.load:*reading-key*)))
        (check-equal nil (read-snapshot (opl.index.store:index-root index) cache "1" nil (lambda (ctags) (equal ctags "c")))))
      (check-equal nil (read-snapshot "/elsewhere" cache "1" nil (lambda (ctags) (equal ctags "c")))))))

(defun damage (cache change)
  "Rewrites the snapshot in CACHE as CHANGE, a function of its octets, gives it."
  (let* ((name (sb-ext:parse-native-namestring (snapshot-name cache)))
         (octets (with-open-file (in name :element-type '(unsigned-byte 8))
                   (let ((octets (make-array (file-length in) :element-type '(unsigned-byte 8)))) (read-sequence octets in) octets))))
    (with-open-file (out name :direction :output :if-exists :supersede :element-type '(unsigned-byte 8))
      (write-sequence (funcall change octets) out))))

(deftest torn-damaged-and-foreign-snapshots-are-not-trusted
  (with-repository (folder ("a.py" "def one():
    pass
"))
    (let* ((index (build folder)) (cache (native folder ".git/cache")) (root (opl.index.store:index-root index)))
      (dolist (change (list (lambda (octets) (subseq octets 0 (floor (length octets) 2)))
                            (lambda (octets) (subseq octets 0 (- (length octets) 8)))
                            (lambda (octets) (subseq octets 0 4))
                            (lambda (octets) (let ((copy (copy-seq octets))) (setf (aref copy (floor (* 2 (length copy)) 3)) (logxor 85 (aref copy (floor (* 2 (length copy)) 3)))) copy))
                            (lambda (octets) (fill (copy-seq octets) 255))
                            (lambda (octets) (declare (ignore octets)) (sb-ext:string-to-octets "something else altogether"))))
        (check (write-snapshot index cache "1" nil "c"))
        (damage cache change)
        (check-equal nil (read-snapshot root cache "1" nil (lambda (ctags) (equal ctags "c"))))))))

(deftest a-snapshot-torn-or-flipped-anywhere-is-refused-or-whole
  (with-repository (folder ("a.py" "def one():
    return two()
def two():
    pass
"))
    (let* ((index (build folder)) (cache (native folder ".git/cache")) (root (opl.index.store:index-root index)) (good nil))
      (check (write-snapshot index cache "1" nil "c"))
      (damage cache (lambda (octets) (setf good octets)))
      (flet ((read-back (octets)
               (damage cache (constantly octets))
               (read-snapshot root cache "1" nil (lambda (ctags) (equal ctags "c")))))
        (check (read-back good))
        (loop for cut from 0 below (length good) by 97
              do (check (null (read-back (subseq good 0 cut)))))
        (loop with expected = (dump index)
              for at from 0 below (length good) by 61
              do (let ((octets (copy-seq good)))
                   (setf (aref octets at) (logxor (ash 1 (mod at 8)) (aref octets at)))
                   (let ((read (read-back octets)))
                     ;; what stands between blocks means nothing
                     (when read (check-equal expected (dump read))))))))))

#-win32
(deftest what-a-killed-writer-left-is-deleted
  (with-repository (folder ("a.py" "x = 1"))
    (let ((index (build folder)) (cache (native folder ".git/cache")))
      (check (write-snapshot index cache "1" nil "c"))
      (dolist (name '("index.snapshot.1.OLD" "index.snapshot.2.NEW")) (put-file folder (concatenate 'string ".git/cache/" name) "half"))
      (sb-posix:utime (native folder ".git/cache/index.snapshot.1.OLD") 1000 1000)
      (check (write-snapshot index cache "1" nil "c"))
      (check-equal nil (probe-file (native folder ".git/cache/index.snapshot.1.OLD")))
      (check (probe-file (native folder ".git/cache/index.snapshot.2.NEW"))))))

#-win32
(deftest a-folder-in-the-snapshots-place-is-no-fault
  (with-repository (folder ("a.py" "x = 1"))
    (put-file folder ".git/cache/index.snapshot/x" "")
    (let ((cache (native folder ".git/cache")))
      (check-equal nil (write-snapshot (build folder) cache "1" nil "c"))
      (check-equal nil (read-snapshot (native folder) cache "1" nil (lambda (ctags) (equal ctags "c"))))
      (check-equal '("index.snapshot") (opl.source.octets:directory-entries cache)))))

(deftest a-cache-that-cannot-be-written-costs-nothing
  (with-repository (folder ("a.py" "x = 1"))
    (put-file folder "file" "")
    (check-equal nil (write-snapshot (build folder) (native folder "file/cache") "1" nil "c"))))
