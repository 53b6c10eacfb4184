// Repositories that benches make.

/** COUNT Python files in a hundred folders, each calling into the one before it: contents by path. */
export function chainedFiles(count: number): Record<string, string> {
  const files: Record<string, string> = {};
  for (let number = 0; number < count; number += 1) {
    const before = Math.max(0, number - 1);
    const lines = [
      `from part${before % 100}.module${before} import handle${before}`,
      ...Array.from(
        { length: 10 },
        (_, one) => `\n\ndef step${one}_of_${number}(value):\n    return handle${before}(value + ${one})`,
      ),
      `\n\ndef handle${number}(value):\n    return step0_of_${number}(value)\n`,
    ];
    files[`part${number % 100}/module${number}.py`] = lines.join('\n');
  }
  return files;
}
