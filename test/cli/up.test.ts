import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import type { TestContext } from 'vitest';
import { pauseProcess } from '../daemon/processes.ts';
import { rounds } from '../proof.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { needTool } from '../tools.ts';
import { until } from '../until.ts';
import { slowTeam } from './slow-team.ts';
import { openTerminal } from './terminal.ts';
import type { Terminal } from './terminal.ts';
import { newTroupe, readPid, sharedTroupe } from './troupe.ts';
import type { Started } from './troupe.ts';

/** One daemon for all tests, each with its own team. If a test ends the daemon, the next command starts it again. */
const troupe = sharedTroupe();

/** Runs `troupe up` in a terminal, and waits until the member works. */
async function watchUp(context: TestContext, team: string): Promise<{ terminal: Terminal; go: () => void }> {
  needTool(context, 'tmux');
  const { file, go } = slowTeam(team);
  const terminal = openTerminal(troupe, `troupe up --yes ${file} --no-panes`, { columns: 100 });
  await terminal.see(/ann active/);
  return { terminal, go };
}

const heads = (text: string, team: string): number => text.match(new RegExp(`^${team} `, 'gm'))?.length ?? 0;

describe('the live view of troupe up', () => {
  test('is drawn once when the terminal gets narrower, and the summary fits its width', async (context) => {
    const { terminal, go } = await watchUp(context, 'narrowed');
    // tmux reports a new width after a while. Until then it shows the old frame, cut off.
    const narrow = (): Promise<boolean> =>
      until(
        'it is drawn again',
        () => heads(terminal.show(), 'narrowed') === 1 && /A first thing.*…  ann/.test(terminal.show()),
      );
    terminal.resize(40, 24);
    await narrow();
    terminal.resize(100, 24);
    await terminal.see(/does not fit into a n…/);
    await until('it is drawn once', () => heads(terminal.show(), 'narrowed') === 1);
    terminal.resize(40, 24);
    await narrow();
    go();
    const text = await terminal.see(/ended with 0/);
    expect(heads(text, 'narrowed')).toBe(1);
    expect(text).toMatch(/^2 of 2 tasks completed/m);
  });

  test('says that the daemon is gone, and continues in place when it is back', async (context) => {
    const { terminal, go } = await watchUp(context, 'missed');
    const before = readPid(troupe.home) as number;
    process.kill(before, 'SIGKILL');
    await terminal.see(/the daemon is gone; starting it again/);
    await until('another runs', () => readPid(troupe.home) !== before);
    await until('it is no longer missed', () => !terminal.show().includes('the daemon is gone'));
    await until('it is drawn once', () => heads(terminal.show(), 'missed') === 1);
    go();
    expect(heads(await terminal.see(/ended with 0/), 'missed')).toBe(1);
  });

  test('ends with 75 after troupe stop and says how to continue; status and watch say it too', async (context) => {
    const { terminal, go } = await watchUp(context, 'halted');
    expect(await troupe.ask('stop')).toMatchObject({ status: 0 });
    const ended = (await terminal.see(/ended with 75/)).replace(/\s+/g, ' ');
    expect(ended).toContain('The daemon was stopped, and team halted with it. The same command continues it.');
    expect(readPid(troupe.home)).toBe(undefined);
    const said =
      'The members of team halted are stopped (the daemon was stopped). To continue: troupe up with its team file';
    expect((await troupe.ask('status')).stdout).toContain(said);
    expect((await troupe.ask('team status halted')).stdout).toContain(said);
    const live = openTerminal(troupe, 'troupe watch halted', { columns: 100 });
    await live.see(/○ stopped; troupe up continues/);
    live.press('q');
    const plain = troupe.start('watch halted --plain');
    await until('it says so', () => plain.output.stderr.includes(said));
    go();
  });

  test('says after a second Ctrl-C what may still run, and how to stop it', async (context) => {
    const { terminal } = await watchUp(context, 'fourth');
    // A paused daemon keeps the first Ctrl-C from finishing before the second.
    await pauseProcess(readPid(troupe.home) as number);
    try {
      terminal.press('C-c');
      await terminal.see(/Stopping its members; Ctrl-C again exits at once/);
      // Within a second it would count as the same Ctrl-C, received twice.
      const pressed = performance.now();
      await until('a second has gone by', () => performance.now() - pressed > 1_100);
      terminal.press('C-c');
      const text = await terminal.see(/ended with 130/);
      expect(text.replace(/\s+/g, ' ')).toContain('ann may still run (troupe ps). To stop it: troupe down fourth');
    } finally {
      process.kill(readPid(troupe.home) as number, 'SIGCONT');
    }
    expect(await troupe.ask('down fourth --now')).toMatchObject({ status: 0 });
  });
});

