import { z } from 'zod';
import type { ModelReply, ModelRequest, ModelScript, ModelServer } from './script.ts';
import { headersOf, piecesOf, startModelServer, think, USED } from './server.ts';
import type { Exchange } from './server.ts';

const Block = z.looseObject({ type: z.string(), text: z.string().optional(), content: z.unknown().optional() });
type Block = z.output<typeof Block>;
const Content = z.union([z.string().transform((text): Block[] => [{ type: 'text', text }]), z.array(Block)]);
const Body = z.looseObject({
  model: z.string(),
  max_tokens: z.number(),
  stream: z.boolean().default(false),
  system: Content.default([]),
  messages: z.array(z.object({ role: z.enum(['user', 'assistant', 'system']), content: Content })),
  tools: z.array(z.looseObject({ name: z.string() })).optional(),
});
type Body = z.output<typeof Body>;

/** Text that the program adds to the user's. Scripts do not see it in the turns, but can find it in the body. */
const OWN_TEXT = /<system-reminder>[\s\S]*?<\/system-reminder>\s*/g;

/** How Claude Code passes on a user's message during a turn, followed by its own instructions. */
const MID_TURN = /^The user sent a new message while you were working:\n([\s\S]*?)(?:\n\nThis is how |$)/;

/** A scripted model that speaks the Anthropic Messages API. */
export function anthropicServer(script: ModelScript): Promise<ModelServer> {
  return startModelServer(answerMessages, script);
}

async function answerMessages(exchange: Exchange): Promise<void> {
  const { method, path, body } = exchange;
  if (method === 'HEAD' && path === '/') return exchange.json(200, {});
  if (method === 'POST' && path === '/v1/messages/count_tokens') return exchange.json(200, { input_tokens: 100 });
  if (method !== 'POST' || path !== '/v1/messages') return fail(exchange, 404, `there is no ${method} ${path}`);
  const asked = Body.safeParse(body);
  if (!asked.success) return fail(exchange, 400, z.prettifyError(asked.error));
  // Requests without tools, such as titles and quota probes, are the program's own. Scripts do not answer them.
  const reply = asked.data.tools === undefined ? { text: 'ok' } : await exchange.ask(requestOf(asked.data));
  if (reply.error) return fail(exchange, reply.error.status, reply.error.message, headersOf(reply));
  if (asked.data.stream) await stream(exchange, asked.data, reply);
  else exchange.json(200, wholeMessage(asked.data, reply), headersOf(reply));
}

function requestOf(body: Body): ModelRequest {
  return {
    system: body.system.map(({ text }) => text ?? '').join('\n'),
    turns: body.messages.flatMap(({ role, content }) =>
      content.flatMap((block): ModelRequest['turns'] => {
        if (block.type === 'tool_result') return [{ role: 'tool', text: resultText(block.content) }];
        const text = (block.text ?? '').replaceAll(OWN_TEXT, '');
        if (block.type !== 'text' || text === '') return [];
        const said = MID_TURN.exec(text)?.[1];
        if (said !== undefined) return [{ role: 'user', text: said }];
        return role === 'system' ? [] : [{ role, text }];
      }),
    ),
    tools: (body.tools ?? []).map(({ name }) => name),
    model: body.model,
    body,
  };
}

function resultText(content: unknown): string {
  const blocks = Content.safeParse(content);
  return blocks.success ? blocks.data.map(({ text }) => text ?? '').join('\n') : '';
}

/** The protocol's names of errors, by HTTP status. */
const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

function fail(exchange: Exchange, status: number, message: string, headers: Record<string, string> = {}): void {
  const error = { type: ERROR_TYPES[status] ?? 'api_error', message };
  exchange.json(status, { type: 'error', error }, headers);
}

function usageOf({ usage }: ModelReply) {
  const { input, output, cached } = { ...USED, ...usage };
  return {
    input_tokens: input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    output_tokens: output,
  };
}

function callBlocks({ calls = [] }: ModelReply) {
  return calls.map(({ name, input }) => ({ type: 'tool_use', id: newId('toolu'), name, input }));
}

function newId(kind: string): string {
  return `${kind}_${crypto.randomUUID().replaceAll('-', '').slice(0, 24)}`;
}

function wholeMessage(body: Body, reply: ModelReply): object {
  const calls = callBlocks(reply);
  return {
    id: newId('msg'),
    type: 'message',
    role: 'assistant',
    model: body.model,
    content: [...(reply.text ? [{ type: 'text', text: reply.text }] : []), ...calls],
    stop_reason: stopReasonOf(reply),
    stop_sequence: null,
    usage: usageOf(reply),
  };
}

function stopReasonOf({ refuses, calls = [] }: ModelReply): string {
  if (refuses) return 'refusal';
  return calls.length > 0 ? 'tool_use' : 'end_turn';
}

async function stream(exchange: Exchange, body: Body, reply: ModelReply): Promise<void> {
  const events = exchange.stream({ 'request-id': newId('req'), ...headersOf(reply) });
  const send = (type: string, data: object): void => events.send({ type, ...data }, type);
  const message = wholeMessage(body, { ...reply, text: '', calls: [] });
  const usage = usageOf(reply);
  send('message_start', { message: { ...message, stop_reason: null, usage: { ...usage, output_tokens: 1 } } });
  let index = 0;
  if (reply.pace?.isHeard) {
    send('content_block_start', { index, content_block: { type: 'thinking', thinking: '', signature: '' } });
    const delta = { type: 'thinking_delta', thinking: 'Let me see. ' };
    await think(reply, exchange.gone, () => send('content_block_delta', { index, delta }));
    send('content_block_delta', { index, delta: { type: 'signature_delta', signature: 'c2lnbmVk' } });
    send('content_block_stop', { index: index++ });
  } else await think(reply, exchange.gone, () => send('ping', {}));
  if (reply.text) {
    send('content_block_start', { index, content_block: { type: 'text', text: '' } });
    for await (const text of piecesOf(reply, exchange.gone)) {
      send('content_block_delta', { index, delta: { type: 'text_delta', text } });
    }
    send('content_block_stop', { index: index++ });
  }
  const calls = callBlocks(reply);
  for (const { input, ...call } of calls) {
    send('content_block_start', { index, content_block: { ...call, input: {} } });
    const delta = { type: 'input_json_delta', partial_json: JSON.stringify(input) };
    send('content_block_delta', { index, delta });
    send('content_block_stop', { index: index++ });
  }
  const delta = { stop_reason: stopReasonOf(reply), stop_sequence: null };
  send('message_delta', { delta, usage });
  send('message_stop', {});
  events.end();
}
