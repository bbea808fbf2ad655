import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { TestContext } from 'vitest';
import { AGENTS } from '../../src/agents/catalog.ts';
import { findSandbox } from '../../src/agents/sandbox/able.ts';
import { SHORT_RUN } from '../agents/bun.ts';
import { agentProgram } from '../agents/installed.ts';
import { codexHome, codexProvider } from '../agents/setups.ts';
import { BIN } from '../daemon/serve.ts';
import { anthropicServer } from '../models/anthropic.ts';
import { openaiServer } from '../models/openai.ts';
import type { ModelScript } from '../models/script.ts';
import { COMPILED_CODE } from '../setup/compiled-code.ts';
import { TROUPE_SOURCE } from '../setup/source.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { findPrograms, needs } from '../tools.ts';
import { HANG_MS, until } from '../until.ts';
import { firstMissing, readBlocks, readCommands } from './page.ts';
import type { Block } from './page.ts';
import { openTerminals } from './terminal.ts';
import type { Terminal } from './terminal.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/guide.md'), 'utf8');

/** Commands that only show something: a reader looks again until it is there. */
const LOOKS = /^troupe (?:ps|approve$|status|logs|task list|diff)/;

/** Many containers cannot have one. */
const HAS_SANDBOX = findSandbox(process.env).program !== undefined;

/** A reader of the guide: a home, two terminals, and what the page says. */
class Reader {
  readonly home: string;
  readonly bin: string;
  readonly blocks = readBlocks(PAGE);
  readonly #terminals: readonly [Terminal, Terminal];
  readonly #path: string;
  #cwd: string;
  #first = 'worker-1';

