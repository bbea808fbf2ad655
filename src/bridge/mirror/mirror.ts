import { join } from 'node:path';
import type { TeamEvent } from '../../core/event.ts';
import type { TeamState } from '../../core/state.ts';
import type { SharedTask } from '../../core/task.ts';
import { streamOf } from '../../core/view.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { watchDebris } from '../debris.ts';
import type { NativeConfig } from '../format.ts';
import { NATIVE_LEAD, nativePaths } from '../layout.ts';
import type { Sight } from '../sight.ts';
import { markOf, watchAbsence } from './absence.ts';
import { watchEnding } from './ending.ts';
import { freeTasks, hasEnded } from './farewell.ts';
import { leadOf } from './lead.ts';
import { writeLines } from './lines.ts';
import { mirrorMail } from './mail.ts';
import { mirrorMembers, withdrawMembers } from './members.ts';
import { HOSTED_NAMES, isUsualEnd, JOINED_NAMES, seatOf } from './names.ts';
import { keepDebts } from './owed.ts';
import type { MirrorParts } from './parts.ts';
import { keepRhythm } from './rhythm.ts';
import { watchRival } from './rival.ts';
import type { Signature } from './signature.ts';
import { openSteps } from './steps.ts';
import { mirrorTasks } from './tasks.ts';
import type { MirrorTimes } from './times.ts';
import { keepUnreadable } from './unreadable.ts';

/** A team that is kept in step with a native one. */
export interface Mirror {
  readonly teamId: string;
  readonly native: string;
  /** What went wrong or was put back lately, the newest last. */
  readonly reports: readonly string[];
  /** The native team is gone, and another one has its name. */
  readonly isReplaced: boolean;
  /** Why nothing is kept in step: another daemon does that. */
  readonly standsBack: string | undefined;
  /** Whether a claim holds on the native side, too. */
  confirm(task: SharedTask, memberId: string): Promise<boolean>;
  /** Resolves when everything that both sides said so far has been looked at. */
  settled(): Promise<void>;
  /** Stops; with `withdraw` our members leave the native team, and what they held there is free. */
  close(options?: { withdraw?: boolean }): Promise<void>;
}

/** What a mirror needs. */
export interface MirrorOptions {
  readonly ledger: Ledger;
  readonly sight: Sight;
  readonly root: string;
  readonly teamId: string;
  readonly native: string;
  readonly signature: Signature;
  /** Where files go that are taken away, and copies of those that cannot be read. */
  readonly trash: string;
  readonly times: MirrorTimes;
  readonly onError: (error: unknown) => void;
  /** Given where we lead the native team: ends a task as its holder would, gates and all. */
  readonly complete?: ((taskId: string, memberId: string) => Promise<void>) | undefined;
  /** Our side of it is over: closed by somebody, or with the native team for which alone it was there. */
  readonly onOver?: () => void;
}

/** How often everything is compared, whatever was heard. */
const COMPARE_MS = 3_000;

const REMEMBERED_REPORTS = 50;

/** What a pass looks at although nobody said that it changed. */
interface Due {
  files: boolean;
  members: boolean;
  tasks: boolean;
  mail: boolean;
}

const NOTHING: Due = { files: false, members: false, tasks: false, mail: false };
const EVERYTHING: Due = { files: true, members: true, tasks: true, mail: true };

