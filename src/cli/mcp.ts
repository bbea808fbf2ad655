import type { CallError, Connect } from '../client/client.ts';
import { findHome } from '../client/home.ts';
import type { Home } from '../client/home.ts';
import { socketConnect } from '../client/socket.ts';
import { isAbsence } from './connect.ts';
import { McpProxy } from './mcp/proxy.ts';
import type { Greeting } from './mcp/proxy.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const RETRY_MS = 100;

/**
 * `troupe mcp`: gives a team to an MCP client over standard input and output. It is a thin pipe to the daemon, which
 * speaks MCP itself: neither the MCP library nor a schema is loaded here, so that it starts almost as fast as Node does.
 */
export async function runMcp(words: readonly string[]): Promise<void> {
  try {
    const greeting = await readGreeting(words, process.env);
    const write = (line: string): void => void process.stdout.write(`${line}\n`);
    const proxy = new McpProxy({ connect: findDaemon(process.env), greeting, write });
    // The client has gone: there is nobody left to tell.
    process.stdout.on('error', () => process.exit(0));
    readLines({ line: (line) => proxy.receive(line), end: () => proxy.close() });
    await proxy.open();
  } catch (error) {
    const { reportError } = await import('./errors.ts');
    process.exit(reportError(error, false));
  }
}

/** Who the client is, as far as it can say: the rest is in its credential. */
async function readGreeting(words: readonly string[], environment: Environment): Promise<Greeting> {
  const given: { team?: string; as?: string } = {};
  const rest = words.flatMap((word) =>
    /^--\w+=/.test(word) ? [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)] : [word],
  );
  for (let at = 0; at < rest.length; at += 2) {
    const [flag, value] = [rest[at], rest[at + 1]];
    if ((flag === '--team' || flag === '--as') && value) given[flag === '--team' ? 'team' : 'as'] = value;
    else {
      const { UsageError } = await import('./errors.ts');
      throw new UsageError(`troupe mcp takes --team NAME and --as NAME, not ${JSON.stringify(flag)}`, 'mcp');
    }
  }
  // A member's own credential says which team it is for, and who it is.
  const isMember = environment['TROUPE_TOKEN'] || environment['TROUPE_TOKEN_FILE'];
  const team = isMember ? undefined : environment['TROUPE_TEAM_ID'] || environment['TROUPE_TEAM'];
  const as = isMember ? undefined : environment['TROUPE_MEMBER_NAME'];
  const teams = wantsTeams(environment);
  return {
    ...(team && { team }),
    ...(as && { as }),
    ...given,
    ...(teams !== undefined && { teams }),
    session: crypto.randomUUID(),
  };
}

/** Troupe's own switch, else Claude Code's; where neither is set the credential decides. */
function wantsTeams({
  TROUPE_TEAMS: own,
  CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: claude,
}: Environment): boolean | undefined {
  if (own) return own === '1';
  return claude === '1' ? true : undefined;
}

/**
 * Connects to the home's daemon. Where there is none it is started, as by any command; one that was stopped while we
 * used it shall stay so until somebody starts it, but one that died left its card behind.
 */
function findDaemon(environment: NodeJS.ProcessEnv): Connect {
  const home = findHome(environment);
  const connect = patientConnect(environment, home);
  const { existsSync } = process.getBuiltinModule('node:fs');
  let wasThere = false;
  return async (handlers) => {
    try {
      const connection = await connect(handlers);
      wasThere = true;
      return connection;
    } catch (error) {
      const mayStart = !environment['TROUPE_NO_AUTOSTART'] && (!wasThere || existsSync(home.card));
      if (!isAbsence(error) || !mayStart) throw error;
      const { startDaemon } = await import('./start-daemon.ts');
      return startDaemon(home, () => connect(handlers));
    }
  };
}

/** A daemon that has just started has a new token: one that was read a moment before is read again. */
function patientConnect(environment: Environment, home: Home): Connect {
  const { TROUPE_TOKEN: token, TROUPE_TOKEN_FILE: file } = environment;
  const connect = socketConnect({ path: home.socket, token: token || { file: file || home.tokenFile } });
  return (handlers) =>
    connect(handlers).catch(async (error: unknown) => {
      if (token || (error as Partial<CallError>).code !== 'unauthenticated') throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      return connect(handlers);
    });
}

/** Standard input, line by line. */
function readLines({ line, end }: { line: (text: string) => void; end: () => void }): void {
  let rest = '';
  process.stdin.setEncoding('utf8');
  process.stdin.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const text of lines) if (text.trim() !== '') line(text);
  });
  process.stdin.once('end', end);
}
