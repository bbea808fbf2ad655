import { once } from 'node:events';
// A daemon whose members run in its process and write to one another without pause, until it is killed:
// talkers.ts HOME TEAM FIRST. Prints `sent ID` for each message that was acknowledged, and
// `shown MEMBER ID REDELIVERIES` before an agent does anything with a message.
import { writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { functionAgent } from '../../../src/agents/function.ts';
import { homeAt } from '../../../src/client/home.ts';

const MEMBERS = ['ada', 'bob', 'cyd', 'dan', 'eve', 'fay'];
/** So many messages are on their way at a time. */
const IN_FLIGHT = 12;
const [folder = '', teamId = '', first = '0'] = process.argv.slice(2);
const { startDaemon } = await import('../../../src/daemon.ts');
// Node writes the cache at exit, but this process is killed.
flushCompileCache();
writeSync(1, 'loaded\n');
await once(process.stdin, 'data');

const listener = functionAgent(async ({ messages }, { memberId }) => {
  // Not through a stream: what is printed must have left this process when the next step begins.
  for (const { id, redeliveries } of messages) writeSync(1, `shown ${memberId} ${id} ${redeliveries}\n`);
  // As long as a kill must be able to strike in the middle of it.
  await sleep(25);
  return 'read';
});
const { coordinator, mailbox, ledger } = await startDaemon({ home: homeAt(folder), agents: { listener } });
if (!(await ledger.teams()).includes(teamId)) {
  await coordinator.createTeam('session', { name: teamId, messagesPerMinute: 1_000_000 });
  for (const name of MEMBERS) {
    await coordinator.spawnTeammate(teamId, { name, role: 'reads', prompt: 'Read.', agentType: 'listener' });
  }
}
writeSync(1, 'ready\n');
let number = Number(first);
let isTalking = true;
process.stdin.once('data', () => (isTalking = false));
await Promise.all(Array.from({ length: IN_FLIGHT }, talk));
writeSync(1, 'silent\n');

async function talk(): Promise<void> {
  while (isTalking) {
    const at = number++;
    const [fromId, toId] = [MEMBERS[at % MEMBERS.length] ?? '', MEMBERS[(at * 7 + 1) % MEMBERS.length] ?? ''];
    if (fromId === toId) continue;
    const { id } = await mailbox.send(teamId, fromId, { toId, content: `message ${at}` });
    writeSync(1, `sent ${id}\n`);
  }
}
