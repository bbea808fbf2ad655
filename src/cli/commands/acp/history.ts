import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { Client } from '../../../client/client.ts';
import { Replica } from '../../../client/replica.ts';
import { USER } from '../../../core/actor.ts';
import type { TeamEvent } from '../../../core/event.ts';
import type { ResultOf } from '../../../operations/index.ts';
import { landedUpdate } from './landing.ts';
import { taskUpdate } from './narrator.ts';

/** Tells what happened in a team so far, from its journal: what the lead was told and answered, tasks, landings. */
export async function replay(
  client: Client,
  teamId: string,
  { repository, tell }: { repository: string; tell: (update: SessionUpdate) => Promise<void> },
): Promise<void> {
  const replica = new Replica(teamId);
  let hasGoal = false;
  for (let after: number | undefined = 0; after !== undefined;) {
    const batches: ResultOf<'event.list'> = await client.call('event.list', { teamId, after });
    for (const batch of batches) {
      const events = batch.events as TeamEvent[];
      replica.apply({ seq: batch.seq, events });
      for (const event of events) {
        const goal: SessionUpdate | undefined = hasGoal ? undefined : goalIn(event, replica);
        hasGoal ||= goal !== undefined;
        const update = goal ?? (await updateFor(event, replica, { client, repository }));
        if (update) await tell(update);
      }
    }
    after = batches.at(-1)?.seq;
  }
}

/** What the lead was told first. A restarted lead joins again, with the same goal. */
function goalIn(event: TeamEvent, { live: { team } }: Replica): SessionUpdate | undefined {
  if (event.type !== 'teammate:joined' || event.memberId !== team?.leadId || !event.spawnPrompt) return undefined;
  return words('user_message_chunk', event.spawnPrompt);
}

async function updateFor(
  event: TeamEvent,
  { live }: Replica,
  { client, repository }: { client: Client; repository: string },
): Promise<SessionUpdate | undefined> {
  const { team, tasks, teamId } = live;
  const leadId = team?.leadId ?? '';
  switch (event.type) {
    case 'message:sent': {
      const isPrompt = event.by === USER && event.copies.some(({ toId }) => toId === leadId);
      return isPrompt ? words('user_message_chunk', event.content) : undefined;
    }
    case 'teammate:idle':
      return event.memberId === leadId && event.result
        ? words('agent_message_chunk', `${event.result}\n\n`)
        : undefined;
    case 'task:created':
      return event.metadata?.['prompt'] === true
        ? words('user_message_chunk', event.description || event.title)
        : undefined;
    case 'task:completed':
    case 'task:failed': {
      const task = tasks.get(event.taskId);
      return task && taskUpdate(task);
    }
    case 'work:landed': {
      const task = tasks.get(event.taskId);
      const about = { title: task?.title ?? '', memberId: task?.assigneeId ?? 'the merge queue' };
      return landedUpdate(client, { teamId, ...event, ...about, repository });
    }
    default:
      return undefined;
  }
}

function words(sessionUpdate: 'user_message_chunk' | 'agent_message_chunk', text: string): SessionUpdate {
  return { sessionUpdate, content: { type: 'text', text } };
}
