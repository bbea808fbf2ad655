import { beforeAll, describe, expect, test } from 'vitest';
import { needTool } from '../tools.ts';
import { openTerminal } from './terminal.ts';
import { sharedTroupe } from './troupe.ts';

const ESC = '\x1b';

describe('what people see', () => {
  const troupe = sharedTroupe();

  beforeAll(async () => {
    await troupe.run('team create demo --description "Port the parser"');
    await troupe.run('member add worker-1 --team demo --role tester');
    await troupe.run([
      'task',
      'add',
      'A title that is too long for any line of a terminal, and goes on '.repeat(3),
      '--team',
      'demo',
    ]);
    await troupe.run('task add "日本語のタイトル 👍" --team demo --needs 1 --priority critical');
    await troupe.run('task claim --team demo --as worker-1');
  });

  test('has no colours in a pipe, unless they are forced', async () => {
    const plain = await troupe.run('task list --team demo');
    expect(plain.stdout).not.toContain(ESC);
    expect(plain.stdout).toMatch(/\d{4}-\d\d-\d\dT/);
    const forced = await troupe.run('task list --team demo', { env: { FORCE_COLOR: '1' } });
    expect(forced.stdout).toContain(`${ESC}[33m◐ in progress${ESC}[39m`);
    const off = await troupe.run('task list --team demo', { env: { FORCE_COLOR: '0' } });
    expect(off.stdout).toBe(plain.stdout);
  });

  test('has JSON on one line in a pipe, whatever is forced', async () => {
    const { stdout } = await troupe.run('task list --team demo --json', { env: { FORCE_COLOR: '1' } });
    expect(stdout.trimEnd()).not.toMatch(/\p{Cc}/u);
  });

  test('has colours, relative times and lines that fit on a terminal', async (context) => {
    needTool(context, 'tmux');
    const terminal = openTerminal(troupe, 'troupe task list --team demo');
    const text = await terminal.see('ended with 0');
    expect(text).toMatch(/#1 {2}◐ in progress .*…  worker-1 .*(just now| s ago| min ago)/);
    expect(text).toMatch(/#2 {2}· blocked +critical +日本語のタイトル 👍 +#1 /);
    expect(text).toContain('2 tasks: 1 in progress, 1 blocked');
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect(terminal.show({ colors: true })).toContain(`${ESC}[33m`);
  });

  test('has no colours on a terminal with NO_COLOR', async (context) => {
    needTool(context, 'tmux');
    const terminal = openTerminal(troupe, 'NO_COLOR=1 troupe task list --team demo');
    await terminal.see('ended with 0');
    expect(terminal.show({ colors: true })).not.toContain(`${ESC}[3`);
  });

  test('aligns columns on a wide terminal', async (context) => {
    needTool(context, 'tmux');
    const terminal = openTerminal(troupe, 'troupe member list --team demo; troupe task show 1 --team demo', {
      columns: 140,
    });
    const text = await terminal.see('ended with 0');
    expect(text).toMatch(/^MEMBER +ROLE +STATUS +SINCE +TASKS *\nlead +lead +active/m);
    expect(text).toMatch(/^Task #1: A title that is too long/m);
  });

  test('uses marks instead of words on a narrow terminal, and puts texts below their names', async (context) => {
    needTool(context, 'tmux');
    const line = 'troupe task list --team demo; troupe doctor; troupe task claim --help';
    const terminal = openTerminal(troupe, line, { columns: 40, rows: 90 });
    const text = await terminal.see('ended with 0');
    expect(text).toMatch(/^ #     TASK +WHO$/m);
    expect(text).toMatch(/^#1 {2}◐ {2}A title that .*… {2}worker-1$/m);
    expect(text).toMatch(/^✓ daemon +running, version .*,\n {15}pid \d+,$/m);
    expect(text).toMatch(/^ {2}--wait TIME\n {6}wait up to this long for one:/m);
  });

  test('asks before it deletes a team, and takes anything but yes as no', async (context) => {
    needTool(context, 'tmux');
    await troupe.run('team create old');
    const open = () => openTerminal(troupe, 'troupe team delete old', { columns: 100 });
    const no = open();
    await no.see('Delete team old, with 1 member, 0 tasks and all records, permanently? [y/N]');
    no.press('Enter');
    expect(await no.see('ended with 4')).toContain('Team old is still there: nothing was deleted');
    const left = open();
    await left.see('[y/N]');
    left.press('C-c');
    await left.see('ended with 130');
    const yes = open();
    await yes.see('[y/N]');
    yes.press('y', 'Enter');
    expect(await yes.see('ended with 0')).toContain('Team old is deleted.');
    await troupe.run('team create old');
    const sure = openTerminal(troupe, 'troupe team delete old --yes');
    expect(await sure.see('ended with 0')).not.toContain('[y/N]');
  });
});
