import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Agent, AgentSession, Mode, StartOptions, TeamTools } from '../../agents/agent.ts';
import { AGENTS } from '../../agents/catalog.ts';
import { toolsConfig } from '../../agents/claude/team-tools.ts';
import { requireProgram } from '../../agents/program.ts';
import { TeamError } from '../../core/errors.ts';
import type { OpenScreen } from '../../terminals/terminal.ts';
import { readConfig } from '../config-file.ts';
import { entryKeys } from '../differences.ts';
import { BRIDGE_MARK } from '../format.ts';
import type { NativeEntry } from '../format.ts';
import { appendEntries } from '../inbox-file.ts';
import { findNativeRoot, isSafeName, NATIVE_LEAD, nativePaths } from '../layout.ts';
import type { NativePaths } from '../layout.ts';
import { clearLeftLocks } from '../lock.ts';
import { LEAD_ENVIRONMENT, TEAMMATE_ENVIRONMENT, teammateArguments } from './arguments.ts';
import { openPane } from './pane.ts';
import type { Pane } from './pane.ts';
import {
  beginWork,
  enterMember,
  hostedLeadName,
  hostedName,
  mendHosted,
  prepareHosted,
  removeMember,
} from './place.ts';
import type { HostMark } from './place.ts';
import { findRecord, hasConversation } from './record.ts';
import { openNativeSession } from './session.ts';

/** Which Claude Code, for which team of ours, and where its terminals are. */
export interface ClaudeNativeOptions {
  /** The program, and arguments that come before ours; by default `claude` from the path. */
  readonly command?: readonly string[] | undefined;
  /** Added to our arguments. */
  readonly args?: readonly string[] | undefined;
  /** The team whose native team this member joins. */
  readonly mark: HostMark;
  readonly leadId: string;
  /** Where a person attaches to the member's terminal. */
  readonly socket: string;
  readonly openScreen: OpenScreen;
  /** The directory that the daemon synchronizes. Nothing reads any other. */
  readonly root?: string | undefined;
  /** How long a cancelled turn may take to end before the program is killed. */
  readonly cancelMs?: number | undefined;
}

const { program: NAME, install, abilities } = AGENTS['claude-native'];

/** The longest path of a Unix socket, without the final NUL. */
const SOCKET_LENGTH = 107;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Claude Code in its terminal, as a teammate of a native team that we lead. Turns go through its inbox; its session
 * record shows the results. The program starts with its first turn, which is then already in the inbox. This adapter of
 * the port `Agent` is in bridge/ because it works on the bridge's files.
 */
export function claudeNativeAgent(options: ClaudeNativeOptions): Agent {
  return {
    kind: 'claude-native',
    abilities,
    async start(start) {
      const root = findNativeRoot(start.env);
      if (options.root !== undefined && options.root !== root) {
        throw new TeamError(
          'invalid',
          `${start.memberId} would keep its files in ${root}, but the daemon reads ${options.root}: ` +
            'set HOME or CLAUDE_CONFIG_DIR for the daemon, not for the member',
        );
      }
      const [file = NAME] = options.command ?? [];
      requireProgram(file, start, install);
      requireProgram('tmux', start, 'install tmux: such a teammate runs in a terminal');
      if (Buffer.byteLength(options.socket) > SOCKET_LENGTH) {
        throw new TeamError('invalid', `${options.socket} is too long for a socket: choose a shorter TROUPE_HOME`);
      }
      if (!isSafeName(start.memberId)) throw new TeamError('invalid', `${start.memberId} cannot be a native name`);
      return openSession(options, start, root);
    },
  };
}

