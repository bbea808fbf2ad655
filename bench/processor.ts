import { readFileSync } from 'node:fs';

/** How long a process's first thread has run so far, and how long it could have run but no core was free. */
export interface Spent {
  readonly ran: number;
  readonly waited: number;
}

/** Milliseconds of the processor, as Linux counts them; nothing elsewhere. */
export function processorTime(pid: number): Spent {
  try {
    const [ran = 0, waited = 0] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ').map(Number);
    return { ran: ran / 1e6, waited: waited / 1e6 };
  } catch {
    return { ran: 0, waited: 0 };
  }
}
