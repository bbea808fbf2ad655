import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { matcherOf } from '../core/excerpt.ts';
import { Slug } from '../core/fields.ts';
import type { TeamMessage } from '../core/message.ts';
import { hitOf, rankOf, SearchHit, searchableMessage, searchablesOf, SearchKind } from '../core/search.ts';
import type { Searchable } from '../core/search.ts';
import type { TeamState } from '../core/state.ts';
import { requireTeam } from '../core/view.ts';
import { operation } from './operation.ts';
import type { Context } from './operation.ts';
import { searchMember } from './transcript.ts';
import { maySeeMessage, seesAll } from './visible.ts';

/** How long teams are searched, and then how long transcripts are. */
const TEAMS_MS = 1_000;
const TRANSCRIPTS_MS = 1_500;

/** How long a search may keep the daemon from everything else. */
const SLICE_MS = 10;

/** How many hits of one member's transcripts are shown, so that others are found, too. */
const PER_MEMBER = 4;

/** What was found, and what was not looked at. */
const SearchResult = z.object({
  hits: z.array(SearchHit).describe('by kind; of each kind the best match first, then the newest'),
  more: z.array(SearchKind).describe('kinds with more hits than the answer has'),
  unfinished: z
    .array(SearchKind)
    .describe('kinds that were not searched to the end, because the time was up or there were enough hits'),
});
type SearchResult = z.output<typeof SearchResult>;

export const searchOperations = [
  operation({
    name: 'team.search',
    summary: 'Find a text in teams, tasks, members, notes, messages and transcripts',
    scope: 'reader',
    long: true,
    input: z.strictObject({
      text: z.string().trim().min(1).max(200).describe('what to find, whatever its case'),
      teamId: Slug.optional().describe('only in this team (default: in all)'),
      limit: z.number().int().min(1).max(100).default(10).describe('at most this many of each kind'),
    }),
    result: SearchResult,
    route: 'GET /api/search',
    cli: {
      command: 'search',
      args: ['text'],
      examples: ['troupe search "time zone"', 'troupe search AssertionError --team demo --json'],
    },
    run: search,
  }),
] as const;

interface Wanted {
  readonly text: string;
  readonly teamId?: string | undefined;
  readonly limit: number;
}

/** What is searched of one team. */
interface Part {
  readonly teamId: string;
  readonly things: readonly Searchable[];
  readonly messages: readonly TeamMessage[];
  /** Members whose transcripts the caller may read, the last active first. */
  readonly memberIds: readonly string[];
  readonly at: number;
}

async function search(context: Context, wanted: Wanted): Promise<SearchResult> {
  const parts = await gather(context, wanted.teamId);
  const found = new Found(wanted);
  const pace = makePace(TEAMS_MS, context.signal);
  for (const { things } of parts) {
    for (const thing of things) {
      if (!(await pace())) return found.answer(['task', 'member', 'note', 'message', 'transcript']);
      found.look(thing);
    }
  }
  const isThrough = await searchMessages(parts, found, pace);
  const isRead = await searchTranscripts(context, parts, found);
  return found.answer([...(isThrough ? [] : ['message' as const]), ...(isRead ? [] : ['transcript' as const])]);
}

/** Everything that the caller may see, of the teams that it may see. A team that cannot be read is left out. */
async function gather(context: Context, teamId: string | undefined): Promise<Part[]> {
  const { ledger, caller } = context;
  const pick = (state: TeamState): Part => partOf(context, state);
  if (teamId !== undefined) return [await ledger.view(teamId, (state) => (requireTeam(state), pick(state)))];
  const of = (one: string): boolean => caller.teamId === undefined || caller.teamId === one;
  const parts = await ledger.viewAll<Part | undefined>(pick, { of, unreadable: () => undefined });
  return parts.filter((part) => part !== undefined).toSorted((a, b) => b.at - a.at);
}

function partOf({ caller, actor }: Context, state: TeamState): Part {
  const things = [...searchablesOf(state)];
  const members = things.filter(({ kind }) => kind === 'member').toSorted(newestFirst);
  return {
    teamId: state.teamId,
    things,
    messages: [...state.messages.values()].filter((message) => maySeeMessage(caller, actor, message)),
    memberIds: members.flatMap(({ id }) => (id === actor || seesAll(caller) ? id : [])),
    at: Math.max(0, ...members.map(({ at }) => at?.getTime() ?? 0)),
  };
}

