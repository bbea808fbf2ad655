import { z } from 'zod';
import { AddNoteInput, RemoveNoteInput, TeamNote, UpdateNoteInput } from '../core/note.ts';
import { Line } from '../core/text.ts';
import { requireNote, requireTeam } from '../core/view.ts';
import { InTeam } from './inputs.ts';
import { operation } from './operation.ts';

const MemoryHit = z.object({
  kind: z.enum(['note', 'result']),
  id: z.string(),
  title: z.string(),
  text: z.string(),
  authorId: z.string(),
  score: z.number(),
});

export const noteOperations = [
  operation({
    name: 'note.add',
    summary: 'Write something down for the whole team',
    scope: 'member',
    input: AddNoteInput.extend(InTeam.shape),
    result: TeamNote,
    route: 'POST /api/teams/:teamId/notes',
    cli: { args: ['text'], flags: { tags: 'tag' } },
    run: ({ ledger, actor, once }, { teamId, ...input }) =>
      ledger.execute(teamId, { type: 'note.add', by: actor, ...once, ...input }, (state, events) => {
        const [added] = events;
        const id = added?.type === 'note:added' ? added.noteId : state.receipts.get(once.commandId ?? '')?.noteId;
        return requireNote(state, id ?? '');
      }),
  }),
  operation({
    name: 'note.list',
    summary: 'List what the team wrote down',
    scope: 'reader',
    long: true,
    input: InTeam.extend({ tag: Line.optional(), limit: z.number().int().min(1).max(10_000).optional() }),
    result: z.array(TeamNote),
    route: 'GET /api/teams/:teamId/notes',
    run: ({ ledger }, { teamId, tag, limit }) =>
      ledger.view(teamId, (state) => {
        requireTeam(state);
        const notes = [...state.notes.values()].filter((note) => tag === undefined || note.tags.includes(tag));
        return notes.slice(limit === undefined ? 0 : -limit);
      }),
  }),
  operation({
    name: 'note.update',
    summary: 'Change a note of your own',
    scope: 'member',
    input: UpdateNoteInput.extend(InTeam.shape),
    result: TeamNote,
    route: 'PATCH /api/teams/:teamId/notes/:noteId',
    cli: { args: ['noteId', 'text'], flags: { tags: 'tag' } },
    run: ({ ledger, actor, once }, { teamId, ...input }) =>
      ledger.execute(teamId, { type: 'note.update', by: actor, ...once, ...input }, (state) =>
        requireNote(state, input.noteId),
      ),
  }),
  operation({
    name: 'note.remove',
    summary: 'Take a note of your own out',
    scope: 'member',
    input: RemoveNoteInput.extend(InTeam.shape),
    result: z.object({ noteId: z.string(), removed: z.literal(true) }),
    route: 'DELETE /api/teams/:teamId/notes/:noteId',
    cli: { args: ['noteId'] },
    run: ({ ledger, actor, once }, { teamId, noteId }) =>
      ledger.execute(teamId, { type: 'note.remove', by: actor, ...once, noteId }, () => ({
        noteId,
        removed: true as const,
      })),
  }),
  operation({
    name: 'note.search',
    summary: 'Search what the team wrote down and what its tasks produced',
    scope: 'reader',
    long: true,
    input: InTeam.extend({ query: Line.min(1), limit: z.number().int().min(1).max(100).default(10) }),
    result: z.array(MemoryHit),
    route: 'GET /api/teams/:teamId/search',
    cli: { args: ['query'] },
    run: ({ memory }, { teamId, query, limit }) => memory.search(teamId, query, limit),
  }),
] as const;
