import type { CommandOf } from '../../../src/core/command.ts';
import type { HandedIn } from '../../../src/core/work.ts';
import type { Attempt } from './guard.ts';
import { isExpected } from './world.ts';
import type { Task, World } from './world.ts';

/* What a holder hands in with a task, and the tip of the branch. */

/** The work of the task's holder under its present epoch, merged onto the present tip. */
export function needWork(
  world: World,
  task: Task,
  { memberId, epoch, onto, files, pack }: Pick<HandedIn, 'memberId' | 'epoch' | 'onto' | 'files' | 'pack'>,
  attempt: Attempt,
): void {
  if (!world.team?.work) attempt.codes.push('conflict');
  if (task.status !== 'in_progress' || task.assigneeId !== memberId) attempt.codes.push('conflict');
  if (world.team?.work?.roots && files > 0 && !pack) attempt.codes.push('conflict');
  if (task.epoch !== epoch) attempt.codes.push('stale_epoch');
  if (world.team?.work && world.team.work.tip !== onto) attempt.codes.push('stale_revision');
}

export function landWork(world: World, task: Task, { at, work }: CommandOf<'task.complete'>, attempt: Attempt): void {
  const { team } = world;
  if (!work || !team?.work) return;
  const { onto, merged, conflicts = [], pack: _pack, ...given } = work;
  const handed = { ...given, ...timesBack(task, work.epoch) };
  const state = work.files === 0 ? 'unchanged' : 'begun';
  setWork(task, at, { ...handed, state });
  attempt.facts.push(`work:submitted ${task.id}`);
  if (state === 'unchanged') return;
  if (merged !== undefined) {
    setWork(task, at, { ...handed, state: 'landed', onto, merged });
    team.work = { ...team.work, tip: merged };
    attempt.facts.push(`work:landed ${task.id}`);
    return;
  }
  setWork(task, at, { ...handed, state: 'conflicted', onto, conflicts });
  attempt.facts.push(`work:conflicted ${task.id}`);
  const readers = [...new Set([team.leadId, work.memberId])].filter((id) =>
    world.members.some((member) => member.id === id && isExpected(member)),
  );
  if (readers.length === 0) return;
  const content =
    `Task #${task.id} (${JSON.stringify(task.title)}) is completed, but its work does not merge onto ${team.work.branch}: ` +
    `${conflicts.join(', ')} ${conflicts.length === 1 ? 'conflicts' : 'conflict'} with work that landed before. ` +
    `Nothing is lost: commit ${work.commit.slice(0, 7)} has it, and troupe diff ${task.id} shows it. ` +
    'To bring it in, make a task that repeats these changes on the present files.';
  const letters = readers.map((toId) => ({ id: `work-${task.id}-${work.epoch}/${toId}`, toId }));
  for (const letter of letters) {
    const metadata = { taskId: task.id };
    const sent = { type: 'system' as const, content, priority: 'normal', sentAt: at, redeliveries: 0, metadata };
    world.messages.push({ ...letter, fromId: '@system', ...sent });
  }
  attempt.facts.push(`message:sent ${letters.map(({ id }) => id).join(' ')}`);
}

/** Work that conflicts goes back. Returns how often it did under this epoch. */
export function sendBack(task: Task, { at, feedback, work }: CommandOf<'task.reject'>, attempt: Attempt): number {
  if (!work) return 0;
  const { onto, merged: _merged, conflicts = [], pack: _pack, ...handed } = work;
  const { sentBack = 0 } = timesBack(task, work.epoch);
  task.revision++;
  setWork(task, at, { ...handed, state: 'conflicted', onto, conflicts, sentBack: sentBack + 1 });
  task.feedback = feedback;
  attempt.facts.push(`work:submitted ${task.id}`, `work:conflicted ${task.id}`);
  return sentBack + 1;
}

export function timesBack({ work }: Task, epoch: number): { sentBack?: number } {
  return work?.epoch === epoch && work.sentBack !== undefined ? { sentBack: work.sentBack } : {};
}

function setWork(task: Task, at: number, work: Task['work']): void {
  Object.assign(task, { work, updatedAt: at, revision: task.revision + 1 });
}
