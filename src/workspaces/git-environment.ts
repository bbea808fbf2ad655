import { basename } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;
type Settings = readonly (readonly [key: string, value: string])[];

/** What the user's own variables may say to git. Others name repositories, settings or programs for other commands. */
const FOR_THE_WAY = /^GIT_(?:SSH|SSL|PROXY|HTTP)_?/;

const IDENTITY = /^GIT_(?:(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL)|CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM))$/;

/** The user's environment for programs that reach other machines. None of them may ask a person anything. */
export function environmentOfUser(environment: Environment, settings: Settings): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    const isOurs = name.startsWith('TROUPE_') || (name.startsWith('GIT_') && !FOR_THE_WAY.test(name));
    if (value !== undefined && !isOurs) kept[name] = value;
  }
  const ssh = sshCommand(environment, settings);
  return {
    ...kept,
    ...(ssh !== undefined && { GIT_SSH_COMMAND: ssh }),
    SSH_ASKPASS: 'false',
    SSH_ASKPASS_REQUIRE: 'never',
    GCM_INTERACTIVE: 'never',
  };
}

/** Who the user is to git, and which settings are the user's, by the user's own variables. */
export function identityIn(environment: Environment): Record<string, string> {
  const names = Object.keys(environment).filter((name) => IDENTITY.test(name));
  return Object.fromEntries(
    names.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])),
  );
}

/** Settings as variables: other users of the machine see arguments, but not these. */
export function settingsInEnvironment(settings: Settings): Record<string, string> {
  const entries = settings.flatMap(([key, value], i): [string, string][] => [
    [`GIT_CONFIG_KEY_${i}`, key],
    [`GIT_CONFIG_VALUE_${i}`, value],
  ]);
  return Object.fromEntries([['GIT_CONFIG_COUNT', String(settings.length)], ...entries]);
}

/** The user's SSH, which must not ask. Another program than `ssh` may know other options, and has no terminal. */
function sshCommand(environment: Environment, settings: Settings): string | undefined {
  const { GIT_SSH_COMMAND: own, GIT_SSH: program } = environment;
  const named = own ?? settings.findLast(([key]) => key === 'core.sshcommand')?.[1];
  if (named === undefined) return program === undefined ? 'ssh -o BatchMode=yes' : undefined;
  const [first = ''] = named.trim().split(/\s+/);
  return basename(first) === 'ssh' ? `${named} -o BatchMode=yes` : named;
}
