import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ResultOf } from '../../src/operations/index.ts';
import { SHORT_RUN } from '../agents/bun.ts';
import { until } from '../until.ts';
import { makeRepository, plainGit } from '../workspaces/project.ts';
import { as, lastText } from './script.ts';
import { answerDialogs, setNativeStage } from './stage.ts';
import { TESTED_VERSIONS } from './versions.ts';

describe.for(TESTED_VERSIONS)('a native teammate of Claude Code %s', (version) => {
  test('works in a workspace of its own if the team file says so, and its work lands', async (context) => {
    const stage = await setNativeStage(context, version);
    makeRepository(stage.cwd, { 'README.md': 'A project\n' });
    const folder = join(stage.troupeHome.directory, 'workspaces', 'own', 'alice');
    // As after a yes of a person in its terminal: a clone does not have the trust of the checkout.
    answerDialogs(stage.home, folder);
    stage.play({
      alice: (request) => {
        const last = lastText(request);
        const stop = /shutdown-\d+@alice/.exec(last)?.[0];
        if (stop !== undefined) return { calls: [stage.words.answerShutdown(stop, true, '')] };
        if (!last.includes('Task #1')) return { text: 'It is written.' };
        const input = { file_path: join(folder, 'alice.txt'), content: 'by alice\n' };
        return { calls: [{ name: 'Write', input }] };
      },
    });
    const alice = {
      name: 'alice',
      agent: 'claude-native',
      workspace: 'own',
      command: [stage.program],
      env: SHORT_RUN,
      model: 'claude-sonnet-4-5-20250929',
      prompt: `${as('alice')}Do as you are told.`,
    };
    const file = {
      team: 'own',
      work: { workspaces: 'own' },
      members: [alice],
      tasks: [{ title: 'Write it', assign: 'alice' }],
    };
    writeFileSync(join(stage.cwd, 'troupe.yaml'), JSON.stringify(file));
    const up = await stage.troupe('up', '--yes', 'troupe.yaml', '--detach');
    expect(up.code, up.stderr).toBe(0);
    const work = await until('its work has landed', async () => {
      const now = await stage.ask<ResultOf<'work.show'>>('work', '--team', 'own');
      return now.tip !== now.base && now;
    });
    expect(plainGit(work.depot ?? '', 'show', `${work.tip}:alice.txt`)).toBe('by alice');
    expect((await stage.troupe('down', 'own')).code).toBe(0);
  });
});
