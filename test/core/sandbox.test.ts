import { describe, expect, test } from 'vitest';
import { hostsOf, isLoopback, readHost, ruleFor, Sandbox, sandboxOf } from '../../src/core/sandbox.ts';

describe('the settings of a sandbox', () => {
  test.each([
    [true],
    [false],
    [{}],
    [{ network: 'none' }],
    [{ network: ['api.example.com', '*.example.com:443', '127.0.0.1:8080', '[::1]:80', 'localhost:1', '*'] }],
    [{ read: ['~/.rustup', '/opt/x'], write: ['~'] }],
  ])('can be %j', (given) => {
    expect(Sandbox.safeParse(given).success).toBe(true);
  });

  test.each([
    [{ network: 'all' }],
    [{ network: ['localhost'] }],
    [{ network: ['127.0.0.1'] }],
    [{ network: ['https://example.com'] }],
    [{ network: ['exa*mple.com'] }],
    [{ network: ['example.com:0'] }],
    [{ network: ['example.com:65536'] }],
    [{ read: ['data'] }],
    [{ write: ['/a/../b'] }],
    [{ hosts: [] }],
  ])('cannot be %j', (given) => {
    expect(Sandbox.safeParse(given).success).toBe(false);
  });

  test('are empty for true, and absent for false', () => {
    expect([true, false, undefined].map(sandboxOf)).toEqual([{}, undefined, undefined]);
  });
});

describe('a host', () => {
  const allows = (entries: string[], host: string, port: number): boolean =>
    ruleFor(
      entries.flatMap((entry) => readHost(entry) ?? []),
      host,
      port,
    ) !== undefined;

  test.each([
    [['api.example.com'], 'api.example.com', 443],
    [['api.example.com'], 'API.example.com.', 80],
    [['*.example.com'], 'a.b.example.com', 443],
    [['example.com:8443'], 'example.com', 8443],
    [['*'], 'example.com', 22],
    [['localhost:8080'], '127.0.0.1', 8080],
    [['[::1]:8080'], '[::1]', 8080],
  ])('that is in %j can be reached: %s:%i', (entries, host, port) => {
    expect(allows(entries, host, port)).toBe(true);
  });

  test.each([
    [['api.example.com'], 'example.com', 443],
    [['*.example.com'], 'example.com', 443],
    [['*.example.com'], 'badexample.com', 443],
    [['example.com'], 'example.com.evil.org', 443],
    [['example.com:443'], 'example.com', 80],
    [['*'], 'localhost', 80],
    [['*'], '127.0.0.1', 80],
    [['*'], '[::1]', 80],
    [['127.0.0.1:80'], '127.0.0.1', 81],
    [[], 'example.com', 443],
  ])('that is not in %j cannot: %s:%i', (entries, host, port) => {
    expect(allows(entries, host, port)).toBe(false);
  });
});

test('the hosts of a sandbox are those that it names', () => {
  expect([hostsOf({}), hostsOf({ network: 'none' }), hostsOf({ network: ['a.example'] })]).toEqual([
    [],
    [],
    ['a.example'],
  ]);
});

test.each([
  ['localhost', true],
  ['LOCALHOST.', true],
  ['api.localhost', true],
  ['localhost.example.com', false],
  ['.localhost.example', false],
  ['[::1]', true],
  ['127.0.0.1', true],
  ['127.8.9.10', true],
  ['127.0.0.1.example', false],
  ['128.0.0.1', false],
])('the host %s is this machine: %s', (host, isThis) => {
  expect(isLoopback(host)).toBe(isThis);
});
