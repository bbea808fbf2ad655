// One of several processes that claim tasks from Claude Code's files by its own algorithm.
import { foreignClaim } from '../../test/bridge/foreign.ts';

const [name = ''] = process.argv.slice(2);
process.on('message', (folder: string) => {
  void (async () => {
    const ids: string[] = [];
    for (let id = await foreignClaim(folder, name); id !== undefined; id = await foreignClaim(folder, name)) {
      ids.push(id);
    }
    process.send?.(ids);
  })();
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
