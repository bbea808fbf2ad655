import { EventEmitter } from 'node:events';
import type { TeamEvent } from '../core/event.ts';
import type { MemberRecord, TeamState } from '../core/state.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Mailbox } from '../ledger/mailbox.ts';
import { watchAdrift } from './adrift.ts';
import { recordCrash } from './departure.ts';
import { hadProcess, runsOn, unplaced, wantedOn } from './hosts/placement.ts';
import { MemberProcesses } from './member-processes.ts';
import type { LaunchMember } from './member-processes.ts';
import { isElsewhere, placeMember } from './place-member.ts';
import type { MemberProcess, ProcessRecords } from './process-records.ts';
import { openReturns } from './returns.ts';
import type { Returns } from './returns.ts';
import { openSteps } from './steps.ts';
import type { Steps } from './steps.ts';
import { recordStop, STOPPED } from './stop-mark.ts';
import { takeOver } from './take-over.ts';

/** What the supervisor needs. */
export interface SupervisorOptions {
  readonly ledger: Ledger;
  readonly mailbox: Mailbox;
  readonly records: ProcessRecords;
  /** The name of this daemon among those that share a journal. */
  readonly hostId: string;
  /**
   * If several daemons share the journal: how long to wait before taking a member; undefined if others should take it.
   */
  readonly turnFor?: (state: TeamState, memberId: string) => number | undefined;
  readonly launch: LaunchMember;
  readonly onError: (error: unknown, about: { teamId?: string; memberId?: string }) => void;
}

/** The events of the supervisor. */
export interface SupervisorEvents {
  'process:started': [process: MemberProcess];
  'process:ended': [process: MemberProcess, how: string];
  /** A member's process died unasked. */
  'session:failed': [failure: { teamId: string; memberId: string; reason: string; restartsIn: number | undefined }];
}

/**
 * Makes sure that every member with an agent has exactly one process, and that no process is left without a member.
 * Each is recorded before it starts. A dead member is restarted with back-off and a limit, its tasks under a new epoch.
 * Processes of an earlier daemon are taken over or ended.
 */
export class Supervisor extends EventEmitter<SupervisorEvents> {
  readonly #options: SupervisorOptions;
  readonly #processes: MemberProcesses;
  readonly #starting = new Map<string, Promise<void>>();
  /** Members whose process is ended only to be restarted. */
  readonly #restarting = new Set<string>();
  /** Members whose death is being recorded. */
  readonly #dying = new Set<string>();
  readonly #steps: Steps;
  readonly #returns: Returns;
  readonly #adrift = watchAdrift();
  /** The open teams that have or had members to run. */
  readonly #teams = new Set<string>();
  #unsubscribe = (): void => {};
  #closed = false;

