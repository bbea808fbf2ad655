import { REQUEST_BYTES } from '../operations/frames.ts';

/** What one client may use. Each limit is there because of a fault that the server must survive. */
export const LIMITS = {
  /** Connections of one kind (TCP, Unix socket) at a time. An eighth of them is reserved for people. */
  connections: 256,
  /**
   * What one credential may have open at a time: connections over the Unix socket, WebSockets, requests under way. For
   * a person only WebSockets and event streams count.
   */
  connectionsPerToken: 16,
  /** A frame, a line, a body. */
  messageBytes: REQUEST_BYTES,
  /** The same for a client that has shown no credential yet. */
  strangerBytes: 4 * 1024,
  /** Pieces of one WebSocket message. */
  fragments: 64,
  /** How much may wait for a client that does not read. A client with more is cut off. */
  queueBytes: 4 * 1024 * 1024,
  /** If more waits, the server handles no new frames of the client until it has read. */
  busyBytes: 1024 * 1024,
  /** How long a client may read nothing of what waits for it. */
  stallMs: 10_000,
  /**
   * How long a client that was cut off may sleep and still find its cursor; how many such clients, and how many bytes
   * for all.
   */
  lingerMs: 5 * 60_000,
  lingering: 64,
  lingerBytes: 16 * 1024 * 1024,
  /** Calls of one connection under way. Further frames stay unread until some calls are done. */
  inFlight: 256,
  /** Calls of one credential, or of one connection of a person, that wait for something to happen. */
  waitingCalls: 64,
  /** Frames of one credential that are handled in one turn of the event loop. More would delay everybody else. */
  callsPerTurn: 32,
  /** Long answers of one credential, or of one connection of a person, from when they are made until they are read. */
  longAnswers: 2,
  /** The same for all credentials together, without people's. */
  longAnswersOfAll: 16,
  /**
   * Frames of one WebSocket that are not calls: pings, pongs, and frames after our close. After more than these,
   * nothing is read.
   */
  asidesPerSecond: 10,
  asideBurst: 100,
  /** Teams that one connection may follow. */
  subscriptions: 64,
  /** Unreadable frames in a row before the connection is ended. */
  unreadableFrames: 16,
  /** Requests that one connection may pipeline. Browsers, and nearly all other clients, pipeline none. */
  unanswered: 8,
  /** From the connection to the credential, or to the end of the headers. */
  greetingMs: 10_000,
  /** From the first byte of a request to its last. */
  requestMs: 30_000,
  /**
   * How long a connection stays open between two requests: longer than any client keeps one for later. Some keep it for
   * five minutes whatever the server says. A call that they send while the server closes fails, and is not repeated.
   */
  idleMs: 6 * 60_000,
  /** How long a call over REST may wait: less than the timeouts of proxies and browsers. */
  restWaitMs: 25_000,
  /**
   * Requests of one credential over HTTP, each with its own check of the credential. For frames the limit is
   * `callsPerTurn`.
   */
  requestsPerSecond: 50,
  requestBurst: 200,
  /** Wrong credentials from one address before each further answer takes `authDelayMs`. */
  authFailuresPerMinute: 10,
  authDelayMs: 1_000,
  /** How long a process that Troupe ends may still send. It is killed sooner. */
  lastWordsMs: 10_000,
  /** The interval of heartbeats on quiet connections. */
  keepAliveMs: 15_000,
} as const;

/** How often the daemon looks for clients that do not read, and for clients that are gone. */
export const LOOK_MS = 1_000;

/** The bounds of one server; tests make them small. */
export type Limits = { readonly [Name in keyof typeof LIMITS]: number };
