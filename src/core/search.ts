import { z } from 'zod';
import { excerptOf } from './excerpt.ts';
import type { TeamMessage } from './message.ts';
import { isVacant } from './person.ts';
import type { TeamState } from './state.ts';
import { firstLine, inOneLine, shorten } from './text.ts';
import { Timestamp } from './time.ts';

/** What a search looks for, in the order of its answer. */
export const SearchKind = z.enum(['team', 'task', 'member', 'note', 'message', 'transcript']);
export type SearchKind = z.infer<typeof SearchKind>;

/** One thing that was found, and where it is. */
export const SearchHit = z.object({
  kind: SearchKind,
  teamId: z.string(),
  id: z.string().describe('of the team, task, member, note or message; of a transcript, the session'),
  title: z.string().describe('its name, title or first line'),
  memberId: z.string().optional().describe('whose inbox or transcript it is in'),
  place: z.number().int().optional().describe('of a transcript: the place of the entry'),
  at: Timestamp.optional().describe('when it was written or last changed'),
  before: z.string().describe('the text before the match'),
  match: z.string(),
  after: z.string(),
});
export type SearchHit = z.output<typeof SearchHit>;

/** Something of a team that a search compares with its text. */
export interface Searchable {
  readonly kind: Exclude<SearchKind, 'transcript'>;
  readonly teamId: string;
  readonly id: string;
  readonly title: string;
  /** Other names, which match only as a whole. */
  readonly names: readonly string[];
  /** What is written in it, besides the title. */
  readonly texts: readonly (string | undefined)[];
  readonly at: Date;
  readonly memberId?: string;
}

const TITLE_CHARS = 160;

/** What a caller may find in a team, except its messages: all members see it. */
export function* searchablesOf(state: TeamState): Generator<Searchable> {
  const { team, teamId } = state;
  if (!team) return;
  yield {
    kind: 'team',
    teamId,
    id: teamId,
    title: teamId,
    names: [],
    texts: [team.description],
    at: team.createdAt,
  };
  for (const member of state.members.values()) {
    if (isVacant(member)) continue;
    const { id, role, model, statusSince } = member;
    yield { kind: 'member', teamId, id, title: id, names: [], texts: [role, model], at: statusSince };
  }
  for (const task of state.tasks.values()) {
    if (task.status === 'deleted') continue;
    const { id, title, description, result, failure, feedback, files, updatedAt } = task;
    yield {
      kind: 'task',
      teamId,
      id,
      title,
      names: [id, `#${id}`, `t-${id}`],
      texts: [description, result, failure, feedback, files?.join(', ')],
      at: updatedAt,
    };
  }
  for (const { id, text, tags, updatedAt } of state.notes.values()) {
    yield {
      kind: 'note',
      teamId,
      id,
      title: firstLine(text.trimStart()),
      names: [],
      texts: [text, tags.join(', ')],
      at: updatedAt,
    };
  }
}

/** A message as a search sees it. */
export function searchableMessage(message: TeamMessage): Searchable {
  const { id, teamId, toId, summary, content, sentAt } = message;
  const title = summary ?? firstLine(content.trimStart());
  return { kind: 'message', teamId, id, title, names: [], texts: [content], at: sentAt, memberId: toId };
}

/** How well something matches: 0 is best; undefined if it does not. Equal ones are ordered by their time. */
export function rankOf({ id, title, names, texts }: Searchable, text: string, wanted: RegExp): number | undefined {
  const typed = text.toLowerCase();
  if (id.toLowerCase() === typed || names.includes(typed)) return 0;
  const place = title.search(wanted);
  if (place === 0) return 1;
  if (place > 0) return 2;
  return texts.some((one) => one !== undefined && wanted.test(one)) ? 3 : undefined;
}

/** What was found, as the answer has it. A match by id alone shows the beginning of the title. */
export function hitOf(found: Searchable, wanted: RegExp): SearchHit {
  const { kind, teamId, id, title, texts, at, memberId } = found;
  const excerpt = [title, ...texts].flatMap((one) => (one === undefined ? [] : (excerptOf(one, wanted) ?? [])))[0];
  return {
    kind,
    teamId,
    id,
    title: shorten(inOneLine(title), TITLE_CHARS),
    ...(memberId !== undefined && { memberId }),
    at,
    ...(excerpt ?? { before: '', match: '', after: '' }),
  };
}
