import type { Client } from '../../../client/client.ts';

/** Whether the daemon answers. */
export interface Pulse {
  readonly isHeard: boolean;
  close(): void;
}

const ASK_MS = 2_000;
/** A daemon answers within milliseconds, and a busy one within a second. */
const PATIENCE_MS = 3_000;

/** A heartbeat: a daemon that hangs or was suspended keeps its connections open and sends nothing. */
export function feelPulse(client: Client, teamId: string, onChange: () => void): Pulse {
  let isHeard = true;
  let patience: NodeJS.Timeout | undefined;
  const hear = (heard: boolean): void => {
    if (isHeard === heard) return;
    isHeard = heard;
    onChange();
  };
  const ask = (): void => {
    if (patience) return;
    patience = setTimeout(() => hear(false), PATIENCE_MS);
    const answered = (): void => {
      clearTimeout(patience);
      patience = undefined;
      hear(true);
    };
    // There are no events after that number. An error is an answer too: the subscription reports the reason.
    client.call('event.list', { teamId, after: Number.MAX_SAFE_INTEGER }).then(answered, answered);
  };
  const asking = setInterval(ask, ASK_MS);
  return {
    get isHeard() {
      return isHeard;
    },
    close() {
      clearInterval(asking);
      clearTimeout(patience);
    },
  };
}
