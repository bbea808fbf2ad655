import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openBridge } from '../../src/bridge/bridge.ts';
import type { Bridge } from '../../src/bridge/bridge.ts';
import { nativePaths } from '../../src/bridge/layout.ts';
import type { NativePaths } from '../../src/bridge/layout.ts';
import { MIRROR_TIMES } from '../../src/bridge/mirror/shared.ts';
import type { MirrorTimes } from '../../src/bridge/mirror/shared.ts';
import { TeamError } from '../../src/core/errors.ts';
import { JoinInput } from '../../src/core/member.ts';
import { parse } from '../../src/core/parse.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { memoryJournal } from '../../src/journal/memory.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { Mailbox } from '../../src/ledger/mailbox.ts';
import { SharedTaskList } from '../../src/ledger/task-list.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** The native team's name. */
export const NATIVE = 'session-0fc79bc3';
/** Our team, with the same name. */
export const TEAM = NATIVE;

/** One daemon's objects. */
export interface Side {
  readonly bridge: Bridge;
  readonly ledger: Ledger;
  readonly tasks: SharedTaskList;
  readonly mail: Mailbox;
}

/** The times, which a test may change while it runs. */
export type Times = { -readonly [Name in keyof MirrorTimes]: MirrorTimes[Name] };

/**
 * Short times: what is missing is gone at once, a failure is retried at once, and half-written files are not waited
 * for. The patience with locks is the default.
 */
const SHORT: MirrorTimes = { ...MIRROR_TIMES, grace: 0, gone: 0, retry: 20, files: { settle: 20 } };

/** Everything that a test may use. */
export interface Stage extends Side {
  readonly root: string;
  readonly paths: NativePaths;
  readonly journal: Journal;
  readonly times: Times;
  readonly open: (home?: string, journal?: Journal, starts?: boolean) => Side;
  readonly settled: () => Promise<void>;
}

export type Json = Record<string, unknown>;
export const read = (path: string): Json => JSON.parse(readFileSync(path, 'utf8')) as Json;
export const readTeam = (path: string): { members: Json[] } => read(path) as { members: Json[] };
export const readList = (path: string): Json[] => JSON.parse(readFileSync(path, 'utf8')) as Json[];
export const readStamp = (path: string): Json =>
  ((read(path)['metadata'] as Json | undefined)?.['troupe'] ?? {}) as Json;
export const member = (name: string): Json => ({
  agentId: `${name}@${NATIVE}`,
  name,
  agentType: 'general-purpose',
  tmuxPaneId: 'in-process',
  backendType: 'in-process',
  cwd: '/tmp',
  subscriptions: [],
});
export const file = (id: string, more: Json = {}): Json => ({
  id,
  subject: `Task ${id}`,
  description: 'do it',
  status: 'pending',
  blocks: [],
  blockedBy: [],
  ...more,
});

/** A joined native team of a lead and alice with two tasks, and a member of ours. */
export async function setStage(config: Json = {}, given: Partial<MirrorTimes> = {}): Promise<Stage> {
  const times: Times = { ...SHORT, ...given };
  const root = join(temporaryFolder(), 'claude');
  const paths = nativePaths(root, NATIVE);
  mkdirSync(paths.inboxes, { recursive: true });
  mkdirSync(paths.tasks, { recursive: true });
  const lead: Json = { ...member('team-lead'), agentType: 'team-lead' };
  const whole = {
    name: NATIVE,
    leadAgentId: lead['agentId'],
    leadSessionId: 's',
    members: [lead, member('alice')],
    ...config,
  };
  writeFileSync(paths.config, JSON.stringify(whole, undefined, 2));
  for (const id of ['1', '2']) writeFileSync(paths.task(id), JSON.stringify(file(id), undefined, 2));
  const journal = memoryJournal();
  const open: Stage['open'] = (home = 'home', on = journal, starts = false) => {
    const ledger = new Ledger(on, { exclusive: true });
    const bridge = openBridge({
      ledger,
      home,
      root,
      trash: join(root, '../trash'),
      scratch: memoryJournal,
      starts,
      times,
      onError: (error) => console.error(error),
    });
    onTestFinished(async () => {
      await bridge.close();
      await ledger.close();
    });
    return { bridge, ledger, tasks: new SharedTaskList(ledger, { claims: bridge.claims }), mail: new Mailbox(ledger) };
  };
  const side = open();
  await side.bridge.join(NATIVE);
  await addMember(side.ledger, 'codex-1');
  const settled = async (): Promise<void> => {
    side.bridge.sight().list();
    await side.bridge.settled(TEAM);
    await side.bridge.settled(TEAM);
  };
  await settled();
  return { ...side, root, paths, journal, times, open, settled };
}

/** A journal that refuses to write while `isFull` says so. */
export function fillable(journal: Journal, isFull: () => boolean): Journal {
  return new Proxy(journal, {
    get: (of, key: keyof Journal) => {
      if (key !== 'append') return of[key];
      return (...input: Parameters<Journal['append']>) =>
        isFull() ? Promise.reject(new TeamError('storage', 'The disk is full')) : of.append(...input);
    },
  });
}

/** Adds a member of ours. */
export function addMember(ledger: Ledger, name: string): Promise<void> {
  const input = parse(JoinInput, { name, role: 'coder' });
  return ledger.execute(TEAM, { type: 'member.join', by: '@user', ...input }, () => undefined);
}