test('troupe up asks before it runs what a file names: hooks, programs and variables, each to its end', async (context) => {
  needTool(context, 'tmux');
  const { file, go } = slowTeam('asked', 'hooks:\n  TaskCompleted: { command: ./gate.sh, env: [CI] }\n');
  const folder = join(file, '..');
  const gate = join(folder, 'gate.sh');
  writeFileSync(gate, '#!/bin/sh\nexit 0\n');
  chmodSync(gate, 0o755);
  go();
  const first = openTerminal(troupe, `troupe up ${file} --no-panes`, { columns: 100 });
  const asked = await first.see(/Run them\? \[y\/N\]/);
  // Where the line ends depends on the length of the folder.
  expect(asked.replaceAll(/\s/g, '')).toContain(`runasyou,in${folder}:`);
  expect(asked).toContain("  ann: sh -c 'cat > /dev/null; until test -e go; do sleep 0.1; done; echo done'\n");
  expect(asked).toContain('TaskCompleted: ./gate.sh\n    sees your CI\n    Your approval covers it and gate.sh.');
  first.press('y', 'Enter');
  await first.see(/ended with 0/);
  writeFileSync(gate, '#!/bin/sh\ntrue\n');
  const second = openTerminal(troupe, `troupe up ${file} --again --no-panes`, { columns: 100 });
  const again = await second.see(
    /TaskCompleted: \.\/gate\.sh \(changed since you approved it\)[^]*gate\.sh \(changed\)\./,
  );
  expect(again).not.toContain('ann: sh');
  second.press('n', 'Enter');
  const refused = await second.see(/ended with 5/);
  expect(refused).toMatch(/\[y\/N\] n\ntroupe: Nothing was started: you did not allow what\s/);
  expect(refused).not.toContain('is not approved');
  // Without a yes nothing is started again, and the closed team stays.
  expect(await troupe.ask(['up', file, '--again'])).toMatchObject({ status: 5 });
  expect(await troupe.json('team show asked')).toMatchObject({ status: 'cleaned-up' });
});

test('without a terminal, troupe up runs no program of a file that nobody approved, and shows all of it', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'troupe.yaml');
  const script = join(folder, 'worker.sh');
  const canary = join(folder, 'ran');
  writeFileSync(script, `#!/bin/sh\ntouch ${canary}\n`);
  chmodSync(script, 0o755);
  const hidden = JSON.stringify(`./worker.sh ${'\n'.repeat(60)}echo \u001b[2Jthe end`);
  const write = (env: string): void =>
    writeFileSync(
      file,
      `team: foreign\nmembers:\n  - { name: ann, agent: { exec: ${hidden} }, env: { ${env} } }\ntasks: [{ id: a, title: A }]\n`,
    );
  write('PATH: "./bin:${PATH}"');
  const { status, stderr } = await troupe.ask(['up', file]);
  expect(status).toBe(5);
  expect(stderr).toContain('    │ ./worker.sh\n    │ (59 empty lines)\n    │ echo \\x1b[2Jthe end\n');
  expect(stderr).toContain('    with PATH=./bin:${PATH}\n    Your approval covers it and worker.sh.\n');
  expect(stderr).toContain('is not approved: read it first, or approve all that it runs (--yes)');
  expect(existsSync(canary)).toBe(false);
  expect(await troupe.ask('team show foreign')).toMatchObject({ status: 3 });
  // One yes is enough until the program or its variables change.
  expect(await troupe.ask(['up', file, '--yes'])).toMatchObject({ status: 0 });
  expect(existsSync(canary)).toBe(true);
  expect(await troupe.ask(['up', file, '--again'])).toMatchObject({ status: 0 });
  writeFileSync(script, '#!/bin/sh\ntrue\n');
  // Nobody is asked to approve what is refused afterwards.
  const closed = await troupe.ask(['up', file]);
  expect(closed.stderr).toBe(
    'troupe: Team foreign was closed: start it over with troupe up --again, or choose another name\n',
  );
  const changed = await troupe.ask(['up', file, '--again']);
  expect(changed).toMatchObject({ status: 5, stderr: expect.stringContaining('ann: (changed since you approved it)') });
  writeFileSync(script, `#!/bin/sh\ntouch ${canary}\n`);
  write('PATH: "./other:${PATH}"');
  expect(await troupe.ask(['up', file, '--again'])).toMatchObject({ status: 5 });
});

