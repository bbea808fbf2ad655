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
    file: 'src/core/overlap-view.ts',
    was: 'a.path < b.path',
    now: 'a.path <= b.path',
    reason: 'equivalent: no path is there twice',
  },
  {
    file: 'src/ledger/ledger.ts',
    was: 'this.#options.onError?.(error, teamId)',
    now: 'this.#options.onError(error, teamId)',
    reason: 'equivalent: whatever an error handler throws is dropped here, also that there is none',
  },
  {
    file: 'src/ledger/ledger.ts',
    was: 'writer?.exists',
    now: 'false',
    reason: 'saves time: the long way to a writer does the same. That views take the short one, a test says',
  },
  {
    file: 'src/ledger/task-filter.ts',
    was: "'0'",
    now: "''",
    reason: 'equivalent: both are the number 0',
  },
  {
    file: 'src/ledger/task-list.ts',
    was: 'this.listenerCount(name) > 0',
    now: 'true',
    reason: 'equivalent: nobody hears it; the condition saves making the view of the task',
  },
  {
    file: 'src/ledger/team-copy.ts',
    was: 'events.length <= SMALL_BATCH',
    now: 'true',
    reason: 'saves time: large batches are compared by their ends instead of whole',
  },
  {
    file: 'src/ledger/team-copy.ts',
    was: 'performance.now() - this.#comparedAt > COMPARE_EVERY_MS',
    now: 'performance.now() - this.#comparedAt >= COMPARE_EVERY_MS',
    reason: 'a measured number: a nanosecond less does the same',
  },
  {
    file: 'src/ledger/team-writer.ts',
    was: 'answered > 1',
    now: 'true',
    reason:
      'saves time: a caller that came alone is waited for in the cheaper way. Whether it then waits for others, a test says',
  },
  {
    file: 'src/ledger/team-writer.ts',
    was: 'step < STEPS_TO_SPEAK && this.#queue.length === 0',
    now: 'false',
    reason: 'saves time: a caller that continues at once finds the pump still running, else it starts another one',
  },
  {
    file: 'src/ledger/team-writer.ts',
    was: 'step < STEPS_TO_SPEAK && this.#queue.length === 0',
    now: 'step < STEPS_TO_SPEAK',
    reason: 'saves time: up to three steps of the event loop after the caller has called again',
  },
  {
    file: 'src/ledger/team-writer.ts',
    was: 'step < STEPS_TO_SPEAK',
    now: 'step <= STEPS_TO_SPEAK',
    reason: 'a measured number: one step more does the same',
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
    file: 'src/runtime/hooks/run-files.ts',
    was: 'text.split(BETWEEN_WORDS).filter(Boolean)',
    now: 'text.split(BETWEEN_WORDS)',
    reason: 'equivalent: only the first and last word can be empty, and name the folder',
  },
  {
    file: 'src/runtime/hooks/keep-trouble.ts',
    was: 'Object.keys(metadata).length === 0',
    now: 'false',
    reason: 'an update that changes nothing is no event',
  },
  {
    file: 'src/server/logins.ts',
    was: 'file === undefined',
    now: 'false',
    reason: 'equivalent: reading no file fails, which means no sessions',
  },
  {
    file: 'src/server/http.ts',
    was: 'listening ??= openListener()',
    now: 'listening = openListener()',
    reason: 'saves time: what answers is made once, not for each request',
  },
  {
    file: 'src/server/http.ts',
    was: 'Math.min(LOOK_MS, hub.limits.greetingMs)',
    now: 'Math.max(LOOK_MS, hub.limits.greetingMs)',
    reason: 'a measured number: how often Node looks for clients that are too slow',
  },
  {
    file: 'src/server/socket.ts',
    was: 'text.length <= PIECE_BYTES',
    now: 'false',
    reason: 'saves time: a short text is one piece in any case, but is not copied',
  },
  {
    file: 'src/server/socket.ts',
    was: 'text.length <= PIECE_BYTES',
    now: 'text.length < PIECE_BYTES',
    reason: 'saves time: a text of just this length is one piece in any case',
  },
  {
    file: 'src/server/socket.ts',
    was: 'process.getuid?.()',
    now: 'process.getuid()',
    reason: 'equivalent: every system that Troupe runs on has users',
  },
  {
    file: 'src/server/secret-file.ts',
    was: 'process.getuid?.()',
    now: 'process.getuid()',
    reason: 'equivalent: every system that Troupe runs on has users',
  },
  {
    file: 'src/mcp/access.ts',
    was: 'team === undefined',
    now: 'false',
    reason: 'saves time: there is nothing about no team',
  },
  {
    file: 'src/journal/sqlite.ts',
    was: 'page.isFull',
    now: 'true',
    reason: 'saves time: a turn of the event loop after a page that was not full',
  },
  {
    file: 'src/workspaces/git-process.ts',
    was: 'child.exitCode !== null || child.signalCode !== null',
    now: 'false',
    reason: 'only differs if the system has given the number of an ended process to another one',
  },
  {
    file: 'src/workspaces/git-process.ts',
    was: 'child.exitCode !== null || child.signalCode !== null',
    now: 'child.exitCode !== null',
    reason: 'only differs if the system has given the number of an ended process to another one',
  },
  {
    file: 'src/workspaces/git-process.ts',
    was: 'child.exitCode !== null || child.signalCode !== null',
    now: 'child.signalCode !== null',
    reason: 'only differs if the system has given the number of an ended process to another one',
  },
  {
    file: 'src/workspaces/places.ts',
    was: "'objects'",
    now: "''",
    reason: 'saves time: the objects are looked at next, for locks and more',
  },
];

/** Why a mutant may survive; nothing if that is open. */
export function reasonOf({ file, was, now }: Omit<Accepted, 'reason'>): string | undefined {
  return ACCEPTED.find((one) => one.file === file && one.was === was && one.now === now)?.reason;
}
