import { z } from 'zod';
import { parse } from '../core/parse.ts';
import { requireMember, requireTeam } from '../core/view.ts';
import { operation } from './operation.ts';
import type { Context, DaemonService } from './operation.ts';
import { readText, readTranscript, searchTranscripts } from './transcript-reader.ts';
import {
  TextPart,
  TranscriptHits,
  TranscriptPage,
  TranscriptPart,
  TranscriptSearch,
  TranscriptText,
} from './transcript-schemas.ts';
import { requireSight } from './visible.ts';

/** How long another daemon may take to answer, in addition to the requested wait. */
const ANSWER_MS = 5_000;

export const transcriptOperations = [
  operation({
    name: 'transcript.read',
    summary: 'Read the transcript of a member, from a given place on or up to one',
    scope: 'reader',
    long: true,
    input: TranscriptPart,
    result: TranscriptPage,
    route: 'GET /api/teams/:teamId/members/:memberId/transcript',
    cli: { args: ['memberId'], examples: ['troupe transcript read worker-1 --team demo --tail --json'] },
    run: async (context, read) => TranscriptPage.parse(await ask(context, { ask: 'read', read })),
  }),
  operation({
    name: 'transcript.search',
    summary: 'Find a text in the transcripts of a member, oldest first',
    scope: 'reader',
    long: true,
    input: TranscriptSearch,
    result: TranscriptHits,
    route: 'GET /api/teams/:teamId/members/:memberId/transcript/search',
    cli: { args: ['memberId', 'text'], examples: ['troupe transcript search worker-1 "AssertionError" --team demo'] },
    run: async (context, search) => TranscriptHits.parse(await ask(context, { ask: 'search', search })),
  }),
  operation({
    name: 'transcript.text',
    summary: 'Read a long text of one entry of a transcript, part by part',
    scope: 'reader',
    long: true,
    input: TranscriptText,
    result: TextPart,
    route: 'GET /api/teams/:teamId/members/:memberId/transcript/:session/text',
    cli: {
      args: ['memberId', 'path'],
      examples: ['troupe transcript text worker-1 input.content --session s1 --place 1024 --team demo'],
    },
    run: async (context, text) => TextPart.parse(await ask(context, { ask: 'text', text })),
  }),
] as const;

const Question = z.discriminatedUnion('ask', [
  z.object({ ask: z.literal('read'), read: TranscriptPart }),
  z.object({ ask: z.literal('search'), search: TranscriptSearch }),
  z.object({ ask: z.literal('text'), text: TranscriptText }),
]);
type Question = z.output<typeof Question>;

/** A transcript is on the machine that runs its member. The daemon there answers for us. */
async function ask(context: Context, question: Question, answerMs = ANSWER_MS): Promise<unknown> {
  const { teamId, memberId } = subjectOf(question);
  // It contains the mail that the member got.
  requireSight(context, 'transcript', memberId);
  const { ledger, daemon, signal } = context;
  const hostId = await ledger.view(teamId, (state) => {
    requireTeam(state);
    return requireMember(state, memberId).hostId;
  });
  const timeoutMs = (question.ask === 'read' ? (question.read.wait ?? 0) : 0) + answerMs;
  const answer = hostId === undefined ? undefined : await daemon.askHost?.(hostId, question, { timeoutMs });
  return answer ?? answerHere(daemon, question, signal);
}

/** Searches the transcripts of a member, as far as that comes in a short time. */
export async function searchMember(
  context: Context,
  search: TranscriptSearch,
  answerMs: number,
): Promise<TranscriptHits> {
  return TranscriptHits.parse(await ask(context, { ask: 'search', search }, answerMs));
}

/** Reads one of our transcripts for another daemon. */
export async function answerTranscript(daemon: DaemonService, question: unknown): Promise<unknown> {
  return answerHere(daemon, parse(Question, question), new AbortController().signal);
}

function answerHere(daemon: DaemonService, question: Question, signal: AbortSignal): Promise<unknown> {
  const { teamId, memberId } = subjectOf(question);
  const folder = daemon.transcriptFolder(teamId, memberId);
  if (question.ask === 'search') return searchTranscripts(folder, question.search);
  if (question.ask === 'text') return readText(folder, question.text);
  return readTranscript(folder, question.read, signal);
}

function subjectOf(question: Question): { teamId: string; memberId: string } {
  if (question.ask === 'search') return question.search;
  return question.ask === 'text' ? question.text : question.read;
}
