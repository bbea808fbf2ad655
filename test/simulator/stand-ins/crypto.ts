// Stands in for node:crypto: what is random comes from the seed.
import { uuid } from '../platform.ts';

export { createHash, createHmac, timingSafeEqual } from 'node:crypto';

export const randomUUID = (): string => uuid(Math.random);

export const randomBytes = (length: number): Buffer =>
  Buffer.from(Array.from({ length }, () => Math.floor(Math.random() * 256)));
