import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { renderManifest } from '../../scripts/write-manifest.ts';
import { flagsOf, readArguments } from '../../src/cli/arguments.ts';
import { allCommands, findCommand } from '../../src/cli/commands.ts';
import { EXAMPLES } from '../../src/cli/examples.ts';
import { COMMAND_NAMES, EXIT_CODES } from '../../src/cli/manifest.ts';
import { ERROR_CODES } from '../../src/core/errors.ts';
import { OPERATIONS } from '../../src/operations/index.ts';
import { wordsOf } from './troupe.ts';

describe('the manifest', () => {
  test('is what the operations say; else run node scripts/write-manifest.ts', () => {
    for (const [file, text] of Object.entries(renderManifest())) {
      expect(readFileSync(join(import.meta.dirname, '../..', file), 'utf8')).toBe(text);
    }
  });

  test('has every operation as a command, each under its own words', () => {
    expect(COMMAND_NAMES).toHaveLength(OPERATIONS.length);
    for (const { name, cli } of OPERATIONS) {
      expect(findCommand((cli?.command ?? name.replace('.', ' ')).split(' '))?.command.operation).toBe(name);
      expect(findCommand(name.split('.'))?.command.operation).toBe(name);
    }
  });

  test('gives each flag of a command one name', () => {
    for (const command of allCommands()) {
      const names = flagsOf(command).flatMap(({ name, short }) => (short === undefined ? [name] : [name, short]));
      expect(new Set(names).size, command.words).toBe(names.length);
    }
  });

  test('knows the exit code of every refusal', () => {
    expect(EXIT_CODES).toEqual(Object.fromEntries(Object.entries(ERROR_CODES).map(([code, { exit }]) => [code, exit])));
  });
});

describe('the examples', () => {
  const examples = Object.entries(EXAMPLES).flatMap(([words, lines]) => lines.map((line) => ({ words, line })));

  test.each(examples)('show $words as it is understood: $line', async ({ words, line }) => {
    // Without what belongs to the shell around it.
    const inner = /troupe (.*)/.exec(line)?.[1] ?? '';
    const plain = inner
      .replace(/[<>|)] ?.*$/, '')
      .replace(/ - /g, ' text ')
      .replace(/ -$/, ' text');
    const found = findCommand(wordsOf(plain.trim()));
    expect(found?.command.words).toBe(words);
    await expect(readArguments(found!.command, found!.rest, {})).resolves.toBeDefined();
  });
});
