import { existsSync } from 'node:fs';
import { z } from 'zod';
import { TaskId } from '../core/fields.ts';
import { requireTask, requireTeam } from '../core/view.ts';
import { GATE_RUNS } from '../runtime/hooks/keep-runs.ts';
import { sessionPath } from '../runtime/transcripts/sessions.ts';
import { InTeam } from './inputs.ts';
import { operation } from './operation.ts';
import type { Context, DaemonService } from './operation.ts';
import { readText, readTranscript } from './transcript-reader.ts';
import { TextPart, TranscriptPage, TranscriptPart, WantedText } from './transcript-schemas.ts';

/** How long another daemon may take to answer. */
const ANSWER_MS = 5_000;

const OfTask = InTeam.extend({ taskId: TaskId.describe('the task') });

const Runs = OfTask.extend({ after: TranscriptPart.shape.after, before: TranscriptPart.shape.before });

const Output = OfTask.extend(WantedText);

const RunPage = TranscriptPage.pick({ from: true, after: true, size: true, entries: true });

export const gateRunOperations = [
  operation({
    name: 'gate.runs',
    summary: 'Read what gates said about a task, with their output',
    scope: 'reader',
    long: true,
    input: Runs,
    result: RunPage,
    route: 'GET /api/teams/:teamId/tasks/:taskId/gate',
    cli: { args: ['taskId'], examples: ['troupe gate runs 7 --team demo --json'] },
    run: async (context, runs) => RunPage.parse(await ask(context, { gate: 'runs', runs })),
  }),
  operation({
    name: 'gate.text',
    summary: 'Read a long output of a gate, part by part',
    scope: 'reader',
    long: true,
    input: Output,
    result: TextPart,
    route: 'GET /api/teams/:teamId/tasks/:taskId/gate/text',
    cli: { args: ['taskId', 'path'], examples: ['troupe gate text 7 stdout --place 0 --team demo'] },
    run: async (context, output) => TextPart.parse(await ask(context, { gate: 'text', output })),
  }),
] as const;

const Question = z.discriminatedUnion('gate', [
  z.object({ gate: z.literal('runs'), runs: Runs }),
  z.object({ gate: z.literal('text'), output: Output }),
]);
type Question = z.output<typeof Question>;

/** A gate runs on the machine of the member whose work it judges, if not on ours. */
async function ask(context: Context, question: Question): Promise<unknown> {
  const { teamId, taskId } = subjectOf(question);
  const { ledger, daemon } = context;
  const hostId = await ledger.view(teamId, (state) => {
    requireTeam(state);
    const { assigneeId } = requireTask(state, taskId);
    return assigneeId === undefined ? undefined : state.members.get(assigneeId)?.hostId;
  });
  if (hostId === undefined || existsSync(sessionPath(daemon.transcriptFolder(teamId, GATE_RUNS), taskId))) {
    return answerHere(daemon, question);
  }
  return (await daemon.askHost?.(hostId, question, { timeoutMs: ANSWER_MS })) ?? answerHere(daemon, question);
}

/** Reads what our gates said, for another daemon; undefined for another question. */
export function answerGateRuns(daemon: DaemonService, question: unknown): Promise<unknown> | undefined {
  const { data } = Question.safeParse(question);
  return data && answerHere(daemon, data);
}

async function answerHere(daemon: DaemonService, question: Question): Promise<unknown> {
  const { teamId, taskId } = subjectOf(question);
  const folder = daemon.transcriptFolder(teamId, GATE_RUNS);
  if (question.gate === 'text') return readText(folder, { session: taskId, ...question.output });
  if (!existsSync(sessionPath(folder, taskId))) return { after: 0, size: 0, entries: [] };
  return readTranscript(folder, { session: taskId, tail: false, ...question.runs }, new AbortController().signal);
}

function subjectOf(question: Question): { teamId: string; taskId: string } {
  return question.gate === 'text' ? question.output : question.runs;
}
