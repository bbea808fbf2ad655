import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { HOSTILE, HOSTILE_NAMES } from './hostile.ts';
import { sharedTroupe } from './troupe.ts';

/** Characters that a terminal would obey. Newlines are ours. */
const ESCAPES = /[^\P{Cc}\n]|[\u200e\u200f\u202a-\u202e\u2066-\u2069\u061c]/u;

/** An argument cannot contain a zero byte or a lone surrogate, so they are taken out. */
const asArgument = (text: string): string => text.replaceAll('\0', '').toWellFormed();

describe('hostile texts', () => {
  const troupe = sharedTroupe();

  beforeAll(async () => {
    await troupe.ask('team create demo --messages-per-minute 1000');
    await troupe.ask('member add worker-1 --team demo');
    for (const text of HOSTILE) {
      const words = ['task', 'add', `t ${asArgument(text)}`, '--team', 'demo', '--description', `=${asArgument(text)}`];
      await troupe.ask(words);
      await troupe.ask(['send', 'worker-1', '--team', 'demo', '--as', 'lead', '--', asArgument(text)]);
    }
    await troupe.ask(['task', 'claim', '1', '--team', 'demo', '--as', 'worker-1']);
    await troupe.ask([
      'task',
      'complete',
      '1',
      '--team',
      'demo',
      '--as',
      'worker-1',
      '--result',
      HOSTILE.join('\n').replaceAll('\0', '').toWellFormed(),
    ]);
  });

  const lines = [
    'task list --team demo',
    'task show 1 --team demo',
    'task show 10 --team demo',
    'inbox --team demo --as worker-1',
    'event list --team demo',
    'team show demo',
    'team status demo',
    'member list --team demo',
    'member show worker-1 --team demo',
    'status',
    'logs --daemon',
  ];
  test.each(lines)('are harmless in the output of %s', async (line) => {
    for (const env of [{}, { FORCE_COLOR: '1' }]) {
      const { status, stdout, stderr } = await troupe.ask(line, { env });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      // oxlint-disable-next-line no-control-regex -- our own colours, nothing else
      expect(stdout.replace(/\x1b\[(1|2|22|3[1-6]|39)m/g, '')).not.toMatch(ESCAPES);
    }
  });

  test.each(lines.filter((line) => /list|show 1 |inbox/.test(line) && !line.startsWith('member')))(
    'are whole and escaped in the JSON of %s',
    async (line) => {
      const { stdout } = await troupe.ask(`${line} --json`);
      expect(stdout).not.toMatch(ESCAPES);
      expect(JSON.stringify(JSON.parse(stdout))).toContain('touch canary');
    },
  );

  test('run nothing and make no file', () => {
    const names = readdirSync(dirname(troupe.home), { recursive: true, encoding: 'utf8' });
    expect(names.filter((name) => name.includes('canary'))).toEqual([]);
    expect(readdirSync('.').filter((name) => name.includes('canary'))).toEqual([]);
  });

  test('F37: are refused as names, and nothing in them reaches the terminal', async () => {
    const outcomes = await Promise.all(HOSTILE_NAMES.map((name) => troupe.run(['team', 'create', '--', name])));
    for (const { status, stdout, stderr } of outcomes) {
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).not.toMatch(ESCAPES);
    }
    const { stderr } = await troupe.run(['\x1b[31mcommand\x07']);
    expect(stderr).not.toMatch(ESCAPES);
    const flag = await troupe.run(['task', 'list', '--\x1b[31mflag']);
    expect(flag.stderr).not.toMatch(ESCAPES);
  });
});
