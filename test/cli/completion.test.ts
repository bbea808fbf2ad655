import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needTool } from '../tools.ts';
import { HANG_MS } from '../until.ts';
import { BIN, newTroupe, sharedTroupe } from './troupe.ts';

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
  ['troupe serve --jo', ['--journal'], ['--port']],
  ['troupe serve --log-level ', ['debug', 'info', 'warn', 'error'], ['--port']],
  ['troupe mcp --', ['--team', '--as', '--help'], ['--json']],
  // Both a command and a noun with verbs.
  ['troupe wo', ['work'], ['watch']],
  ['troupe work ', ['saves', 'restore', 'clean'], ['task']],
  ['troupe work --te', ['--team'], ['--rewrite']],
  ['troupe work clean --y', ['--yes'], ['--team']],
  ['troupe pr --', ['--remote', '--base', '--title', '--draft', '--json'], ['--output']],
];

/** Words that only the daemon knows. */
const KNOWN: typeof CASES = [
  ['troupe team show ', ['demo', 'deep'], ['lead']],
  ['troupe task list --team de', ['demo', 'deep'], ['lead']],
  ['troupe task claim --team demo ', ['1', '2'], ['3', 'demo']],
  ['troupe task complete --as worker-1 --team demo ', ['3'], ['1', '2']],
  ['troupe task show --team=demo ', ['1', '2', '3'], ['demo']],
  ['troupe task add Title --team demo --needs 1,', ['1,2', '1,3'], ['2']],
  ['troupe task claim --team demo --as w', ['worker-1'], ['lead']],
  ['troupe send --team demo ', ['lead', 'worker-1'], ['demo']],
  ['troupe task assign 1 --team demo ', ['lead', 'worker-1'], ['1']],
  ['troupe diff --team demo ', ['worker-1', '1', '2', '3'], ['demo']],
  ['troupe patch --team demo w', ['worker-1'], ['lead']],
  ['troupe mcp --team ', ['demo', 'deep'], ['lead']],
  ['troupe mcp --team demo --as ', ['lead', 'worker-1'], ['demo']],
  ['troupe member add worker-2 --team demo --agent ', ['claude', 'codex', 'gemini'], ['exec', 'demo']],
  ['troupe team create other --lead-agent co', ['codex', 'copilot'], ['claude']],
  ['troupe run Goal --lead cl', ['claude', 'claude-native'], ['codex']],
  ['troupe run Goal --with claude,co', ['claude,codex'], ['codex']],
];

/** Flag and value in one word, which fish completes as a whole and bash splits into three words. */
const INLINE: readonly [line: string, words: readonly string[], expected: string][] = [
  ['troupe task list --team=de', ['troupe', 'task', 'list', '--team', '=', 'de'], 'deep'],
  ['troupe task list --team=', ['troupe', 'task', 'list', '--team', '='], 'demo'],
  [
    'troupe task list --team=demo --status=pe',
    ['troupe', 'task', 'list', '--team', '=', 'demo', '--status', '=', 'pe'],
    'pending',
  ],
  [
    'troupe task claim --team=demo --as=w',
    ['troupe', 'task', 'claim', '--team', '=', 'demo', '--as', '=', 'w'],
    'worker-1',
  ],
];

/** An option of Node: the command waits as long as needed for the words that its daemon knows. */
const PATIENCE = `--import=${join(import.meta.dirname, 'programs/patience.ts')}`;

