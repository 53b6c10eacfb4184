(defpackage #:opl.failures.xml
  (:use #:cl)
  (:shadowing-import-from #:opl.failures.pattern #:search)
  (:export #:parse-xml #:node #:node-p #:node-name #:node-children #:attribute #:node-text #:children-named #:make-node))
(in-package #:opl.failures.xml)

(declaim (optimize (speed 1) (safety 1)))

;;; XML as test runners write it, read with patience: end tags that do not fit close what is open, stray ampersands stand for
;;; themselves, a torn file is what was read of it.

(defstruct node (name "" :type string) (attributes '() :type list) (children '() :type list))

(defun name-char-p (c) (or (alphanumericp c) (find c "_-.:")))

(defun entity (name)
  "The characters of &NAME;, or nil."
  (cond ((string= name "lt") "<") ((string= name "gt") ">") ((string= name "amp") "&") ((string= name "quot") "\"") ((string= name "apos") "'")
        ((and (> (length name) 1) (char= #\# (char name 0)))
         (let ((code (if (char-equal #\x (char name 1)) (parse-integer name :start 2 :radix 16 :junk-allowed t) (parse-integer name :start 1 :junk-allowed t))))
           (and code (< 0 code #x110000) (not (<= #xD800 code #xDFFF)) (string (code-char code)))))))

(defun decoded (text)
  "TEXT with its entities replaced."
  (if (not (find #\& text)) text
      (with-output-to-string (out)
        (loop with i = 0
              while (< i (length text))
              do (let* ((c (char text i)) (stop (and (char= c #\&) (position #\; text :start i :end (min (length text) (+ i 12)))))
                        (value (and stop (entity (subseq text (1+ i) stop)))))
                   (cond (value (write-string value out) (setf i (1+ stop)))
                         (t (write-char c out) (incf i))))))))

(defun read-attributes (text at)
  "The attributes of the tag whose name ends at AT; the position after the tag; whether it is empty."
  (let ((attributes '()) (n (length text)))
    (loop
      (setf at (or (position-if-not (lambda (c) (member c '(#\Space #\Tab #\Newline #\Return))) text :start at) n))
      (when (>= at n) (return (values (nreverse attributes) n nil)))
      (let ((c (char text at)))
        (cond ((char= c #\>) (return (values (nreverse attributes) (1+ at) nil)))
              ((and (char= c #\/) (< (1+ at) n) (char= #\> (char text (1+ at)))) (return (values (nreverse attributes) (+ at 2) t)))
              ((name-char-p c)
               (let* ((end (or (position-if-not #'name-char-p text :start at) n)) (name (subseq text at end))
                      (equal (position-if-not (lambda (c) (char= c #\Space)) text :start end)))
                 (cond ((and equal (char= #\= (char text equal)))
                        (let* ((open (position-if (lambda (c) (find c "\"'>")) text :start equal)) (quote (and open (char text open)))
                               (close (and open (char/= quote #\>) (position quote text :start (1+ open)))))
                          (cond (close (push (cons name (decoded (subseq text (1+ open) close))) attributes) (setf at (1+ close)))
                                (t (setf at (or open n))))))
                       (t (setf at end)))))
              (t (incf at)))))))

(defun parse-xml (text)
  "The top nodes of TEXT, a list; their children are nodes and strings in order."
  (let ((stack (list (make-node))) (at 0) (n (length text)))
    (flet ((add (child) (push child (node-children (first stack))))
           (close-top ()
             (let ((done (pop stack)))
               (setf (node-children done) (nreverse (node-children done)))
               (push done (node-children (first stack))))))
      (loop while (< at n)
            do (let ((open (or (position #\< text :start at) n)))
                 (when (> open at)
                   (let ((piece (decoded (subseq text at open)))) (add piece)))
                 (setf at open)
                 (when (< at n)
                   (flet ((starts (mark) (let ((end (+ at (length mark)))) (and (<= end n) (string= mark text :start2 at :end2 end)))))
                     (cond ((starts "<![CDATA[")
                            (let ((end (or (search "]]>" text :start2 at) n)))
                              (add (subseq text (+ at 9) end)) (setf at (min n (+ end 3)))))
                           ((starts "<!--") (setf at (min n (+ 3 (or (search "-->" text :start2 at) n)))))
                           ((or (starts "<?") (starts "<!")) (setf at (min n (1+ (or (position #\> text :start at) n)))))
                           ((starts "</")
                            (let* ((end (or (position #\> text :start at) n)) (name (string-trim " " (subseq text (+ at 2) end))))
                              (when (find name (butlast stack) :key #'node-name :test #'string=)
                                (loop until (string= name (node-name (first stack))) do (close-top))
                                (close-top))
                              (setf at (min n (1+ end)))))
                           ((and (< (1+ at) n) (name-char-p (char text (1+ at))))
                            (let* ((end (or (position-if-not #'name-char-p text :start (1+ at)) n)) (name (subseq text (1+ at) end)))
                              (multiple-value-bind (attributes after empty) (read-attributes text end)
                                (push (make-node :name name :attributes attributes) stack)
                                (when empty (close-top))
                                (setf at after))))
                           (t (add "<") (incf at)))))))
      (loop while (rest stack) do (close-top))
      (remove-if-not #'node-p (reverse (node-children (first stack)))))))

(defun attribute (node name) "The attribute NAME of NODE, or nil." (cdr (assoc name (node-attributes node) :test #'string=)))
(defun node-text (node) "All the text in NODE." (with-output-to-string (out) (labels ((walk (x) (if (stringp x) (write-string x out) (mapc #'walk (node-children x))))) (walk node))))
(defun children-named (node &rest names) "The children of NODE with one of NAMES, in order."
  (remove-if-not (lambda (child) (and (node-p child) (member (node-name child) names :test #'string=))) (node-children node)))
