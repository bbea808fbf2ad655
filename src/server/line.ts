import type { Ending } from './hub.ts';
import type { Carrier } from './outbox.ts';

/** What carries the frames of one connection. */
export interface Line extends Carrier {
  /** Stops reading until `resume`. */
  pause(): void;
  resume(): void;
  /** Sends the reason and closes. Whatever was not sent after some seconds is dropped. */
  close(ending: Ending): void;
  /** Closes after a last frame. A client that does not read just now has some minutes to read it. */
  cut(ending: Ending, lastFrame: string): void;
}
