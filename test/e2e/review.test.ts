import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ResultOf } from '../../src/operations/index.ts';
import { openTerminal } from '../cli/terminal.ts';
import type { Troupe } from '../cli/troupe.ts';
import { environmentFor } from '../daemon/serve.ts';
import { needTool } from '../tools.ts';
import { until } from '../until.ts';
import { plainGit } from '../workspaces/project.ts';
import { shareDaemon } from './stage.ts';
import type { Stage } from './stage.ts';
import { makeProject } from './work-project.ts';

type Request = ResultOf<'request.list'>[number];
type Work = ResultOf<'work.show'>;

/** Writes down what it is told, shouts at first, and is quiet once it is told so. */
const editOf = ({ folder }: Stage): string => `
turns=$(ls ${folder} | grep -c '^turn-')
cat > ${folder}/new && mv ${folder}/new ${folder}/turn-$turns.json
if grep -q 'too loud' ${folder}/turn-$turns.json; then echo quiet > greeting.txt; else echo LOUD > greeting.txt; fi
sed -i '/^line 2$/d' common.txt
`;

const TASKS = [{ title: 'Greet', assign: 'ann' }];

/** What the holder was told in each of its turns. */
function toldIn({ folder }: Stage): (string | null)[] {
  const turns = readdirSync(folder).filter((name) => name.startsWith('turn-'));
  return turns.sort().map((name) => {
    const { feedback } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { feedback: string | null };
    return feedback;
  });
}

/** The question about the work that was handed in last. */
function questionAfter(stage: Stage, before?: Request): Promise<Request> {
  return until('a question about the work', async () => {
    if ((await stage.troupe('status')).code !== 0) return undefined;
    const { code, stdout } = await stage.troupe('approve', '--team', stage.team, '--json');
    const all = code === 0 ? (JSON.parse(stdout) as Request[]) : [];
    return all.find(({ id }) => id !== before?.id);
  });
}

const commitOf = ({ detail }: Request): string => detail?.['commit'] as string;

async function expectLanded(stage: Stage): Promise<void> {
  const { depot = '', tip = '', tasks } = await stage.ask<Work>('work', '--team', stage.team);
  expect(tasks).toMatchObject([{ state: 'landed' }]);
  expect(plainGit(depot, 'show', `${tip}:greeting.txt`)).toBe('quiet');
}

describe('work that has to be approved', () => {
  const newStage = shareDaemon();

  test('goes back with all comments of a person as one text, and lands after a yes', async () => {
    const stage = newStage();
    const members = [{ name: 'ann', agent: { exec: ['./agent.sh'] } }];
    const more = { members, tasks: TASKS, work: { approve: 'always' } };
    const repository = makeProject(stage, editOf(stage), more);
    const running = stage.start(['up', join(repository, 'troupe.yaml'), '--yes']);
    const first = await questionAfter(stage);
    expect(first).toMatchObject({ kind: 'work', memberId: 'ann', taskId: '1', detail: { files: 2 } });
    const { stdout: diff } = await stage.troupe('diff', '1', '--team', stage.team);
    expect(diff).toContain('task 1, as it was handed in');
    expect(diff).toContain('+LOUD');
    const { stdout: work } = await stage.troupe('work', '--team', stage.team);
    expect(work).toMatch(/^ann +#1 .* nothing /m);
    expect(work).toMatch(/^#1 +Greet +ann .*waits for a person to approve it *$/m);
    expect(work).toMatch(new RegExp(`to approve +Greet .*${commitOf(first).slice(0, 7)} *$`, 'm'));
    const { stdout: task } = await stage.troupe('task', 'list', '--team', stage.team);
    expect(task).toMatch(/#1 +◕ to approve/);
    const about = ['--team', stage.team, '--deny', '--feedback', 'Nearly.'];
    const comments = ['--comment', 'greeting.txt:1: too loud, please', '--comment', 'common.txt:-2: why does it go?'];
    const denied = await stage.troupe('approve', 'ann', ...about, ...comments);
    expect(denied.code, denied.stderr).toBe(0);
    const second = await questionAfter(stage, first);
    expect(toldIn(stage)).toEqual([
      null,
      `A person reviewed commit ${commitOf(first).slice(0, 7)} and sends it back.\nNearly.\n\n` +
        'greeting.txt:1: too loud, please\ncommon.txt:2 (removed): why does it go?',
    ]);
    // An answer about what was handed in before does not count.
    const late = ['request', 'answer', second.id, '--approve', '--commit', commitOf(first), '--team', stage.team];
    expect(await stage.troupe(...late)).toMatchObject({ code: 4, stderr: expect.stringContaining('look at it again') });
    expect((await stage.troupe('approve', 'ann', '--team', stage.team)).code).toBe(0);
    expect(await running.ended, running.output.stderr).toBe(0);
    await expectLanded(stage);
  });

  test('is reviewed by a member, whose verdict is about one commit', async (context) => {
    needTool(context, 'tmux');
    const stage = newStage();
    const eyes = stage.member('eyes', 'reviews') as { agent: object };
    const members = [
      { name: 'ann', agent: { exec: ['./agent.sh'] } },
      { ...eyes, workspace: 'shared', agent: { ...eyes.agent, messages: true } },
    ];
    const repository = makeProject(stage, editOf(stage), { members, tasks: TASKS, work: { review: 'eyes' } });
    const running = stage.start(['up', join(repository, 'troupe.yaml'), '--yes']);
    const second = await until('the work was sent back and handed in again', async () => {
      const told = toldIn(stage);
      return told.length > 1 && (await questionAfter(stage));
    });
    expect(second).toMatchObject({ kind: 'review', memberId: 'eyes', taskId: '1' });
    const { stdout: listed } = await stage.troupe('ps', '--team', stage.team);
    expect(listed).toMatch(/ ann .*#1 Greet: waits for the review of eyes /);
    expect(listed).not.toMatch(/ eyes .*waits for your answer/);
    const [, told] = toldIn(stage);
    const [, before = ''] = /^eyes reviewed commit (\w+) and sends it back\.\n/.exec(told ?? '') ?? [];
    expect(told).toContain('\ngreeting.txt:1: too loud, please');
    expect(before).not.toBe(commitOf(second).slice(0, 7));
    const review = (commit: string, as: string) =>
      stage.troupe('work', 'review', '1', commit, '--approve', '--team', stage.team, '--as', as);
    expect(await review(before, 'eyes')).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('look at it again'),
    });
    const own = await review(commitOf(second), 'ann');
    expect(own.stderr).toContain('ann may not review the work of task 1: only eyes or a person may');
    // Whoever completes it in a terminal is told what it waits for, and gets the verdict.
    const environment = environmentFor(stage.home, { NO_COLOR: '1' });
    const troupe = { environment } as Pick<Troupe, 'environment'> as Troupe;
    const line = `troupe task complete 1 --team ${stage.team} --as ann`;
    const terminal = openTerminal(troupe, line, { columns: 160 });
    await terminal.see('Task #1 is handed in: waits for the review of eyes. Ctrl-C leaves it there.');
    stage.letGo();
    await terminal.see(/is completed[^]*ended with 0/);
    expect(await running.ended, running.output.stderr).toBe(0);
    await expectLanded(stage);
  });
});
