import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { findHome } from '../../../client/home.ts';
import { terminalSocket } from '../../../client/terminal-socket.ts';

/** The socket of a member's terminal, if it is on this machine and exists now. */
export function findTerminal(
  environment: NodeJS.ProcessEnv,
  { teamId, memberId }: { teamId: string; memberId: string },
): string | undefined {
  const socket = terminalSocket(findHome(environment), teamId, memberId);
  return existsSync(socket) ? socket : undefined;
}

/** What a terminal shows now; empty if it has just ended. */
export async function readTerminal(socket: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('tmux', words(socket, 'capture-pane', '-p', '-J'), { timeout: 5_000 });
    return stdout.replace(/\n{3,}/g, '\n\n').trim();
  } catch {
    return '';
  }
}

/** Attaches the person to a terminal, who can type to the program itself. Returns whether that worked. */
export function showTerminal(socket: string, environment: NodeJS.ProcessEnv): Promise<boolean> {
  // tmux refuses to run inside itself unless TMUX is unset.
  const { TMUX: _tmux, ...env } = environment;
  const child = spawn('tmux', words(socket, 'attach-session'), { stdio: 'inherit', env });
  return new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
  });
}

function words(socket: string, ...rest: string[]): string[] {
  return ['-u', '-S', socket, '-f', '/dev/null', ...rest];
}
