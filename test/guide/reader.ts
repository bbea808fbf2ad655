import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import type { TestContext } from 'vitest';
import { findSandbox } from '../../src/agents/sandbox/able.ts';
import { SHORT_RUN } from '../agents/bun.ts';
import { agentProgram } from '../agents/installed.ts';
import { codexHome, codexProvider } from '../agents/setups.ts';
import { anthropicServer } from '../models/anthropic.ts';
import { openaiServer } from '../models/openai.ts';
import type { Machine } from '../package/machine.ts';
import { HANG_MS, pauseAfter, until } from '../until.ts';
import { claudeModel } from './models.ts';
import { firstMissing, readBlocks, readCommands } from './page.ts';
import type { Block } from './page.ts';
import { openTerminals } from './terminal.ts';
import type { Terminal } from './terminal.ts';

/** Commands that only show something: a reader looks again until it is there. */
const LOOKS = /^troupe (?:ps|approve$|status|logs|task list|diff)/;

/** After which time a reader looks again. Without a pause, looking took a quarter of the processor time of the guide. */
const LOOK_AGAIN_MS = 1_000;

/** A reader of the guide: a machine, two terminals, and what the page says. */
export class Reader {
  readonly blocks: readonly Block[];
  readonly #machine: Machine;
  /** Many containers cannot have one. */
  readonly #hasSandbox: boolean;
  readonly #terminals: readonly [Terminal, Terminal];
  #cwd: string;
  #first = 'worker-1';

  constructor(context: TestContext, machine: Machine) {
    this.#machine = machine;
    const { home } = machine;
    this.#hasSandbox = findSandbox(machine.env).program !== undefined;
    this.blocks = readBlocks(readFileSync(join(machine.package, 'docs/guide.md'), 'utf8'));
    // When the terminals are gone: a command in one would start the daemon again.
    onTestFinished(async () => void (await machine.run('troupe stop --all')));
    const open = openTerminals(context, machine.env);
    this.#cwd = home;
    this.#terminals = [open(home), open(home)];
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
      await sleep(pauseAfter(performance.now() - began));
    }
  }

  /** Runs a command in the second terminal until it shows something. */
  look(command: string, output: readonly string[]): Promise<void> {
    return this.#enter(command, output, 2);
  }

  /** What the agents' own installations and logins leave: programs on the PATH, and settings in the home and in the shell. */
  async logIn(): Promise<void> {
    const { home, env } = this.#machine;
    const agents = join(home, 'agents');
    mkdirSync(agents);
    for (const name of ['claude', 'codex'] as const) symlinkSync(agentProgram(name) as string, join(agents, name));
    const claude = await anthropicServer(claudeModel);
    const codex = await openaiServer(() => ({ text: 'I see no problem.' }));
    onTestFinished(async () => void (await Promise.all([claude.close(), codex.close()])));
    const { CODEX_HOME = '', PATH = '' } = codexHome({ HOME: home, PATH: `${env['PATH']}:${agents}` });
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
    writeFileSync(join(home, 'login.sh'), lines.join('\n'));
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
      writeFileSync(join(this.#machine.home, 'step.sh'), text);
      await this.run('. ~/step.sh');
      await this.#follows(text);
    }
  }

  async #enter(command: string, output: readonly string[], at: 1 | 2, next?: Block): Promise<void> {
    const yes = output.filter((line) => line.endsWith('[y/N] y')).length;
    await this.run(command, { in: at, yes });
    // The next block is seen in another terminal meanwhile, from the moment at which the team is there.
    const [, watched, team] = /`(troupe watch (\w+))` in another terminal/.exec(next?.said ?? '') ?? [];
    if (watched !== undefined) {
      await this.sees(output.slice(0, 1 + output.findIndex((line) => line.startsWith(`${team}  `))), { in: at });
      await this.run(watched, { in: 2 });
    }
    const terminal = this.#terminals[at - 1] as Terminal;
    const expected = output.map((line) => this.#asHere(line));
    const began = performance.now();
    while (LOOKS.test(command) && performance.now() - began < HANG_MS) {
      await this.ended(at);
      if (firstMissing(expected, terminal.seen()) === undefined) break;
      await sleep(LOOK_AGAIN_MS);
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
    const { home, bin } = this.#machine;
    const here = line.replaceAll('/home/you', home).replaceAll('/usr/bin', bin);
    const told = here.replaceAll('worker-1', this.#first);
    return this.#hasSandbox ? told : told.replace(/^(✓ sandbox +)works.*/, '$1none, and none is needed …');
  }
}
