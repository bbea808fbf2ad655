import { USER } from '../../core/actor.ts';
import { TeamError } from '../../core/errors.ts';
import { folderOfMember } from '../../core/folder.ts';
import { wayInto } from '../../core/inner-path.ts';
import type { InnerTeam, TeamParent } from '../../core/inner.ts';
import { PROMPT_BYTES } from '../../core/limits.ts';
import { quietHoursOf } from '../../core/quiet-hours.ts';
import type { TeamState } from '../../core/state.ts';
import type { TeamWork } from '../../core/team-work.ts';
import { byteLength, cutToBytes, quote } from '../../core/text.ts';
import { requireMember, requireTeam } from '../../core/view.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { TeamHooks } from '../hooks/team-hooks.ts';
import type { TeamEnvironments } from '../team-environments.ts';
import { findUnapproved } from '../team-file/approval.ts';
import { budgetCommands } from '../team-file/budgets.ts';
import { innerFileOf } from '../team-file/inner.ts';
import { keptNotify, NOTIFY } from '../team-file/notify.ts';
import type { KeptNotify } from '../team-file/notify.ts';
import { placeOf } from '../team-file/place.ts';
import { raiseTeam } from '../team-file/raise.ts';
import type { TeamFile } from '../team-file/schema.ts';
import { wantedFile } from '../team-file/wanted.ts';
import { programsIn } from '../team-file/whole.ts';
import { settingsOf } from '../work/plan.ts';
import type { TeamWorks } from '../work/team-works.ts';

/** What starting a team inside a member needs. */
export interface RaiseParts {
  readonly ledger: Ledger;
  readonly hooks: TeamHooks;
  readonly works: TeamWorks | undefined;
  readonly environments: TeamEnvironments | undefined;
  /** The folder of a team that nobody gave one. */
  readonly folderOf: (teamId: string) => string;
}

/** A team to start. */
export interface NewInner {
  readonly name: string;
  readonly parent: TeamParent;
  readonly team: InnerTeam;
  /** What its lead is told. */
  readonly goal: string;
}

/** Starts the team that works on a task, as its file was when the outer team was brought up. */
export async function raiseInner(parts: RaiseParts, { name, parent, team, goal }: NewInner): Promise<void> {
  const { ledger, hooks, works, environments } = parts;
  const part = innerFileOf(team);
  const { lead } = part.file;
  const room = PROMPT_BYTES - byteLength(typeof lead === 'object' ? (lead.prompt ?? '') : '') - 2;
  const wanted = wantedFile(part.file, { team: name, goal: cutToBytes(goal, Math.max(1, room)) });
  const { notify, quietHours, around } = await ledger.view(parent.teamId, (state) =>
    handedDown(state, parent.memberId),
  );
  // As with a member: what its own file does not say, the team around it does.
  const file = { ...wanted, quietHours: wanted.quietHours ?? quietHours };
  requireApproved(hooks, part);
  const { folder, work } = await placeFor(parts, file, part.folder, parent);
  environments?.set(name, environments.given(parent.teamId));
  await raiseTeam(ledger, file, placeOf(part.folder, undefined, undefined), {
    work,
    inside: { parent: { ...parent, ...(around !== undefined && { around }) }, folder, notify },
    async judge(registered, tasks) {
      const [unwanted] = await hooks.judgeNewTasks(name, { hooks: registered, tasks, createdBy: USER });
      if (!unwanted) return;
      const { title, feedback } = unwanted;
      throw new TeamError('gate_rejected', `A hook rejected the task ${quote(title)} of ${team.path}: ${feedback}`);
    },
  });
  if (work) await works?.align(name);
}

/** A person may have raised budgets in the file since the team began, and brought that up. */
export async function refreshBudgets(ledger: Ledger, innerId: string, team: InnerTeam): Promise<void> {
  const { file } = innerFileOf(team);
  const commands = await ledger.view(innerId, (state) => budgetCommands(state, file));
  if (commands.length > 0) await ledger.execute(innerId, commands, () => undefined);
}

/** What a team gets from the one around it: quiet hours, notices, and where that one is. */
function handedDown(
  state: TeamState,
  memberId: string,
): { quietHours: string | undefined; notify: KeptNotify | undefined; around: string | undefined } {
  const team = requireTeam(state);
  return {
    quietHours: quietHoursOf(requireMember(state, memberId), team),
    notify: keptNotify(team),
    around: team.parent && wayInto(team.parent),
  };
}

/** A person approved what the file runs when the outer team was brought up. A program may have changed since. */
function requireApproved(hooks: TeamHooks, part: ReturnType<typeof innerFileOf>): void {
  const unapproved = programsIn([part]).flatMap((programs) => findUnapproved(hooks, programs));
  const first = unapproved.find(({ type }) => type !== NOTIFY);
  if (!first) return;
  throw new TeamError(
    'not_allowed',
    `What ${part.name} runs (${quote(first.command)}) is not approved as it is now: read it, and run troupe up again in the folder of the outer team`,
  );
}

/** A team inside a member works as that member does: in workspaces that begin from its files, or in its folder. */
async function placeFor(
  { ledger, works, folderOf }: RaiseParts,
  file: TeamFile,
  fileFolder: string,
  { teamId, memberId }: TeamParent,
): Promise<{ folder: string; work?: TeamWork }> {
  const outer = await ledger.view(teamId, (state) => ({
    work: requireTeam(state).work,
    member: requireMember(state, memberId),
    apart: works?.folderOf(state, memberId),
  }));
  const folder = folderOfMember(outer.member, folderOf(teamId), outer.apart) ?? folderOf(teamId);
  if (!outer.work || !works || outer.member.workspace !== 'own') {
    if (file.work?.approve !== undefined || file.work?.review !== undefined) {
      throw new TeamError(
        'invalid',
        `${memberId} has no workspace of its own, so nothing that its team does can wait for an approval`,
      );
    }
    return { folder };
  }
  const saved = await (await works.workspaceOf({ teamId, memberId })).save();
  if (!saved) return { folder };
  const { repository, prefix, roots } = outer.work;
  const branch = `troupe/${file.team}`;
  const begin = { repository, prefix, base: saved.commit, branch, ...(roots && { roots }) };
  return { folder, work: { workspaces: 'own', ...begin, ...settingsOf(file, fileFolder, undefined) } };
}

/** The texts of a member's team; throws if it is no team. */
export function requireInnerTeam(state: TeamState, memberId: string): InnerTeam {
  const { agent } = requireMember(state, memberId);
  if (agent?.team) return agent.team;
  throw new TeamError('conflict', `${memberId} is no team: no team can work on its tasks`);
}
