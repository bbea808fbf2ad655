import { EventEmitter } from 'node:events';
import type { z } from 'zod';
import { USER } from '../core/actor.ts';
import type { Actor } from '../core/actor.ts';
import { TeamError } from '../core/errors.ts';
import type { TeamEvent } from '../core/event.ts';
import type { TaskNews } from '../core/events/row.ts';
import { taskRowOf } from '../core/events/table.ts';
import { fingerprintOf } from '../core/fingerprint.ts';
import { parse } from '../core/parse.ts';
import { allReady } from '../core/ready.ts';
import type { TeamState } from '../core/state.ts';
import { CompleteTaskInput, CreateTaskInput, UpdateTaskInput } from '../core/task.ts';
import type { SharedTask } from '../core/task.ts';
import { requireMember, requireTask, requireTeam, viewTask } from '../core/view.ts';
import type { ClaimKeeper } from './claim-keeper.ts';
import { openClaims, receiptTask } from './claims.ts';
import type { ClaimOptions, Found } from './claims.ts';
import { complete } from './complete.ts';
import { emitAll } from './emit.ts';
import type { WorkSaver } from './hand-in.ts';
import type { Ledger, NewCommand } from './ledger.ts';
import { RunningCalls } from './running-calls.ts';
import type { TaskListEvents } from './task-events.ts';
import { filterTasks } from './task-filter.ts';
import type { TaskFilter } from './task-filter.ts';
import { deleteRejected, judgeNewTask, judgesNewTasks } from './task-gate.ts';
import type { Completion, Judged, NewTaskVerdict, TaskGate } from './task-gate.ts';
import { planUpdate } from './update-steps.ts';

/** Options of a completion. */
export interface CompleteOptions {
  /** What the work produced. */
  readonly result?: string;
  /** The model refused: it counts as done only if a gate accepts it, else a person is asked. */
  readonly refused?: boolean;
  /** The epoch under which the caller claimed the task. */
  readonly epoch?: number;
  readonly commandId?: string;
  readonly onHost?: string;
  /** Milliseconds until a completion whose work still waits to land is answered with the task as it is. */
  readonly wait?: number;
}

/** Fields of a command besides its input: see `CommandEnvelope`. */
type Once = Pick<CompleteOptions, 'commandId' | 'onHost'>;

type TaskEvent = Extract<TeamEvent, { readonly type: `task:${string}` }>;

/** The shared task list of every team on a ledger. The rules are in the core. */
export class SharedTaskList extends EventEmitter<TaskListEvents> {
  readonly #ledger: Ledger;
  readonly #gate: TaskGate | undefined;
  readonly #claims: ReturnType<typeof openClaims>;
  readonly #works: WorkSaver | undefined;
  readonly #unsubscribe: () => void;
  /** Events of steps that came from an update; the list also emits them as `task:updated`. */
  readonly #updates = new WeakSet<TeamEvent>();
  readonly #running = new RunningCalls();
  readonly #closing = new AbortController();

