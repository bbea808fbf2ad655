import { expect, test } from 'vitest';
import { createRedactor } from '../../src/runtime/redact.ts';
import { mustEnd } from '../must-end.ts';

const SECRETS = [
  ['a model key', 'sk-ant-api03-AbCdEf0123456789-_x'],
  ['a project key', 'sk-proj-AbCdEf0123456789'],
  ['a GitHub token', 'ghp_abcdefghij0123456789ABCDEFGHIJ012345'],
  ['a fine-grained GitHub token', 'github_pat_11ABCDEFG0abcdefghij_klmnopqrstuvwxyz'],
  ['a Slack token', 'xoxb-123456789012-abcdefghijkl'],
  ['an AWS key id', 'AKIAIOSFODNN7EXAMPLE'],
  ['a JWT', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U'],
  ['a private key', '-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nabc\n-----END RSA PRIVATE KEY-----'],
  ['a private key that was cut', '-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nabc'],
  ["a member's token", 'tm1.WyJkZW1vIiwid29ya2VyIl0.c2lnbmF0dXJlLW9mLTQzLWNoYXJhY3RlcnM'],
] as const;

test.each(SECRETS)('redacts %s', (_name, secret) => {
  const redactor = createRedactor({});
  expect(redactor.text(`before ${secret}`)).toBe('before [redacted]');
  const line = redactor.json({ deep: { list: [`x=${secret}`] } });
  expect(JSON.parse(line)).toEqual({ deep: { list: ['x=[redacted]'] } });
});

test('redacts the password of a URL and leaves the rest', () => {
  const redactor = createRedactor({});
  expect(redactor.text('at postgres://me:hunter2@db.example:5432/x?y=1 now')).toBe(
    'at postgres://[redacted]@db.example:5432/x?y=1 now',
  );
  expect(redactor.text('http://127.0.0.1:8080/a:b@c')).toBe('http://127.0.0.1:8080/a:b@c');
});

test('redacts the exact values of secret variables, whatever they look like', () => {
  const redactor = createRedactor({
    MY_API_KEY: 'not a "known" shape',
    DB_PASSWORD: 'pass.word+*',
    LONGER_TOKEN: 'pass.word+*-and-more',
    FLAG_TOKEN: '1',
    PATH: '/usr/bin:/bin',
  });
  expect(redactor.text('a not a "known" shape b pass.word+* c pass.word+*-and-more')).toBe(
    'a [redacted] b [redacted] c [redacted]',
  );
  expect(redactor.text('1 and /usr/bin:/bin stay')).toBe('1 and /usr/bin:/bin stay');
});

test('redacts values that it learns later, and fields that contain only secrets', () => {
  const redactor = createRedactor({});
  redactor.hide('the-token-of-today');
  expect(redactor.text('x the-token-of-today')).toBe('x [redacted]');
  expect(redactor.json({ token: 'abc', authorization: 'def', tokenFile: '/home/token' })).toBe(
    '{"token":"[redacted]","authorization":"[redacted]","tokenFile":"/home/token"}',
  );
});

test('leaves ordinary text alone', () => {
  const redactor = createRedactor({});
  const plain = 'task-force of 12, risk-averse; sk- alone; team demo; 2026-01-01T00:00:00Z; /var/lib/x.db';
  expect(redactor.text(plain)).toBe(plain);
});

test.each(['a', 'eyJ', 'a:', '://', 'sk-', '-----BEGIN ', 'a.'])(
  'takes time in proportion to the length of a text that repeats %s',
  (piece) => {
    const redactor = createRedactor({});
    mustEnd(() => redactor.text(piece.repeat(1_000_000 / piece.length)));
  },
);
