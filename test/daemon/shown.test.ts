import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Home } from '../../src/client/home.ts';
import { rounds, tell } from '../proof.ts';
import { seededRandom } from '../seed.ts';
import { until } from '../until.ts';
import { run } from './processes.ts';
import type { Running } from './processes.ts';
import { temporaryHome } from './serve.ts';

const KILLS = rounds(3, 200);
/** So many kills happen to one team. Its history would otherwise take most of the time. */
const PER_TEAM = 5;
/** A daemon is killed after so many messages were shown, on average. */
const SHOWN = rounds(100, 600);

test(`a message is shown once, or marked as shown again, when its daemon and members are killed ${KILLS} times`, async () => {
  const random = seededRandom();
  let [shown, again] = [0, 0];
  for (let done = 0; done < KILLS; done += PER_TEAM) {
    const team = await killTalkers(Math.min(PER_TEAM, KILLS - done), random);
    shown += team.shown;
    again += team.again;
  }
  // Without it, no kill struck between showing a message and writing that down.
  expect(again).toBeGreaterThan(0);
  tell({ kills: KILLS, shown, again });
});

/** Kills the members of one team so many times, lets the last ones read to the end, and checks every message. */
async function killTalkers(kills: number, random: () => number): Promise<{ shown: number; again: number }> {
  const home = temporaryHome();
  const lives: string[][] = [];
  let first = 0;
  for (let kill = 0; kill <= kills; kill++) {
    const talkers = await start(home, first);
    const lines = (): string[] => talkers.output.stdout.split('\n').slice(0, -1);
    const count = (): number => lines().filter((line) => line.startsWith('shown')).length;
    const enough = (0.5 + random()) * SHOWN;
    await until('messages were shown', () => count() >= enough);
    if (kill === kills) await readToTheEnd(talkers, lives, lines);
    else await sleep(random() * 5);
    talkers.child.kill('SIGKILL');
    await talkers.ended;
    expect(talkers.output.stderr).toBe('');
    lives.push(lines());
    first += 1_000_000;
  }
  return check(lives);
}

async function start({ directory }: Home, first: number): Promise<Running> {
  const talkers = run('talkers', [directory, 'crew', String(first)], { stdio: ['pipe', 'pipe', 'pipe'] });
  await until('it has loaded', () => talkers.output.stdout === 'loaded\n');
  talkers.child.stdin?.write('go\n');
  return talkers;
}

/** Lets the last members end what they say, and waits until everything that was acknowledged is shown. */
async function readToTheEnd(talkers: Running, lives: readonly string[][], lines: () => string[]): Promise<void> {
  talkers.child.stdin?.write('enough\n');
  await until('the last message is sent', () => lines().includes('silent'));
  await until('every message is shown', () => {
    const { sent, shows } = read([...lives, lines()]);
    return sent.every((id) => shows.has(id));
  });
}

interface Show {
  readonly life: number;
  readonly member: string;
  readonly redeliveries: number;
}

function read(lives: readonly string[][]): { sent: string[]; shows: Map<string, Show[]> } {
  const sent: string[] = [];
  const shows = new Map<string, Show[]>();
  for (const [life, lines] of lives.entries()) {
    for (const [word, a = '', id = '', redeliveries] of lines.map((line) => line.split(' '))) {
      if (word === 'sent') sent.push(a);
      if (word !== 'shown') continue;
      shows.set(id, [...(shows.get(id) ?? []), { life, member: a, redeliveries: Number(redeliveries) }]);
    }
  }
  return { sent, shows };
}

/** At most one showing of a message is unmarked, and each further one is marked and follows a kill. */
function check(lives: readonly string[][]): { shown: number; again: number } {
  const { sent, shows } = read(lives);
  expect(sent.filter((id) => !shows.has(id))).toEqual([]);
  const all = [...shows.values()];
  const bad = all.filter(
    (list) =>
      new Set(list.map(({ member }) => member)).size > 1 ||
      new Set(list.map(({ life }) => life)).size < list.length ||
      list.slice(1).some(({ redeliveries }) => redeliveries === 0),
  );
  expect(bad).toEqual([]);
  const shown = all.reduce((sum, list) => sum + list.length, 0);
  return { shown, again: shown - all.length };
}
