/**
 * Whether this is the lead's place in a team without a lead. It exists so that mail and rules can name a lead. It is
 * not shown or counted as a member.
 */
export function isVacant({ agent, agentType }: { readonly agent?: unknown; readonly agentType: string }): boolean {
  return agent === undefined && agentType === 'none';
}

/** Whether a member is a person; Troupe cannot know what a person is doing. */
export function isPerson({ agent, agentType }: { readonly agent?: unknown; readonly agentType: string }): boolean {
  return agent === undefined && agentType === 'person';
}
