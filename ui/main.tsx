import { CSPProvider } from '@base-ui/react/csp-provider';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { codeIn, link, logIn } from './data/daemon.ts';
import { watchTeams } from './data/teams.ts';
import { Boundary } from './parts/boundary.tsx';
import { LoadError } from './parts/later.ts';

/** The code of `troupe ui` is used first of all, and removed from the address at once. */
async function useCode(): Promise<void> {
  const code = location.hash.startsWith('#code=') ? codeIn(location.hash) : undefined;
  if (code === undefined) return;
  history.replaceState(null, '', location.pathname + location.search);
  link.set(await logIn(code));
}

addEventListener('hashchange', () => {
  if (!location.hash.startsWith('#code=')) return;
  void useCode().then(() => {
    if (link.get() === 'open') location.reload();
  });
});

await useCode();
void watchTeams();
const root = document.querySelector('#root');
if (root) {
  // The page tells the person about parts that could not be loaded. All other errors go to the console.
  const onCaughtError = (error: unknown): void => {
    // oxlint-disable-next-line no-console -- as React does where nobody says otherwise
    if (!(error instanceof LoadError)) console.error(error);
  };
  createRoot(root, { onCaughtError }).render(
    <StrictMode>
      <CSPProvider disableStyleElements>
        <Boundary>
          <App />
        </Boundary>
      </CSPProvider>
    </StrictMode>,
  );
}
