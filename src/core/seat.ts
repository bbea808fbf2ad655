/**
 * Whether this is the place of the lead in a team that nobody leads. It is there so that mail and rules have a lead to name;
 * nobody sits in it, so it is no member to show or to count.
 */
export function isEmptySeat({ agent, agentType }: { readonly agent?: unknown; readonly agentType: string }): boolean {
  return agent === undefined && agentType === 'none';
}

/** Whether a member is a person, of whom nobody but the person knows what it does. */
export function isPerson({ agent, agentType }: { readonly agent?: unknown; readonly agentType: string }): boolean {
  return agent === undefined && agentType === 'person';
}
