import { entryKeys } from '../../../src/bridge/differences.ts';
import type { NativePaths } from '../../../src/bridge/layout.ts';
import { uuidOf } from '../../../src/bridge/mirror/names.ts';
import { SYSTEM } from '../../../src/core/actor.ts';
import type { TeamEvent } from '../../../src/core/event.ts';
import type { TaskRecord, TeamState } from '../../../src/core/state.ts';
import type { Checks } from '../checks.ts';
import { disk } from '../stand-ins/files.ts';
import { parseText } from './claude-files.ts';
import type { Entry, Json, Task, Version, Witness } from './claude-files.ts';

/** The prefix of messages that came from a native inbox. */
const IMPORTED = 'n-';

/** What has to be true of the files of a native team, beside the journal. */
export class NativeChecks implements Witness {
  readonly #paths: NativePaths;
  readonly #version: Version;
  readonly #natives: ReadonlySet<string>;
  readonly #checks: Checks;
  /** Entries that natives wrote to members of ours, by key. */
  readonly #written = new Map<string, string>();
  /** Entries that natives took from their inboxes. */
  readonly #taken = new Set<string>();
  /** The ids in native inboxes of messages whose delivery is in the journal. */
  readonly #delivered = new Set<string>();
  /** How often what an inbox had was lost, by path. */
  readonly #tears = new Map<string, number>();
  /** The places of these among all entries that natives wrote, and of the last one that is stored, by sender and recipient. */
  readonly #places = new Map<string, number>();
  readonly #lastStored = new Map<string, number>();
  /** All messages that the journal ever had. */
  readonly #sent = new Set<string>();
  /** The same by their ids in native inboxes. */
  readonly #messageKeys = new Map<string, string>();
  /** Who began a task there, by its native number. */
  readonly #begun = new Map<string, string>();
  readonly counts = { toOurs: 0, toNatives: 0, begun: 0, completed: 0, tears: 0 };

  constructor(paths: NativePaths, version: Version, natives: readonly string[], checks: Checks) {
    this.#paths = paths;
    this.#version = version;
    this.#natives = new Set(natives);
    this.#checks = checks;
  }

  torn(path: string): void {
    this.counts.tears++;
    this.#tears.set(path, (this.#tears.get(path) ?? 0) + 1);
    for (const [key, inbox] of this.#written) if (inbox === path && !this.#isStored(key)) this.#written.delete(key);
  }

  #isStored(key: string): boolean {
    return this.#sent.has(`${IMPORTED}${key}`.slice(0, 128));
  }

