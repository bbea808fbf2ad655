import { parseYamlFile } from '../yaml-file.ts';
import { findBadFallbacks } from './fallbacks.ts';
import { findBadReferences } from './references.ts';
import { TeamFile } from './schema.ts';

/** Parses a team file. Errors have line and column. */
export function parseTeamFile(text: string, name: string): TeamFile {
  return parseYamlFile(TeamFile, text, {
    name,
    check: (file, misfits) => [...findBadReferences(file, misfits), ...findBadFallbacks(file, misfits)],
  });
}
