import { openLog } from '../../../src/runtime/log.ts';
// Starts tracing as the environment says, and prints whether it did.
import { createRedactor } from '../../../src/runtime/redact.ts';
import { startTracing } from '../../../src/runtime/tracing.ts';

const log = openLog({ path: `${process.env['TROUPE_TEST_MODULES']}.log`, level: 'info', redactor: createRedactor({}) });
const tracing = await startTracing(process.env, { version: '0', transcripts: '', log });
process.stdout.write(`tracing: ${tracing !== undefined}\n`);
await tracing?.close();
log.close();
