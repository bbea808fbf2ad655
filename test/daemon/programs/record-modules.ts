// Loaded before the daemon: writes down which modules it loads.
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const file = process.env['TROUPE_TEST_MODULES'] ?? '';
registerHooks({
  load(url, context, next) {
    appendFileSync(file, `${url}\n`);
    return next(url, context);
  },
});
