// Runs before the first paint, so that a dark theme does not begin with a white flash.
(() => {
  const chosen = localStorage.getItem('theme');
  const isDark = chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
})();

// If a policy forbids code made from text, zod must not even try it, or the browser reports it. Zod reads this when it
// loads.
// oxlint-disable-next-line no-underscore-dangle -- the name is zod's
globalThis.__zod_globalConfig = { jitless: true };
