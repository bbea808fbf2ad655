// Takes tasks of a team through its daemon.
import { Client } from '../../../src/client/client.ts';
import { socketConnect } from '../../../src/client/socket.ts';
import { claimAll } from './claim-all.ts';

const [path = '', teamId = '', worker = ''] = process.argv.slice(2);
const client = new Client(socketConnect({ path, token: process.env['TOKEN'] ?? '' }));
await client.call('team.list', {});
claimAll(
  async () => (await client.call('task.claim', { teamId }, { as: worker }))?.id,
  () => client.close(),
);
