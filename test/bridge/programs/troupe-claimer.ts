// Takes tasks of a team through its daemon until none is ready; then says which it got.
import { Client } from '../../../src/client/client.ts';
import { socketConnect } from '../../../src/client/socket.ts';

const [path = '', teamId = '', worker = ''] = process.argv.slice(2);
const client = new Client(socketConnect({ path, token: process.env['TOKEN'] ?? '' }));
await client.call('team.list', {});
process.on('message', () => {
  void (async () => {
    const ids: string[] = [];
    for (;;) {
      const task = await client.call('task.claim', { teamId }, { as: worker });
      if (task === null) break;
      ids.push(task.id);
    }
    client.close();
    process.send?.(ids, () => process.disconnect());
  })();
});
process.send?.('ready');
