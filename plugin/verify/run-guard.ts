// A small program that waits for the host to go away, and then ends what the host had started. It needs nothing but a shell, since the
// host may be any of node, bun or a program that has swallowed one.

import { randomUUID } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { execa } from 'execa';
import { RUN_MARK } from './run-tree.ts';

/**
 * Reads lines from its standard input, a pipe that only the host holds: the process a run began with and its log, `over` when that run
 * has ended, and `done`. An end of the input before that is the host's death, also by KILL. Then every process of the run is killed, found by the mark in
 * its environment, the log that it writes into, its process group and its ancestry, until none is left. The guard is in a session of its own and deaf to what ends the
 * host's.
 */
const POSIX_GUARD = `
trap '' INT TERM HUP QUIT PIPE
mark=$1
root=
log=
while read -r word rest; do
  case $word in
    done) exit 0 ;;
    over) root= ;;
    *) root=$word log=$rest ;;
  esac
done
[ -z "$root" ] && exit 0
marked() {
  if [ -d /proc/self ]; then
    grep -lF -- "$mark" /proc/[0-9]*/environ 2>/dev/null | sed 's|/proc/||; s|/environ||'
    ls -l /proc/[0-9]*/fd/[12] 2>/dev/null | grep -F -- " -> $log" | sed 's|.* /proc/\\([0-9]*\\)/fd/.*|\\1|'
  else
    ps -axEww -o pid=,command= | grep -F -- "$mark" | grep -v grep | awk '{print $1}'
  fi
}
table() {
  if [ -d /proc/self ]; then
    cat /proc/[0-9]*/stat 2>/dev/null | awk '{ pid = $1; sub(/^.*\\) /, ""); if ($1 != "Z") print pid, $2, $3, $4 }'
  else
    ps -axo pid=,ppid=,pgid=,sess=
  fi
}
seeds=$root
quiet=0
turn=0
while [ $quiet -lt 3 ] && [ $turn -lt 100 ]; do
  found=$(table | awk -v seeds="$seeds $(marked | tr '\\n' ' ')" -v root="$root" -v self=$$ '
    BEGIN { n = split(seeds, given, " "); for (i = 1; i <= n; i++) if (given[i] > 1) in_run[given[i]] = 1 }
    { alive[$1] = 1; parent[$1] = $2; if (root > 1 && ($3 == root || $4 == root)) in_run[$1] = 1 }
    END {
      do { grown = 0; for (p in alive) if (!(p in in_run) && (parent[p] in in_run)) { in_run[p] = 1; grown = 1 } } while (grown)
      for (p in in_run) if ((p in alive) && p != self) printf "%s ", p
    }')
  if [ -z "$found" ]; then quiet=$((quiet + 1)); else quiet=0; kill -KILL $found 2>/dev/null; seeds="$seeds $found"; fi
  turn=$((turn + 1))
  sleep 0.05 2>/dev/null || sleep 1
done
`;

const WINDOWS_GUARD =
  '$root = ""; while ($null -ne ($word = [Console]::In.ReadLine())) { if ($word -eq "done") { exit 0 } elseif ($word -eq "over") { $root = "" } else { $root = $word.Split(" ")[0] } } if ($root -ne "") { taskkill /PID $root /T /F }';

/** Watches over the runs of one verification, which come one after another. */
export interface Guard {
  /** What every process that it watches over has in its environment. */
  readonly mark: string;
  /** Tells it what to watch over: the process that a run began with, and the file it writes into. */
  watch(pid: number, log: string): void;
  /** The run has ended, and what it meant to leave may stay. */
  over(): void;
  /** There will be no further run: the guard goes. */
  dismiss(): void;
}

/** Starts a guard. Where none can be started the runs go on without. */
export function startGuard(): Guard {
  const mark = randomUUID();
  const options = {
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'ignore',
    reject: false,
    cleanup: false,
    detached: true,
    windowsHide: true,
    env: { [RUN_MARK]: '' },
  } as const;
  const guard =
    process.platform === 'win32'
      ? execa('powershell', ['-NoProfile', '-NonInteractive', '-Command', WINDOWS_GUARD], options)
      : execa('/bin/sh', ['-c', POSIX_GUARD, 'opl-guard', mark], options);
  guard.stdin.on('error', () => {});
  guard.catch(() => {});
  guard.unref();
  const write = (text: string) => {
    if (guard.stdin.writable) guard.stdin.write(text);
  };
  return {
    mark,
    watch: (pid, log) => write(`${pid} ${realpathSync(log)}\n`),
    over: () => write('over\n'),
    dismiss: () => {
      write('done\n');
      guard.stdin.end();
    },
  };
}