async function openSession(options: ClaudeNativeOptions, start: StartOptions, root: string): Promise<AgentSession> {
  const { memberId, tools } = start;
  const leads = memberId === options.leadId;
  const paths = nativePaths(root, leads ? hostedLeadName(options.mark) : hostedName(options.mark));
  const file = leads && tools ? writeTools(tools, start.env) : undefined;
  const asked = start.resume !== undefined && UUID.test(start.resume) ? start.resume : crypto.randomUUID();
  const record = findRecord(root, asked);
  const resumes = record !== undefined && hasConversation(record);
  // The id of a session that never began is in use but cannot be resumed.
  const id = record === undefined || resumes ? asked : crypto.randomUUID();
  const member = memberEntry(paths, start);
  await prepareHosted(root, paths, options.mark);
  await enterMember(paths, member);
  // Entries that an earlier process of ours wrote and nobody read: the member's process sends again what still applies.
  await appendEntries(paths, memberId, [], { without: (entry) => entry['via'] === BRIDGE_MARK });
  return openNativeSession({
    id,
    resumes,
    start,
    root,
    paths,
    leadId: options.leadId,
    leads,
    cancelMs: options.cancelMs,
    async write(entries, covered = []) {
      // Someone may have removed the directory in the meantime.
      await prepareHosted(root, paths, options.mark);
      await beginWork(paths, member);
      const isCovered = (entry: NativeEntry): boolean =>
        [...entryKeys([entry]).keys()].some((key) => covered.includes(key));
      await appendEntries(paths, memberId, entries, { without: isCovered });
    },
    launch: (how) => launch(options, { ...start, ...how, file: file?.path }, paths, id),
    async leave() {
      file?.remove();
      await clearLeftLocks([paths.config, paths.inbox(memberId), paths.inbox(NATIVE_LEAD), paths.taskList]);
      await mendHosted(paths, options.mark);
      await removeMember(paths, memberId);
    },
  });
}

async function launch(
  { command = [NAME], args = [], socket, openScreen }: ClaudeNativeOptions,
  start: StartOptions & { mode: Mode; resumes: boolean; file: string | undefined },
  paths: NativePaths,
  sessionId: string,
): Promise<Pane> {
  const { memberId: member, cwd, mode, model, effort, ownTools, resumes, tools: team, file } = start;
  const reading = await readConfig(paths);
  const config = reading.kind === 'read' ? reading.config : undefined;
  const color = config?.members.find(({ name }) => name === member)?.color ?? 'blue';
  const leadSessionId = config?.leadSessionId ?? crypto.randomUUID();
  const [program = NAME, ...before] = command;
  const who = { member, team: paths.name, color, leadSessionId, sessionId, resumes, mode, model, effort, ownTools };
  const own = teammateArguments({ ...who, tools: team && file !== undefined ? { team, file } : undefined });
  const pane = await openPane(openScreen, {
    command: [program, ...before, ...own, ...args],
    cwd,
    env: { ...start.env, ...TEAMMATE_ENVIRONMENT, ...(file !== undefined && LEAD_ENVIRONMENT) },
    socket,
  });
  // Claude Code's own leads do the same: first the member, then its pane.
  await enterMember(paths, { name: member, tmuxPaneId: pane.id });
  return pane;
}

/** How a lead reaches its team, with its credential: in a private file, because everyone could read arguments. */
function writeTools(tools: TeamTools, env: StartOptions['env']): { path: string; remove: () => void } {
  const folder = mkdtempSync(join(env['TROUPE_HOME'] ?? tmpdir(), 'start-'));
  const path = join(folder, 'tools.json');
  writeFileSync(path, JSON.stringify(toolsConfig({ tools, mode: 'delegate' })), { mode: 0o600, flag: 'wx' });
  return { path, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function memberEntry(paths: NativePaths, { memberId, cwd, mode, model }: StartOptions) {
  return {
    agentId: `${memberId}@${paths.name}`,
    name: memberId,
    agentType: 'general-purpose',
    ...(model !== undefined && { model }),
    planModeRequired: mode === 'plan',
    joinedAt: Date.now(),
    tmuxPaneId: '',
    cwd,
    subscriptions: [],
    backendType: 'tmux',
  };
}
