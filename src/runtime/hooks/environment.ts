/** The variables that a hook inherits; it gets no others. */
const INHERITED = ['PATH', 'HOME', 'USER', 'LANG', 'TZ', 'TERM', 'TMPDIR', 'SHELL', 'XDG_STATE_HOME', 'TROUPE_HOME'];

/**
 * The environment of a hook: the little that programs need, and the ids of its subject, as `TROUPE_*` and under the
 * older name `WUNDR_*`. Only ids and counts: a title in a variable could end up in a script's `sh -c`.
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
