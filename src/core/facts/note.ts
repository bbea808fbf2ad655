import { putNextNote, putNote } from '../tables.ts';
import type { ApplyTo } from './apply.ts';

export const NOTE_FACTS: ApplyTo<'note'> = {
  'note:added': (state, { at, by, noteId, text, tags }) => {
    const now = new Date(at);
    putNextNote(state, Number(noteId) + 1);
    putNote(state, noteId, {
      id: noteId,
      teamId: state.teamId,
      authorId: by,
      text,
      tags,
      createdAt: now,
      updatedAt: now,
      revision: 1,
    });
  },

  'note:updated': (state, { at, noteId, text, tags }) => {
    const note = state.notes.get(noteId);
    if (!note) return;
    putNote(state, noteId, {
      ...note,
      text: text ?? note.text,
      tags: tags ?? note.tags,
      updatedAt: new Date(at),
      revision: note.revision + 1,
    });
  },

  'note:removed': (state, { noteId }) => putNote(state, noteId, undefined),
};
