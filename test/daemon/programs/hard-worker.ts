// A client that works without pause while its daemon is killed again and again, and records every answer.
import { Client } from '../../../src/client/client.ts';
import { homeAt } from '../../../src/client/home.ts';
import { socketConnect } from '../../../src/client/socket.ts';

/** What the daemon has acknowledged to one worker. */
export interface Acknowledged {
  readonly created: { team: string; title: string; id: string }[];
  readonly claimed: { team: string; id: string; epoch: number }[];
  readonly sent: { team: string; content: string; id: string }[];
  /** How often it connected. */
  connections: number;
  readonly errors: string[];
}

const [folder = '', name = '', ...teams] = process.argv.slice(2);
const home = homeAt(folder);
const acknowledged: Acknowledged = { created: [], claimed: [], sent: [], connections: 0, errors: [] };
const client = new Client(socketConnect({ path: home.socket, token: { file: home.tokenFile } }), {
  // No test waits longer.
  patience: 300_000,
  onState: (state) => (acknowledged.connections += Number(state === 'open')),
});
let isWorking = true;
process.stdin.once('data', () => (isWorking = false));
await Promise.all([loop('t', createAndClaim), loop('m', send)]);
client.close();
// A process that exits does not wait for what is still to be written, and this is long.
await new Promise((written) => process.stdout.write(`\n${JSON.stringify(acknowledged)}\n`, written));
process.exit(0);

/** Prints the letter for each answer. */
async function loop(letter: string, work: (team: string, n: number) => Promise<void>): Promise<void> {
  for (let n = 0; isWorking; n++) {
    const team = teams[n % teams.length] ?? '';
    await work(team, n).catch((error: unknown) => acknowledged.errors.push(String(error)));
    process.stdout.write(letter);
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
}

async function createAndClaim(team: string, n: number): Promise<void> {
  const title = `${name}-${n}`;
  const { id } = await client.call('task.create', { teamId: team, title }, { as: name });
  acknowledged.created.push({ team, title, id });
  const task = await client.call('task.claim', { teamId: team }, { as: name });
  if (task) acknowledged.claimed.push({ team, id: task.id, epoch: task.epoch });
}

async function send(team: string, n: number): Promise<void> {
  const content = `${name}-${n}`;
  const { id } = await client.call('message.send', { teamId: team, toId: 'lead', content }, { as: name });
  acknowledged.sent.push({ team, content, id });
}
