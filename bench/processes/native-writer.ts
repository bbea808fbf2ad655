// A foreign writer: changes one task after the other, each under its lock, until it is stopped.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { foreignLock, foreignUnlock, writeInPlace } from '../../test/bridge/foreign.ts';

let running = false;
process.on('message', ({ folder, tasks }: { folder?: string; tasks?: number }) => {
  running = folder !== undefined;
  if (folder === undefined || tasks === undefined) {
    process.send?.('stopped');
    return;
  }
  void (async () => {
    for (let i = 0; running; i++) {
      const path = join(folder, `${tasks - (i % 20)}.json`);
      if (await foreignLock(path)) {
        try {
          const task = JSON.parse(readFileSync(path, 'utf8')) as { metadata?: object };
          writeInPlace(path, { ...task, metadata: { ...task.metadata, touched: i } });
        } catch {
          // Another process has written only half of it. The next round reads it.
        } finally {
          foreignUnlock(path);
        }
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
