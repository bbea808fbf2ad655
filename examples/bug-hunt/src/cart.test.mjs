import assert from 'node:assert/strict';
import { test } from 'node:test';
import { total } from './cart.mjs';

await test('from 100 euros on, a tenth is taken off', () => {
  assert.equal(total([{ price: 10_000 }]), 9_000);
});
