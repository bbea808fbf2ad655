import { SYSTEM } from '../core/actor.ts';
import { budgetQuestions } from '../core/budget-questions.ts';
import { BUDGET_WARNING, budgetUses, limitedTasks, nextTimeLimit } from '../core/budget-use.ts';
import { describeUse } from '../core/budget-words.ts';
import type { EventType, TeamEvent } from '../core/event.ts';
import type { TeamState } from '../core/state.ts';
import type { Ledger, NewCommand } from '../ledger/ledger.ts';
import type { Mailbox } from '../ledger/mailbox.ts';
import { Alarms } from './alarms.ts';

/** Makes sure that a budget that is used up is noticed. */
export interface BudgetKeeper {
  /** Looks at all teams: an earlier daemon may have ended before it asked. */
  start(): Promise<void>;
  close(): void;
}

/** After these, a budget may be used up, or a question about one may be missing. */
const MATTERS: ReadonlySet<EventType> = new Set([
  'usage:recorded',
  'team:updated',
  'teammate:joined',
  'teammate:changed',
  'teammate:stopped',
  'request:answered',
  'task:claimed',
  'task:updated',
]);

/**
 * Compares usage with budgets. At 80 % it tells the lead once; at 100 % it asks a person. Time passes without an event,
 * so an alarm is set for the moment of the next limit. The code that starts turns must check that none begins meanwhile.
 */
export function keepBudgets(
  { ledger, mailbox }: { ledger: Ledger; mailbox: Mailbox },
  onError: (error: unknown, teamId: string) => void,
): BudgetKeeper {
  const alarms = new Alarms(onError);
  /** Warnings already sent; a restart may repeat one. */
  const warned = new Set<string>();
  const unsubscribe = ledger.subscribe((teamId, { events }, state) => {
    if (areAboutBudget(events, state)) look(teamId);
  });

  return {
    async start() {
      for (const teamId of await ledger.teams()) look(teamId);
    },
    close() {
      unsubscribe();
      alarms.close();
    },
  };

  function look(teamId: string): void {
    lookAt(teamId).catch((error: unknown) => onError(error, teamId));
  }

  async function lookAt(teamId: string): Promise<void> {
    const { questions, warnings, leadId, next } = await ledger.view(teamId, (state) => {
      const at = Date.now();
      const isOpen = hasBudget(state) && state.team?.status === 'active';
      return {
        questions: isOpen ? budgetQuestions(state, at) : [],
        warnings: isOpen ? warningsOf(state, at) : [],
        leadId: state.team?.leadId,
        next: isOpen ? nextTimeLimit(state, at) : undefined,
      };
    });
    if (next === undefined) alarms.clear(teamId, 'time');
    else alarms.set(teamId, 'time', next, () => lookAt(teamId));
    if (questions.length > 0) {
      const raises = questions.map((question): NewCommand => ({ type: 'request.raise', by: SYSTEM, ...question }));
      await ledger.execute(teamId, raises, () => undefined);
    }
    for (const { key, memberId, content } of warnings) {
      if (warned.has(`${teamId} ${key}`) || leadId === undefined) continue;
      warned.add(`${teamId} ${key}`);
      await mailbox.send(teamId, SYSTEM, { toId: leadId, content, type: 'system', metadata: { memberId } });
    }
  }
}

/** Whether a budget may be used up after these events, or a question about one missing. */
function areAboutBudget(events: readonly TeamEvent[], state: TeamState): boolean {
  if (!events.some(({ type }) => MATTERS.has(type))) return false;
  // Looks at all members, so not for each event.
  return isLimited(state) || events.some((event) => isAboutTask(event, state));
}

/** The same of one event, where only tasks have budgets. */
function isAboutTask(event: TeamEvent, state: TeamState): boolean {
  if (!MATTERS.has(event.type)) return false;
  // Thousands may be held, and a claim changes one.
  const isOfTask = event.type === 'task:claimed' || event.type === 'task:updated';
  return isOfTask ? state.tasks.get(event.taskId)?.budget !== undefined : limitedTasks(state).length > 0;
}

function hasBudget(state: TeamState): boolean {
  return isLimited(state) || limitedTasks(state).length > 0;
}

/** Whether the team or one of its members has a budget. */
function isLimited({ team, members }: TeamState): boolean {
  if (team?.budget) return true;
  for (const { budget } of members.values()) if (budget) return true;
  return false;
}

/** What the lead should know: the budget nearest to its limit of each member that runs, and of each task in progress. */
function warningsOf(state: TeamState, at: number): { key: string; memberId: string; content: string }[] {
  const members = [...state.members.values()]
    .filter(({ status }) => status !== 'stopped')
    .map(({ id: memberId }) => ({ memberId, uses: budgetUses(state, { memberId }, at) }));
  const tasks = limitedTasks(state).map(({ task, memberId }) => {
    const uses = budgetUses(state, { taskId: task.id }, at).filter(({ of }) => of === 'task');
    return { memberId, uses };
  });
  return [...members, ...tasks].flatMap(({ memberId, uses: [worst] }) => {
    if (!worst || worst.share < BUDGET_WARNING || worst.share >= 1) return [];
    const whose = { team: '', member: memberId, task: `#${worst.taskId}` }[worst.of];
    const key = `${whose} ${worst.what} ${worst.limit}`;
    const content = `${describeUse(worst, memberId)}. At 100 % no new turn begins, and running turns are interrupted, until a person raises it.`;
    return [{ key, memberId, content }];
  });
}
