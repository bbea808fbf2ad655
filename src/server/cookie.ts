import type { IncomingMessage } from 'node:http';

const NAME = 'troupe_session';
const HOURS = 8;

/** The session that a browser shows; none if it shows two, which only a stranger's doing explains. */
export function cookieOf({ headers }: IncomingMessage): string | undefined {
  const shown = (headers.cookie ?? '').split(';').map((cookie) => cookie.trim());
  const [session, ...others] = shown.filter((cookie) => cookie.startsWith(`${NAME}=`));
  return others.length > 0 ? undefined : session?.slice(NAME.length + 1) || undefined;
}

/** Makes a browser show the session from now on, to us alone and not to the page's code. */
export function setCookie(session: string, secure: boolean): string {
  return `${NAME}=${session}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${HOURS * 3600}${secure ? '; Secure' : ''}`;
}

/** Makes a browser forget it. */
export function clearCookie(secure: boolean): string {
  return `${NAME}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0${secure ? '; Secure' : ''}`;
}
