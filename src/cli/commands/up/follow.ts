import type { Client } from '../../../client/client.ts';
import type { TeamEvent } from '../../../core/event.ts';
import { questionIn } from '../../../core/question.ts';
import type { ResultOf } from '../../../operations/index.ts';
import { eventLines, noteTitles } from '../../show/event-lines.ts';
import type { Batch } from '../../show/event-lines.ts';
import type { Screen } from '../../show/screen.ts';
import { clean } from '../../show/text.ts';
import { meaningOfYes } from '../../show/views/waiting.ts';
import { answerName, askerName, taskName } from '../../show/words.ts';
import { print, warn } from '../../show/write.ts';
import { openProgress } from './progress.ts';
import { openQuestioner } from './question.ts';
import { look } from './standing.ts';
import type { Standing } from './standing.ts';

/** How the work of a team ended: all done, nothing more can be done, a person is needed, or interrupted. */
export interface Outcome {
  readonly team: string;
  readonly reason: 'done' | 'stuck' | 'person' | 'interrupted';
  readonly tasks: Standing['tasks'];
  readonly members: Standing['members'];
  readonly requests: Standing['requests'];
  /** The last answer of a lead that is an agent. */
  readonly answer?: string | undefined;
  /** If nobody can go on: the budgets that are used up, in words. */
  readonly spent?: readonly string[] | undefined;
  /** What the lead asked at the end of its last answer, if it did. */
  readonly question?: string | undefined;
  /** How many tasks were completed before this command began. */
  readonly earlier: number;
  /** How often gates rejected each task, over all its rounds. */
  readonly sentBack?: Readonly<Record<string, number>>;
  /** Hooks that failed and let work pass unjudged. */
  readonly troubles?: readonly string[];
  /** The working time of each finished task in milliseconds, without waits for an answer. */
  readonly worked?: Readonly<Record<string, number>>;
  /** Where the members worked, and what landed. */
  readonly work?: ResultOf<'work.show'> | undefined;
  /** The files that the branch changes. */
  readonly changes?: ResultOf<'work.diff'>['changes'];
  /** Whether the team was left open. */
  readonly open?: boolean;
  /** Whether another `troupe up` holds the team and stops its members; this one only watched. */
  readonly elsewhere?: boolean;
  /** Milliseconds. */
  readonly duration: number;
}

/** After this long without an event, and with nobody at work, the team will not continue by itself. */
const QUIET_MS = 2_000;

/** How to show the work. */
export interface FollowOptions {
  readonly screen: Screen;
  readonly json: boolean;
  readonly signal: AbortSignal;
  /** Prints a line per event if there is no terminal to draw on. */
  readonly tell?: (line: string) => void;
  /** Reports what keeps us from reaching the daemon; undefined when it answers again. */
  readonly onTrouble?: (hear: (what: string | undefined) => void) => void;
}

/** For output without a picture: how to answer from another terminal meanwhile. */
function howToAnswer(request: Standing['requests'][number], name: string): string {
  if (request.question) {
    return `${clean(request.content)} To answer: troupe answer ${clean(name)} "…". troupe approve shows the question.`;
  }
  return `${meaningOfYes(request)}: troupe approve ${clean(name)}; to say no, add --deny. troupe approve shows the request.`;
}

/** Drops events that only record mail and members, and change nothing about the work. */
function withoutBookkeeping({ events, ...batch }: Batch): Batch {
  const silent = ['message:delivered', 'message:acknowledged', 'message:read', 'teammate:placed'];
  const isNews = (event: Batch['events'][number]): boolean => {
    if (event.type !== 'teammate:changed') return !silent.includes(event.type);
    const { status, metadata, interrupted } = event as Extract<TeamEvent, { type: 'teammate:changed' }>;
    return status !== undefined || interrupted !== undefined || metadata?.['waiting'] !== undefined;
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
    // Printed once, however often it recurs.
    else if (what !== undefined && what !== trouble) warn(`troupe: ${what}\n`);
    trouble = what;
  });
  const questioner = progress && process.stdin.isTTY ? openQuestioner(client, progress) : undefined;
  const stop = new AbortController();
  const end = (): void => stop.abort();
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  const told = new Set<string>();
  const tellRequests = ({ requests, toPerson }: Standing): void => {
    for (const request of toPerson) {
      const { id, kind, taskId } = request;
      if (told.has(id)) continue;
      told.add(id);
      const whose = clean(askerName(request));
      const about = taskId === undefined ? whose : `${whose} (task ${taskName(clean(taskId))})`;
      const how = howToAnswer(request, answerName(request, requests));
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
      questioner?.look(last);
      clearTimeout(timer);
      if (last.reason === 'done') {
        // Print the events that led to the end first. `look` may be ahead of them; its calls may see different moments.
        doneAt ??= (await look(client, teamId)).seq;
        if (heard >= doneAt) end();
        return;
      }
      doneAt = undefined;
      // With a terminal, somebody can answer, so wait for any question. In a pipe nobody may ever come.
      if (last.reason === 'person' && progress) return;
      if (last.reason !== undefined) timer = setTimeout(end, QUIET_MS);
    };
    await check();
    const titles = new Map(last.tasks.map((task) => [task.id, task.title]));
    for await (const batch of client.subscribe(teamId, { after: heard, signal: stop.signal })) {
      heard = batch.seq;
      // Members and people add tasks while the team works.
      noteTitles(titles, batch.events);
      const lines = json ? [] : eventLines(withoutBookkeeping(batch), screen, titles);
      if (progress) progress.tell(lines);
      else lines.forEach(tell);
      await check();
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
    onTrouble?.(() => {});
    questioner?.close();
    progress?.close();
  }
  const reason = signal.aborted ? 'interrupted' : (last.reason ?? 'stuck');
  const { tasks, members, requests, answer, spent } = last;
  const question = answer === undefined ? undefined : questionIn(answer);
  const completed = tasks.filter(({ status }) => status === 'completed');
  const earlier = completed.filter(({ completedAt = '' }) => Date.parse(completedAt) < performance.timeOrigin).length;
  return {
    team: teamId,
    reason,
    tasks,
    members,
    requests,
    answer,
    question,
    spent,
    earlier,
    duration: performance.now() - began,
  };
}
