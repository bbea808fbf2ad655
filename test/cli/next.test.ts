import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { nextSteps } from '../../src/cli/show/next.ts';
import type { Whereabouts } from '../../src/cli/show/next.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { answerInPool } from './answer-pool.ts';
import { newTroupe } from './troupe.ts';

const NOWHERE: Whereabouts = { daemon: false, hasState: false, teams: [], unmerged: [] };
const RUNNING = { kind: 'running', word: 'Running', text: 'Running' } as const;
const ASKS = { kind: 'needs-you', word: 'Needs you', text: 'Needs you: may ann use the network?' } as const;

function commandsAt(where: Partial<Whereabouts>): string[] {
  return nextSteps({ ...NOWHERE, ...where }).steps.map(({ command }) => command);
}

describe('what one can do next', () => {
  test('is to start something, where nothing is', () => {
    expect(commandsAt({})).toEqual(['troupe run "GOAL"', 'troupe init', 'troupe doctor']);
    expect(commandsAt({ hasState: true })).toEqual(['troupe status', 'troupe run "GOAL"', 'troupe init']);
  });

  test('is to run the team file that is here', () => {
    expect(commandsAt({ teamFile: 'troupe.yaml' })[0]).toBe('troupe up');
    expect(commandsAt({ teamFile: 'troupe.yaml' })).not.toContain('troupe init');
  });

  test('is to answer, to look and to merge, in this order', () => {
    const where = {
      daemon: true,
      hasState: true,
      teams: [
        { name: 'alpha', situation: RUNNING },
        { name: 'beta', situation: ASKS },
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
    expect(nextSteps({ ...NOWHERE, ...where }).state).toEqual([
      'Team alpha: Running',
      'Team beta: Needs you: may ann use the network?',
    ]);
  });

  test('has at most 12 lines, however much there is', () => {
    const many = Array.from({ length: 30 }, (_, at) => ({ name: `team-${at}`, situation: ASKS }));
    const unmerged = many.map(({ name }) => ({ team: name, size: '1 file' }));
    const { state, steps } = nextSteps({
      daemon: true,
      hasState: true,
      teamFile: 'troupe.yaml',
      teams: many,
      unmerged,
    });
    expect(state.at(-1)).toBe('And 27 more.');
    // One line for the help.
    expect(state.length + steps.length + 1).toBeLessThanOrEqual(12);
  });
});

describe('troupe without words', () => {
  test('starts no daemon and writes nothing; with one, it names its teams', async () => {
    const troupe = newTroupe();
    const folder = temporaryFolder();
    const ask = (...words: string[]) => answerInPool(words, { env: { TROUPE_HOME: troupe.home }, cwd: folder });
    const first = await ask();
    expect(first).toMatchObject({ status: 0, stderr: '' });
    expect(first.stdout).toMatch(/^No team runs\.\n {2}troupe run "GOAL" /);
    expect(first.stdout).toContain('troupe help lists all commands.\n');
    expect(existsSync(troupe.home)).toBe(false);
    writeFileSync(join(folder, 'troupe.yaml'), 'team: demo\n');
    await troupe.run('team create demo');
    const second = await ask('--json');
    expect(JSON.parse(second.stdout)).toMatchObject({
      daemon: true,
      teamFile: 'troupe.yaml',
      state: ['Team demo: Quiet'],
      next: [{ command: 'troupe ps' }, { command: 'troupe watch demo' }, { command: 'troupe up' }],
    });
  });
});
