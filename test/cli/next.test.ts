import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { nextSteps } from '../../src/cli/show/next.ts';
import type { Whereabouts } from '../../src/cli/show/next.ts';
import { hintRetry } from '../../src/cli/show/words.ts';
import { openProcessRecords } from '../../src/runtime/process-records.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { answerInPool } from './answer-pool.ts';
import { BIN, killDaemon, newTroupe } from './troupe.ts';

const NOWHERE: Whereabouts = {
  daemon: false,
  hasState: false,
  hasAgent: true,
  here: [],
  others: [],
  interrupted: [],
  unmerged: [],
};
const RUNNING = { kind: 'running', word: 'Running', text: 'Running' } as const;
const ASKS = { kind: 'needs-you', word: 'Needs you', text: 'Needs you: may ann use the network?' } as const;
const UP = { daemon: true, hasState: true };

function commandsAt(where: Partial<Whereabouts>): string[] {
  return nextSteps({ ...NOWHERE, ...where }).steps.map(({ command }) => command);
}

function stateAt(where: Partial<Whereabouts>): string[] {
  return nextSteps({ ...NOWHERE, ...where }).state;
}

describe('what one can do next', () => {
  test('is to start something, where nothing is', () => {
    expect(commandsAt({})).toEqual(['troupe run "GOAL"', 'troupe init', 'troupe doctor']);
    expect(commandsAt({ hasState: true })).toEqual(['troupe status', 'troupe run "GOAL"', 'troupe init']);
  });

  test('is what works without an agent, if none is installed', () => {
    const first = ['troupe init script && troupe up', 'troupe agents'];
    expect(commandsAt({ hasAgent: false })).toEqual([...first, 'troupe doctor']);
    expect(commandsAt({ ...UP, hasAgent: false })).toEqual(first);
    expect(commandsAt({ ...UP, hasAgent: false, teamFile: 'troupe.yaml' })).toEqual(['troupe up', 'troupe agents']);
  });

  test('is to run the team file that is here, unless its team runs', () => {
    const file = { teamFile: 'troupe.yaml' };
    expect(commandsAt(file)[0]).toBe('troupe up');
    expect(commandsAt(file)).not.toContain('troupe init');
    const team = { name: 'demo', situation: RUNNING };
    expect(commandsAt({ ...UP, ...file, here: [team] })).toEqual(['troupe ps', 'troupe watch demo']);
    const { steps } = nextSteps({ ...NOWHERE, ...UP, ...file, here: [{ ...team, isAtRest: true }] });
    expect(steps.at(-1)).toEqual({ command: 'troupe up', why: 'bring the members of demo back' });
  });

  test('is to read about the closed team of the file and to start it over, since troupe up alone refuses', () => {
    const closed = { ...UP, hasAgent: false, teamFile: 'troupe.yaml', closed: 'demo' };
    expect(commandsAt(closed)).toEqual(['troupe report demo', 'troupe up --again', 'troupe agents']);
    const unmerged = [{ team: 'demo', size: '1 file' }];
    expect(commandsAt({ ...closed, unmerged })).not.toContain('troupe up --again');
    const { teamFile: _, ...withoutFile } = closed;
    expect(commandsAt(withoutFile)).not.toContain('troupe up --again');
    const stopped = { name: 'other', situation: RUNNING, isAtRest: true };
    expect(commandsAt({ ...closed, here: [stopped] }).at(-1)).toBe('troupe up');
  });

  test('says of troupe up that it may refuse, while no daemon can tell whether the team is closed', () => {
    const whyOf = (where: Partial<Whereabouts>): string | undefined =>
      nextSteps({ ...NOWHERE, teamFile: 'troupe.yaml', ...where }).steps.find(({ command }) => command === 'troupe up')
        ?.why;
    const why = 'run the team of troupe.yaml';
    expect(whyOf({})).toBe(why);
    expect(whyOf(UP)).toBe(why);
    expect(whyOf({ hasState: true })).toBe(`${why}; if that team was closed, it says how to start it over`);
  });

  test('is to take up what a killed daemon left', () => {
    const where = { hasState: true, teamFile: 'troupe.yaml', interrupted: ['demo'] };
    expect(commandsAt(where).slice(0, 2)).toEqual(['troupe status', 'troupe up']);
    expect(stateAt(where)).toEqual(['No daemon runs, and team demo did not end: the daemon was killed or crashed.']);
    expect(stateAt({ hasState: true, interrupted: ['a', 'b', 'c', 'd'] })[0]).toContain('teams a, b, c and 1 more did');
    expect(commandsAt({ hasState: true, silent: 7 })[0]).toBe('troupe doctor');
    expect(stateAt({ hasState: true, silent: 7 })).toEqual(['A daemon runs (process 7), but it does not answer.']);
  });

  test('is to answer, to look and to merge, in this order; teams of other folders take one line', () => {
    const where = {
      ...UP,
      here: [{ name: 'alpha', situation: RUNNING }],
      others: [
        { name: 'beta', situation: ASKS },
        { name: 'delta', situation: RUNNING },
      ],
      unmerged: [{ team: 'gamma', size: '2 files (+10 -3)' }],
    };
    expect(commandsAt(where)).toEqual([
      'troupe approve',
      'troupe ps',
      'troupe watch alpha',
      'troupe merge --team gamma',
    ]);
    const elsewhere = { ...where, unmerged: [{ team: 'gamma', size: '2 files', elsewhere: '~/other' }] };
    expect(nextSteps({ ...NOWHERE, ...elsewhere }).steps.at(-1)?.why).toMatch(/^bring 2 files into ~\/other;/);
    expect(stateAt(where)).toEqual(['Team alpha: Running', 'Other teams: beta (Needs you), delta (Running).']);
    const outside = { ...where, here: [], unmerged: [] };
    expect(stateAt(outside)[0]).toBe('No team runs in this folder.');
    expect(commandsAt(outside)).toEqual(['troupe approve', 'troupe ps', 'troupe run "GOAL"', 'troupe init']);
  });

  test('is to reopen the failed task for which others wait', () => {
    const situation = {
      kind: 'stuck' as const,
      word: 'Stuck',
      text: 'Stuck: #3 failed and 1 waits for it',
      taskId: '3',
    };
    const here = [{ name: 'alpha', situation }];
    expect(commandsAt({ ...UP, here })).toEqual([
      'troupe task reopen 3 --team alpha',
      'troupe ps',
      'troupe watch alpha',
    ]);
    expect(hintRetry(situation, 'alpha')).toBe('. To try again: troupe task reopen 3 --team alpha');
    expect(hintRetry(RUNNING, 'alpha')).toBe('');
  });

  test('has at most 12 lines, however much there is', () => {
    const many = Array.from({ length: 30 }, (_, at) => ({ name: `team-${at}`, situation: ASKS, isAtRest: true }));
    const unmerged = many.map(({ name }) => ({ team: name, size: '1 file' }));
    const file = { teamFile: 'troupe.yaml' };
    const { state, steps } = nextSteps({ ...NOWHERE, ...UP, ...file, here: many, others: many, unmerged });
    expect(state.slice(-2)).toEqual([
      'And 27 more here.',
      'Other teams: team-0 (Needs you), team-1 (Needs you), team-2 (Needs you) and 27 more.',
    ]);
    // One line for the help.
    expect(state.length + steps.length + 1).toBeLessThanOrEqual(12);
  });
});

