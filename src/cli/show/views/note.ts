import type { ResultOf } from '../../../operations/index.ts';
import type { Screen } from '../screen.ts';
import { table } from '../table.ts';
import type { Cell } from '../table.ts';
import { clean } from '../text.ts';
import { showTime } from '../time.ts';
import { taskName } from '../words.ts';
import type { Views } from './views.ts';

export const views: Views = {
  'note.add': (note) => `Note ${clean(note.id)} added.\n`,
  'note.update': (note) => `Note ${clean(note.id)} changed.\n`,
  'note.remove': ({ noteId }) => `Note ${clean(noteId)} is removed.\n`,
  'note.list': (notes, screen, { teamId, tag }) => {
    if (notes.length > 0) return noteTable(notes, screen);
    const add = `troupe notes add "..." --team ${clean(String(teamId))}`;
    return tag === undefined ? `There are no notes yet: ${add}\n` : 'There are no such notes.\n';
  },
  'note.search': (hits, screen) => (hits.length === 0 ? 'Nothing was found.\n' : hitTable(hits, screen)),
};

function noteTable(notes: ResultOf<'note.list'>, screen: Screen): string {
  const rows = notes.map((note): Cell[] => [
    note.id,
    note.authorId,
    { text: showTime(note.updatedAt, screen), style: 'dim' },
    { text: note.tags.join(', '), style: 'cyan' },
    note.text,
  ]);
  const columns = [
    { title: '#', align: 'right' },
    { title: 'BY' },
    { title: 'CHANGED', spare: 2 },
    { title: 'TAGS', spare: 1 },
    { title: 'TEXT', flexible: true },
  ] as const;
  return table(columns, rows, screen);
}

/** The hits, best first. */
function hitTable(hits: ResultOf<'note.search'>, screen: Screen): string {
  const rows = hits.map((hit): Cell[] => [
    hit.kind === 'note' ? `note ${hit.id}` : `task ${taskName(hit.id)}`,
    hit.authorId ?? '',
    hit.kind === 'note' ? hit.text : `${hit.title}: ${hit.text}`,
  ]);
  return table(
    [{ title: 'FOUND IN' }, { title: 'BY', spare: 1 }, { title: 'TEXT', flexible: true }] as const,
    rows,
    screen,
  );
}
