/**
 * What somebody has begun to write to a member: kept for this tab, so that it is still there after a look elsewhere, also
 * when the page was loaded again meanwhile.
 */
export function readDraft(teamId: string, memberId: string): string {
  return sessionStorage.getItem(keyOf(teamId, memberId)) ?? '';
}

export function keepDraft(teamId: string, memberId: string, text: string): void {
  const key = keyOf(teamId, memberId);
  if (text === '') return sessionStorage.removeItem(key);
  try {
    sessionStorage.setItem(key, text);
  } catch {
    // A text for which the browser has no room is kept by the box alone, as long as that is there.
  }
}

function keyOf(teamId: string, memberId: string): string {
  return `draft ${teamId}/${memberId}`;
}
