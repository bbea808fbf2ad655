import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { TeamError } from '../core/errors.ts';
import { parse } from '../core/parse.ts';
import { quote, Slug } from '../core/text.ts';
import { requireMember, requireTeam } from '../core/view.ts';
import { InTeam, Wait } from './inputs.ts';
import { operation } from './operation.ts';
import type { DaemonService } from './operation.ts';
import { requireSight } from './visible.ts';

const Entry = z.looseObject({ at: z.number(), type: z.string() });

/** The size of one page; a reader asks again for more. */
const PAGE_BYTES = 256 * 1024;

/** Another process writes the transcript, so we can only poll the file. */
const LOOK_MS = 100;

/** How long another daemon may take to answer, in addition to the requested wait. */
const ANSWER_MS = 5_000;

const From = InTeam.extend({
  memberId: Slug.describe('the member'),
  session: z
    .string()
    .regex(/^[A-Za-z0-9._-]+$/)
    .optional()
    .describe('the session (default: the newest)'),
  after: z.number().int().min(0).default(0).describe('the place where the last answer ended'),
  tail: z.boolean().default(false).describe('only the last page'),
  ...Wait,
});

const Page = z.object({
  session: z.string().nullable(),
  after: z.number().int(),
  entries: z.array(Entry),
  earlier: z.array(z.string()).optional().describe('earlier sessions, oldest first'),
});

export const transcriptOperations = [
  operation({
    name: 'transcript.read',
    summary: 'Read the transcript of a member, from a given place',
    scope: 'reader',
    long: true,
    input: From,
    result: Page,
    route: 'GET /api/teams/:teamId/members/:memberId/transcript',
    cli: { args: ['memberId'], examples: ['troupe transcript read worker-1 --team demo --tail --json'] },
    run: async (context, { teamId, memberId, ...from }) => {
      // It contains the mail that the member got.
      requireSight(context, 'transcript', memberId);
      const { ledger, daemon, signal } = context;
      const hostId = await ledger.view(teamId, (state) => {
        requireTeam(state);
        return requireMember(state, memberId).hostId;
      });
      // It is on the machine that runs the member; that daemon reads it for us, page by page.
      const timeoutMs = (from.wait ?? 0) + ANSWER_MS;
      const answer =
        hostId === undefined ? undefined : await daemon.askHost?.(hostId, { teamId, memberId, ...from }, { timeoutMs });
      if (answer !== undefined) return Page.parse(answer);
      return readTranscript(daemon.transcriptFolder(teamId, memberId), from, signal);
    },
  }),
] as const;

/** Reads one of our transcripts for another daemon. */
export async function answerTranscript(daemon: DaemonService, question: unknown): Promise<z.output<typeof Page>> {
  const { teamId, memberId, ...from } = parse(From, question);
  return readTranscript(daemon.transcriptFolder(teamId, memberId), from, new AbortController().signal);
}

async function readTranscript(
  folder: string,
  { session, after, tail, wait = 0 }: Omit<z.output<typeof From>, 'teamId' | 'memberId'>,
  signal: AbortSignal,
): Promise<z.output<typeof Page>> {
  const end = performance.now() + wait;
  let first: string | undefined;
  for (;;) {
    const all = await listSessions(folder);
    const name = session ?? all.at(-1);
    first ??= name;
    // A session that starts while we wait is read from its beginning: `after` is a position in the previous one.
    const from = name === first ? after : 0;
    const page = name === undefined ? undefined : await readPage(join(folder, `${name}.jsonl`), from, tail);
    const done = performance.now() >= end || signal.aborted;
    if ((page && page.entries.length > 0) || done) {
      if (session !== undefined && !all.includes(session)) throw unknownSession(session, all);
      const earlier = name === undefined ? [] : all.slice(0, all.indexOf(name));
      return { session: name ?? null, after, entries: [], ...page, ...(earlier.length > 0 && { earlier }) };
    }
    await pause(LOOK_MS);
  }
}

/** How many sessions to name if the given one does not exist. */
const FEW = 5;

function unknownSession(session: string, all: readonly string[]): TeamError {
  const last = all.slice(-FEW).join(', ');
  const there = all.length > FEW ? `the last of ${all.length} are ${last}` : `there is ${last || 'none'}`;
  return new TeamError('not_found', `There is no transcript of a session ${quote(session)}; ${there}`);
}

/** Sessions of a member that have a transcript, in the order of their last write. */
async function listSessions(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  const dated = await Promise.all(names.map(async (name) => ({ name, at: (await stat(join(folder, name))).mtimeMs })));
  return dated.sort((a, b) => a.at - b.at).map(({ name }) => name.replace(/\.jsonl$/, ''));
}

/** Returns whole lines only: the last one may be incomplete. */
async function readPage(
  path: string,
  after: number,
  tail: boolean,
): Promise<{ after: number; entries: z.output<typeof Entry>[] }> {
  const file = await open(path).catch(() => undefined);
  if (!file) return { after, entries: [] };
  try {
    const { size } = await file.stat();
    // Transcripts are never truncated: a position beyond the end belongs to an earlier session.
    const start = after > size ? 0 : after;
    const from = tail ? Math.max(start, size - PAGE_BYTES) : start;
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(Math.min(PAGE_BYTES, Math.max(0, size - from))),
      0,
      undefined,
      from,
    );
    const text = buffer.subarray(0, bytesRead);
    const whole = text.subarray(0, text.lastIndexOf(10) + 1);
    const lines = whole
      .toString('utf8')
      .split('\n')
      .slice(tail && from > start ? 1 : 0);
    return { after: from + whole.length, entries: lines.flatMap((line) => parseEntry(line)) };
  } finally {
    await file.close();
  }
}

function parseEntry(line: string): z.output<typeof Entry>[] {
  try {
    const parsed = Entry.safeParse(JSON.parse(line));
    return parsed.success ? [parsed.data] : [];
  } catch {
    return [];
  }
}
