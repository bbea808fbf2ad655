import { expect } from 'vitest';
import type { Command } from '../../../src/core/command.ts';
import { TeamError } from '../../../src/core/errors.ts';
import type { ErrorCode } from '../../../src/core/errors.ts';
import type { TeamEvent } from '../../../src/core/event.ts';
import { bestReady } from '../../../src/core/ready.ts';
import type { TeamState } from '../../../src/core/state.ts';
import { NO_USAGE } from '../../../src/core/usage.ts';
import { teamUsage, viewTask, viewTeam } from '../../../src/core/view.ts';
import type { Journal } from '../../../src/journal/journal.ts';
import { Ledger } from '../../../src/ledger/ledger.ts';
import { watchedJournal } from '../watched-journal.ts';
import { commandOf, opening } from './drafts.ts';
import type { Draft } from './drafts.ts';
import { observeWorld } from './observe.ts';
import { doCommand } from './rules.ts';
import type { Outcome } from './rules.ts';
import { nextTask } from './task.ts';
import { emptyWorld, TEAM } from './world.ts';
import type { World } from './world.ts';

/** One step of a run. */
export type Step =
  | {
      readonly kind: 'commands';
      readonly drafts: readonly Draft[];
      /** One call with all commands, or one call per command in parallel. */
      readonly atOnce: 'as one step' | 'in one commit';
      /** What the journal does with the append. */
      readonly journal: 'works' | 'fails' | 'loses the answer' | { readonly first: Draft };
      readonly through: 'ledger' | 'rival';
    }
  | { readonly kind: 'reopen'; readonly ledger: 'ledger' | 'rival'; readonly snapshotEvery: number }
  | { readonly kind: 'drop'; readonly through: 'ledger' | 'rival' };

/** Runs the steps on a real ledger with a rival on the same journal, and on the model. Throws if they differ. */
export async function runScenario(journal: Journal, { bare, steps }: { bare: boolean; steps: readonly Step[] }) {
  const run = new Run(journal);
  try {
    if (!bare) await run.begin();
    for (const step of steps) {
      await run.take(step);
      await run.compare();
    }
    await run.compareAtEnd();
  } finally {
    await run.close();
  }
}

type Answer = { facts: string[] } | { code: ErrorCode };

class Run {
  readonly #journal: Journal;
  readonly #watched: ReturnType<typeof watchedJournal>;
  #ledger: Ledger;
  #rival: Ledger;
  #world: World = emptyWorld();
  #now = 1_000_000;

  constructor(journal: Journal) {
    this.#journal = journal;
    this.#watched = watchedJournal(journal);
    this.#ledger = new Ledger(this.#watched, { snapshotEvery: 10 });
    this.#rival = new Ledger(journal);
  }

