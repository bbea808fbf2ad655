import { parseYamlFile } from '../yaml-file.ts';
import { findBadReferences } from './references.ts';
import { TeamFile } from './schema.ts';

/** Reads a team file. What is wrong is told with line and column. */
export function parseTeamFile(text: string, name: string): TeamFile {
  return parseYamlFile(TeamFile, text, { name, check: findBadReferences });
}
