import { nounOf } from '../../core/event.ts';
import type { TeamEvent } from '../../core/event.ts';
import type { TeamState } from '../../core/state.ts';
import type { SharedTask } from '../../core/task.ts';
import { streamOf } from '../../core/view.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { NativeConfig } from '../format.ts';
import { NATIVE_LEAD, nativePaths } from '../layout.ts';
import type { Sight } from '../sight.ts';
import { watchDebris, watchUnreadable } from './housekeeping.ts';
import { mirrorMail } from './mail/mail.ts';
import { openNotices } from './mail/notices.ts';
import { markOf } from './marks.ts';
import { mirrorMembers, withdrawMembers } from './members.ts';
import { HOSTED_NAMES, JOINED_NAMES } from './names.ts';
import { leadOf } from './presence/lead.ts';
import { freeTasks } from './presence/parting.ts';
import { watchPresence } from './presence/presence.ts';
import type { Signature } from './presence/signature.ts';
import { keepRhythm, openSteps } from './rhythm.ts';
import type { MirrorTimes, Shared } from './shared.ts';
import { isRefusal } from './tasks/commands.ts';
import { mirrorTasks } from './tasks/tasks.ts';

/** A team that is synchronized with a native one. */
export interface Mirror {
  readonly teamId: string;
  readonly native: string;
  /** Recent problems and corrections, the newest last. */
  readonly reports: readonly string[];
  /** The native team is gone, and another one has its name. */
  readonly isReplaced: boolean;
  /** Why nothing is synchronized: another daemon does it. */
  readonly standsBack: string | undefined;
  /** Whether a claim also holds on the native side. */
  confirm(task: SharedTask, memberId: string): Promise<boolean>;
  /** Resolves when every change so far, on both sides, has been processed. */
  settled(): Promise<void>;
  /** Stops. With `withdraw` our members leave the native team and release their tasks there. */
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
  /** Where removed files go, and copies of unreadable ones. */
  readonly trash: string;
  readonly times: MirrorTimes;
  readonly onError: (error: unknown) => void;
  /** Set where we lead the native team: completes a task as its holder would, including its gates. */
  readonly complete?: ((taskId: string, memberId: string) => Promise<void>) | undefined;
  /** Called when our team is over: somebody closed it, or the native team of its seats ended. */
  readonly onOver?: () => void;
}

/** How often everything is compared, even without a notification. */
const COMPARE_MS = 3_000;

const REMEMBERED_REPORTS = 50;

/** What a pass compares even if no change was reported. */
interface Due {
  files: boolean;
  members: boolean;
  tasks: boolean;
  mail: boolean;
}

const NOTHING: Due = { files: false, members: false, tasks: false, mail: false };
const EVERYTHING: Due = { files: true, members: true, tasks: true, mail: true };

