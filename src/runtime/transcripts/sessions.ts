import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** A session with a transcript, and when something was last written to it. */
export interface KeptSession {
  readonly name: string;
  readonly at: number;
}

/** Sessions that have a transcript in a folder, in the order of their last write. */
export async function listSessions(folder: string): Promise<KeptSession[]> {
  const names = await readdir(folder).catch(() => []);
  const dated = await Promise.all(
    names.map(async (name) => ({
      name: name.replace(/\.jsonl$/, ''),
      at: (await stat(join(folder, name)).catch(() => undefined))?.mtimeMs ?? 0,
    })),
  );
  return dated.sort((a, b) => a.at - b.at);
}

/** The path of a session's transcript. */
export function sessionPath(folder: string, name: string): string {
  return join(folder, `${name}.jsonl`);
}
