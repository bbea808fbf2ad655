import type { TeamTools } from '../../src/agents/agent.ts';
import type { Client } from '../../src/client/client.ts';
import { BIN, connect, serve, temporaryHome } from '../daemon/serve.ts';

/** A team in a daemon of its own, with one member whose agent is the test's. */
export interface Team {
  readonly client: Client;
  /** The member's credential. */
  readonly token: string;
  /** How the member's agent reaches the team. */
  readonly tools: TeamTools;
}

/** Starts a daemon and makes the team `demo` with the member `worker`. */
export async function startTeam(): Promise<Team> {
  const home = temporaryHome();
  const daemon = await serve(home);
  const client = connect(home);
  await client.call('team.create', { name: 'demo', leadName: 'lead' });
  await client.call('member.add', { teamId: 'demo', name: 'worker', role: 'worker' });
  const { token } = await client.call('member.token', { teamId: 'demo', memberId: 'worker' });
  return {
    client,
    token,
    tools: {
      name: 'troupe',
      http: { url: `${daemon.url}/mcp`, headers: { authorization: `Bearer ${token}` } },
      stdio: { command: process.execPath, args: [BIN, 'mcp'], env: { TROUPE_HOME: home.directory } },
    },
  };
}
