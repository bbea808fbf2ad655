import type { Command, Input } from './command.ts';

/** The flags that every command has. */
export const COMMON_FLAGS: readonly Input[] = [
  { field: 'json', name: 'json', type: 'boolean', text: 'print the result as JSON' },
  { field: 'help', name: 'help', type: 'boolean', text: 'print this help', short: 'h' },
];

/** A flag that every command about a team has. */
const AS_FLAG: Input = {
  field: 'as',
  name: 'as',
  type: 'string',
  text: 'the member you act for (default: $TROUPE_MEMBER_NAME)',
};

/** All flags of a command, in the order of its help. */
export function flagsOf(command: Command): readonly Input[] {
  const isPlace = hasField(command.args, 'teamId');
  if (command.plain) return [...command.flags, ...COMMON_FLAGS.filter(({ name }) => name !== 'json')];
  if (!isPlace && !hasField(command.flags, 'teamId')) return [...command.flags, ...COMMON_FLAGS];
  return [...command.flags, ...(isPlace ? [TEAM_FLAG] : []), AS_FLAG, ...COMMON_FLAGS];
}

/** People used to flags write `troupe team show --team demo` for `troupe team show demo`. */
const TEAM_FLAG: Input = { field: 'teamId', name: 'team', type: 'string', text: 'the team, as a flag' };

/** A required team. */
export const TEAM: Input = { field: 'teamId', name: 'team', type: 'string', text: 'the team', required: true };

/** A required team that may follow from the working directory. */
export const TEAM_HERE: Input = {
  ...TEAM,
  text: 'the team (default: the one of the folder or the repository you are in)',
};

/** An optional team; without it, the command is about all open teams. */
export const OPTIONAL_TEAM: Input = { field: 'teamId', name: 'team', type: 'string', text: 'the team' };

/** An optional member. */
export const OPTIONAL_MEMBER: Input = { field: 'memberId', name: 'member', type: 'string', text: 'the member' };

/** A required member. */
export const MEMBER: Input = {
  ...OPTIONAL_MEMBER,
  text: 'the member; troupe ps lists the running ones',
  required: true,
};

/** Whether one of the inputs is for this field. */
export function hasField(inputs: readonly Input[], field: string): boolean {
  for (const input of inputs) if (input.field === field) return true;
  return false;
}

/** Whether the team may come from elsewhere than the words. A command that changes a team for good must name it. */
export function mayBeLeftOut(command: Command): boolean {
  const reads = command.scope === 'reader' || command.operation === undefined;
  return hasField(command.flags, 'teamId') || (reads && hasField(command.args, 'teamId'));
}
