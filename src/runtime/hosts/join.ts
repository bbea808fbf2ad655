import { existsSync } from 'node:fs';
import type { TeamError } from '../../core/errors.ts';
import type { TeamState } from '../../core/state.ts';
import type { HostCard, Hosts } from '../../journal/hosts.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Teams } from '../teams.ts';
import type { Nearness } from '../work/nearness.ts';
import { keepHosts } from './keeper.ts';
import type { HostKeeper } from './keeper.ts';
import { declareLost } from './lost.ts';

/** What a daemon needs to join the others. */
export interface JoinOptions {
  readonly self: Omit<HostCard, 'load'>;
  readonly ledger: Ledger;
  readonly teams: Teams;
  /** Which projects this machine has. */
  readonly nearness?: Nearness | undefined;
  /** A team that was made elsewhere is known here from now on. */
  readonly onTeam?: ((teamId: string) => Promise<void>) | undefined;
  /** Answers questions of other daemons. */
  readonly onQuestion: (question: unknown) => Promise<unknown>;
  /** Gets the length of this daemon's lease, now and after each change. */
  readonly onLease: (leaseMs: number) => void;
  /** Another daemon has taken this one's name. */
  readonly onOusted: (why: TeamError) => void;
  readonly onError: (error: unknown, about: { teamId?: string }) => void;
}

/** This daemon among those that share its journal; outside until it has joined. */
export interface Membership {
  readonly hosts: Hosts;
  readonly keeper: HostKeeper | undefined;
  join(options: JoinOptions): Promise<HostKeeper>;
}

/** A membership that has not begun. */
export function openMembership(hosts: Hosts): Membership {
  let keeper: HostKeeper | undefined;
  return {
    hosts,
    get keeper() {
      return keeper;
    },
    async join(options) {
      keeper = await joinHosts(hosts, options);
      return keeper;
    },
  };
}

/** Joins the daemons that share the journal: this one gets a lease, takes members, and watches the others. */
async function joinHosts(hosts: Hosts, options: JoinOptions): Promise<HostKeeper> {
  const { self, ledger, teams, nearness, onError } = options;
  const { supervisor, mailbox } = teams;
  let stopAnswering = (): void => {};
  const keeper = await keepHosts({
    hosts,
    ledger,
    self,
    load: () => supervisor.list().length,
    reconsider: (teamId) => supervisor.reconsider(teamId),
    async onTeam(teamId) {
      await teams.accounts.meet(teamId);
      await options.onTeam?.(teamId);
    },
    declareLost: (teamId, hostId) => declareLost({ ledger, mailbox }, teamId, hostId),
    onLease: options.onLease,
    onOusted(why) {
      stopAnswering();
      options.onOusted(why);
    },
    onError,
  });
  nearness?.onKnown((teamId) => {
    void supervisor.reconsider(teamId).catch((error: unknown) => onError(error, { teamId }));
  });
  stopAnswering = hosts.answer(self.name, options.onQuestion);
  supervisor.on('process:started', keeper.changed).on('process:ended', keeper.changed);
  return {
    ...keeper,
    turnFor(state, memberId) {
      const { workspace, host } = state.members.get(memberId) ?? {};
      if (workspace !== 'own') return hasFolder(state, memberId, keeper) ? keeper.turnFor(state, memberId) : undefined;
      // A workspace can be made on any machine. A machine without a checkout comes after the others.
      const turn = keeper.turnFor(state, memberId);
      if (turn === undefined || host === self.name || !nearness) return turn;
      const isNear = nearness.of(state);
      return isNear === undefined ? undefined : keeper.turnFor(state, memberId, { isFar: !isNear });
    },
    async close(how) {
      stopAnswering();
      supervisor.off('process:started', keeper.changed).off('process:ended', keeper.changed);
      await keeper.close(how);
    },
  };
}

/** Not every machine has a member's folder. A daemon that is alone starts the member anyway, which then reports it. */
function hasFolder(state: TeamState, memberId: string, keeper: HostKeeper): boolean {
  const cwd = state.members.get(memberId)?.cwd;
  return cwd === undefined || keeper.list().length <= 1 || existsSync(cwd);
}
