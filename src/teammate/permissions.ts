import { isAbsolute, relative, resolve } from 'node:path';
import type { Mode, Permission } from '../agents/agent.ts';
import type { AgentSpec } from '../core/agent.ts';
import { ANSWER_WITHIN, RESULT_BYTES } from '../core/limits.ts';
import { judgeWish } from '../core/permission.ts';
import { byteLength } from '../core/text.ts';
import { askPerson } from './ask-person.ts';
import type { Door } from './door.ts';
import type { Watch } from './watch.ts';

/** How much of a call's input goes beside the question, in characters; the transcript has the rest. */
const INPUT_LENGTH = 4_000;

/** Answers permission requests: by a person's rules, else by asking a person. Never by an agent. */
export function answerPermissions(options: {
  readonly door: Door;
  readonly who: { teamId: string; memberId: string };
  /** The working folder: rules may name files relative to it. */
  readonly cwd: string;
  readonly watch: Watch;
  readonly rules: AgentSpec['permissions'];
  readonly onError: (error: unknown) => void;
}): (permission: Permission, mode: Mode) => void {
  const { door, who, watch, rules } = options;

  async function ask(permission: Permission): Promise<void> {
    const { tool, input } = permission;
    const given = JSON.stringify(input) ?? '';
    const wish = describeWish(permission);
    const content = `${tool}: ${wish}${longParts(input, wish)}`;
    // Nobody can agree to what they cannot read to its end.
    if (byteLength(content) > RESULT_BYTES) {
      permission.answer({ allow: false, message: 'it is too long to be shown to a person: use a shorter one' });
      return;
    }
    // A relative path means nothing without its folder.
    const detail = { tool, input: shorten(given), folder: options.cwd };
    const request = { ...who, kind: 'permission', content, detail } as const;
    permission.answer(await askPerson({ door, watch }, request, { within: ANSWER_WITHIN.permission }));
  }

  return (permission, mode) => {
    const verdict = judge(rules, permission, options.cwd);
    if (verdict === 'deny') permission.answer({ allow: false, message: 'a rule of the user forbids it' });
    else if (mode === 'plan') {
      permission.answer({ allow: false, message: 'your plan is not approved yet: until then you may only read' });
    } else if (mode === 'delegate') {
      permission.answer({ allow: false, message: 'you only coordinate: give the work to a teammate' });
    } else if (verdict === 'allow') permission.answer({ allow: true });
    else {
      ask(permission).catch((error: unknown) => {
        permission.answer({ allow: false, message: 'nobody could be asked' });
        options.onError(error);
      });
    }
  };
}

/**
 * What an agent wants to do: the command, path or address itself, then the agent's description if it says more. The
 * description alone is a model's text and may call any command harmless.
 */
export function describeWish({ input, description, tool }: Pick<Permission, 'input' | 'description' | 'tool'>): string {
  const known = subjectIn(input);
  const given = known === undefined ? (JSON.stringify(input) ?? '') : [known].flat().join(', ');
  if (given === '' || given === '{}' || description.includes(given)) return description;
  return description === tool ? given : `${given}\n${description}`;
}

/**
 * The parts of a long input that the wish does not name, such as the new text of a file: beside the question there is no
 * room for them.
 */
function longParts(input: unknown, wish: string): string {
  if ((JSON.stringify(input) ?? '').length <= INPUT_LENGTH || typeof input !== 'object') return '';
  return Object.entries(input ?? {})
    .map(([name, value]) => [name, typeof value === 'string' ? value : (JSON.stringify(value) ?? '')] as const)
    .filter(([, text]) => !wish.includes(text))
    .map(([name, text]) => `\n${name}:\n${text}`)
    .join('');
}

/** Says how much is missing, so that nobody takes a part for the whole. */
function shorten(given: string): string {
  const left = given.length - INPUT_LENGTH;
  return left <= 0 ? given : `${given.slice(0, INPUT_LENGTH)}… (${left} more characters are in the transcript)`;
}

/** Denied if any part is, allowed if all parts are. */
function judge(rules: AgentSpec['permissions'], permission: Permission, cwd: string): 'allow' | 'deny' | undefined {
  const verdicts = subjectsOf(permission, cwd).map((spellings) => {
    const said = spellings.map((subject) => judgeWish(rules, { tool: permission.tool, subject }));
    return said.includes('deny') ? 'deny' : said.find((verdict) => verdict !== undefined);
  });
  if (verdicts.includes('deny')) return 'deny';
  return verdicts.every((verdict) => verdict === 'allow') ? 'allow' : undefined;
}

/** The things that rules apply to, each in all its spellings. */
function subjectsOf({ input, description }: Permission, cwd: string): string[][] {
  const subject = subjectIn(input) ?? description;
  return typeof subject === 'string' ? [[subject]] : subject.map((path) => spellingsOf(path, cwd));
}

/** The command, address or paths in a call; agents use different names for them. Undefined if there are none. */
function subjectIn(input: unknown): string | string[] | undefined {
  const given: Readonly<Record<string, unknown>> = typeof input === 'object' && input !== null ? { ...input } : {};
  const { command, url, query } = given;
  if (typeof command === 'string') return command;
  if (Array.isArray(command)) return command.join(' ');
  for (const name of ['file_path', 'filePath', 'notebook_path', 'path', 'paths']) {
    const paths = [given[name]].flat().filter((path) => typeof path === 'string');
    if (paths.length > 0) return paths;
  }
  return [url, query].find((value) => typeof value === 'string');
}

/** The absolute path, and the path relative to the working folder: `src/../../x` is not in `src`. */
function spellingsOf(path: string, cwd: string): string[] {
  const whole = resolve(cwd, path);
  const inside = relative(cwd, whole);
  return inside === '' || inside.startsWith('..') || isAbsolute(inside) ? [whole] : [whole, inside];
}

/**
 * The effective rights. In `full` an agent never asks. So if a rule forbids something, it runs in `edit`, where it
 * asks, and everything else is granted.
 */
export function rightsOf({ mode = 'edit', permissions }: AgentSpec): {
  mode: Mode;
  permissions: AgentSpec['permissions'];
} {
  if (mode !== 'full' || !permissions?.deny?.length) return { mode, permissions };
  return { mode: 'edit', permissions: { ...permissions, allow: ['*'] } };
}
