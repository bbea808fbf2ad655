// Runs in every page before anything else. On a busy machine a page would take its daemon for dead after 5 s, and take a
// notice away that the test has not seen yet: whatever waits so long waits for minutes here.
for (const name of ['setTimeout', 'setInterval']) {
  const begin = globalThis[name];
  globalThis[name] = (work, ms, ...more) => begin(work, ms >= 5_000 ? ms * 60 : ms, ...more);
}
