import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { chosenTasks, drawFrame, lastScroll } from '../../src/cli/commands/watch/frame.ts';
import type { Choice } from '../../src/cli/commands/watch/frame.ts';
import { headLine } from '../../src/cli/commands/watch/head.ts';
import type { Mail, Model, Task } from '../../src/cli/commands/watch/model.ts';
import { widthOf } from '../../src/cli/show/text.ts';
import { pauseProcess } from '../daemon/processes.ts';
import { needTool } from '../tools.ts';
import { until } from '../until.ts';
import { HOSTILE } from './hostile.ts';
import { openTerminal } from './terminal.ts';
import { BIN, killDaemon, newTroupe, readPid, sharedTroupe } from './troupe.ts';

/** One daemon for all tests. After the test that kills it, the next command starts it again. */
const troupe = sharedTroupe();

describe('watch in a pipe', () => {
  test('writes one line per event, and as JSON one line per batch', async () => {
    await troupe.ask('team create piped');
    const lines = troupe.start('watch piped');
    const json = troupe.start('watch piped --json --after 0');
    await until('both have begun', () => lines.output.stdout.includes('created the team') && json.output.stdout !== '');
    await troupe.ask('task add "First thing" --team piped');
    await troupe.ask('task claim 1 --team piped --as lead');
    await until(
      'the claim is there',
      () => lines.output.stdout.includes('claimed') && json.output.stdout.includes('claimed'),
    );
    expect(lines.output.stdout).toMatch(/^\d{4}-\S+ {2}@user {2}added task #1: First thing$/m);
    expect(lines.output.stdout).toMatch(/^\d{4}-\S+ {2}lead {2}claimed task #1 \(First thing\)$/m);
    const batches = json.output.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { seq: number; events: unknown[] });
    expect(batches.map(({ seq }) => seq)).toEqual(batches.map((_, at) => at + 1));
    lines.child.kill('SIGINT');
    expect(await lines.ended).toMatchObject({ status: 130, stderr: '' });
  });

  test('ends when the team is closed, and shows a closed team as it was', async () => {
    await troupe.ask('team create closing');
    const watching = troupe.start('watch closing');
    await until('it has begun', () => watching.output.stdout.includes('created the team'));
    await troupe.ask('team close closing');
    const closed = { status: 0, stderr: 'Team closing is closed.\n' };
    expect(await watching.ended).toMatchObject(closed);
    expect(watching.output.stdout).toMatch(/closed the team/);
    const after = await troupe.run('watch closing');
    expect(after).toMatchObject(closed);
    expect(after.stdout).toBe(watching.output.stdout);
    expect(await troupe.run('watch closing --after 99')).toMatchObject({ ...closed, stdout: '' });
  });

  test('continues without a gap after the daemon was killed and came back', async () => {
    await troupe.ask('team create killed');
    const watching = troupe.start('watch killed --json --after 0');
    await until('it has begun', () => watching.output.stdout !== '');
    await killDaemon(troupe.home);
    for (const title of ['one', 'two', 'three']) await troupe.ask(`task add ${title} --team killed`);
    await until('all is there', () => watching.output.stdout.includes('three'));
    const seqs = watching.output.stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { seq: number }).seq);
    expect(seqs).toEqual(seqs.map((_, at) => at + 1));
  });
});

