import { Client } from '../../src/client/client.ts';
import { nodeWebSocketConnect } from '../../src/client/node-websocket.ts';
import { socketConnect } from '../../src/client/socket.ts';

// A worker in its own process: claims a team's tasks until none is left, several in flight, and reports their ids.
const [, , transport, place = '', worker = ''] = process.argv;
const token = process.env['TOKEN'] ?? '';
const connect =
  transport === 'unix' ? socketConnect({ path: place, token }) : nodeWebSocketConnect({ url: place, token });
const client = new Client(connect);
await client.call('team.list', {}, { as: worker });

process.on('message', ({ teamId, inFlight }: { teamId: string; inFlight: number }) => {
  void claimAll(teamId, inFlight).then((ids) => process.send?.(ids));
});
process.on('disconnect', () => client.close());
process.send?.('ready');

async function claimAll(teamId: string, inFlight: number): Promise<string[]> {
  const ids: string[] = [];
  const lane = async (): Promise<void> => {
    for (;;) {
      const task = await client.call('task.claim', { teamId }, { as: worker });
      if (task === null) return;
      ids.push(task.id);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  return ids;
}
