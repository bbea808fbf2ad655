// One of several processes that take the same lock repeatedly, and log when they had it.
import { appendFileSync } from 'node:fs';
import { underLock } from '../../../src/bridge/lock.ts';
import { HANG_MS } from '../../until.ts';

const [path = '', log = '', times = '1'] = process.argv.slice(2);
for (let i = 0; i < Number(times); i++) {
  await underLock(
    path,
    () => {
      const from = process.hrtime.bigint();
      while (process.hrtime.bigint() - from < 1_000_000n);
      appendFileSync(log, `${from} ${process.hrtime.bigint()} ${process.pid}\n`);
    },
    // However long the others take on a busy machine.
    { silent: 200, patience: HANG_MS },
  );
}
