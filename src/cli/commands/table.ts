import type { Command, CommandTable } from '../line/command.ts';
import { MANIFEST } from '../line/manifest.ts';
import { HOUSE_COMMANDS } from './table/house.ts';
import { LOOK_COMMANDS } from './table/look.ts';
import { PROGRAMS } from './table/programs.ts';
import { TALK_COMMANDS } from './table/talk.ts';
import { TEAM_COMMANDS } from './table/teams.ts';
import { WORK_COMMANDS } from './table/work.ts';

/** The commands that are not derived from the table of operations alone. */
const OWN: ReadonlyMap<string, Command> = new Map(
  [TEAM_COMMANDS, TALK_COMMANDS, WORK_COMMANDS, LOOK_COMMANDS, HOUSE_COMMANDS, PROGRAMS]
    .flat()
    .map((command) => [command.words, command]),
);

/** All commands. An own command overrides an operation's command of the same name. */
export const COMMANDS: CommandTable = {
  get names() {
    return [...Object.keys(MANIFEST).filter((name) => !OWN.has(name)), ...OWN.keys()];
  },
  get: (name) => OWN.get(name) ?? readCommand(name),
};

function readCommand(name: string): Command | undefined {
  const row = Object.hasOwn(MANIFEST, name) ? MANIFEST[name] : undefined;
  return row === undefined ? undefined : (JSON.parse(row) as Command);
}
