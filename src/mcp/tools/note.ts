import { z } from 'zod';
import { indentText } from '../../core/envelope.ts';
import type { TeamNote } from '../../core/note.ts';
import type { ResultOf } from '../../operations/index.ts';
import { tool } from '../tool.ts';

/** How many notes a model reads at once. */
const SHOWN = 20;

export const noteTools = [
  tool({
    name: 'NoteAdd',
    description: 'Write down for the whole team what others should know: a finding, a decision, a trap.',
    for: 'member',
    input: z.strictObject({ text: z.string(), tags: z.array(z.string()).optional() }),
    run: async ({ call, teamId }, input) => {
      const note = await call<TeamNote>('note.add', { teamId, ...input }, { once: true });
      return { text: `Note ${note.id} added; the team finds it with NoteSearch.`, data: { note_id: note.id } };
    },
  }),

  tool({
    name: 'NoteSearch',
    description: 'Search the notes and the results of completed tasks; without a query, the newest notes.',
    for: 'reader',
    reads: true,
    input: z.strictObject({ query: z.string().optional() }),
    run: async ({ call, teamId }, { query }) => {
      const found = query?.trim()
        ? (await call<ResultOf<'note.search'>>('note.search', { teamId, query, limit: SHOWN })).map((hit) => ({
            source: `${hit.kind === 'note' ? 'note ' : 'task #'}${hit.id}`,
            by: hit.authorId,
            text: hit.kind === 'note' ? hit.text : `${hit.title}: ${hit.text}`,
          }))
        : (await call<TeamNote[]>('note.list', { teamId, limit: SHOWN })).map((note) => ({
            source: `note ${note.id}`,
            by: note.authorId,
            text: note.text,
          }));
      const lines = found.map(({ source, by, text }) => `[${source}, by ${by}] ${indentText(text)}`);
      const nothing = query?.trim() ? 'Nothing was found.' : 'There are no notes. Write one with NoteAdd.';
      return { text: lines.join('\n') || nothing, data: { found } };
    },
  }),
];