/** Begins to keep two teams in step. The journal is right about who holds what; files are read as wishes and put right. */
export async function openMirror(options: MirrorOptions): Promise<Mirror> {
  const { ledger, sight, teamId, native, signature, times, onError } = options;
  const paths = nativePaths(options.root, native);
  const reports: string[] = [];
  const { stream, leftAt } = await ledger.view(teamId, (state) => ({
    stream: state.team ? streamOf(state.team) : '',
    leftAt: Date.parse(markOf(state)?.leftAt ?? '') || 0,
  }));
  let leadName = NATIVE_LEAD;
  /** What the next pass looks at besides what changed in files. */
  let due: Due = { ...EVERYTHING };
  let config: NativeConfig | undefined;

  const rhythm = keepRhythm({
    pass: () => pass(),
    failed(error) {
      onError(error);
      parts.report(error instanceof Error ? error.message : String(error));
      due = { ...EVERYTHING };
    },
    times,
  });
  const again = (): void => {
    due = { ...EVERYTHING };
    rhythm.kick();
  };
  const steps = openSteps({ again, onError, times });
  const { step } = steps;
  const parts: MirrorParts = {
    ledger,
    teamId,
    paths,
    stream,
    leftAt,
    naming: options.complete ? HOSTED_NAMES : JOINED_NAMES,
    complete: options.complete,
    leadId: ({ team }) => team?.leadId ?? NATIVE_LEAD,
    leadName: () => leadName,
    tell: (to, text, matter) => lines.tell(to, text, matter),
    times,
    step,
    report(what) {
      if (reports.at(-1) === what) return;
      reports.push(what);
      if (reports.length > REMEMBERED_REPORTS) reports.shift();
    },
    trash: join(options.trash, 'tasks'),
    kept: new Set(),
    wrote: (path, written) => sight.wrote(native, path, written),
    expected: new Set(),
    spoken: new Set(),
    meet() {
      due.members = true;
      rhythm.kick();
    },
    paneOf: (name) => sight.team(native)?.config?.members.find((one) => one.name === name)?.tmuxPaneId,
    isSigning: () => sight.team(native)?.config?.leadProcess !== undefined,
    again: () => rhythm.kick(),
  };
  const lines = writeLines(parts);
  const rivalry = watchRival(parts, signature);
  const ending = watchEnding(parts);
  const absence = watchAbsence(parts);
  const tasks = mirrorTasks(parts);
  const mail = mirrorMail(parts);
  const debts = keepDebts(parts, mail);
  const debris = watchDebris(paths);

  const pass = async (): Promise<void> => {
    const now = due;
    due = { ...NOTHING };
    tasks.pictured();
    const team = now.files ? sight.team(native) : sight.glance(native);
    if (!parts.naming.leads && (await ledger.view(teamId, (state) => hasEnded(state, stream)))) {
      // A closed team refuses everything: what natives do would be put back for ever.
      options.onOver?.();
      return;
    }
    const isThere = team !== undefined && team.form !== 'no-config';
    if (!isThere) {
      const over = await ending.away();
      if (over === 'not yet') rhythm.kickLater(times.gone);
      else if (over === 'all of it') options.onOver?.();
      await absence.away();
    } else if (!team.config) {
      parts.report(`${native} cannot be read: ${[team.readOnly ?? [], team.problems].flat().join('; ')}`);
    }
    if (!isThere || !team.config || !(await absence.back(team.config))) {
      due = { ...EVERYTHING };
      return;
    }
    ending.back();
    if (rivalry.giveWay(team.config)) {
      due = { ...EVERYTHING };
      return;
    }
    await step('unreadable files', () => keepUnreadable(parts, team, join(options.trash, 'unreadable')));
    leadName = leadOf(team);
    if (now.tasks) tasks.touch();
    if (now.members || team.config !== config) await mirrorMembers(parts, team.config, signature);
    config = team.config;
    await tasks.pass(team.tasks);
    await mail.pass(team, now.mail);
    if (now.members) await step('answers', () => mail.answerShutdowns());
    if (!parts.naming.leads) await debts.pay();
    await lines.retry();
    debris.look();
  };

  const hear = (event: TeamEvent, state: TeamState): Promise<void> | undefined => {
    // Where we lead, our own lead hears of all this.
    if (parts.naming.leads || rivalry.standsBack !== undefined) return undefined;
    if (event.type === 'task:failed') return tasks.tellFailed(event.taskId, event.reason);
    if (!('memberId' in event) || event.memberId === undefined) return undefined;
    const { memberId } = event;
    const member = state.members.get(memberId);
    if (!member || parts.naming.isNative(state, memberId)) return undefined;
    const seat = seatOf(member);
    const isQuestion = event.type === 'plan:submitted' || event.type === 'request:raised';
    if (isQuestion && seat !== undefined) {
      return debts.owe({ kind: 'question', memberId, requestId: event.requestId });
    }
    if (event.type === 'teammate:stopped' && seat !== undefined && isNews(event)) {
      return sight.team(native)?.config && debts.owe({ kind: 'gone', memberId, text: event.reason });
    }
    return event.type === 'teammate:idle' ? debts.owe({ kind: 'idle', memberId, text: event.result }) : undefined;
  };

  const unsubscribe = ledger.subscribe((team, batch, state) => {
    if (team !== teamId) return;
    for (const event of batch.events) {
      hear(event, state)?.catch(onError);
      if ('taskId' in event && event.taskId !== undefined) tasks.touch(state, event.taskId);
      // Mail may have waited for it.
      if (event.type.startsWith('message:') || event.type === 'teammate:joined') due.mail = true;
      if (!/^(message|task):/.test(event.type)) due.members = true;
    }
    rhythm.kick();
  });
  const unsee = sight.subscribe((event) => {
    if (event.team === native) rhythm.kick();
  });
  await ledger.view(teamId, () => undefined);
  // Before anybody takes a task: the other daemon may have come while this one was away.
  const present = sight.team(native)?.config;
  if (present) rivalry.giveWay(present);
  rhythm.kick();
  // What was missed, for whatever reason, is found by comparing all that is known; the files are swept by the sight.
  const comparer = setInterval(() => {
    due = { ...EVERYTHING, files: due.files };
    rhythm.kick();
  }, COMPARE_MS);
  comparer.unref();

  return {
    teamId,
    native,
    get reports() {
      return [...reports, ...steps.troubles()];
    },
    get isReplaced() {
      return absence.isReplaced;
    },
    get standsBack() {
      return rivalry.standsBack;
    },
    confirm: (task, memberId) =>
      rivalry.standsBack === undefined ? tasks.confirm(task, memberId) : rivalry.refuse(task),
    async settled() {
      await debts.noted();
      due = { ...EVERYTHING };
      await rhythm.settled();
      await steps.settled();
    },
    async close({ withdraw = false } = {}) {
      clearInterval(comparer);
      unsubscribe();
      unsee();
      await rhythm.close();
      steps.close();
      await steps.settled();
      if (withdraw) await tasks.end();
      const team = withdraw ? sight.team(native) : undefined;
      if (!team?.config) return;
      if (!absence.isReplaced && !rivalry.giveWay(team.config)) await freeTasks(parts, team, signature);
      await steps.settled();
      await withdrawMembers(paths, signature, times.files);
    },
  };
}

/** A member that left as it was told to is no news to the one who told it. */
function isNews({ reason, returning }: Extract<TeamEvent, { type: 'teammate:stopped' }>): boolean {
  return !returning && !isUsualEnd(reason);
}
