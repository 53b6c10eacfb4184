;;;; The extractor of JavaScript, TypeScript, JSX, TSX, Vue and Svelte files.

(in-package #:opl.languages.script)
(declaim (optimize (speed 2) (safety 1)) (sb-ext:muffle-conditions sb-ext:compiler-note))

(defun typed-language-p (language)
  "Whether files of LANGUAGE may hold type annotations. Vue and Svelte do with lang=\"ts\"; without it they read the same."
  (not (string= (language-name language) "JavaScript")))

(defun flow-p (tokens)
  "Whether the first comment of a JavaScript file says @flow: then it has type annotations."
  (and (plusp (tokens-comment-count tokens))
       (let ((end (min (comment-end tokens 0) (+ 400 (comment-start tokens 0)))) (octets (tokens-octets tokens)))
         (and (search #.(map '(simple-array (unsigned-byte 8) (*)) #'char-code "@flow") octets
                      :start2 (comment-start tokens 0) :end2 end)
              t))))

(defun ends-with-p (path end)
  (let ((start (- (length path) (length end)))) (and (>= start 0) (string= end path :start2 start))))

(define-extractor :script (tokens facts names path) (:ctags-kinds ())
  (add-scope facts +none+ +module-scope+ +none+)
  (let ((r (make-script :tokens tokens :facts facts :names names :path path :limit (tokens-count tokens)
                        :typed (or (typed-language-p (tokens-language tokens)) (flow-p tokens))
                        :ambient (or (ends-with-p path ".d.ts") (ends-with-p path ".d.mts") (ends-with-p path ".d.cts")))))
    (unless (script-typed r) (read-typedefs r))
    (parse-statements r)))
