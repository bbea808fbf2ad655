import { createInterface } from 'node:readline/promises';
import type { CallError, Client } from '../../../client/client.ts';
import type { ResultOf } from '../../../operations/index.ts';
import { newCommandId } from '../../reach/call.ts';
import { Refusal } from '../../show/errors.ts';
import { standardScreen } from '../../show/screen.ts';
import { clean, fold } from '../../show/text.ts';
import { wholeText } from '../../show/whole-text.ts';
import { print, warn } from '../../show/write.ts';
import type { Progress } from './progress.ts';
import type { Standing } from './standing.ts';

type Request = ResultOf<'request.list'>[number];

/**
 * What a typed answer means: the number or the text of a choice, else a text of its own. A number that no choice has is
 * a mistake.
 */
export function chosenBy(
  text: string,
  { id, teamId, question }: Pick<Request, 'id' | 'teamId' | 'question'>,
): { choice: string | undefined; feedback: string | undefined } {
  const { choices = [] } = question ?? {};
  const typed = text.trim();
  const choice =
    choices.find((one) => one === typed) ??
    choices.find((one) => one.toLowerCase() === typed.toLowerCase()) ??
    (/^\d+$/.test(typed) ? choices[Number(typed) - 1] : undefined);
  if (choice !== undefined) return { choice, feedback: undefined };
  if (choices.length > 0 && /^\d+$/.test(typed)) {
    const list = choices.map((one, i) => `${i + 1} (${one})`).join(', ');
    const other = question?.freeText
      ? `; to answer ${typed} as a text: troupe answer ${id} ${typed} --as-text --team ${teamId}`
      : '';
    throw new Refusal('invalid', `There is no choice ${typed}; there is ${list}${other}`);
  }
  return { choice, feedback: text };
}

/** Asks the person at the terminal what members ask their user. */
export interface Questioner {
  /** Shows the oldest question that was not shown yet, if none is. Ends the shown one if it was answered elsewhere. */
  look(standing: Standing): void;
  close(): void;
}

/**
 * Takes answers at the terminal, one question after another. An empty line leaves a question open: it can still be
 * answered from another terminal or the page. `hush` stops the picture while somebody types, and takes how to print above.
 */
export function openQuestioner(client: Client, { hush }: Pick<Progress, 'hush'>): Questioner {
  const shown = new Set<string>();
  let current: { readonly id: string; readonly over: AbortController } | undefined;
  let last: Standing | undefined;
  let isClosed = false;

  const ask = async (request: Request): Promise<void> => {
    const over = new AbortController();
    current = { id: request.id, over };
    shown.add(request.id);
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    let isTyping = false;
    hush((say) => {
      if (!isTyping) return say();
      // What was typed may take several rows. `prompt` goes back over as many, and writes it again.
      const { rows } = lines.getCursorPos();
      print(`${rows > 0 ? `\x1b[${rows}A` : ''}\r\x1b[J`);
      say();
      print('\n'.repeat(rows));
      lines.prompt(true);
    });
    // The terminal sends Ctrl-C to readline while it reads; it means what it means without a question.
    lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    lines.once('close', () => over.abort());
    try {
      warn(describe(request));
      isTyping = true;
      const typed = await lines
        .question('Your answer (an empty line leaves it open): ', { signal: over.signal })
        .finally(() => {
          isTyping = false;
        });
      if (typed.trim() !== '') await send(request, typed);
    } catch (error) {
      if (!over.signal.aborted) throw error;
      warn('\n');
    } finally {
      lines.close();
      hush(undefined);
      current = undefined;
    }
  };

  const send = async (request: Request, typed: string): Promise<void> => {
    const { teamId, id: requestId, revision } = request;
    try {
      const { choice, feedback } = chosenBy(typed, request);
      const said = {
        ...(revision !== undefined && { revision }),
        ...(choice !== undefined && { choice }),
        ...(feedback !== undefined && { feedback }),
      };
      await client.call('request.answer', { teamId, requestId, approve: true, ...said }, { commandId: newCommandId() });
    } catch (error) {
      const { code, message } = error as CallError;
      if (code !== 'conflict' && code !== 'invalid' && code !== 'stale_revision') throw error;
      warn(`troupe: ${clean(message)}\n`);
      // A wrong answer can be repeated.
      if (code === 'invalid') shown.delete(requestId);
    }
  };

  const questioner: Questioner = {
    look(standing) {
      last = standing;
      const open = standing.requests.filter(({ question }) => question !== undefined);
      if (current) {
        if (!open.some(({ id }) => id === current?.id)) current.over.abort();
        return;
      }
      const next = isClosed ? undefined : open.find(({ id }) => !shown.has(id));
      if (!next) return;
      void ask(next)
        .catch((error: unknown) => warn(`troupe: ${clean(error instanceof Error ? error.message : String(error))}\n`))
        .then(() => last && questioner.look(last));
    },
    close() {
      isClosed = true;
      current?.over.abort();
    },
  };
  return questioner;
}

function describe({ memberId, taskId, content, question }: Request): string {
  const screen = standardScreen(process.env);
  const about = taskId === undefined ? '' : ` (task #${clean(taskId)})`;
  const choices = (question?.choices ?? []).map((choice, i) => `${fold(`  ${i + 1}. ${clean(choice)}`, screen, 5)}\n`);
  return `\n${clean(memberId)}${about} asks:\n${wholeText(content, screen)}${choices.join('')}`;
}