/** The newest first, because there may not be time for all. A broadcast counts once. */
async function searchMessages(parts: readonly Part[], found: Found, pace: Pace): Promise<boolean> {
  for (const { messages } of parts) {
    const broadcasts = new Set<string>();
    for (const message of messages.toReversed()) {
      if (!(await pace())) return false;
      const { broadcastId } = message;
      if (broadcastId !== undefined && broadcasts.has(broadcastId)) continue;
      if (broadcastId !== undefined) broadcasts.add(broadcastId);
      found.look(searchableMessage(message));
    }
  }
  return true;
}

/** Reads transcripts until there are enough hits or the time is up. Returns whether all were read to their end. */
async function searchTranscripts(context: Context, parts: readonly Part[], found: Found): Promise<boolean> {
  const end = performance.now() + TRANSCRIPTS_MS;
  for (const { teamId, memberIds } of parts) {
    for (const memberId of memberIds) {
      let of = 0;
      let next: { readonly session: string; readonly after: number } | undefined;
      do {
        if (performance.now() >= end || context.signal.aborted || found.isFull) return false;
        const patience = end - performance.now();
        // A machine that does not answer in time has transcripts that nobody looked at.
        const search = { teamId, memberId, text: found.text, after: 0, ...next };
        const part = await searchMember(context, search, patience).catch(() => undefined);
        if (!part) return false;
        for (const hit of part.hits) {
          of++;
          found.add({ teamId, memberId, ...hit }, of > PER_MEMBER);
        }
        next = of > PER_MEMBER ? undefined : part.next;
      } while (next);
    }
  }
  return true;
}

/** Resolves to false when the time is up; lets others go on now and then. */
type Pace = () => Promise<boolean> | boolean;

const LOOKS = 16;

function makePace(ms: number, signal: AbortSignal): Pace {
  const end = performance.now() + ms;
  let slice = performance.now() + SLICE_MS;
  let looks = 0;
  return () => {
    if (++looks % LOOKS !== 0) return true;
    const now = performance.now();
    if (now >= end || signal.aborted) return false;
    if (now < slice) return true;
    return nextTurn().then(() => {
      slice = performance.now() + SLICE_MS;
      return true;
    });
  };
}

function newestFirst(a: { readonly at: Date | undefined }, b: { readonly at: Date | undefined }): number {
  return (b.at?.getTime() ?? 0) - (a.at?.getTime() ?? 0);
}

/** Where a transcript has the text. */
interface TranscriptHit {
  readonly teamId: string;
  readonly memberId: string;
  readonly session: string;
  readonly place: number;
  readonly at: number;
  readonly before: string;
  readonly match: string;
  readonly after: string;
}

/** The best hits of each kind. */
class Found {
  readonly text: string;
  readonly #limit: number;
  readonly #wanted: RegExp;
  readonly #ranked: { readonly rank: number; readonly thing: Searchable; readonly at: Date | undefined }[] = [];
  readonly #transcripts: SearchHit[] = [];
  #hasMoreTranscripts = false;

  constructor({ text, limit }: Wanted) {
    this.text = text;
    this.#limit = limit;
    this.#wanted = matcherOf(text);
  }

  /** Whether there are enough hits in transcripts. */
  get isFull(): boolean {
    return this.#transcripts.length >= this.#limit;
  }

  look(thing: Searchable): void {
    const rank = rankOf(thing, this.text, this.#wanted);
    if (rank !== undefined) this.#ranked.push({ rank, thing, at: thing.at });
  }

  add({ session, at, ...hit }: TranscriptHit, isExtra: boolean): void {
    if (isExtra || this.isFull) {
      this.#hasMoreTranscripts = true;
      return;
    }
    const { memberId, teamId, place, before, match, after } = hit;
    const title = `Transcript of ${memberId}`;
    this.#transcripts.push({
      kind: 'transcript',
      teamId,
      id: session,
      title,
      memberId,
      place,
      at: new Date(at),
      before,
      match,
      after,
    });
  }

  answer(unfinished: SearchKind[]): SearchResult {
    const hits: SearchHit[] = [];
    const more: SearchKind[] = [];
    const byKind = Map.groupBy(this.#ranked, ({ thing }) => thing.kind);
    for (const kind of SearchKind.options) {
      if (kind === 'transcript') continue;
      const all = (byKind.get(kind) ?? []).toSorted((a, b) => a.rank - b.rank || newestFirst(a, b));
      if (all.length > this.#limit) more.push(kind);
      hits.push(...all.slice(0, this.#limit).map(({ thing }) => hitOf(thing, this.#wanted)));
    }
    if (this.#hasMoreTranscripts) more.push('transcript');
    return { hits: [...hits, ...this.#transcripts], more, unfinished };
  }
}
