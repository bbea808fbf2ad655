// Writes one task after the other in files that were made ahead, until it is killed.
import { nativePaths } from '../../../src/bridge/layout.ts';
import { keepSpares } from '../../../src/bridge/spares.ts';
import { changeTaskFile } from '../../../src/bridge/task-file.ts';

const [root = '', name = '', folder = '', count = '0'] = process.argv.slice(2);
const paths = nativePaths(root, name);
const spares = keepSpares(folder, root, (error) => {
  throw error;
});
for (let turn = 0; ; turn++) {
  spares.want(name, 64);
  // In bursts: spare files are made in between.
  await new Promise((resolve) => setTimeout(resolve, 120));
  for (let id = 1; id <= Number(count); id++) {
    const metadata = { turn, filler: 'x'.repeat(20_000) };
    const write = (task: object | undefined) => ({ answer: undefined, write: { ...task, metadata } as never });
    await changeTaskFile(paths, String(id), write, { spares });
  }
  process.send?.(turn);
}
