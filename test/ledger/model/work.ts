import { APPROVAL_RULES } from './approval.ts';
import { needActor, needLive, needOpenTeam, refused } from './guard.ts';
import type { Rules } from './guard.ts';
import { isWaiting, kept, leaveQueue, needHeld, submit } from './landing.ts';
import { needCompletable, needOpenTask, touch } from './task.ts';
import { isExpected } from './world.ts';

/* Work in the model. */

export const WORK_RULES: Rules<'work'> = {
  ...APPROVAL_RULES,

  'work.begin'(world, command, attempt) {
    const { taskId, memberId, epoch, base } = command;
    const task = needOpenTask(world, command, attempt);
    needActor(world, command.by, attempt);
    if (command.by !== memberId && command.by !== '@system') attempt.codes.push('not_allowed');
    const member = needLive(world, memberId, attempt);
    if (task) needHeld(world, task, { memberId, epoch, files: 0 }, attempt);
    if (member && member.workspace !== 'own') attempt.codes.push('conflict');
    if (refused(attempt) || !task) return;
    const { work } = task;
    if (work?.epoch === epoch && work.base === base && work.state === 'begun' && work.aside === undefined) return;
    // The holder goes on with what it had handed in.
    leaveQueue(world, task);
    touch(task, command.at, { work: { memberId, epoch, base, state: 'begun', ...kept(task, epoch) } });
    attempt.facts.push(`work:begun ${taskId}`);
  },

  'work.submit'(world, command, attempt) {
    const task = needCompletable(world, command, attempt);
    const { commit, epoch, files } = command;
    const isSame = files > 0 && task?.work?.commit === commit && task.work.epoch === epoch;
    const isThere = task && !refused(attempt) && isWaiting(task) && isSame;
    if (isThere) return;
    if (task) needHeld(world, task, command, attempt);
    if (refused(attempt) || !task) return;
    submit(world, task, command, command, attempt);
  },

  'work.keep'(world, command, attempt) {
    needOpenTeam(world, attempt);
    needActor(world, command.by, attempt);
    if (command.by !== '@system') attempt.codes.push('not_allowed');
    if (refused(attempt)) return;
    attempt.facts.push(`work:kept ${command.taskId}`);
    const { at, taskId, memberId, commit } = command;
    const task = world.tasks.find(({ id }) => id === taskId);
    const isHeld = task?.status === 'in_progress' && task.assigneeId === memberId && task.work?.memberId === memberId;
    if (!isHeld || !task.work || task.work.epoch !== task.epoch || task.work.aside !== undefined) return;
    touch(task, at, { work: { ...task.work, aside: commit } });
  },

  'work.lose'(world, { by, from, to, works }, attempt) {
    needOpenTeam(world, attempt);
    needActor(world, by, attempt);
    if (by !== '@system') attempt.codes.push('not_allowed');
    const { team } = world;
    if (refused(attempt) || team?.work?.tip !== from || from === to) return;
    team.work = { ...team.work, tip: to, lost: [...(team.work.lost ?? []), ...works] };
    attempt.facts.push('work:lost');
  },

  'work.overlap'(world, command, attempt) {
    const { at, by, sides, files, paths, conflicts } = command;
    needOpenTeam(world, attempt);
    needActor(world, by, attempt);
    if (by !== '@system') attempt.codes.push('not_allowed');
    if (Number(sides[0].taskId) >= Number(sides[1].taskId)) attempt.codes.push('invalid');
    if (refused(attempt) || sides[0].memberId === sides[1].memberId) return;
    const held = sides.map(({ memberId, taskId, epoch }) =>
      world.tasks.find(
        (task) =>
          task.id === taskId && task.status === 'in_progress' && task.assigneeId === memberId && task.epoch === epoch,
      ),
    );
    if (held.includes(undefined)) return;
    const tasks = sides.map(({ taskId, epoch }) => `${taskId}.${epoch}`).join('-');
    const last = JSON.stringify([files, paths, conflicts]);
    let known = world.overlaps.find((one) => one.tasks === tasks);
    if (!known && files === 0) return;
    if (known?.last === last) return;
    if (!known) world.overlaps.push((known = { tasks, last, paths: [], conflicts: [], times: 0 }));
    known.last = last;
    attempt.facts.push('work:overlapped');
    const told = { paths: new Set([...known.paths, ...paths]), conflicts: new Set([...known.conflicts, ...conflicts]) };
    if (told.paths.size === known.paths.length && told.conflicts.size === known.conflicts.length) return;
    known.paths = [...told.paths];
    known.conflicts = [...told.conflicts];
    known.times++;
    const who = [...sides.map(({ memberId }) => memberId), world.team?.leadId ?? ''];
    const readers = [...new Set(who)].filter((id) => world.members.some((one) => one.id === id && isExpected(one)));
    if (readers.length === 0) return;
    const named = held.map((task) => `${task?.assigneeId} (task #${task?.id}, ${JSON.stringify(task?.title)})`);
    const merges =
      conflicts.length === 0
        ? 'These changes merge so far.'
        : `These changes already conflict in ${conflicts.join(', ')}.`;
    const content =
      `${named.join(' and ')} have both changed ${paths.join(', ')}. ${merges} ` +
      'Write to each other about who changes what. Nothing is lost: whoever completes second gets both versions in ' +
      'its folder, with markers where they conflict.';
    const ids = readers.map((toId) => `overlap-${tasks}-${known.times}/${toId}`);
    for (const [i, toId] of readers.entries()) {
      world.messages.push({
        id: ids[i] as string,
        fromId: '@system',
        toId,
        type: 'system',
        content,
        priority: 'normal',
        sentAt: at,
        redeliveries: 0,
        metadata: { taskIds: sides.map(({ taskId }) => taskId) },
      });
    }
    attempt.facts.push(`message:sent ${ids.join(' ')}`);
  },
};
