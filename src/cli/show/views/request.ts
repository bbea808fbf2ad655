import type { ResultOf } from '../../../operations/index.ts';
import type { Screen } from '../screen.ts';
import { table } from '../table.ts';
import type { Cell } from '../table.ts';
import { clean } from '../text.ts';
import { showTime } from '../time.ts';
import type { Views } from './views.ts';
import { describeAsked, describeJudged, describeUnsaved } from './waiting.ts';

type Request = ResultOf<'plan.submit'>;

const STYLES = { pending: 'yellow', approved: 'green', rejected: 'red', withdrawn: 'dim' } as const;

export const views: Views = {
  'request.list': (requests, screen) =>
    requests.length === 0 ? 'There are no such requests.\n' : requestTable(requests, screen),
  'request.raise': (request) => `A person was asked (request ${clean(request.id)}).\n`,
  'request.answer': (request) =>
    `Request ${clean(request.id)} of ${clean(request.memberId)} is ${clean(request.status)}.${describeUnsaved(request)}\n`,
  'question.ask': (request) => `${describeAsked(request)}\n`,
  'request.judge': (request) => `${describeJudged(request)}\n`,
  'shutdown.request': (request) => `${clean(request.memberId)} was asked to stop (request ${clean(request.id)}).\n`,
  'shutdown.approve': (request) => `${clean(request.memberId)} stops.\n`,
  'shutdown.reject': (request) => `${clean(request.memberId)} goes on.\n`,
  'plan.submit': (request) => `The plan waits for approval (request ${clean(request.id)}).\n`,
  'plan.approve': (request) => `The plan of ${clean(request.memberId)} is approved.\n`,
  'plan.reject': (request) => `The plan of ${clean(request.memberId)} is rejected.\n`,
};

/** Requests as a table. */
export function requestTable(requests: readonly Request[], screen: Screen): string {
  const rows = requests.map((request): Cell[] => [
    request.id,
    request.kind,
    { text: request.status, style: STYLES[request.status] },
    request.memberId,
    { text: showTime(request.requestedAt, screen), style: 'dim' },
    request.status === 'pending' ? request.content : (request.feedback ?? request.content),
  ]);
  const columns = [
    { title: 'REQUEST' },
    { title: 'KIND' },
    { title: 'STATUS', spare: 3 },
    { title: 'MEMBER', spare: 1 },
    { title: 'ASKED', spare: 2 },
    { title: 'TEXT', flexible: true },
  ] as const;
  return table(columns, rows, screen);
}
