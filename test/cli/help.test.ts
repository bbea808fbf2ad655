import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/commands/table.ts';
import { describeCommand } from '../../src/cli/line/described.ts';
import { EXAMPLES } from '../../src/cli/line/examples.ts';
import { allCommands } from '../../src/cli/line/find.ts';
import { helpFor } from '../../src/cli/line/help.ts';
import { MANIFEST } from '../../src/cli/line/manifest.ts';
import { TEXTS } from '../../src/cli/line/texts.ts';
import { ERROR_CODES } from '../../src/core/errors.ts';
import { newTroupe } from './troupe.ts';

describe('help', () => {
  test('starts no daemon and lists every command', async () => {
    const troupe = newTroupe();
    for (const line of ['help', '--help', '-h']) {
      const { status, stdout, stderr } = await troupe.run(line);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(stdout).toContain('Usage: troupe <command>');
      for (const name of Object.keys(MANIFEST)) expect(stdout).toContain(name.split(' ')[0]);
      for (const name of ['watch', 'doctor', 'serve', 'mcp', 'completion']) expect(stdout).toContain(`\n  ${name}`);
    }
  });

  test('has a section for taking the work, and lists other verbs by noun without their sentences', () => {
    const help = helpFor(COMMANDS, [], { isTerminal: false, hasColor: false, columns: Infinity, now: 0 });
    const taken = /\nTake the work\n([^]*?)\n\n/.exec(help)?.[1] ?? '';
    expect(taken.match(/^ {2}\w+/gm)).toEqual(['  work', '  diff', '  merge', '  patch', '  pr', '  work']);
    expect(help).toMatch(/\nMore verbs\n(?: {2}.*\n)* {2}work +check, trust, /);
  });

  test('names every exit code', () => {
    const help = helpFor(COMMANDS, [], { isTerminal: false, hasColor: false, columns: Infinity, now: 0 });
    const text = /exit code +([^]*?)\n +TROUPE_TEAM/.exec(help)?.[1] ?? '';
    const told = text.split(/;\s+/).map((part) => parseInt(part, 10));
    const codes = new Set([0, 130, ...Object.values(ERROR_CODES).map(({ exit }) => exit)]);
    expect(told).toEqual([...codes].toSorted((a, b) => a - b));
  });

  test('says what the mark in an inbox means', () => {
    const help = helpFor(COMMANDS, ['inbox'], { isTerminal: false, hasColor: false, columns: Infinity, now: 0 });
    expect(help).toContain('● marks unread messages. Listing changes nothing; --mark-read');
  });

  test('shows the verbs of a noun', async () => {
    const troupe = newTroupe();
    for (const line of ['task', 'task --help', 'help task']) {
      const { status, stdout } = await troupe.run(line);
      expect(status).toBe(0);
      expect(stdout).toContain('Usage: troupe task <verb>');
      expect(stdout).toMatch(/\n {2}task claim \[task\] +Claim a task/);
    }
  });

  test('shows a command with its arguments, flags and examples', async () => {
    const troupe = newTroupe();
    for (const line of ['task add --help', 'help task add', 'task create -h']) {
      const { stdout } = await troupe.run(line);
      expect(stdout).toMatch(/^Create a task\.\n\nUsage: troupe task add <title> \[flags\]\n/);
      expect(stdout).toMatch(/--priority WORD +how soon .*\(low, medium, high, critical; default: medium\)/);
      expect(stdout).toMatch(/\n {2}--needs A,B +tasks that must be completed first/);
      expect(stdout).toMatch(/\nExamples\n {2}troupe task add /);
    }
    const watch = (await troupe.run('watch --help')).stdout;
    expect(watch).toContain('Usage: troupe watch [team] [flags]\n');
    expect(watch).toContain('  [team]  the team (default: the one of the folder you are in)\n');
    expect((await troupe.run('down --help')).stdout).toContain('  <team>  the team (required)\n');
    expect((await troupe.run('serve --help')).stdout).toContain('Run the daemon in the foreground');
    expect((await troupe.run('mcp -h')).stdout).toContain('standard input and output');
  });

  test('has examples of every command, each with its name', async () => {
    const commands = allCommands(COMMANDS).map(describeCommand);
    expect(commands.filter(({ examples }) => examples.length === 0).map(({ words }) => words)).toEqual([]);
    for (const { words, examples } of commands) {
      for (const line of examples) expect(line).toContain(`troupe ${words}`);
    }
    // An example of a command that is gone, or that is made from an operation, would never be shown.
    const own = commands.filter(({ words }) => MANIFEST[words] === undefined).map(({ words }) => words);
    expect(own).toEqual(expect.arrayContaining(Object.keys(EXAMPLES)));
  });

  test('has an example of asking a person that works as printed', async () => {
    const troupe = newTroupe();
    await troupe.run('team create demo');
    await troupe.run('member add worker-1 --team demo');
    const [line = ''] = TEXTS['request raise']?.examples ?? [];
    expect(await troupe.run(line.replace(/^troupe /, ''))).toMatchObject({ status: 0 });
  });

  test.each(['serve', 'mcp', 'up', 'run', 'member restart'])('of %s breaks its sentences at spaces', (words) => {
    const lines = helpFor(COMMANDS, words.split(' '), { isTerminal: true, hasColor: false, columns: 72, now: 0 }).split(
      '\n',
    );
    const sentences = lines.slice(0, lines.indexOf('Examples'));
    expect(sentences.filter((line) => line.length > 72)).toEqual([]);
  });

  test('lists the flags of the programs', async () => {
    const troupe = newTroupe();
    const mcp = (await troupe.run('mcp --help')).stdout;
    expect(mcp).toMatch(/\n {2}--team NAME +the team .*\n {2}--as NAME +the member/);
    expect((await troupe.run('serve --help')).stdout).toMatch(/\n {2}--port N /);
  });

  test('refuses an unknown command', async () => {
    const troupe = newTroupe();
    expect(await troupe.run('help dance')).toMatchObject({ status: 2, stdout: '' });
    expect(await troupe.run('task dance --help')).toMatchObject({ status: 2, stdout: '' });
  });
});

test('the version is that of the package', async () => {
  const troupe = newTroupe();
  for (const line of ['--version', '-v']) {
    expect(await troupe.run(line)).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string,
    });
  }
  for (const line of ['--version --json', '--json version']) {
    expect(JSON.parse((await troupe.run(line)).stdout)).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/) as string,
    });
  }
});

test('a noun alone lists its verbs, also with --json', async () => {
  const troupe = newTroupe();
  const plain = await troupe.run('team');
  expect(plain).toMatchObject({ status: 0, stdout: expect.stringContaining('team create') as string });
  for (const line of ['team --json', '--json team']) expect(await troupe.run(line)).toEqual(plain);
});