  async begin(): Promise<void> {
    for (const command of opening(this.#now)) {
      doCommand(this.#world, command);
      await ask(this.#ledger, [command]);
    }
  }

  async take(step: Step): Promise<void> {
    if (step.kind === 'commands') return this.#command(step);
    if (step.kind === 'drop') {
      const [one, other] = step.through === 'ledger' ? [this.#ledger, this.#rival] : [this.#rival, this.#ledger];
      await one.drop(TEAM);
      // By its numbers a team looks the same as a new team of that name with as many batches. A ledger that writes
      // without a look in between cannot notice the change. Daemons look, by following.
      await other.view(TEAM, () => undefined);
      this.#world = emptyWorld();
    } else if (step.ledger === 'ledger') {
      await this.#ledger.close();
      this.#ledger = new Ledger(this.#watched, { snapshotEvery: step.snapshotEvery });
    } else {
      await this.#rival.close();
      this.#rival = new Ledger(this.#journal, { snapshotEvery: step.snapshotEvery });
    }
  }

  async #command(step: Extract<Step, { kind: 'commands' }>): Promise<void> {
    const ledger = step.through === 'ledger' ? this.#ledger : this.#rival;
    const commands = step.drafts.map((draft) => this.#resolve(draft));
    const calls = step.atOnce === 'as one step' ? [commands] : commands.map((command) => [command]);
    let first: Command | undefined;
    if (step.through === 'ledger' && typeof step.journal === 'object') {
      const rivals = this.#resolve(step.journal.first);
      this.#watched.beforeAppend = async () => {
        this.#watched.beforeAppend = () => {};
        first = rivals;
        const answer = await ask(this.#rival, [rivals]);
        expectAnswer(answer, doCommand(this.#world, rivals), rivals);
      };
    }
    if (step.through === 'ledger' && step.journal === 'fails') this.#watched.beforeAppend = refuse;
    if (step.through === 'ledger' && step.journal === 'loses the answer') this.#watched.afterAppend = refuse;
    const answers = await Promise.all(calls.map((call) => ask(ledger, call)));
    this.#watched.beforeAppend = () => {};
    this.#watched.afterAppend = () => {};

    const before = step.journal === 'fails' ? structuredClone(this.#world) : this.#world;
    const outcomes = calls.map((call) => doAsOneStep(this.#world, call));
    const appends = outcomes.some((outcome) => 'facts' in outcome && outcome.facts.length > 0);
    if (appends && step.through === 'ledger' && (step.journal === 'fails' || step.journal === 'loses the answer')) {
      this.#world = before;
      for (const [i, answer] of answers.entries()) expectAnswer(answer, { codes: ['storage'] }, calls[i]);
      return;
    }
    for (const [i, answer] of answers.entries()) {
      expectAnswer(answer, outcomes[i] as Outcome, { commands: calls[i], after: first });
    }
  }

  #resolve(draft: Draft): Command {
    this.#now += draft.later;
    return commandOf(this.#world, draft, this.#now);
  }

  async compare(): Promise<void> {
    await this.#expectSame(this.#ledger);
  }

  /** New ledgers, with and without snapshots, must show the same state and offer each member the same next task. */
  async compareAtEnd(): Promise<void> {
    const fromBatches = new Ledger({ ...this.#journal, loadSnapshot: async () => undefined });
    const fromSnapshot = new Ledger(this.#journal);
    for (const ledger of [this.#ledger, this.#rival, fromBatches, fromSnapshot]) {
      await this.#expectSame(ledger);
      const next = await ledger.view(TEAM, (state) => [...state.members.keys()].map((id) => bestReady(state, id)?.id));
      expect(next).toEqual(this.#world.members.map(({ id }) => nextTask(this.#world, id)?.id));
    }
    await fromBatches.close();
    await fromSnapshot.close();
  }

  async #expectSame(ledger: Ledger): Promise<void> {
    const seen = await ledger.view(TEAM, observeState);
    const expected = observeWorld(this.#world);
    // isSame is many times faster than toEqual, which is only needed to show a difference.
    if (isSame(seen, expected)) return;
    expect(plain(seen)).toEqual(plain(expected));
    throw new Error('The ledger and the model differ.');
  }

  async close(): Promise<void> {
    await this.#ledger.close();
    await this.#rival.close();
  }
}

function refuse(): never {
  throw new TeamError('storage', 'The disk is full.');
}

async function ask(ledger: Ledger, commands: readonly Command[]): Promise<Answer> {
  try {
    return { facts: await ledger.execute(TEAM, commands, (_state, events) => events.map(factOf)) };
  } catch (error) {
    if (error instanceof TeamError) return { code: error.code };
    throw error;
  }
}

function doAsOneStep(world: World, commands: readonly Command[]): Outcome {
  const [only] = commands;
  if (only && commands.length === 1) return doCommand(world, only);
  const before = structuredClone(world);
  const facts: string[] = [];
  for (const command of commands) {
    const outcome = doCommand(world, command);
    if ('codes' in outcome) {
      Object.assign(world, { team: undefined }, before);
      return outcome;
    }
    facts.push(...outcome.facts);
  }
  return { facts };
}

function expectAnswer(answer: Answer, outcome: Outcome, about: unknown): void {
  const isRefused = 'code' in answer;
  if (isRefused && 'codes' in outcome && outcome.codes.includes(answer.code)) return;
  if (!isRefused && 'facts' in outcome && answer.facts.sort().join() === outcome.facts.sort().join()) return;
  expect(answer, JSON.stringify(about)).toEqual(outcome);
}

/** An event as a fact of the model. */
function factOf(event: TeamEvent): string {
  if ('copies' in event) return `${event.type} ${event.copies.map(({ id }) => id).join(' ')}`;
  if ('messageIds' in event) {
    const again = 'redelivery' in event && event.redelivery ? ' again' : '';
    return `${event.type} ${event.messageIds.join(' ')}${again}`;
  }
  if (event.type === 'landing:begun' || event.type === 'landing:ended') return `${event.type} ${event.landingId}`;
  if ('requestId' in event) return `${event.type} ${event.requestId}`;
  if ('noteId' in event) return `${event.type} ${event.noteId}`;
  if (event.type === 'usage:recorded' || !('taskId' in event)) {
    return 'memberId' in event ? `${event.type} ${event.memberId}` : event.type;
  }
  return `${event.type} ${event.taskId}`;
}

/** Everything visible of a team, in the form of the model. */
function observeState(state: TeamState): object {
  const { index } = state;
  const { members = [], ...team } = state.team ? viewTeam(state) : {};
  return {
    team: state.team && team,
    members,
    tasks: [...state.tasks.values()].map((record) => {
      const { blockedReason, failure, ...task } = viewTask(state, record);
      const named = [...(blockedReason ?? '').matchAll(/task (\d+) \(/g)].map(([, id]) => id);
      return {
        ...task,
        named,
        failure: failure?.replace(/^its dependency, task \d+, failed$/, 'a dependency failed'),
      };
    }),
    inboxes: [...state.members.keys()].map((id) => {
      const { ids = [], waiting = [] } = index.inboxes.get(id) ?? {};
      return { messages: ids.map((messageId) => state.messages.get(messageId)), waiting: [...waiting] };
    }),
    // The model has no revisions: what a request says never changes.
    requests: [...state.requests.values()].map(({ revision: _revision, ...request }) => request),
    notes: [...state.notes.values()],
    usage: {
      team: teamUsage(state),
      members: [...state.members.keys()].map((id) => state.memberUsage.get(id) ?? NO_USAGE),
      tasks: [...state.tasks.keys()].map((id) => state.taskUsage.get(id) ?? NO_USAGE),
    },
    accounts: [...state.accounts.values()],
    nextId: String(state.nextTask),
  };
}

/** Compares like JSON: a date equals its number, and undefined fields are ignored. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (a instanceof Date) return a.getTime() === b;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => isSame(item, b[i]));
  }
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  for (const key in left) if (!isSame(left[key], right[key])) return false;
  for (const key in right) if (right[key] !== undefined && left[key] === undefined) return false;
  return true;
}

/** The value with dates as numbers and without undefined fields, for a comparison that shows differences. */
function plain(value: unknown): unknown {
  if (value instanceof Date) return value.getTime();
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(entries.map(([key, item]) => [key, plain(item)]));
}
