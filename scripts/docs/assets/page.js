const root = document.documentElement;
root.dataset.script = '';
const isDark = () => getComputedStyle(root).colorScheme === 'dark' || (!root.dataset.theme && prefersDark.matches);
const prefersDark = matchMedia('(prefers-color-scheme: dark)');
document.getElementById('theme').addEventListener('click', () => {
  root.dataset.theme = isDark() ? 'light' : 'dark';
  try {
    localStorage.setItem('theme', root.dataset.theme);
  } catch {
    // It holds for this page only.
  }
});
// The key of many documentation sites.
addEventListener('keydown', (event) => {
  const isOther = event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey;
  if (isOther || event.target instanceof HTMLInputElement) return;
  event.preventDefault();
  document.getElementById('search').click();
});
