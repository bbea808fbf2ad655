import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/commands/table.ts';
import { readArguments } from '../../src/cli/line/arguments.ts';
import type { Command } from '../../src/cli/line/command.ts';
import { EXAMPLES } from '../../src/cli/line/examples.ts';
import { allCommands, findCommand } from '../../src/cli/line/find.ts';
import { flagsOf } from '../../src/cli/line/inputs.ts';
import { MANIFEST } from '../../src/cli/line/manifest.ts';
import { OPERATIONS } from '../../src/operations/index.ts';
import { wordsOf } from './troupe.ts';

describe('the manifest', () => {
  test('has every operation as a command, each under its own words', () => {
    expect(Object.keys(MANIFEST)).toHaveLength(OPERATIONS.length);
    for (const { name, cli } of OPERATIONS) {
      expect(findCommand(COMMANDS, (cli?.command ?? name.replace('.', ' ')).split(' '))?.command.operation).toBe(name);
      expect(findCommand(COMMANDS, name.split('.'))?.command.operation).toBe(name);
    }
  });

  test('reads a length of time where an operation takes milliseconds', () => {
    const commands = Object.values(MANIFEST).map((text) => JSON.parse(text) as Command);
    const durations = commands.flatMap(({ words, flags }) =>
      flags.filter(({ type }) => type === 'duration').map(({ name }) => `${words} --${name}`),
    );
    expect(durations).toEqual(expect.arrayContaining(['down --within', 'task claim --wait']));
    for (const { words, flags } of commands) {
      const wait = flags.find(({ field }) => field === 'wait');
      expect(wait?.type ?? 'duration', words).toBe('duration');
    }
  });

  test('gives each flag of a command one name', () => {
    for (const command of allCommands(COMMANDS)) {
      const names = flagsOf(command).flatMap(({ name, short }) => (short === undefined ? [name] : [name, short]));
      expect(new Set(names).size, command.words).toBe(names.length);
    }
  });
});

describe('the examples', () => {
  // Programs parse their own arguments.
  const read = Object.entries(EXAMPLES).filter(([words]) => !COMMANDS.get(words)?.loadProgram);
  const examples = read.flatMap(([words, lines]) => lines.map((line) => ({ words, line })));

  test.each(examples)('of $words can be parsed: $line', async ({ words, line }) => {
    // Without the shell syntax around it.
    const inner = /troupe (.*)/.exec(line)?.[1] ?? '';
    const plain = inner
      .replace(/[<>|)] ?.*$/, '')
      .replace(/ - /g, ' text ')
      .replace(/ -$/, ' text');
    const found = findCommand(COMMANDS, wordsOf(plain.trim()));
    expect(found?.command.words).toBe(words);
    await expect(
      readArguments(found!.command, found!.rest, {
        environment: {},
        findTeams: async (about) => ({ names: about.mayBeClosed ? ['demo'] : [], areHere: true }),
      }),
    ).resolves.toBeDefined();
  });
});
