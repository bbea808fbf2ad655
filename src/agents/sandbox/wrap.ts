import type { Socket } from 'node:net';

/** A program that is about to start. */
export interface Start {
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** A port of loopback on which it serves us. */
  readonly serves?: number | undefined;
}

/** Runs programs apart from everything else: all their processes end with them. */
export interface SandboxWrap {
  /** The same program in a sandbox of its own. */
  wrap(start: Start): Start;
  /**
   * Connects to the port on which a program in it serves; resolves once the program can be reached. Undefined if a sandbox
   * has no network of its own here: then its ports are those of the machine.
   */
  readonly reach?: ((port: number, signal: AbortSignal) => Promise<Socket>) | undefined;
}