describe('completion', () => {
  const troupe = sharedTroupe();
  let folder: string;

  beforeAll(async () => {
    const script = async (shell: string): Promise<string> => {
      const { status, stdout, stderr } = await troupe.ask(`completion ${shell}`);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      return stdout;
    };
    folder = mkdtempSync(join(tmpdir(), 'troupe-completion-'));
    for (const shell of ['bash', 'zsh', 'fish']) writeFileSync(join(folder, `_troupe.${shell}`), await script(shell));
    writeFileSync(join(folder, '_troupe'), await script('zsh'));
    writeFileSync(join(folder, 'troupe'), `#!/bin/sh\nexec '${process.execPath}' '${PATIENCE}' '${BIN}' "$@"\n`, {
      mode: 0o755,
    });
    await troupe.ask('team create demo');
    await troupe.ask('team create deep');
    await troupe.ask('member add worker-1 --team demo');
    // Anybody can write a title, even one with shell commands in it.
    await troupe.ask([
      'task',
      'add',
      `a $(touch ${folder}/done) \`touch ${folder}/done\`'; touch ${folder}/done`,
      '--team',
      'demo',
    ]);
    await troupe.ask('task add Second --team demo --priority low');
    await troupe.ask('task add Third --team demo --priority critical');
    await troupe.ask('task claim --team demo --as worker-1');
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  /** Runs a script in a shell that has loaded its completion. */
  function runIn(shell: 'bash' | 'fish', flags: readonly string[], program: string): string {
    const source = `source ${join(folder, `_troupe.${shell}`)}`;
    const { stdout, stderr } = spawnSync(shell, [...flags, '-c', `${source}\n${program}`], {
      encoding: 'utf8',
      env: environment(),
    });
    expect(stderr).toBe('');
    return stdout;
  }

  function environment(): NodeJS.ProcessEnv {
    return { ...troupe.environment, HOME: folder, PATH: `${folder}:${process.env['PATH']}` };
  }

  test.for([...CASES, ...KNOWN])('in bash of "%s"', ([line, expected, unexpected], context) => {
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

  test.for(INLINE)('of "%s" in bash and fish', ([line, words, expected], context) => {
    needTool(context, 'bash');
    needTool(context, 'fish');
    const program = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}`;
    const offered = runIn('bash', ['--norc'], `${program}; _troupe; printf '%s\\n' "\${COMPREPLY[@]}"`);
    expect(offered.split('\n')).toContain(expected);
    const whole = runIn('fish', ['--no-config'], `complete -C ${JSON.stringify(line)}`);
    expect(whole).toContain(`=${expected}`);
  });

  test('in bash changes nothing else, and falls back to files', (context) => {
    needTool(context, 'bash');
    expect(runIn('bash', ['--norc', '-u'], 'complete -p troupe')).toBe('complete -o default -F _troupe troupe\n');
  });

  test.for([...CASES, ...KNOWN])('in fish of "%s"', ([line, expected, unexpected], context) => {
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
      env: environment(),
      // If zsh does not offer a word, the script waits for it forever.
      timeout: HANG_MS,
    });
    expect(stderr).toBe('');
    for (const word of ['task', 'priority', 'critical', 'claim', 'complete']) expect(stdout).toContain(word);
    // Words that zsh inserts by itself, because only one fits.
    for (const word of ['worker-1', 'Second', 'deep', 'work --team', 'serve --journal', 'mcp --team deep', 'qwen']) {
      expect(stdout).toContain(word);
    }
  });

  test('runs no command from a task title', () => {
    expect(existsSync(join(folder, 'done'))).toBe(false);
  });
});

test('completion starts no daemon', async () => {
  const troupe = newTroupe();
  expect(await troupe.run('completion bash')).toMatchObject({ status: 0, stderr: '' });
  const nothing = { status: 0, stdout: '', stderr: '' };
  expect(await troupe.run(['--complete', 'team', 'show', ''])).toEqual(nothing);
  expect(await troupe.run(['--complete', 'no', 'such', 'command'])).toEqual(nothing);
  expect(await troupe.run('stop')).toMatchObject({ status: 75 });
});

test('completion uses the only open team if none is named, and offers nothing if there are two', async () => {
  const troupe = newTroupe();
  await troupe.ask('team create over');
  await troupe.run('team close over');
  await troupe.ask('team create demo');
  const offered = async (): Promise<string> =>
    (await troupe.run(['--complete', 'send', ''], { env: { NODE_OPTIONS: PATIENCE } })).stdout;
  expect(await offered()).toBe('lead\tlead, active\n');
  await troupe.ask('team create other');
  expect(await offered()).toBe('');
});

/** Types into a zsh in a pseudo terminal, and prints its output each time the expected word appears. */
const ZSH = `
zmodload zsh/zpty
zpty shell zsh -f -i
send() { zpty -w -n shell "$1" }
await() { zpty -r shell out "*$1*"; print -r -- "$out" }
send "PS1=; fpath=($1 \\$fpath); autoload -Uz compinit; compinit -u -D; bindkey '^I' complete-word; LISTMAX=0; print rea''dy"$'\\n'
await ready
for line word in \
  'troupe ta' task \
  'troupe work --te' 'work --team' \
  'troupe task c' complete \
  'troupe task add --pr' priority \
  'troupe task add x --priority cr' critical \
  'troupe task claim --team demo --as w' worker-1 \
  'troupe task show --team demo ' Second \
  'troupe team show dee' deep \
  'troupe serve --jo' 'serve --journal' \
  'troupe mcp --team dee' 'mcp --team deep' \
  'troupe member add x --team demo --agent qw' qwen
do
  send "$line"$'\\t'
  await "$word"
  send $'\\x15'
done
zpty -d shell
`;

function expectWords(lines: readonly string[], expected: readonly string[], unexpected: readonly string[]): void {
  const words = lines.filter(Boolean);
  expect(words).toEqual([...new Set(words)]);
  expect(words).toEqual(expect.arrayContaining([...expected]));
  for (const word of unexpected) expect(words).not.toContain(word);
}
