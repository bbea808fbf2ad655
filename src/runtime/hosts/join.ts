import { existsSync } from 'node:fs';
import type { TeamError } from '../../core/errors.ts';
import type { TeamState } from '../../core/state.ts';
import type { HostCard, Hosts } from '../../journal/hosts.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Teams } from '../teams.ts';
import { keepHosts } from './keeper.ts';
import type { HostKeeper } from './keeper.ts';
import { declareLost } from './lost.ts';

/** What one daemon brings among the others. */
export interface JoinOptions {
  readonly self: Omit<HostCard, 'load'>;
  readonly ledger: Ledger;
  readonly teams: Teams;
  /** Answers what other daemons ask. */
  readonly onQuestion: (question: unknown) => Promise<unknown>;
  /** Hears how long the lease of this daemon is, and when that changes. */
  readonly onLease: (leaseMs: number) => void;
  /** Another has the name of this daemon by now. */
  readonly onOusted: (why: TeamError) => void;
  readonly onError: (error: unknown, about: { teamId?: string }) => void;
}

/** This daemon among those that share its journal: outside until it has joined them. */
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

/** Makes this daemon one of those that share the journal: it has a lease, takes members on, and looks after the others. */
async function joinHosts(hosts: Hosts, options: JoinOptions): Promise<HostKeeper> {
  const { self, ledger, teams, onError } = options;
  const { supervisor, mailbox } = teams;
  let stopAnswering = (): void => {};
  const keeper = await keepHosts({
    hosts,
    ledger,
    self,
    load: () => supervisor.list().length,
    reconsider: (teamId) => supervisor.reconsider(teamId),
    declareLost: (teamId, hostId) => declareLost({ ledger, mailbox }, teamId, hostId),
    onLease: options.onLease,
    onOusted(why) {
      stopAnswering();
      options.onOusted(why);
    },
    onError,
  });
  stopAnswering = hosts.answer(self.name, options.onQuestion);
  supervisor.on('process:started', keeper.changed).on('process:ended', keeper.changed);
  return {
    ...keeper,
    turnFor: (state, memberId) => (hasFolder(state, memberId, keeper) ? keeper.turnFor(state, memberId) : undefined),
    async close(how) {
      stopAnswering();
      supervisor.off('process:started', keeper.changed).off('process:ended', keeper.changed);
      await keeper.close(how);
    },
  };
}

/** A member works in a folder that not every machine has; where we are alone it is started all the same, and says so. */
function hasFolder(state: TeamState, memberId: string, keeper: HostKeeper): boolean {
  const cwd = state.members.get(memberId)?.cwd;
  return cwd === undefined || keeper.list().length <= 1 || existsSync(cwd);
}
