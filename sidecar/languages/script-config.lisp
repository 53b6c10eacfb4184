;;;; Configuration that says where modules are: package.json, tsconfig.json and their like. Each string in such a
;;;; file becomes a mark whose key is the path of keys to it, joined by line ends, and whose MORE is its place in
;;;; the list it stands in: ("compilerOptions\npaths\n@/*", "src/*", 0).

(defpackage #:opl.languages.script-config
  (:use #:cl #:opl.source.facts #:opl.source.tokens)
  (:import-from #:opl.source.names #:+none+ #:known #:intern-string)
  (:import-from #:opl.languages.extractor #:define-extractor))
(in-package #:opl.languages.script-config)

(defparameter *kept-keys*
  '("name" "main" "module" "types" "typings" "source" "exports" "imports" "workspaces" "compilerOptions" "extends"
    "references" "autoload" "autoload-dev" "browser" "bin")
  "Top-level keys that say where modules are; scripts, dependencies and settings of tools are left out.")

(defun config-file-p (path)
  (let ((name (subseq path (1+ (or (position #\/ path :from-end t) -1)))))
    (or (member name '("package.json" "composer.json" "deno.json" "deno.jsonc") :test #'string=)
        (and (> (length name) 8)
             (or (eql 0 (search "tsconfig" name)) (eql 0 (search "jsconfig" name)))))))

(defun unescaped (text)
  "TEXT of a JSON string with \\\\ \\/ \\\" put back."
  (if (find #\\ text)
      (with-output-to-string (out)
        (loop with i = 0
              while (< i (length text))
              do (let ((c (char text i)))
                   (when (and (char= c #\\) (< (1+ i) (length text))) (incf i) (setf c (char text i)))
                   (write-char c out)
                   (incf i))))
      text))

(defun read-value (tokens i keys facts names place depth)
  "Marks of the value at token I, whose keys are KEYS; the token after it."
  (cond ((or (>= i (tokens-count tokens)) (> depth 12)) (tokens-count tokens))
        ((= (token-kind tokens i) +string+)
         (add-mark facts (intern-string names (format nil (concatenate 'string "~{~A~^" (string #\Newline) "~}") (reverse keys)))
                   (intern-string names (unescaped (string-content tokens i))) place)
         (1+ i))
        ((token-opens-p tokens i)
         (let ((end (token-mate tokens i)) (j (1+ i)) (object (token-is tokens i "{")) (n 0))
           (loop while (< j end)
                 do (cond ((token-is tokens j ",") (incf j))
                          ((and object (= (token-kind tokens j) +string+) (token-is tokens (1+ j) ":"))
                           (let ((key (unescaped (string-content tokens j))))
                             (setf j (if (or keys (member key *kept-keys* :test #'string=))
                                         (read-value tokens (+ j 2) (cons key keys) facts names 0 (1+ depth))
                                         (skip-value tokens (+ j 2))))))
                          (object (incf j))
                          (t (setf j (read-value tokens j keys facts names n (1+ depth))) (incf n))))
           (1+ end)))
        (t (1+ i))))

(defun skip-value (tokens i)
  (if (token-opens-p tokens i) (1+ (token-mate tokens i)) (1+ i)))

(define-extractor :json (tokens facts names path) (:ctags-kinds :all)
  (when (config-file-p path)
    (read-value tokens 0 '() facts names 0 0)))
