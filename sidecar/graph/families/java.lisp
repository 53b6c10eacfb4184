;;;; Java: packages, imports of types and of their static members, nested types, implicit `this', overloads told
;;;; apart by number and types of arguments, collections of the library that hand out what they hold.

(in-package #:opl.graph.families.java)
(declaim (optimize (speed 1) (safety 1)))

;;; A bare name that is called is a method, whatever variables bear it

(defun callable-tags (world meaning)
  (let ((tags (remove-if-not (lambda (tag) (and (integerp tag) (= (tag-kind world tag) (known "method"))))
                             (if (listp meaning) meaning (list meaning)))))
    (one-or-all (reverse tags))))

(defun called-name (world file site)
  "The methods that a call of a bare name means, searched from the innermost class outwards, then among static imports."
  (let* ((run (world-run world file)) (callee (site-callee run site)))
    (when (and (/= callee +none+) (= (node-op run callee) +op-name+) (= (site-how run site) +call+))
      (let ((scope (node-b run callee)) (name (node-a run callee)))
        (loop repeat 100
              until (= scope +none+)
              do (when (and (= (scope-kind run scope) +class-scope+) (/= (scope-def run scope) +none+))
                   (let ((meaning (callable-tags world (values (locate-tag-member world (make-tag file (scope-def run scope)) name)))))
                     (when meaning (return-from called-name (values meaning :implicit-self)))))
                 (setf scope (scope-parent run scope)))
        (let ((binding (find-binding (view-of world file) 0 name)))
          (when (and binding (= (binding-kind run binding) +imported+))
            (let ((meaning (callable-tags world (import-meaning world file (binding-target run binding)))))
              (return-from called-name (values meaning :import)))))
        (dotimes (import (import-count run))
          (when (logtest +star+ (import-flags run import))
            (let ((meaning (callable-tags world (let ((m (member-at world (name-text world (import-module run import)) name)))
                                                  (if (typep m 'value) nil m)))))
              (when meaning (return-from called-name (values meaning :import))))))
        (values nil :unbound)))))

(defun constant-of (world value name)
  "Constants of the library's number types; what else its types hold is not known."
  (let ((text (type-text world value)))
    (when (and (boxed-p text) (let ((n (name-text world name))) (string= n (string-upcase n))))
      (let ((primitive (find-name (world-names world) (car (boxed-p text))))) (and primitive (builtin primitive))))))

;;; The library, as far as what it gives is one of ours

(defun called (world value name argument)
  "What method NAME of the library type VALUE gives."
  (declare (ignorable argument))
  (when (value-is value :builtin)
    (let* ((arguments (value-arguments value)) (first (first arguments)) (last (car (last arguments)))
           (type (type-text world value)) (method (name-text world name)))
      (flet ((is (&rest names) (member method names :test #'string=)) (of (&rest names) (member type names :test #'string=))
             (a (text &rest arguments) (let ((n (find-name (world-names world) text))) (and n (apply #'builtin n arguments)))))
        (cond ((is "valueOf") (if (of "String") value (if (boxed-p type) value nil)))
              ((is "requireNonNull" "checkNotNull" "requireNonNullElse") (funcall argument 0))
              ((and (of "Arrays" "List" "Set" "Collections" "ImmutableList" "ImmutableSet" "Stream" "Optional" "Iterators" "Lists")
                    (is "asList" "of" "singletonList" "singleton" "ofNullable" "stream" "unmodifiableList" "copyOf" "newArrayList"))
               (let ((element (funcall argument 0)))
                 (a (if (of "Optional" "Stream" "Set") type (if (is "stream") "Stream" "List"))
                    (if (and (value-is element :builtin) (value-arguments element)) (first (value-arguments element)) element))))
              ((is "parseInt" "incrementAndGet" "getAndIncrement" "decrementAndGet" "addAndGet" "nextInt" "ordinal" "read" "signum") (a "int"))
              ((is "parseLong" "currentTimeMillis" "nanoTime" "getTime") (a "long"))
              ((is "parseDouble") (a "double"))
              ((is "parseBoolean" "booleanValue") (a "boolean"))
              ((and (of "String") (is "format" "join")) value)
              ((is "toString" "getName" "getSimpleName" "name" "substring" "trim" "toLowerCase" "toUpperCase" "replace" "concat" "nextLine")
               (a "String"))
              ((is "equals" "isEmpty" "contains" "containsKey" "hasNext" "startsWith" "endsWith" "isInstance") (a "boolean"))
              ((is "length" "size" "hashCode" "indexOf" "compareTo" "intValue") (a "int"))
              ((is "longValue") (a "long"))
              ((is "doubleValue") (a "double"))
              ((is "charAt") (a "char"))
              ((null arguments) nil)
              ((of "Map" "HashMap" "TreeMap" "LinkedHashMap" "ConcurrentMap" "ConcurrentHashMap" "SortedMap" "NavigableMap" "EnumMap" "IdentityHashMap" "WeakHashMap")
               (cond ((is "get" "put" "remove" "getOrDefault" "putIfAbsent" "computeIfAbsent" "computeIfPresent" "compute" "merge" "replace") last)
                     ((is "entrySet") (a "Set" (a "Entry" first last)))
                     ((is "keySet") (a "Set" first))
                     ((is "values") (a "Collection" last))
                     ((is "firstKey" "lastKey") first)
                     ((is "firstEntry" "lastEntry" "floorEntry") (a "Entry" first last))))
              ((of "Entry") (cond ((is "getKey") first) ((is "getValue" "setValue") last)))
              ((is "iterator" "listIterator" "stream" "parallelStream" "filter" "sorted" "distinct" "limit" "skip" "peek" "subList" "descendingIterator"
                   "reversed" "or")
               (if (is "iterator" "listIterator") (a "Iterator" first) (if (is "stream") (a "Stream" first) (apply #'builtin (value-name value) arguments))))
              ((is "collect" "toList") (a "List" first))
              ((is "findFirst" "findAny" "min" "max" "reduce") (a "Optional" first))
              ((is "get" "next" "previous" "remove" "orElse" "orElseThrow" "orElseGet" "orNull" "poll" "peek" "pop" "element" "first" "last" "getFirst" "getLast"
                   "removeFirst" "removeLast" "pollFirst" "pollLast" "peekFirst" "take" "set" "getAndSet" "newInstance" "cast" "call" "join" "apply"
                   "elementAt" "firstElement" "lastElement")
               (if (is "apply" "call") last first)))))))

(defun callback-parameter (world value name argument parameter)
  "What a lambda that is passed to method NAME of the library type VALUE is given."
  (declare (ignorable argument))
  (let ((arguments (value-arguments value)) (method (name-text world name)))
    (flet ((is (&rest names) (member method names :test #'string=)))
      (cond ((null arguments) nil)
            ((rest arguments) (and (is "forEach" "replaceAll" "computeIfPresent" "compute" "computeIfAbsent") (nth parameter arguments)))
            ((is "forEach" "map" "filter" "flatMap" "anyMatch" "allMatch" "noneMatch" "ifPresent" "removeIf" "peek" "sort" "sorted" "min" "max" "forEachRemaining"
                 "mapToInt" "mapToObj" "mapToLong" "takeWhile" "dropWhile" "replaceAll" "reduce" "thenApply" "thenAccept" "thenCompose")
             (first arguments))))))

(defun applied (world name arguments)
  (declare (ignore world))
  (apply #'builtin name arguments))

(define-family :java
  :import-module #'import-module-of
  :outer-name #'outer-name-of
  :package-member #'member-of-package
  :constructor #'constructor-of
  :select #'select-by-arguments
  :accepts #'accepts-p
  :callee #'called-name
  :builtin-member #'constant-of
  :overloads t
  :builtin-call #'called
  :builtin-callback #'callback-parameter
  :apply-builtin #'applied
  :implicit-self t
  :guess nil)
