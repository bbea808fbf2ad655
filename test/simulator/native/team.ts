import { nativePaths } from '../../../src/bridge/layout.ts';
import type { NativePaths } from '../../../src/bridge/layout.ts';
import type { Checks } from '../checks.ts';
import { table } from '../processes.ts';
import { later, scheduler, WORLD } from '../scheduler.ts';
import type { Owner } from '../scheduler.ts';
import { disk } from '../stand-ins/files.ts';
import { NativeChecks } from './checks.ts';
import { ClaudeFiles, parseText } from './claude-files.ts';
import type { Version } from './claude-files.ts';
import { Claude, firstConfig } from './claude.ts';
import type { Node } from './file-system.ts';
import { checkRemoval } from './lock-checks.ts';

/** Claude Code's own directory. */
export const ROOT = '/home/.claude';

const MATES = ['alice', 'bob'];

/** How often a native process that died is started again, and what it left half written is mended. */
const LOOK_MS = 7_000;

export interface NativeOptions {
  readonly name: string;
  readonly version: Version;
  readonly machine: string;
  readonly ours: readonly string[];
  readonly checks: Checks;
  readonly isFaulty: () => boolean;
  readonly log: (text: string) => void;
}

/** A team of Claude Code: its files and its processes. */
export class NativeTeam {
  readonly checks: NativeChecks;
  readonly claudes: readonly Claude[];
  readonly #paths: NativePaths;
  readonly #whole = new Map<string, string>();
  #count = 0;
  /** Until when natives take tasks while ours claim some. */
  racesUntil = 0;

  constructor({ name, version, machine, ours, checks, isFaulty, log }: NativeOptions) {
    disk.reset();
    const paths = nativePaths(ROOT, name);
    this.#paths = paths;
    const natives = ['team-lead', ...MATES];
    this.checks = new NativeChecks(paths, version, natives, checks);
    const files = new ClaudeFiles(paths, version, this.checks);
    const count = (): number => this.#count++;
    const outside = {
      get isFaulty() {
        return isFaulty();
      },
      ours,
      mates: natives,
      count,
      log,
    };
    this.claudes = natives.map((one) => new Claude(one, machine, files, this.checks, outside));
    this.#makeFiles(name, version);
    disk.files.deafness = 0.02;
    disk.meanwhile = () => this.#meanwhile();
    disk.replaced = (path, before) => this.checks.replaced(path, before);
    disk.removing = (path, node) => checkRemoval(checks, path, node);
    for (const claude of this.claudes) claude.start();
    this.#register();
    this.#lookAgain();
  }

  #makeFiles(name: string, version: Version): void {
    for (const path of ['/home', ROOT, `${ROOT}/teams`, `${ROOT}/tasks`]) disk.files.mkdir(path);
    disk.files.mkdir(this.#paths.team);
    disk.files.mkdir(this.#paths.tasks);
    const write = (path: string, text: string): void =>
      disk.files.write(path, disk.files.open(path, { make: true }), Buffer.from(text));
    write(this.#paths.config, JSON.stringify(firstConfig(name, MATES, version), undefined, 2));
    write(this.#paths.taskList, '');
  }

  /** While a daemon works on files, natives go on: in the middle of theirs, or with something new. */
  #meanwhile(): void {
    const random = scheduler.random('meanwhile');
    if (!random.chance(0.06)) return;
    const busy = this.claudes.filter(({ isBusy }) => isBusy);
    const claude = random.pick(busy.length > 0 ? busy : this.claudes);
    for (let calls = 1 + random.below(12); calls > 0; calls--) claude.hurry();
  }

  /** While one of ours claims a task, a native takes one, or gives it away: now, or in the middle of what ours does. */
  async raceClaim(): Promise<void> {
    if (scheduler.now >= this.racesUntil) return;
    const random = scheduler.random('race');
    this.takeTask();
    // The mirror looks at a changed file after 25 to 60 ms.
    await later(random.between(0, random.chance(0.3) ? 5 : 130));
  }

  /** A native takes a task now, or gives one away; it may be interrupted. */
  takeTask(): void {
    const random = scheduler.random('race');
    const claude = random.pick(this.claudes);
    claude.isEager = true;
    for (let calls = 20 + random.below(100); calls > 0 && claude.isEager; calls--) claude.hurry();
  }

  /** Something is wrong with the disk. */
  get isTroubled(): boolean {
    return disk.trouble !== undefined;
  }

  owners(): Owner[] {
    return this.claudes.map(({ owner }) => owner).filter(({ isAlive }) => isAlive);
  }

  /** Somebody starts again what died, and mends what nobody can read. */
  #lookAgain(): void {
    scheduler.plan(
      LOOK_MS,
      () => {
        this.start();
        this.#lookAgain();
      },
      WORLD,
    );
  }

  start(): void {
    for (const claude of this.claudes) claude.start();
    this.#register();
    this.#mend();
  }

  #register(): void {
    for (const owner of this.owners()) table.others.set(owner.pid, owner);
  }

  #mend(): void {
    const { tasks, config, inboxes } = this.#paths;
    const files = disk.files.list(tasks).flatMap(([name]) => (/^\d+\.json$/.test(name) ? [`${tasks}/${name}`] : []));
    for (const path of [...files, config]) {
      const text = disk.files.text(path) ?? '';
      const node = disk.files.find(path);
      if (parseText(text) !== undefined) this.#whole.set(path, text);
      else if (node && isLeft(node)) {
        const good = this.#whole.get(path);
        this.checks.mended(path, good);
        if (good === undefined) disk.files.unlink(path);
        else disk.files.write(path, node, Buffer.from(good));
      }
    }
    if (!disk.files.find(inboxes)) return;
    // The program makes a new list of an inbox that it cannot read, when it writes the next message.
    for (const [name, node] of disk.files.list(inboxes)) {
      const path = `${inboxes}/${name}`;
      if (!name.endsWith('.json') || !isLeft(node) || parseText(disk.files.text(path)) !== undefined) continue;
      this.checks.torn(path);
      disk.files.write(path, node, Buffer.from('[]'));
    }
  }

  /** Ends all of its processes. */
  lose(): void {
    for (const claude of this.claudes) if (claude.owner.isAlive) claude.kill();
  }

  heal(): void {
    disk.trouble = undefined;
    disk.killAfter = Infinity;
    disk.files.deafness = 0;
    this.racesUntil = 0;
    for (const owner of this.owners()) if (owner.isPaused) scheduler.resume(owner);
    for (const claude of this.claudes) claude.diesAfter = Infinity;
    this.start();
  }
}

/** Whoever wrote this file last is not about to go on. */
function isLeft({ mtime }: Node): boolean {
  return scheduler.wall() - Number(mtime / 1_000_000n) > 3_000;
}
