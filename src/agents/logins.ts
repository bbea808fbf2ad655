import type { Login } from './row.ts';

/** Claude Code, however it is run. */
export const CLAUDE_LOGIN: Login = {
  name: 'claude',
  keys: ['CLAUDE_CODE_OAUTH_TOKEN', 'ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL'],
  folder: { variable: 'CLAUDE_CONFIG_DIR', fallback: '.claude' },
  // On a Mac it is in the keychain.
  stored: { files: ['.credentials.json'], isAll: process.platform !== 'darwin' },
  command: 'claude auth login',
  hosts: ['api.anthropic.com', 'platform.claude.com', 'console.anthropic.com', 'claude.ai'],
  keeps: {
    write: ['.'],
    settings: [
      'settings.json',
      'settings.local.json',
      'CLAUDE.md',
      'agents',
      'commands',
      'hooks',
      'plugins',
      'rules',
      'skills',
      'teams',
      'tasks',
    ],
    read: ['.claude.json'],
  },
};

/** Codex, however it is run. */
export const CODEX_LOGIN: Login = {
  name: 'codex',
  keys: ['CODEX_API_KEY', 'CODEX_ACCESS_TOKEN'],
  folder: { variable: 'CODEX_HOME', fallback: '.codex' },
  stored: { files: ['auth.json'], isAll: true },
  command: 'codex login',
  hosts: ['api.openai.com', 'chatgpt.com', 'auth.openai.com'],
  keeps: {
    write: ['.'],
    settings: ['config.toml', 'hooks.json', 'AGENTS.md', 'prompts', 'rules', 'skills', 'plugins'],
  },
};

/** Gemini CLI keeps its login in `.gemini` of this folder. */
export const GEMINI_LOGIN: Login = {
  name: 'gemini',
  keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_APPLICATION_CREDENTIALS', 'GOOGLE_GEMINI_BASE_URL'],
  folder: { variable: 'GEMINI_CLI_HOME', fallback: '' },
  // Or in a keychain, or in the files of gcloud.
  stored: { files: ['.gemini/oauth_creds.json', '.gemini/gemini-credentials.json'], isAll: false },
  command: 'gemini',
  hosts: ['generativelanguage.googleapis.com', 'cloudcode-pa.googleapis.com', 'oauth2.googleapis.com'],
  keeps: {
    write: ['.gemini'],
    settings: ['.gemini/settings.json', '.gemini/.env', '.gemini/GEMINI.md', '.gemini/commands', '.gemini/extensions'],
  },
};

/** OpenCode has one login for each provider, in `opencode` of this folder. */
export const OPENCODE_LOGIN: Login = {
  name: 'opencode',
  keys: ['OPENCODE_AUTH_CONTENT', 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'OPENROUTER_API_KEY'],
  folder: { variable: 'XDG_DATA_HOME', fallback: '.local/share' },
  // Some of its models need none.
  stored: { files: ['opencode/auth.json'], isAll: false },
  command: 'opencode auth login',
  hosts: ['opencode.ai', 'models.dev', 'api.anthropic.com', 'api.openai.com', 'openrouter.ai'],
  keeps: { write: ['opencode'], settings: [], read: ['.config/opencode'] },
};
