const { fstatSync } = process.getBuiltinModule('node:fs');

/** Where text is written to: a person's terminal, or a file or program. */
export interface Screen {
  readonly isTerminal: boolean;
  readonly hasColor: boolean;
  /** The width; Infinity if it is no terminal. */
  readonly columns: number;
  /** Milliseconds since 1970, for relative times. */
  readonly now: number;
}

/** Colours and weights of text. */
export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan';

/** The screen behind standard output. */
export function standardScreen(environment: NodeJS.ProcessEnv): Screen {
  const isTerminal = isTerminalAt(1);
  return {
    isTerminal,
    hasColor: wantsColor(environment, isTerminal),
    columns: isTerminal ? process.stdout.columns || 80 : Infinity,
    now: Date.now(),
  };
}

/**
 * Whether a file descriptor is a terminal. Pipes and files are recognized without node:tty, which takes 1.3 ms to load.
 */
function isTerminalAt(fd: number): boolean {
  try {
    return fstatSync(fd).isCharacterDevice() && process.getBuiltinModule('node:tty').isatty(fd);
  } catch {
    // Closed, for example by `>&-`.
    return false;
  }
}

/** Styles a text if the screen has colours. The screen decides that once, so `styleText` must not decide it again. */
export function paint(screen: { hasColor: boolean }, style: Style | undefined, text: string): string {
  if (!screen.hasColor || style === undefined || text === '') return text;
  // Only a screen with colours loads it.
  return process.getBuiltinModule('node:util').styleText(style, text, { validateStream: false });
}

/** `FORCE_COLOR` wins over `NO_COLOR`, as in Node itself; without either, terminals get colours. */
function wantsColor(environment: NodeJS.ProcessEnv, isTerminal: boolean): boolean {
  const force = environment['FORCE_COLOR'];
  if (force !== undefined && force !== '') return force !== '0' && force !== 'false';
  if (environment['NO_COLOR']) return false;
  return isTerminal && environment['TERM'] !== 'dumb';
}
