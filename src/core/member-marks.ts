/** The session id of a member without a session. */
export const NO_SESSION = 'none';

/** Why a member stopped that agreed to a shutdown. Unlike other reasons, code compares this one: it is no problem. */
export const SHUTDOWN = 'shutdown';
