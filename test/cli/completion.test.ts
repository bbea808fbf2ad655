import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isInstalled, needTool } from '../tools.ts';
import { HANG_MS } from '../until.ts';
import { serveWords } from './programs/serve-words.ts';
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

/** Lines that the shells complete with `troupe` itself. Of the others, a process asks that answers all of them. */
const WHOLE: readonly string[] = ['troupe task show --team=demo ', 'troupe run Goal --with claude,co'];

/** An option of Node: the command waits as long as needed for the words that its daemon knows. */
const PATIENCE = `--import=${join(import.meta.dirname, 'programs/patience.ts')}`;

type Shell = 'bash' | 'fish';
/** How a shell completes: with `troupe` itself, or with a program that asks the process of the tests. */
type Way = 'whole' | 'asking';

/** Ends what a shell offers for a line. */
const END = '----';

/** Completes as bash does when somebody presses tab after the words. */
const inBash = (words: readonly string[]): string =>
  `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
   COMPREPLY=(); _troupe; printf '%s\\n' "\${COMPREPLY[@]}"`;

const inFish = (line: string): string => `complete -C ${JSON.stringify(line)}`;

describe('completion', () => {
  const troupe = sharedTroupe();
  let folder: string;
  let end: (() => void) | undefined;

  beforeAll(async () => {
    const script = async (shell: string): Promise<string> => {
      const { status, stdout, stderr } = await troupe.ask(`completion ${shell}`);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      return stdout;
    };
    folder = mkdtempSync(join(tmpdir(), 'troupe-completion-'));
    for (const shell of ['bash', 'zsh', 'fish']) writeFileSync(join(folder, `_troupe.${shell}`), await script(shell));
    writeFileSync(join(folder, '_troupe'), await script('zsh'));
    writeProgram('whole', `#!/bin/sh\nexec '${process.execPath}' '${PATIENCE}' '${BIN}' "$@"\n`);
    const served = await serveWords(async (words) => {
      const { status, stdout, stderr } = await troupe.ask(words);
      return status === 0 ? stdout + stderr : `ends with ${status}`;
    });
    end = served.close;
    writeProgram('asking', served.program);
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

  afterAll(() => {
    end?.();
    rmSync(folder, { recursive: true });
  });

  function writeProgram(name: string, program: string): void {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'troupe'), program, { mode: 0o755 });
  }

  /** Runs a script in a shell that has loaded its completion. */
  async function runIn(
    shell: Shell,
    script: string,
    way: Way = 'whole',
    more: readonly string[] = [],
  ): Promise<string> {
    const flags = [shell === 'bash' ? '--norc' : '--no-config', ...more];
    const source = `source ${join(folder, `_troupe.${shell}`)}`;
    const { stdout, stderr } = await promisify(execFile)(shell, [...flags, '-c', `${source}\n${script}`], {
      env: environment(way),
    });
    expect(stderr).toBe('');
    return stdout;
  }

  function environment(way: Way = 'whole'): NodeJS.ProcessEnv {
    return { ...troupe.environment, HOME: folder, PATH: `${join(folder, way)}:${process.env['PATH']}` };
  }

  const lines = [...CASES, ...KNOWN].map(([line]) => line);
  const known = new Map<Shell, Promise<ReadonlyMap<string, readonly string[]>>>();

  /** What a shell offers for a line, one word per line. It completes all of them one after another, as at a prompt. */
  async function offersOf(shell: Shell, line: string): Promise<readonly string[]> {
    if (!known.has(shell)) known.set(shell, completeAll(shell));
    return (await known.get(shell))?.get(line) ?? [];
  }

  async function completeAll(shell: Shell): Promise<ReadonlyMap<string, readonly string[]>> {
    const found = new Map<string, readonly string[]>();
    for (const way of ['whole', 'asking'] as const) {
      const chosen = lines.filter((line) => WHOLE.includes(line) === (way === 'whole'));
      const complete = shell === 'bash' ? (line: string) => inBash(line.split(' ')) : inFish;
      const script = chosen.map((line) => `${complete(line)}\necho ${END}`).join('\n');
      const printed = await runIn(shell, script, isInstalled('bash') ? way : 'whole');
      for (const [i, text] of printed.split(`${END}\n`).entries()) {
        const line = chosen[i];
        if (line !== undefined) found.set(line, text.split('\n'));
      }
    }
    return found;
  }

  test.for([...CASES, ...KNOWN])('in bash of "%s"', async ([line, expected, unexpected], context) => {
    needTool(context, 'bash');
    expectWords(await offersOf('bash', line), expected, unexpected);
  });

  test.for(INLINE)('of "%s" in bash and fish', async ([line, words, expected], context) => {
    needTool(context, 'bash');
    needTool(context, 'fish');
    const offered = await runIn('bash', inBash(words));
    expect(offered.split('\n')).toContain(expected);
    expect(await runIn('fish', inFish(line))).toContain(`=${expected}`);
  });

  test('in bash changes nothing else, and falls back to files', async (context) => {
    needTool(context, 'bash');
    expect(await runIn('bash', 'complete -p troupe', 'whole', ['-u'])).toBe('complete -o default -F _troupe troupe\n');
  });

  test.for([...CASES, ...KNOWN])('in fish of "%s"', async ([line, expected, unexpected], context) => {
    needTool(context, 'fish');
    const offered = await offersOf('fish', line);
    expectWords(
      offered.map((entry) => entry.split('\t')[0] ?? ''),
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
