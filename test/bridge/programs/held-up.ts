// Loaded before a program. The first rename waits until a file exists; after the second, it reports both renames.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const go = `${process.argv[3]}.go`;
const { renameSync } = fs;
const renamed: (readonly [fs.PathLike, fs.PathLike])[] = [];
fs.renameSync = (from, to) => {
  if (renamed.length === 0) {
    process.send?.('about to rename');
    // Blocks the whole process.
    while (!fs.existsSync(go)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  }
  renameSync(from, to);
  renamed.push([from, to]);
  if (renamed.length === 2) process.send?.(renamed);
};
syncBuiltinESMExports();
