import type { World } from './world.ts';

/** One thing that goes wrong, and when. */
export interface Fault {
  readonly name: string;
  /** How often it is drawn, compared with the others. */
  readonly weight: number;
  /** Only with several machines. */
  readonly isShared?: true;
  /** Only with a native team. */
  readonly isNative?: true;
  /** Only with a journal in a file. */
  readonly isInFile?: true;
  /** Only on NATS servers. */
  readonly isOnNats?: true;
  /** Only with a model of a journal. */
  readonly isOfStore?: true;
  readonly strike: (world: World) => string | undefined;
}
