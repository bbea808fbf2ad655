import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { USER } from '../../../src/core/actor.ts';
import { HookConfig } from '../../../src/core/hook.ts';
import type { HookResult } from '../../../src/core/hook.ts';
import { JoinInput } from '../../../src/core/member.ts';
import { CreateTeamInput } from '../../../src/core/team.ts';
import { memoryJournal } from '../../../src/journal/memory.ts';
import { Mailbox } from '../../../src/ledger/mailbox.ts';
import { SharedTaskList } from '../../../src/ledger/task-list.ts';
import { openApprovals } from '../../../src/runtime/hooks/approvals.ts';
import { TeamHooks } from '../../../src/runtime/hooks/team-hooks.ts';
import type { TeamHooksOptions } from '../../../src/runtime/hooks/team-hooks.ts';
import { openProcessRecords } from '../../../src/runtime/process-records.ts';
import { openLedger } from '../../ledger/places.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

/** The payload of a completion for a gate. */
export const CONTEXT = {
  teamId: 'demo',
  taskId: '1',
  taskTitle: 'Judged',
  completedBy: 'worker',
  memberName: 'worker',
  duration: 12,
  dependentTaskIds: ['2', '3'],
};

type Registration = Parameters<TeamHooks['registerHook']>[1];

/** A team `demo` with a `worker`, and hooks in their own folder. */
export async function setStage(environment: Record<string, string> = {}, more: Partial<TeamHooksOptions> = {}) {
  const folder = temporaryFolder();
  const processes = temporaryFolder();
  const folders = temporaryFolder();
  const ledger = openLedger(memoryJournal());
  const hooks = new TeamHooks(ledger, {
    approvals: openApprovals(join(temporaryFolder(), 'approvals.json')),
    records: openProcessRecords(processes),
    environmentOf: () => ({ PATH: process.env['PATH'], ...environment }),
    cwd: folder,
    folders,
    grace: 100,
    ...more,
  });
  const tasks = new SharedTaskList(ledger, { gate: hooks });
  const mailbox = new Mailbox(ledger, { gate: hooks });
  onTestFinished(() => {
    tasks.close();
    mailbox.close();
  });
  await ledger.execute(
    'demo',
    [
      { type: 'team.create', by: USER, ...CreateTeamInput.parse({ name: 'demo', leadSessionId: 'session-of-lead' }) },
      { type: 'member.join', by: USER, ...JoinInput.parse({ name: 'worker', sessionId: 'session-of-worker' }) },
    ],
    () => undefined,
  );
  const complete = (hook: Partial<Registration>): Registration => ({
    type: 'TaskCompleted',
    command: 'true',
    cwd: folder,
    ...hook,
  });
  const register = (hook: Partial<Registration>): Promise<void> => hooks.registerHook('demo', complete(hook));
  return {
    folder,
    folders,
    processes,
    ledger,
    hooks,
    tasks,
    mailbox,
    register,
    read: (name: string) => readFileSync(join(folder, name), 'utf8'),
    config: (hook: Partial<Registration>) => HookConfig.parse(complete(hook)),
    /** Runs one hook on a completion. */
    async judge(hook: Partial<Registration>): Promise<HookResult> {
      await hooks.removeHook('demo', 'TaskCompleted');
      await register(hook);
      return hooks.executeTaskCompletedHook(CONTEXT);
    },
    /** Task 1, held by the worker. */
    async task(title = 'Judged', description = ''): Promise<void> {
      await tasks.createTask('demo', USER, { title, description });
      await tasks.claimTask('demo', '1', 'worker');
    },
    /** Programs that still run in the folder of the hooks. */
    left: () =>
      readdirSync('/proc').filter((pid) => {
        try {
          return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`) === folder;
        } catch {
          return false;
        }
      }),
  };
}
