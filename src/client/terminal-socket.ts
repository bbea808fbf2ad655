import { createHash } from 'node:crypto';
import type { Home } from './home.ts';

/** The socket of a member's terminal. Its name is a short hash, because the path of a socket must be short. */
export function terminalSocket(home: Home, teamId: string, memberId: string): string {
  const mark = createHash('sha256').update(`${teamId}\n${memberId}`).digest('hex').slice(0, 10);
  return `${home.terminals}/${mark}`;
}
