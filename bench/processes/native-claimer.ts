// One of several processes that claim tasks from Claude Code's files by its own algorithm: list all, take the first free one under its lock.
import { foreignClaims } from '../../test/bridge/foreign.ts';

const [name = ''] = process.argv.slice(2);
process.on('message', (folder: string) => {
  void (async () => {
    const ids: string[] = [];
    for (let more = ['']; more.length > 0;) {
      more = await foreignClaims(folder, name, 1);
      ids.push(...more);
    }
    process.send?.(ids);
  })();
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
