import { runProgram } from './run.ts';
import type { Pane, PaneOptions, Terminal } from './terminal.ts';

/** Where tmux is, and which server: that of the terminal we run in unless told otherwise. */
export interface TmuxOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The name of a server of one's own (`-L`). */
  readonly server?: string;
  /** The pane to open others beside. */
  readonly target?: string;
}

/** An option of ours on a pane; what tmux calls a user option. */
const MARK = '@troupe';

/**
 * Panes of tmux. tmux runs what looks like a format (`#(…)`) in names and titles, so none of ours holds a word that came
 * from outside: a pane is told apart by its option, and what it shows of names it draws itself.
 */
export function tmuxTerminal({ environment, server, target }: TmuxOptions): Terminal {
  const tmux = (...args: string[]): Promise<string> =>
    runProgram('tmux', [...(server === undefined ? [] : ['-L', server]), ...args], environment);
  const beside = target ?? environment['TMUX_PANE'];
  return {
    kind: 'tmux',
    async open({ command, cwd, marker }: PaneOptions): Promise<Pane> {
      const place = beside === undefined ? [] : ['-t', beside];
      const format = '#{pane_id} #{pane_pid}';
      const answer = await tmux(
        'split-window',
        '-d',
        ...place,
        '-c',
        escapeFormat(cwd),
        '-P',
        '-F',
        format,
        '--',
        ...command,
      );
      const [id = '', pid = ''] = answer.split(' ');
      await tmux('set-option', '-p', '-t', id, MARK, marker);
      await tmux('select-layout', ...place, 'tiled');
      return { id, pid: Number(pid), marker };
    },
    async close({ id, pid, marker }) {
      const found = await tmux('display-message', '-p', '-t', id, `#{pane_pid} #{${MARK}}`).catch(() => '');
      if (found !== `${pid} ${marker}`) return false;
      await tmux('kill-pane', '-t', id);
      return true;
    },
  };
}

/** A folder is expanded as a format: `#` is written twice. */
function escapeFormat(text: string): string {
  return text.replaceAll('#', '##');
}
