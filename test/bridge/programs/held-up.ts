// Loaded before a program: its first renaming waits until a file is there, and after its second it says what was renamed to what.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const go = `${process.argv[3]}.go`;
const { renameSync } = fs;
const renamed: (readonly [fs.PathLike, fs.PathLike])[] = [];
fs.renameSync = (from, to) => {
  if (renamed.length === 0) {
    process.send?.('about to rename');
    // Nothing else may happen in this process meanwhile.
    while (!fs.existsSync(go)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  }
  renameSync(from, to);
  renamed.push([from, to]);
  if (renamed.length === 2) process.send?.(renamed);
};
syncBuiltinESMExports();
