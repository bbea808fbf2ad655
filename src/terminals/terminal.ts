/** What a pane shows. */
export interface PaneOptions {
  /** A program and its arguments: the view of one teammate. No shell and no format string ever sees them. */
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  /** Whose view it is, for people; foreign text. Where a terminal cannot show it, it is left out. */
  readonly title?: string;
  /** By it a pane is known as ours, also after ids were given anew. */
  readonly marker: string;
}

/** A pane of ours. An id alone is reused; with the process and the marker it is not mistaken. */
export interface Pane {
  readonly id: string;
  readonly pid: number;
  readonly marker: string;
}

/**
 * A place where a person sees teammates and types to them: a view, never the channel by which they are controlled. Closing
 * a pane never harms a teammate, and a pane that is not ours is never touched.
 */
export interface Terminal {
  readonly kind: 'tmux' | 'iterm2';
  /** Opens a pane beside the one we run in. Rejects with a `TeamError` when that cannot be. */
  open(options: PaneOptions): Promise<Pane>;
  /** Closes a pane if it is still the one that we opened; says whether it was. */
  close(pane: Pane): Promise<boolean>;
}

/** A program that needs a terminal, and where that is. */
export interface ScreenOptions {
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  /** The whole environment of the program and of whatever holds its terminal. */
  readonly env: Readonly<Record<string, string>>;
  /** Whoever wants to look attaches here. */
  readonly socket: string;
}

/** A terminal of its own in which one program runs, whether anybody looks or not. */
export interface Screen {
  /** The pane's name, as the program hears it. */
  readonly pane: string;
  readonly pid: number;
  /** The process that holds the terminal; without it the program has none. */
  readonly holderPid: number;
  /** What it shows now. */
  text(): Promise<string>;
  /** Presses the key that ends what such programs do. */
  pressEscape(): Promise<void>;
  /** How the program ended, in words; undefined while it runs or when nobody can tell any more. */
  ending(): Promise<string | undefined>;
  /** Ends the terminal, and with it the program. */
  close(): Promise<void>;
}

/** Opens terminals that nobody has to look at. Rejects with a `TeamError` when that cannot be. */
export type OpenScreen = (options: ScreenOptions) => Promise<Screen>;
