import { USER } from '../../src/core/actor.ts';
import type { EventOf, TeamEvent } from '../../src/core/event.ts';
import type { TeamState } from '../../src/core/state.ts';
import type { Files } from '../runtime/landing/repository.ts';
import { scheduler } from './scheduler.ts';

/** How often gates may be asked about one work within a time, in milliseconds. */
const JUDGED_MOST = 10;
const JUDGED_MS = 5_000;

/** How long a landing that found no gate may take. */
const UNGATED_MS = 120_000;

export interface LandingOptions {
  /** As the events that are stored so far give it. */
  readonly state: TeamState;
  /** Whether gates accepted what a commit has. */
  readonly isPassed: (merged: string) => boolean;
  readonly require: (holds: boolean, message: string) => void;
}

/** What gates and the merge queue promise. */
export class LandingChecks {
  readonly #options: LandingOptions;
  readonly #landed = new Set<string>();
  /** Tips that a person wanted, whatever the gates say. */
  readonly #accepted = new Set<string>();
  /** Tasks as gates accepted them, and those that each batch completes as they were before it. */
  readonly #passed = new Set<string>();
  readonly #before = new Map<string, string>();
  /** When the team had no gate last. */
  #ungatedAt = -Infinity;
  #wasGated = false;
  /** When the gates were asked about each work. */
  readonly #judged = new Map<string, number[]>();

  constructor(options: LandingOptions) {
    this.#options = options;
  }

  /** A task as a gate judges it now. */
  judging(taskId: string): string {
    const { epoch, revision } = this.#options.state.tasks.get(taskId) ?? {};
    return `${taskId}@${epoch}#${revision}`;
  }

  /** A gate accepted a task as it was when the gate began. */
  passed(judged: string): void {
    this.#passed.add(judged);
  }

  /** The gates are asked about a work. A daemon that asks again and again has lost itself in a loop. */
  judged(work: string): void {
    const times = [...(this.#judged.get(work) ?? []), scheduler.now].filter((at) => scheduler.now - at < JUDGED_MS);
    this.#judged.set(work, times);
    this.#options.require(times.length <= JUDGED_MOST, `The gates were asked ${times.length} times about ${work}`);
  }

  /** A batch is stored, and its events are not in the state yet. */
  before(events: readonly TeamEvent[]): void {
    this.#before.clear();
    for (const event of events) {
      if (event.type === 'task:completed') this.#before.set(event.taskId, this.judging(event.taskId));
    }
  }

  /** An event is about to be applied. */
  look(): void {
    void this.#isUngated;
  }

  /** The team has no gate, or had none when it was last asked. */
  get #isUngated(): boolean {
    const { team } = this.#options.state;
    const isGated = team?.hooks.some(({ enabled }) => enabled) === true;
    this.#wasGated ||= isGated;
    if (this.#wasGated && !isGated) this.#ungatedAt = scheduler.now;
    return scheduler.now - this.#ungatedAt < UNGATED_MS;
  }

  /** Work landed on a tip once, on the tip that was there. */
  landed({ taskId, merged, by }: EventOf<'work:landed'>, tip: string | undefined): void {
    const { state, require } = this.#options;
    const { work } = state.tasks.get(taskId) ?? {};
    const name = `${taskId}@${work?.epoch}`;
    require(!this.#landed.has(name), `The work of ${name} landed twice`);
    this.#landed.add(name);
    require(work?.onto === tip, `The work of ${taskId} landed on ${work?.onto}, and the tip was ${tip}`);
    if (by === USER || this.#isUngated) this.#accepted.add(merged);
  }

  /** A task is completed, and the state says so. */
  completed({ taskId, by }: EventOf<'task:completed'>): void {
    // A person may accept a task and leave its conflict beside the branch.
    if (by !== USER) this.#checkCompleted(taskId);
    this.#checkJudged(taskId, by);
  }

  /** Work that has changes is on the branch when its task is completed. */
  #checkCompleted(taskId: string): void {
    const { state, require } = this.#options;
    const { work } = state.tasks.get(taskId) ?? {};
    if (!work) return;
    const isIn = ['landed', 'unchanged'].includes(work.state);
    require(isIn, `Task ${taskId} is completed, and its work is ${work.state}`);
  }

  /** A verdict counts only for the task that it is about: it did not change hands meanwhile, nor anything else of it. */
  #checkJudged(taskId: string, by: string): void {
    const { state, require } = this.#options;
    const { work } = state.tasks.get(taskId) ?? {};
    // What landed is judged as a commit.
    if (work?.state === 'landed' || state.members.get(by)?.agent === undefined || this.#isUngated) return;
    const judged = this.#before.get(taskId) ?? '';
    require(this.#passed.has(judged), `${by} completed ${judged}, which no gate accepted`);
  }

  /**
   * Every edit of a task is in the branch in the end. Of work without changes, too: each task changes something, so it is
   * one whose edits landed before.
   */
  ended(files: Files): void {
    const { state, require } = this.#options;
    const lines = new Set(Object.values(files).flatMap((text) => text.split('\n')));
    for (const { id, work } of state.tasks.values()) {
      const isIn = work?.state === 'landed' || work?.state === 'unchanged';
      require(!isIn || lines.has(`task ${id}`), `The work of task ${id} is ${work?.state}, and its edits are lost`);
    }
  }

  /** Every tip was accepted by the gates, as it is, or by a person. */
  checkTip(): void {
    const { state, isPassed, require } = this.#options;
    const { tip, base } = state.team?.work ?? {};
    if (tip === undefined || tip === base || this.#accepted.has(tip)) return;
    require(isPassed(tip), `No gate accepted the tip ${tip}`);
  }
}
