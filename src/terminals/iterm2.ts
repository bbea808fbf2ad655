import { TeamError } from '../core/errors.ts';
import { shellQuote } from '../core/shell.ts';
import { runProgram } from './run.ts';
import type { Pane, PaneOptions, Terminal } from './terminal.ts';

/** The id that `it2` prints for a new session. */
const SESSION_ID = /[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}/i;

/**
 * Panes of iTerm2, through its own program `it2`. A session's id is a UUID that is never reused, so it is identity
 * enough. The command is typed in as one shell line, with every word quoted.
 */
export function iterm2Terminal(environment: Readonly<Record<string, string | undefined>>): Terminal {
  const it2 = (...args: string[]): Promise<string> => runProgram('it2', args, environment);
  return {
    kind: 'iterm2',
    async open({ command, cwd, marker }: PaneOptions): Promise<Pane> {
      const answer = await it2('session', 'split', '--vertical');
      const [id] = SESSION_ID.exec(answer) ?? [];
      if (id === undefined) throw new TeamError('conflict', `it2 did not report the id of the new session: ${answer}`);
      const line = `cd ${shellQuote(cwd)} && exec ${command.map(shellQuote).join(' ')}`;
      await it2('session', 'run', '--session', id, line);
      return { id, pid: 0, marker };
    },
    async close({ id }) {
      const sessions = await it2('session', 'list').catch(() => '');
      if (!sessions.includes(id)) return false;
      await it2('session', 'close', '--session', id, '--force');
      return true;
    },
  };
}
