import { z } from 'zod';
import type { ModelReply, ModelRequest, ModelScript, ModelServer } from './script.ts';
import { headersOf, piecesOf, startModelServer, think, USED } from './server.ts';
import type { Exchange } from './server.ts';

const Part = z.looseObject({ text: z.string().optional() });
const Item = z.looseObject({
  type: z.string().default('message'),
  role: z.string().optional(),
  content: z.union([z.string().transform((text) => [{ text }]), z.array(Part)]).nullish(),
  output: z.unknown().optional(),
});
const Tool = z.looseObject({
  type: z.string(),
  name: z.string().optional(),
  tools: z.array(z.looseObject({ name: z.string() })).optional(),
});
const Body = z.looseObject({
  model: z.string(),
  instructions: z.string().default(''),
  input: z.array(Item),
  tools: z.array(Tool).default([]),
});
type Body = z.output<typeof Body>;

/** Text that the program sends in the user's name: its environment, and files such as AGENTS.md. */
const OWN_TEXT = /^(<|# AGENTS)/;

/** A scripted model that speaks the OpenAI Responses API. A tool in a namespace is named `namespace.tool`. */
export function openaiServer(script: ModelScript): Promise<ModelServer> {
  return startModelServer(answerResponses, script);
}

async function answerResponses(exchange: Exchange): Promise<void> {
  const { method, path, body } = exchange;
  if (method !== 'POST') return exchange.json(200, { object: 'list', data: [], models: [] });
  if (!path.endsWith('/responses')) return fail(exchange, { status: 404, message: `there is no ${path}` });
  const asked = Body.safeParse(body);
  if (!asked.success) return fail(exchange, { status: 400, message: z.prettifyError(asked.error) });
  const reply = await exchange.ask(requestOf(asked.data));
  if (reply.error) return fail(exchange, reply.error, headersOf(reply));
  await stream(exchange, asked.data, reply);
}

function requestOf(body: Body): ModelRequest {
  const texts = body.input.map((item) => ({ item, text: textOf(item) }));
  const isSystem = ({ role }: z.output<typeof Item>): boolean => role === 'developer' || role === 'system';
  return {
    system: [body.instructions, ...texts.flatMap(({ item, text }) => (isSystem(item) ? [text] : []))].join('\n'),
    turns: texts.flatMap(({ item, text }): ModelRequest['turns'] => {
      if (item.type.endsWith('_output')) return [{ role: 'tool', text }];
      if (item.type !== 'message' || isSystem(item)) return [];
      if (item.role === 'assistant') return [{ role: 'assistant', text }];
      return OWN_TEXT.test(text) ? [] : [{ role: 'user', text }];
    }),
    tools: body.tools.flatMap(({ type, name = type, tools }) => tools?.map((tool) => `${name}.${tool.name}`) ?? [name]),
    model: body.model,
    body,
  };
}

function textOf({ content, output }: z.output<typeof Item>): string {
  if (content) return content.map(({ text }) => text ?? '').join('\n');
  if (typeof output === 'string') return output;
  const parts = z.array(Part).safeParse(output);
  return parts.success ? parts.data.map(({ text }) => text ?? '').join('\n') : JSON.stringify(output ?? '');
}

function fail(exchange: Exchange, error: NonNullable<ModelReply['error']>, headers = {}): void {
  const body = {
    error: { message: error.message, type: 'invalid_request_error', code: null, param: null, ...error.more },
  };
  exchange.json(error.status, body, headers);
}

async function stream(exchange: Exchange, body: Body, reply: ModelReply): Promise<void> {
  const events = exchange.stream(headersOf(reply));
  const send = (type: string, data: object): void => events.send({ type, ...data }, type);
  const id = `resp_${crypto.randomUUID()}`;
  let index = 0;
  send('response.created', { response: { id, status: 'in_progress' } });
  if (reply.pace?.isHeard) {
    const item = { type: 'reasoning', id: `rs_${crypto.randomUUID()}`, summary: [] };
    const part = { item_id: item.id, output_index: index, summary_index: 0 };
    send('response.output_item.added', { output_index: index, item });
    send('response.reasoning_summary_part.added', { ...part, part: { type: 'summary_text', text: '' } });
    const thought = { ...part, delta: 'Let me see. ' };
    await think(reply, exchange.gone, () => send('response.reasoning_summary_text.delta', thought));
    const summary = [{ type: 'summary_text', text: 'Let me see.' }];
    send('response.output_item.done', { output_index: index++, item: { ...item, summary } });
  } else {
    const response = { id, status: 'in_progress' };
    await think(reply, exchange.gone, () => send('response.in_progress', { response }));
  }
  if (reply.text) {
    const item = { type: 'message', id: `msg_${crypto.randomUUID()}`, role: 'assistant' };
    send('response.output_item.added', { output_index: index, item: { ...item, content: [] } });
    for await (const delta of reply.refuses ? [] : piecesOf(reply, exchange.gone)) {
      send('response.output_text.delta', { item_id: item.id, output_index: index, content_index: 0, delta });
    }
    const content = reply.refuses
      ? [{ type: 'refusal', refusal: reply.text }]
      : [{ type: 'output_text', text: reply.text, annotations: [] }];
    send('response.output_item.done', { output_index: index++, item: { ...item, content } });
  }
  for (const call of reply.calls ?? []) {
    const item = callItem(body, call);
    send('response.output_item.added', { output_index: index, item });
    send('response.output_item.done', { output_index: index++, item });
  }
  send('response.completed', { response: { id, status: 'completed', usage: usageOf(reply) } });
  events.end();
}

/** An item that calls a tool. Tools that take free text instead of JSON get their `input`. */
function callItem(body: Body, { name, input }: NonNullable<ModelReply['calls']>[number]): object {
  const id = { id: `fc_${crypto.randomUUID()}`, call_id: `call_${crypto.randomUUID()}` };
  const tool = body.tools.find((one) => one.name === name);
  if (tool?.type === 'custom') return { ...id, type: 'custom_tool_call', name, input: input['input'] };
  const dot = name.lastIndexOf('.');
  const names = dot === -1 ? { name } : { namespace: name.slice(0, dot), name: name.slice(dot + 1) };
  return { ...id, type: 'function_call', ...names, arguments: JSON.stringify(input) };
}

function usageOf({ usage }: ModelReply): object {
  const { input, output, cached } = { ...USED, ...usage };
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
}
