import type { HandedIn } from '../../../src/core/work.ts';

/** The files of a commit. */
export type Files = Readonly<Record<string, string>>;

/** A repository in memory that merges file by file, as git does with whole lines. */
export class Repository {
  readonly #commits = new Map<string, Files>();
  #count = 1;

  /** @param base - the commit that everything begins from, without files. */
  constructor(base = '1'.repeat(40)) {
    this.#commits.set(base, {});
  }

  add(files: Files): string {
    const id = (++this.#count).toString(16).padStart(40, '0');
    this.#commits.set(id, files);
    return id;
  }

  files(id: string): Files {
    return this.#commits.get(id) ?? {};
  }

  /** Paths that a commit changed since another. */
  changed(base: string, id: string): string[] {
    const [before, after] = [this.files(base), this.files(id)];
    return Object.keys({ ...before, ...after }).filter((path) => before[path] !== after[path]);
  }

  merge(base: string, work: string, onto: string): Pick<HandedIn, 'merged' | 'conflicts'> {
    const ours = new Set(this.changed(base, onto));
    const paths = this.changed(base, work);
    const conflicts = paths.filter((path) => ours.has(path) && this.files(onto)[path] !== this.files(work)[path]);
    if (conflicts.length > 0) return { conflicts };
    const mine = paths.map((path) => [path, this.files(work)[path] ?? '']);
    return { merged: this.add({ ...this.files(onto), ...Object.fromEntries(mine) }) };
  }
}
