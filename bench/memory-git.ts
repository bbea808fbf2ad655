import type { TaskCompletedHookContext } from '../src/core/hook.ts';
import type { SharedTask } from '../src/core/task.ts';
import type { WorkSaver } from '../src/ledger/hand-in.ts';
import type { Ledger } from '../src/ledger/ledger.ts';
import type { JudgedFolder, TaskGate } from '../src/ledger/task-gate.ts';
import { ALLOWED } from '../src/runtime/hooks/verdict.ts';
import type { LandingGit } from '../src/runtime/landing/landing.ts';

/** The first commit. */
export const BASE = '0'.repeat(39) + '1';

/** A commit: the tasks whose work it has, and whether each is good. */
type Files = ReadonlyMap<string, boolean>;

const SIZE = { files: 1, added: 1, removed: 0 };

/** Workspaces and a branch in memory, for measuring the queue without git. No two works conflict. */
export function memoryGit(ledger: Ledger, teamId: string) {
  const commits = new Map<string, Files>([[BASE, new Map()]]);
  const folders = new Map<string, { base: string; commit: string; taskId: string }>();
  const tipNow = (): Promise<string> => ledger.view(teamId, ({ team }) => team?.work?.tip ?? BASE);
  const add = (files: Files): string => {
    const id = (commits.size + 1).toString(16).padStart(40, '0');
    commits.set(id, files);
    return id;
  };
  const filesOf = (commit: string): Files => commits.get(commit) ?? new Map();
  const folderOf = (memberId: string) => folders.get(memberId) ?? { base: BASE, commit: BASE, taskId: '' };

  const works: WorkSaver = {
    save: async ({ memberId }) => folderOf(memberId),
    measure: async ({ memberId }, { base, commit }) => ({ base, commit, ...SIZE, paths: [folderOf(memberId).taskId] }),
    merge: () => Promise.reject(new Error('Nobody accepts work without a gate here')),
    settled: async () => {},
  };
  const landing: LandingGit = {
    async mergeOnto(_teamId, work, onto) {
      const { taskId, memberId, epoch, base, commit, files, added, removed, paths } = work;
      const merged = add(new Map([...filesOf(onto), [taskId, filesOf(commit).get(taskId) ?? false]]));
      return { memberId, epoch, base, commit, files, added, removed, paths, onto, merged };
    },
    explain: async () => '',
    publish: async (_teamId, merged) => [...merged],
    checkOut: async (_teamId, merged) => ({ folder: merged, slot: 0 }),
    isGone: async () => false,
    isHere: () => true,
    isAsHandedIn: async (_teamId, { memberId, commit }) => folderOf(memberId).commit === commit,
  };

  return {
    works,
    landing,
    async begin(member: string, { id: taskId, epoch }: Pick<SharedTask, 'id' | 'epoch'>): Promise<void> {
      const base = await tipNow();
      folders.set(member, { base, commit: base, taskId });
      const begun = { type: 'work.begin', by: member, taskId, memberId: member, epoch, base } as const;
      await ledger.execute(teamId, begun, () => undefined);
    },
    write(member: string, taskId: string, isGood: boolean): void {
      const { base } = folderOf(member);
      folders.set(member, { base, commit: add(new Map([...filesOf(base), [taskId, isGood]])), taskId });
    },
    /** A gate that takes its time, and rejects what has a bad work in it. */
    gateOf: (wait: () => Promise<void>): TaskGate => ({
      async executeTaskCompletedHook({ taskId }: TaskCompletedHookContext, judged?: JudgedFolder) {
        const holder = await ledger.view(teamId, ({ tasks }) => tasks.get(taskId)?.assigneeId ?? '');
        const files = filesOf(judged?.folder ?? folderOf(holder).commit);
        await wait();
        return isGreen(files) ? ALLOWED : { ...ALLOWED, exitCode: 2, stderr: 'bad work' };
      },
    }),
    /** Every tip was green, and the last one has the work of all tasks. */
    async requireGreen(count: number): Promise<void> {
      let last: Files = new Map();
      for await (const { events } of ledger.read(teamId, 0)) {
        for (const event of events) {
          if (event.type !== 'work:landed') continue;
          last = filesOf(event.merged);
          if (!isGreen(last)) throw new Error(`The tip ${event.merged} is red`);
        }
      }
      if (last.size !== count) throw new Error(`${last.size} of ${count} works landed`);
    },
  };
}

function isGreen(files: Files): boolean {
  return [...files.values()].every(Boolean);
}
