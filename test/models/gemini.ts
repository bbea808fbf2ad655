import { z } from 'zod';
import type { ModelReply, ModelRequest, ModelScript, ModelServer } from './script.ts';
import { headersOf, piecesOf, startModelServer, think, USED } from './server.ts';
import type { Exchange } from './server.ts';

const Part = z.looseObject({
  text: z.string().optional(),
  functionResponse: z.looseObject({ response: z.unknown() }).optional(),
});
const Content = z.looseObject({ role: z.string().optional(), parts: z.array(Part).default([]) });
const Body = z.looseObject({
  systemInstruction: Content.optional(),
  contents: z.array(Content),
  tools: z
    .array(z.looseObject({ functionDeclarations: z.array(z.looseObject({ name: z.string() })).default([]) }))
    .default([]),
  generationConfig: z
    .looseObject({ responseSchema: z.unknown().optional(), responseJsonSchema: z.unknown().optional() })
    .optional(),
});
type Body = z.output<typeof Body>;

/** Text that the program sends in the user's name. */
const OWN_TEXT = /<session_context>[\s\S]*?<\/session_context>\s*/g;

/** A scripted model that speaks Google's Gemini API. */
export function geminiServer(script: ModelScript): Promise<ModelServer> {
  return startModelServer(answerGenerate, script);
}

async function answerGenerate(exchange: Exchange): Promise<void> {
  const [, model = '', verb = ''] = /^\/v1(?:beta)?\/models\/([^:]+):(\w+)$/.exec(exchange.path) ?? [];
  if (verb === 'countTokens') return exchange.json(200, { totalTokens: 123 });
  if (verb !== 'generateContent' && verb !== 'streamGenerateContent') {
    return fail(exchange, { status: 404, message: `there is no ${exchange.method} ${exchange.path}` });
  }
  const asked = Body.safeParse(exchange.body);
  if (!asked.success) return fail(exchange, { status: 400, message: z.prettifyError(asked.error) });
  const reply = ownQuestion(asked.data) ?? (await exchange.ask(requestOf(model, asked.data)));
  if (reply.error) return fail(exchange, reply.error, headersOf(reply));
  if (verb === 'streamGenerateContent') await stream(exchange, model, reply);
  else exchange.json(200, chunk(model, [...textParts(reply.text), ...callParts(reply)], reply));
}

/** Answers the program's own questions, such as which model to use or who speaks next. They have a JSON schema. */
function ownQuestion({ generationConfig }: Body): ModelReply | undefined {
  const schema = generationConfig?.responseJsonSchema ?? generationConfig?.responseSchema;
  if (schema === undefined) return undefined;
  const { properties = {} } = schema as { properties?: Record<string, { enum?: unknown[] }> };
  const answers = Object.entries(properties).map(([name, { enum: values }]) => {
    const value = name === 'next_speaker' ? 'user' : (values?.[0] ?? 'because');
    return [name, name === 'complexity_score' ? 1 : value];
  });
  return { text: JSON.stringify(Object.fromEntries(answers)) };
}

function requestOf(model: string, body: Body): ModelRequest {
  return {
    system: (body.systemInstruction?.parts ?? []).map(({ text }) => text ?? '').join('\n'),
    turns: body.contents.flatMap(({ role, parts }) =>
      parts.flatMap((part): ModelRequest['turns'] => {
        if (part.functionResponse) return [{ role: 'tool', text: JSON.stringify(part.functionResponse.response) }];
        const text = (part.text ?? '').replaceAll(OWN_TEXT, '');
        return text === '' ? [] : [{ role: role === 'model' ? 'assistant' : 'user', text }];
      }),
    ),
    tools: body.tools.flatMap(({ functionDeclarations }) => functionDeclarations.map(({ name }) => name)),
    model,
    body,
  };
}

/** The protocol's names of errors, by HTTP status. */
const STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

function fail(exchange: Exchange, error: NonNullable<ModelReply['error']>, headers = {}): void {
  const { status, message, more } = error;
  const body = { error: { code: status, message, status: STATUSES[status] ?? 'INTERNAL', ...more } };
  exchange.json(status, body, headers);
}

function textParts(text: string | undefined): object[] {
  return text ? [{ text }] : [];
}

function callParts({ calls = [] }: ModelReply): object[] {
  return calls.map(({ name, input }) => ({ functionCall: { name, args: input } }));
}

function chunk(model: string, parts: readonly object[], last?: ModelReply): object {
  const candidate = { index: 0, content: { role: 'model', parts } };
  if (!last) return { candidates: [candidate], modelVersion: model, responseId: 'scripted' };
  const { input, output, cached } = { ...USED, ...last.usage };
  return {
    candidates: [{ ...candidate, finishReason: last.refuses ? 'SAFETY' : 'STOP' }],
    modelVersion: model,
    responseId: 'scripted',
    usageMetadata: {
      promptTokenCount: input,
      candidatesTokenCount: output,
      totalTokenCount: input + output,
      cachedContentTokenCount: cached,
    },
  };
}

async function stream(exchange: Exchange, model: string, reply: ModelReply): Promise<void> {
  const events = exchange.stream();
  await think(reply, exchange.gone, () => events.send(chunk(model, [{ text: 'Let me see', thought: true }])));
  // What it blocks it does not say.
  const said = reply.refuses ? {} : reply;
  for await (const text of piecesOf(said, exchange.gone)) events.send(chunk(model, [{ text }]));
  events.send(chunk(model, callParts(reply), reply));
  events.end();
}
