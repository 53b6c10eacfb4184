// Progress on a terminal: one line that is written over and gone in the end.

/** A terminal shows no more changes than this. */
const INTERVAL_MILLISECONDS = 100;

/** So long without news is worth a word. */
const STALL_MILLISECONDS = 10_000;

export interface Progress {
  report(stage: string, done: number, total: number): void;
  end(): void;
}

/** Progress on STREAM when it is a terminal, else nothing at all. */
export function openProgress(stream: NodeJS.WriteStream): Progress {
  if (!stream.isTTY) return { report() {}, end() {} };
  let stage = '';
  let begun = 0;
  let shown = 0;
  let news = Date.now();
  const clear = () => stream.write('\r\x1b[K');
  const stall = setInterval(() => {
    const silence = Date.now() - news;
    if (stage && silence > STALL_MILLISECONDS)
      stream.write(`\r\x1b[K${stage}: no news for ${Math.round(silence / 1000)} s …`);
  }, 1000);
  stall.unref();
  return {
    report(next, done, total) {
      const now = Date.now();
      news = now;
      if (next !== stage) [stage, begun] = [next, now];
      else if (now - shown < INTERVAL_MILLISECONDS && done !== total) return;
      shown = now;
      const seconds = (now - begun) / 1000;
      const rate = seconds > 0.5 ? `, ${Math.round(done / seconds)}/s` : '';
      const width = (stream.columns ?? 80) - 1;
      stream.write(`\r\x1b[K${`${stage} ${done}${total ? ` of ${total}` : ''}${rate}`.slice(0, width)}`);
    },
    end() {
      clearInterval(stall);
      if (shown) clear();
    },
  };
}
