import { HOUSE_COMMANDS } from './own/house.ts';
import { LOOK_COMMANDS } from './own/look.ts';
import type { OwnCommand } from './own/own-command.ts';
import { WORK_COMMANDS } from './own/work.ts';

/** The commands that are not made from the table of operations alone. */
export const OWN_COMMANDS: readonly OwnCommand[] = [...WORK_COMMANDS, ...LOOK_COMMANDS, ...HOUSE_COMMANDS];

/** The commands that read their own words: programs that run until they are ended. */
export const PROGRAMS: readonly { words: string; summary: string }[] = [
  { words: 'serve', summary: 'Run the daemon in the foreground' },
  { words: 'mcp', summary: 'Give a team to an MCP client, over standard input and output' },
];
