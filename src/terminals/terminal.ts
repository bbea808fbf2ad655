/** What a pane shows. */
export interface PaneOptions {
  /** A program and its arguments: the view of one teammate. No shell and no format string ever sees them. */
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
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
