import { hereWith, teamPath } from './route.ts';

/** A place on a member's page: a message of its inbox, or an entry of its transcript. */
export type MemberPlace = { readonly message: string } | { readonly session: string; readonly place: number };

/** The address of a message or of an entry of a transcript. */
export function placePath(teamId: string, memberId: string, at: MemberPlace): string {
  const query =
    'message' in at
      ? new URLSearchParams({ tab: 'inbox', message: at.message })
      : new URLSearchParams({ tab: 'transcript', session: at.session, place: String(at.place) });
  return teamPath(teamId, `/m/${encodeURIComponent(memberId)}?${query.toString()}`);
}

/** The address of a note. */
export function notePath(teamId: string, noteId?: string): string {
  return teamPath(teamId, noteId === undefined ? '/notes' : `/notes?note=${encodeURIComponent(noteId)}`);
}

/** The address of a team at a moment. */
export function momentPath(teamId: string, seq: number): string {
  return teamPath(teamId, `?at=${seq}`);
}

/** The address of one file of the difference that the page shows. */
export function filePath(path: string): string {
  return hereWith({ file: path });
}
