import type { Input } from '../command.ts';

/** A team that must be said. */
export const TEAM: Input = { field: 'teamId', name: 'team', type: 'string', text: 'the team', required: true };

/** A team that may be left out: then it is about all that are open. */
export const OPTIONAL_TEAM: Input = { field: 'teamId', name: 'team', type: 'string', text: 'the team' };

/** A member that may be left out. */
export const OPTIONAL_MEMBER: Input = { field: 'memberId', name: 'member', type: 'string', text: 'the member' };

/** A member that must be said. */
export const MEMBER: Input = { ...OPTIONAL_MEMBER, text: 'the member; troupe ps lists those that run', required: true };
