/** What a pane shows. */
export interface PaneOptions {
  /** A program and its arguments: the view of one teammate. No shell and no format string ever sees them. */
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  /** The teammate's name for people; untrusted text. Left out if a terminal cannot show it. */
  readonly title?: string;
  /** Identifies a pane as ours, even after ids were reused. */
  readonly marker: string;
}

/** A pane of ours. An id alone is reused; process and marker make it unique. */
export interface Pane {
  readonly id: string;
  readonly pid: number;
  readonly marker: string;
}

/**
 * A place where a person sees teammates and types to them: a view, never the channel of control. Closing a pane never
 * harms a teammate, and a pane that is not ours is never touched.
 */
export interface Terminal {
  readonly kind: 'tmux' | 'iterm2';
  /** Opens a pane beside the one we run in. Rejects with a `TeamError` if that fails. */
  open(options: PaneOptions): Promise<Pane>;
  /** Closes a pane if it is still the one that we opened; returns whether it was. */
  close(pane: Pane): Promise<boolean>;
}

/** A program that needs a terminal, and its socket. */
export interface ScreenOptions {
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  /** The whole environment of the program and of its terminal's process. */
  readonly env: Readonly<Record<string, string>>;
  /** Where people attach to look. */
  readonly socket: string;
}

/** A terminal of its own for one program, whether anyone looks or not. */
export interface Screen {
  /** The pane's name, as the program knows it. */
  readonly pane: string;
  readonly pid: number;
  /** The process that holds the terminal; without it the program has none. */
  readonly holderPid: number;
  /** What it shows now. */
  text(): Promise<string>;
  /** Presses the key that interrupts such programs. */
  pressEscape(): Promise<void>;
  /** How the program ended, in words; undefined while it runs, or if that is no longer known. */
  ending(): Promise<string | undefined>;
  /** Ends the terminal, and with it the program. */
  close(): Promise<void>;
}

/** Opens terminals that nobody has to look at. Rejects with a `TeamError` if that fails. */
export type OpenScreen = (options: ScreenOptions) => Promise<Screen>;
