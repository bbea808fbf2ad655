import type { Mode, Permission } from '../agents/agent.ts';
import type { AgentSpec } from '../core/agent.ts';
import { ANSWER_WITHIN } from '../core/limits.ts';
import { judgeWish } from '../core/permission.ts';
import type { Door } from './door.ts';
import type { Watch } from './watch.ts';

/** Of what an agent wants to do so much is put before a person; the rest is in its transcript. Characters. */
const SHOWN_LENGTH = 4_000;

/** Answers what an agent asks for: by the rules that a person laid down, else by asking a person. Never by an agent. */
export function answerPermissions(options: {
  readonly door: Door;
  readonly who: { teamId: string; memberId: string };
  readonly watch: Watch;
  readonly rules: AgentSpec['permissions'];
  readonly onError: (error: unknown) => void;
}): (permission: Permission, mode: Mode) => void {
  const { door, who, watch, rules } = options;

  async function askPerson(permission: Permission): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<{ allow: boolean; message?: string }>();
    // Asked for by its id only once the request has one; an answer may be there before that is known.
    const answers = new Map<string, { allow: boolean; message?: string }>();
    let requestId: string | undefined;
    const settle = (): void => {
      const answer = requestId === undefined ? undefined : answers.get(requestId);
      if (answer) resolve(answer);
    };
    const stopListening = watch.onEvent((event) => {
      if (event.type !== 'request:answered') return;
      const message = event.feedback ?? (event.approved ? undefined : 'a person said no');
      answers.set(event.requestId, { allow: event.approved, ...(message !== undefined && { message }) });
      settle();
    });
    const timer = setTimeout(
      () => resolve({ allow: false, message: 'nobody answered in time' }),
      ANSWER_WITHIN.permission,
    );
    try {
      const { tool, description, input } = permission;
      const given = JSON.stringify(input) ?? '';
      const request = await door.call('request.raise', {
        ...who,
        kind: 'permission',
        content: `${tool}: ${description}`.slice(0, SHOWN_LENGTH),
        detail: { tool, input: given.length > SHOWN_LENGTH ? `${given.slice(0, SHOWN_LENGTH)}…` : given },
      });
      requestId = request.id;
      settle();
      permission.answer(await promise);
    } finally {
      clearTimeout(timer);
      stopListening();
    }
  }

  return (permission, mode) => {
    const verdict = judgeWish(rules, { tool: permission.tool, subject: subjectOf(permission) });
    if (verdict === 'deny') permission.answer({ allow: false, message: 'a rule of the user forbids it' });
    else if (mode === 'plan') {
      permission.answer({ allow: false, message: 'your plan is not approved yet: until then you may only read' });
    } else if (mode === 'delegate') {
      permission.answer({ allow: false, message: 'you only coordinate: give the work to a teammate' });
    } else if (verdict === 'allow') permission.answer({ allow: true });
    else {
      askPerson(permission).catch((error: unknown) => {
        permission.answer({ allow: false, message: 'nobody could be asked' });
        options.onError(error);
      });
    }
  };
}

/** What rules look at: agents name it differently. */
function subjectOf({ input, description }: Permission): string {
  const given: Readonly<Record<string, unknown>> = typeof input === 'object' && input !== null ? { ...input } : {};
  for (const name of ['command', 'file_path', 'filePath', 'path', 'url', 'query']) {
    const value = given[name];
    if (typeof value === 'string') return value;
    if (Array.isArray(value)) return value.join(' ');
  }
  return description;
}
