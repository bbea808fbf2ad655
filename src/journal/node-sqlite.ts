import type { DatabaseSync as Database } from 'node:sqlite';

// No `import`: without this module, Node would only name the missing module and not the version that Troupe needs.
const sqlite = process.getBuiltinModule('node:sqlite') as { DatabaseSync: typeof Database } | undefined;
if (!sqlite) throw new Error(`Troupe needs Node 22.15 or newer, and this is Node ${process.versions.node}.`);

/** A database of Node's own SQLite. */
export type DatabaseSync = Database;
export const { DatabaseSync } = sqlite;