test('troupe up does not touch a team of the same name from another folder, open or closed, and says what to do', async () => {
  const [ours, theirs] = [slowTeam('namesake'), slowTeam('namesake')];
  const folderOf = ({ file }: { file: string }): string => join(file, '..');
  expect(await troupe.ask(['up', '--yes', theirs.file, '--detach'])).toMatchObject({ status: 0 });
  const places = async (): Promise<unknown[]> => {
    const { members } = await troupe.json<{ members: { id: string; cwd?: string }[] }>('team show namesake');
    return members.map(({ id, cwd }) => [id, cwd]);
  };
  const before = await places();
  const belongs = `Team namesake belongs to ${folderOf(theirs)}, not to ${folderOf(ours)}: give this one another name`;
  expect(await troupe.ask(['up', '--yes', ours.file])).toMatchObject({
    status: 4,
    stderr: expect.stringContaining(belongs),
  });
  expect(await places()).toEqual(before);
  expect(await troupe.ask('down namesake --now')).toMatchObject({ status: 0 });
  const again = await troupe.ask(['up', '--yes', ours.file, '--again']);
  expect(again).toMatchObject({ status: 4, stderr: expect.stringContaining('Team namesake is closed and belongs to') });
  expect(await troupe.json('team show namesake')).toMatchObject({ status: 'cleaned-up' });
  // A team file that was deleted no longer owns the name.
  rmSync(theirs.file);
  ours.go();
  const freed = await troupe.ask(['up', '--yes', ours.file, '--again']);
  expect(freed).toMatchObject({ status: 0, stderr: expect.stringContaining('which no longer has it') });
});

test('a program learns how often a gate rejected its work', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'troupe.yaml');
  const agent = `read -r turn; echo "$turn" | grep -o '"rejections":[0-9]*' >> seen; echo done`;
  writeFileSync(
    file,
    `team: told
members: [{ name: ann, agent: { exec: [sh, -c, ${JSON.stringify(agent)}] } }]
tasks: [{ id: a, title: Judged }]
hooks: { TaskCompleted: { command: sh gate.sh, onFailure: block } }
`,
  );
  writeFileSync(join(folder, 'gate.sh'), 'test "$(wc -l < seen)" -ge 3 || { echo more >&2; exit 2; }\n');
  expect(await troupe.ask(['up', file, '--yes'])).toMatchObject({ status: 0 });
  expect(readFileSync(join(folder, 'seen'), 'utf8')).toBe('"rejections":0\n"rejections":1\n"rejections":2\n');
});

