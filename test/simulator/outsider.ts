import { openAnswer } from '../../src/mcp/answer.ts';
import { callTool } from '../../src/mcp/call.ts';
import type { ToolResult } from '../../src/mcp/call.ts';
import { openSession } from '../../src/mcp/session.ts';
import type { Session } from '../../src/mcp/session.ts';
import { ADMIN } from '../../src/operations/caller.ts';
import type { Around } from './around.ts';
import type { Daemon } from './daemon.ts';
import { later, newOwner, scheduler } from './scheduler.ts';

/** A member that no daemon runs. */
export const OUTSIDER = 'x1';

interface Connection {
  readonly daemon: Daemon;
  readonly session: Session;
  requests: number;
}

/** Programs that act for the outsider with the team tools, each in a session of its own: an editor, a terminal. */
export function startClients(world: Around, teamId: string): void {
  for (const name of ['editor', 'terminal']) {
    scheduler.plan(1, () => void readMail(world, teamId, name), newOwner(name, 'outside'));
  }
}

/** Looks into the inbox now and then. Answers get lost, and then the program connects again in the same session. */
async function readMail(world: Around, teamId: string, name: string): Promise<never> {
  const random = scheduler.random(`client ${name}`);
  const { signal } = new AbortController();
  const onError = (error: unknown): void => world.checks.error(error, { memberId: OUTSIDER });
  let connection: Connection | undefined;
  for (;;) {
    await later(random.between(500, 12_000));
    if (!connection?.daemon.isOpen) {
      const daemon = world.anyDaemon();
      if (!daemon) continue;
      const session = openSession(ADMIN, { team: teamId, as: OUTSIDER, teams: true, session: name });
      connection = { daemon, session, requests: 0 };
    }
    const { daemon, session } = connection;
    const call = { name: 'Inbox', input: {}, request: ++connection.requests, signal };
    const ask = async (): Promise<ToolResult | undefined> => {
      const answer = openAnswer(undefined, signal);
      return callTool(daemon.services, session, { ...call, answer }, onError).finally(() => answer.end());
    };
    const answer = await world.network.ask(daemon.owner, ask, 10_000).catch(() => undefined);
    if (!answer || (world.isFaulty && random.chance(0.3))) connection = undefined;
    else if (answer.isError) onError(answer.data['error']);
    else {
      const messages = answer.data['messages'] as { id: string; redelivery?: boolean }[];
      const marked = messages.map(({ id, redelivery }) => ({ id, redeliveries: redelivery ? 1 : 0 }));
      world.checks.shown(OUTSIDER, name, marked);
    }
  }
}
