/** The draft of a message to a member. It is kept for this tab, so it survives a visit to another page and a reload. */
export function readDraft(teamId: string, memberId: string): string {
  return sessionStorage.getItem(keyOf(teamId, memberId)) ?? '';
}

export function keepDraft(teamId: string, memberId: string, text: string): void {
  const key = keyOf(teamId, memberId);
  if (text === '') return sessionStorage.removeItem(key);
  try {
    sessionStorage.setItem(key, text);
  } catch {
    // If the browser has no space for the text, only the box keeps it, for as long as it is shown.
  }
}

function keyOf(teamId: string, memberId: string): string {
  return `draft ${teamId}/${memberId}`;
}
