import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findHome } from '../../../client/home.ts';
import type { BackendType } from '../../../core/member.ts';
import type { TeammateMode } from '../../../core/team.ts';
import { detectBackend } from '../../../runtime/backend.ts';
import { iterm2Terminal } from '../../../terminals/iterm2.ts';
import type { Pane, Terminal } from '../../../terminals/terminal.ts';
import { tmuxTerminal } from '../../../terminals/tmux.ts';
import { warn } from '../../show/write.ts';

/** The panes that show a team's members. */
export interface Panes {
  readonly backend: BackendType;
  /** Closes the panes that are still ours. */
  close(): Promise<void>;
}

const TROUPE = fileURLToPath(new URL('../../../../bin/troupe.js', import.meta.url));

/** Opens a pane per member if the terminal has panes. Each runs `troupe attach` and can be closed at any time. */
export async function openPanes(
  teamId: string,
  members: readonly string[],
  options: { mode: TeammateMode; environment: NodeJS.ProcessEnv; signal: AbortSignal },
): Promise<Panes> {
  const backend = detectBackend(options.mode, options.environment);
  const terminal = terminalOf(backend, options.environment);
  // A pane has the environment of its terminal, not ours. Without TROUPE_HOME it would look for the team elsewhere.
  const place = [`TROUPE_HOME=${resolve(findHome(options.environment).directory)}`];
  if (options.environment['TROUPE_SOURCE']) place.push('TROUPE_SOURCE=1');
  const panes: Pane[] = [];
  if (terminal) {
    for (const memberId of members) {
      if (options.signal.aborted) break;
      try {
        const command = ['env', ...place, process.execPath, TROUPE, 'attach', memberId, '--team', teamId] as const;
        const marker = `${memberId}@${teamId}-${process.pid}`;
        panes.push(await terminal.open({ command, cwd: process.cwd(), title: memberId, marker }));
      } catch (error) {
        // If a view cannot be opened, the work goes on. Ctrl-C also ends the terminal's program that opens it.
        if (!options.signal.aborted) warn(`No pane for ${memberId}: ${(error as Error).message}\n`);
      }
    }
  }
  return {
    backend,
    async close() {
      for (const pane of panes) await terminal?.close(pane);
    },
  };
}

function terminalOf(backend: BackendType, environment: NodeJS.ProcessEnv): Terminal | undefined {
  if (backend === 'tmux') return tmuxTerminal({ environment });
  return backend === 'iterm2' ? iterm2Terminal(environment) : undefined;
}

/** The terminal in which a team's panes would open from here. */
export function findBackend(mode: TeammateMode = 'auto', environment: NodeJS.ProcessEnv = process.env): BackendType {
  return detectBackend(mode, environment);
}
