import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { anthropicServer } from '../models/anthropic.ts';
import { geminiServer } from '../models/gemini.ts';
import { openaiServer } from '../models/openai.ts';
import type { ModelScript, ModelServer } from '../models/script.ts';
import { COMPILED_CODE } from '../setup/compiled-code.ts';
import { SHORT_RUN } from './bun.ts';
import { AGENTS_FOLDER, agentProgram } from './installed.ts';
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

/** Starts a model for an agent, and returns the team file entry that uses it. */
export async function setUp(name: InstalledAgent, { home, cwd }: Place, script: ModelScript): Promise<Setup> {
  const model = await SERVERS[name](script);
  const command = [agentProgram(name) ?? name];
  // PATH has the Node that runs the tests, because one agent is a script.
  const base = { HOME: home, PATH: `${join(process.execPath, '..')}:/usr/bin:/bin` };
  const entry = { command, cwd, ...MORE[name](model, base) };
  return { entry, model };
}

/** Shorter than any real key: a team file with a key of real length is refused. */
const KEY = 'dummy';

type Environment = Readonly<Record<'HOME' | 'PATH', string>>;

const MORE: Record<InstalledAgent, (model: ModelServer, base: Environment) => object> = {
  claude: ({ url }, base) => ({
    env: {
      ...base,
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: KEY,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      ...SHORT_RUN,
    },
  }),
  codex: (model, base) => {
    const args = ['model_provider="scripted"', 'model="plain"', `model_providers.scripted=${codexProvider(model)}`];
    return { args: args.flatMap((value) => ['-c', value]), env: { ...base, ...codexHome(base), MODEL_KEY: KEY } };
  },
  gemini: (model, base) => ({ args: ['--model', 'gemini-plain'], env: { ...base, ...geminiEnvironment(model) } }),
  opencode: (model, base) => ({ model: 'scripted/plain', env: { ...base, ...opencodeEnvironment(model, base.HOME) } }),
};

/** The environment in which Gemini CLI, which runs on Node, uses a scripted model. */
export function geminiEnvironment({ url }: ModelServer): Record<string, string> {
  return {
    GEMINI_API_KEY: KEY,
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
    NODE_COMPILE_CACHE: COMPILED_CODE,
  };
}

/**
 * The environment in which OpenCode uses the scripted models. It makes a start cheaper, which takes 6 s of processor
 * time (measured). OpenCode's built-in list of models takes a quarter of that, so it gets an empty one. Its default
 * plugins, which sign in to providers, take 0.5 s.
 */
export function opencodeEnvironment(model: ModelServer, home: string): Record<string, string> {
  haveOpencodePlugin(home);
  return {
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_MODELS_PATH: join(import.meta.dirname, 'no-models.json'),
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    OPENCODE_CONFIG_CONTENT: JSON.stringify({ share: 'disabled', ...opencodeModels(model) }),
    ...SHORT_RUN,
  };
}

/**
 * Makes OpenCode believe that its plugin package is in its home. Else it installs the package from the npm registry
 * while it works, which takes a third of a core as long as it runs (measured). No setting of it turns that off.
 */
function haveOpencodePlugin(home: string): void {
  const folder = join(home, '.config/opencode');
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  const lock = { packages: { '': { dependencies: { '@opencode-ai/plugin': '*' } } } };
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
}

/**
 * The variables that give Codex a home of its own. Where bubblewrap is installed, its sandbox needs a helper, which Codex
 * does not make in a home among temporary files. So the helper is on the PATH, outside of /dev, which its sandbox hides.
 */
export function codexHome({ HOME, PATH }: Readonly<Record<'HOME' | 'PATH', string>>): Record<string, string> {
  const CODEX_HOME = join(HOME, '.codex');
  const helpers = join(AGENTS_FOLDER, 'node_modules/.codex-helpers');
  for (const folder of [CODEX_HOME, helpers]) mkdirSync(folder, { recursive: true });
  const vendor = join(AGENTS_FOLDER, `node_modules/@openai/codex-${process.platform}-${process.arch}/vendor`);
  const [target] = existsSync(vendor) ? readdirSync(vendor) : [];
  const helper = join(helpers, 'codex-linux-sandbox');
  // Another test may make it at the same time.
  if (target !== undefined && !existsSync(helper)) {
    const own = join(helpers, randomUUID());
    symlinkSync(join(vendor, target, 'bin/codex'), own);
    renameSync(own, helper);
  }
  return { CODEX_HOME, PATH: `${helpers}:${PATH}` };
}

/** A provider for Codex's configuration file, without WebSockets, which the scripted model does not support. */
export function codexProvider({ url }: ModelServer): string {
  return `{name="scripted",base_url="${url}/v1",env_key="MODEL_KEY",wire_api="responses",supports_websockets=false}`;
}

/** The scripted models for OpenCode's configuration; it uses a small one for titles. */
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
