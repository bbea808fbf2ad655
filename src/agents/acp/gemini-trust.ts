import { readFileSync, realpathSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { z } from 'zod';
import type { StartOptions } from '../agent.ts';

/** What Gemini CLI keeps about folders. */
const TrustedFolders = z.record(z.string(), z.string());

/**
 * Gemini CLI asks its user once per folder whether to trust it. In a folder that it does not know it has no MCP
 * servers, so no tools of the team, and asks before every edit: seen with 0.61.0. A workspace is a copy of the user's
 * checkout, so it is trusted if the user trusts that.
 */
export function geminiTrust({ copyOf, env }: Pick<StartOptions, 'copyOf' | 'env'>): Record<string, string> {
  if (copyOf === undefined || env[TRUST] !== undefined) return {};
  return isTrusted(copyOf, env) ? { [TRUST]: 'true' } : {};
}

const TRUST = 'GEMINI_CLI_TRUST_WORKSPACE';

function isTrusted(folder: string, env: StartOptions['env']): boolean {
  const home = env['GEMINI_CLI_HOME'] ?? env['HOME'] ?? '';
  const path = env['GEMINI_CLI_TRUSTED_FOLDERS_PATH'] ?? join(home, '.gemini', 'trustedFolders.json');
  const known = readRules(path);
  const here = real(folder);
  // The closest folder decides.
  const [closest] = known
    .map(([named, trust]) => ({ trust, over: real(trust === 'TRUST_PARENT' ? dirname(named) : named) }))
    .filter(({ over }) => here === over || here.startsWith(over.endsWith(sep) ? over : `${over}${sep}`))
    .sort((a, b) => b.over.length - a.over.length);
  return closest?.trust === 'TRUST_FOLDER' || closest?.trust === 'TRUST_PARENT';
}

function readRules(path: string): [folder: string, trust: string][] {
  try {
    return Object.entries(TrustedFolders.parse(JSON.parse(readFileSync(path, 'utf8'))));
  } catch {
    // There is none yet, or Gemini CLI cannot read it either.
    return [];
  }
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
