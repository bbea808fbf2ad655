import { z } from 'zod';
import { quote } from './text.ts';

/** The name of a git remote. It becomes an argument and a key of git's settings. */
export const RemoteName = z
  .string()
  .max(128)
  .regex(/^[A-Za-z0-9_](?:[A-Za-z0-9._/-]*[A-Za-z0-9_-])?$/, 'is not the name of a git remote, such as origin')
  .refine((name) => !/\.\.|\/\/|\/\.|\.lock$/.test(name), 'is not the name of a git remote, such as origin');

/** An address that other machines may read: without a password, and of a kind that runs no program. */
const RemoteAddress = z
  .string()
  .max(2_048)
  .superRefine((url, context) => {
    if (publicAddress(url) === url) return;
    context.addIssue({ code: 'custom', message: `${quote(url)} is not an address that other machines can use` });
  });

/** A git remote by which work travels to other machines, instead of in packs beside the journal. */
export const TeamRemote = z.strictObject({
  /** Its name in each checkout. */
  name: RemoteName,
  /** Its address, for machines without a checkout. Absent if it has a secret in it, or only makes sense in one. */
  url: RemoteAddress.optional(),
});
export type TeamRemote = z.output<typeof TeamRemote>;

/** A host that is no option of a program. */
const HOST = String.raw`(?:[A-Za-z0-9_][\w.-]*|\[[0-9A-Fa-f:.]+\])`;
const BY_SCHEME = new RegExp(
  String.raw`^(https?|ssh|git):\/\/(?:([^@/?#\s]*)@)?(${HOST}(?::\d{1,5})?)(\/[^?#\s]*)$`,
  'i',
);
const BY_SSH = new RegExp(String.raw`^(?:[A-Za-z0-9_][\w.-]*@)?${HOST}:(?![:-])(?!\/\/)[^?#\s]+$`);
const BY_PATH = /^(?:file:\/\/)?\/[^?#]*$/;

/**
 * An address as the journal may have it; undefined if it may not. A user and a password for HTTP are left out: other
 * machines have their own. The user of SSH stays, because it is a part of the address.
 */
export function publicAddress(url: string): string | undefined {
  // oxlint-disable-next-line no-control-regex -- An address with one is no address.
  if (/[\u0000-\u001f\u007f]/.test(url)) return undefined;
  const [, scheme = '', user = '', host = '', path = ''] = BY_SCHEME.exec(url) ?? [];
  if (scheme !== '') {
    if (scheme.toLowerCase() !== 'ssh' || user === '') return `${scheme}://${host}${path}`;
    const [name = ''] = user.split(':');
    return /^[A-Za-z0-9_][\w.-]*$/.test(name) ? `${scheme}://${name}@${host}${path}` : undefined;
  }
  return BY_SSH.test(url) || BY_PATH.test(url) ? url : undefined;
}
