// A hook has a budget of time: what it waits for may be starting, stuck or gone.

/** Settles as WORK does, or rejects after MILLISECONDS. WORK goes on. */
export function inTime<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  work.catch(() => {});
  return Promise.race([
    work,
    new Promise<never>((_, reject) => {
      const late = setTimeout(() => reject(new Error(`no answer within ${milliseconds} ms`)), milliseconds);
      late.unref?.();
      work.finally(() => clearTimeout(late)).catch(() => {});
    }),
  ]);
}