describe('watch on a terminal', () => {
  beforeAll(async () => {
    await troupe.ask('team create demo');
    await troupe.ask('member add worker-1 --team demo --role tester');
    await troupe.ask('task add "First thing" --team demo');
  });

  test('shows tasks, members and messages as they change, and leaves the terminal clean', async (context) => {
    needTool(context, 'tmux');
    const terminal = openTerminal(troupe, 'echo before; troupe watch demo');
    await terminal.see(/^demo +0\/1 completed .*● live/);
    await terminal.see('First thing');
    await terminal.see('worker-1 active');
    await troupe.ask('task claim 1 --team demo --as worker-1');
    await troupe.ask('send worker-1 "How is it going?" --team demo --as lead');
    await terminal.see(/◐ in progress +First thing +worker-1/);
    await terminal.see('lead → worker-1 How is it going?');
    terminal.resize(120, 30);
    await terminal.see(/TASKS +│ MEMBERS/);
    terminal.resize(60, 15);
    await terminal.see(/^TASKS *$/m);
    terminal.press('q');
    const text = await terminal.see('ended with 0');
    expect(text).toMatch(/^before\nended with 0/);
    expect(text).not.toContain('TASKS');
  });

  test('ends on Ctrl-C too', async (context) => {
    needTool(context, 'tmux');
    const terminal = openTerminal(troupe, 'troupe watch demo');
    await terminal.see('● live');
    terminal.press('C-c');
    expect(await terminal.see('ended with 130')).toMatch(/^ended with 130/);
  });

  test('leaves the terminal clean when another process kills it', async (context) => {
    needTool(context, 'tmux');
    const job = join(troupe.home, 'job');
    const line = `sh -c 'echo $$ > "${job}"; exec "${process.execPath}" "${BIN}" watch demo'`;
    const terminal = openTerminal(troupe, line);
    await terminal.see('● live');
    const pid = Number(readFileSync(job, 'utf8'));
    expect(pid).toBeGreaterThan(1);
    process.kill(pid, 'SIGTERM');
    expect(await terminal.see('ended with 143')).not.toContain('TASKS');
  });

  test('says when the daemon stops answering, and when it answers again', async (context) => {
    needTool(context, 'tmux');
    const terminal = openTerminal(troupe, 'troupe watch demo');
    await terminal.see('● live');
    const pid = readPid(troupe.home) ?? 0;
    await pauseProcess(pid);
    try {
      await terminal.see('○ waiting for the daemon');
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await terminal.see('● live');
  });

  test('keeps its frame clean when it restarts the daemon, and reports the restart when it ends', async (context) => {
    needTool(context, 'tmux');
    const other = newTroupe();
    await other.ask('team create demo');
    await other.ask('task add "First thing" --team demo');
    const terminal = openTerminal(other, 'troupe watch demo');
    const before = (await terminal.see('● live')).trimEnd();
    const pid = readPid(other.home) ?? 0;
    process.kill(pid, 'SIGKILL');
    await until('another one runs', () => (readPid(other.home) ?? pid) !== pid);
    // After the restart, a new frame is drawn over the old one.
    await other.ask('task add "Second thing" --team demo');
    await terminal.see('Second thing');
    await other.ask('task delete 2 --team demo');
    await until('the picture is as it was', () => terminal.show().trimEnd() === before);
    terminal.press('q');
    expect(await terminal.see('ended with 0')).toMatch(/^troupe: starting the daemon for\s/);
  });

  test('reports an unknown team without changing the terminal', async (context) => {
    needTool(context, 'tmux');
    const terminal = openTerminal(troupe, 'troupe watch nowhere');
    expect(await terminal.see('ended with 3')).toContain('nowhere');
  });
});

describe('the frame of watch', () => {
  const choice: Choice = { scroll: 0, filter: 'all', member: undefined };
  const model = modelOf(1_000);
  const sizes = [
    [80, 24],
    [140, 40],
    [110, 24],
    [40, 10],
    [20, 5],
    [10, 3],
    [300, 100],
  ] as const;

  test.each(sizes)('fits into %i x %i with 1,000 tasks', (columns, rows) => {
    const screen = { isTerminal: true, hasColor: false, columns, now: Date.parse('2026-01-01T01:00:00Z') };
    const lines = drawFrame(model, choice, { screen, rows, isLive: true });
    expect(lines).toHaveLength(rows);
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns);
  });

  test('says that the daemon does not answer before it shows any count', () => {
    const head = (columns: number, isLive = false): string | undefined => {
      const screen = { isTerminal: true, hasColor: false, columns, now: 0 };
      return drawFrame(model, choice, { screen, rows: 10, isLive })[0];
    };
    expect(head(80)).toMatch(
      /^demo {2}200\/1000 completed {2}200 in progress {2}200 failed +○ waiting for the daemon$/,
    );
    expect(head(40)).toMatch(/^demo +○ waiting for the daemon$/);
    expect(head(20)).toMatch(/^○ waiting/);
    expect(head(20, true)).toMatch(/^demo +● live$/);
  });

  test('leaves out counts of zero before failures if the line is too short, and says how to continue', () => {
    const stopped = (statuses: readonly Task['status'][], { name = 'evil', lead = false } = {}): Model => {
      const { status, tasks, ...rest } = modelOf(statuses.length);
      const ended = [...tasks.values()].map((task, at): Task => ({ ...task, status: statuses[at] ?? 'pending' }));
      const agent = { kind: 'exec' as const, command: ['true'] };
      const team = {
        ...status.team,
        name,
        members: [{ id: lead ? 'lead' : 'ann', agent, status: 'stopped' as const }],
      };
      return { ...rest, status: { ...status, team } as never, tasks: new Map(ended.map((task) => [task.id, task])) };
    };
    const head = (one: Model, columns: number): string => {
      const screen = { isTerminal: true, hasColor: false, columns, now: 0 };
      return headLine(one, { screen, isLive: true }).replace(/ {3,}/, ' … ');
    };
    const failed = stopped(['completed', 'failed', 'blocked']);
    const whole = 'evil  1/3 completed  0 in progress  0 pending  1 blocked  1 failed';
    expect(head(failed, 120)).toBe(`${whole} … ○ stopped; troupe task reopen 2`);
    expect(head(failed, 80)).toBe('evil  1/3 completed  1 blocked  1 failed … ○ stopped; troupe task reopen 2');
    expect(head(failed, 60)).toBe('evil  1 failed … ○ stopped; troupe task reopen 2');
    const long = head(stopped(['completed', 'failed'], { name: 'a-name-that-is-as-long-as-names-ever-are' }), 80);
    expect(long).toMatch(/^a-name-that-is-as-long-.*…  1 failed +○ stopped/);
    // A team with a pending task, or with a lead, continues with troupe up.
    for (const goesOn of [stopped(['failed', 'pending']), stopped(['failed', 'blocked'], { lead: true })]) {
      expect(head(goesOn, 120)).toMatch(/○ stopped; troupe up continues$/);
    }
  });

  test.each([
    [40, 10],
    [60, 15],
    [80, 24],
  ])('shows something of every section on %i x %i', (columns, rows) => {
    const screen = { isTerminal: true, hasColor: false, columns, now: Date.parse('2026-01-01T01:00:00Z') };
    const said = { by: 'lead', at: 0, content: 'Hello', copies: [{ toId: 'worker-1' }] } as unknown as Mail;
    const lines = drawFrame({ ...model, mail: [said] }, choice, { screen, rows, isLive: true });
    for (const [heading, line] of [
      ['TASKS', /Task number/],
      ['MEMBERS', /lead.*active/],
      ['MESSAGES', /lead → worker-1 Hello/],
    ] as const) {
      expect(lines[lines.findIndex((one) => one.startsWith(heading)) + 1]).toMatch(line);
    }
  });

  test('says below its head that hooks let work pass, on screens of any width', () => {
    const metadata = { 'hookTrouble TaskCompleted a': 'The gate "a" failed', 'hookTrouble TaskCreated b': 'So did b' };
    const troubled = { ...model, status: { ...model.status, team: { ...model.status.team, metadata } } };
    const second = (columns: number): string | undefined => {
      const screen = { isTerminal: true, hasColor: false, columns, now: 0 };
      return drawFrame(troubled, choice, { screen, rows: 10, isLive: true })[1];
    };
    expect(second(80)).toBe('! The gate "a" failed (and 1 more: troupe team status demo)');
    expect(second(20)).toBe('! The gate "a" fail…');
    expect(
      drawFrame(model, choice, {
        screen: { isTerminal: true, hasColor: false, columns: 80, now: 0 },
        rows: 10,
        isLive: true,
      })[1],
    ).toBe('');
  });

  test('shows the whole text of what waits for the user, and the command that answers it', () => {
    const screen = { isTerminal: true, hasColor: false, columns: 120, now: 0 };
    const content = `First ${'a word '.repeat(30)}and last`;
    const plan = { id: 'p', kind: 'plan', memberId: 'worker-1', status: 'pending', content };
    const asked = { ...model, status: { ...model.status, pendingRequests: [plan] as never } };
    const lines = drawFrame(asked, choice, { screen, rows: 40, isLive: true });
    expect(lines).toHaveLength(40);
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(120);
    const from = lines.indexOf('WAITS FOR YOU');
    const text = lines
      .slice(from + 1)
      .map((line) => line.trim())
      .join(' ');
    expect(text).toContain(`worker-1 waits for your answer (plan): ${content} troupe approve worker-1 --team demo`);
    // On a small screen, one line of it.
    const small = drawFrame(asked, choice, { screen, rows: 13, isLive: true });
    expect(small).toHaveLength(13);
    expect(small.at(-2)).toContain('troupe approve worker-1 --team demo');
  });

  test('leaves out whole keys if the screen is too narrow for all', () => {
    const foot = (columns: number): string | undefined => {
      const screen = { isTerminal: true, hasColor: false, columns, now: 0 };
      return drawFrame(model, choice, { screen, rows: 10, isLive: true }).at(-1);
    };
    expect(foot(80)).toBe('q quit  ↑↓ scroll  f tasks: all  m member: all');
    expect(foot(40)).toBe('q quit  ↑↓ scroll  f tasks: all');
    expect(foot(20)).toBe('q quit  ↑↓ scroll');
  });

  test('says that a closed team is closed, not live', () => {
    const closed = {
      ...model,
      status: { ...model.status, team: { ...model.status.team, status: 'cleaned-up' as const } },
    };
    const screen = { isTerminal: true, hasColor: false, columns: 100, now: Date.parse('2026-01-01T01:00:00Z') };
    expect(drawFrame(closed, choice, { screen, rows: 24, isLive: true })[0]).toMatch(/○ closed$/);
  });

  test('shows the working time of a task, without waits for an answer, and how often a gate rejected it', () => {
    const screen = { isTerminal: true, hasColor: false, columns: 100, now: Date.parse('2026-01-01T01:00:00Z') };
    const [waits, works, ended] = ['pending', 'in_progress', 'completed'] as const;
    const facts: Partial<Task>[] = [
      { status: works, startedAt: '2026-01-01T00:20:00Z', updatedAt: '2026-01-01T00:59:50Z', rejections: 2 },
      { status: waits, updatedAt: '2026-01-01T00:30:00Z' },
      { status: ended, startedAt: '2026-01-01T00:00:00Z', completedAt: '2026-01-01T00:05:00Z', rejections: 1 },
    ];
    const tasks = [...modelOf(3, (at) => `Task ${at + 1}`).tasks.values()];
    const shown = tasks.map((task, at): Task => ({ ...task, assigneeId: 'worker-1', blockedBy: [], ...facts[at] }));
    const asked = {
      kind: 'permission',
      memberId: 'worker-1',
      taskId: '1',
      status: 'approved',
      requestedAt: '2026-01-01T00:30:00Z',
      answeredAt: '2026-01-01T00:40:00Z',
    } as Model['requests'][number];
    const one = { ...model, tasks: new Map(shown.map((task) => [task.id, task])), requests: [asked] };
    const lines = drawFrame(one, choice, { screen, rows: 24, isLive: true });
    expect(lines.find((line) => line.includes('Task 1'))).toMatch(/gate ×2 {2}worker-1 {2}30 min$/);
    expect(lines.find((line) => line.includes('Task 2'))?.trimEnd()).toMatch(/worker-1$/);
    expect(lines.find((line) => line.includes('Task 3'))).toMatch(/ {9}worker-1 {3}5 min$/);
  });

  test('says what a blocked task waits for: other tasks, hooks, or what withholds it', () => {
    const screen = { isTerminal: true, hasColor: false, columns: 100, now: Date.parse('2026-01-01T01:00:00Z') };
    const facts: Partial<Task>[] = [
      { blockedBy: ['4', '5'] },
      { blockedBy: [], withheld: 'its file is broken' },
      { blockedBy: [], unjudged: true },
    ];
    const tasks = [...modelOf(3, (at) => `Task ${at + 1}`).tasks.values()];
    const shown = tasks.map((task, at): Task => ({ ...task, status: 'blocked', ...facts[at] }));
    const one = { ...model, tasks: new Map(shown.map((task) => [task.id, task])) };
    const lines = drawFrame(one, choice, { screen, rows: 24, isLive: true });
    const line = (title: string): string | undefined => lines.find((text) => text.includes(title));
    expect(line('Task 1')).toContain('Task 1 ← #4 #5 ');
    expect(line('Task 2')).toContain('Task 2 ← is withheld: its file is broken ');
    expect(line('Task 3')).toContain('Task 3 ← waits for the hooks that judge new tasks ');
  });

  test('says who has to approve work that waits, and how long that has taken', () => {
    const now = Date.parse('2026-01-01T01:00:00Z');
    const screen = { isTerminal: true, hasColor: false, columns: 100, now };
    const work = { memberId: 'worker-1', epoch: 1, base: 'a', state: 'asked' } as const;
    const facts = [{ since: now - 300_000 }, { memberId: 'eyes', since: now - 60_000 }];
    const tasks = [...modelOf(2, (at) => `Task ${at + 1}`).tasks.values()];
    const shown = tasks.map((task, at): Task => {
      const { [at]: waitsFor } = facts;
      return { ...task, status: 'in_progress', blockedBy: [], work: { ...work, ...(waitsFor && { waitsFor }) } };
    });
    const one = { ...model, tasks: new Map(shown.map((task) => [task.id, task])) };
    const lines = drawFrame(one, choice, { screen, rows: 24, isLive: true });
    const line = (title: string): string | undefined => lines.find((text) => text.includes(title));
    expect(line('Task 1')).toContain('Task 1 ← waits for a person to approve it, 5 min ');
    expect(line('Task 2')).toMatch(/◕ to approve .*Task 2 ← waits for the review of eyes, \S+ \S+ /);
  });

  test('can be scrolled to the last task', () => {
    const screen = { isTerminal: true, hasColor: false, columns: 80, now: Date.parse('2026-01-01T01:00:00Z') };
    const stage = { screen, rows: 24, isLive: true };
    const last = lastScroll(model, choice, stage);
    const lines = drawFrame(model, { ...choice, scroll: last }, stage);
    const bottom = chosenTasks(model, choice).at(-1);
    expect(lines.join('\n')).toContain(bottom?.title);
    expect(lines.join('\n')).toMatch(/TASKS \d+–1000 of 1000/);
    expect(drawFrame(model, { ...choice, scroll: 10_000 }, stage)).toEqual(lines);
  });

  test('shows only the chosen tasks', () => {
    expect(new Set(chosenTasks(model, { ...choice, filter: 'in progress' }).map(({ status }) => status))).toEqual(
      new Set(['in_progress']),
    );
    expect(
      chosenTasks(model, { ...choice, member: 'worker-1' }).every(({ assigneeId }) => assigneeId === 'worker-1'),
    ).toBe(true);
  });

  test('lays out only the tasks that are visible', () => {
    const screen = { isTerminal: true, hasColor: true, columns: 140, now: 0 };
    const rows = 40;
    let laidOut = 0;
    const tasks = [...model.tasks.values()].map((task): Task => ({
      ...task,
      get title() {
        laidOut++;
        return task.title;
      },
    }));
    const counted = { ...model, tasks: new Map(tasks.map((task) => [task.id, task])) };
    laidOut = 0;
    drawFrame(counted, choice, { screen, rows, isLive: true });
    expect(laidOut).toBeGreaterThan(0);
    expect(laidOut).toBeLessThanOrEqual(4 * rows);
  });

  test('contains no control or bidi character', () => {
    const screen = { isTerminal: true, hasColor: false, columns: 140, now: Date.now() };
    const hostile = modelOf(HOSTILE.length, (at) => HOSTILE[at] ?? '');
    for (const line of drawFrame(hostile, choice, { screen, rows: 60, isLive: false })) {
      expect(line).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
    }
  });
});

