import type { CommandOf } from '../command.ts';
import { TeamError } from '../errors.ts';
import { event } from '../event.ts';
import type { TeamEvent } from '../event.ts';
import { NOTES_PER_TEAM } from '../limits.ts';
import type { TeamNote } from '../note.ts';
import type { TeamState } from '../state.ts';
import { requireNote } from '../view.ts';
import { requireActor, requireManager, requireOpenTeam } from './guard.ts';

export function addNote(state: TeamState, command: CommandOf<'note.add'>): TeamEvent[] {
  requireOpenTeam(state);
  requireActor(state, command.by);
  if (state.notes.size >= NOTES_PER_TEAM) {
    throw new TeamError('limit', `Team ${state.teamId} has ${NOTES_PER_TEAM} notes, the limit: remove some`);
  }
  return [event(command, 'note:added', { noteId: String(state.nextNote), text: command.text, tags: command.tags })];
}

export function updateNote(state: TeamState, command: CommandOf<'note.update'>): TeamEvent[] {
  const { noteId, text, tags, revision } = command;
  const note = writable(state, command);
  if (revision !== undefined && revision !== note.revision) {
    throw new TeamError(
      'stale_revision',
      `Note ${noteId} is at revision ${note.revision}, not ${revision}: read it again`,
    );
  }
  return [event(command, 'note:updated', { noteId, text, tags })];
}

export function removeNote(state: TeamState, command: CommandOf<'note.remove'>): TeamEvent[] {
  return [event(command, 'note:removed', { noteId: writable(state, command).id })];
}

/** The note, if the caller wrote it or is a manager. */
function writable(state: TeamState, command: CommandOf<'note.update' | 'note.remove'>): TeamNote {
  requireOpenTeam(state);
  const note = requireNote(state, command.noteId);
  requireManager(state, command.by, `change the note of ${note.authorId}`, note.authorId);
  return note;
}
