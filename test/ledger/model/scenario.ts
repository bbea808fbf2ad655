import { expect } from 'vitest';
import type { Command } from '../../../src/core/command.ts';
import { TeamError } from '../../../src/core/errors.ts';
import { bestReady } from '../../../src/core/ready.ts';
import type { Journal } from '../../../src/journal/journal.ts';
import { Ledger } from '../../../src/ledger/ledger.ts';
import { watchedJournal } from '../watched-journal.ts';
import { expectAnswer, expectSame, factOf, observeState } from './compare.ts';
import type { Answer } from './compare.ts';
import { commandOf, opening } from './drafts.ts';
import type { Draft } from './drafts.ts';
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
    expectSame(await ledger.view(TEAM, observeState), this.#world);
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
