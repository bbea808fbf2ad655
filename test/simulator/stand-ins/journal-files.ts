// Stands in for node:fs in the journals: the files are real, but nobody is told of changes at a time that no seed decides.
export * from 'node:fs';

export function watch() {
  const watcher = {
    on: () => watcher,
    close() {},
  };
  return watcher;
}
