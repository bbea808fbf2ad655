import { createHash } from 'node:crypto';
import type { Home } from './home.ts';

/** Where the terminal of a member is, one that works in one: short, because the path of a socket must be. */
export function terminalSocket(home: Home, teamId: string, memberId: string): string {
  const mark = createHash('sha256').update(`${teamId}\n${memberId}`).digest('hex').slice(0, 10);
  return `${home.terminals}/${mark}`;
}
