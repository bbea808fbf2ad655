import type { RecordedTeam, RunRecord } from '../../../client/record.ts';
import { Replica } from '../../../client/replica.ts';
import type { Batch } from '../../../client/replica.ts';
import type { ResultOf } from '../../../operations/index.ts';
import { readDiffs } from './read-diffs.ts';
import type { Source } from './source.ts';

type Page = ResultOf<'transcript.read'>;

/** What a record has, to tell a person. */
export interface RecordSummary {
  readonly teams: number;
  readonly batches: number;
  readonly tasks: number;
  readonly messages: number;
  readonly diffs: number;
  /** Files whose lines are too many for a record. */
  readonly filesLeftOut: number;
}

/** A team and the teams inside of its members. */
export interface ReadRecord {
  readonly record: RunRecord;
  readonly summary: RecordSummary;
}

/** Reads a team as it is when this begins, with the teams inside of its members. */
export async function readRecord(
  open: (teamId: string) => Source,
  { teamId, transcripts }: { readonly teamId: string; readonly transcripts: boolean },
): Promise<ReadRecord> {
  const teams: RecordedTeam[] = [];
  const sum = { batches: 0, tasks: 0, messages: 0, diffs: 0, filesLeftOut: 0 };
  for (const waiting = [teamId], seen = new Set(waiting); waiting.length > 0;) {
    const id = waiting.shift() as string;
    const source = open(id);
    const lines = await source.read('team.list', {});
    const line = lines.find((one) => one.id === id);
    // It was deleted meanwhile.
    if (!line) continue;
    for (const { id: inner } of lines) if (!seen.has(inner)) waiting.push((seen.add(inner), inner));
    const { team, state, leftOut } = await readTeam(source, line, transcripts);
    teams.push(team);
    sum.batches += team.batches.length;
    sum.tasks += state.tasks.size;
    sum.messages += state.messages.size;
    sum.diffs += team.diffs.length;
    sum.filesLeftOut += leftOut;
  }
  return { record: { teams }, summary: { teams: teams.length, ...sum } };
}

async function readTeam(source: Source, line: RecordedTeam['line'], transcripts: boolean) {
  const replica = new Replica(source.teamId);
  for (const batch of await readBatches(source, line.seq)) replica.apply(batch);
  const { live: state, batches } = replica;
  const { diffs, leftOut } = await readDiffs(source, state);
  const own = [...state.members.values()].filter(({ workspace }) => workspace === 'own').map(({ id }) => id);
  const team: RecordedTeam = {
    line,
    stream: line.createdAt,
    batches,
    diffs,
    work: await collect(own, async (memberId) => {
      // Its folder may be on another machine, or gone.
      return source.read('work.show', { memberId }).catch(() => undefined);
    }),
    ...(transcripts && {
      transcripts: await collect([...state.members.keys()], (memberId) => readTranscript(source, memberId)),
      gates: await collect([...state.tasks.keys()], (taskId) => readGate(source, taskId)),
    }),
  };
  return { team, state, leftOut };
}

/** All batches up to one, so that a running team is shown at one moment. */
async function readBatches(source: Source, until: number): Promise<Batch[]> {
  const batches: Batch[] = [];
  while (batches.length < until) {
    if (batches.length > 0) source.tell(`reads event ${batches.length} of ${until}`);
    const asked = { after: batches.length, limit: Math.min(10_000, until - batches.length) };
    const { answer } = await source.page('event.list', asked);
    if (answer.length === 0) break;
    batches.push(...(answer as unknown as Batch[]));
  }
  return batches;
}

/** All pages of all sessions of a member, the oldest first. */
async function readTranscript(source: Source, memberId: string): Promise<readonly Page[] | undefined> {
  const newest = await source.read('transcript.read', { memberId, tail: true }).catch(() => undefined);
  if (!newest || newest.session === null) return undefined;
  const pages: Page[] = [];
  for (const session of [...(newest.earlier ?? []), newest.session]) {
    for (let after = 0; ;) {
      source.tell(`reads the transcript of ${memberId}`);
      const page = await source.read('transcript.read', { memberId, session, after });
      pages.push(page);
      if (page.after === after || page.after >= (page.size ?? 0)) break;
      ({ after } = page);
    }
  }
  return pages;
}

async function readGate(source: Source, taskId: string): Promise<readonly ResultOf<'gate.runs'>[] | undefined> {
  const pages: ResultOf<'gate.runs'>[] = [];
  for (let after = 0; ;) {
    const page = await source.read('gate.runs', { taskId, after }).catch(() => undefined);
    if (page && page.entries.length > 0) pages.push(page);
    if (!page || page.after === after || page.after >= (page.size ?? 0)) return pages.length > 0 ? pages : undefined;
    ({ after } = page);
  }
}

/** What is there of each, by id. */
async function collect<T>(
  ids: readonly string[],
  read: (id: string) => Promise<T | undefined>,
): Promise<Record<string, T>> {
  const all: [string, T][] = [];
  for (const id of ids) {
    const found = await read(id);
    if (found !== undefined) all.push([id, found]);
  }
  return Object.fromEntries(all);
}
