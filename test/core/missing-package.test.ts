import { expect, test } from 'vitest';
import { explainMissing } from '../../src/core/missing-package.ts';

const missing = (name: string, code = 'ERR_MODULE_NOT_FOUND') =>
  Object.assign(new Error(`Cannot find package '${name}' imported from /troupe/dist/journal/nats.js`), { code });

test('a missing optional package is named with all that belong to it, as npm is asked for them', () => {
  const advice =
    'A journal on NATS needs packages that are not installed with Troupe. Install them beside it: ' +
    'npm install -g @nats-io/jetstream@3.4.0 @nats-io/obj@3.4.0 @nats-io/transport-node@3.4.0';
  expect(explainMissing(missing('@nats-io/obj'))).toBe(advice);
  const required = Object.assign(new Error("Cannot find module '@nats-io/obj/sub'"), { code: 'MODULE_NOT_FOUND' });
  expect(explainMissing(required)).toBe(advice);
  expect(explainMissing(missing('@opentelemetry/api'))).toMatch(/^Tracing with OpenTelemetry needs packages/);
});

test.each([
  ['another package', missing('@nats-io/other')],
  ['a file', Object.assign(new Error("Cannot find module '/a/b.js'"), { code: 'MODULE_NOT_FOUND' })],
  ['another error', missing('@nats-io/obj', 'EACCES')],
  ['an error without a code', new Error("Cannot find package '@nats-io/obj'")],
  ['no error', "Cannot find package '@nats-io/obj'"],
])('%s says nothing about packages', (_what, error) => {
  expect(explainMissing(error)).toBeUndefined();
});
