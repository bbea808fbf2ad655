import { z } from 'zod';
import { showGrant } from '../core/budget-words.ts';
import { hasCode } from '../core/errors.ts';
import { parse } from '../core/parse.ts';
import type { TeamRequest } from '../core/request.ts';
import { ADMIN } from '../operations/caller.ts';
import type { Credentials } from './auth.ts';
import type { Hub } from './hub.ts';

/*
 * Links by which a person answers one request from a phone. What proves the link is after the `#`, which browsers send to
 * no server: no log, proxy or preview of a mail program sees it. The page sends it in a body, and only a button answers.
 */

/** The page, its files, and the two calls that it makes. Only these may be reached under the public name. */
export const ANSWER_PAGE = '/answer.html';
export const READ_ANSWER = '/api/answer/read';
export const GIVE_ANSWER = '/api/answer/give';
const PATHS: ReadonlySet<string> = new Set([ANSWER_PAGE, '/answer.js', '/answer.css', READ_ANSWER, GIVE_ANSWER]);

/** Whether a path belongs to the page for answers. */
export function isAnswerPath(path: string): boolean {
  return PATHS.has(path);
}

/** Long enough for a night. */
const VALID_MS = 24 * 3_600_000;

/** What a link is for: team, request, its revision, and when the link ends. */
const Claims = z.tuple([z.string(), z.string(), z.string(), z.number()]);

/** A request, and what was shown of it. */
export interface Answerable {
  readonly teamId: string;
  readonly requestId: string;
  readonly revision: string;
}

/** A link that answers one request, for a day from `at`. `origin` is where a browser reaches the daemon. */
export function answerLink(
  credentials: Pick<Credentials, 'seal'>,
  origin: string,
  { teamId, requestId, revision, at = Date.now() }: Answerable & { readonly at?: number },
): string {
  const claims: z.infer<typeof Claims> = [teamId, requestId, revision, at + VALID_MS];
  return `${origin}${ANSWER_PAGE}#${credentials.seal(JSON.stringify(claims))}`;
}

const Link = z.string().max(1_024);

/** What the page sends to see a request. */
const ReadInput = z.strictObject({ link: Link });

/** What the page sends when a person pressed a button. */
const GiveInput = z.strictObject({
  link: Link,
  approve: z.boolean(),
  feedback: z.string().max(2_000).optional(),
  choice: z.string().max(1_024).optional(),
});

/** What the page shows: all that there is to read, to its end. */
export interface ShownRequest {
  readonly title: string;
  readonly content: string;
  readonly details: readonly (readonly [name: string, value: string])[];
  readonly yes: string;
  readonly no: string;
  readonly choices: readonly string[];
  readonly freeText: boolean;
  /** In milliseconds since 1970. */
  readonly deadline?: number;
}

/** What a link may answer. Nobody should let work land without its differences, which the page does not show. */
type AnswerableKind = Exclude<TeamRequest['kind'], 'work' | 'review' | 'shutdown'>;
type AnswerableRequest = TeamRequest & { readonly kind: AnswerableKind };

/** Shows and answers requests by their links. Undefined: the link is wrong, was used, or has ended. */
export function openAnswerLinks(hub: Hub) {
  return {
    async read(input: unknown): Promise<ShownRequest | undefined> {
      const request = await find(parse(ReadInput, input).link);
      return request && shown(request);
    },

    async give(input: unknown): Promise<TeamRequest | undefined> {
      const { link, approve, feedback, choice } = parse(GiveInput, input);
      const request = await find(link);
      if (!request) return undefined;
      const { teamId, id: requestId, revision, kind } = request;
      const about = { teamId, requestId, revision, feedback, ...(approve && choice !== undefined && { choice }) };
      if (kind !== 'plan') return call('request.answer', { ...about, approve });
      return approve
        ? call('plan.approve', about)
        : call('plan.reject', { ...about, feedback: feedback ?? 'Rejected' });
    },
  };

  /** The request of a link, while it waits and is as it was. A request takes one answer, so a link works once. */
  async function find(link: string): Promise<AnswerableRequest | undefined> {
    const claims = readClaims(hub.credentials.unseal(link));
    if (!claims || claims[3] < Date.now()) return undefined;
    const [teamId, requestId, revision] = claims;
    const requests = await list(teamId);
    return requests.filter(isAnswerable).find((one) => one.id === requestId && one.revision === revision);
  }

  async function list(teamId: string): Promise<TeamRequest[]> {
    try {
      return (await call('request.list', { teamId, status: 'pending' })) as unknown as TeamRequest[];
    } catch (error) {
      // The team was deleted.
      if (hasCode(error, 'not_found')) return [];
      throw error;
    }
  }

  function call(name: string, input: object): Promise<TeamRequest> {
    return hub.call(name, { caller: ADMIN, input, signal: new AbortController().signal }) as Promise<TeamRequest>;
  }
}

function isAnswerable(request: TeamRequest): request is AnswerableRequest {
  return request.kind in WORDS;
}

function readClaims(text: string | undefined): z.infer<typeof Claims> | undefined {
  return text === undefined ? undefined : Claims.safeParse(JSON.parse(text)).data;
}

const WORDS: Readonly<Record<AnswerableKind, readonly [yes: string, no: string]>> = {
  permission: ['Allow', 'Deny'],
  plan: ['Approve the plan', 'Reject the plan'],
  gate: ['Accept the work', 'Send it back'],
  budget: ['Allow more', 'Allow no more'],
  restart: ['Start it again', 'Leave it stopped'],
  hang: ['End the turn and do it again', 'Let it go on'],
  account: ['Use the account again', 'Wait'],
  question: ['Answer', 'Leave it to the member'],
};

function shown(request: AnswerableRequest): ShownRequest {
  const { kind, teamId, memberId, taskId, content, detail = {}, filePath, question, deadline } = request;
  const [yes, no] = WORDS[kind];
  const grant = kind === 'budget' ? showGrant(detail) : undefined;
  const details = Object.entries({ ...(filePath !== undefined && { file: filePath }), ...detail });
  return {
    title: `${kind} of ${memberId}, team ${teamId}${taskId === undefined ? '' : `, task #${taskId}`}`,
    content,
    details: details.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value, null, 2)]),
    yes: grant === undefined ? yes : `Allow ${grant}`,
    no,
    choices: question?.choices ?? [],
    freeText: question?.freeText ?? true,
    ...(deadline && { deadline: new Date(deadline).getTime() }),
  };
}
