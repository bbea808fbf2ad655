/** What an agent asked of its model, whatever the protocol. */
export interface ModelRequest {
  /** Everything it told the model beforehand: system texts, instructions. */
  readonly system: string;
  /** The texts of the conversation, oldest first; results of tools are texts of role `tool`. */
  readonly turns: readonly { readonly role: 'user' | 'assistant' | 'tool'; readonly text: string }[];
  /** The names of the tools that the model may call. */
  readonly tools: readonly string[];
  readonly model: string;
  /** The body as it came. */
  readonly body: unknown;
}

/** What the scripted model answers. The parts come in the order text, calls; an error comes instead of both. */
export interface ModelReply {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly input: Readonly<Record<string, unknown>> }[];
  readonly usage?: { readonly input?: number; readonly output?: number; readonly cached?: number };
  /** `more` is what a provider adds to the fields that all errors of its protocol have. */
  readonly error?: {
    readonly status: number;
    readonly message: string;
    readonly retryAfter?: number;
    readonly more?: Readonly<Record<string, unknown>>;
  };
  /** Streams the first line of the text at once and the rest when this resolves; the stream ends early when the agent hangs up. */
  readonly held?: Promise<unknown>;
}

/** A model that answers by the book: a pure function of what it was asked, as far as the test wants it to be. */
export type ModelScript = (request: ModelRequest) => ModelReply | Promise<ModelReply>;

/** A scripted model server on loopback. */
export interface ModelServer {
  readonly url: string;
  /** What was asked so far, in order. */
  readonly requests: readonly ModelRequest[];
  /** From now on it answers by another script. */
  use(script: ModelScript): void;
  close(): Promise<void>;
}

/** What the agent was told last: the newest text of the user. */
export function lastUserText({ turns }: ModelRequest): string {
  return turns.findLast(({ role }) => role === 'user')?.text ?? '';
}
