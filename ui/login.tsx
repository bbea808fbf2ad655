import { useState } from 'react';
import { codeIn, link, logIn } from './data/daemon.ts';
import type { Entry } from './data/daemon.ts';
import { useRoute } from './data/route.ts';
import { useSignal } from './data/signal.ts';
import { Logo } from './frame.tsx';
import type { Failure } from './parts/act.ts';
import { Command } from './parts/command.tsx';
import { FailureNote } from './parts/failure.tsx';

/** Why a code did not work. */
const SHUT: Readonly<Record<Exclude<Entry, 'open'>, string>> = {
  refused: 'This code was used before or is older than a minute.',
  unheard: 'The daemon did not answer.',
};

/** Why the browser is not logged in, with or without a link. */
const REASONS: Readonly<Record<Entry, string>> = {
  open: 'This browser did not keep its login: it may refuse cookies. In a terminal on this machine:',
  refused: 'This link was used before or is older than a minute. For a new one, in a terminal on this machine:',
  unheard: 'The daemon did not answer when this link was opened. For a new one, in a terminal on this machine:',
};

/** Shown to a browser that the daemon does not know. */
export function Login() {
  const route = useRoute();
  const came = useSignal(link);
  const [address, setAddress] = useState('');
  const [failure, setFailure] = useState<Failure>();
  const enter = async (): Promise<void> => {
    const code = codeIn(address);
    if (code === undefined) {
      const message = 'There is no code in this text: paste the whole address that troupe ui printed.';
      return setFailure({ code: 'unauthenticated', message });
    }
    const entry = await logIn(code);
    if (entry === 'open') return location.reload();
    setFailure({ code: 'unauthenticated', message: `${SHUT[entry]} Run troupe ui again.` });
  };
  return (
    <main className="login" id="main">
      <div className="login-box">
        <span className="logo">
          <Logo size={36} />
        </span>
        <h1>Log in to Troupe</h1>
        <p className="quiet" role="status">
          {came === undefined
            ? 'This browser is not logged in, or its login expired after 8 hours. In a terminal on this machine:'
            : REASONS[came]}
        </p>
        <Command text={`troupe ui${'teamId' in route ? ` --team ${route.teamId}` : ''}`} />
        <form
          className="form"
          onSubmit={(event) => {
            event.preventDefault();
            void enter();
          }}
        >
          <label className="field">
            <span>Or paste the address that it prints</span>
            <input
              className="input mono"
              value={address}
              onChange={(event) => setAddress(event.target.value)}
              placeholder={`${location.origin}/#code=…`}
              autoComplete="off"
              spellCheck={false}
            />
          </label>
          <FailureNote failure={failure} />
          <button type="submit" className="button primary" disabled={address.trim() === ''}>
            Log in
          </button>
        </form>
      </div>
    </main>
  );
}
