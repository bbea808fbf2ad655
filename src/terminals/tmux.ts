import { runProgram } from './run.ts';
import type { Pane, PaneOptions, Terminal } from './terminal.ts';

/** Which tmux server: by default that of the terminal we run in. */
export interface TmuxOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The name of another server (`-L`). */
  readonly server?: string;
  /** The pane to open others beside. */
  readonly target?: string;
}

/** Our option on a pane; tmux calls it a user option. */
const MARK = '@troupe';

/** Set on a window whose borders show titles because of us. */
const TITLED = '@troupe-titled';

/**
 * Panes of tmux. tmux runs what looks like a format (`#(…)`) in names and titles. So untrusted text goes into a title
 * without any character that formats use, and a pane is identified by its option. In a window where all other panes are
 * ours, the borders show the titles while there is a pane of ours.
 */
export function tmuxTerminal({ environment, server, target }: TmuxOptions): Terminal {
  const tmux = (...args: string[]): Promise<string> =>
    runProgram('tmux', [...(server === undefined ? [] : ['-L', server]), ...args], environment);
  const beside = target ?? environment['TMUX_PANE'];
  const place = beside === undefined ? [] : ['-t', beside];
  const ask = (format: string): Promise<string> => tmux('display-message', '-p', ...place, format);
  const showTitles = async (): Promise<void> => {
    // Users who chose titles already see them, and users with other panes there did not ask for a change.
    if ((await ask('#{window_panes} #{pane-border-status}')) !== '1 off') return;
    await tmux('set-option', '-w', ...place, TITLED, 'on');
    await tmux('set-option', '-w', ...place, 'pane-border-status', 'top');
  };
  const hideTitles = async (): Promise<void> => {
    if ((await ask(`#{${TITLED}}#{P:#{${MARK}}}`)) !== 'on') return;
    await tmux('set-option', '-w', '-u', ...place, 'pane-border-status');
    await tmux('set-option', '-w', '-u', ...place, TITLED);
  };
  return {
    kind: 'tmux',
    async open({ command, cwd, title, marker }: PaneOptions): Promise<Pane> {
      if (title !== undefined) await showTitles();
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
      try {
        await tmux('set-option', '-p', '-t', id, MARK, marker);
        if (title !== undefined) await tmux('select-pane', '-t', id, '-T', plain(title));
        await tmux('select-layout', ...place, 'tiled');
      } catch (error) {
        await tmux('kill-pane', '-t', id).catch(() => {});
        throw error;
      }
      return { id, pid: Number(pid), marker };
    },
    async close({ id, pid, marker }) {
      const found = await tmux('display-message', '-p', '-t', id, `#{pane_pid} #{${MARK}}`).catch(() => '');
      const isOurs = found === `${pid} ${marker}`;
      if (isOurs) await tmux('kill-pane', '-t', id);
      // Also after someone else closed the pane. The window may be gone with it.
      await hideTitles().catch(() => {});
      return isOurs;
    },
  };
}

/** tmux expands a folder as a format, so `#` is doubled. */
function escapeFormat(text: string): string {
  return text.replaceAll('#', '##');
}

/** Removes everything that tmux could read as a format or a style, now or where a title is shown. */
function plain(title: string): string {
  return title.replace(/[^\p{L}\p{N} ._@-]/gu, '?');
}
