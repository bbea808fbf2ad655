import type { Screen } from './screen.ts';
import { fold, widthOf } from './text.ts';

/** What a command is for, and the command. It is never wrapped, so that it can be copied: else it gets its own line. */
export function toType(what: string, command: string, screen: Screen, left = ''): string {
  const line = `${left}${what}: ${command}`;
  return widthOf(line) <= screen.columns ? `${line}\n` : `${fold(`${left}${what}:`, screen)}\n${left}  ${command}\n`;
}
