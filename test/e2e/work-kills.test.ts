import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFailed, test } from 'vitest';
import { run } from '../daemon/processes.ts';
import type { Running } from '../daemon/processes.ts';
import { isReady, loadSpare, startSpare } from '../daemon/spare.ts';
import { rounds, tell } from '../proof.ts';
import { seededRandom } from '../seed.ts';
import { until } from '../until.ts';
import { makeRepository } from '../workspaces/project.ts';
import { agentProgram } from './kills/agent.ts';
import { checkDepot, checkEnd, checkTeam } from './kills/checks.ts';
import { openDeeds } from './kills/deeds.ts';
import { findTarget, findTargets, nameTarget, VICTIMS } from './kills/victims.ts';
import type { Victim } from './kills/victims.ts';
import { setStage } from './stage.ts';
import type { Stage } from './stage.ts';
import { pictureOf } from './work-project.ts';

const KILLS = rounds(10, 500);
/**
 * So many kills happen to one team: most while it works, then while it is deleted, while the trash is emptied, and while
 * the depot is pruned.
 */
const PER_TEAM = rounds(10, 25);
const WHILE_DELETED = rounds(2, 4);
const WHILE_CLEANED = rounds(1, 2);
const WHILE_PRUNED = rounds(1, 3);
const LONGEST_WAIT_MS = 1_200;

test(`${KILLS} times kill -9 of daemon, members, agents, setups and git loses no acknowledged save, and all work lands`, async () => {
  const stage = setStage();
  const random = seededRandom();
  const lines: string[] = [];
  onTestFailed(() => console.error(lines.join('\n')));
  const killing = await openKilling(stage, random, lines);
  const repository = makeProject(stage);
  const before = pictureOf(repository);
  let [saves, works] = [0, 0];
  for (let team = 1; killing.count() < KILLS; team++) {
    const most = Math.min(PER_TEAM, KILLS - killing.count());
    const done = await killInTeam({ stage, random, killing, repository, teamId: `crew-${team}` }, most);
    saves += done.saves;
    works += done.works;
    expect({ ...pictureOf(repository), 'troupe.yaml': '' }).toEqual({ ...before, 'troupe.yaml': '' });
  }
  await killing.end();
  expect(findTargets(stage.home)).toEqual([]);
  tell({ kills: KILLS, saves, works });
  console.log(`${saves} acknowledged saves are there, ${works} works landed; killed ${killing.summary()}`);
});

/** The repository of all teams, and the program of their members beside it. */
function makeProject({ folder }: Stage): string {
  writeFileSync(join(folder, 'agent.sh'), agentProgram(join(folder, 'complaints')));
  const repository = join(folder, 'project');
  makeRepository(repository, {
    '.gitignore': 'node_modules/\ntroupe.yaml\n',
    'lines.txt': Array.from({ length: 600 }, (_, i) => `line ${i + 1}\n`).join(''),
    'package-lock.json': '1\n',
    'src/a.ts': 'export const a = 1;\n',
  });
  return repository;
}

/** What a team is killed with. */
interface Scene {
  readonly stage: Stage;
  readonly random: () => number;
  readonly killing: Killing;
  readonly repository: string;
  readonly teamId: string;
}

