// Runs before the first paint, so that nobody who likes it dark sees a white flash.
(() => {
  const chosen = localStorage.getItem('theme');
  const isDark = chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
})();

// Where a policy forbids code made from text, zod must not even try, or the browser reports it. It looks here when it loads.
// oxlint-disable-next-line no-underscore-dangle -- the name is zod's
globalThis.__zod_globalConfig = { jitless: true };
