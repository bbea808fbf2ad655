import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SYSTEM } from '../../core/actor.ts';
import { joinSome, shorten } from '../../core/text.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { splitZero } from '../../workspaces/git.ts';
import type { Saved, Unsaved, Workspace } from '../../workspaces/workspace.ts';
import type { Worker } from './held.ts';
import type { TeamPlace } from './team-places.ts';

type Hidden = Extract<Unsaved, { kind: 'ignored' }>;

/** Says what is in a folder and in no save, and why; the first of many. */
export function listUnsaved(unsaved: readonly Unsaved[]): string[] {
  const shown = unsaved.slice(0, SHOWN).map(wordUnsaved);
  return unsaved.length > SHOWN ? [...shown, `and ${unsaved.length - SHOWN} more`] : shown;
}

/** More would only repeat the kind. */
const SHOWN = 20;

function wordUnsaved(one: Unsaved): string {
  switch (one.kind) {
    case 'ignored':
      return `${one.path} is ignored by ${wordRule(one)}, which the project did not have when the team began`;
    case 'special-file':
      return `${one.path} is no regular file (a pipe, a socket or a device)`;
    case 'submodule':
      return `${one.path} is a submodule, and what is in its folder is in no save`;
    case 'closed-folder':
      return `${shorten(one.path, 200)} cannot be looked into, since its permissions forbid it or its path is too long: what is new in it is in no save`;
  }
}

/** Whether a file with ignore rules changed since the team began. */
export async function hasNewRules({ depot, work }: TeamPlace, { tree, commit }: Saved): Promise<boolean> {
  if (commit === work.base) return false;
  const { out } = await depot.handle.run(['diff-tree', '-r', '-z', '--name-only', '--no-renames', work.base, tree]);
  return splitZero(out).some((path) => /(?:^|\/)\.gitignore$/.test(path.toString('latin1')));
}

/** Whether the project of a folder has submodules. */
export function hasSubmodules({ folder }: Pick<Workspace, 'folder'>): boolean {
  return existsSync(join(folder, '.gitmodules'));
}

/**
 * Tells members and their lead what a landed rule hides, and which submodules have files. The member whose work brought
 * the rule may mean it; others would not notice that their files do not land.
 */
export function openHiddenTelling(ledger: Ledger) {
  /** The rules and submodules that members were told of; a restart may repeat it. */
  const told = new Set<string>();

  return async ({ teamId, memberId }: Worker, unsaved: readonly Unsaved[]): Promise<void> => {
    const isNew = (what: string): boolean => {
      const key = JSON.stringify([teamId, memberId, what]);
      return !told.has(key) && told.add(key).has(key);
    };
    const landed = unsaved.filter((one): one is Hidden => one.kind === 'ignored' && one.isLanded);
    for (const [rule, hidden] of Map.groupBy(landed, wordRule)) {
      if (!isNew(rule)) continue;
      const content =
        `${joinSome(
          hidden.map(({ path }) => path),
          ', ',
        )} in the workspace of ${memberId} ${hidden.length === 1 ? 'is' : 'are'} ignored by ${rule}, which landed on the branch after the team began. ` +
        'That stays in the folder, but it is in no save and does not land. If it belongs to the work, change that rule, for example with a line that begins with an exclamation mark.';
      await tellBoth(ledger, { teamId, memberId }, content);
    }
    for (const { kind, path } of unsaved) {
      if (kind !== 'submodule' || !isNew(path)) continue;
      const content =
        `${path} in the workspace of ${memberId} is a submodule with files. What was changed there stays in the folder, but it is in no save and does not land. ` +
        'A change of a submodule belongs into its own repository.';
      await tellBoth(ledger, { teamId, memberId }, content);
    }
  };
}

/** Tells a member and its lead which files made room for what landed. */
export function tellMoved(ledger: Ledger, worker: Worker, paths: readonly string[]): Promise<void> {
  const content =
    `In the workspace of ${worker.memberId}, ${joinSome(paths, ', ')} made room for what landed, and is in the trash of Troupe now: ` +
    'no save had it. troupe work clean says where.';
  return tellBoth(ledger, worker, content);
}

/** Tells a member and its lead what an earlier task left that cannot be saved. */
export function tellLeft(ledger: Ledger, worker: Worker, paths: readonly string[]): Promise<void> {
  const content =
    `An earlier task left ${joinSome(paths, ', ')} in the workspace of ${worker.memberId}. No save can hold that, so it did not land. ` +
    'It would keep the next task from being handed in, so Troupe moved it to its trash: troupe work clean says where.';
  return tellBoth(ledger, worker, content);
}

async function tellBoth(ledger: Ledger, { teamId, memberId }: Worker, content: string): Promise<void> {
  const readers = await ledger.view(teamId, ({ team, members }) =>
    [...new Set([team?.leadId ?? '', memberId])].filter((id) => members.has(id)),
  );
  for (const toId of readers) {
    const message = { toId, content, messageType: 'system', priority: 'normal' } as const;
    const messageId = `hidden-${memberId}-${crypto.randomUUID()}/${toId}`;
    await ledger.execute(teamId, { type: 'message.send', by: SYSTEM, messageId, ...message }, () => undefined);
  }
}

function wordRule({ source, line, rule }: Hidden): string {
  return `${source}:${line} (${rule})`;
}
