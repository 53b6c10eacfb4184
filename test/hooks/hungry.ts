// Ways to eat memory in Lisp, and what becomes of a session in which they are evaluated.

import { journalOf } from '../../plugin/hooks/journal.ts';
import { createHost } from '../../plugin/host.ts';

/** Each never ends by itself or asks for more than there is. */
export const HUNGRY: readonly string[] = [
  // one object too large
  '(make-array 100000000000)',
  "(make-array 20000000000 :element-type '(unsigned-byte 8))",
  '(make-string 10000000000)',
  '(make-list 1000000000)',
  '(make-hash-table :size 2000000000)',
  '(expt 10 (expt 10 11))',
  '(ash 1 100000000000)',
  '(make-array (list 100000 100000))',
  '(length (write-to-string (expt 7 (expt 10 8))))',
  // large objects kept
  '(let ((all nil)) (loop (push (make-array 1000000) all)))',
  '(loop collect (make-string 1000000))',
  "(loop collect (make-array 10000000 :element-type '(unsigned-byte 8)))",
  "(loop collect (make-array 300000 :element-type 'double-float))",
  '(let ((v (make-array 1000))) (loop (setf v (concatenate (quote vector) v v))))',
  '(let ((s "ab")) (loop (setf s (concatenate (quote string) s s))))',
  '(let ((v (make-array 10 :adjustable t :fill-pointer 0))) (loop (vector-push-extend 1 v)))',
  '(let ((v (make-array 10 :adjustable t :fill-pointer 0))) (loop (vector-push-extend (list 1 2) v)))',
  '(let ((v (vector 1))) (loop (setf v (adjust-array v (* 2 (length v)) :initial-element 0))))',
  // small objects kept
  '(loop collect 1)',
  '(loop collect (list 1 2 3))',
  '(let ((l nil)) (loop (setf l (cons l l) l (cons l nil))))',
  '(let ((l nil)) (loop (push (make-string 8) l)))',
  '(let ((l nil)) (loop (push (copy-list (list 1 2 3 4 5 6 7 8)) l)))',
  '(let ((l (list 1))) (loop (setf l (append l (copy-list l)))))',
  '(let ((l nil)) (loop (push (random 1d0) l)))',
  '(let ((l nil)) (loop (push (lambda () l) l)))',
  '(let ((l nil)) (loop for i from 0 do (push (format nil "~D" i) l)))',
  '(let ((l nil)) (loop (push (make-array 5) l)))',
  '(let ((l nil)) (loop (push (make-array 3000) l)))',
  '(progn (defstruct bag a b c) (let ((l nil)) (loop (push (make-bag) l))))',
  '(progn (defclass heap () ((a :initform (list 1)))) (let ((l nil)) (loop (push (make-instance (quote heap)) l))))',
  '(labels ((tree (n) (if (zerop n) 1 (cons (tree (1- n)) (tree (1- n)))))) (tree 60))',
  '(let ((tail (list 1))) (loop with end = tail do (setf (cdr end) (list 1) end (cdr end))))',
  // tables
  '(let ((h (make-hash-table))) (loop for i from 0 do (setf (gethash i h) i)))',
  '(let ((h (make-hash-table :test (quote equal)))) (loop for i from 0 do (setf (gethash (list i) h) i)))',
  '(let ((h (make-hash-table :test (quote equalp)))) (loop for i from 0 do (setf (gethash (format nil "k~D" i) h) (list i))))',
  '(let ((h (make-hash-table :weakness :key))) (let ((l nil)) (loop (let ((k (list 1))) (push k l) (setf (gethash k h) 1)))))',
  '(loop collect (make-hash-table))',
  // numbers
  '(let ((n 3)) (loop (setf n (* n n))))',
  '(let ((l nil)) (loop for n = 1 then (* 3 n) do (push n l)))',
  '(let ((f 1)) (loop for i from 1 do (setf f (* f i (expt 2 20000)))))',
  // names and code
  '(loop for i from 0 do (intern (format nil "NAME-~D" i) (quote cl-user)))',
  '(let ((l nil)) (loop (push (make-symbol "X") l)))',
  '(let ((l nil)) (loop for i from 0 do (push (compile nil (list (quote lambda) nil (make-list 200 :initial-element i))) l)))',
  '(with-output-to-string (s) (loop (write-string "and so on and on and on" s)))',
  '(read-from-string (make-string 400000000 :initial-element #\\())',
  // recursion that allocates
  '(labels ((f (x) (f (list x x)))) (f 1))',
  '(labels ((f (x) (cons x (f (make-array 1000))))) (f 1))',
  '(labels ((f (l) (funcall (lambda (x) (f x)) (append l (list 1))))) (f nil))',
  // handlers and clean-up forms that eat on
  '(let ((l nil)) (loop (handler-case (loop (push (make-array 10000) l)) (error () nil))))',
  '(let ((l nil)) (loop (ignore-errors (loop (push (make-list 100) l)))))',
  '(let ((l nil)) (unwind-protect (loop (push (make-list 100) l)) (dotimes (i 100000) (push (make-list 100) l))))',
  '(handler-bind ((serious-condition (lambda (c) (make-array 1000000 :initial-element c)))) (loop collect (make-array 100000)))',
  // beside each other
  '(progn (dotimes (i 4) (sb-thread:make-thread (lambda () (let ((l nil)) (loop (push (make-array 1000) l)))))) (let ((l nil)) (loop (push (make-array 1000) l))))',
  '(progn (dotimes (i 8) (sb-thread:make-thread (lambda () (loop collect (list 1 2 3))))) (sleep 20))',
  '(mapcar (function sb-thread:join-thread) (loop repeat 6 collect (sb-thread:make-thread (lambda () (let ((s "ab")) (loop (setf s (concatenate (quote string) s s))))))))',
  // kept after the call
  '(progn (defvar *kept* nil) (loop (push (make-list 1000) *kept*)))',
  '(progn (defparameter *grown* (make-hash-table)) (loop for i from 0 do (setf (gethash i *grown*) (make-array 100))))',
];

