import type { SessionUpdate, StopReason } from '@agentclientprotocol/sdk';
import type { Client } from '../../../client/client.ts';
import { TITLE_LENGTH } from '../../../core/limits.ts';
import type { ResultOf } from '../../../operations/index.ts';
import { newCommandId } from '../../reach/call.ts';
import { look } from '../up/standing.ts';
import type { Standing } from '../up/standing.ts';
import { describeEnd } from './end.ts';
import { invalid } from './errors.ts';
import { listenTo } from './feed.ts';
import { replay } from './history.ts';
import { Narrator } from './narrator.ts';
import { isDue, Requests, whoAsks } from './requests.ts';
import type { Asking } from './requests.ts';
import { startTeam } from './start.ts';
import type { PlannedTeam } from './start.ts';

/** What a session needs from its connection. */
export interface SessionOptions {
  readonly client: Client;
  readonly environment: NodeJS.ProcessEnv;
  /** Whether the members go on when the client is gone. */
  readonly keep: boolean;
  readonly tell: (update: SessionUpdate) => Promise<void>;
  readonly askPermission: Asking['askPermission'];
  readonly askText: Asking['askText'];
  /** Said before the first answer, such as what Troupe does not use of what the client offered. */
  readonly remark?: string | undefined;
}

/**
 * After this long without an event, and with nobody at work, the team will not continue by itself. A question for a text
 * may be told sooner: the next prompt goes on with whatever the team does meanwhile.
 */
const QUIET_MS = 5_000;
const QUESTION_MS = 1_000;

/** How long one call attends the team; and how long the team may be without its client. */
const ATTEND = { wait: 60_000, grace: 2_000 };

type Team = ResultOf<'team.show'>;

/** What a prompt became: a message for the lead or, if no agent leads the team, a task. */
interface Delivered {
  readonly taskId?: string;
}

/** One team as a conversation. */
export class TeamSession {
  readonly id: string;
  readonly #options: SessionOptions;
  readonly #narrator: Narrator;
  readonly #requests: Requests;
  readonly #closed = new AbortController();
  #planned: PlannedTeam | undefined;
  #team: Team | undefined;
  #remark: string | undefined;
  #isAttended = false;
  #running: AbortController | undefined;
  /** The last batch of the team that was told. */
  #heard = 0;
  /** The question that the next prompt answers. */
  #question: Standing['requests'][number] | undefined;

  constructor(id: string, options: SessionOptions, planned?: PlannedTeam) {
    this.id = id;
    this.#options = options;
    this.#planned = planned;
    this.#remark = options.remark;
    this.#narrator = new Narrator(options.client, id, options.tell);
    const { client, askPermission, askText } = options;
    this.#requests = new Requests({ client, askPermission, askText, say: (text) => this.#narrator.say(text) });
  }

  /** Opens the session of an existing team, and tells what happened in it. */
  async load({ history }: { history: boolean }): Promise<void> {
    const { client, tell } = this.#options;
    const team = await client.call('team.show', { teamId: this.id });
    this.#team = team;
    if (history) await replay(client, this.id, { repository: repositoryOf(team), tell });
    const standing = await look(client, this.id);
    this.#heard = standing.seq;
    await this.#narrator.skip(standing);
    if (history) await this.#narrator.tasks(standing.tasks);
  }

