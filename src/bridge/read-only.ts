import { isSafeName } from './layout.ts';
import type { NativePaths } from './layout.ts';
import { LINKED, whyNotOwn } from './root.ts';

/** Directories of a team that we do not enter, each with the reason. */
export type Closed = ReadonlyMap<string, string>;

/** The directories of a team that we do not enter: links, and those of other users. Their content is not read. */
export function closedFolders({ team, inboxes, tasks }: NativePaths): Closed {
  const closed = new Map<string, string>();
  for (const [path, name] of [
    [team, 'its directory'],
    [inboxes, 'inboxes'],
    [tasks, 'its directory of tasks'],
  ] as const) {
    const why = closed.has(team) && path === inboxes ? undefined : whyNotOwn(path);
    if (why !== undefined) closed.set(path, `${name} ${why}`);
  }
  return closed;
}

/** Why a team is read-only, if it is; `files` are the problems of single files, in words. */
export function whyReadOnly(
  paths: NativePaths,
  { closed, form, files }: { closed: Closed; form: string; files: readonly string[] },
): string | undefined {
  if (!isSafeName(paths.name)) {
    return 'the name of its directory may contain only letters (a-z, A-Z), digits, spaces and . _ -, and must start with a letter, digit or _';
  }
  const [folder] = closed.values();
  if (folder !== undefined) return folder;
  const link = files.find((one) => one.includes(LINKED));
  if (link !== undefined) return link.slice(0, link.indexOf(LINKED) + LINKED.length);
  if (form === 'unknown') return 'its config.json has an unknown form';
  return form === 'unreadable' ? 'its config.json cannot be read' : undefined;
}
