import { stepAside } from '../../show/write.ts';

/** What the user did: a key by its name, or a wish to leave. */
export type Key = 'up' | 'down' | 'page-up' | 'page-down' | 'home' | 'end' | 'f' | 'm' | 'quit' | 'interrupt';

const KEYS: Readonly<Record<string, Key>> = {
  '\x1b[A': 'up',
  '\x1bOA': 'up',
  k: 'up',
  '\x1b[B': 'down',
  '\x1bOB': 'down',
  j: 'down',
  '\x1b[5~': 'page-up',
  '\x02': 'page-up',
  '\x1b[6~': 'page-down',
  '\x06': 'page-down',
  ' ': 'page-down',
  '\x1b[H': 'home',
  '\x1b[1~': 'home',
  g: 'home',
  '\x1b[F': 'end',
  '\x1b[4~': 'end',
  G: 'end',
  f: 'f',
  m: 'm',
  q: 'quit',
  Q: 'quit',
  '\x03': 'interrupt',
};

/** The terminal while we use it. */
export interface Terminal {
  readonly columns: number;
  readonly rows: number;
  /** Draws all lines from the top, over the old ones. */
  draw(lines: readonly string[]): void;
  /** Restores the terminal. */
  close(): void;
}

const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?7l';
const LEAVE = '\x1b[?7h\x1b[?25h\x1b[?1049l';

/**
 * Takes the terminal: alternate screen, no cursor, raw keys. It is restored however the process ends. Other output
 * would stay in the picture, which only draws changes. So it is held back until the terminal is restored.
 */
export function takeTerminal({ onKey, onResize }: { onKey: (key: Key) => void; onResize: () => void }): Terminal {
  const { stdin, stdout } = process;
  let isOurs = true;
  let shown: readonly string[] = [];
  const unsaid: (() => void)[] = [];
  const forget = (): void => {
    shown = [];
    onResize();
  };
  const press = (data: string): void => {
    // Several keys may come at once: a held arrow, a pasted text.
    // oxlint-disable-next-line no-control-regex -- the sequences that terminals send
    for (const [sequence] of data.matchAll(/\x1b(?:\[[0-9;]*[~A-Za-z]|O[A-Z])|[^]/gu)) {
      const key = KEYS[sequence];
      if (key !== undefined) onKey(key);
    }
  };
  const close = (): void => {
    if (!isOurs) return;
    isOurs = false;
    stdin.off('data', press);
    stdout.off('resize', forget);
    process.off('exit', close);
    process.off('SIGCONT', resume);
    stdin.setRawMode(false);
    stdin.pause();
    stdout.write(LEAVE);
    stepAside(undefined);
    for (const say of unsaid) say();
  };
  /** After Ctrl-Z and fg, the shell has used the terminal. */
  const resume = (): void => {
    stdin.setRawMode(true);
    stdout.write(ENTER);
    forget();
  };
  stdin.setEncoding('utf8');
  stdin.setRawMode(true);
  stdin.on('data', press);
  stdin.resume();
  stdout.on('resize', forget);
  process.on('exit', close);
  process.on('SIGCONT', resume);
  stdout.write(ENTER);
  stepAside((say) => unsaid.push(say));

  return {
    get columns() {
      return stdout.columns || 80;
    },
    get rows() {
      return stdout.rows || 24;
    },
    draw(lines) {
      // Only changed lines are written: less data for a slow connection, and no flicker.
      const changed = lines.flatMap((line, at) => (line === shown[at] ? [] : [`\x1b[${at + 1};1H\x1b[2K${line}`]));
      const cleared = shown.length === 0 ? '\x1b[2J' : '';
      shown = lines;
      if (changed.length > 0) stdout.write(cleared + changed.join(''));
    },
    close,
  };
}
