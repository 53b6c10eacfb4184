;;;; What macros of one C file define in another, and that a refreshed index holds the same of it as one built from scratch.

(unless (find-package "OPL.TEST.REPOSITORY") (load (merge-pathnames "repository.lisp" *load-truename*)))

(defpackage #:opl.test.index-expansion
  (:use #:cl #:opl.test #:opl.test.repository)
  (:import-from #:opl.index.store #:definition-tags #:tag-line #:tag-end #:tag-path #:tag-kind #:index-names))
(in-package #:opl.test.index-expansion)

(defun places (index name)
  "(path kind line end) of the definitions called NAME, macros and prototypes left out."
  (loop for tag in (definition-tags index name)
        for kind = (opl.source.names:name-string (index-names index) (tag-kind index tag))
        unless (member kind '("macro" "prototype") :test #'string=)
          collect (list (tag-path index tag) kind (tag-line index tag) (tag-end index tag))))

(defun text (&rest lines) (format nil "~{~A~%~}" lines))

(defparameter *template* (text "int shapeArea(shape *s) {" "  return s->w * s->h;" "}"))
(defparameter *opcodes* (text "OP(LOAD, 1)" "OP(STORE, 2)"))

(deftest a-source-included-under-other-names-holds-them
  (with-repository (folder ("lib/impl.c" *template*)
                           ("lib/round.c" (text "#define shapeArea roundArea" "#include \"impl.c\""))
                           ("lib/names.h" (text "#define shapeArea squareArea"))
                           ("lib/square.c" (text "#include \"names.h\"" "#include \"impl.c\""))
                           ("lib/late.c" (text "#include \"impl.c\"" "#define shapeArea lateArea"))
                           ("main.c" (text "int main(void) { return roundArea(0); }")))
    (let ((index (build folder)))
      (check-equal '(("lib/impl.c" "function" 1 3)) (places index "roundArea"))
      (check-equal '(("lib/impl.c" "function" 1 3)) (places index "squareArea"))
      (check-equal '(("lib/impl.c" "function" 1 3)) (places index "shapeArea"))
      (check-equal nil (places index "lateArea"))
      (check (find '(:edge "main.c" 1 "lib/impl.c" 1 :likely) (first (dump index)) :test #'equal)))))

(deftest a-list-of-uses-is-what-its-includer-makes-of-it
  (with-repository (folder ("opcodes.h" *opcodes*)
                           ("vm.h" (text "#define OP(name, arity) OP_##name," "typedef enum {" "#include \"opcodes.h\"" "} op;" "#undef OP"))
                           ("vm.c" (text "#define OP(name, arity) static int do_ ## name(int a) { return a; }" "#include \"opcodes.h\"" "#undef OP"
                                         "#define OP(name, arity) { #name, arity }," "static struct op table[] = {" "#include \"opcodes.h\"" "};")))
    (let ((index (build folder)))
      (check-equal '(("opcodes.h" "enumerator" 1 1)) (places index "OP_LOAD"))
      (check-equal '(("opcodes.h" "function" 2 2)) (places index "do_STORE"))
      (check-equal nil (places index "LOAD")))))

(deftest a-macro-of-a-header-makes-functions-where-it-is-used
  (with-repository (folder ("ops.h" (text "#define FLAG_FNS(bit, name) \\" "static int set_##name(int *f) { return *f |= bit; } \\"
                                          "static int clear_##name(int *f) { return *f &= ~bit; }"
                                          "#define BOTH(name) FLAG_FNS(1, name) FLAG_FNS(2, old_##name)"
                                          "#define ALL EACH(up) \\" " EACH(down)"))
                           ("use.c" (text "#include \"ops.h\"" "FLAG_FNS(4, dirty)" "BOTH(locked);"
                                          "#define EACH(name) \\" "static int go_##name(int n) { return n; }" "ALL" "#undef EACH"))
                           ("other.c" (text "#define FLAG_FNS(bit, name) int name;" "FLAG_FNS(1, mine)")))
    (let ((index (build folder)))
      (check-equal '(("use.c" "function" 2 2)) (places index "set_dirty"))
      (check-equal '(("use.c" "function" 2 2)) (places index "clear_dirty"))
      (check-equal '(("use.c" "function" 3 3)) (places index "set_old_locked"))
      (check-equal '(("use.c" "function" 6 6)) (places index "go_down"))
      (check-equal nil (places index "set_mine")))))

(deftest a-function-whose-head-is-a-macro-has-its-name
  (with-repository (folder ("lexer.c" (text "#define scan my_scan" "#define DECL int scan \\" "  (int n)" "DECL" "{" "  return work(n);" "}" "int work(int n) { return n; }")))
    (let ((index (build folder)))
      (check-equal '(("lexer.c" "function" 4 7)) (places index "my_scan")))))

(defparameter *state* 11)
(defun draw (limit)
  (setf *state* (mod (+ (* 1103515245 *state*) 12345) 2147483648))
  (mod (ash *state* -8) limit))

(defun random-step (folder)
  (let ((n (draw 3)))
    (handler-case
        (ecase (draw 9)
          (0 (put-file folder "impl.c" (format nil "~V%int shapeArea(int n) { return n; }~%int other~D(int n) { return shapeArea(n); }~%" (draw 3) n)))
          (1 (put-file folder (format nil "user~D.c" n)
                       (format nil "~[~;#include \"names.h\"~%~]#define shapeArea area~D~%~[#include \"impl.c\"~;#include \"ops.h\"~;~]~%MAKE(m~D)~%int use~D(void) { return area~D(1) + made_m~D(2); }~%"
                               (draw 2) (draw 4) (draw 3) n n (draw 4) n)))
          (2 (put-file folder "names.h" (format nil "#define shapeArea named~D~%#define other~D renamed~%" (draw 2) (draw 3))))
          (3 (put-file folder "ops.h" (format nil "~[#define MAKE(x) int made_##x(int n) { return n; }~;#define MAKE(x) int x;~;~]~%" (draw 3))))
          (4 (put-file folder "list.h" (format nil "MAKE(l~D)~%MAKE(k~D)~%" (draw 3) (draw 3))))
          (5 (put-file folder "enum.h" (format nil "#define MAKE(x) E_##x,~%enum {~%~[#include \"list.h\"~;~]~%};~%" (draw 2))))
          (6 (remove-file folder (nth n '("impl.c" "list.h" "ops.h"))))
          (7 (move-file folder "impl.c" "sub/impl.c"))
          (8 (move-file folder "sub/impl.c" "impl.c")))
      (error () nil))))

(defun move-file (folder from to)
  (ensure-directories-exist (sb-ext:parse-native-namestring (native folder to)))
  (sb-unix:unix-rename (native folder from) (native folder to)))

(deftest refreshed-expansions-equal-rebuilt-ones
  (with-repository (folder ("impl.c" *template*) ("user0.c" (text "#define shapeArea area0" "#include \"impl.c\"")))
    (let ((index (build folder)) (expanded 0))
      (dotimes (step 80)
        (random-step folder)
        (when (zerop (draw 2))
          (setf index (refresh index))
          (let ((rows (dump index)))
            (check-equal (dump (build folder)) rows)
            (incf expanded (count-if (lambda (row) (member (second row) '("area0" "area1" "made_m0" "E_l0" "named1") :test #'equal)) (first rows))))))
      (check (> expanded 10)))))

(deftest a-snapshot-keeps-and-mends-expansions
  (with-repository (folder ("impl.c" *template*) ("user.c" (text "#define shapeArea area0" "#include \"impl.c\"")))
    (with-scratch-folder (cache)
      (let ((index (build folder)) (cache (string-right-trim "/" (native cache))))
        (check (opl.index.snapshot:write-snapshot index cache "1" nil "c"))
        (put-file folder "user.c" (text "#define shapeArea area1" "#include \"impl.c\""))
        (let ((read (refresh (opl.index.snapshot:read-snapshot (opl.index.store:index-root index) cache "1" nil (constantly "c")))))
          (check-equal nil (places read "area0"))
          (check-equal (dump (build folder)) (dump read)))))))
