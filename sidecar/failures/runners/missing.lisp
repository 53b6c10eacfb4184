(defpackage #:opl.failures.runners.missing
  (:use #:cl #:opl.failures.table #:opl.failures.report)
  (:export #:missing))
(in-package #:opl.failures.runners.missing)

;;; What package managers, build tools and shells say when a run did not come to its tests: something cannot be fetched, is not
;;; installed, or is of another version. Each such line is a failure of the whole (`suite`), once however often it is printed.

(defun missing-part (line)
  (let ((message (trim line)))
    (unless (member message (stashed :missing) :test #'string=)
      (stash :missing (cons message (stashed :missing)))
      (begin-failure :suite t :category "setup" :message message)
      (end-failure))
    t))

(define-rules missing
  ;; shells and starters
  (on ((? text ": ") (not-of " :") ": command not found") (missing-part line))
  (on ((or "bash: " "zsh: " "dash: ") (? (? "line ") integer ": ") (not-of " ") ": " (or "Permission denied" "not found" "No such file or directory") end) (missing-part line))
  (on ("sh: " (? (? "line ") integer ": ") (not-of " ") ": " (or "Permission denied" "not found" "No such file or directory") end) (missing-part line))
  (on ("Error: Could not find or load main class " rest) (missing-part line))
  (on ("ERROR: JAVA_HOME is " rest) (missing-part line))
  (on ((? text) "Cannot connect to the Docker daemon" rest) (missing-part line))
  (on ((? text) (or "ENOSPC: no space" "No space left on device") rest) (missing-part line))
  (on ((? text) (or "Could not resolve host" "Temporary failure in name resolution" "getaddrinfo ENOTFOUND" "getaddrinfo EAI_AGAIN" "Network is unreachable") rest) (missing-part line))
  ;; JavaScript
  (on ((or "npm ERR! " "npm error ") (? "Error: ") (or "Missing script" "missing script" "code ERESOLVE" "code E404" "code ENOTFOUND" "code EUSAGE" "code EBADENGINE" "code ENOLOCK") rest) (missing-part line))
  (on (blanks "ERR_PNPM_" rest) (missing-part line))
  (on ("error Command \"" rest) (missing-part line))
  (on ("error " text ": The engine \"" rest) (missing-part line))
  (on ("error: Script not found " rest) (missing-part line))
  (on ((? text) (or "doesn't seem to be present in your lockfile" "The lockfile would have been modified by this install") rest) (missing-part line))
  ;; Python
  (on ((? text) "Could not find a version that satisfies" rest) (missing-part line))
  (on ((? text) "No solution found when resolving dependencies" rest) (missing-part line))
  (on ((? text) "No tox.ini or setup.cfg or pyproject.toml found" rest) (missing-part line))
  (on ((? text) "changed significantly since poetry.lock was last generated" rest) (missing-part line))
  ;; Ruby, PHP
  (on ("Could not find " (or (seq "gem " rest) (seq text+ " in " (or "locally installed gems" "any of the sources")))) (missing-part line))
  (on ("Could not locate Gemfile") (missing-part line))
  (on ((? text) "Failed opening required '" rest) (missing-part line))
  ;; the JVM
  (on ((? "[ERROR] ") "Plugin " text+ " could not be resolved" rest) (missing-part line))
  (on ((? "[ERROR] ") "Non-resolvable parent POM " rest) (missing-part line))
  (on ((? text) "Could not resolve dependencies for project " rest) (missing-part line))
  (on ("[error] " text+ (or "ResolveException" "unresolved dependency") rest) (missing-part line))
  ;; .NET
  (on ((? text) "error " (or "NU" "MSB1003" "NETSDK") (? integer) ": " rest) (missing-part line))
  ;; Rust, Go, C
  (on ("error: failed to " (or "get `" "select a version for" "load source for dependency" "download ") rest) (missing-part line))
  (on ("error: no matching package " rest) (missing-part line))
  (on ("error: package `" text+ "` cannot be built because it requires rustc" rest) (missing-part line))
  (on ("error: could not find `Cargo.toml` in" rest) (missing-part line))
  (on ("error: the lock file " text+ " needs to be updated" rest) (missing-part line))
  (on ("go: " (? text+ ": ") (or "errors parsing go.mod" "go.mod file not found" "cannot find main module" "updates to go.mod needed" "module lookup disabled" "no matching versions") rest) (missing-part line))
  (on ((? text) ": missing go.sum entry for module providing package " rest) (missing-part line))
  (on ("CMake Error" rest) (missing-part line))
  (on ((or "make: *** " "gmake: *** " "ninja: error: ") (or "No rule to make target " "unknown target ") rest) (missing-part line))
  ;; Elixir, Swift, Dart, Haskell, Zig
  (on ("Unchecked dependencies for environment " rest) (missing-part line))
  (on ("error: '" text+ "': " (or "Failed to clone" "failed to clone" "the package manifest at ") rest) (missing-part line))
  (on ("error: Could not find Package.swift" rest) (missing-part line))
  (on ("Could not find package " rest) (missing-part line))
  (on ((? text) "version solving failed" rest) (missing-part line))
  (on ("Error: cabal: " rest) (missing-part line))
  (on ((? text) ": error: unable to " (or "connect to server" "resolve" "discover remote git server capabilities") rest) (missing-part line)))
