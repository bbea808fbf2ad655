import type { PlanEntry, SessionUpdate, ToolCallContent } from '@agentclientprotocol/sdk';
import type { Client } from '../../../client/client.ts';
import type { TeamEvent } from '../../../core/event.ts';
import type { ResultOf } from '../../../operations/index.ts';
import type { Standing } from '../up/standing.ts';
import { landedUpdate } from './landing.ts';
import { textContent, titleOf, toolUpdate } from './tool-calls.ts';

type Task = Standing['tasks'][number];
type Member = Standing['members'][number];
type Entry = ResultOf<'transcript.read'>['entries'][number];

/** A longer plan is not read; the tasks in progress come first then. */
const MOST_ENTRIES = 200;

/** Where a member's transcript was read to. */
interface Place {
  session: string | null;
  after: number;
}

/** Tells a client what a team does: the plan, tasks, tools, landings, and the words of the lead. */
export class Narrator {
  readonly #client: Client;
  readonly #teamId: string;
  readonly #tell: (update: SessionUpdate) => Promise<void>;
  readonly #places = new Map<string, Place>();
  /** The state that each task was told in. */
  readonly #told = new Map<string, string>();
  /** The tool calls that were told, with their diffs; and that of each task in progress. */
  readonly #calls = new Map<string, ToolCallContent[]>();
  readonly #working = new Map<string, string>();
  #plan = '';
  #leadId = '';
  /** What the lead said in its turn, and in all its turns of this prompt. */
  #turn = '';
  #said = '';
  #isOpen = false;

  constructor(client: Client, teamId: string, tell: (update: SessionUpdate) => Promise<void>) {
    this.#client = client;
    this.#teamId = teamId;
    this.#tell = tell;
  }

  /** What the lead said since the prompt began. */
  get said(): string {
    return this.#said;
  }

  begin(): void {
    this.#said = '';
    this.#turn = '';
  }

  /** Takes what is already there as told. */
  async skip({ tasks, members }: Pick<Standing, 'tasks' | 'members'>): Promise<void> {
    for (const task of tasks) this.#told.set(task.id, stateOf(task));
    for (const { id: memberId, agent } of members) {
      if (!agent) continue;
      const asked = { teamId: this.#teamId, memberId, tail: true };
      const { session, after } = await this.#client.call('transcript.read', asked);
      this.#places.set(memberId, { session, after });
    }
  }

  /** Says something in the lead's place. */
  async say(text: string): Promise<void> {
    const gap = this.#said === '' ? '' : '\n\n';
    this.#said += `${gap}${text}`;
    await this.#speak(`${gap}${text}`);
  }

  /** Tells the plan if it changed, and tasks that began or ended. */
  async tasks(tasks: readonly Task[]): Promise<void> {
    const plan = planOf(tasks);
    if (JSON.stringify(plan) !== this.#plan && (plan.length > 0 || this.#plan !== '')) {
      this.#plan = JSON.stringify(plan);
      await this.#tell({ sessionUpdate: 'plan', entries: plan });
    }
    for (const task of tasks) {
      const state = stateOf(task);
      if (this.#told.get(task.id) === state) continue;
      this.#told.set(task.id, state);
      const update = taskUpdate(task, this.#working.get(task.id));
      if (task.status === 'in_progress' && update) this.#working.set(task.id, update.toolCallId);
      else this.#working.delete(task.id);
      if (update) await this.#call(update);
    }
  }

  /** A call that was told before is updated. An update without an input keeps what the first one said. */
  async #call(update: SessionUpdate & { sessionUpdate: 'tool_call' }): Promise<void> {
    const { title, kind, locations, content = [], ...rest } = update;
    const diffs = this.#calls.get(update.toolCallId);
    if (!diffs) {
      this.#calls.set(
        update.toolCallId,
        content.filter(({ type }) => type === 'diff'),
      );
      return this.#tell(update);
    }
    const isNew = rest.rawInput !== undefined;
    // The content of an update replaces what was told before, and the output comes without the changes.
    const all = isNew ? content : [...diffs, ...content];
    const about = { ...(isNew && { title, kind, locations }), ...(all.length > 0 && { content: all }) };
    await this.#tell({ ...rest, ...about, sessionUpdate: 'tool_call_update' });
  }

  /** Tells what landed. */
  async events(events: readonly TeamEvent[], { tasks }: Pick<Standing, 'tasks'>, repository: string): Promise<void> {
    for (const event of events) {
      if (event.type !== 'work:landed') continue;
      const task = tasks.find(({ id }) => id === event.taskId);
      const about = { title: task?.title ?? '', memberId: task?.assigneeId ?? 'the merge queue' };
      await this.#tell(await landedUpdate(this.#client, { teamId: this.#teamId, ...event, ...about, repository }));
    }
  }

  /** Reads on in the transcripts of these members: the tools of all, the words of the lead. */
  async transcripts(members: readonly Member[], leadId: string): Promise<void> {
    this.#leadId = leadId;
    for (const { id, agent } of members) if (agent) await this.#read(id);
  }

  async #read(memberId: string): Promise<void> {
    for (;;) {
      const place = this.#places.get(memberId) ?? { session: null, after: 0 };
      const asked = { teamId: this.#teamId, memberId, after: place.after };
      const { session, after, entries } = await this.#client.call('transcript.read', asked);
      // A new session has a transcript of its own, which is read from its beginning.
      if (place.session !== null && session !== place.session) {
        await this.#finish(memberId, place);
        this.#places.set(memberId, { session, after: 0 });
        continue;
      }
      this.#places.set(memberId, { session, after });
      for (const entry of entries) await this.#hear(memberId, session ?? '', entry);
      if (entries.length === 0) return;
    }
  }

  /** The rest of a session that another one followed. */
  async #finish(memberId: string, { session, after }: Place): Promise<void> {
    if (session === null) return;
    const { entries } = await this.#client.call('transcript.read', { teamId: this.#teamId, memberId, session, after });
    for (const entry of entries) await this.#hear(memberId, session, entry);
  }