function modelOf(count: number, titleOf = (at: number) => `Task number ${at + 1} 日本`): Model {
  const statuses = ['pending', 'blocked', 'in_progress', 'completed', 'failed'] as const;
  const tasks = Array.from({ length: count }, (_, at): Task => ({
    id: String(at + 1),
    teamId: 'demo',
    title: titleOf(at),
    description: '',
    status: statuses[at % statuses.length] ?? 'pending',
    priority: at % 7 === 0 ? 'critical' : 'medium',
    assigneeId: at % 3 === 0 ? 'worker-1' : undefined,
    reserved: false,
    dependencies: [],
    blockedBy: ['1', '2'],
    blocks: [],
    onDependencyFailure: 'block',
    epoch: 0,
    revision: 1,
    rejections: 0,
    createdBy: 'lead',
    createdAt: '2026-01-01T00:00:00Z',
    updatedAt: '2026-01-01T00:00:00Z',
  }));
  const members = Array.from({ length: 9 }, (_, at) => ({
    name: at === 0 ? 'lead' : `worker-${at}`,
    role: titleOf(at),
    status: 'active' as const,
    assignedTasks: ['1'],
  }));
  return {
    status: {
      team: { id: 'demo', name: 'demo', leadId: 'lead', members },
      pendingRequests: [],
      seq: 1,
    } as unknown as Model['status'],
    tasks: new Map(tasks.map((task) => [task.id, task])),
    requests: [],
    mail: Array.from({ length: 50 }, (_, at) => ({
      type: 'message:sent' as const,
      at: 0,
      by: 'lead',
      copies: [{ id: '1', toId: 'worker-1' }],
      messageType: 'direct' as const,
      content: titleOf(at % count),
      priority: 'normal' as const,
    })),
  };
}
