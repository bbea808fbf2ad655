// Takes tasks from a native list, as Claude Code would, until none is free; then says which it got.
import { foreignClaims } from '../foreign.ts';

const [folder = '', name = ''] = process.argv.slice(2);
process.on('message', () => {
  void (async () => {
    const ids: string[] = [];
    for (;;) {
      const more = await foreignClaims(folder, name, 5);
      ids.push(...more);
      if (more.length === 0) break;
      // A model thinks between two calls; so that the others get some, too.
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    process.send?.(ids, () => process.disconnect());
  })();
});
process.send?.('ready');
