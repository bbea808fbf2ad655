// Loaded before the daemon: SIGUSR2 causes an error that nobody handles, or blocks the event loop.
process.on('SIGUSR2', () => {
  const kind = process.env['TROUPE_TEST_MISHAP'];
  if (kind === 'exception') throw new TypeError('nobody foresaw this: sk-canary0123456789');
  if (kind === 'rejection') void Promise.reject(new TypeError('nobody foresaw this: sk-canary0123456789'));
  if (kind === 'busy') for (const end = performance.now() + 700; performance.now() < end;);
});