export interface Overheard {
  code: string;
  /** The answer says that memory (or a stack, or the deadline) was the reason. */
  clear: boolean;
  /** The next call worked, and what was remembered before was there. */
  next: boolean;
  restarted: boolean;
  seconds: number;
  answer: string;
}

const CLEAR =
  /held more than|out of memory|memory|heap|stack is exhausted|Stopped after|too large|invalid|bignum|restarted/i;

/** What comes of evaluating each of CODES in a session over FOLDER whose sidecar has a heap of MEGABYTES. */
export async function overheard(folder: string, heapMegabytes: number, codes: readonly string[]): Promise<Overheard[]> {
  const host = createHost(folder, { heapMegabytes, debug: process.env.OPL_DEBUG ?? null });
  try {
    journalOf(host).record('s', { kind: 'request', text: 'keep pelicans in mind' });
    await journalOf(host).flush(60_000);
    const sidecar = await host.sidecar();
    await sidecar.call('index', { rebuild: false });
    const told: Overheard[] = [];
    for (const code of codes) {
      const start = performance.now();
      const { pid } = await sidecar.describe();
      const answer = await sidecar.call('evaluate', { code, deadline: 20, session: null }, { stuckAfter: 40_000 }).then(
        ({ value }) => `=> ${value[0]?.value.slice(0, 80)}`,
        (error: Error) => error.message,
      );
      const seconds = Math.round((performance.now() - start) / 100) / 10;
      const after = await sidecar
        .call('evaluate', {
          code: '(list (length (recall "pelicans")) (length (definitions "handle7")))',
          deadline: 20,
          session: null,
        })
        .then(
          ({ value }) => value[0]?.value ?? '',
          (error: Error) => error.message,
        );
      const now = (await sidecar.describe()).pid;
      told.push({
        code,
        clear: CLEAR.test(answer),
        next: /^\(1 \d\)$/.test(after),
        restarted: now !== pid,
        seconds,
        answer: answer.slice(0, 300),
      });
      if (process.env.OPL_TELL) process.stderr.write(`${JSON.stringify(told.at(-1))} ${after.slice(0, 200)}\n`);
    }
    return told;
  } finally {
    await host.dispose();
  }
}
