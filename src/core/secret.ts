import type { AgentSpec } from './agent.ts';

/** Recognizable secrets. Every repetition is bounded, so that no text makes matching slow. */
export const SECRET_SHAPES: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/gs,
  /\bsk-(?=[\w-]{0,64}\d)[\w-]{8,512}/g,
  /\b(?:gh[pousr]_|github_pat_|glpat-)\w{10,512}/g,
  // npm's own variables for scripts begin in the same way, but soon have another `_`: npm_config_registry.
  /\bnpm_[A-Za-z0-9]{20,512}/g,
  /\b(?:xox[a-z]|xapp)-[\w-]{8,512}/g,
  /\btm1\.[\w-]{8,2048}\.[\w-]{8,256}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bAIza[\w-]{30,64}/g,
  /\beyJ[\w-]{8,8192}\.[\w-]{8,8192}(?:\.[\w-]{0,8192})?/g,
];

/** A password in an address; its first group is the scheme. */
export const ADDRESS_PASSWORD = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@:]{0,256}:[^\s/@]{1,1024}@/gi;

/** An address that is safe to show: everything before its host is left out, whatever characters are in it. */
export function withoutPassword(address: string): string {
  return address.replace(/^([a-z][a-z0-9+.-]{0,20}:)?(\/\/)?.*@/is, '$1$2…@');
}

/** Shorter values of secret variables ("true", "none", a number) are no secrets. */
export const SECRET_LENGTH = 6;

/** Variables that hold a secret: API_KEY, PGPASSWORD, TOKEN_2. MAX_TOKENS is none. */
const SECRET_NAME = /(KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)\d{0,9}(_|$)/i;

/** Variables that only tell a secret's place, id or use. A public key is no secret. */
const ABOUT_SECRET =
  /(_(FILE|PATH|DIR|URL|ID|NAME|HEADER|PREFIX|TYPE|FORMAT|ALGORITHM|LENGTH|SIZE|COUNT|LIMIT|BUDGET|TTL|EXPIRY|TIMEOUT|INTERVAL|ENDPOINT|COMMAND|HELPER)|_?PUBLIC_KEY)$/i;

/** Keys that sort or find things, keyboard keys, and the name of the variable that holds a key. */
const OTHER_KEY = /(SORT|PRIMARY|FOREIGN|PARTITION|CACHE|GROUP|ROUTING|ENV|HOT|SHORTCUT)_?KEY\d{0,9}$/i;

/** The credentials of some programs are usually a path. */
const CREDENTIALS_PATH = /^(~|\.{1,2})?\/[^\s:]+$/;

/** A path that is no secret, whatever the variable's name: generated secrets have no dot. */
const SURE_PATH = /^(?:(?:~|\.{1,2})\/[^\s:]+|\/[^\s:]*\.[^\s:]*)$/;

/** What people write if a program insists on a key that its server, often a local model, does not need. */
const PLACEHOLDER =
  /^(?:ollama|lm-?studio|empty|dummy|(?:an? )?dummy[ -]key|not[ -]needed|unused|placeholder|(?:sk-)?no-key(?:-(?:required|needed))?|x{3,64})$/i;

/** `Authorization: Bearer …`, as an argument of programs that make requests. */
const AUTHORIZATION = /\bAuthorization: {0,4}(?:Bearer|Basic|token) [\w.~+/=-]{8,8192}/i;

/** An argument whose value is the next word. */
const FLAG = /^--?([A-Za-z_][\w-]{0,128})$/;

/** In a shell command: an argument with dashes, and the next word. */
const FOLLOWED =
  /(?<=^|[\s;|("'`])--?([A-Za-z_][\w-]{0,128})[ \t]{1,8}(?:"([^"]{0,1024})|'([^']{0,1024})|([^\s;|&"'`)-][^\s;|&"'`)]{0,1023}))/g;

/** In a shell command, or after the dashes of an argument: a name and the value assigned to it. */
const ASSIGNED =
  /(?<=^|[\s;|("'`])(--?)?([A-Za-z_][\w-]{0,128})=(?:"([^"]{0,1024})|'([^']{0,1024})|([^\s;|&"'`)]{0,1024}))/g;

/** Arguments that hold a secret. `--key` alone is often a sort key. */
const SECRET_ARGUMENT = /(?:^|_)(?:(?:API|ACCESS|SECRET|PRIVATE)_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE)$/i;

/** `${NAME}`, which the machine that runs the member replaces by its own value. */
const REFERENCE = /\$\{[A-Za-z_][A-Za-z0-9_]*\}/g;

/** Text that a shell replaces by a value. */
const SHELL_VALUE = /\$(?:\{[^}]{0,512}\}|\([^)]{0,512}\)|[A-Za-z_][A-Za-z0-9_]*)/g;

/** Replaces such text while a command is checked; no command contains it. */
const FILLED_IN = '\0';

/** A secret in a value that would be stored: where it is, and what to do instead. */
export interface WrittenSecret {
  readonly path: readonly (string | number)[];
  readonly problem: string;
}

/**
 * Finds secrets written out where only their names belong. A member's agent spec is stored in the journal, which other
 * machines, backups and copies have. `env` says `${NAME}`, and the value stays where the member runs.
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

/** The problem with a variable's value, if it is a written-out secret. */
export function findInVariable(name: string, value: string): string | undefined {
  const rest = value.replaceAll(REFERENCE, '');
  const isNamed = rest === value && value.length >= SECRET_LENGTH && isSecretName(name, value);
  if (!isNamed && !hasSecretShape(rest)) return undefined;
  return `is a secret in plain text, which the journal would keep: write \${${name}}, which takes it from the environment of troupe up, or without a team file from that of the daemon`;
}

/** The words of a command with a problem: they contain a secret, or are the value of a secret argument. */
export function findInWords(words: readonly string[]): { at: number; problem: string }[] {
  return words.flatMap((word, at) => {
    const [, name] = FLAG.exec(words[at - 1] ?? '') ?? [];
    const isAsked = name !== undefined && isSecretArgument(name, word.replaceAll(REFERENCE, FILLED_IN));
    const problem = isAsked ? WRITTEN_OUT : findInCommand(word);
    return problem === undefined ? [] : [{ at, problem }];
  });
}

/** The problem with a command or one of its arguments, if a secret is written out in it. */
export function findInCommand(text: string): string | undefined {
  if (!hasSecretShape(text.replaceAll(SHELL_VALUE, '')) && !assignsSecret(text)) return undefined;
  return WRITTEN_OUT;
}

const WRITTEN_OUT =
  'has a secret in plain text, which the journal would keep and process lists would show: let the program read it from its environment, and name the variable under env';

/** Whether the command assigns a secret. A value that the shell fills in, even in part, is not written out. */
function assignsSecret(text: string): boolean {
  const filled = text.replaceAll(SHELL_VALUE, FILLED_IN);
  const isAssigned = [...filled.matchAll(ASSIGNED)].some(([, dashes, name = '', ...values]) => {
    // One of them is set: each is for another kind of quotes.
    const value = values.join('');
    return dashes === undefined ? isWrittenOut(name, value) : isSecretArgument(name, value);
  });
  if (isAssigned) return true;
  return [...filled.matchAll(FOLLOWED)].some(([, name = '', ...values]) => isSecretArgument(name, values.join('')));
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
