;;;; Decisions in what people and models write: the sentences that say what was chosen, and why.

(defpackage #:opl.session.decision
  (:use #:cl)
  (:import-from #:opl.session.observation #:one-line #:shorten)
  (:export #:decisions #:trivial-request-p))

(in-package #:opl.session.decision)

(declaim (optimize (speed 1) (safety 1)))

(defparameter *markers*
  '("decided" "decision" "we chose" "i chose" "chose " "we choose" "we'll use" "we will use" "i'll use" "let's use"
    "lets use" "we use " "going with" "go with" "opted" "instead of" "rather than" "settled on" "we agreed"
    "must not" "must never" "never use" "always use" "do not use" "don't use" "prefer " "stick with" "agreed to"
    "the plan is" "we keep" "we drop" "convention:" "rule:")
  "What a sentence says that states a choice or a rule.")

(defconstant +sentence-limit+ 300
  "Characters of a decision; a longer sentence is cut.")

(defconstant +decisions-limit+ 8
  "Decisions taken from one text.")

(defun sentences (text)
  "The sentences of TEXT: ended by . ! ? before white space, or by the end of a line."
  (let ((sentences '()) (start 0))
    (loop for index from 0 below (length text)
          for character = (char text index)
          when (or (char= character #\Newline)
                   (and (find character ".!?")
                        (or (= (1+ index) (length text))
                            (find (char text (1+ index)) '(#\Space #\Newline #\Tab #\Return)))))
            do (push (subseq text start (1+ index)) sentences)
               (setf start (1+ index)))
    (push (subseq text start) sentences)
    (remove "" (mapcar #'one-line (nreverse sentences)) :test #'string=)))

(defun without-code (text)
  "TEXT without its fenced blocks: code states no decisions."
  (with-output-to-string (stream)
    (loop with inside = nil
          for start = 0 then (+ fence 3)
          for fence = (search "```" text :start2 start)
          do (unless inside (write-string text stream :start start :end fence))
             (setf inside (not inside))
          while fence)))

(defun decisions (text)
  "The sentences of TEXT that state a choice, a rule or a plan: a list of strings, in order, at most 8."
  (let ((found (remove-if-not
                (lambda (sentence)
                  (and (> (length sentence) 12)
                       ;; A question decides nothing.
                       (char/= #\? (char sentence (1- (length sentence))))
                       (some (lambda (marker) (search marker sentence :test #'char-equal)) *markers*)))
                (sentences (without-code text)))))
    (mapcar (lambda (sentence) (shorten (string-left-trim "-*#> " sentence) +sentence-limit+))
            (subseq found 0 (min +decisions-limit+ (length found))))))

(defparameter *trivial*
  '("yes" "y" "no" "n" "ok" "okay" "k" "continue" "go on" "go ahead" "proceed" "next" "sure" "thanks" "thank you"
    "do it" "please do" "yes please" "please continue" "keep going" "carry on" "good" "great" "fine" "perfect"
    "looks good" "lgtm" "stop" "wait" "hi" "hello" "please proceed" "yep" "yeah" "nope" "right" "correct" "done"
    "nice" "cool" "go" "retry" "try again" "again")
  "Turns that ask for nothing new.")

(defun trivial-request-p (text)
  "True when TEXT asks for nothing that could be looked for: yes, continue, thanks."
  (let ((words (string-trim " .!,;:)(\"'" (one-line (string-downcase text)))))
    (or (< (length words) 3)
        (member words *trivial* :test #'string=)
        (and (eql 0 (search "ok" words)) (< (length words) 20)
             (member (string-left-trim " ,." (subseq words 2)) *trivial* :test #'string=)))))