test('troupe up does not start with a gate that cannot run, and asks a person if the gate breaks later', async () => {
  const troupe = newTroupe();
  const folder = temporaryFolder();
  const [file, gate] = [join(folder, 'troupe.yaml'), join(folder, 'gate.sh')];
  writeFileSync(
    file,
    `team: gated
members: [{ name: ann, agent: { exec: [sh, -c, 'cat > /dev/null; echo turn >> turns; chmod 600 gate.sh; echo done'] } }]
tasks: [{ id: a, title: Judged }]
hooks: { TaskCompleted: { command: ./gate.sh, onFailure: block } }
`,
  );
  const up = ['up', file, '--yes'];
  expect(await troupe.ask(up)).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(
      /troupe\.yaml:4:36: the TaskCompleted hook "\.\/gate\.sh" cannot be run: \.\/gate\.sh does not exist/,
    ),
  });
  writeFileSync(gate, '#!/bin/sh\ntest -e approved || { echo "approved is missing" >&2; exit 2; }\n');
  expect(await troupe.ask(up)).toMatchObject({ status: 2, stderr: expect.stringContaining(`chmod +x ${gate}`) });
  expect(await troupe.json('team list')).toEqual([]);
  chmodSync(gate, 0o755);
  expect(await troupe.ask(up)).toMatchObject({ status: 1, stderr: expect.stringContaining('the gate of ann') });
  expect((await troupe.ask('approve')).stdout).toContain(`chmod +x ${gate}`);
  expect((await troupe.ask('approve')).stdout).toContain('To run the gate again: troupe approve ann --again\n');

  // The gate is still broken; repaired, it rejects; then it accepts the same work. None of this costs a turn.
  const again = (): ReturnType<typeof troupe.ask> => troupe.ask('approve ann --again');
  expect(await again()).toMatchObject({ status: 4, stderr: expect.stringMatching(/chmod \+x .*gate\.sh\n$/) });
  chmodSync(gate, 0o755);
  expect(await again()).toMatchObject({
    status: 4,
    stderr: 'troupe: The gate did not accept it, and it still waits for you: approved is missing\n',
  });
  expect(await troupe.json('task show 1 --team gated')).toMatchObject({ status: 'in_progress', rejections: 1 });
  expect(await troupe.ask('approve ann --again --deny')).toMatchObject({ status: 2 });
  writeFileSync(join(folder, 'approved'), '');
  expect((await again()).stdout).toBe('The gate let it pass: task #1 of ann is completed.\n');
  expect(await troupe.json('task show 1 --team gated')).toMatchObject({ status: 'completed', result: 'done' });
  expect((await troupe.ask('approve')).stdout).toBe('Nothing waits for you.\n');
  expect(readFileSync(join(folder, 'turns'), 'utf8')).toBe('turn\n');
  // Each run in its lines: two that could not run, with the reason once; a rejection with what the gate said; the last.
  const runs = (await troupe.ask('gate runs 1 --team gated')).stdout.split('\n').filter((line) => line !== '');
  expect(runs).toEqual([
    expect.stringMatching(/chmod \+x .*gate\.sh$/),
    expect.stringMatching(/chmod \+x .*gate\.sh$/),
    expect.stringMatching(/gate\.sh {2}exit code 2$/),
    '  approved is missing',
    expect.stringMatching(/gate\.sh {2}exit code 0$/),
  ]);
});

test('troupe attach says that a message was sent and when a program reads it, and keeps the prompt on its own line', async (context) => {
  needTool(context, 'tmux');
  const { file } = slowTeam('joined');
  expect(await troupe.ask(['up', '--yes', file, '--detach'])).toMatchObject({ status: 0 });
  const terminal = openTerminal(troupe, 'troupe attach ann --team joined', { columns: 40 });
  await terminal.see(
    /^ann of joined\. Type a message and Enter;\n {2}! in front makes it urgent; Ctrl-D or\n {2}Ctrl-C leaves\.$/m,
  );
  await terminal.see(
    /^\d\d:\d\d:\d\d › Task #1: A first thing with a\n {9}title that does not fit into a\n {9}narrow/m,
  );
  terminal.press('hello', 'Enter');
  await terminal.see(/^Sent to ann; a program reads it/m);
  terminal.press('C-c');
  expect(await terminal.see(/ended with 130/)).toMatch(/\^C\nended with 130/);
  expect(await troupe.ask('down joined --now')).toMatchObject({ status: 0 });
});

test('an interrupted troupe up continues with each task at the member that its file names', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'troupe.yaml');
  const work = 'cat > /dev/null; until test -e go; do sleep 0.1; done; echo done by $TROUPE_MEMBER_NAME';
  writeFileSync(
    file,
    `team: pair
members:
  - { name: coder, agent: { exec: [sh, -c, '${work}'] } }
  - { name: reviewer, agent: { exec: [sh, -c, '${work}'] } }
tasks:
  - { id: c, title: Code, assign: coder }
  - { id: r, title: Review, needs: [c], assign: reviewer }
  - { id: s, title: Second thoughts, assign: coder }
`,
  );
  const first = troupe.start(['up', '--yes', file]);
  await until('it works', () => first.output.stdout.includes('claimed'));
  first.child.kill('SIGINT');
  const { status, stdout } = await first.ended;
  expect({ status, stdout }).toMatchObject({
    status: 130,
    stdout: expect.stringContaining('its members are stopped'),
  });
  // Held tasks went back to pending, and the summary shows it.
  const summary = stdout.slice(stdout.lastIndexOf('STATUS'));
  expect(summary).toContain('pending');
  expect(summary).not.toContain('in progress');
  const tasks = () => troupe.json<{ title: string; assigneeId?: string; result?: string }[]>('task list --team pair');
  // A member that never returns must not keep a task.
  expect((await tasks()).map(({ assigneeId }) => assigneeId)).toEqual([undefined, undefined, undefined]);
  expect(await troupe.json('team show pair')).toMatchObject({ status: 'active' });
  writeFileSync(join(folder, 'go'), '');
  expect(await troupe.ask(['up', '--yes', file])).toMatchObject({ status: 0 });
  expect((await tasks()).map(({ title, result }) => `${title}: ${result}`)).toEqual([
    'Code: done by coder',
    'Review: done by reviewer',
    'Second thoughts: done by coder',
  ]);
});