  constructor(context: TestContext) {
    const folder = temporaryFolder();
    this.home = join(folder, 'you');
    this.bin = join(folder, 'bin');
    this.#path = `${this.bin}:${dirname(process.execPath)}`;
    for (const path of [this.home, this.bin]) mkdirSync(path);
    // What `npm link` does.
    symlinkSync(BIN, join(this.bin, 'troupe'));
    // What every machine has, without the agents that this one may have.
    const agents = new Set<string>(Object.values(AGENTS).map(({ program }) => program));
    const names = readdirSync('/usr/bin').filter(
      (name) => !agents.has(name) && !['node', 'npm', 'troupe'].includes(name),
    );
    for (const name of names) symlinkSync(join('/usr/bin', name), join(this.bin, name));
    const [npm] = findPrograms('npm');
    if (npm !== undefined) symlinkSync(npm, join(this.bin, 'npm'));
    writeFileSync(
      join(this.home, '.gitconfig'),
      '[user]\n\tname = You\n\temail = you@example.com\n[init]\n\tdefaultBranch = main\n',
    );
    // When the terminals are gone: a command in one would start the daemon again.
    const environment = { ...process.env, HOME: this.home };
    onTestFinished(() => void execFileSync(process.execPath, [BIN, 'stop', '--all'], { env: environment }));
    const marks = ['TROUPE_TEST_RUN', 'TROUPE_TEST_FILE', 'LANG'].flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value] as const];
    });
    const open = openTerminals(context, {
      ...Object.fromEntries(marks),
      LC_ALL: 'C.UTF-8',
      HOME: this.home,
      PATH: this.#path,
      TROUPE_SOURCE,
      NODE_COMPILE_CACHE: COMPILED_CODE,
    });
    this.#cwd = this.home;
    this.#terminals = [open(this.home), open(this.home)];
  }

  /** From now on, `worker-1` is the member that did the first task. On the page it is, here the other may have been faster. */
  meetFirst(): void {
    [, this.#first = ''] = /The first thing +(worker-\d) +\d/.exec(this.#terminals[0].seen()) ?? [];
  }

  /** Does what a section says, block by block. */
  async follow(section: number): Promise<void> {
    const blocks = this.blocks.filter((block) => block.section === section);
    for (const [index, block] of blocks.entries()) await this.do(block, blocks[index + 1]);
  }

  /** Types a command and answers its questions. */
  async run(command: string, { in: at = 1, yes = 0 }: { in?: 1 | 2; yes?: number } = {}): Promise<void> {
    const terminal = this.#terminals[at - 1] as Terminal;
    await terminal.type(command);
    for (let n = 1; n <= yes; n++) {
      await until(`${command} asks`, () => (terminal.seen().match(/\[y\/N\]/g)?.length ?? 0) >= n);
      terminal.answer('y');
    }
  }

  /** Waits until all that a block shows was seen. */
  async sees(expected: readonly string[], { in: at = 1, inOrder = true }: { in?: 1 | 2; inOrder?: boolean } = {}) {
    const lines = expected.map((line) => this.#asHere(line));
    const terminal = this.#terminals[at - 1] as Terminal;
    for (const began = performance.now(); ;) {
      const isOver = terminal.isOver() || performance.now() - began > HANG_MS;
      const missing = firstMissing(lines, terminal.seen(), { inOrder });
      if (missing === undefined) return;
      if (isOver) expect.fail(`The guide says:\n  ${missing}\nNot seen in:\n${terminal.seen().slice(-6000)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Runs a command in the second terminal until it shows something. */
  look(command: string, output: readonly string[]): Promise<void> {
    return this.#enter(command, output, 2);
  }

  /** What the agents' own logins leave: programs on the PATH, and settings in the home and in the shell. */
  async logIn(): Promise<void> {
    for (const name of ['claude', 'codex'] as const) symlinkSync(agentProgram(name) as string, join(this.bin, name));
    const claude = await anthropicServer(claudeModel);
    const codex = await openaiServer(() => ({ text: 'I see no problem.' }));
    onTestFinished(async () => void (await Promise.all([claude.close(), codex.close()])));
    const { CODEX_HOME = '', PATH = '' } = codexHome({ HOME: this.home, PATH: this.#path });
    // Members get the variables of their own provider only.
    const provider = `model_providers.scripted = ${codexProvider(codex).replace('MODEL_KEY', 'OPENAI_API_KEY')}`;
    writeFileSync(join(CODEX_HOME, 'config.toml'), `model_provider = "scripted"\nmodel = "plain"\n${provider}\n`);
    const variables = {
      ...SHORT_RUN,
      PATH,
      ANTHROPIC_BASE_URL: claude.url,
      ANTHROPIC_API_KEY: 'a-dummy',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      OPENAI_API_KEY: 'a-dummy',
    };
    const lines = Object.entries(variables).map(([name, value]) => `export ${name}='${value}'`);
    writeFileSync(join(this.home, 'login.sh'), lines.join('\n'));
    for (const at of [1, 2] as const) await this.run('. ~/login.sh', { in: at });
  }

  /** Writes a file in the folder in which the reader is. */
  write(name: string, text: string): void {
    writeFileSync(join(this.#cwd, name), text);
  }

  async ended(at: 1 | 2 = 1): Promise<void> {
    const terminal = this.#terminals[at - 1] as Terminal;
    expect(await terminal.ended(), terminal.seen()).toBe(0);
  }

  /** Does what a block says. */
  async do(block: Block, next?: Block): Promise<void> {
    const { language, said, lines } = block;
    const text = `${lines.join('\n')}\n`;
    const [, file] = /^`([\w.-]+)`/.exec(said) ?? [];
    const isElsewhere = said.startsWith('In another terminal');
    if (language === 'console') {
      for (const { command, output } of readCommands(block)) {
        await this.#enter(this.#asHere(command), output, isElsewhere ? 2 : 1, next);
      }
    } else if (language === 'text') {
      const [, watched] = /`(troupe [\w ]+)` in another terminal/.exec(said) ?? [];
      await this.sees(lines, watched === undefined ? {} : { in: 2, inOrder: false });
      if (watched !== undefined) this.#terminals[1].press('q');
    } else if (file !== undefined) {
      this.write(file, text);
      const [, then] = /Make it executable with `([^`]+)`/.exec(said) ?? [];
      if (then !== undefined) await this.run(then);
    } else if (said.startsWith('The file has')) {
      expect(firstMissing(lines, readFileSync(join(this.#cwd, 'troupe.yaml'), 'utf8'))).toBeUndefined();
    } else if (said.includes('Change her line')) {
      const path = join(this.#cwd, 'troupe.yaml');
      const [name] = /name: \w+/.exec(text) ?? [];
      const before = readFileSync(path, 'utf8').split('\n');
      const at = before.findIndex((line) => name !== undefined && line.includes(name));
      expect(at).toBeGreaterThan(0);
      writeFileSync(path, before.with(at, lines[0] as string).join('\n'));
    } else if (said.includes('Put it into `troupe.yaml`')) {
      this.write('troupe.yaml', text);
    } else {
      expect(language, said).toBe('sh');
      writeFileSync(join(this.home, 'step.sh'), text);
      await this.run('. ~/step.sh');
      await this.#follows(text);
    }
  }

  async #enter(command: string, output: readonly string[], at: 1 | 2, next?: Block): Promise<void> {
    const yes = output.filter((line) => line.endsWith('[y/N] y')).length;
    await this.run(command, { in: at, yes });
    // The next block is seen in another terminal meanwhile, from the beginning.
    const [, watched] = /`(troupe [\w ]+)` in another terminal/.exec(next?.said ?? '') ?? [];
    if (watched !== undefined) await this.run(watched, { in: 2 });
    const terminal = this.#terminals[at - 1] as Terminal;
    const expected = output.map((line) => this.#asHere(line));
    const began = performance.now();
    while (LOOKS.test(command) && performance.now() - began < HANG_MS) {
      await this.ended(at);
      if (firstMissing(expected, terminal.seen()) === undefined) break;
      await this.run(command, { in: at });
    }
    await this.sees(output, { in: at });
    await this.#follows(command);
  }

  /** Goes where a command went. */
  async #follows(text: string): Promise<void> {
    const [, to] = /^.*\bcd (\S+)/.exec(text) ?? [];
    if (to !== undefined) this.#cwd = join(this.#cwd, to);
  }

  #asHere(line: string): string {
    const here = line.replaceAll('/home/you/troupe', ROOT).replaceAll('/home/you', this.home);
    const told = here.replaceAll('/usr/bin', this.bin).replaceAll('worker-1', this.#first);
    return HAS_SANDBOX ? told : told.replace(/^(✓ sandbox +)works.*/, '$1none, and none is needed …');
  }
}

const missing = (['claude', 'codex'] as const).filter((name) => agentProgram(name) === undefined);

test(
  'everything that the guide says happens to a reader who does it',
  // It takes a minute, since a person would: on a busy machine several.
  { ...needs(missing.length === 0, `${missing.join(', ')} is not installed`), timeout: 15 * 60_000 },
  async (context) => {
    const reader = new Reader(context);
    const [install, ...check] = reader.blocks.filter(({ section }) => section === 1);
    // `npm link` would change this machine: the reader has its result.
    expect(install?.lines).toEqual(['npm ci && npm run build && npm link    # puts `troupe` on your PATH']);
    for (const block of check) await reader.do(block);
    await reader.follow(2);
    reader.meetFirst();
    for (const section of [3, 4, 5, 6, 7]) await reader.follow(section);

    const [agents, down, goal, file, permission] = reader.blocks.filter(({ section }) => section === 8) as [
      Block,
      Block,
      Block,
      Block,
      Block,
    ];
    await reader.do(agents);
    await reader.logIn();
    await reader.do(down);
    await reader.do(goal);
    await reader.ended();
    await reader.sees(['The auth module is fine.']);

    // The reader adapts the file: this repository has tests.
    reader.write('package.json', JSON.stringify({ scripts: { test: 'test -e search.txt' } }));
    await reader.run('git add . && git commit -qm "Tests"');
    await reader.do(file);
    await reader.run('troupe up', { yes: 1 });
    await reader.look('troupe approve', ['plan of builder (team search, 2 s ago)']);
    await reader.run('troupe approve builder', { in: 2 });
    await reader.do({ ...permission, said: 'In another terminal' });
    await reader.sees(['3 of 3 tasks completed in 23.4 s.…']);
    await reader.follow(9);
  },
);

/** The lead makes a task and answers when it is completed. The builder plans, asks for a permission, and writes a file. */
const claudeModel: ModelScript = (request) => {
  const last = request.turns.at(-1);
  const asked = last?.role === 'user' ? last.text : '';
  if (request.system.includes('the lead of the team')) {
    if (last?.role === 'tool') return { text: 'It is under way.' };
    if (asked.includes('1 completed')) return { text: 'The auth module is fine.' };
    return { calls: [{ name: 'mcp__troupe__TaskCreate', input: { subject: 'Look at it', description: 'all of it' } }] };
  }
  if (asked.includes('Add the command search')) {
    const isPlan = !request.tools.includes('Write');
    if (isPlan) return { text: 'I write search.txt.' };
    return { calls: [{ name: 'Bash', input: { command: 'npm install', description: 'Install the packages' } }] };
  }
  if (last?.role === 'tool' && last.text.includes('use npm ci')) {
    return { calls: [{ name: 'Bash', input: { command: 'echo found > search.txt', description: 'Write it' } }] };
  }
  return { text: 'Done.' };
};