/** Starts the synchronization. The journal decides who holds what; files are read as requests and corrected. */
export async function openMirror(options: MirrorOptions): Promise<Mirror> {
  const { ledger, sight, teamId, native, signature, times, onError } = options;
  const paths = nativePaths(options.root, native);
  const reports: string[] = [];
  const { stream, leftAt } = await ledger.view(teamId, (state) => ({
    stream: state.team ? streamOf(state.team) : '',
    leftAt: Date.parse(markOf(state)?.leftAt ?? '') || 0,
  }));
  let leadName = NATIVE_LEAD;
  /** What the next pass compares besides changed files. */
  let due: Due = { ...EVERYTHING };
  let config: NativeConfig | undefined;
  /** Resolves after the first comparison: only then is it known which file is which task, and who has it there. */
  const compared = Promise.withResolvers<void>();

  /**
   * One pass, in this order: presence, then members, tasks and mail, each both ways, then our own notices. Members come
   * before tasks and mail, which name them.
   */
  const pass = async (): Promise<void> => {
    const now = due;
    due = { ...NOTHING };
    tasks.pictured();
    const team = await presence.look(now.files ? sight.team(native) : sight.glance(native));
    if (!team) {
      due = { ...EVERYTHING };
      return;
    }
    leadName = leadOf(team);
    await step('unreadable files', () => keepUnreadable(team));
    if (now.members || team.config !== config) await mirrorMembers(shared, team.config, signature);
    config = team.config;
    if (now.tasks) tasks.touch();
    await tasks.pass(team.tasks);
    await mail.pass(team, now.mail);
    await notices.pass(now.members);
    debris.look();
  };

  const rhythm = keepRhythm({
    pass: () => pass().then(compared.resolve),
    failed(error) {
      onError(error);
      shared.report(error instanceof Error ? error.message : String(error));
      due = { ...EVERYTHING };
    },
    times,
  });
  const steps = openSteps({
    again() {
      due = { ...EVERYTHING };
      rhythm.kick();
    },
    onError,
    times,
  });
  const { step } = steps;
  const view: Shared['view'] = (pick) => ledger.view(teamId, pick);
  const execute: Shared['execute'] = (command) => ledger.execute(teamId, command, () => undefined);
  const shared: Shared = {
    teamId,
    paths,
    stream,
    naming: options.complete ? HOSTED_NAMES : JOINED_NAMES,
    times,
    trash: options.trash,
    view,
    execute,
    async attempt(command, about) {
      try {
        await execute(command);
        return true;
      } catch (error) {
        if (!isRefusal(error)) throw error;
        shared.report(`${about}: ${error.message}`);
        return false;
      }
    },
    config: () => sight.team(native)?.config,
    leadName: () => leadName,
    step,
    report(what) {
      if (reports.at(-1) === what) return;
      reports.push(what);
      if (reports.length > REMEMBERED_REPORTS) reports.shift();
    },
    tell: (to, text, matter) => notices.tell(to, text, matter),
    wrote: (path, written) => sight.wrote(native, path, written),
    again: (after) => (after === undefined ? rhythm.kick() : rhythm.kickLater(after)),
    meet() {
      due.members = true;
      rhythm.kick();
    },
    expected: new Set(),
    spoken: new Set(),
  };
  const presence = watchPresence(shared, signature, () => options.onOver?.());
  const tasks = mirrorTasks(shared, { leftAt, compared: compared.promise, complete: options.complete });
  const mail = mirrorMail(shared);
  const notices = openNotices(shared);
  const keepUnreadable = watchUnreadable(shared);
  const debris = watchDebris(paths);

  const hear = (event: TeamEvent, state: TeamState): Promise<void> | undefined => {
    // Where we lead, our own lead gets these events.
    if (shared.naming.leads || presence.standsBack !== undefined) return undefined;
    return event.type === 'task:failed' ? tasks.tellFailed(event.taskId, event.reason) : notices.hear(event, state);
  };

  const unsubscribe = ledger.subscribe((team, batch, state) => {
    if (team !== teamId) return;
    for (const event of batch.events) {
      hear(event, state)?.catch(onError);
      if ('taskId' in event && event.taskId !== undefined) tasks.touch(state, event.taskId);
      // A message may have waited for this member.
      const noun = nounOf(event);
      if (noun === 'message' || event.type === 'teammate:joined') due.mail = true;
      if (noun !== 'message' && noun !== 'task' && noun !== 'work') due.members = true;
    }
    rhythm.kick();
  });
  const unsee = sight.subscribe((event) => {
    if (event.team === native) rhythm.kick();
  });
  await ledger.view(teamId, () => undefined);
  // Before anyone claims a task: another daemon may have come while this one was down.
  const present = sight.team(native)?.config;
  if (present) presence.giveWay(present);
  rhythm.kick();
  // A full comparison finds every missed change; `sight.ts` sweeps the files.
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
      return presence.isReplaced;
    },
    get standsBack() {
      return presence.standsBack;
    },
    confirm: (task, memberId) =>
      presence.standsBack === undefined ? tasks.confirm(task, memberId) : presence.refuse(task),
    async settled() {
      await notices.noted();
      due = { ...EVERYTHING };
      await rhythm.settled();
      await steps.settled();
    },
    async close({ withdraw = false } = {}) {
      compared.resolve();
      clearInterval(comparer);
      unsubscribe();
      unsee();
      await rhythm.close();
      steps.close();
      await steps.settled();
      if (withdraw) await tasks.end();
      const team = withdraw ? sight.team(native) : undefined;
      if (!team?.config) return;
      if (!presence.isReplaced && !presence.giveWay(team.config)) await freeTasks(shared, team, signature);
      await steps.settled();
      await withdrawMembers(paths, signature, times.files);
    },
  };
}
