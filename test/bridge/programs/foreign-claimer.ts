// Takes tasks from a native list, as Claude Code would, until none is free; then says which it got.
import { foreignClaim } from '../foreign.ts';

const [folder = '', name = ''] = process.argv.slice(2);
process.on('message', () => {
  void (async () => {
    const ids: string[] = [];
    for (let id = await foreignClaim(folder, name); id !== undefined; id = await foreignClaim(folder, name)) {
      ids.push(id);
      // A model thinks between two tasks; so that the others get some, too.
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    process.send?.(ids, () => process.disconnect());
  })();
});
process.send?.('ready');
