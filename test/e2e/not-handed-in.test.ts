import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { plainGit } from '../workspaces/project.ts';
import { shareDaemon } from './stage.ts';
import { EACH_A_LINE, makeProject, up } from './work-project.ts';

const newStage = shareDaemon();

test('what a lead changed outside of any task is named at the end, and the named command keeps it', async () => {
  const stage = newStage();
  const repository = makeProject(stage, EACH_A_LINE, {
    lead: { name: 'boss', agent: { exec: ['./agent.sh'] }, prompt: 'See that it is done' },
    members: [{ name: 'ann', agent: { exec: ['./agent.sh'] } }],
    tasks: [{ title: 'First', assign: 'ann' }],
  });
  const name = `boss --team ${stage.team}`;
  const keep = `troupe patch ${name} | git am`;
  const told = `because boss did not hand it in with a task: 1 file (+1 -0). See it: troupe diff ${name}. Keep it: ${keep}`;
  const shown = await up(stage, repository, '--keep');
  expect(shown.stdout, shown.stderr).toContain(`Not on the branch, ${told}\n`);
  const report = await stage.troupe('report', stage.team);
  expect(report.stdout).toContain(`\nNot handed in\n  Not on the branch, ${told}\n`);
  const down = await stage.troupe('down', stage.team);
  expect(down.stdout, down.stderr).toContain(`Not on the branch, ${told}\n`);
  for (const { stdout } of [shown, report, down]) expect(stdout).not.toContain('because ann');

  const patch = join(stage.folder, 'boss.patch');
  expect((await stage.troupe('patch', 'boss', '--team', stage.team, '--output', patch)).code).toBe(0);
  plainGit(repository, 'am', '-q', patch);
  expect(readFileSync(join(repository, 'boss.txt'), 'utf8')).toBe('by boss\n');
});

test('a member whose folder was gone is told before its task counts as done', async () => {
  const stage = newStage();
  const gone = join(stage.folder, 'gone');
  const edit = `[ $NAME = bob ] || echo new > x.txt; [ $NAME = bob ] || [ -e ${gone} ] || { touch ${gone}; rm -rf "$(pwd)"; }\n`;
  const repository = makeProject(stage, edit);
  const done = await up(stage, repository);
  expect(done, done.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('your folder was gone') });
  const { depot, tip } = await stage.ask<{ depot: string; tip: string }>('work', '--team', stage.team);
  expect(plainGit(depot, 'show', `${tip}:x.txt`)).toBe('new');
});
