// Rewrites a large file until it is killed.
import { writeWhole } from '../../../src/bridge/json-file.ts';

const [path = ''] = process.argv.slice(2);
const text = 'x'.repeat(8 * 1024 * 1024);
writeWhole(path, text);
process.send?.('ready');
for (;;) writeWhole(path, text);
