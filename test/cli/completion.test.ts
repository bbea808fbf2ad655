import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needTool } from '../tools.ts';
import { newTroupe, sharedTroupe } from './troupe.ts';

const CASES: readonly [line: string, expected: readonly string[], unexpected: readonly string[]][] = [
  ['troupe ', ['team', 'task', 'send', 'watch', 'doctor', 'completion'], ['add']],
  ['troupe ta', ['task'], ['team']],
  ['troupe task ', ['add', 'list', 'claim', 'complete'], ['task', 'create']],
  ['troupe task c', ['claim', 'complete'], ['add']],
  ['troupe task add --pr', ['--priority'], ['--team']],
  ['troupe task add Title --priority ', ['low', 'medium', 'high', 'critical'], ['--team']],
  ['troupe task list --team demo --status pen', ['pending'], ['completed']],
  ['troupe task list --team demo --', ['--status', '--json', '--as'], ['--priorities']],
  ['troupe inbox --un', ['--unread', '--until'], ['--team']],
  ['troupe completion ', ['bash', 'zsh', 'fish'], ['task']],
  ['troupe completion bash -', ['--help'], ['--json']],
  ['troupe logs -', ['--daemon', '--follow'], ['--priority']],
];

describe('completion', () => {
  const troupe = sharedTroupe();
  let folder: string;

  beforeAll(async () => {
    const script = async (shell: string): Promise<string> => {
      const { status, stdout, stderr } = await troupe.run(`completion ${shell}`);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      return stdout;
    };
    folder = mkdtempSync(join(tmpdir(), 'troupe-completion-'));
    for (const shell of ['bash', 'zsh', 'fish']) writeFileSync(join(folder, `_troupe.${shell}`), await script(shell));
    writeFileSync(join(folder, '_troupe'), await script('zsh'));
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  /** Runs a program of a shell that has read its completion first. */
  function runIn(shell: 'bash' | 'fish', flags: readonly string[], program: string): string {
    const source = `source ${join(folder, `_troupe.${shell}`)}`;
    const { stdout, stderr } = spawnSync(shell, [...flags, '-c', `${source}\n${program}`], {
      encoding: 'utf8',
      env: { ...process.env, HOME: folder },
    });
    expect(stderr).toBe('');
    return stdout;
  }

  test.for(CASES)('in bash of "%s"', ([line, expected, unexpected], context) => {
    needTool(context, 'bash');
    const words = line.split(' ');
    const offered = runIn(
      'bash',
      ['--norc'],
      `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
       _troupe; printf '%s\\n' "\${COMPREPLY[@]}"`,
    );
    expectWords(offered.split('\n'), expected, unexpected);
  });

  test('in bash changes nothing else, and falls back to files', (context) => {
    needTool(context, 'bash');
    expect(runIn('bash', ['--norc', '-u'], 'complete -p troupe')).toBe('complete -o default -F _troupe troupe\n');
  });

  test.for(CASES)('in fish of "%s"', ([line, expected, unexpected], context) => {
    needTool(context, 'fish');
    const offered = runIn('fish', ['--no-config'], `complete -C ${JSON.stringify(line)}`);
    expectWords(
      offered.split('\n').map((entry) => entry.split('\t')[0] ?? ''),
      expected,
      unexpected,
    );
  });

  test('in zsh of flags, values and verbs', (context) => {
    needTool(context, 'zsh');
    const { stdout, stderr } = spawnSync('zsh', ['-f', '-c', ZSH, 'zsh', folder], {
      encoding: 'utf8',
      env: { ...process.env, HOME: folder },
    });
    expect(stderr).toBe('');
    for (const word of ['task', 'priority', 'critical', 'claim', 'complete']) expect(stdout).toContain(word);
  });
});

test('completion starts no daemon', async () => {
  const troupe = newTroupe();
  expect(await troupe.run('completion bash')).toMatchObject({ status: 0, stderr: '' });
  expect(await troupe.run('stop')).toMatchObject({ status: 75 });
});

/** Types into a zsh inside a pseudo terminal, and writes out what it offers. */
const ZSH = `
zmodload zsh/zpty
zpty shell zsh -f -i
send() { zpty -w -n shell "$1" }
send "PS1=; fpath=($1 \\$fpath); autoload -Uz compinit; compinit -u -D; bindkey '^I' complete-word; LISTMAX=0"$'\\n'
sleep 1
for line in 'troupe ta' 'troupe task c' 'troupe task add --pr' 'troupe task add x --priority cr'; do
  send "$line"$'\\t'
  sleep 0.7
  send $'\\x15'
done
sleep 0.5
while zpty -r -t shell chunk; do print -rn -- "$chunk"; done
zpty -d shell
`;

function expectWords(words: readonly string[], expected: readonly string[], unexpected: readonly string[]): void {
  expect(words).toEqual(expect.arrayContaining([...expected]));
  for (const word of unexpected) expect(words).not.toContain(word);
}
