import { readFileSync } from 'node:fs';

/** How long a process's first thread has run, and how long it waited for a free core. */
export interface Spent {
  readonly ran: number;
  readonly waited: number;
}

/** CPU time in milliseconds, from Linux; zero on other systems. */
export function processorTime(pid: number): Spent {
  try {
    const [ran = 0, waited = 0] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ').map(Number);
    return { ran: ran / 1e6, waited: waited / 1e6 };
  } catch {
    return { ran: 0, waited: 0 };
  }
}