/** Brings the slow team up and waits until its member works. */
async function startUp(file: string): Promise<Started> {
  const started = troupe.start(['up', '--yes', file]);
  await until('it works', () => started.output.stdout.includes('claimed'));
  return started;
}

const statuses = async (team: string): Promise<string[]> => {
  const members = await troupe.json<{ id: string; status: string }[]>(`member list --team ${team}`);
  return members.filter(({ id }) => id !== 'lead').map(({ status }) => status);
};

describe('the summary of troupe up', () => {
  const work = "{ exec: [sh, -c, 'cat > /dev/null; echo done'] }";

  test('says what is missing in a file without tasks, and in one without members', async () => {
    const file = join(temporaryFolder(), 'troupe.yaml');
    writeFileSync(file, `team: idle\nmembers: [{ name: ann, agent: ${work} }]\n`);
    const idle = await troupe.ask(['up', '--yes', file]);
    expect(idle).toMatchObject({ status: 0, stdout: expect.stringContaining('the team has no tasks') });
    writeFileSync(file, 'team: empty\ntasks: [{ id: a, title: A }]\n');
    const empty = await troupe.ask(['up', '--yes', file]);
    expect(empty).toMatchObject({ status: 1, stdout: expect.stringContaining('Write members: into the team file') });
    // Tasks that were completed earlier are not reported as completed now.
    writeFileSync(file, `team: empty\nmembers: [{ name: ann, agent: ${work} }]\ntasks: [{ id: a, title: A }]\n`);
    const first = await troupe.ask(['up', '--yes', file, '--keep']);
    expect(first.stdout).toMatch(/1 of 1 tasks completed in [\d.]+ s\. The team stays open until troupe down empty\./);
    expect((await troupe.ask('task show 1 --team empty')).stdout).toMatch(/^ {2}id in file +a\n\n/m);
    // In a process of its own: what was completed before its start was completed earlier.
    const again = await troupe.run(['up', '--yes', file]);
    expect(again).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('All tasks were already completed.'),
    });
    // Tasks that failed earlier do not count as completed earlier.
    writeFileSync(file, `team: failing\nmembers: [{ name: ann, agent: { exec: 'exit 3' } }]\ntasks: [{ title: A }]\n`);
    for (let i = 0; i < 2; i++) {
      expect((await troupe.ask(['up', '--yes', file])).stdout).toMatch(/^0 of 1 tasks completed in \d/m);
    }
  });

  test('of a detached team without members says that nothing works', async () => {
    const file = join(temporaryFolder(), 'troupe.yaml');
    writeFileSync(file, 'team: deserted\ntasks: [{ id: a, title: A }]\n');
    const { status, stdout } = await troupe.ask(['up', file, '--detach']);
    expect(status).toBe(0);
    expect(stdout).toContain(
      'It has no members that work, and stays open until you close it. Add one: troupe member spawn',
    );
    expect(stdout).not.toContain('in the background');
  });

  test('of a detached team says where to watch it and how to close it', async () => {
    const { file } = slowTeam('detached');
    const { status, stdout } = await troupe.ask(['up', '--yes', file, '--detach']);
    expect(status).toBe(0);
    expect(stdout).toMatch(
      /^Team detached is up\.\n\nMEMBER .*\nann .*\n\nIt works in the background, and stays open until/,
    );
    expect(stdout).toContain('See it: troupe watch detached. Close it: troupe down detached\n');
    expect(stdout).not.toMatch(/metadata|in-process/);
    const shown = (await troupe.ask('team show detached')).stdout;
    expect(shown).toMatch(/^ {2}lead +none$/m);
    expect(shown).toContain(`troupe.yaml in ${dirname(file)}\n`);
    expect(shown).not.toMatch(/metadata|in-process/);
    expect(await troupe.ask('down detached --now')).toMatchObject({ status: 0 });
  });

  test('counts rejections by a gate for each task, also when not all are completed', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'troupe.yaml');
    writeFileSync(
      file,
      `team: judged
members: [{ name: ann, agent: { exec: [sh, -c, 'cat > /dev/null; test "$TROUPE_TASK_ID" != 3'] } }]
tasks: [{ id: a, title: A }, { id: b, title: B }, { id: c, title: C, needs: [a, b] }]
hooks:
  TaskCompleted: { command: 'mkdir "tried-$TROUPE_TASK_ID" 2> /dev/null && exit 2; exit 0' }
`,
    );
    const { status, stdout } = await troupe.ask(['up', file, '--yes']);
    expect(status).toBe(1);
    expect(stdout.replace(/\s+/g, ' ')).toMatch(
      /2 of 3 tasks completed in [\d.]+ s\. A gate sent #1 back once, #2 back once\. No member can do the remaining tasks: /,
    );
  });
});

