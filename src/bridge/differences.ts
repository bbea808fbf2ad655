import { createHash } from 'node:crypto';
import type { NativeEntry, NativeTask } from './format.ts';
import { textOfEntry } from './format.ts';
import type { NativeTeam } from './snapshot.ts';

/** A change in native files. */
export type NativeEvent =
  | { readonly type: 'team-appeared' | 'team-gone' | 'team-changed'; readonly team: string }
  | { readonly type: 'teammate-appeared' | 'teammate-gone'; readonly team: string; readonly member: string }
  | { readonly type: 'teammate-changed'; readonly team: string; readonly member: string; readonly active: boolean }
  | {
      readonly type: 'task-appeared' | 'task-changed' | 'task-gone';
      readonly team: string;
      readonly taskId: string;
      readonly status?: string;
      readonly owner?: string;
    }
  | {
      readonly type: 'message-passed';
      readonly team: string;
      readonly from: string;
      readonly to: string;
      readonly text: string;
    }
  | { readonly type: 'message-read'; readonly team: string; readonly from: string; readonly to: string };

/** The differences between two snapshots of a team. */
export function differencesOf(before: NativeTeam | undefined, after: NativeTeam | undefined): NativeEvent[] {
  const team = (after ?? before)?.name;
  if (team === undefined) return [];
  if (before && !after) return [{ type: 'team-gone', team }];
  const events: NativeEvent[] = before ? [] : [{ type: 'team-appeared', team }];
  const membersBefore = new Map(before?.config?.members.map((member) => [member.name, member]));
  const membersAfter = new Map(after?.config?.members.map((member) => [member.name, member]));
  for (const [member, { isActive }] of membersAfter) {
    const known = membersBefore.get(member);
    if (!known) events.push({ type: 'teammate-appeared', team, member });
    else if (isActive !== undefined && known.isActive !== isActive) {
      events.push({ type: 'teammate-changed', team, member, active: isActive });
    }
  }
  for (const member of membersBefore.keys()) {
    if (!membersAfter.has(member)) events.push({ type: 'teammate-gone', team, member });
  }
  for (const [taskId, task] of after?.tasks ?? []) {
    const known = before?.tasks.get(taskId);
    if (known === task) continue;
    const facts = { team, taskId, status: task.status, ...(task.owner !== undefined && { owner: task.owner }) };
    if (!known) events.push({ type: 'task-appeared', ...facts });
    else if (!isSame(known, task)) events.push({ type: 'task-changed', ...facts });
  }
  for (const taskId of before?.tasks.keys() ?? []) {
    if (!after?.tasks.has(taskId)) events.push({ type: 'task-gone', team, taskId });
  }
  events.push(...mailBetween(team, before, after));
  const shown = (one: NativeTeam): string => [one.readOnly, ...one.problems].join();
  if (events.length === 0 && before && after && shown(before) !== shown(after)) {
    events.push({ type: 'team-changed', team });
  }
  return events;
}

/** Cached for each inbox as read: there are many callers, and an inbox may have thousands of entries. */
const known = new WeakMap<readonly NativeEntry[], ReadonlyMap<string, NativeEntry>>();

/** A key for each entry: its own id, else a hash of sender, time and text. Equal entries are numbered. */
export function entryKeys(entries: readonly NativeEntry[]): ReadonlyMap<string, NativeEntry> {
  const before = known.get(entries);
  if (before) return before;
  const keys = new Map<string, NativeEntry>();
  for (const entry of entries) {
    const said = entry.msg_id ?? hash(`${entry.from}\n${entry.timestamp}\n${textOfEntry(entry)}`);
    let key = said;
    for (let i = 2; keys.has(key); i++) key = `${said}-${i}`;
    keys.set(key, entry);
  }
  known.set(entries, keys);
  return keys;
}

function mailBetween(team: string, before: NativeTeam | undefined, after: NativeTeam | undefined): NativeEvent[] {
  const events: NativeEvent[] = [];
  for (const [to, entries] of after?.inboxes ?? []) {
    if (before?.inboxes.get(to) === entries) continue;
    const earlier = entryKeys(before?.inboxes.get(to) ?? []);
    const now = entryKeys(entries);
    for (const [key, entry] of now) {
      const known = earlier.get(key);
      if (!known) events.push({ type: 'message-passed', team, from: entry.from, to, text: textOfEntry(entry) });
      else if (known.read !== true && entry.read === true) {
        events.push({ type: 'message-read', team, from: entry.from, to });
      }
    }
    for (const [key, entry] of earlier) {
      if (!now.has(key) && entry.read !== true) events.push({ type: 'message-read', team, from: entry.from, to });
    }
  }
  return events;
}

function isSame(a: NativeTask, b: NativeTask): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