  /** Gives the team something to do, and tells what it does until there is nothing left to do. */
  async prompt(text: string, signal: AbortSignal): Promise<StopReason> {
    if (this.#running) throw invalid('A prompt of this session is still running: cancel it, or wait for its end');
    const running = new AbortController();
    this.#running = running;
    const cancelled = AbortSignal.any([running.signal, signal]);
    this.#narrator.begin();
    try {
      if (this.#remark !== undefined) await this.#narrator.say(this.#remark);
      this.#remark = undefined;
      const delivered = await this.#deliver(text, cancelled).catch((error: unknown) => {
        // The question whether the team may run was taken back.
        if (cancelled.aborted && !this.#team) return undefined;
        throw error;
      });
      if (!delivered) return cancelled.aborted ? 'cancelled' : 'end_turn';
      return await this.#follow(delivered, cancelled);
    } finally {
      this.#requests.withdraw();
      this.#running = undefined;
    }
  }

  /** Stops the members. The prompt ends when they have stopped. */
  cancel(): void {
    // Before the client's answers come, which say only that it no longer asks.
    this.#requests.withdraw();
    this.#running?.abort();
  }

  /** Stops the members; the team stays, and can be loaded again. */
  async close(): Promise<void> {
    this.cancel();
    this.#closed.abort();
    if (this.#team) await this.#rest('the session was closed');
  }

  /** Tells the team what to do. Returns undefined if the person did not allow what it runs. */
  async #deliver(text: string, signal: AbortSignal): Promise<Delivered | undefined> {
    const { client, environment, askPermission } = this.#options;
    if (!this.#planned) return this.#tellTeam(text);
    const ask = (request: Parameters<Asking['askPermission']>[0]) => askPermission(request, signal);
    const team = await startTeam({ client, environment, signal, ask }, this.#planned, text);
    if (!team) {
      const name = this.#planned.file?.name ?? 'the team file';
      await this.#narrator.say(
        `Nothing was started: you did not allow what ${name} runs. To be asked again, send the prompt again.`,
      );
      return undefined;
    }
    this.#planned = undefined;
    this.#team = team;
    this.#attend();
    return isLed(team) ? {} : this.#addTask(text);
  }

  async #tellTeam(text: string): Promise<Delivered> {
    const { client } = this.#options;
    const teamId = this.id;
    this.#team = await client.call('team.show', { teamId });
    await this.#wake(this.#team);
    const question = this.#question;
    this.#question = undefined;
    const isOpen =
      question &&
      (await client.call('request.list', { teamId: question.teamId, status: 'pending' })).some(
        ({ id }) => id === question.id,
      );
    if (question && isOpen) {
      await this.#requests.answerText(question, text);
      return {};
    }
    if (!isLed(this.#team)) return this.#addTask(text);
    await client.call(
      'message.send',
      { teamId, toId: this.#team.leadId, content: text },
      { commandId: newCommandId() },
    );
    return {};
  }

  /** Starts members that were stopped, for example by a cancel. From then on they end with this session. */
  async #wake({ members }: Team): Promise<void> {
    const stopped = members.filter(({ agent, status }) => agent !== undefined && status === 'stopped');
    if (stopped.length > 0) this.#attend();
    for (const { id: memberId } of stopped) {
      await this.#options.client.call('member.restart', { teamId: this.id, memberId }, { commandId: newCommandId() });
    }
  }

  async #addTask(text: string): Promise<Delivered> {
    const [first = ''] = text.split('\n', 1);
    const title = first.trim().slice(0, TITLE_LENGTH) || 'The prompt';
    const { id } = await this.#options.client.call(
      'task.create',
      { teamId: this.id, title, description: text === title ? '' : text, metadata: { prompt: true } },
      { commandId: newCommandId() },
    );
    return { taskId: id };
  }

  /** The daemon stops the members when the connection of the last such call is gone: editors kill their agents. */
  #attend(): void {
    if (this.#isAttended || this.#options.keep) return;
    this.#isAttended = true;
    const attend = async (): Promise<void> => {
      while (!this.#closed.signal.aborted) {
        await this.#options.client.call('team.attend', { teamId: this.id, ...ATTEND }, { signal: this.#closed.signal });
      }
    };
    void attend().catch(() => (this.#isAttended = false));
  }

  async #rest(reason: string): Promise<void> {
    await this.#options.client.call('team.rest', { teamId: this.id, reason }, { commandId: newCommandId() });
  }

  /** Tells what the team does until it is done, cannot go on, or is cancelled. */
  async #follow({ taskId }: Delivered, cancelled: AbortSignal): Promise<StopReason> {
    const { client } = this.#options;
    const leadId = this.#team?.leadId ?? '';
    const repository = this.#team ? repositoryOf(this.#team) : '';
    let standing = await look(client, this.id);
    let lookedAt = performance.now();
    const feed = listenTo(client, this.id, { after: this.#heard, cancelled });
    try {
      for (let isNews = true; ; isNews = await feed.next()) {
        if (cancelled.aborted) {
          await this.#rest('the prompt was cancelled');
          if (taskId !== undefined) await this.#dropTask(taskId);
          await this.#tellRest(await look(client, this.id), leadId);
          return 'cancelled';
        }
        if (isNews || isDue(standing, lookedAt)) {
          lookedAt = performance.now();
          const events = feed.take();
          standing = await look(client, this.id);
          await this.#narrator.events(events, standing, repository);
          await this.#narrator.tasks(standing.tasks);
          this.#requests.look(standing, leadId);
        }
        const working = standing.members.filter(({ status }) => isNews || status !== 'idle');
        await this.#narrator.transcripts(working, leadId);
        if (!this.#isOver(standing, feed.quietMs())) continue;
        // The calls of one look may see different moments, and events come a moment later.
        const again = await look(client, this.id);
        if (again.reason !== standing.reason || again.seq !== standing.seq || !feed.isAt(again.seq)) continue;
        await this.#tellRest(again, leadId);
        await this.#tellEnd(again, taskId);
        return 'end_turn';
      }
    } finally {
      this.#heard = feed.heard;
      feed.close();
    }
  }

  #isOver(standing: Standing, quietMs: number): boolean {
    if (this.#requests.isAsking) return false;
    if (standing.reason === 'done') return true;
    if (quietMs >= QUESTION_MS && this.#waitsForText(standing)) return true;
    return quietMs >= QUIET_MS && standing.reason !== undefined;
  }

  /** Whether nobody works but members whose question only the next prompt can answer. */
  #waitsForText({ members, requests }: Standing): boolean {
    if (!this.#requests.nextText(requests)) return false;
    const askers = new Set(
      requests.filter(({ kind }) => kind === 'question').map(({ through, memberId }) => through ?? memberId),
    );
    return members.every(
      ({ id, agent, status }) => agent === undefined || status === 'idle' || status === 'stopped' || askers.has(id),
    );
  }

  /** Everything that was written down while we looked. */
  async #tellRest(standing: Standing, leadId: string): Promise<void> {
    await this.#narrator.tasks(standing.tasks);
    await this.#narrator.transcripts(standing.members, leadId);
  }

  async #tellEnd(standing: Standing, taskId: string | undefined): Promise<void> {
    this.#question = this.#requests.nextText(standing.requests);
    if (this.#question) {
      return this.#narrator.say(
        `${whoAsks(this.#question)} asks: ${this.#question.content}\n\nYour next message is the answer.`,
      );
    }
    const text = describeEnd(standing, { taskId, said: this.#narrator.said });
    if (text !== '') await this.#narrator.say(text);
  }

  /** A cancelled prompt of a team without a lead must not be taken up again. */
  async #dropTask(taskId: string): Promise<void> {
    const update = { teamId: this.id, taskId, status: 'deleted' as const };
    // It may have been completed at the same moment.
    await this.#options.client.call('task.update', update, { commandId: newCommandId() }).catch(() => {});
  }
}

function isLed({ leadId, members }: Team): boolean {
  return members.some(({ id, agent }) => id === leadId && agent !== undefined);
}

/** The checkout that the team works on. */
function repositoryOf({ work, metadata }: Team): string {
  const folder = metadata?.['folder'];
  return work?.repository ?? (typeof folder === 'string' ? folder : '/');
}
