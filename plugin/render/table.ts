// Text in columns, numbers for people.

/** ROWS in columns; the first row is the heading. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = rows.reduce<number[]>(
    (all, row) => row.map((cell, index) => Math.max(all[index] ?? 0, cell.length)),
    [],
  );
  return rows
    .map((row) =>
      row
        .map((cell, index) => cell.padEnd(index < row.length - 1 ? widths[index]! : 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** NUMBER with separators between thousands. */
export function count(number: number): string {
  return number.toLocaleString('en-US');
}