describe('troupe up that is interrupted', () => {
  // A signal can arrive twice: `timeout` signals the process group, and a launcher forwards its own.
  test.for([
    ['SIGTERM', 'SIGTERM', 'SIGTERM'],
    ['SIGINT', 'SIGINT'],
  ] as const)('by %s stops its members once and says so', async (signals) => {
    const team = `told-${signals.length}`;
    const { child, ended } = await startUp(slowTeam(team).file);
    for (const signal of signals) child.kill(signal);
    expect(await ended).toMatchObject({ status: 130, stdout: expect.stringContaining('its members are stopped') });
    expect(await statuses(team)).toEqual(['stopped']);
  });

  test('by a closed pipe stops its members, and does not report success', async () => {
    const { file, go } = slowTeam('unread', '  - { id: c, title: Never ends, assign: bob }\n');
    const bob = "  - { name: bob, agent: { exec: [sh, -c, 'cat > /dev/null; sleep 60'] } }\n";
    writeFileSync(file, readFileSync(file, 'utf8').replace('tasks:\n', `${bob}tasks:\n`));
    const started = await startUp(file);
    started.child.stdout.destroy();
    go();
    expect(await started.ended).toMatchObject({ status: 130, stderr: expect.not.stringContaining('EPIPE') });
    expect(await statuses('unread')).toEqual(['stopped', 'stopped']);
  });
});

describe('a second troupe up of the same team', () => {
  test('only watches: Ctrl-C leaves it, and the members of the first one go on', async () => {
    const { file, go } = slowTeam('seen');
    const first = await startUp(file);
    const second = troupe.start(['up', '--yes', file]);
    const notice = 'team seen already runs in another troupe up';
    await until('it says so', () => second.output.stderr.includes(notice));
    second.child.kill('SIGINT');
    const { status, stdout } = await second.ended;
    expect({ status, stdout }).toMatchObject({
      status: 130,
      stdout: expect.stringContaining('the members continue under the other troupe up'),
    });
    expect(await statuses('seen')).toEqual(['active']);
    go();
    expect(await first.ended).toMatchObject({ status: 0, stderr: expect.not.stringContaining(notice) });
    expect(await troupe.json('team show seen')).toMatchObject({ status: 'cleaned-up' });
  });

  test('takes over once the first one was killed, before or after it started', async () => {
    const { file } = slowTeam('inherited');
    const first = await startUp(file);
    const second = troupe.start(['up', '--yes', file]);
    await until('it looks on', () => second.output.stderr.includes('already runs'));
    first.child.kill('SIGKILL');
    await first.ended;
    second.child.kill('SIGINT');
    expect(await second.ended).toMatchObject({ stdout: expect.stringContaining('its members are stopped') });
    expect(await statuses('inherited')).toEqual(['stopped']);
    const third = await startUp(file);
    third.child.kill('SIGKILL');
    await third.ended;
    const fourth = troupe.start(['up', '--yes', file, '--json']);
    await until('it works', async () => (await statuses('inherited'))[0] === 'active');
    await until('it has the team', () => holderOf('inherited') === fourth.child.pid);
    fourth.child.kill('SIGINT');
    const { status, stderr } = await fourth.ended;
    expect({ status, stderr }).toEqual({ status: 130, stderr: '' });
    expect(await statuses('inherited')).toEqual(['stopped']);
    expect(holderOf('inherited')).toBeUndefined();
  });
});

