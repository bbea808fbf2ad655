// A member that writes to another team while its daemon is killed, and says which messages were acknowledged.
import { Client } from '../../../src/client/client.ts';
import { homeAt } from '../../../src/client/home.ts';
import { socketConnect } from '../../../src/client/socket.ts';

const [folder = '', name = '', count = '0'] = process.argv.slice(2);
const home = homeAt(folder);
// No test waits longer.
const client = new Client(socketConnect({ path: home.socket, token: { file: home.tokenFile } }), { patience: 300_000 });
for (let n = 0; n < Number(count); n++) {
  const input = { teamId: 'alpha', toId: 'lead@beta', content: `${name} ${n}` };
  const { content } = await client.call('message.send', input, { as: name });
  process.stdout.write(`${content}\n`);
}
client.close();