describe('troupe without words', () => {
  test('starts no daemon and writes nothing; with one, it names the teams of this folder first', async () => {
    const troupe = newTroupe();
    const folder = temporaryFolder();
    const bin = temporaryFolder();
    const env = { TROUPE_HOME: troupe.home, PATH: bin };
    const ask = (...words: string[]) => answerInPool(words, { env, cwd: folder });
    const bare = await ask();
    expect(bare).toMatchObject({ status: 0, stderr: '' });
    expect(bare.stdout).toMatch(/^No team runs\.\n {2}troupe init script && troupe up /);
    writeFileSync(join(bin, 'claude'), '#!/bin/sh\n');
    chmodSync(join(bin, 'claude'), 0o755);
    const first = await ask();
    expect(first.stdout).toMatch(/^No team runs\.\n {2}troupe run "GOAL" /);
    expect(first.stdout).toContain('troupe help lists all commands.\n');
    expect(existsSync(troupe.home)).toBe(false);

    const team =
      'team: demo\nmembers: [{ name: ann, agent: { exec: [sleep, "600"] } }]\ntasks: [{ id: a, title: Wait }]\n';
    writeFileSync(join(folder, 'troupe.yaml'), team);
    await troupe.run('team create elsewhere');
    const up = await troupe.run(['up', join(folder, 'troupe.yaml'), '--yes', '--detach']);
    expect(up.status, up.stderr).toBe(0);
    await until('it runs', async () => (await ask('--json')).stdout.includes('"Team demo: Running"'));
    const second = await ask('--json');
    expect(JSON.parse(second.stdout)).toMatchObject({
      daemon: true,
      teamFile: 'troupe.yaml',
      state: ['Team demo: Running', 'Other teams: elsewhere (Quiet).'],
      next: [{ command: 'troupe ps' }, { command: 'troupe watch demo' }],
    });
    expect((await answerInPool([], { env, cwd: temporaryFolder() })).stdout).toMatch(
      /^No team runs in this folder\.\n/,
    );

    // In a folder inside, the team of the nearer file is meant, by this and by commands that name none.
    const inside = join(folder, 'inside');
    mkdirSync(inside);
    writeFileSync(join(inside, 'troupe.yaml'), team.replace('demo', 'nearer'));
    await troupe.run(['up', join(inside, 'troupe.yaml'), '--yes', '--detach']);
    const askInside = async (): Promise<{ state: string[]; next: { command: string }[] }> =>
      JSON.parse((await answerInPool(['--json'], { env, cwd: inside })).stdout);
    await until('it runs, too', async () => (await askInside()).state[0] === 'Team nearer: Running');
    expect((await askInside()).state[1]).toBe('Other teams: demo (Running), elsewhere (Quiet).');
    const report = await answerInPool(['report', '--json'], { env, cwd: inside });
    expect(JSON.parse(report.stdout)).toMatchObject({ team: 'nearer' });
    await troupe.run('down nearer --now');
    expect((await askInside()).next.slice(0, 3)).toMatchObject([
      { command: 'troupe ps' },
      { command: 'troupe report nearer' },
      { command: 'troupe up --again' },
    ]);

    await killDaemon(troupe.home);
    const killed = await ask('--json');
    expect(JSON.parse(killed.stdout)).toMatchObject({
      daemon: false,
      state: ['No daemon runs, and team demo did not end: the daemon was killed or crashed.'],
      next: [{ command: 'troupe status' }, { command: 'troupe up' }, { command: 'troupe run "GOAL"' }],
    });
    // As it says.
    expect((await troupe.run('status')).status).toBe(0);
    await until('the team is taken up', async () => (await ask('--json')).stdout.includes('"Team demo: Running"'));
    await troupe.run('stop');
    expect(openProcessRecords(join(troupe.home, 'processes')).list()).toEqual([]);
    expect((await ask()).stdout).toMatch(/^No daemon runs\.\n/);
  });

  test('says of a deleted folder that it was deleted, as other commands do', () => {
    const folder = temporaryFolder();
    const home = join(temporaryFolder(), 'home');
    for (const words of ['--json', 'init']) {
      const here = join(folder, 'deleted');
      mkdirSync(here);
      const line = `cd '${here}' && rmdir '${here}' && exec '${process.execPath}' '${BIN}' ${words}`;
      const { status, stdout, stderr } = spawnSync('sh', ['-c', line], {
        env: { PATH: process.env['PATH'], TROUPE_HOME: home },
        encoding: 'utf8',
      });
      expect({ status, stdout }, stderr).toEqual({ status: 3, stdout: '' });
      expect(stderr).toContain('The folder that you are in was deleted: cd to another');
    }
  });
});