test('if many troupe up find the holder of a team dead at the same moment, one takes over', async () => {
  const folder = join(temporaryFolder(), 'holders');
  const teams = Array.from({ length: rounds(60, 300) }, (_, at) => `team-${at}`);
  const script = `
      import { once } from 'node:events';
      import { openHolder } from ${JSON.stringify(new URL('../../src/cli/commands/up/holder.ts', import.meta.url).href)};
      const [folder, ...teams] = process.argv.slice(1);
      console.log('ready');
      await once(process.stdin, 'data');
      console.log(JSON.stringify(teams.filter((team) => openHolder(folder, team).isUs())));
      process.stdin.on('end', () => process.exit()).resume();`;
  const contend = async (number: number): Promise<string[][]> => {
    const words = ['--input-type=module', '-e', script, folder, ...teams];
    const children = Array.from({ length: number }, () => spawn(process.execPath, words));
    const said = children.map((child) => createInterface(child.stdout)[Symbol.asyncIterator]());
    try {
      for (const lines of said) expect(await lines.next()).toMatchObject({ value: 'ready' });
      for (const child of children) child.stdin.write('go\n');
      const got = await Promise.all(said.map(async (lines) => String((await lines.next()).value)));
      return got.map((line) => JSON.parse(line) as string[]);
    } finally {
      const ends = children.filter(({ exitCode }) => exitCode === null).map((child) => once(child, 'exit'));
      for (const child of children) child.stdin.end();
      await Promise.all(ends);
    }
  };
  // The processes of a round die at its end, so those of the next round find dead holders.
  for (let round = 0; round < 3; round++) {
    const got = await contend(round === 0 ? 1 : rounds(4, 6));
    expect(got.flat().toSorted()).toEqual(teams.toSorted());
  }
});

/** The process that holds a team, by the newest turn in `holders/`. Drafts of turns come and go beside them. */
function holderOf(team: string): number | undefined {
  const folder = join(troupe.home, 'holders');
  const names = readdirSync(folder).filter((name) => name.startsWith(`${team}.`));
  const turns = names.map((name) => Number(name.slice(team.length + 1))).filter((turn) => turn > 0);
  try {
    const text = readFileSync(join(folder, `${team}.${Math.max(...turns)}`), 'utf8');
    return text === '' ? undefined : (JSON.parse(text) as { pid: number }).pid;
  } catch (error) {
    // A holder that just came has removed it.
    if (turns.length > 0 && (error as NodeJS.ErrnoException).code === 'ENOENT') return holderOf(team);
    throw error;
  }
}

test('troupe up on a terminal waits for a person to answer any request, shows what to type, and leaves no member at work', async (context) => {
  needTool(context, 'tmux');
  const file = join(temporaryFolder(), 'troupe.yaml');
  writeFileSync(
    file,
    `team: unjudged
members: [{ name: ann, agent: { exec: [sh, -c, 'cat > /dev/null; echo done'] } }]
tasks: [{ id: a, title: Never good enough }]
hooks: { TaskCompleted: { command: 'echo no >&2; exit 2' } }
`,
  );
  const terminal = openTerminal(troupe, `troupe up ${file} --yes --no-panes`, { columns: 36 });
  await terminal.see(/^! troupe approve ann$/m);
  terminal.resize(70, 24);
  await terminal.see(/^! gate waits for you \(troupe approve ann\): /m);
  expect(await troupe.ask('approve ann')).toMatchObject({ status: 0 });
  const text = await terminal.see(/ended with 0/);
  expect(text).toContain('1 of 1 tasks completed');
  expect(text).not.toMatch(/ann active/);
});

test('closing a team does not wait for a member that no machine has taken', async () => {
  const file = join(temporaryFolder(), 'troupe.yaml');
  writeFileSync(file, 'team: away\nmembers: [{ name: ann, host: elsewhere, agent: { exec: [cat] } }]\n');
  expect(await troupe.ask(['up', '--yes', file, '--detach'])).toMatchObject({ status: 0 });
  // If it waited for ann, the test would time out.
  expect(await troupe.ask('down away --within 1h')).toMatchObject({ status: 0 });
  const again = await troupe.ask(['up', '--yes', file]);
  expect(again).toMatchObject({ stderr: expect.stringContaining('--again') });
});
