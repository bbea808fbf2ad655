import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startDaemon } from '../../src/daemon.ts';
import { rounds } from '../proof.ts';
import { seededRandom } from '../seed.ts';
import { until } from '../until.ts';
import { run } from './processes.ts';
import { connect, temporaryHome } from './serve.ts';
import { loadSpare, startSpare } from './spare.ts';

const SENDERS = ['ada', 'bob', 'cyd'];
/** Three times this is less than what another team may send at once. */
const EACH = 6;
const KILLS = rounds(3, 8);

test(`a message to another team is there once if it was acknowledged, after ${KILLS} kills of the daemon`, async () => {
  const random = seededRandom();
  const home = temporaryHome();
  const daemon = await startDaemon({ home });
  const client = connect(home);
  await client.call('team.create', { name: 'alpha', peers: ['beta'] });
  await client.call('team.create', { name: 'beta', peers: ['alpha'] });
  for (const name of SENDERS) await client.call('member.add', { teamId: 'alpha', name });
  await daemon.close();

  let next = await loadSpare(home);
  const senders = SENDERS.map((name) => run('peer-sender', [home.directory, name, String(EACH)]));
  const countAnswers = (): number => senders.reduce((sum, { output }) => sum + linesIn(output.stdout).length, 0);
  for (let kill = 0; kill < KILLS; kill++) {
    const killed = next;
    startSpare(killed);
    next = await loadSpare(home);
    await until('it is ready', () => killed.output.stdout === 'loaded\nready\n');
    // Between the write and its answer, sooner or later.
    const before = countAnswers();
    await until('a message was sent', () => countAnswers() > before || countAnswers() === SENDERS.length * EACH);
    await sleep(random() * 5);
    killed.child.kill('SIGKILL');
    await killed.ended;
  }
  startSpare(next);
  expect(await Promise.all(senders.map(({ ended }) => ended))).toEqual([0, 0, 0]);

  const inbox = await client.call('message.inbox', { teamId: 'beta', memberId: 'lead' });
  for (const [at, name] of SENDERS.entries()) {
    const wanted = Array.from({ length: EACH }, (_, n) => `${name} ${n}`);
    expect(linesIn(senders[at]?.output.stdout ?? '')).toEqual(wanted);
    expect(inbox.filter(({ fromId }) => fromId === `${name}@alpha`).map(({ content }) => content)).toEqual(wanted);
  }
  expect(inbox).toHaveLength(SENDERS.length * EACH);
});

function linesIn(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}
