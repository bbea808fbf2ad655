import { troublesTold } from '../../src/client/replica.ts';
import type { TeamEvent } from '../../src/core/event.ts';
import { showControls } from '../parts/controls.ts';
import { usedParts } from '../parts/format.ts';

/** An event in a few words, for the time line and the history of a task. */
export function describeEvent(event: TeamEvent): string {
  return showControls(wordsOf(event));
}

function wordsOf(event: TeamEvent): string {
  const who = event.by === '@user' ? 'You' : event.by === '@system' ? 'Troupe' : event.by;
  switch (event.type) {
    case 'team:created':
      return `${who} created the team`;
    case 'team:updated': {
      const troubles = troublesTold(event.metadata);
      return troubles.length > 0 ? troubles.join('. ') : `${who} changed the team`;
    }
    case 'team:closed':
      return `${who} closed the team`;
    case 'hook:registered':
      return `${who} registered a ${event.hook.type} hook`;
    case 'hook:removed':
      return `${who} removed the ${event.hookType} hooks`;
    case 'teammate:joined':
      return `${event.memberId} joined`;
    case 'teammate:changed':
      return event.status ? `${event.memberId} is ${event.status}` : `${event.memberId} changed`;
    case 'teammate:placed':
      return `${event.memberId} runs on ${event.hostId}`;
    case 'teammate:idle':
      return `${event.memberId} is idle`;
    case 'teammate:stopped':
      return `${event.memberId} stopped${event.reason ? `: ${event.reason}` : ''}`;
    case 'task:created':
      return `${who} created #${event.taskId}`;
    case 'task:updated':
      return event.unjudged === false ? `The hooks let #${event.taskId} pass` : `${who} changed #${event.taskId}`;
    case 'task:assigned':
      return event.assigneeId === null
        ? `${who} freed #${event.taskId}`
        : `${who} gave #${event.taskId} to ${event.assigneeId}`;
    case 'task:claimed':
      return `${event.memberId} claimed #${event.taskId}`;
    case 'task:released':
      return `${event.memberId} gave #${event.taskId} back${event.reason ? `: ${event.reason}` : ''}`;
    case 'task:rejected':
      return `${event.gate === undefined ? 'A gate' : `The gate ${event.gate}`} sent #${event.taskId} back`;
    case 'task:completed':
      return `${event.memberId ?? who} completed #${event.taskId}`;
    case 'task:failed':
      return `#${event.taskId} failed: ${event.reason.split('\n', 1)[0]}`;
    case 'task:reopened':
      return `${who} reopened #${event.taskId}`;
    case 'task:deleted':
      return `${who} deleted #${event.taskId}`;
    case 'task:unblocked':
      return `#${event.taskId} is no longer blocked`;
    case 'task:dependencies-added':
      return `#${event.taskId} waits for ${list(event.dependencies)}`;
    case 'task:dependencies-removed':
      return `#${event.taskId} no longer waits for ${list(event.dependencies)}`;
    case 'message:sent':
      return event.copies.length === 1 ? `${who} wrote to ${event.copies[0]?.toId}` : `${who} wrote to all`;
    case 'message:delivered':
      return `${event.memberId} was handed mail`;
    case 'message:acknowledged':
      return `${event.memberId} has its mail`;
    case 'message:read':
      return `${event.memberId} read its mail`;
    case 'shutdown:requested':
      return `${who} asked ${event.memberId} to stop`;
    case 'shutdown:approved':
      return `${event.memberId} agreed to stop`;
    case 'shutdown:rejected':
      return `${event.memberId} refused to stop`;
    case 'plan:submitted':
      return `${event.memberId} handed in a plan`;
    case 'plan:approved':
      return `${who} approved the plan of ${event.memberId}${said(event)}`;
    case 'plan:rejected':
      return `${who} sent back the plan of ${event.memberId}${said(event)}`;
    case 'request:raised':
      return `${event.memberId} waits for a person: ${event.kind}`;
    case 'request:answered':
      return `${who} said ${event.approved ? 'yes' : 'no'} to ${event.memberId}${said(event)}`;
    case 'note:added':
      return `${who} wrote a note`;
    case 'note:updated':
      return `${who} changed a note`;
    case 'note:removed':
      return `${who} removed a note`;
    case 'usage:recorded': {
      const used = usedParts(event.usage).join(', ');
      return used === '' ? `${event.memberId} ended a turn` : `${event.memberId} used ${used}`;
    }
  }
}

function list(ids: readonly string[]): string {
  return ids.map((id) => `#${id}`).join(', ');
}

/** What was said with a yes or a no, as far as a line has room for it. */
function said({ feedback }: { readonly feedback?: string | undefined }): string {
  const line = feedback?.trim().split('\n', 1)[0];
  return line ? `: ${line}` : '';
}
