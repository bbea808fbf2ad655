import { needActor, needLive, needOpenTeam, refused } from './guard.ts';
import type { Rules } from './guard.ts';
import { needWork, timesBack } from './landing.ts';
import { needOpenTask, touch } from './task.ts';

/* Work in the model. */

export const WORK_RULES: Rules<'work'> = {
  'work.begin'(world, command, attempt) {
    const { taskId, memberId, epoch, base } = command;
    const task = needOpenTask(world, command, attempt);
    needActor(world, command.by, attempt);
    if (command.by !== memberId && command.by !== '@system') attempt.codes.push('not_allowed');
    const member = needLive(world, memberId, attempt);
    if (task) needWork(world, task, { memberId, epoch, onto: world.team?.work?.tip ?? '', files: 0 }, attempt);
    if (member && member.workspace !== 'own') attempt.codes.push('conflict');
    if (refused(attempt) || !task) return;
    const { work } = task;
    if (work?.epoch === epoch && work.base === base && work.state === 'begun') return;
    touch(task, command.at, { work: { memberId, epoch, base, state: 'begun', ...timesBack(task, epoch) } });
    attempt.facts.push(`work:begun ${taskId}`);
  },

  'work.keep'(world, command, attempt) {
    needOpenTeam(world, attempt);
    needActor(world, command.by, attempt);
    if (command.by !== '@system') attempt.codes.push('not_allowed');
    if (refused(attempt)) return;
    attempt.facts.push(`work:kept ${command.taskId}`);
  },
};
