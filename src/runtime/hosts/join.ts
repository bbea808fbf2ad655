import { existsSync } from 'node:fs';
import type { TeamError } from '../../core/errors.ts';
import type { TeamState } from '../../core/state.ts';
import type { HostCard, Hosts } from '../../journal/hosts.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Teams } from '../teams.ts';
import { keepHosts } from './keeper.ts';
import type { HostKeeper } from './keeper.ts';
import { declareLost } from './lost.ts';

/** What a daemon needs to join the others. */
export interface JoinOptions {
  readonly self: Omit<HostCard, 'load'>;
  readonly ledger: Ledger;
  readonly teams: Teams;
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

/** Not every machine has a member's folder. A daemon that is alone starts the member anyway, which then reports it. */
function hasFolder(state: TeamState, memberId: string, keeper: HostKeeper): boolean {
  const { cwd, workspace } = state.members.get(memberId) ?? {};
  // A workspace can be made on any machine.
  if (workspace === 'own') return true;
  return cwd === undefined || keeper.list().length <= 1 || existsSync(cwd);
}
