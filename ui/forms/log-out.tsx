import { logOut } from '../data/daemon.ts';
import { useSignal } from '../data/signal.ts';
import { isLogOutOpen } from '../palette/open.ts';
import { Modal } from '../parts/modal.tsx';
import { Form } from './form.tsx';

/** Asks for confirmation before the logout: to log in again, one needs an address from the daemon's machine. */
export function LogOutForm() {
  const isOpen = useSignal(isLogOutOpen);
  const close = (): void => isLogOutOpen.set(false);
  return (
    <Modal title="Log out?" isOpen={isOpen} onClose={close}>
      <Form verb="Log out" busyVerb="Logging out…" submit={logOut} onClose={close}>
        <p>
          Text that you have not sent is discarded. To come back, run <code>troupe ui</code>.
        </p>
      </Form>
    </Modal>
  );
}
