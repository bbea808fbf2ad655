/**
 * The user's home directory: `HOME`, else what the system knows of the user. An empty or relative `HOME` counts as
 * unset, because paths made from it would begin at `/` or wherever the caller happens to be.
 */
export function findUserHome(environment: Readonly<Record<string, string | undefined>>): string {
  const { HOME: named = process.env['HOME'] ?? '' } = environment;
  return named.startsWith('/') ? named : process.getBuiltinModule('node:os').userInfo().homedir;
}
