/** What a hook may see of our environment; everything else stays with us. */
const INHERITED = ['PATH', 'HOME', 'USER', 'LANG', 'TZ', 'TERM', 'TMPDIR', 'SHELL', 'XDG_STATE_HOME', 'TROUPE_HOME'];

/**
 * The environment of a hook: the little that programs need to run, and the ids of what it is about, as `TROUPE_*` and
 * under the older name `WUNDR_*`. Only ids and counts: a title in a variable ends up in somebody's `sh -c`.
 */
export function hookEnvironment(
  ours: Readonly<Record<string, string | undefined>>,
  about: Readonly<Record<string, string>>,
  wanted: readonly string[] = [],
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(ours)) {
    if (value !== undefined && (INHERITED.includes(name) || name.startsWith('LC_') || wanted.includes(name))) {
      env[name] = value;
    }
  }
  for (const [name, value] of Object.entries(about)) {
    env[`TROUPE_${name}`] = value;
    env[`WUNDR_${name}`] = value;
  }
  return env;
}
