import { spawn, spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { findProgram } from '../../agents/program.ts';
import { findHome } from '../../client/home.ts';
import type { Arguments, Surroundings } from '../line/command.ts';
import { openClient } from '../reach/connect.ts';
import { Refusal, UsageError } from '../show/errors.ts';
import { warn } from '../show/write.ts';
import { writeStandIn } from './claude/stand-in.ts';

/**
 * Starts the user's Claude Code so that its teammates may be other agents. It opens a pane for each teammate and runs a
 * program of ours in it. That program starts Claude Code itself for teammates that no other agent plays.
 */
export async function run(given: Arguments, { environment }: Surroundings): Promise<number> {
  const { args = [], agent = [] } = given.input as { args?: readonly string[]; agent?: readonly string[] };
  const cwd = process.cwd();
  const chosen = Object.fromEntries(agent.map(pairOf));
  const program = findProgram('claude', { cwd, env: environment });
  if (program === undefined) {
    throw new Refusal('not_found', 'Claude Code is not on the PATH; npm install -g @anthropic-ai/claude-code');
  }
  if (!environment['TMUX']) {
    const install = findProgram('tmux', { cwd, env: environment }) === undefined ? 'install tmux, ' : '';
    throw new Refusal(
      'unsupported',
      `Claude Code opens its teammates in tmux panes, and this terminal is not in tmux: ${install}run "tmux new-session", then this command again`,
    );
  }
  const isPrinting = args.some((word) => word === '-p' || word === '--print');
  if (!isPrinting && !(process.stdin.isTTY && process.stdout.isTTY)) {
    throw new Refusal(
      'unsupported',
      'Claude Code needs a terminal to lead a team: run this in a tmux pane, or pass a prompt: troupe claude -- -p PROMPT',
    );
  }
  const home = resolve(findHome(environment).directory);
  const client = openClient(environment);
  let standIn: ReturnType<typeof writeStandIn>;
  try {
    const players = await client.call('native.players', { agents: chosen, cwd });
    standIn = writeStandIn({ home, program, players });
  } finally {
    client.close();
  }
  const words = args.includes('--teammate-mode') ? args : ['--teammate-mode', 'tmux', ...args];
  try {
    return await runToItsEnd(program, words, {
      ...environment,
      CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: '1',
      CLAUDE_CODE_TEAMMATE_COMMAND: standIn.path,
    });
  } finally {
    standIn.remove();
  }
}

function pairOf(pair: string): [string, string] {
  const at = pair.lastIndexOf('=');
  const [name, agent] = [pair.slice(0, Math.max(at, 0)), pair.slice(at + 1)];
  if (/^[A-Za-z0-9_][A-Za-z0-9_.-]*\*?$/.test(name) && agent !== '') return [name, agent];
  throw new UsageError(
    `--agent takes NAME=AGENT, such as tester=codex or 'doc-*=gemini', not ${JSON.stringify(pair)}`,
    'claude',
  );
}

/** Runs the program in this terminal, and ends as it ends. */
function runToItsEnd(program: string, words: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const restore = noteTerminal();
  const child = spawn(program, [...words], { stdio: 'inherit', env });
  // The terminal sends these signals to both processes. Claude Code decides what they mean.
  const ignore = (): void => {};
  const pass = (signal: NodeJS.Signals): void => void child.kill(signal);
  process.on('SIGINT', ignore).on('SIGQUIT', ignore);
  process.on('SIGTERM', pass).on('SIGHUP', pass);
  return new Promise((done, fail) => {
    child.once('error', (error) => fail(new Refusal('unsupported', `${program} cannot be run: ${error.message}`)));
    child.once('exit', (code, signal) => {
      if (signal !== null) {
        restore();
        warn(
          `troupe: Claude Code was killed by ${signal}. Teammates that other agents played have ended too, ` +
            'and their tasks are free again. To continue the conversation: troupe claude -- --resume\n',
        );
      }
      done(code ?? 1);
    });
  });
}

/**
 * Resets what a full-screen program leaves on when it is killed: mouse, keys, paste, alternate screen, hidden cursor.
 */
const SWITCH_OFF =
  '\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1006l\x1b[?2004l\x1b[<u\x1b[>4;0m\x1b[?1049l\x1b[?25h\x1b[0m';

/** Saves the terminal settings and returns a function that restores them; does nothing without a terminal. */
function noteTerminal(): () => void {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return () => {};
  const found = spawnSync('stty', ['-g'], { stdio: ['inherit', 'pipe', 'ignore'], encoding: 'utf8' });
  const settings = found.status === 0 ? found.stdout.trim() : '';
  return () => {
    process.stdout.write(`${SWITCH_OFF}\r\n`);
    if (settings !== '') spawnSync('stty', [settings], { stdio: ['inherit', 'ignore', 'ignore'] });
  };
}
