/** Files in the state directory that a daemon makes again if they are gone. */
export const FILES: readonly string[] = (
  'approvals.json daemon.json daemon.log environments.json journal.db.bell journal.db.mark journal.db.owner ' +
  'last-journal lease lock.db logins.json nats.mark notices.json port reserve secret starting stopped team-notices.json token totals.json'
).split(' ');

/** Folders in the state directory. */
export const FOLDERS: readonly string[] =
  'claude depots folders holders indexes launcher processes terminals transcripts trash workspaces'.split(' ');

/** Only a daemon leaves these. In another folder, something that is called `port` may be somebody's own. */
export const ONLY_OURS: readonly string[] = ['journal.db', 'lock.db', 'last-journal'];

const OTHERS = new Set(['config.yaml', 'journal.db', 'daemon.sock', 'id', 'cache', 'box', 'dashboard.html']);

/** What SQLite, the log and interrupted writes leave beside these files, and folders of agents that start. */
const BESIDE = [
  /^(?<name>.+)\.\d+\.tmp$/,
  /^(?<name>(?:journal|lock)\.db)-(?:wal|shm|journal)$/,
  /^(?<name>daemon\.log)\.(?:\d+|new)$/,
];
const START = /^start-\w+$/;

/** Whether an entry of a state directory is made by Troupe, judged by its name. */
export function isOwnEntry(name: string): boolean {
  if (FILES.includes(name) || FOLDERS.includes(name) || OTHERS.has(name) || START.test(name)) return true;
  return BESIDE.some((pattern) => {
    const of = pattern.exec(name)?.groups?.['name'];
    return of !== undefined && isOwnEntry(of);
  });
}
