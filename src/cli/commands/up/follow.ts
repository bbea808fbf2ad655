import type { Client } from '../../../client/client.ts';
import type { TeamEvent } from '../../../core/event.ts';
import { eventLines } from '../../show/event-lines.ts';
import type { Batch } from '../../show/event-lines.ts';
import type { Screen } from '../../show/screen.ts';
import { clean } from '../../show/text.ts';
import { meaningOfYes } from '../../show/views/waiting.ts';
import { answerName, taskName } from '../../show/words.ts';
import { print, warn } from '../../show/write.ts';
import { openProgress } from './progress.ts';
import { look } from './standing.ts';
import type { Standing } from './standing.ts';

/** How the work of a team ended: all of it done, nothing left that can be done, a person is needed, or interrupted. */
export interface Outcome {
  readonly team: string;
  readonly reason: 'done' | 'stuck' | 'person' | 'interrupted';
  readonly tasks: Standing['tasks'];
  readonly members: Standing['members'];
  readonly requests: Standing['requests'];
  /** What a lead that is an agent said last. */
  readonly answer?: string | undefined;
  /** How many of the completed tasks were so before this command began. */
  readonly earlier: number;
  /** How often gates sent each task back, in all its rounds. */
  readonly sentBack?: Readonly<Record<string, number>>;
  /** Hooks that failed and let pass what they were to judge. */
  readonly troubles?: readonly string[];
  /** How long each task that ended was worked on, in milliseconds, without waits for an answer. */
  readonly worked?: Readonly<Record<string, number>>;
  /** Whether the team goes on, or can: it was not closed at the end. */
  readonly open?: boolean;
  /** Another `troupe up` has the team, and ends its members with itself: this one only looked on. */
  readonly elsewhere?: boolean;
  /** Milliseconds. */
  readonly duration: number;
}

/** Nothing has happened for so long, and nobody is at work: it will not go on by itself. */
const QUIET_MS = 2_000;

/** How it is shown. */
export interface FollowOptions {
  readonly screen: Screen;
  readonly json: boolean;
  readonly signal: AbortSignal;
  /** Where what happens is told line by line, when there is no screen to draw on. */
  readonly tell?: (line: string) => void;
  /** Calls back with what keeps the daemon from being asked, and with undefined when it answers again. */
  readonly onTrouble?: (hear: (what: string | undefined) => void) => void;
}

/** For those who cannot see the picture: from another terminal, while this goes on. */
function howToAnswer(kind: Standing['requests'][number]['kind'], name: string): string {
  return `Say yes with troupe approve ${clean(name)} (${meaningOfYes(kind)}), no with --deny; troupe approve shows what it is about.`;
}

/** What is written down about mail and members without anything having happened to the work. */
function withoutBookkeeping({ events, ...batch }: Batch): Batch {
  const silent = ['message:delivered', 'message:acknowledged', 'message:read', 'teammate:placed'];
  const isNews = (event: Batch['events'][number]): boolean => {
    if (event.type !== 'teammate:changed') return !silent.includes(event.type);
    const { status, metadata } = event as Extract<TeamEvent, { type: 'teammate:changed' }>;
    return status !== undefined || metadata?.['waiting'] !== undefined;
  };
  return { ...batch, events: events.filter(isNews) };
}

/** Shows a team at work until there is nothing left to do. */
export async function followWork(
  client: Client,
  teamId: string,
  { screen, json, signal, tell = print, onTrouble }: FollowOptions,
): Promise<Outcome> {
  const began = performance.now();
  const progress = screen.isTerminal && !json ? openProgress(teamId) : undefined;
  let trouble: string | undefined;
  onTrouble?.((what) => {
    if (progress) progress.trouble(what);
    // Said once, however often it is found.
    else if (what !== undefined && what !== trouble) warn(`troupe: ${what}\n`);
    trouble = what;
  });
  const stop = new AbortController();
  const end = (): void => stop.abort();
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  const told = new Set<string>();
  const tellRequests = ({ requests }: Standing): void => {
    for (const request of requests) {
      const { id, kind, memberId, taskId, detail } = request;
      if (told.has(id)) continue;
      told.add(id);
      const whose = kind === 'budget' && detail?.['of'] === 'team' ? 'the team' : clean(memberId);
      const about = taskId === undefined ? whose : `${whose} (task ${taskName(clean(taskId))})`;
      const how = howToAnswer(kind, answerName(request, requests));
      warn(`troupe: ${teamId} waits for you: the ${kind} of ${about}. ${how}\n`);
    }
  };
  let timer: NodeJS.Timeout | undefined;
  let last = await look(client, teamId);
  let heard = last.seq;
  let doneAt: number | undefined;
  try {
    progress?.draw(last);
    const check = async (): Promise<void> => {
      last = await look(client, teamId);
      progress?.draw(last);
      if (!progress) tellRequests(last);
      clearTimeout(timer);
      if (last.reason === 'done') {
        // What led to it is told first: a look may see further than what was heard, and its parts not the same moment.
        doneAt ??= (await look(client, teamId)).seq;
        if (heard >= doneAt) end();
        return;
      }
      doneAt = undefined;
      // Somebody looks on, and can answer: it is waited for, whatever the question is. In a pipe nobody may ever come.
      if (last.reason === 'person' && progress) return;
      if (last.reason !== undefined) timer = setTimeout(end, QUIET_MS);
    };
    await check();
    const titles = new Map(last.tasks.map((task) => [task.id, task.title]));
    for await (const batch of client.subscribe(teamId, { after: heard, signal: stop.signal })) {
      heard = batch.seq;
      if (!progress && !json) for (const line of eventLines(withoutBookkeeping(batch), screen, titles)) tell(line);
      await check();
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
    onTrouble?.(() => {});
    progress?.close();
  }
  const reason = signal.aborted ? 'interrupted' : (last.reason ?? 'stuck');
  const { tasks, members, requests, answer } = last;
  const completed = tasks.filter(({ status }) => status === 'completed');
  const earlier = completed.filter(({ completedAt = '' }) => Date.parse(completedAt) < performance.timeOrigin).length;
  return { team: teamId, reason, tasks, members, requests, answer, earlier, duration: performance.now() - began };
}
