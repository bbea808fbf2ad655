import { z } from 'zod';
import { Line, TaskId } from '../core/fields.ts';
import { NOTES_PER_TEAM } from '../core/limits.ts';
import { AddNoteInput, RemoveNoteInput, TeamNote, UpdateNoteInput } from '../core/note.ts';
import { requireNote, requireTeam } from '../core/view.ts';
import { InTeam } from './inputs.ts';
import { operation } from './operation.ts';
import { pageOf } from './page.ts';

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
    summary: 'Add a note for the whole team',
    scope: 'member',
    input: AddNoteInput.extend(InTeam.shape),
    result: TeamNote,
    route: 'POST /api/teams/:teamId/notes',
    cli: {
      args: ['text'],
      flags: { tags: 'tag' },
      examples: ['troupe note add "The API wants UTC" --team demo --tag api,time'],
    },
    run: ({ ledger, actor, once }, { teamId, ...input }) =>
      ledger.execute(teamId, { type: 'note.add', by: actor, ...once, ...input }, (state, events) => {
        const [added] = events;
        const id = added?.type === 'note:added' ? added.noteId : state.receipts.get(once.commandId ?? '')?.noteId;
        return requireNote(state, id ?? '');
      }),
  }),
  operation({
    name: 'note.list',
    summary: 'List the notes of the team',
    scope: 'reader',
    long: true,
    input: InTeam.extend({
      tag: Line.optional().describe('only notes with this tag'),
      after: TaskId.optional().describe('only notes with a greater id'),
      limit: z.number().int().min(1).max(NOTES_PER_TEAM).optional().describe('at most this many, from the newest'),
    }),
    result: z.array(TeamNote),
    route: 'GET /api/teams/:teamId/notes',
    cli: { examples: ['troupe note list --team demo --tag api'] },
    run: ({ ledger, more }, { teamId, tag, after = '0', limit }) =>
      ledger.view(teamId, (state) => {
        requireTeam(state);
        const notes = [...state.notes.values()].filter(
          ({ id, tags }) => Number(id) > Number(after) && (tag === undefined || tags.includes(tag)),
        );
        return pageOf(notes.slice(limit === undefined ? 0 : -limit), { more });
      }),
  }),
  operation({
    name: 'note.update',
    summary: 'Change one of your notes',
    scope: 'member',
    input: UpdateNoteInput.extend(InTeam.shape),
    result: TeamNote,
    route: 'PATCH /api/teams/:teamId/notes/:noteId',
    cli: {
      args: ['noteId', 'text'],
      flags: { tags: 'tag' },
      examples: ['troupe note update 1 "The API wants UTC, in seconds" --team demo'],
    },
    run: ({ ledger, actor, once }, { teamId, ...input }) =>
      ledger.execute(teamId, { type: 'note.update', by: actor, ...once, ...input }, (state) =>
        requireNote(state, input.noteId),
      ),
  }),
  operation({
    name: 'note.remove',
    summary: 'Remove one of your notes',
    scope: 'member',
    input: RemoveNoteInput.extend(InTeam.shape),
    result: z.object({ noteId: z.string(), removed: z.literal(true) }),
    route: 'DELETE /api/teams/:teamId/notes/:noteId',
    cli: { args: ['noteId'], examples: ['troupe note remove 1 --team demo'] },
    run: ({ ledger, actor, once }, { teamId, noteId }) =>
      ledger.execute(teamId, { type: 'note.remove', by: actor, ...once, noteId }, () => ({
        noteId,
        removed: true as const,
      })),
  }),
  operation({
    name: 'note.search',
    summary: 'Search the notes and task results of the team',
    scope: 'reader',
    long: true,
    input: InTeam.extend({
      query: Line.min(1).describe('what to look for'),
      limit: z.number().int().min(1).max(100).default(10).describe('at most this many'),
    }),
    result: z.array(MemoryHit),
    route: 'GET /api/teams/:teamId/search',
    cli: { args: ['query'], examples: ['troupe note search "time zone" --team demo'] },
    run: ({ memory }, { teamId, query, limit }) => memory.search(teamId, query, limit),
  }),
] as const;
