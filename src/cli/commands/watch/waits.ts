import { paint } from '../../show/screen.ts';
import type { Screen } from '../../show/screen.ts';
import { clean, cut, fold } from '../../show/text.ts';
import { answerCommand, answerName } from '../../show/words.ts';
import type { Model } from './model.ts';

type Request = Model['status']['pendingRequests'][number];

/** Below this number of lines, tasks and members need all of them. */
const LEAST = 10;

/**
 * What waits for the user: the whole text and the command that answers it. At most half of the lines: if the texts need
 * more, one line of each is shown, and if that is still too much, nothing.
 */
export function waitsPanel({ status }: Model, screen: Screen, body: number): string[] {
  const waiting = status.pendingRequests.filter(({ kind }) => kind !== 'shutdown' && kind !== 'review');
  if (waiting.length === 0 || body < LEAST) return [];
  const team = clean(status.team.name);
  const panel = (text: (line: string) => string[]): string[] => [
    '',
    paint(screen, 'yellow', cut('WAITS FOR YOU', screen.columns)),
    ...waiting.flatMap((request) => [
      ...text(`  ${wordAsked(request)}`),
      ...wrap(`    ${wordCommand(request, waiting, team)}`),
    ]),
  ];
  const wrap = (line: string): string[] =>
    fold(line, screen, 4)
      .split('\n')
      .map((part) => cut(part, screen.columns));
  const fits = (lines: string[]): boolean => lines.length <= body / 2;
  return [panel(wrap), panel((line) => [cut(line, screen.columns)])].find(fits) ?? [];
}

function wordAsked({ kind, memberId, content, question }: Request): string {
  const choices = (question?.choices ?? []).map((choice, at) => ` ${at + 1}. ${clean(choice)}`).join('');
  return `${clean(memberId)} waits for your answer (${kind}): ${clean(content.replace(/\s+/g, ' '))}${choices}`;
}

function wordCommand(request: Request, waiting: readonly Request[], team: string): string {
  const { question } = request;
  const said = question === undefined ? '' : question.choices.length > 0 ? ' 1' : ' "your answer"';
  return `${answerCommand(request)} ${clean(answerName(request, waiting))} --team ${team}${said}`;
}
