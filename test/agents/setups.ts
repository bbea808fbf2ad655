import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { anthropicServer } from '../models/anthropic.ts';
import { geminiServer } from '../models/gemini.ts';
import { openaiServer } from '../models/openai.ts';
import type { ModelScript, ModelServer } from '../models/script.ts';
import { COMPILED_CODE } from '../setup/compiled-code.ts';
import { agentProgram } from './installed.ts';
import type { InstalledAgent } from './installed.ts';
import type { Place } from './real.ts';

/** The agents that the tests can run, each with a scripted model. */
export const REAL_AGENTS = ['claude', 'codex', 'gemini', 'opencode'] as const satisfies readonly InstalledAgent[];

const SERVERS = {
  claude: anthropicServer,
  codex: openaiServer,
  gemini: geminiServer,
  opencode: anthropicServer,
} as const;

/** A real agent as a team file sets it up, and the model behind it. */
export interface Setup {
  readonly entry: Readonly<Record<string, unknown>>;
  readonly model: ModelServer;
}

/** Starts a model for an agent and says how a team file reaches it. */
export async function setUp(name: InstalledAgent, { home, cwd }: Place, script: ModelScript): Promise<Setup> {
  const model = await SERVERS[name](script);
  const command = [agentProgram(name) ?? name];
  // The Node that runs the tests: one of them is a script.
  const base = { HOME: home, PATH: `${join(process.execPath, '..')}:/usr/bin:/bin` };
  const entry = { command, cwd, ...MORE[name](model, base) };
  return { entry, model };
}

/** Shorter than any secret: one of a real length is refused where it would be kept. */
const KEY = 'dummy';

type Environment = Readonly<Record<string, string>>;

const MORE: Record<InstalledAgent, (model: ModelServer, base: Environment & { HOME: string }) => object> = {
  claude: ({ url }, base) => ({
    env: {
      ...base,
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: KEY,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
  }),
  codex: (model, base) => {
    const CODEX_HOME = join(base.HOME, '.codex');
    mkdirSync(CODEX_HOME, { recursive: true });
    const args = ['model_provider="scripted"', 'model="plain"', `model_providers.scripted=${codexProvider(model)}`];
    return { args: args.flatMap((value) => ['-c', value]), env: { ...base, CODEX_HOME, MODEL_KEY: KEY } };
  },
  gemini: (model, base) => ({ args: ['--model', 'gemini-plain'], env: { ...base, ...geminiEnvironment(model) } }),
  opencode: (model, base) => ({ model: 'scripted/plain', env: { ...base, ...opencodeEnvironment(model) } }),
};

/** How Gemini CLI, which runs on Node, finds a scripted model. */
export function geminiEnvironment({ url }: ModelServer): Record<string, string> {
  return {
    GEMINI_API_KEY: KEY,
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
    NODE_COMPILE_CACHE: COMPILED_CODE,
  };
}

/**
 * How OpenCode finds the scripted models. It knows all the others by a list that is a part of it, which takes a quarter of the
 * 6 s of processor time of each start (measured): here it has an empty one. Another tenth is its engine's last compiler, which
 * makes nothing faster in so short a life, and half a second its plugins, which sign in to providers that it has not.
 */
export function opencodeEnvironment(model: ModelServer): Record<string, string> {
  return {
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_MODELS_PATH: join(import.meta.dirname, 'no-models.json'),
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    OPENCODE_CONFIG_CONTENT: JSON.stringify({ share: 'disabled', ...opencodeModels(model) }),
    BUN_JSC_useFTLJIT: '0',
  };
}

/** As in Codex's configuration file. It would try WebSockets first, which the scripted model does not speak. */
export function codexProvider({ url }: ModelServer): string {
  return `{name="scripted",base_url="${url}/v1",env_key="MODEL_KEY",wire_api="responses",supports_websockets=false}`;
}

/** The scripted models as OpenCode's configuration has them; it asks a small one for titles. */
function opencodeModels({ url }: ModelServer): object {
  const model = { cost: { input: 3, output: 15 }, limit: { context: 200_000, output: 8_000 }, tool_call: true };
  const models = Object.fromEntries(['quick', 'plain'].map((name) => [name, { name, ...model }]));
  return {
    small_model: 'scripted/quick',
    enabled_providers: ['scripted'],
    provider: {
      scripted: {
        npm: '@ai-sdk/anthropic',
        name: 'scripted',
        options: { baseURL: `${url}/v1`, apiKey: KEY },
        models,
      },
    },
  };
}
