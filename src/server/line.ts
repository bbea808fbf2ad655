import type { Ending } from './hub.ts';
import type { Carrier } from './outbox.ts';

/** What carries the frames of one connection. */
export interface Line extends Carrier {
  /** Stops reading until `resume`. */
  pause(): void;
  resume(): void;
  /** Says why, and closes; what does not go out soon is given up. */
  close(ending: Ending): void;
  /** Closes after a last frame, for which a client that does not read just now has some minutes. */
  cut(ending: Ending, lastFrame: string): void;
}
