import { CallError } from '../../src/client/client.ts';
import type { CallOptions, Client } from '../../src/client/client.ts';
import type { RecordedDiff, RecordedSides, RecordedTeam, RunRecord } from '../../src/client/record.ts';
import { Replica, takeSnapshot } from '../../src/client/replica.ts';
import type { Batch } from '../../src/client/replica.ts';
import type { InputOf, OperationName, ResultOf } from '../../src/operations/index.ts';
import { recordElement } from './head.ts';
import { transcriptPage } from './transcripts.ts';

let read: Promise<RunRecord> | undefined;

/** Answers a call from the record. What a record does not have is refused, as a daemon refuses it. */
export async function callRecord<N extends OperationName>(
  name: N,
  input: InputOf<N>,
  options: CallOptions = {},
): Promise<ResultOf<N>> {
  const answer: Answer<N> | undefined = ANSWERS[name];
  if (!answer) throw new CallError('unsupported', 'This page is a record: it has no daemon that could do that');
  const { teams } = await (read ??= readRecord());
  // Nothing more happens in a record.
  if ('wait' in (input as object)) await never(options.signal);
  return answer(input, teams, options);
}

/** Yields the recorded batches. Then nothing more comes. */
export const followRecord: Client['subscribe'] = async function* follow(teamId, options) {
  const { after = 0, signal, onStand } = options ?? {};
  const { batches } = await teamOf(teamId);
  onStand?.(batches.length);
  for (const batch of batches.slice(after)) yield { type: 'events', teamId, ...batch };
  await never(signal).catch(() => undefined);
};

type Answer<N extends OperationName> = (
  input: InputOf<N>,
  teams: readonly RecordedTeam[],
  options: CallOptions,
) => ResultOf<N> | Promise<ResultOf<N>>;

const ANSWERS: { readonly [N in OperationName]?: Answer<N> } = {
  'team.list': (_input, teams) => teams.map(({ line }) => line),
  'event.snapshot': async ({ teamId }) => {
    const { batches, stream } = await teamOf(teamId);
    const { live, seq } = replay(teamId, batches);
    return { seq, stream, body: takeSnapshot(live) };
  },
  'event.list': async ({ teamId, after = 0, limit = 1_000 }) =>
    (await teamOf(teamId)).batches.slice(after, after + limit) as unknown as ResultOf<'event.list'>,
  'work.show': async ({ teamId, memberId = '' }) =>
    (await teamOf(teamId)).work[memberId] ?? absent(`the workspace of ${memberId}`),
  'work.files': async ({ teamId, after: _after, ...sides }) => (await diffOf(teamId, sides)).files,
  'work.lines': async ({ teamId, from, to, path }) => {
    const { lines } = await diffOf(teamId, { from, to });
    return (
      lines[path] ?? absent('the lines of this file, which are too many. `troupe diff` shows them where the team is')
    );
  },
  'transcript.read': async ({ teamId, memberId, ...part }) =>
    transcriptPage((await teamOf(teamId)).transcripts?.[memberId] ?? [], part),
  'gate.runs': async ({ teamId, taskId, after = 0 }) =>
    (await teamOf(teamId)).gates?.[taskId]?.find((page) => page.after > after) ?? { entries: [], after, size: after },
};

/** The difference between these sides. A page asks by a name first, and then by the commits of the answer. */
async function diffOf(teamId: string, sides: RecordedSides): Promise<RecordedDiff> {
  const { diffs } = await teamOf(teamId);
  const wanted = keyOf(sides);
  const found = diffs.find(
    ({ asked, files: { from, to } }) =>
      (from === sides.from && to === sides.to) || asked.some((one) => keyOf(one) === wanted),
  );
  return found ?? absent('this difference. It has those of the branch, of tasks, and of members when it was exported');
}

function keyOf({ of, before, from, to }: RecordedSides): string {
  return JSON.stringify([of, before, from, to]);
}

function replay(teamId: string, batches: readonly Batch[]): Replica {
  const replica = new Replica(teamId);
  for (const batch of batches) replica.apply(batch);
  return replica;
}

async function teamOf(teamId: string): Promise<RecordedTeam> {
  const { teams } = await (read ??= readRecord());
  return teams.find(({ line }) => line.id === teamId) ?? absent(`team ${teamId}`);
}

function absent(what: string): never {
  throw new CallError('not_found', `This record does not have ${what}`);
}

async function readRecord(): Promise<RunRecord> {
  const packed = Uint8Array.from(atob(recordElement?.textContent.trim() ?? ''), (char) => char.codePointAt(0) ?? 0);
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return (await new Response(plain).json()) as RunRecord;
}

/** Ends only with the signal. */
function never(signal: AbortSignal | undefined): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  const end = (): void => reject(new DOMException('The call was cancelled', 'AbortError'));
  if (signal?.aborted) end();
  else signal?.addEventListener('abort', end, { once: true });
  return promise;
}
