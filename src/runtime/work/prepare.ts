import { dirname, join, relative } from 'node:path';
import { SYSTEM } from '../../core/actor.ts';
import { TeamError } from '../../core/errors.ts';
import { folderInWorkspace } from '../../core/folder.ts';
import type { TeamState } from '../../core/state.ts';
import type { TeamSetup } from '../../core/team-work.ts';
import { joinSome, quote } from '../../core/text.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { splitZero } from '../../workspaces/git.ts';
import { toText } from '../../workspaces/paths.ts';
import type { Saved, Workspace } from '../../workspaces/workspace.ts';
import { recordDeparture } from '../departure.ts';
import { hashAll } from '../hooks/approvals.ts';
import { filesOfHook, isWithin } from '../hooks/hook-files.ts';
import { SETUP_FILES } from './setup-files.ts';
import { readSetup, writeSetup } from './setup-record.ts';
import type { SetupRecord } from './setup-record.ts';
import type { SetupEnd, Setups } from './setup.ts';
import type { TeamPlace } from './team-places.ts';
import type { Telling } from './waiting.ts';

/** A member and its open workspace. */
export interface Prepared {
  readonly teamId: string;
  readonly memberId: string;
  readonly place: TeamPlace;
  readonly workspace: Workspace;
  readonly slot: number;
  /** What to throw if setup fails in a folder that is no member's; nobody is told what it wrote there. */
  readonly refuse?: (ended: SetupEnd) => TeamError;
}

/** Makes workspaces ready to work in. */
export interface Preparing {
  /**
   * Runs `setup`, if the team has one and it has to run. If it fails, the member is stopped and a person is asked; then
   * this fails with `member_stopped`.
   */
  prepare(prepared: Prepared, telling: Telling): Promise<void>;
  /** Whether a save has only what `setup` changed: then it is nobody's work. */
  isOfSetup(name: Pick<Prepared, 'teamId' | 'memberId'>, saved: Saved): boolean;
  /** The last run in a workspace, also one that still goes on; undefined if there was none. */
  lastRun(name: Pick<Prepared, 'teamId' | 'memberId'>): SetupRecord | undefined;
  /** Ends what runs. */
  close(): Promise<void>;
}

/** What preparing needs. */
export interface PreparingOptions {
  readonly ledger: Ledger;
  /** The parent of what is kept about workspaces. */
  readonly indexes: string;
  /** Without it, no setup runs. */
  readonly setups: Setups | undefined;
  readonly onError: (error: unknown, about: { teamId: string; memberId?: string }) => void;
}

interface Running {
  readonly done: Promise<void>;
  readonly stop: AbortController;
  printed: () => string;
}

/** How many files are named in a message and remembered. */
const NAMED = 100;

/** How much of the end of its output a person gets with the question, in characters. */
const END_CHARS = 2_000;

