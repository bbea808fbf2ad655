// Runs in every page before anything else. On a busy machine a page would declare its daemon dead after 5 s, and
// remove a notice before the test sees it. So timers of 5 s or more take 60 times as long here.
for (const name of ['setTimeout', 'setInterval']) {
  const begin = globalThis[name];
  globalThis[name] = (work, ms, ...more) => begin(work, ms >= 5_000 ? ms * 60 : ms, ...more);
}
