// Loaded before a command that completes words. It offers nothing if the daemon takes longer than 0.8 s, which a busy
// machine may. So this time is longer than any test here.
const { setTimeout: begin } = globalThis;
const patiently = (work: () => void, ms = 0, ...more: []): NodeJS.Timeout =>
  begin(work, ms === 800 ? 600_000 : ms, ...more);
globalThis.setTimeout = Object.assign(patiently, begin);