/** Opens it. Nothing runs before it is asked for. */
export function openPreparing({ ledger, indexes, setups, onError }: PreparingOptions): Preparing {
  const running = new Map<string, Running>();
  const aboutOf = ({ teamId, memberId }: { teamId: string; memberId: string }) => join(indexes, teamId, memberId);

  return {
    async prepare(prepared, telling) {
      const { setup } = prepared.place.work;
      if (!setup || !setups) return;
      const key = `${prepared.teamId}/${prepared.memberId}`;
      // A member that was killed and started again waits for the same run.
      const known = running.get(key);
      if (known) return known.done;
      const stop = new AbortController();
      const done = prepareOne(prepared, { setup, telling, stop, setups }).finally(() => running.delete(key));
      running.set(key, { done, stop, printed: () => '' });
      return done;
    },
    isOfSetup(name, saved) {
      const record = readSetup(aboutOf(name));
      return record?.after === saved.commit && record.before.isClean && record.before.base === saved.base;
    },
    lastRun(name) {
      const record = readSetup(aboutOf(name));
      if (record?.state !== 'running') return record;
      const now = running.get(`${name.teamId}/${name.memberId}`);
      if (now) return { ...record, output: now.printed() };
      return { ...record, state: 'failed', why: 'was interrupted, and runs again when its member is started' };
    },
    async close() {
      const all = [...running.values()];
      const why = new TeamError('overloaded', 'The daemon is ending: the setup runs again with the next one');
      for (const { stop } of all) stop.abort(why);
      await Promise.all(all.map(({ done }) => done.catch(() => {})));
    },
  };

  async function prepareOne(prepared: Prepared, { setup, telling, stop, setups: runner }: Job): Promise<void> {
    const { teamId, memberId, place, workspace, slot } = prepared;
    const about = aboutOf(prepared);
    const cwd = folderInWorkspace(workspace.folder, place.work);
    const reads = await readBy(prepared, setup, cwd);
    const last = readSetup(about);
    const what = hashAll([setup.command, reads]);
    if (!(await workspace.needsSetup(what))) return;
    telling.step(`is being prepared by its setup: ${setup.command}`);
    const before = await stateBefore(workspace, last);
    const began = { command: setup.command, startedAt: Date.now(), reads: reads.map(({ path }) => path), before };
    writeSetup(about, { ...began, state: 'running', wrote: last?.wrote ?? [], output: '' });
    await takeApprovals(runner, setup, teamId);
    // A run that fails or is killed leaves the folder half made, also for what it was ready for before.
    await workspace.forgetSetup();
    const ended = await run(prepared, { setup, cwd, slot, stop, setups: runner });
    const saved = (await workspace.save()) as Saved;
    const wrote = await changedBetween(place, before.commit, saved);
    const known = new Set(last?.wrote);
    const { output, why } = ended;
    const record = { ...began, endedAt: Date.now(), wrote: wrote.slice(0, NAMED), after: saved.commit, output };
    writeSetup(about, { ...record, state: why === undefined ? 'done' : 'failed', ...(why !== undefined && { why }) });
    if (why !== undefined) throw prepared.refuse?.(ended) ?? (await stopMember(prepared, setup, ended));
    await workspace.setupDone(what);
    if (!prepared.refuse && wrote.some((path) => !known.has(path))) {
      await tellWrote(teamId, memberId, wrote, setup).catch((error: unknown) => onError(error, { teamId, memberId }));
    }
  }

  async function run(
    { teamId, memberId }: Prepared,
    { setup, cwd, slot, stop, setups: runner }: Omit<Job, 'telling'> & { cwd: string; slot: number },
  ): Promise<SetupEnd> {
    // Nobody needs the folder of a member that is stopped meanwhile.
    const unsubscribe = ledger.subscribe((id, { events }) => {
      const isOver = events.some(({ type, ...event }) => type === 'teammate:stopped' && ofMember(event, memberId));
      if (id === teamId && isOver) stop.abort(new TeamError('member_stopped', `${memberId} was stopped`));
    });
    const onStart = (printed: () => string): void => {
      const now = running.get(`${teamId}/${memberId}`);
      if (now) now.printed = printed;
    };
    try {
      return await runner.run({ teamId, memberId, setup, cwd, slot, signal: stop.signal, onStart });
    } finally {
      unsubscribe();
    }
  }

  /** A person said yes to content that was new, for whichever member. */
  async function takeApprovals(runner: Setups, setup: TeamSetup, teamId: string): Promise<void> {
    for (const hash of await ledger.view(teamId, approvedIn)) runner.approve(setup, hash);
  }

  /** Stops the member, gives its tasks back, and asks a person. Nothing counts as its failure. */
  async function stopMember(prepared: Prepared, setup: TeamSetup, ended: SetupEnd): Promise<TeamError> {
    const { teamId, memberId, place, workspace } = prepared;
    const { why = '', output, unapproved } = ended;
    const cwd = folderInWorkspace(workspace.folder, place.work);
    const hostId = await ledger.view(teamId, ({ members }) => members.get(memberId)?.hostId);
    const said = `The setup of its workspace (${quote(setup.command)}) ${why}`;
    const next =
      unapproved === undefined
        ? `It ran in ${cwd}. All of its output: troupe work setup ${memberId} --team ${teamId}\n\n` +
          'Fix the cause, then say yes to run it again. If the command is wrong, change work.setup in the team file and run troupe up.'
        : `Read them in ${cwd}. Yes approves them and runs it, for all members that wait for this.`;
    const content = [
      `${memberId} cannot begin. ${said}. It is stopped, and holds no task.`,
      ...(output.trim() === '' ? [] : [`The end of its output:\n${output.trimEnd().slice(-END_CHARS)}`]),
      next,
    ].join('\n\n');
    const detail = unapproved === undefined ? {} : { detail: { setup: unapproved } };
    const reason = said.slice(0, 500);
    await recordDeparture(ledger, { teamId, memberId, hostId: hostId ?? '', reason, question: { content, ...detail } });
    return new TeamError('member_stopped', `${memberId} is stopped. ${said}`);
  }

  /** What setup changed would count as the member's work, so both the member and the lead hear of it. */
  async function tellWrote(
    teamId: string,
    memberId: string,
    wrote: readonly string[],
    setup: TeamSetup,
  ): Promise<void> {
    const readers = await ledger.view(teamId, ({ team, members }) =>
      [...new Set([team?.leadId ?? '', memberId])].filter((id) => members.has(id)),
    );
    const names = joinSome(wrote, ', ');
    const content =
      `The setup of the workspace of ${memberId} (${quote(setup.command)}) changed ${names}, which git does not ignore. ` +
      'They count as the work of the first task that is handed in there. If they should not, add them to .gitignore, or change the setup.';
    for (const toId of readers) {
      const message = { toId, content, messageType: 'system', priority: 'normal' } as const;
      const messageId = `setup-${memberId}-${crypto.randomUUID()}/${toId}`;
      await ledger.execute(teamId, { type: 'message.send', by: SYSTEM, messageId, ...message }, () => undefined);
    }
  }
}

