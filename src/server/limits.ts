import { REQUEST_BYTES } from '../operations/frames.ts';

/** How much of everything one client may have; the reasons are the faults that each bound survives. */
export const LIMITS = {
  /** Connections of one kind (TCP, Unix socket) at a time; an eighth of them is kept for people. */
  connections: 256,
  /** Of one credential at a time: connections over the Unix socket, WebSockets, requests under way. Of a person's: WebSockets and event streams. */
  connectionsPerToken: 16,
  /** A frame, a line, a body. */
  messageBytes: REQUEST_BYTES,
  /** The same from one who has shown no credential yet. */
  strangerBytes: 4 * 1024,
  /** Pieces of one WebSocket message. */
  fragments: 64,
  /** What may wait for a client that does not read; more, and it is cut off. */
  queueBytes: 4 * 1024 * 1024,
  /** Above it nothing new is begun for a client until it has read on. */
  busyBytes: 1024 * 1024,
  /** How long a client may take nothing of what waits for it. */
  stallMs: 10_000,
  /** How long a client that was cut off may sleep and still find its cursor; so many at a time, with so much between them. */
  lingerMs: 5 * 60_000,
  lingering: 64,
  lingerBytes: 16 * 1024 * 1024,
  /** Calls of one connection under way; further ones are left unread until some are done. */
  inFlight: 256,
  /** Calls of one credential, or of one connection of a person, that wait for something to happen. */
  waitingCalls: 64,
  /** Frames of one credential that are begun in one turn of the event loop; more of them would hold up everybody else. */
  callsPerTurn: 32,
  /** Long answers of one credential, or of one connection of a person, from their making until they are read. */
  longAnswers: 2,
  /** The same of all credentials but people's together. */
  longAnswersOfAll: 16,
  /** Frames of one WebSocket that are no calls: pings, pongs, and what comes after we closed. More, and nothing more is read. */
  asidesPerSecond: 10,
  asideBurst: 100,
  /** Teams that one connection follows. */
  subscriptions: 64,
  /** Frames in a row that cannot be read, after which a client is not one of ours. */
  unreadableFrames: 16,
  /** Requests that one connection may send ahead of their answers; browsers, and nearly all others, send none. */
  unanswered: 8,
  /** From the connection to the credential, or to the end of the headers. */
  greetingMs: 10_000,
  /** From the first byte of a request to its last. */
  requestMs: 30_000,
  /** How long a call over REST may wait; below what proxies and browsers bear. */
  restWaitMs: 25_000,
  /** Requests of one credential over HTTP, each of which is read and checked anew. Frames are held to `callsPerTurn` instead. */
  requestsPerSecond: 50,
  requestBurst: 200,
  /** Wrong credentials from one address before each further answer takes `authDelayMs`. */
  authFailuresPerMinute: 10,
  authDelayMs: 1_000,
  /** How long a process that Troupe ends may still speak; it is killed sooner. */
  lastWordsMs: 10_000,
  /** A sign of life on connections that are quiet. */
  keepAliveMs: 15_000,
} as const;

/** How often the daemon looks for clients that take nothing, and for those that are gone. */
export const LOOK_MS = 1_000;

/** The bounds of one server; tests make them small. */
export type Limits = { readonly [Name in keyof typeof LIMITS]: number };
