import type { DatabaseSync as Database } from 'node:sqlite';

// Not imported: a Node without it would only say that it knows no such module, and not what Troupe needs.
const sqlite = process.getBuiltinModule('node:sqlite') as { DatabaseSync: typeof Database } | undefined;
if (!sqlite) throw new Error(`Troupe needs Node 22.13 or newer, and this is Node ${process.versions.node}.`);

/** A database of Node's own SQLite. */
export type DatabaseSync = Database;
export const { DatabaseSync } = sqlite;