  constructor(ledger: Ledger, options: { gate?: TaskGate; claims?: ClaimKeeper; works?: WorkSaver } = {}) {
    super();
    this.#ledger = ledger;
    this.#gate = options.gate;
    this.#claims = openClaims(ledger, options.claims);
    this.#works = options.works;
    this.#unsubscribe = ledger.subscribe((_teamId, batch, state) => {
      emitAll(batch.events, (event) => {
        const row = taskRowOf(event.type);
        if (row) this.#tell(row.told, event as TaskEvent, state);
      });
    });
  }

  /** Creates a task; it is `blocked` while a dependency is open. */
  async createTask(
    teamId: string,
    createdBy: Actor,
    input: z.input<typeof CreateTaskInput>,
    options: Once = {},
  ): Promise<SharedTask> {
    const command = { type: 'task.create', by: createdBy, ...options, ...parse(CreateTaskInput, input) } as const;
    const gate = this.#gate;
    if (!gate || !(await judgesNewTasks(gate, teamId))) return this.#do(teamId, command);
    const { id } = await this.#do(teamId, { ...command, unjudged: true });
    const { task, unable } = await this.judgeNewTask(teamId, id);
    // Its creator is here to hear why; a task that nobody can judge would be left behind.
    return unable === undefined ? task : deleteRejected(task, (step) => this.#do(teamId, step), unable);
  }

  /** Asks the hooks about a new task that is unjudged. Calls at the same time share one run of the hooks. */
  judgeNewTask(teamId: string, taskId: string): Promise<NewTaskVerdict> {
    return this.#running.join(`${teamId} new ${taskId}`, async () => {
      const find = (): Promise<SharedTask> =>
        this.#view(teamId, (state) => viewTask(state, requireTask(state, taskId, { deleted: true })));
      if (!this.#gate) return { task: await find() };
      return judgeNewTask(this.#gate, { find, execute: (step) => this.#do(teamId, step) });
    });
  }

  /** One task, or undefined if it does not exist. */
  getTask(teamId: string, taskId: string): Found {
    return this.#view(teamId, (state) => {
      const task = state.tasks.get(taskId);
      return task && viewTask(state, task);
    });
  }

  /** Tasks in the order of their ids. */
  listTasks(teamId: string, filter: TaskFilter = {}): Promise<SharedTask[]> {
    return this.#view(teamId, (state) => [...filterTasks(state, filter)]);
  }

  /**
   * Changes a task. A new status or assignee becomes the step it stands for (claim, complete, release, fail, reopen,
   * delete, assign), under that step's rules. `blocked` follows from the dependencies and cannot be set.
   */
  async updateTask(
    teamId: string,
    taskId: string,
    input: z.input<typeof UpdateTaskInput>,
    by: Actor = USER,
    options: Once & Pick<CompleteOptions, 'wait'> = {},
  ): Promise<SharedTask> {
    const { epoch, revision, ...changes } = parse(UpdateTaskInput, input);
    const { commandId } = options;
    // The fingerprint covers the request, not the steps: steps depend on the state and would differ after the update.
    const said = { type: 'task.update', taskId, ...changes };
    const print = fingerprintOf(said);
    const update = { taskId, changes, by, commandId, print, epoch, revision };
    const { before, steps } = await this.#view(teamId, (state) => planUpdate(state, update));
    const completes = changes.status === 'completed' && before.status !== 'completed';
    // Sent again while the work waits to land: the answer waits, too.
    if (steps.length === 0 && !(completes && before.status === 'in_progress')) {
      // The same claim again, while the first one is still being confirmed: its answer must not come earlier.
      const claimed = commandId !== undefined && changes.status === 'in_progress' && before.status === 'in_progress';
      return claimed ? this.#claims.confirmed(teamId, before, before.assigneeId as string) : before;
    }
    const once = { ...speakerOf(options), commandId, print };
    // Only the first step for this task checks epoch and revision: later steps follow the update's own changes.
    const seen = steps.findIndex((step) => step.taskId === taskId);
    const execute = (judged: Judged): Promise<SharedTask> => {
      const { work, submit, ...verdict } = judged;
      const checked = steps.map((step, i) => ({
        ...step,
        ...once,
        ...(i === seen && { epoch, revision, ...verdict }),
        ...(step.type === 'task.complete' && (submit ? { type: 'work.submit', ...submit } : { work })),
      })) as NewCommand[];
      return this.#ledger.execute(teamId, checked, (state, events) => {
        const own = events.filter((event) => taskIdOf(event) === taskId);
        const last = own.at(-1);
        if (last && !own.some(({ type }) => taskRowOf(type)?.told === 'task:updated')) this.#updates.add(last);
        return viewTask(state, requireTask(state, taskId, { deleted: true }));
      });
    };
    const completion = { type: 'task.complete', by, ...once, taskId, epoch, revision } as const;
    const task = completes ? await this.#complete(teamId, completion, execute, options.wait) : await execute({});
    const claim = steps.find((step) => step.type === 'task.claim');
    return claim ? this.#claims.confirmed(teamId, task, claim.memberId ?? by) : task;
  }

  /** Takes a task; throws `ClaimConflictError` if another member was first. */
  async claimTask(teamId: string, taskId: string, teammateId: string, options: ClaimOptions = {}): Promise<SharedTask> {
    const task = await this.#do(teamId, { type: 'task.claim', by: teammateId, taskId, ...options });
    return this.#claims.confirmed(teamId, task, teammateId);
  }

  /** Takes the best task that is ready for the member, or none. */
  claimNextTask(teamId: string, teammateId: string, options: ClaimOptions = {}): Found {
    return this.#claims.next(teamId, teammateId, options);
  }

  /**
   * Completes a task. The gate judges first, with nothing locked. Its verdict counts only if the task's epoch and
   * revision have not changed meanwhile.
   */
  async completeTask(
    teamId: string,
    taskId: string,
    teammateId: Actor,
    options: CompleteOptions = {},
  ): Promise<SharedTask> {
    const { commandId, onHost: _onHost, wait, ...rest } = options;
    const input = parse(CompleteTaskInput, { taskId, ...rest });
    const said = { type: 'task.complete', ...input } as const;
    const command = { ...said, by: teammateId, commandId, ...speakerOf(options), print: fingerprintOf(said) };
    const record = ({ submit, ...judged }: Judged): Promise<SharedTask> =>
      this.#do(teamId, submit ? { ...command, type: 'work.submit', ...submit } : { ...command, ...judged });
    return this.#complete(teamId, command, record, wait);
  }

  /** The tasks that the member could claim now, best first. */
  getClaimableTasksForTeammate(teamId: string, teammateId: string): Promise<SharedTask[]> {
    return this.#view(teamId, (state) => {
      requireMember(state, teammateId);
      const taker = { memberId: teammateId, at: this.#ledger.now() };
      return allReady(state, taker).map((task) => viewTask(state, task));
    });
  }

  /** Ends calls that wait for a landing. What was handed in stays in the queue; called again, they wait for the same. */
  stopWaiting(): void {
    this.#closing.abort(new TeamError('storage', 'The daemon is stopping: the work stays in the merge queue'));
  }

  /** Stops emitting events. */
  close(): void {
    this.stopWaiting();
    this.#unsubscribe();
    this.removeAllListeners();
  }

  #complete(
    teamId: string,
    completion: Completion,
    record: (judged: Judged) => Promise<SharedTask>,
    wait?: number,
  ): Promise<SharedTask> {
    const reject = async (rejection: NewCommand): Promise<void> => void (await this.#do(teamId, rejection));
    const judges = { ledger: this.#ledger, gate: this.#gate, works: this.#works, running: this.#running };
    return complete({ teamId, completion, record, reject }, { ...judges, wait, signal: this.#closing.signal });
  }

  /** Executes a command about one task. Sent again under the same id, it returns the task it was about. */
  #do(teamId: string, command: NewCommand): Promise<SharedTask> {
    return this.#ledger.execute(teamId, command, (state, events) => {
      const named = events[0] ? taskIdOf(events[0]) : receiptTask(state, command.commandId);
      // A creation has an event or a receipt. Every other command names its task.
      const id = named ?? (command as { taskId: string }).taskId;
      return viewTask(state, requireTask(state, id, { deleted: true }));
    });
  }

  #tell(name: TaskNews, event: TaskEvent, state: TeamState): void {
    const task = state.tasks.get(event.taskId);
    // The team forgets a deleted task when many were deleted after it, perhaps in the same batch.
    if (!task) return;
    if (this.listenerCount(name) > 0) this.emit(name, viewTask(state, task));
    if (this.#updates.has(event)) this.emit('task:updated', viewTask(state, task));
  }

  #view<R>(teamId: string, pick: (state: TeamState) => R): Promise<R> {
    return this.#ledger.view(teamId, (state) => {
      requireTeam(state);
      return pick(state);
    });
  }
}

/** The task that an event is about, if any. */
function taskIdOf(event: TeamEvent): string | undefined {
  return (event as { readonly taskId?: string }).taskId;
}

/** The daemon through which a member calls, if given. */
function speakerOf({ onHost }: Once): Pick<Once, 'onHost'> {
  return onHost === undefined ? {} : { onHost };
}
