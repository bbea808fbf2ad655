import type { IncomingMessage } from 'node:http';

const HOURS = 8;

/** How a browser shows the session that it logged in with. */
export type SessionCookie = ReturnType<typeof sessionCookie>;

/** Named after the port: browsers give cookies to every port of a host, and each daemon of a machine has its own. */
export function sessionCookie(port: number, isSecure: boolean) {
  const name = `troupe_session_${port}`;
  const attributes = `HttpOnly; SameSite=Strict; Path=/${isSecure ? '; Secure' : ''}`;

  return {
    /** The session that a browser shows; none if it shows two, which only a stranger's doing explains. */
    read({ headers }: IncomingMessage): string | undefined {
      const shown = (headers.cookie ?? '').split(';').map((cookie) => cookie.trim());
      const [session, ...others] = shown.filter((cookie) => cookie.startsWith(`${name}=`));
      return others.length > 0 ? undefined : session?.slice(name.length + 1) || undefined;
    },

    /** Makes a browser show the session from now on, to us and not to the page's code. */
    set: (session: string): string => `${name}=${session}; ${attributes}; Max-Age=${HOURS * 3600}`,

    /** Makes a browser forget it. */
    clear: (): string => `${name}=; ${attributes}; Max-Age=0`,
  };
}
