import type { DatabaseSync as Database } from 'node:sqlite';

type Sqlite = { DatabaseSync: typeof Database };

/** A database of Node's own SQLite. */
export type DatabaseSync = Database;
// No `import`: without this module, Node would only name the missing module and not the version that Troupe needs.
export const { DatabaseSync } = loadSqlite(() => process.getBuiltinModule('node:sqlite'));

/** Throws if this Node has no SQLite. */
export function loadSqlite(load: () => Sqlite | undefined): Sqlite {
  const sqlite = withoutWarning(load);
  if (sqlite) return sqlite;
  throw new Error(`Troupe needs Node 22.13 or newer, and this is Node ${process.versions.node}.`);
}

/**
 * Node 22 and 24 warn once that SQLite is experimental, when it is loaded. Users can do nothing about that, and it would
 * stand in the output of commands. Other warnings are shown.
 */
function withoutWarning<T>(load: () => T): T {
  // oxlint-disable-next-line typescript/unbound-method -- it is put back as it was
  const { emitWarning } = process;
  process.emitWarning = (...said: unknown[]): void => {
    if (said[1] !== 'ExperimentalWarning') Reflect.apply(emitWarning, process, said);
  };
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}