  constructor(options: SupervisorOptions) {
    super();
    this.#options = options;
    this.#steps = openSteps({
      onError: options.onError,
      look: async (teamId) => {
        await this.reconsider(teamId);
        return options.ledger.view(teamId, (state) => this.#unattended(teamId, state).length > 0);
      },
    });
    this.#returns = openReturns(options.ledger, this.#steps);
    this.#processes = new MemberProcesses({
      records: options.records,
      launch: options.launch,
      onStarted: (process) => this.emit('process:started', process),
      onEnded: (process, { how, asked }) =>
        this.#steps.run(process, async () => {
          this.emit('process:ended', process, how);
          await (asked ? this.#startAgain(process) : this.died(process, how));
        }),
    });
  }

  /** Takes over or ends processes of an earlier daemon, starts what is missing, then watches. */
  async start(): Promise<void> {
    const { ledger, hostId, records, onError } = this.#options;
    await takeOver({
      records,
      processes: this.#processes,
      isWanted: (teamId, memberId) => ledger.view(teamId, ({ members }) => runsOn(hostId, members.get(memberId))),
      died: (who, how) => this.died(who, how),
      onError,
    });
    this.#unsubscribe = ledger.subscribe((teamId, batch, state) => {
      for (const event of batch.events) this.#react(teamId, event, state);
    });
    for (const teamId of await ledger.teams()) {
      await this.#steps.run({ teamId }, async () => {
        const { gone, returning, lost } = await ledger.view(teamId, (state) => {
          const all = wantedOn(hostId, state);
          if (all.length > 0) this.#teams.add(teamId);
          const wanted = all.filter(({ status }) => status !== 'stopped');
          for (const member of wanted) if (!hadProcess(member)) this.#consider(teamId, member.id, state);
          return {
            gone: this.#gone(teamId, state),
            returning: all.filter(({ status }) => status === 'stopped'),
            lost: wanted.filter((member) => hadProcess(member) && !this.#processes.has(teamId, member.id)),
          };
        });
        // They were stopped after their process was taken over and before we watched; some have joined again since.
        void this.#stopAll(gone);
        // They were waiting for their restart when the daemon ended.
        for (const member of returning) this.#returns.add(teamId, member, 0);
        // They had a process, and neither a record nor a marker leads to it.
        for (const { id } of lost) await this.died({ teamId, memberId: id }, 'its process was gone and left no record');
      });
    }
  }

  /** The members' processes now. */
  list(teamId?: string): MemberProcess[] {
    return this.#processes.list(teamId);
  }

  /** Ends a member's process and returns what that took; undefined if it has none. */
  async stop(teamId: string, memberId: string): Promise<string | undefined> {
    // A process that is just starting would otherwise be left behind.
    await this.#starting.get(`${teamId}/${memberId}`);
    return this.#processes.stop(teamId, memberId);
  }

  /** Kills a member's process. That counts as a crash, for this reason. */
  fail(teamId: string, memberId: string, why: string): Promise<void> {
    return this.#processes.fail(teamId, memberId, why);
  }

  /**
   * Restarts processes that a change of the lead made outdated: that of the new lead, if it was started before
   * `leadTerm`, and that of a former lead, which would go on to lead.
   */
  async restartForLead(teamId: string, { leadId, term }: { leadId: string; term: number }): Promise<void> {
    const isOutdated = ({ memberId, leadTerm = 0, leads = false }: MemberProcess): boolean =>
      leadTerm < term && (memberId === leadId || leads);
    const inTeam = [...this.#starting].filter(([key]) => key.startsWith(`${teamId}/`));
    await Promise.all(inTeam.map(([, starting]) => starting));
    await Promise.all(
      this.list(teamId)
        .filter(isOutdated)
        .map(({ memberId }) => {
          this.#restarting.add(`${teamId}/${memberId}`);
          return this.stop(teamId, memberId);
        }),
    );
  }

  /**
   * Stops watching. With `end`, ends every process and records that all our members are stopped, also those that were to
   * be restarted; unless `disowned`: then the members belong to another daemon. Without `end`, the processes go on and
   * are taken over later. Returns false if something could not be recorded.
   */
  async close({ end, disowned = false }: { end: boolean; disowned?: boolean }): Promise<boolean> {
    this.#closed = true;
    this.#processes.letGo();
    this.#unsubscribe();
    this.#steps.close();
    await Promise.all(this.#starting.values());
    let isRecorded = true;
    if (end) {
      const stop = { at: Date.now(), reason: STOPPED };
      await this.#stopAll(this.list());
      const host = { ...this.#options, isAlone: this.#options.turnFor === undefined };
      if (!disowned) isRecorded = await recordStop(host, stop, this.#teams);
    }
    this.#processes.close();
    return isRecorded;
  }

  #react(teamId: string, event: TeamEvent, state: TeamState): void {
    if (event.type === 'teammate:joined' && event.agent) this.#teams.add(teamId);
    if (event.type === 'team:closed') this.#teams.delete(teamId);
    if (event.type === 'teammate:joined' && event.agent && event.status === 'spawning') {
      this.#consider(teamId, event.memberId, state);
    }
    if (event.type === 'teammate:stopped' && state.members.get(event.memberId)?.status === 'stopped') {
      void this.#stopAll([{ teamId, memberId: event.memberId }]);
    }
  }

  /** Starts a member: at once, or after the daemons that rank before this one had their turn. */
  #consider(teamId: string, memberId: string, state: TeamState): void {
    const isPlaced = state.members.get(memberId)?.hostId !== undefined;
    const wait = isPlaced || !this.#options.turnFor ? 0 : this.#options.turnFor(state, memberId);
    if (wait === 0) void this.#launch(teamId, memberId);
    else if (wait !== undefined) this.#steps.later(wait, { teamId, memberId }, () => this.#launch(teamId, memberId));
  }

  /**
   * Checks a team again. Starts members that wait for a daemon. Ends processes of members that are gone or run
   * elsewhere. Takes care of our unattended members.
   */
  async reconsider(teamId: string): Promise<void> {
    const { gone, adrift } = await this.#options.ledger.view(teamId, (state) => {
      for (const { id } of unplaced(state)) this.#consider(teamId, id, state);
      return {
        gone: this.#gone(teamId, state),
        adrift: this.#adrift.find(teamId, this.#unattended(teamId, state)),
      };
    });
    void this.#stopAll(gone);
    for (const member of adrift) {
      void this.#steps.run({ teamId, memberId: member.id }, () => this.#takeUp(teamId, member));
    }
  }

  /** Our processes of members that are stopped, wait for a daemon or run elsewhere. */
  #gone(teamId: string, state: TeamState): MemberProcess[] {
    return this.list(teamId).filter(({ memberId }) => !runsOn(this.#options.hostId, state.members.get(memberId)));
  }

  /** Stops processes. That takes time, and mostly nothing needs to wait: they are ignored by now. */
  async #stopAll(processes: readonly Pick<MemberProcess, 'teamId' | 'memberId'>[]): Promise<void> {
    const stop = ({ teamId, memberId }: Pick<MemberProcess, 'teamId' | 'memberId'>) =>
      this.#steps.run({ teamId, memberId }, async () => void (await this.stop(teamId, memberId)));
    await Promise.all(processes.map(stop));
  }

  /** Members placed here that have no process and no pending step. */
  #unattended(teamId: string, state: TeamState): MemberRecord[] {
    if (this.#closed) return [];
    const busy = [this.#starting, this.#dying, this.#returns];
    return wantedOn(this.#options.hostId, state).filter(
      ({ id, hostId }) =>
        hostId !== undefined && !this.#processes.has(teamId, id) && !busy.some((one) => one.has(`${teamId}/${id}`)),
    );
  }

  async #takeUp(teamId: string, member: MemberRecord): Promise<void> {
    if (member.status === 'stopped') this.#returns.add(teamId, member, 0);
    else if (member.status === 'spawning') await this.#launch(teamId, member.id);
    else await this.died({ teamId, memberId: member.id }, 'its process was gone');
  }

  async #launch(teamId: string, memberId: string): Promise<void> {
    const key = `${teamId}/${memberId}`;
    if (this.#closed || this.#processes.has(teamId, memberId) || this.#starting.has(key)) return;
    const starting = this.#placeAndStart(teamId, memberId).finally(() => this.#starting.delete(key));
    this.#starting.set(key, starting);
    await starting;
    // The journal was unreachable, or the member was stopped and came back while this start was under way.
    if (!this.#processes.has(teamId, memberId)) this.#steps.lookAgain(teamId);
  }

  async #placeAndStart(teamId: string, memberId: string): Promise<void> {
    try {
      const { ledger, hostId } = this.#options;
      const part = await placeMember(ledger, { teamId, memberId, hostId });
      if (!part) return;
      try {
        await this.#processes.start(teamId, memberId, part);
      } catch (error) {
        await this.died({ teamId, memberId }, `could not be started: ${(error as Error).message}`);
      }
    } catch (error) {
      if (!isElsewhere(error)) this.#options.onError(error, { teamId, memberId });
    }
  }

  /** Restarts a member if its process was ended for that, or if it joined again while the process was ending. */
  async #startAgain({ teamId, memberId }: MemberProcess): Promise<void> {
    const isRestart = this.#restarting.delete(`${teamId}/${memberId}`);
    const isWanted = await this.#options.ledger.view(teamId, (state) =>
      wantedOn(this.#options.hostId, state).some(
        ({ id, status }) => id === memberId && (status === 'spawning' || (isRestart && status !== 'stopped')),
      ),
    );
    if (isWanted) void this.#launch(teamId, memberId);
  }

  /** A member died unasked: its tasks are released, the lead is told once, and it may be restarted. */
  async died(who: { teamId: string; memberId: string }, how: string): Promise<void> {
    const key = `${who.teamId}/${who.memberId}`;
    if (this.#dying.has(key)) return;
    this.#dying.add(key);
    await this.#recordDeath(who, how).finally(() => this.#dying.delete(key));
  }

  async #recordDeath(who: { teamId: string; memberId: string }, how: string): Promise<void> {
    const crash = await recordCrash(this.#options, { ...who, how });
    if (!crash) return;
    const { member, restartsIn } = crash;
    this.emit('session:failed', { ...who, reason: how, restartsIn });
    if (restartsIn !== undefined) this.#returns.add(who.teamId, member, restartsIn);
  }
}
