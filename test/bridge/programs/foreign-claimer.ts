// Takes tasks from a native list, as Claude Code would.
import { foreignClaim } from '../foreign.ts';
import { claimAll } from './claim-all.ts';

const [folder = '', name = ''] = process.argv.slice(2);
claimAll(() => foreignClaim(folder, name));
