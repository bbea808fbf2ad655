import type { AgentSpec } from './agent.ts';

/** Secrets that show what they are. Every repetition is bounded, so that no text makes them slow. */
export const SECRET_SHAPES: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/gs,
  /\bsk-(?=[\w-]{0,64}\d)[\w-]{8,512}/g,
  /\b(?:gh[pousr]_|github_pat_|glpat-)\w{10,512}/g,
  // What npm sets for scripts begins in the same way, and has another `_` soon: npm_config_registry.
  /\bnpm_[A-Za-z0-9]{20,512}/g,
  /\b(?:xox[a-z]|xapp)-[\w-]{8,512}/g,
  /\btm1\.[\w-]{8,2048}\.[\w-]{8,256}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bAIza[\w-]{30,64}/g,
  /\beyJ[\w-]{8,8192}\.[\w-]{8,8192}(?:\.[\w-]{0,8192})?/g,
];

/** A password in an address; what comes before it is its first group. */
export const ADDRESS_PASSWORD = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@:]{0,256}:[^\s/@]{1,1024}@/gi;

/** An address as it may be shown: what somebody put before its host by mistake is left out, whatever signs are in it. */
export function withoutPassword(address: string): string {
  return address.replace(/^([a-z][a-z0-9+.-]{0,20}:)?(\/\/)?.*@/is, '$1$2…@');
}

/** Shorter values of secret variables ("true", "none", a number) are no secrets. */
export const SECRET_LENGTH = 6;

/** Variables that hold a secret: API_KEY, PGPASSWORD, TOKEN_2. MAX_TOKENS is none. */
const SECRET_NAME = /(KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)\d{0,9}(_|$)/i;

/** Those that only say where one is, or of which it is, or how it is used; a public key is none at all. */
const ABOUT_SECRET =
  /(_(FILE|PATH|DIR|URL|ID|NAME|HEADER|PREFIX|TYPE|FORMAT|ALGORITHM|LENGTH|SIZE|COUNT|LIMIT|BUDGET|TTL|EXPIRY|TIMEOUT|INTERVAL|ENDPOINT|COMMAND|HELPER)|_?PUBLIC_KEY)$/i;

/** Keys that order or find things, those of a keyboard, and the name of the variable that has the key. */
const OTHER_KEY = /(SORT|PRIMARY|FOREIGN|PARTITION|CACHE|GROUP|ROUTING|ENV|HOT|SHORTCUT)_?KEY\d{0,9}$/i;

/** The credentials of some programs are a path by custom. */
const CREDENTIALS_PATH = /^(~|\.{1,2})?\/[^\s:]+$/;

/** A path that is no secret, whatever the variable is called: those that programs make up have no dot in them. */
const SURE_PATH = /^(?:(?:~|\.{1,2})\/[^\s:]+|\/[^\s:]*\.[^\s:]*)$/;

/** What people write where a program insists on a key and its server, often a model of their own, does not. */
const PLACEHOLDER =
  /^(?:ollama|lm-?studio|empty|dummy|(?:an? )?dummy[ -]key|not[ -]needed|unused|placeholder|(?:sk-)?no-key(?:-(?:required|needed))?|x{3,64})$/i;

/** `Authorization: Bearer …`, as it is given to programs that make requests. */
const AUTHORIZATION = /\bAuthorization: {0,4}(?:Bearer|Basic|token) [\w.~+/=-]{8,8192}/i;

/** An argument that has its value in the next word. */
const FLAG = /^--?([A-Za-z_][\w-]{0,128})$/;

/** In a shell's command: an argument with dashes, and the next word. */
const FOLLOWED =
  /(?<=^|[\s;|("'`])--?([A-Za-z_][\w-]{0,128})[ \t]{1,8}(?:"([^"]{0,1024})|'([^']{0,1024})|([^\s;|&"'`)-][^\s;|&"'`)]{0,1023}))/g;

/** In a shell's command, or after the dashes of an argument: a name, and the value that it is given. */
const ASSIGNED =
  /(?<=^|[\s;|("'`])(--?)?([A-Za-z_][\w-]{0,128})=(?:"([^"]{0,1024})|'([^']{0,1024})|([^\s;|&"'`)]{0,1024}))/g;

/** Arguments that hold a secret. `--key` alone is as often something to sort by. */
const SECRET_ARGUMENT = /(?:^|_)(?:(?:API|ACCESS|SECRET|PRIVATE)_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE)$/i;

/** `${NAME}`, which the machine that runs the member puts its own value in for. */
const REFERENCE = /\$\{[A-Za-z_][A-Za-z0-9_]*\}/g;

/** What a shell puts its own value in for. */
const SHELL_VALUE = /\$(?:\{[^}]{0,512}\}|\([^)]{0,512}\)|[A-Za-z_][A-Za-z0-9_]*)/g;

