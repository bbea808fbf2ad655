import { splitLines } from '../../core/lines.ts';
import type { Arguments } from '../line/command.ts';
import { daemonConnect } from '../reach/connect.ts';
import { McpProxy } from './mcp/proxy.ts';
import type { Greeting } from './mcp/proxy.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * `troupe mcp`: offers a team to an MCP client over standard input and output. It is a thin pipe to the daemon, which
 * speaks MCP itself. Neither the MCP library nor a schema is loaded here, so it starts almost as fast as Node.
 */
export async function runMcp(given: Arguments): Promise<void> {
  const greeting = makeGreeting(given, process.env);
  const write = (line: string): void => void process.stdout.write(`${line}\n`);
  const proxy = new McpProxy({ connect: daemonConnect(process.env, { patience: 0 }), greeting, write });
  // The client is gone, so there is nobody to tell.
  process.stdout.on('error', () => process.exit(0));
  const end = readLines((line) => proxy.receive(line));
  await proxy.open();
  await end;
  await proxy.finish();
}

/** What the client says about itself; the rest is in its credential. */
function makeGreeting({ input, as: givenAs }: Arguments, environment: Environment): Greeting {
  const { teamId: givenTeam } = input as { teamId?: string };
  const isConfigured = givenTeam !== undefined || givenAs !== undefined;
  // A member's own credential names its team and the member.
  const isMember = environment['TROUPE_TOKEN'] || environment['TROUPE_TOKEN_FILE'];
  const own: Environment = isMember ? {} : environment;
  const team = givenTeam ?? (own['TROUPE_TEAM_ID'] || own['TROUPE_TEAM'] || undefined);
  const as = givenAs ?? (own['TROUPE_MEMBER_NAME'] || undefined);
  const teams = wantsTeams(environment, isConfigured);
  return {
    ...(team !== undefined && { team }),
    ...(as !== undefined && { as }),
    ...(isConfigured && { known: true }),
    ...(teams !== undefined && { teams }),
    session: crypto.randomUUID(),
    began: Date.now(),
  };
}

/**
 * Whether the client wants the team tools. Troupe's own switch comes first. If Claude Code's switch is off, the answer
 * is no. A team or a member in the client's configuration, or Claude Code's switch, means yes. Else the credential
 * decides.
 */
function wantsTeams(environment: Environment, isConfigured: boolean): boolean | undefined {
  const { TROUPE_TEAMS: own, CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: claude } = environment;
  if (own) return own === '1';
  if (/^(?:0|false|no|off)$/i.test(claude ?? '')) return false;
  return isConfigured || claude === '1' ? true : undefined;
}

/** Reads standard input line by line. */
function readLines(take: (line: string) => void): Promise<void> {
  const lines = splitLines((line) => {
    if (line.trim() !== '') take(line);
  });
  process.stdin.on('data', (chunk: Buffer) => lines.push(chunk));
  return new Promise((resolve) => {
    process.stdin.once('end', () => {
      lines.end();
      resolve();
    });
  });
}