  async #hear(memberId: string, session: string, entry: Entry): Promise<void> {
    if (entry.type === 'tool') {
      return this.#call(toolUpdate(memberId, `${memberId}/${session}/${String(entry['id'])}`, entry));
    }
    if (memberId !== this.#leadId) return;
    if (entry.type === 'turn') this.#turn = '';
    if (entry.type === 'text') await this.#hearText(entry);
    if (entry.type === 'turnEnd') await this.#hearEnd(entry);
  }

  /** Text comes in lines, or in pieces of lines. */
  async #hearText(entry: Entry): Promise<void> {
    const text = String(entry['text']);
    const isFirst = this.#turn === '' && this.#said !== '';
    const before = isFirst ? '\n\n' : this.#isOpen && entry['continues'] !== true ? '\n' : '';
    this.#isOpen = entry['unfinished'] === true;
    const piece = `${before}${text}${this.#isOpen ? '' : '\n'}`;
    this.#turn += piece;
    this.#said += piece;
    await this.#speak(piece);
  }

  /** The result of a turn may be said nowhere else. */
  async #hearEnd(entry: Entry): Promise<void> {
    this.#isOpen = false;
    const result = typeof entry['text'] === 'string' ? entry['text'].trim() : '';
    // A very long one is cut in the middle, so it cannot be compared.
    const isSaid = entry['cut'] === undefined ? bare(this.#turn).includes(bare(result)) : this.#turn !== '';
    if (result !== '' && !isSaid) await this.say(result);
    if (entry['reason'] === 'failed') {
      // The rest was usually said before: a program's standard error is text of its turn, too.
      const [why] = String(entry['error']).split('\n', 1);
      await this.say(`The turn of ${this.#leadId} failed: ${why}`);
    }
    this.#turn = '';
  }

  async #speak(text: string): Promise<void> {
    await this.#tell({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
  }
}

/** Agents put other line breaks into their result than into what they said. */
function bare(text: string): string {
  return text.replaceAll(/\s+/g, '');
}

/** Changes whenever a task gets a holder or ends. */
function stateOf({ status, epoch, assigneeId }: Task): string {
  return status === 'in_progress' || status === 'completed' || status === 'failed'
    ? `${status} ${epoch} ${assigneeId ?? ''}`
    : `open ${epoch}`;
}

/**
 * The work on a task as a tool call of its holder. `working` is the call of its last holder. Undefined if nobody works
 * or worked on it.
 */
export function taskUpdate(
  task: Pick<Task, 'id' | 'title' | 'status' | 'assigneeId' | 'result' | 'failure' | 'epoch'>,
  working?: string,
): (SessionUpdate & { sessionUpdate: 'tool_call' }) | undefined {
  const { id, title, status, assigneeId = 'the team', result, failure, epoch } = task;
  const isOver = status === 'completed' || status === 'failed';
  const isOpen = status !== 'in_progress' && !isOver;
  if (isOpen && working === undefined) return undefined;
  const said = status === 'failed' ? failure : isOpen ? 'It went back to the list.' : result;
  return {
    sessionUpdate: 'tool_call',
    toolCallId: status === 'in_progress' ? `task-${id}-${epoch}` : (working ?? `task-${id}-${epoch}`),
    title: titleOf(assigneeId, `#${id} ${title}`),
    kind: 'other',
    status: isOpen ? 'failed' : status,
    content: textContent(said),
  };
}

const PRIORITIES = { low: 'low', medium: 'medium', high: 'high', critical: 'high' } as const;

/** The tasks as the entries of a plan. ACP knows no failed entries, so their text says it. */
export function planOf(tasks: readonly Task[]): PlanEntry[] {
  const shown = tasks.filter(({ status }) => status !== 'deleted');
  const open = shown.filter(({ status }) => status !== 'completed');
  const chosen = shown.length <= MOST_ENTRIES ? shown : open.slice(0, MOST_ENTRIES);
  return chosen.map(({ id, title, status, priority, assigneeId }) => ({
    content: `#${id} ${title}${assigneeId === undefined ? '' : ` (${assigneeId})`}${status === 'failed' ? ': failed' : ''}`,
    priority: PRIORITIES[priority],
    status: status === 'in_progress' ? status : status === 'completed' || status === 'failed' ? 'completed' : 'pending',
  }));
}