/** Stands for it while a command is looked at: no command has it. */
const FILLED_IN = '\0';

/** A secret that stands in what is to be kept: where, and what to do instead. */
export interface WrittenSecret {
  readonly path: readonly (string | number)[];
  readonly problem: string;
}

/**
 * The secrets that somebody wrote out where they belong by name alone. What runs a member is kept in the journal, which
 * other machines, backups and copies have: `env` says `${NAME}`, and the value stays where the member runs.
 */
export function findSecrets({
  command,
  args,
  env,
}: Partial<Pick<AgentSpec, 'command' | 'args' | 'env'>>): WrittenSecret[] {
  const words = (key: 'command' | 'args', list: readonly string[] = []) =>
    findInWords(list).map(({ at, problem }) => ({ path: [key, at], problem }));
  const variables = Object.entries(env ?? {}).flatMap(([name, value]) => {
    const problem = findInVariable(name, value);
    return problem === undefined ? [] : [{ path: ['env', name], problem }];
  });
  return [...words('command', command), ...words('args', args), ...variables];
}

/** What is wrong with the value of a variable, if it is a secret that is written out. */
export function findInVariable(name: string, value: string): string | undefined {
  const rest = value.replaceAll(REFERENCE, '');
  const isNamed = rest === value && value.length >= SECRET_LENGTH && isSecretName(name, value);
  if (!isNamed && !hasSecretShape(rest)) return undefined;
  return `is a secret written out, and would be kept in the journal: write \${${name}}, and start the daemon where the member runs with ${name} in its environment`;
}

/** What is wrong with the words of a command, and with which: a secret stands in one, or is what an argument before it asks for. */
export function findInWords(words: readonly string[]): { at: number; problem: string }[] {
  return words.flatMap((word, at) => {
    const [, name] = FLAG.exec(words[at - 1] ?? '') ?? [];
    const isAsked = name !== undefined && isSecretArgument(name, word.replaceAll(REFERENCE, FILLED_IN));
    const problem = isAsked ? WRITTEN_OUT : findInCommand(word);
    return problem === undefined ? [] : [{ at, problem }];
  });
}

/** What is wrong with a command, or an argument of one, if a secret is written out in it. */
export function findInCommand(text: string): string | undefined {
  if (!hasSecretShape(text.replaceAll(SHELL_VALUE, '')) && !assignsSecret(text)) return undefined;
  return WRITTEN_OUT;
}

const WRITTEN_OUT =
  'has a secret written out, which would be kept in the journal and seen by everybody who lists processes: let the program read it from its environment, and name the variable under env';

/** A value that is filled in by the shell, in part or whole, is not written out. */
function assignsSecret(text: string): boolean {
  const filled = text.replaceAll(SHELL_VALUE, FILLED_IN);
  const isAssigned = [...filled.matchAll(ASSIGNED)].some(([, dashes, name = '', ...values]) => {
    const value = values.find((one) => one !== undefined) ?? '';
    return dashes === undefined ? isWrittenOut(name, value) : isSecretArgument(name, value);
  });
  if (isAssigned) return true;
  return [...filled.matchAll(FOLLOWED)].some(([, name = '', ...values]) =>
    isSecretArgument(name, values.find((one) => one !== undefined) ?? ''),
  );
}

function isSecretArgument(name: string, value: string): boolean {
  const variable = name.replaceAll('-', '_');
  return SECRET_ARGUMENT.test(variable) && !value.startsWith('-') && isWrittenOut(variable, value);
}

function isWrittenOut(name: string, value: string): boolean {
  if (value.length < SECRET_LENGTH || value.includes(FILLED_IN)) return false;
  return isSecretName(name.replaceAll('-', '_'), value);
}

function isSecretName(name: string, value: string): boolean {
  if (!SECRET_NAME.test(name) || ABOUT_SECRET.test(name) || OTHER_KEY.test(name)) return false;
  if (PLACEHOLDER.test(value)) return false;
  if (/CREDENTIALS?\d*$/i.test(name) && CREDENTIALS_PATH.test(value)) return false;
  return !(/(KEY|TOKEN|CREDENTIALS?)\d*$/i.test(name) && SURE_PATH.test(value));
}

function hasSecretShape(text: string): boolean {
  return [...SECRET_SHAPES, ADDRESS_PASSWORD, AUTHORIZATION].some((shape) => text.search(shape) >= 0);
}
