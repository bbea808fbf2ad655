import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { TeamError } from '../core/errors.ts';
import { requireMember, requireTeam, sameSince } from '../core/view.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { ADMIN, isPresent, presentCaller } from '../operations/caller.ts';
import type { Caller } from '../operations/caller.ts';
import { openLogins } from './logins.ts';
import type { Logins } from './logins.ts';
import { markOf, newSecret, readSecret, writeSecret } from './secret-file.ts';

/** Where credentials are kept, and the teams they are for. */
export interface CredentialOptions {
  /** The admin token of this run, 0600. */
  readonly tokenFile: string;
  /** The key that signs members' tokens, 0600. */
  readonly secretFile: string;
  /** Hashes of the dashboard's sessions, 0600. Without this file the sessions end with the daemon. */
  readonly loginsFile?: string;
  readonly ledger: Ledger;
  /** The key could not be used, so there is a new one: tokens that were given out before are void. */
  readonly onNewSecret?: (why: TeamError) => void;
}

/** Finds the caller of a credential, and makes credentials. */
export interface Credentials {
  /** The caller that a token stands for; undefined for any other text. */
  verify(token: string): Promise<Caller | undefined>;
  /** A token for one member of a team. It survives restarts, and ends with the member or the team. */
  memberToken(teamId: string, memberId: string, scope: 'member' | 'lead' | 'reader'): Promise<string>;
  /** Signs a text, for links that only this state directory can have made. */
  seal(text: string): string;
  /** The text, if it was signed here since credentials were last revoked. */
  unseal(sealed: string): string | undefined;
  /** Revokes all tokens, sessions, login codes and links. */
  rotate(): Promise<void>;
  /** Calls the listener while the tokens of before still work, to give those that run tokens that work afterwards. */
  onRotate(listener: () => Promise<void>): void;
  /** Calls the listener when all credentials were revoked. Returns a function that removes the listener. */
  onVoid(listener: () => void): () => void;
  /** The dashboard's sessions. */
  readonly logins: Logins;
}

const PREFIX = 'tm1';
/** Signed links. The prefix keeps them apart from tokens. */
const LINK_PREFIX = 'al1';

/** What a member's token contains: team, member, scope, when the team was created, since when it is this member. */
const Claims = z.tuple([z.string(), z.string(), z.enum(['member', 'lead', 'reader']), z.number(), z.number()]);

/** Opens the credentials of a daemon: writes a new admin token, and keeps the secret of the members' tokens. */
export async function openCredentials(options: CredentialOptions): Promise<Credentials> {
  const { tokenFile, secretFile, ledger } = options;
  const logins = openLogins({ file: options.loginsFile });
  const listeners = new Set<() => void>();
  const renewals = new Set<() => Promise<void>>();
  const kept = await readSecret(secretFile).catch((error: unknown) => {
    options.onNewSecret?.(error as TeamError);
    return undefined;
  });
  let secret = kept ?? (await replaceSecret(secretFile));
  /** The secret before, as long as some members still have only its tokens. */
  let former: string | undefined;
  let admin: string | undefined = await replaceSecret(tokenFile);
  let seen = await markOf(tokenFile);

  return {
    logins,

    async verify(token) {
      if (token.startsWith(`${PREFIX}.`)) return verifyMember(token);
      await readAgain();
      return admin !== undefined && isSame(token, admin) ? ADMIN : undefined;
    },

    async memberToken(teamId, memberId, scope) {
      const [createdAt, since] = await ledger.view(teamId, (state) => {
        const team = requireTeam(state);
        const since = sameSince(requireMember(state, memberId));
        if (!isPresent(state, { scope, memberId, since })) {
          throw new TeamError(
            'member_stopped',
            `${memberId} has left team ${teamId}, so its tokens are invalid: add it again first`,
          );
        }
        return [team.createdAt.getTime(), since];
      });
      const claims: z.infer<typeof Claims> = [teamId, memberId, scope, createdAt, since];
      const body = Buffer.from(JSON.stringify(claims)).toString('base64url');
      return `${PREFIX}.${body}.${sign(body, secret)}`;
    },

    seal(text) {
      const body = Buffer.from(text).toString('base64url');
      return `${body}.${sign(body, secret, LINK_PREFIX)}`;
    },

    unseal(sealed) {
      const [body = '', signature = '', ...rest] = sealed.split('.');
      if (rest.length > 0 || !isSame(signature, sign(body, secret, LINK_PREFIX))) return undefined;
      return Buffer.from(body, 'base64url').toString();
    },

    async rotate() {
      const next = await replaceSecret(secretFile);
      former = secret;
      secret = next;
      try {
        for (const renew of renewals) await renew();
        admin = await replaceSecret(tokenFile);
        seen = await markOf(tokenFile);
      } finally {
        former = undefined;
        voidAll();
      }
    },

    onRotate(listener) {
      renewals.add(listener);
    },

    onVoid(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };

  async function verifyMember(token: string): Promise<Caller | undefined> {
    const [, body = '', signature = '', ...rest] = token.split('.');
    const isSigned = [secret, former].some((key) => key !== undefined && isSame(signature, sign(body, key)));
    if (rest.length > 0 || !isSigned) return undefined;
    const claims = Claims.safeParse(JSON.parse(Buffer.from(body, 'base64url').toString()));
    // An earlier version signed fewer claims, and its tokens do not say which member of that name they are for.
    if (!claims.success) return undefined;
    const [teamId, memberId, scope, createdAt, since] = claims.data;
    const caller = { scope, teamId, memberId, since };
    return ledger.view(teamId, (state) =>
      state.team?.createdAt.getTime() === createdAt && isPresent(state, caller)
        ? presentCaller(caller, state)
        : undefined,
    );
  }

  function sign(body: string, key: string, prefix = PREFIX): string {
    return createHmac('sha256', key).update(`${prefix}.${body}`).digest('base64url');
  }

  /** Somebody may have replaced the token file. If the file is gone or others can read it, no admin token is valid. */
  async function readAgain(): Promise<void> {
    const mark = await markOf(tokenFile);
    if (mark === seen) return;
    seen = mark;
    admin = await readSecret(tokenFile).catch(() => undefined);
    voidAll();
  }

  function voidAll(): void {
    logins.clear();
    for (const listener of listeners) listener();
  }
}

async function replaceSecret(path: string): Promise<string> {
  const secret = newSecret();
  await writeSecret(path, secret);
  return secret;
}

/** Compares hashes, so the time that it takes reveals nothing about the texts. */
function isSame(a: string, b: string): boolean {
  return timingSafeEqual(hash(a), hash(b));
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