/** Lets a team work, kills something so many times, lets it end, and checks everything. Then the same with its end. */
async function killInTeam(
  { stage, random, killing, repository, teamId }: Scene,
  kills: number,
): Promise<{ saves: number; works: number }> {
  const { home, folder } = stage;
  const complaints = join(folder, 'complaints');
  const deeds = await openDeeds({ stage, repository, teamId, random });
  const working = kills - WHILE_DELETED - WHILE_CLEANED - WHILE_PRUNED;
  const first = Math.floor(random() * VICTIMS.length);
  for (let i = 0; i < working; i++) {
    await deeds.addTasks();
    const victim = VICTIMS[(first + i) % VICTIMS.length] ?? 'daemon';
    const deed = await deeds.begin();
    await sleep(random() * (random() < 0.6 ? 60 : LONGEST_WAIT_MS));
    await killing.kill(victim, `${teamId}: ${deed}`);
    expect(existsSync(complaints) ? readFileSync(complaints, 'utf8') : '').toBe('');
    checkDepot(home, deeds.known());
  }
  await deeds.finish();
  const { depot } = await checkTeam(deeds);
  for (let i = 0; i < WHILE_DELETED; i++) {
    deeds.remove();
    await sleep(random() * 250);
    await killing.kill(i % 2 === 0 ? 'daemon' : 'git', `${teamId}: deletes the team`);
  }
  await deeds.removed();
  for (let i = 0; i < WHILE_CLEANED; i++) {
    deeds.clean();
    await sleep(random() * 40);
    await killing.kill('daemon', `${teamId}: empties the trash`);
  }
  await deeds.cleaned();
  await killing.pause(async () => {
    for (let i = 0; i <= WHILE_PRUNED; i++) {
      const sweeper = run('sweeper', [home.directory], { env: { ...process.env, TROUPE_HOME: home.directory } });
      await until('it sweeps', () => sweeper.output.stdout !== '' || sweeper.child.exitCode !== null);
      if (i < WHILE_PRUNED) {
        await sleep(random() * 120);
        killing.strike(sweeper, `${teamId}: prunes`);
      }
      const isKilled = (await sweeper.ended) === 'SIGKILL';
      expect(sweeper.output).toEqual(isKilled ? expect.anything() : { stdout: 'open\nswept\n', stderr: '' });
    }
    checkEnd(deeds, depot);
  });
  return { saves: deeds.known().length, works: deeds.created() };
}

/** Kills processes of a home, and starts the next daemon after one was killed. */
interface Killing {
  count(): number;
  kill(victim: Victim, when: string): Promise<void>;
  /** Kills a program of the test. */
  strike(running: Running, when: string): void;
  /** Does something while no daemon runs. */
  pause(work: () => Promise<void>): Promise<void>;
  end(): Promise<void>;
  /** How many of each kind. */
  summary(): string;
}

async function openKilling({ home }: Stage, random: () => number, lines: string[]): Promise<Killing> {
  const struck = new Map<string, number>();
  let count = 0;
  let daemon = await loadSpare(home);
  startSpare(daemon);
  await until('the first daemon is ready', () => isReady(daemon));

  const note = (what: string, when: string, how: string): void => {
    count++;
    struck.set(what, (struck.get(what) ?? 0) + 1);
    lines.push(`kill ${count}, ${when}: ${what} ${how}`);
  };
  const endDaemon = async (): Promise<void> => {
    daemon.child.kill('SIGKILL');
    expect(await daemon.ended, daemon.output.stderr).toBe('SIGKILL');
  };
  const nextDaemon = async (): Promise<void> => {
    daemon = await loadSpare(home);
    startSpare(daemon);
    await until('the daemon is ready', () => isReady(daemon));
  };
  return {
    count: () => count,
    async kill(victim, when) {
      const target = victim === 'daemon' ? undefined : await findTarget(home, victim, random);
      if (target) {
        try {
          process.kill(target.pid, 'SIGKILL');
          return note(nameTarget(target), when, target.command.replaceAll(/ -c \S+/g, '').slice(0, 120));
        } catch {
          // It had just ended: then the daemon.
        }
      }
      await endDaemon();
      note('daemon', when, '');
      await nextDaemon();
    },
    strike(running, when) {
      running.child.kill('SIGKILL');
      note('pruning', when, running.output.stdout.trim());
    },
    async pause(work) {
      await endDaemon();
      await work();
      await nextDaemon();
    },
    end: endDaemon,
    summary: () => [...struck].map(([what, times]) => `${what}: ${times}`).join(', '),
  };
}
