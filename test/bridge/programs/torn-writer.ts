// Rewrites a file in place in two halves, with pauses, so that readers sometimes see new over old.
import { ftruncateSync, openSync, writeSync } from 'node:fs';

const [path = ''] = process.argv.slice(2);
const rest = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));
const file = openSync(path, 'r+');
process.send?.('ready');
for (let round = 0; ; round++) {
  const bytes = Buffer.from(
    JSON.stringify(
      [{ from: 'a', text: 'x'.repeat(round % 2 ? 10 : 300), timestamp: 'now', read: false }],
      undefined,
      2,
    ),
  );
  writeSync(file, bytes, 0, bytes.length / 2, 0);
  await rest();
  writeSync(file, bytes, 0, bytes.length, 0);
  ftruncateSync(file, bytes.length);
  await rest();
}
