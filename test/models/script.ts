/** An agent's request to its model, independent of the protocol. */
export interface ModelRequest {
  /** The system texts and instructions. */
  readonly system: string;
  /** The texts of the conversation, oldest first. Results of tools have the role `tool`. */
  readonly turns: readonly { readonly role: 'user' | 'assistant' | 'tool'; readonly text: string }[];
  /** The names of the tools that the model may call. */
  readonly tools: readonly string[];
  readonly model: string;
  /** The unchanged body. */
  readonly body: unknown;
}

/** The reply of a scripted model: the text, then the calls; or an error instead of both. */
export interface ModelReply {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly input: Readonly<Record<string, unknown>> }[];
  readonly usage?: { readonly input?: number; readonly output?: number; readonly cached?: number };
  /** `more` has fields that a provider adds to its protocol's errors. */
  readonly error?: {
    readonly status: number;
    readonly message: string;
    readonly retryAfter?: number;
    readonly more?: Readonly<Record<string, unknown>>;
  };
  /** Headers of the answer, for example about the limits of the account. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The model will not do it, in the words of the text. */
  readonly refuses?: true;
  /** Takes its time after it accepted the request, as real models do. */
  readonly pace?: Pace;
  /** Streams the first line at once, and the rest when this resolves. Ends early if the agent disconnects. */
  readonly held?: Promise<unknown>;
}

/** How a model takes its time, in milliseconds: it thinks, with a sign of life now and then, and says a word at a time. */
export interface Pace {
  readonly thinkMs: number;
  /** How often it streams something while it thinks; undefined if not at all. */
  readonly signMs?: number | undefined;
  /** The signs are its thoughts, and not only that the connection lives. */
  readonly isHeard?: boolean | undefined;
  readonly wordMs: number;
}

/** The script of a model: a function of the request, usually a pure one. */
export type ModelScript = (request: ModelRequest) => ModelReply | Promise<ModelReply>;

/** A scripted model server on loopback. */
export interface ModelServer {
  readonly url: string;
  /** The requests so far, in order. */
  readonly requests: readonly ModelRequest[];
  /** Replaces the script. */
  use(script: ModelScript): void;
  close(): Promise<void>;
}

/** The newest text of the user. */
export function lastUserText({ turns }: ModelRequest): string {
  return turns.findLast(({ role }) => role === 'user')?.text ?? '';
}
