import { daemonConnect } from '../reach/connect.ts';
import { McpProxy } from './mcp/proxy.ts';
import type { Greeting } from './mcp/proxy.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * `troupe mcp`: offers a team to an MCP client over standard input and output. It is a thin pipe to the daemon, which
 * speaks MCP itself. Neither the MCP library nor a schema is loaded here, so it starts almost as fast as Node.
 */
export async function runMcp(words: readonly string[]): Promise<void> {
  try {
    const greeting = await readGreeting(words, process.env);
    const write = (line: string): void => void process.stdout.write(`${line}\n`);
    const proxy = new McpProxy({ connect: daemonConnect(process.env, { patience: 0 }), greeting, write });
    // The client is gone, so there is nobody to tell.
    process.stdout.on('error', () => process.exit(0));
    const end = readLines((line) => proxy.receive(line));
    await proxy.open();
    await end;
    await proxy.finish();
  } catch (error) {
    const { reportError } = await import('../show/errors.ts');
    process.exit(reportError(error, words.includes('--json')));
  }
}

/** What the client says about itself; the rest is in its credential. */
async function readGreeting(words: readonly string[], environment: Environment): Promise<Greeting> {
  const given: { team?: string; as?: string } = {};
  const rest = words.flatMap((word) =>
    /^--\w+=/.test(word) ? [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)] : [word],
  );
  for (let at = 0; at < rest.length; at += 2) {
    const [flag, value] = [rest[at], rest[at + 1]];
    if ((flag === '--team' || flag === '--as') && value) given[flag === '--team' ? 'team' : 'as'] = value;
    else {
      const { UsageError } = await import('../show/errors.ts');
      throw new UsageError(`troupe mcp takes --team NAME and --as NAME, not ${JSON.stringify(flag)}`, 'mcp');
    }
  }
  // A member's own credential names its team and the member.
  const isMember = environment['TROUPE_TOKEN'] || environment['TROUPE_TOKEN_FILE'];
  const team = isMember ? undefined : environment['TROUPE_TEAM_ID'] || environment['TROUPE_TEAM'];
  const as = isMember ? undefined : environment['TROUPE_MEMBER_NAME'];
  const teams = wantsTeams(environment, Object.keys(given).length > 0);
  return {
    ...(team && { team }),
    ...(as && { as }),
    ...given,
    ...(Object.keys(given).length > 0 && { known: true }),
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
  let rest = '';
  const takeAll = (lines: readonly string[]): void => {
    for (const line of lines) if (line.trim() !== '') take(line);
  };
  process.stdin.setEncoding('utf8');
  process.stdin.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    takeAll(lines);
  });
  return new Promise((resolve) => {
    process.stdin.once('end', () => {
      takeAll([rest]);
      resolve();
    });
  });
}