interface Job {
  readonly setup: TeamSetup;
  readonly telling: Telling;
  readonly stop: AbortController;
  readonly setups: Setups;
}

function ofMember(event: object, memberId: string): boolean {
  return 'memberId' in event && event.memberId === memberId;
}

/** The content of setups that a person approved by an answer: to a member that was stopped, or to work that changes it. */
function approvedIn({ requests }: TeamState): string[] {
  return [...requests.values()].flatMap(({ kind, status, detail, answeredBy }) => {
    const hash = kind === 'restart' ? detail?.['setup'] : kind === 'gate' && detail?.['approves'];
    const isYes = status === 'approved' && answeredBy !== SYSTEM;
    return isYes && typeof hash === 'string' ? hash : [];
  });
}

/**
 * What the folder held before. A run that was killed or failed left its changes there: they must not look like the
 * member's.
 */
async function stateBefore(workspace: Workspace, last: SetupRecord | undefined): Promise<SetupRecord['before']> {
  const saved = (await workspace.save()) as Saved;
  if (last && last.state !== 'done' && last.before.base === saved.base) return last.before;
  return { commit: saved.commit, base: saved.base, isClean: saved.changes.length === 0 };
}

/** The paths that differ between a save and a later one, and those that the later one leaves out. */
async function changedBetween({ depot }: TeamPlace, before: string, after: Saved): Promise<string[]> {
  const leftOut = after.leftOut.map(({ path }) => path);
  if (before === after.commit) return leftOut;
  const { files } = await depot.diff(before, after.commit, { maxBytes: 0 });
  return [...new Set([...files.map(({ path }) => path), ...leftOut])];
}

/**
 * The files that a setup reads, as far as that can be known, as the base of the workspace has them: the usual manifests
 * and lock files, in the team's folder and above it, and files that the command names. What the member itself changes in
 * them is its work; it counts once it is on the branch.
 */
async function readBy(
  { place, workspace }: Prepared,
  setup: TeamSetup,
  cwd: string,
): Promise<{ path: string; id: string }[]> {
  const { folder, base } = workspace;
  if (base === undefined) return [];
  const folders = [cwd];
  while (folders.at(-1) !== folder && folders.length < 64) folders.push(dirname(folders.at(-1) ?? ''));
  const usual = folders.flatMap((one) => SETUP_FILES.map((name) => join(one, name)));
  const named = [...filesOfHook({ command: setup.command, executor: 'shell' }, cwd).keys()];
  const paths = new Set(
    [...usual, ...named.filter((path) => isWithin(folder, path))].map((path) => relative(folder, path)),
  );
  const { out } = await place.depot.handle.run(['ls-tree', '-z', '--full-tree', base, '--', ...paths]);
  return splitZero(out).map((entry) => {
    const tab = entry.indexOf(9);
    return { path: toText(entry.subarray(tab + 1)), id: entry.toString('latin1', 0, tab) };
  });
}
