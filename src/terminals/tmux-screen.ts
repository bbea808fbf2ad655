import { constants } from 'node:os';
import { runProgram } from './run.ts';
import type { OpenScreen } from './terminal.ts';

/** Large enough that no program hides part of its output. */
const SIZE = ['-x', '180', '-y', '50'];

/** How many lines at the end of a screen explain why a program ended. */
const LAST_LINES = 12;

/**
 * A screen in its own tmux server, which ends with it: the user's own tmux, its settings and its panes are never
 * touched. The server inherits its environment from us, so that none of it is in arguments. An ended program stays
 * visible until the screen is closed.
 */
export const openTmuxScreen: OpenScreen = async ({ command, cwd, env, socket }) => {
  const tmux = (...words: string[]): Promise<string> =>
    runProgram('tmux', ['-u', '-S', socket, '-f', '/dev/null', ...words], env);
  const set = (name: string, value: string): string[] => ['set-option', '-g', name, value, ';'];
  const answer = await tmux(
    'start-server',
    ';',
    ...set('remain-on-exit', 'on'),
    ...set('status-left-length', '40'),
    ...set('status-left', 'C-b d leaves this terminal '),
    ...set('status-right', ''),
    ...set('focus-events', 'on'),
    ...set('mouse', 'on'),
    'new-session',
    '-d',
    ...SIZE,
    '-c',
    cwd.replaceAll('#', '##'),
    '-P',
    '-F',
    '#{pane_id} #{pane_pid} #{pid}',
    '--',
    // tmux takes a lone ; at the end of a word for the end of a command.
    ...command.map((word) => word.replace(/;$/, '\\;')),
  );
  const [pane = '', pid = '', holder = ''] = answer.split(' ');
  const text = async (): Promise<string> => {
    const shown = await tmux('capture-pane', '-p', '-J', '-t', pane).catch(() => '');
    return shown.replace(/\n{3,}/g, '\n\n').trim();
  };
  return {
    pane,
    pid: Number(pid),
    holderPid: Number(holder),
    text,
    async pressEscape() {
      await tmux('send-keys', '-t', pane, 'Escape');
    },
    async ending() {
      const facts = await tmux(
        'display-message',
        '-p',
        '-t',
        pane,
        '#{pane_dead} #{pane_dead_status} #{pane_dead_signal}',
      )
        // The terminal itself is gone.
        .catch(() => '');
      const [dead, status = '', signal = ''] = facts.split(' ');
      if (dead !== '1') return undefined;
      // tmux notices that a terminal is closed before it knows how its program ended.
      if (status === '' && signal === '') {
        lookForEnded(Number(holder));
        return undefined;
      }
      const how = signal === '' ? `ended with code ${status}` : `was ended by ${signalName(Number(signal))}`;
      const said = (await text()).split('\n').filter((line) => line.trim() !== '' && !line.startsWith('Pane is dead'));
      return said.length === 0 ? how : `${how}: ${said.slice(-LAST_LINES).join('\n')}`;
    },
    async close() {
      // A server that is already gone is fine.
      await tmux('kill-server').catch(() => '');
    },
  };
};

/**
 * tmux 3.4 and older miss the end of a program that ends while libutempter, called at that moment, handles SIGCHLD in
 * its place. The program stays a zombie until the next SIGCHLD, so we send one.
 */
function lookForEnded(server: number): void {
  try {
    process.kill(server, 'SIGCHLD');
  } catch {
    // The terminal itself is gone.
  }
}

function signalName(number: number): string {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `signal ${number}`;
}
