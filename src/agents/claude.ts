import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TeamError } from '../core/errors.ts';
import type { Agent, StartOptions } from './agent.ts';
import { AGENTS } from './catalog.ts';
import { claudeArguments } from './claude/arguments.ts';
import { openSession } from './claude/session.ts';
import type { Opened } from './claude/session.ts';
import { toolsConfig } from './claude/team-tools.ts';
import { startLiveProgram, within } from './live-program.ts';
import type { LiveProgram } from './live-program.ts';

/** Which Claude Code, and its extra arguments. */
export interface ClaudeOptions {
  /** The program, and arguments that come before ours; by default `claude` from the path. */
  readonly command?: readonly string[] | undefined;
  /** Added to our arguments. */
  readonly args?: readonly string[] | undefined;
  /** How long a cancelled turn may take to end before its process is killed. */
  readonly cancelMs?: number | undefined;
  /** How often to ask for the usage of a running turn at most, in milliseconds. */
  readonly usageMs?: number | undefined;
}

const { program: NAME, install, abilities } = AGENTS.claude;

/**
 * It must not update itself under a running team. And `@name` in other members' text must stay text. Otherwise Claude
 * Code would show that file to the model without asking, even without a tool to read files.
 */
const ALWAYS = { DISABLE_AUTOUPDATER: '1', CLAUDE_CODE_DISABLE_FILE_MENTIONS: '1' };

/** It took up to 5 s on a machine with twice as much work as it has cores for. */
const START_MS = 60_000;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Its message about a session that it does not know. */
const NO_SUCH_SESSION = /No conversation found|requires a valid session ID/;

/**
 * Claude Code: one process per session, which takes turns as lines of JSON. The user's own settings, memory and login
 * apply; what we add applies to this process only.
 */
export function claudeAgent(options: ClaudeOptions = {}): Agent {
  return {
    kind: 'claude',
    abilities,
    async start(start) {
      const { resume } = start;
      if (resume !== undefined && UUID.test(resume)) {
        try {
          return (await open(options, start, { id: resume, resumes: true })).session(resume);
        } catch (error) {
          // A session that died before its first turn left nothing: it starts again under the same id.
          if (!NO_SUCH_SESSION.test((error as Error).message)) throw error;
        }
      }
      const id = resume !== undefined && UUID.test(resume) ? resume : crypto.randomUUID();
      return (await open(options, start, { id, resumes: false })).session(id);
    },
  };
}

async function open(
  { command = [NAME], args = [], cancelMs, usageMs }: ClaudeOptions,
  start: StartOptions,
  session: { id: string; resumes: boolean },
): Promise<Opened> {
  const [file = NAME, ...before] = command;
  const files = privateFiles(start);
  try {
    const program = await startLiveProgram({
      command: [file, ...before, ...claudeArguments(start, { ...session, ...files }), ...args],
      start: { ...start, env: { ...start.env, ...ALWAYS } },
      install,
    });
    const opened = openSession(program, { ...start, ...session, cancelMs, usageMs });
    await untilReady(opened, program, file);
    return opened;
  } finally {
    // It has read them.
    files.remove();
  }
}

async function untilReady({ ready }: Opened, program: LiveProgram, name: string): Promise<void> {
  if (await within(ready, START_MS)) {
    try {
      return await ready;
    } catch (error) {
      await program.close();
      throw new TeamError('invalid', `Cannot start ${name}: ${(error as Error).message}`, { cause: error });
    }
  }
  await program.close();
  throw new TeamError('invalid', `Cannot start ${name}: it did not answer within ${START_MS / 1_000} s`);
}

/** Files that only the user may read, for the moment of the start: everyone could read arguments. */
function privateFiles(start: StartOptions) {
  const { role, env } = start;
  const servers = toolsConfig(start);
  const folder = mkdtempSync(join(env['TROUPE_HOME'] ?? tmpdir(), 'start-'));
  const write = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
    return path;
  };
  return {
    roleFile: write('role.md', role),
    toolsFile: servers && write('tools.json', JSON.stringify(servers)),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
