import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';
import { needTool } from '../tools.ts';
import { until } from '../until.ts';
import { openTerminal } from './terminal.ts';
import { BIN, killDaemon, sharedTroupe } from './troupe.ts';

const troupe = sharedTroupe();
const us = `'${process.execPath}' '${BIN}'`;

/** A team file whose member or lead is a shell script. */
function write(team: string, lines: readonly string[], script: string): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'work.sh'), script);
  const file = join(folder, 'troupe.yaml');
  writeFileSync(file, [`team: ${team}`, ...lines, ''].join('\n'));
  return file;
}

const MEMBER = ['members:', '  - { name: ann, agent: { exec: [sh, work.sh] } }', 'tasks: [{ title: Choose }]'];

test("a member's script asks and gets the answer, from another terminal and across a kill of the daemon", async () => {
  const script = `cat > /dev/null\n${us} ask "Which one?" --choice "red, or pink" --choice blue --no-free-text\n`;
  const up = troupe.start(['up', '--yes', write('script', MEMBER, script), '--json']);
  const hint = await until('up says so', () => /script waits for you.*/.exec(up.output.stderr)?.[0]);
  expect(hint).toContain('the question of ann (task #1). Which one? To answer: troupe answer ann ');
  await killDaemon(troupe.home);
  const { stdout } = await troupe.ask('approve --team script');
  expect(stdout).toContain('question of ann (team script, task #1,');
  expect(stdout).toContain('  1. red, or pink\n  2. blue\n');
  expect(stdout).toContain('To choose: troupe answer ann --team script 1');
  expect(await troupe.ask('answer ann green --team script')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('takes one of its choices: "red, or pink", "blue"'),
  });
  expect(await troupe.ask('answer ann 7 --team script')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('There is no choice 7; there is 1 (red, or pink), 2 (blue)'),
  });
  expect(await troupe.ask('answer ann 2 --team script')).toMatchObject({ status: 0, stdout: 'ann has your answer.\n' });
  await up.ended;
  const [task] = await troupe.json<{ result: string }[]>('task list --team script');
  expect(task?.result).toContain('blue');
  expect(await troupe.json<object[]>('request list --team script --kind question')).toHaveLength(1);
});

test('an answer that is given while the team is stopped reaches the member when it goes on', async () => {
  const file = write('later', MEMBER, `cat > /dev/null\n${us} ask "Which one?" --choice pink --choice blue\n`);
  const first = troupe.start(['up', '--yes', file, '--json']);
  await until('up says so', () => first.output.stderr.includes('later waits for you'));
  first.child.kill('SIGINT');
  await first.ended;
  expect(await troupe.ask('answer ann 2 --team later')).toMatchObject({
    status: 0,
    stdout: 'ann is stopped. It gets your answer when it goes on.\n',
  });
  const second = troupe.start(['up', '--yes', file, '--json']);
  expect(await second.ended).toMatchObject({ status: 0 });
  expect((await troupe.json<{ result: string }[]>('task list --team later'))[0]?.result).toContain('blue');
  expect(await troupe.json<object[]>('request list --team later --kind question')).toHaveLength(1);
});

test('a lead that ends its turn with a question leaves the team open, and its answer ends the goal', async () => {
  const script = `
if grep -q 'The answer: ' ; then echo 'It is done as you said'; else
  ${us} ask 'How far?' --no-wait > /dev/null; echo 'I asked'
fi\n`;
  const file = write('led', ['lead: { agent: { exec: [sh, work.sh] }, prompt: Go }'], script);
  const up = troupe.start(['up', '--yes', file, '--json']);
  await until('up says so', () => up.output.stderr.includes('led waits for you: the question of lead. How far?'));
  const [lead] = await troupe.json<{ status: string }[]>('member list --team led');
  expect(lead?.status).not.toBe('stopped');
  expect(await troupe.ask('answer lead "To the end" --team led')).toMatchObject({ status: 0 });
  expect(await up.ended).toMatchObject({ status: 0 });
  expect(JSON.parse(up.output.stdout)).toMatchObject({ reason: 'done', answer: 'It is done as you said' });
});

test('troupe up takes the answer at its own terminal', async (context) => {
  needTool(context, 'tmux');
  const script = `cat > /dev/null\n${us} ask "Which way?" --choice left --choice right\n`;
  const terminal = openTerminal(troupe, `troupe up --yes --no-panes '${write('seen', MEMBER, script)}'`);
  await terminal.see('ann (task #1) asks:');
  await terminal.see(/Which way\?\n {2}1\. left\n {2}2\. right\nYour answer \(an empty line leaves it open\):/);
  // What happens meanwhile is told above what is being typed.
  terminal.press('le');
  await terminal.see(/leaves it open\): le$/m);
  expect(await troupe.ask('notes add "Ports are random" --team seen')).toMatchObject({ status: 0 });
  await terminal.see(/noted.*Ports are random\nYour answer \(an empty line leaves it open\): le$/m);
  terminal.press('BSpace', 'BSpace');
  // A number is meant as a choice. What is no choice is not sent.
  terminal.press('3', 'Enter');
  await terminal.see('There is no choice 3; there is 1 (left), 2 (right)');
  expect(await troupe.ask('answer ann 3 --as-text --team seen')).toMatchObject({ status: 0 });
  await terminal.see('1 of 1 tasks completed');
  await terminal.see('ended with 0');
  expect((await troupe.json<{ result: string }[]>('task list --team seen'))[0]?.result).toContain('3');
});

test('troupe down that is interrupted says that the daemon goes on', async () => {
  await troupe.ask('team create going');
  const spawn = 'member spawn ann --team going --agent'.split(' ');
  await troupe.ask([...spawn, '{"exec":["sh","-c","cat > /dev/null; sleep 600"]}']);
  await troupe.ask('task add Wait --team going --assign ann');
  await until('ann works', async () => {
    const [task] = await troupe.json<{ status: string }[]>('task list --team going');
    return task?.status === 'in_progress';
  });
  const down = troupe.start('down going --within 1h');
  await until('ann is asked', async () => {
    const asked = await troupe.json<object[]>('request list --team going --kind shutdown');
    return asked.length === 1;
  });
  down.child.kill('SIGINT');
  const { status, stderr } = await down.ended;
  expect(status).toBe(130);
  expect(stderr).toContain('troupe: The daemon goes on and closes team going: troupe ps shows who still runs\n');
  expect(await troupe.ask('down going --now')).toMatchObject({ status: 0 });
});

test('troupe down says who is asked to stop, and with --now asks nobody', async () => {
  for (const flag of ['', ' --now']) {
    const team = `stopping${flag.trim().replace('--', '-')}`;
    await troupe.ask(`team create ${team}`);
    await troupe.ask([...`member spawn ann --team ${team} --agent`.split(' '), '{"exec":["cat"]}']);
    const { status, stderr, stdout } = await troupe.ask(`down ${team}${flag}`);
    expect([status, stdout]).toEqual([0, `Team ${team} is shut down and closed; it can still be read.\n`]);
    expect(stderr.includes('Asking ann to stop (30 s at most; --now does not ask).')).toBe(flag === '');
    const asked = await troupe.json<object[]>(`request list --team ${team} --kind shutdown`);
    expect(asked).toHaveLength(flag === '' ? 1 : 0);
  }
});
