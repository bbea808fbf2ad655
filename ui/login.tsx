import { useState } from 'react';
import { codeIn, logIn } from './data/daemon.ts';
import { Logo } from './frame.tsx';
import type { Failure } from './parts/act.ts';
import { FailureNote } from './parts/failure.tsx';

/** Shown to a browser that the daemon does not know. */
export function Login() {
  const [address, setAddress] = useState('');
  const [failure, setFailure] = useState<Failure>();
  const enter = async (): Promise<void> => {
    const code = codeIn(address);
    if (code !== undefined && (await logIn(code))) return location.reload();
    const message =
      code === undefined
        ? 'There is no code in this text: paste the whole address that troupe ui printed.'
        : 'This code was used before or is older than a minute: run troupe ui again.';
    setFailure({ code: 'unauthenticated', message });
  };
  return (
    <main className="login" id="main">
      <div className="login-box">
        <span className="logo">
          <Logo size={36} />
        </span>
        <h1>Log in to Troupe</h1>
        <p className="quiet">This browser is not logged in, or its 8 hours are over. In a terminal on this machine:</p>
        <code className="command">troupe ui</code>
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
