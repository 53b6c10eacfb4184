(defpackage #:opl.test.search-answer (:use #:cl #:opl.test))
(in-package #:opl.test.search-answer)

(defparameter *repository*
  '(("src/router.ts" . "import { trim } from './text'
// Finds the handler of a path.
export class Router {
  matchRoute(path: string) { return trim(path) }
  addRoute(path: string, handler: unknown) { throw new Error('route is already known here') }
}
")
    ("src/text.ts" . "export function trim(text: string) { return text.replace('/', '') }
export function getProfileInfoV2(user: string) { return user }
export const isTrialEligible = true
")
    ("src/session/index.ts" . "export class Session { expire() { return 1 } }
")
    ("src/router.test.ts" . "import { Router } from './router'
test('matchRoute finds the handler of a path', () => { new Router().matchRoute('/a') })
")
    ("demo/router-demo.ts" . "// route matching fails for encoded slashes
export const demo = 'route matching fails for encoded slashes'
")
    ("docs/routing.md" . "# route matching fails for encoded slashes
matchRoute matchRoute matchRoute encoded slashes
")
    ("vendor/router.js" . "function matchRoute(path) { return 'route matching fails for encoded slashes' }
")
    ("compiled/react-dom.development.js" . "function matchRoute(path) { return 'encoded slashes' }
//# sourceMappingURL=x.map
")
    ("src/operators.cpp" . "struct V { bool operator==(const V& o) const { return true; } };
int x(int y) { return y; }
")))

(defun run-git (root &rest arguments)
  (sb-ext:process-exit-code
   (sb-ext:run-program "git" (list* "-C" root "-c" "user.name=a" "-c" "user.email=a@b" "-c" "commit.gpgsign=false" arguments) :search t :output nil :error nil)))

(defun write-text (root path text)
  (let ((name (sb-ext:parse-native-namestring (concatenate 'string root path))))
    (ensure-directories-exist name)
    (with-open-file (out name :direction :output :if-exists :supersede :external-format :utf-8) (write-string text out))))

(defun commit (root message &rest files)
  (loop for (path . text) in files do (write-text root path text))
  (run-git root "add" "-A")
  (run-git root "commit" "-q" "--allow-empty" "-m" message))

(defun call-with-repository (function)
  (with-scratch-folder (folder)
    (let ((root (sb-ext:native-namestring folder)))
      (run-git root "init" "-q" "-b" "main")
      (apply #'commit root "First version" *repository*)
      (commit root "Fix expiry of sessions (#41)" '("src/session/index.ts" . "export class Session { expire() { return 2 } }
"))
      (funcall function root))))

(defmacro with-repository ((root) &body body) `(call-with-repository (lambda (,root) ,@body)))

(defun index-of (root) (opl.index.refresh:build-index root nil '()))
(defun ask (index history text &rest options) (apply #'opl.search.answer:answer index history text options))
(defun files-of (answer)
  (mapcar #'opl.search.answer:file-row-path (remove-if #'plusp (opl.search.answer:answer-files answer) :key #'opl.search.answer:file-row-hop)))
(defun first-file (index history text) (first (files-of (ask index history text))))

(deftest source-comes-before-demos-documents-and-vendored-files
  (with-repository (root)
    (let ((index (index-of root)))
      (check-equal "src/router.ts" (first-file index nil "route matching fails for encoded slashes in matchRoute"))
      (let ((files (files-of (ask index nil "route matching fails for encoded slashes in matchRoute"))))
        (check (< (position "src/router.ts" files :test #'string=) (or (position "vendor/router.js" files :test #'string=) 99)))
        (check (< (position "src/router.ts" files :test #'string=) (or (position "compiled/react-dom.development.js" files :test #'string=) 99))))
      (check-equal "docs/routing.md" (first-file index nil "typo in documentation: route matching encoded slashes"))
      (check (member "src/router.test.ts" (subseq (files-of (ask index nil "the test of matchRoute is flaky: src/router.test.ts")) 0 2) :test #'string=)))))

(deftest names-are-found
  (with-repository (root)
    (let ((index (index-of root)))
      (check-equal "src/router.ts" (first-file index nil "matchRoute"))
      (check-equal "src/text.ts" (first-file index nil "profileInfo isTrialEligible"))
      (check-equal "src/session/index.ts" (first-file index nil "session"))
      (check-equal "src/operators.cpp" (first-file index nil "x"))
      (check-equal "src/text.ts" (first-file index nil "src/text.ts")))))

;; `trim' looks like prose, but alone it is a name: the answer says why its file is there.
(deftest a-plain-word-alone-is-said-to-be-defined
  (with-repository (root)
    (let ((row (first (opl.search.answer:answer-files (ask (index-of root) nil "trim")))))
      (check-equal "src/text.ts" (opl.search.answer:file-row-path row))
      (check (member "defines trim" (opl.search.answer:file-row-reasons row) :test #'string=)))))

(deftest two-words-of-prose-are-no-names
  ;; every template's Makefile defines `deploy', and a task of two words asked for none of them
  (with-repository (root)
    (dotimes (i 5) (write-text root (format nil "lib/templates/t~D/deploy.py" i) (format nil "def deploy(): return ~D~%" i)))
    (write-text root "lib/stack/bucketing.py" "def deploy_bucket(bucket):
    # deploy the bucket
    return bucket
")
    (let ((index (index-of root)))
      (check-equal "lib/stack/bucketing.py" (first-file index nil "deploy bucket"))
      (check (search "/deploy.py" (first-file index nil "deploy")))
      (dolist (row (opl.search.answer:answer-files (ask index nil "deploy")))
        (check (notany (lambda (reason) (opl.search.rank:find-channel reason)) (opl.search.answer:file-row-reasons row)))))))

(deftest what-says-nothing-is-answered-with-nothing-and-what-was-searched
  (with-repository (root)
    (let ((answer (ask (index-of root) nil "zzyzx")))
      (check-equal '() (opl.search.answer:answer-files answer))
      (check-equal 0 (opl.search.answer:answer-total answer))
      (check (search "9 files" (opl.search.answer:answer-searched answer)))
      (check (opl.search.answer:answer-searched (ask (index-of root) nil "日本語")))
      (check (opl.search.answer:answer-searched (ask (index-of root) nil ""))))))

(deftest symbols-and-related-files-come-with-the-files
  (with-repository (root)
    (let* ((index (index-of root)) (answer (ask index nil "matchRoute returns the wrong handler" :limit 1))
           (symbol (first (opl.search.answer:answer-symbols answer))))
      (check-equal "matchRoute" (opl.source.names:name-string (opl.index.store:index-names index)
                                                              (opl.index.store:tag-name index (opl.search.answer:symbol-row-tag symbol))))
      (check (search "matchRoute(path: string)" (opl.search.answer:symbol-row-signature symbol)))
      (let ((roles (loop for row in (opl.search.answer:answer-files answer)
                         when (plusp (opl.search.answer:file-row-hop row))
                           collect (cons (opl.search.answer:file-row-path row) (opl.search.answer:file-row-role row)))))
        (check-equal :callee (cdr (assoc "src/text.ts" roles :test #'string=)))
        (check-equal :test (cdr (assoc "src/router.test.ts" roles :test #'string=)))))))

(defun symbols-of (root task)
  "The names of the symbols that TASK gets, with their scopes, best first."
  (let* ((index (index-of root)) (answer (ask index nil task)))
    (loop for row in (opl.search.answer:answer-symbols answer)
          when (eq (opl.search.answer:symbol-row-role row) :match)
            collect (let* ((tag (opl.search.answer:symbol-row-tag row)) (scope (opl.index.store:tag-scope index tag)))
                      (format nil "~A~:[.~;~]~A" scope (string= scope "") (opl.source.names:name-string (opl.index.store:index-names index) (opl.index.store:tag-name index tag)))))))

(defmacro check-order (earlier later symbols)
  `(let ((symbols ,symbols))
     (check (position ,earlier symbols :test #'string=))
     (check (< (position ,earlier symbols :test #'string=) (or (position ,later symbols :test #'string=) 99)))))

;; A test in the file of what it tests says the task's words as often; asked for, it comes as any other.
(deftest tests-beside-the-code-stand-back
  (with-repository (root)
    (commit root "Cache" '("src/cache.rs" . "pub fn evict_entry(key: u32) -> u32 { let entry = key; entry }
#[cfg(test)]
mod tests {
    #[test]
    fn evict_entry_works() { let entry = evict_entry(1); assert!(evict_entry(entry) == 1); }
}
"))
    (check-order "evict_entry" "tests.evict_entry_works" (symbols-of root "evict entry panics"))
    (check-order "tests.evict_entry_works" "evict_entry" (symbols-of root "flaky tests: evict entry works"))))

;; Two words in a row that a name holds in this order; a function of which another in it says more; a scope that is written before a name.
(deftest names-as-the-task-puts-them
  (with-repository (root)
    (commit root "Shapes" '("src/shapes.py" . "class Circle:
    def scale(self, factor):
        return factor * self.radius

class Square:
    def scale(self, factor):
        return factor * self.radius

def value_default(text, parser):
    return parser(text)

def default_value(text, parser):
    return parser(text)

def wrapper(limit):
    def clamp_limit(amount):
        if amount > limit:
            return limit
        return amount
    return clamp_limit
"))
    (check-order "default_value" "value_default" (symbols-of root "the default value is wrong"))
    (check-order "Square.scale" "Circle.scale" (symbols-of root "Square.scale() takes no factor"))
    (check-order "wrapper.clamp_limit" "wrapper" (symbols-of root "limit of the amount is not clamped"))))

(deftest pages-do-not-overlap
  (with-repository (root)
    (let* ((index (index-of root)) (whole (ask index nil "route path handler" :limit 100))
           (pages (loop for offset from 0 below (opl.search.answer:answer-total whole) by 2
                        append (files-of (ask index nil "route path handler" :limit 2 :offset offset)))))
      (check-equal (files-of whole) pages)
      (check-equal (length pages) (opl.search.answer:answer-total whole)))))

(deftest a-name-asked-for-alone-is-found-where-it-is-defined-whatever-kind-of-file-that-is
  (with-repository (root)
    (write-text root "test/helpers.ts" "export function makeFakeRouter() { return matchRoute('/a') }
export function trim(x) { return x }
")
    (write-text root "bench/trim.ts" "export const trim = (x) => x
")
    (write-text root "src/late.ts" "// makeFakeRouter, makeFakeRouter: see the tests
import { makeFakeRouter } from '../test/helpers'
export const late = makeFakeRouter
")
    (let ((index (index-of root)))
      ;; only a test defines it, the program speaks of it more
      (check-equal "test/helpers.ts" (first (files-of (ask index nil "makeFakeRouter"))))
      ;; tests and benchmarks define it too
      (check-equal "src/text.ts" (first (files-of (ask index nil "trim"))))
      ;; a file that bears the name
      (write-text root "src/late.ts" "export const router = 1
")
      (check (member "src/router.ts" (subseq (files-of (ask (index-of root) nil "router")) 0 2) :test #'string=)))))

(deftest a-name-of-more-than-letters-is-found-as-it-is-written
  (with-repository (root)
    (write-text root "src/reader.lisp" "(defun read-file-text (path) path)
(defvar *print-level-of-files* 1)
")
    (write-text root "src/file-text.lisp" ";; read file text: reads the text of a file
(defun read-text (file) (read-file-text file))
(defun file-text (file) (read-text file))
")
    (write-text root "src/bus.js" "// emit, emits, emitted
export function emit(x) { return x }
")
    (write-text root "src/vm.js" "export function $emit(x) { return x }
export function emit$1(x) { return x }
")
    (let ((index (index-of root)))
      (loop for (task path) in '(("read-file-text" "src/reader.lisp") ("`read-file-text`" "src/reader.lisp") ("(read-file-text path)" "src/reader.lisp")
                                 ("read-file-text?" "src/reader.lisp") ("*print-level-of-files*" "src/reader.lisp")
                                 ("read-file-text fails for an empty path" "src/reader.lisp")
                                 ("$emit" "src/vm.js") ("emit$1" "src/vm.js") ("emit" "src/bus.js"))
            do (check-equal path (first (files-of (ask index nil task)))))
      ;; its parts are no names that are asked for
      (check (not (member "src/bus.js" (files-of (ask index nil "read-file-text")) :test #'string=))))))

;; Words of grammar stand in commits and comments too: without being known as such they would lead anywhere.
(deftest tasks-in-other-languages
  (with-repository (root)
    (write-text root "src/session/expiry.ts" "export function deleteSession(session) { return session }
")
    (write-text root "src/noise.ts" "// die das und nicht beim wird: le la les des une; el los las una; the error of errors
export const noise = 'die Sitzung'
")
    (write-text root "src/config/parse.ts" "export function parseConfig(text) { throw new ConfigError(text) }
export class ConfigError extends Error {}
")
    (let ((index (index-of root)))
      (loop for (path . tasks) in '(("src/session/expiry.ts" "die Sitzung wird beim Abmelden nicht gelöscht" "la session n'est pas supprimée" "会话没有被删除" "セッションが削除されない"
                                     "a sessão não é apagada" "сессия не удаляется" "세션이 삭제되지 않음")
                                    ("src/config/parse.ts" "Fehler beim Parsen der Konfiguration" "error al analizar la configuración" "配置解析错误" "ошибка разбора конфигурации"
                                     "errore nell'analizzare la configurazione" "erreur d'analyse de la configuration"))
            do (dolist (task tasks)
                 (check-equal (list task path) (list task (first (files-of (ask index nil task))))))))
    (check-equal '("German" "French" "Chinese" nil nil nil)
                 (mapcar (lambda (text) (let ((tongue (opl.search.glossary:tongue-of text))) (and tongue (opl.search.glossary:tongue-name tongue))))
                         '("Fehler beim Laden" "la page est vide" "模板缓存" "the page is empty after die la les" "where are routes matched"
                           "The parser fails on the text 错误 in a comment, which it should read as any other text of the file")))))

(deftest a-refreshed-index-ranks-as-one-built-anew
  (with-repository (root)
    (let ((index (index-of root)) (tasks '("route path handler" "session expiry" "profile info" "operators" "shorten" "this text was never there before")))
      (dolist (task tasks) (ask index nil task))
      ;; an edit alone, asked about: a file that comes later takes the next number
      (write-text root "src/router.ts" "export class Router { matchRoute(path: string) { return path } }
")
      (let ((edited (opl.index.refresh:refresh-index index nil '())))
        (check-equal (opl.index.store:index-file-count index) (opl.index.store:index-file-count edited))
        (dolist (task tasks) (ask edited nil task))
        (setf index edited))
      (write-text root "src/extra/route-handler.ts" "export function handleRoute(path: string) { return path }
")
      (write-text root "src/text.ts" "export function shorten(text: string) { return text + 'this text was never there before' }
")
      (delete-file (sb-ext:parse-native-namestring (concatenate 'string root "src/operators.cpp")))
      (let ((refreshed (opl.index.refresh:refresh-index index nil '())) (built (index-of root)))
        (check (not (eq refreshed index)))
        (flet ((rows (index task)
                 (mapcar (lambda (row) (list (opl.search.answer:file-row-path row) (round (* 10000 (opl.search.answer:file-row-score row)))))
                         (opl.search.answer:answer-files (ask index nil task :limit 50)))))
          (dolist (task tasks) (check-equal (rows built task) (rows refreshed task))))))))

(deftest history-speaks-for-files
  (with-repository (root)
    (let* ((index (index-of root)) (history (opl.search.commits:read-history root)))
      (check-equal 2 (opl.search.history:history-count history))
      (check-equal "src/session/index.ts" (first-file index history "follow up of #41"))
      (check (search "history" (opl.search.history:history-note (opl.search.commits:read-history "/"))))
      ;; nothing that stays nothing is no news: what hears of a change writes the snapshot
      (let ((none (opl.search.commits:read-history "/")))
        (check (eq none (opl.search.commits:read-history "/" :known none)))))))

(deftest history-goes-on-and-follows-branches
  (with-repository (root)
    (flet ((columns (history) (multiple-value-bind (columns octets) (opl.search.history:history-columns history) (declare (ignore octets)) (subseq columns 0 9))))
      (let ((before (opl.search.commits:read-history root)))
        (commit root "Teach the router slashes" '("src/router.ts" . "export class Router { matchRoute() { return 1 } }
"))
        (let ((extended (opl.search.commits:read-history root :known before)))
          (check-equal 3 (opl.search.history:history-count extended))
          (check-equal 2 (opl.search.history:history-count before))
          (check-equal (columns (opl.search.commits:read-history root)) (columns extended))
          (check (eq extended (opl.search.commits:read-history root :known extended)))
          (run-git root "checkout" "-q" "-b" "other" "HEAD~2")
          (commit root "Another way" '("src/other.ts" . "export const other = 1
"))
          (let ((switched (opl.search.commits:read-history root :known extended)))
            (check-equal 2 (opl.search.history:history-count switched))
            (check-equal (butlast (columns (opl.search.commits:read-history root)) 2)
                         (butlast (columns switched) 2))))
        (multiple-value-bind (columns octets head note) (opl.search.history:history-columns before)
          (check-equal columns (opl.search.history:history-columns (opl.search.history:history-from-columns columns octets head note))))))))

;; Git's own files say where HEAD stands, without a process; what they do not say plainly is asked of git.
(deftest head-is-read-as-git-reads-it
  (with-repository (root)
    (flet ((plain () (let ((folder (opl.search.head:plain-git-folder root))) (and folder (opl.search.head:plain-head folder))))
           (asked () (opl.search.commits::git-text root "rev-parse" "--verify" "-q" "HEAD")))
      (check-equal (asked) (plain))
      (run-git root "checkout" "-q" "-b" "team/näme")
      (commit root "On a branch of two words" '("a.ts" . "export const a = 1
"))
      (check-equal (asked) (plain))
      (run-git root "pack-refs" "--all")
      (check (plain))
      (check-equal (asked) (plain))
      (commit root "Loose over packed" '("a.ts" . "export const a = 2
"))
      (check-equal (asked) (plain))
      (run-git root "checkout" "-q" "--detach" "HEAD~1")
      (check-equal (asked) (plain))
      (run-git root "checkout" "-q" "--orphan" "empty")
      (check-equal nil (plain))
      (check-equal nil (asked))
      (run-git root "worktree" "add" "-q" "--force" "-B" "side" "side" "team/näme")
      (let ((side (concatenate 'string root "/side")))
        (check-equal nil (opl.search.head:plain-git-folder side))
        (check (opl.search.commits::head-of side))))))

(deftest an-answer-knows-the-commit-before-it
  (with-repository (root)
    (flet ((ask-now () (opl.search.commits:follow-head root 0) (opl.search.history:history-count (opl.search.commits:history-within root 20))))
      (check-equal 2 (ask-now))
      ;; a commit, a switch back, and none: each is there at once, and what is known is not read again
      (commit root "Teach the router slashes" '("src/router.ts" . "export const router = 1
"))
      (check-equal 3 (ask-now))
      (run-git root "checkout" "-q" "HEAD~2")
      (check-equal 1 (ask-now))
      (let ((known (opl.search.commits:current-history root)))
        (check-equal 1 (ask-now))
        (check (eq known (opl.search.commits:current-history root)))))))

(deftest channels-are-added-weighed-and-removed
  (with-repository (root)
    (let ((index (index-of root)) (task "path"))
      (unwind-protect
           (let ((before (files-of (ask index nil task))))
             (opl.search.rank:add-channel "favourite" 50 (lambda (path text) (declare (ignore text)) (if (search "session" path) 1 0)))
             (check-equal "src/session/index.ts" (first-file index nil task))
             (check-equal 50.0 (opl.search.rank:set-channel-weight "favourite" 0))
             (check-equal (first before) (first-file index nil task))
             (check (opl.search.rank:remove-channel "favourite"))
             (check (not (opl.search.rank:remove-channel "favourite")))
             (check-equal before (files-of (ask index nil task))))
        (opl.search.rank:reset-channels)))))

(deftest every-channel-counts-for-something
  ;; a channel that no task and no file hears of would be dead weight unnoticed
  (with-repository (root)
    (write-text root "shop/Order.java" "package shop; class Order { Ledger ledger; void refundOrder() { ledger.note(); } }")
    (write-text root "shop/Ledger.java" "package shop; class Ledger { void note() {} } // refund")
    (let ((index (index-of root)) (history (opl.search.commits:read-history root)) (heard '()))
      (dolist (task (list "matchRoute `Router` route is already known here src/router.ts" "Session.expire Fix expiry of sessions #41 session index"
                          "isTrialEligible trim replace text user matchRoute finds handler test" (format nil "crash~%    at matchRoute (src/router.ts:4:3)~%demo docs vendor route")
                          "src.session.expire other" "matchRoute" "fix(session): trim" "refundOrder refund is wrong twice"))
        (let ((answer (ask index history task :limit 50 :explain t :edited '("src/text.ts"))))
          (dolist (row (opl.search.answer:answer-files answer))
            (dolist (share (opl.search.answer:file-row-shares row)) (pushnew (car share) heard :test #'string=)))))
      (check-equal '() (remove-if (lambda (name) (or (member name heard :test #'string=) (string= name "generated")))
                                  (mapcar #'opl.search.rank:channel-name (opl.search.rank:channels)))))))

(deftest neighbours-raise-what-is-spoken-of-and-bring-nothing-else
  (with-repository (root)
    (commit root "Hold seats" '("src/tail.ts" . "export function clip(text: string) { return text.slice(1) } // seats
") '("src/seats.ts" . "import { clip } from './tail'
export function holdSeats(seats: number) { return clip(String(seats)) }
") '("src/other.ts" . "export function clap(text: string) { return text.slice(2) } // seats
") '("src/silent.ts" . "export const nothing = 1
"))
    (commit root "Settle" '("src/seats.ts" . "import { clip } from './tail'
import { nothing } from './silent'
export function holdSeats(seats: number) { return clip(String(seats + nothing)) }
"))
    (let* ((index (index-of root)) (files (files-of (ask index nil "holdSeats holds too many seats"))))
      (check-equal "src/seats.ts" (first files))
      (check-equal "src/tail.ts" (second files))
      (check (member "src/other.ts" files :test #'string=))
      (check (not (member "src/silent.ts" files :test #'string=)))
      ;; what an edit changes is read again, the rest is known
      (write-text root "src/seats.ts" "import { clap } from './other'
export function holdSeats(seats: number) { return clap(String(seats)) }
")
      (let* ((after (opl.index.refresh:refresh-index index nil '())) (new (opl.index.refresh:build-index root nil '())))
        (flet ((imports (index path)
                 (mapcar (lambda (file) (opl.index.store:index-path index file))
                         (svref (opl.search.near:imports-of index) (opl.index.store:index-file-number index path)))))
          (check-equal '("src/other.ts") (imports after "src/seats.ts"))
          (check-equal (imports new "src/router.ts") (imports after "src/router.ts")))
        (check-equal "src/other.ts" (second (files-of (ask after nil "holdSeats holds too many seats"))))))))

(deftest types-lead-where-no-import-does
  (with-repository (root)
    (commit root "Orders" '("shop/Order.java" . "package shop; class Order { Ledger ledger; void refundOrder() { ledger.note(); } }
") '("shop/Ledger.java" . "package shop; class Ledger { void note() {} } // refund
") '("shop/Banner.java" . "package shop; class Banner { void show() {} } // refund
"))
    (let ((files (files-of (ask (index-of root) nil "refundOrder: refund of an Order is wrong"))))
      (check-equal '("shop/Order.java" "shop/Ledger.java") (subseq files 0 2))
      (check (member "shop/Banner.java" files :test #'string=)))))

(deftest the-part-that-a-title-names
  (check-equal '("compiler-sfc") (opl.search.near:title-parts "fix(compiler-sfc): keep comments"))
  (check-equal '("net" "http") (opl.search.near:title-parts "net/http: close the body"))
  (check-equal '("a" "b") (opl.search.near:title-parts "feat(a, b): more"))
  (check-equal '() (opl.search.near:title-parts "Error when running: it stops"))
  (check-equal '() (opl.search.near:title-parts "")))

(deftest shares-add-up-to-the-score
  (with-repository (root)
    (dolist (row (opl.search.answer:answer-files (ask (index-of root) nil "route path handler" :explain t :neighbours nil)))
      (let ((sum (reduce #'+ (opl.search.answer:file-row-shares row) :key #'cdr)))
        (check (< (abs (- (max 0.001 sum) (opl.search.answer:file-row-score row))) 0.001))))))

(deftest edited-files-get-a-small-boost
  (with-repository (root)
    (flet ((score (&rest options)
             (opl.search.answer:file-row-score (find "src/text.ts" (opl.search.answer:answer-files (apply #'ask (index-of root) nil "trim text" options))
                                                     :key #'opl.search.answer:file-row-path :test #'string=))))
      (check (< (abs (- 0.3 (- (score :edited '("src/text.ts")) (score)))) 0.001)))))

(deftest the-words-of-a-large-tree-are-kept-beside-its-snapshot
  (with-repository (root)
    (with-scratch-folder (folder)
      (let* ((cache (sb-ext:native-namestring folder)) (index (index-of root)) (opl.search.words::*worth-keeping* 0)
             (file (sb-ext:parse-native-namestring (opl.index.snapshot:cache-name cache "index.words"))))
        (flet ((rows (index)
                 (mapcar (lambda (row) (list (opl.search.answer:file-row-path row) (round (* 10000 (opl.search.answer:file-row-score row)))))
                         (opl.search.answer:answer-files (ask index nil "route path handler is already known here" :limit 50))))
               (again () (opl.index.snapshot:read-snapshot (opl.index.store:index-root index) cache "1" '() #'null)))
          (let ((before (rows index)))
            (check (opl.index.snapshot:write-snapshot index cache "1" '() nil))
            (check (probe-file file))
            (let ((saved (again)))
              (check saved)
              (check (opl.search.words::kept-words saved cache))
              (setf (gethash (opl.index.store:index-numbers saved) opl.search.tables::*shared*)
                    (opl.search.tables::make-shared :words (opl.search.words::kept-words saved cache)))
              (check-equal before (rows saved))
              ;; what was edited since counts as it is now
              (write-text root "src/text.ts" "export function route(path: string) { return path + 'handler' }
")
              (let ((edited (opl.index.refresh:refresh-index saved nil '())))
                (check (not (eq edited saved)))
                (check (equal (rows (index-of root)) (rows edited)))))
            ;; a file that was cut is not believed
            (with-open-file (out file :direction :output :if-exists :overwrite :element-type '(unsigned-byte 8))
              (file-position out 200)
              (write-sequence (make-array 64 :element-type '(unsigned-byte 8) :initial-element 7) out))
            (check (null (opl.search.words::kept-words (again) cache)))
            ;; nor one of another snapshot
            (write-text root "src/more.ts" "export const more = 1
")
            (let ((other (index-of root)))
              (check (opl.index.snapshot:write-snapshot other cache "1" '() nil))
              (check (null (opl.search.words::kept-words other cache))))))))))
