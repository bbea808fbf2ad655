import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { splitZero } from '../git.ts';
import type { ObjectId } from '../workspace.ts';

const Id = z.string().regex(/^[0-9a-f]{40,64}$/);

/** What is known of a folder besides its files. */
const State = z.object({
  depot: z.string(),
  base: Id,
  /** Set while the folder is brought to another tree: what is in it may be a mixture. */
  moving: z.object({ to: Id, base: Id, carries: Id.optional() }).optional(),
  /** The save whose work was merged into what the folder began from. */
  carries: Id.optional(),
  /** What `setup` last ran well with. */
  prepared: z.string().optional(),
  /** The tasks that its files are of. */
  tasks: z.array(z.string()).optional(),
});
export type State = z.infer<typeof State>;

/** Where the files about a workspace are. */
export interface Files {
  /** The folder in which the member works. */
  readonly folder: string;
  readonly index: string;
  readonly state: string;
  /** The ignored files that came from the checkout. */
  readonly copied: string;
}

/** The files about a workspace, in its folder of `indexes/`. */
export function filesIn(folder: string, about: string): Files {
  return { folder, index: join(about, 'index'), state: join(about, 'state.json'), copied: join(about, 'copied') };
}

/** Reads the state; undefined if there is none that can be used. */
export async function readState(path: string): Promise<State | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    return State.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** The ignored files that came from the checkout, as latin1. */
export async function readCopied(path: string): Promise<ReadonlySet<string>> {
  const list = await readFile(path).catch(() => Buffer.of());
  return new Set(splitZero(list).map((one) => one.toString('latin1')));
}

/** Replaces the state, durably: readers see the old or the new one. */
export async function writeState(path: string, state: State): Promise<void> {
  const draft = `${path}.lock`;
  const file = await open(draft, 'w', 0o600);
  try {
    await file.writeFile(JSON.stringify(state));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
}

/** A new folder's own git directory and files begin from here. */
export interface Beginning {
  readonly tree: ObjectId;
  readonly base: ObjectId;
}
