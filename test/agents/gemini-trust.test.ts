import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { geminiTrust } from '../../src/agents/acp/gemini-trust.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const TRUSTED = { GEMINI_CLI_TRUST_WORKSPACE: 'true' };

test('a copy of a checkout is trusted if the closest folder that Gemini CLI knows is', () => {
  const HOME = temporaryFolder();
  const [work, own] = [join(HOME, 'work'), join(HOME, 'work/project')];
  mkdirSync(own, { recursive: true });
  mkdirSync(join(HOME, '.gemini'));
  symlinkSync(own, join(HOME, 'link'));
  const knows = (rules: object | string): object => {
    writeFileSync(join(HOME, '.gemini/trustedFolders.json'), typeof rules === 'string' ? rules : JSON.stringify(rules));
    return geminiTrust({ copyOf: own, env: { HOME } });
  };
  expect(geminiTrust({ copyOf: own, env: { HOME } })).toEqual({});
  expect(knows({ [own]: 'TRUST_FOLDER' })).toEqual(TRUSTED);
  expect(knows({ [work]: 'TRUST_FOLDER' })).toEqual(TRUSTED);
  expect(knows({ [join(work, 'other')]: 'TRUST_PARENT' })).toEqual(TRUSTED);
  expect(knows({ [join(HOME, 'link')]: 'TRUST_FOLDER' })).toEqual(TRUSTED);
  expect(knows({ [work]: 'TRUST_FOLDER', [own]: 'DO_NOT_TRUST' })).toEqual({});
  expect(knows({ [`${own}-2`]: 'TRUST_FOLDER', [join(own, 'src')]: 'TRUST_FOLDER' })).toEqual({});
  expect(knows('{')).toEqual({});
  expect(knows({ [own]: 'TRUST_FOLDER' })).toEqual(TRUSTED);
  // Only copies: elsewhere Gemini CLI looks itself. And what the user set stays.
  expect(geminiTrust({ copyOf: undefined, env: { HOME } })).toEqual({});
  expect(geminiTrust({ copyOf: own, env: { HOME, GEMINI_CLI_TRUST_WORKSPACE: 'false' } })).toEqual({});
});
