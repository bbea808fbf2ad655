import { CSPProvider } from '@base-ui/react/csp-provider';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { codeIn, logIn } from './data/daemon.ts';
import { watchTeams } from './data/teams.ts';

/** The code of `troupe ui` is used up before anything else is done, and leaves the address at once. */
async function useCode(): Promise<void> {
  const code = location.hash.startsWith('#code=') ? codeIn(location.hash) : undefined;
  if (code === undefined) return;
  history.replaceState(null, '', location.pathname + location.search);
  await logIn(code).catch(() => false);
}

addEventListener('hashchange', () => {
  if (location.hash.startsWith('#code=')) void useCode().then(() => location.reload());
});

await useCode();
void watchTeams();
const root = document.querySelector('#root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      <CSPProvider disableStyleElements>
        <App />
      </CSPProvider>
    </StrictMode>,
  );
}
