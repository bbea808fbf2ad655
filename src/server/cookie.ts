import type { IncomingMessage } from 'node:http';

const HOURS = 8;

/** Reads and writes the cookie that holds a browser's session. */
export type SessionCookie = ReturnType<typeof sessionCookie>;

/**
 * Named after the port: browsers send cookies to every port of a host, and each daemon of a machine has its own port.
 */
export function sessionCookie(port: number, isSecure: boolean) {
  const name = `troupe_session_${port}`;
  const attributes = `HttpOnly; SameSite=Strict; Path=/${isSecure ? '; Secure' : ''}`;

  return {
    /**
     * The session in the cookie. Two such cookies count as none, because only an attacker could have set the second.
     */
    read({ headers }: IncomingMessage): string | undefined {
      const shown = (headers.cookie ?? '').split(';').map((cookie) => cookie.trim());
      const [session, ...others] = shown.filter((cookie) => cookie.startsWith(`${name}=`));
      return others.length > 0 ? undefined : session?.slice(name.length + 1) || undefined;
    },

    /** The header value that sets the cookie; scripts cannot read it. */
    set: (session: string): string => `${name}=${session}; ${attributes}; Max-Age=${HOURS * 3600}`,

    /** The header value that removes the cookie. */
    clear: (): string => `${name}=; ${attributes}; Max-Age=0`,
  };
}