  #isTorn(name: string): boolean {
    return this.#tears.has(this.#paths.inbox(name));
  }

  /** A native wrote a message, and was told so. */
  wrote(to: string, entry: Entry): void {
    if (this.#natives.has(to) || isProtocol(entry)) return;
    this.counts.toOurs++;
    this.#written.set(keyOf(entry), this.#paths.inbox(to));
    this.#places.set(`${IMPORTED}${keyOf(entry)}`, this.counts.toOurs);
  }

  /** A native has read these: they are not in its inbox any more, or marked there. */
  taken(name: string, entries: readonly Entry[]): void {
    for (const entry of entries) {
      if (entry.via === 'troupe') this.counts.toNatives++;
      this.#taken.add(`${name} ${keyOf(entry)}`);
    }
  }

  created(_id: string): void {}

  began(id: string, name: string): void {
    this.counts.begun++;
    // Without locks another writer may be faster.
    if (this.#version === '2.1.325') this.#begun.set(id, name);
  }

  completed(id: string, _name: string): void {
    this.counts.completed++;
    this.#begun.delete(id);
  }

  /** Somebody gave a file that nobody could read an older content, or removed it. */
  mended(path: string, text: string | undefined): void {
    const { owner, status } = taskIn(text) ?? {};
    const id = path.slice(this.#paths.tasks.length + 1, -'.json'.length);
    if (status !== 'in_progress' || owner !== this.#begun.get(id)) this.#begun.delete(id);
  }

  /** A member of ours was told that it holds a task. */
  claimed(taskId: string, memberId: string): void {
    const native = numberOf(this.#checks.state.tasks.get(taskId)) ?? '';
    const other = this.#begun.get(native);
    this.#checks.require(
      other === undefined,
      `${memberId} was told that it holds ${taskId}, which ${other} has begun as ${native}`,
    );
  }

  stored(event: TeamEvent): void {
    if (event.type === 'task:created') this.#checkTwin(event.taskId);
    if (event.type === 'message:sent') {
      for (const { id, toId } of event.copies) {
        this.#checkPlace(id, `${event.by} to ${toId}`);
        this.#sent.add(id);
        this.#messageKeys.set(uuidOf(id), id);
      }
    }
    if (event.type === 'message:delivered') for (const id of event.messageIds) this.#delivered.add(uuidOf(id));
    if (event.type !== 'message:acknowledged' || event.by !== SYSTEM || !this.#natives.has(event.memberId)) return;
    for (const id of event.messageIds) {
      const key = id.startsWith(IMPORTED) ? id.slice(IMPORTED.length) : uuidOf(id);
      this.#checks.require(
        this.#taken.has(`${event.memberId} ${key}`) || this.#isTorn(event.memberId),
        `Message ${id} counts as read by ${event.memberId} (native), which never took it`,
      );
    }
  }

  /** What a native wrote to one of ours is stored in the order in which it was written. */
  #checkPlace(id: string, pair: string): void {
    const place = this.#places.get(id);
    if (place === undefined) return;
    this.#checks.require(place > (this.#lastStored.get(pair) ?? 0), `${id} (${pair}) is stored after a later one`);
    this.#lastStored.set(pair, place);
  }

  /** A native task is one of ours, and no more. */
  #checkTwin(taskId: string): void {
    const { tasks } = this.#checks.state;
    const native = numberOf(tasks.get(taskId));
    const twin = [...tasks.values()].find(
      (task) => task.id !== taskId && task.status !== 'deleted' && native !== undefined && numberOf(task) === native,
    );
    this.#checks.require(twin === undefined, `Tasks ${twin?.id} and ${taskId} are both ${native} of the native team`);
  }

  /** A daemon replaced a file. */
  replaced(path: string, before: string | undefined): void {
    if (before === undefined) return;
    if (path.startsWith(`${this.#paths.inboxes}/`)) this.#checkInbox(path, before);
    else if (path.startsWith(`${this.#paths.tasks}/`) && path.endsWith('.json')) this.#checkTask(path, before);
  }

  /** What nobody has read is removed only after the journal has it. */
  #checkInbox(path: string, before: string): void {
    const name = path.slice(this.#paths.inboxes.length + 1, -'.json'.length);
    const now = new Map(entriesIn(disk.files.text(path)).map((entry) => [keyOf(entry), entry]));
    const had = entriesIn(before);
    this.#checkOrder(name, [...now.keys()]);
    this.#checkAdded(
      name,
      [...now.values()].filter((entry) => !had.some((one) => keyOf(one) === keyOf(entry))),
    );
    for (const entry of had) {
      const key = keyOf(entry);
      if (entry.read === true || now.get(key)?.read === false) continue;
      this.#checks.require(!this.#natives.has(name), `The daemon took ${key} from ${name} (native)`);
      const isDone = isProtocol(entry) || entry.via === 'troupe' || this.#isStored(key);
      this.#checks.require(isDone, `${key} to ${name} was removed, and is not in the journal`);
    }
  }

  /** A native finds what one of ours wrote in the order of the journal. What was lost comes again, after later ones. */
  #checkOrder(name: string, keys: readonly string[]): void {
    if (!this.#natives.has(name) || this.#isTorn(name)) return;
    const last = new Map<string, number>();
    for (const key of keys) {
      const {
        fromId = '',
        order = 0,
        priority,
      } = this.#checks.state.messages.get(this.#messageKeys.get(key) ?? '') ?? {};
      if (fromId === '' || priority === 'urgent' || this.#natives.has(fromId)) continue;
      this.#checks.require(
        order > (last.get(fromId) ?? -1),
        `${name} (native) finds ${key} after a later one of ${fromId}`,
      );
      last.set(fromId, order);
    }
  }

  /** What a native has read is written again only while the journal does not know that it was written. */
  #checkAdded(name: string, added: readonly Entry[]): void {
    for (const entry of added) {
      const putBack = /^Your change of task #(\d+) was put back/.exec(entry.text)?.[1] ?? '';
      this.#checks.require(
        this.#begun.get(putBack) !== name,
        `${name} (native) is told that its change of ${putBack} was put back, and it has begun it`,
      );
      const key = keyOf(entry);
      if (!this.#taken.has(`${name} ${key}`) || this.#isTorn(name)) continue;
      const isOpen = this.#messageKeys.has(key) ? !this.#delivered.has(key) : this.#owed().has(key);
      this.#checks.require(isOpen, `${name} (native) gets ${key} again: ${entry.text}`);
    }
  }

  /** The notices that the native lead is owed. */
  #owed(): Set<string> {
    const { team, teamId } = this.#checks.state;
    const owed = (team?.metadata?.['nativeOwed'] ?? []) as unknown as readonly { id: string }[];
    return new Set(owed.map(({ id }) => uuidOf(`${teamId} owes ${id}`)));
  }

  /** Work that natives have begun stays theirs. */
  #checkTask(path: string, before: string): void {
    const was = taskIn(before);
    const now = taskIn(disk.files.text(path));
    const holder = was && this.#begun.get(was.id);
    if (!was || !now || holder === undefined || was.owner !== holder) return;
    const isKept = now.owner === holder && now.status !== 'pending';
    this.#checks.require(isKept, `Task ${was.id} was taken from ${holder} (native): ${now.owner} ${now.status}`);
  }

  /** What differs between both sides; undefined if nothing does. */
  difference({ tasks, members }: TeamState): string | undefined {
    const found: string[] = [];
    const known = new Set<string>();
    for (const task of tasks.values()) {
      if (task.status === 'deleted') continue;
      const native = numberOf(task);
      if (native === undefined) {
        found.push(`task ${task.id} has no file`);
        continue;
      }
      known.add(`${native}.json`);
      const file = taskIn(disk.files.text(this.#paths.task(native)));
      const status = task.status === 'failed' ? 'in_progress' : task.status;
      const isSame = file?.status === status && file.owner === task.assigneeId && file.subject === task.title;
      if (!isSame) {
        const theirs = file ? `${file.owner} ${file.status}` : 'unreadable';
        found.push(`task ${task.id} is ${task.assigneeId} ${status} here, and ${theirs} there`);
      }
    }
    for (const [name] of disk.files.list(this.#paths.tasks)) {
      if (name.endsWith('.json') && !known.has(name)) found.push(`${name} is no task here`);
    }
    const config = parseText(disk.files.text(this.#paths.config)) as { members: { name: string }[] } | undefined;
    const there = config?.members.map(({ name }) => name).toSorted();
    const here = [...members.values()].flatMap(({ id, status }) => (status === 'stopped' ? [] : id)).toSorted();
    if (there?.join() !== here.join()) found.push(`members are ${here.join()} here, and ${there?.join()} there`);
    if (disk.files.find(this.#paths.inboxes)) found.push(...this.#unread());
    for (const key of this.#written.keys()) if (!this.#isStored(key)) found.push(`${key} is not in the journal`);
    return found.length > 0 ? found.join('; ') : undefined;
  }

  #unread(): string[] {
    return disk.files.list(this.#paths.inboxes).flatMap(([name, node]) => {
      const to = name.slice(0, -'.json'.length);
      if (!node.bytes || !name.endsWith('.json') || this.#natives.has(to)) return [];
      const entries = entriesIn(node.bytes.toString());
      return entries.flatMap((entry) => (entry.read === true ? [] : [`${keyOf(entry)} waits for ${to}`]));
    });
  }

  /** Whether mail to a native member has reached it. */
  isSeen(toId: string, id: string, acknowledgedAt: Date | undefined): boolean {
    if (!this.#natives.has(toId) || id.startsWith(IMPORTED)) return true;
    return acknowledgedAt !== undefined;
  }
}

function isProtocol({ text }: Entry): boolean {
  return text.startsWith('{"type":');
}

function keyOf(entry: Entry): string {
  return [...entryKeys([entry as never]).keys()][0] ?? '';
}

function numberOf(task: TaskRecord | undefined): string | undefined {
  return (task?.metadata?.['native'] as Json | undefined)?.['id'] as string | undefined;
}

function entriesIn(text: string | undefined): Entry[] {
  return (parseText(text) as Entry[] | undefined) ?? [];
}

function taskIn(text: string | undefined): Task | undefined {
  return parseText(text) as Task | undefined;
}
