/** A mutant that may survive, and why. It is found by its file and text, because lines move. */
export interface Accepted {
  readonly file: string;
  readonly was: string;
  readonly now: string;
  /** Why no test can notice it, or why none has to. */
  readonly reason: string;
}

export const ACCEPTED: readonly Accepted[] = [
  {
    file: 'src/core/fields.ts',
    was: 'NAME_LENGTH - 2',
    now: 'NAME_LENGTH + 2',
    reason: 'equivalent: only reserved names come here, and they are short',
  },
  {
    file: 'src/core/heap.ts',
    was: 'parent <= key',
    now: 'parent < key',
    reason: 'equivalent: equal keys are numbers, and may change places',
  },
  {
    file: 'src/core/nearest.ts',
    was: 'i > 1 && j > 1',
    now: 'j > 1',
    reason: 'equivalent: with i = 1 the letter before the first is undefined, which equals none',
  },
  {
    file: 'src/core/overlap-view.ts',
    was: 'a.path < b.path',
    now: 'a.path <= b.path',
    reason: 'equivalent: no path is there twice',
  },
  {
    file: 'src/runtime/hooks/hook-files.ts',
    was: '!statSync(path).isFile()',
    now: 'false',
    reason: 'equivalent for folders: reading one fails, which has the same result',
  },
  {
    file: 'src/runtime/hooks/hook-files.ts',
    was: 'statSync(path).isFile()',
    now: 'true',
    reason: 'equivalent for folders: reading one fails, which has the same result',
  },
  {
    file: 'src/runtime/hooks/hook-files.ts',
    was: "way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)",
    now: "way !== '..' && !way.startsWith(`..${sep}`)",
    reason: 'equivalent on POSIX: only on another drive of Windows the way is absolute',
  },
  {
    file: 'src/runtime/hooks/hook-files.ts',
    was: 'words.map((word) => resolve(cwd, word)).filter(isFolder)',
    now: 'words.map((word) => resolve(cwd, word))',
    reason: 'equivalent: nothing is below a path that is no folder',
  },
  {
    file: 'src/runtime/hooks/hook-files.ts',
    was: "found.get(path) ?? ''",
    now: 'found.get(path)',
    reason: 'equivalent: what waits was found',
  },
  {
    file: 'src/runtime/hooks/hook-files.ts',
    was: 'beside !== path && isProgramFile(beside)',
    now: 'isProgramFile(beside)',
    reason: 'equivalent: a file that was found is not added again; the condition saves reading it',
  },
  {
    file: 'src/runtime/hooks/run-files.ts',
    was: "contentOf(at)?.toString() ?? ''",
    now: 'contentOf(at)?.toString()',
    reason: 'equivalent unless the file is removed meanwhile',
  },
  {
    file: 'src/runtime/hooks/run-files.ts',
    was: 'contentOf(at)?.toString()',
    now: 'contentOf(at).toString()',
    reason: 'equivalent unless the file is removed meanwhile',
  },
  {
    file: 'src/runtime/hooks/run-files.ts',
    was: 'text.split(BETWEEN_WORDS).filter(Boolean)',
    now: 'text.split(BETWEEN_WORDS)',
    reason: 'equivalent: only the first and last word can be empty, and name the folder',
  },
  {
    file: 'src/runtime/hooks/keep-trouble.ts',
    was: 'Object.keys(changes).length > 0',
    now: 'Object.keys(changes).length >= 0',
    reason: 'an update that changes nothing is no event',
  },
  {
    file: 'src/runtime/hooks/run-program.ts',
    was: "import.meta.url.endsWith('.ts')",
    now: 'true',
    reason: 'what runs from the sources and what is built differ by it; tests run the one or the other',
  },
];

/** Why a mutant may survive; nothing if that is open. */
export function reasonOf({ file, was, now }: Omit<Accepted, 'reason'>): string | undefined {
  return ACCEPTED.find((one) => one.file === file && one.was === was && one.now === now)?.reason;
}
