import { Readable, Writable } from 'node:stream';
import { ndJsonStream } from '@agentclientprotocol/sdk';
import type { Arguments } from '../line/command.ts';
import { openClient } from '../reach/connect.ts';
import { reportError } from '../show/errors.ts';
import { teamAgent } from './acp/agent.ts';
import type { TeamWishes } from './acp/start.ts';

/** A prompt has at most 128 KiB; the rest is for the files that an editor embeds. */
const MESSAGE_BYTES = 4 * 1024 * 1024;

/** How long a prompt waits for a daemon that is gone. */
const PATIENCE_MS = 30_000;

/**
 * `troupe acp`: a team as one agent, for editors that speak the Agent Client Protocol over standard input and output.
 * Nothing else is written to standard output. When the client is gone, the daemon stops the members.
 */
export async function runAcp(given: Arguments): Promise<void> {
  const { keep = false, ...wishes } = given.input as TeamWishes & { keep?: boolean };
  const client = openClient(process.env, { patience: PATIENCE_MS });
  // The client is gone, so there is nobody to tell.
  process.stdout.on('error', () => process.exit(0));
  const stream = ndJsonStream(
    Writable.toWeb(process.stdout),
    Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
    { maxMessageBytes: MESSAGE_BYTES },
  );
  const broken = Promise.withResolvers<never>();
  const connection = teamAgent({ client, wishes, keep, environment: process.env }).connect(
    watched(stream, broken.reject),
  );
  try {
    await Promise.race([connection.closed, broken.promise]);
    client.close();
    process.exit(0);
  } catch (error) {
    // Not a message of the protocol: the stream is beyond repair.
    client.close();
    process.exit(reportError(error, false));
  }
}

/** The same stream; says what broke it. The library closes the connection and keeps the reason to itself. */
function watched(stream: ReturnType<typeof ndJsonStream>, onBroken: (error: unknown) => void): typeof stream {
  const reader = stream.readable.getReader();
  const readable = new ReadableStream({
    async pull(controller) {
      try {
        const { value, done } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        onBroken(error);
        controller.error(error);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return { ...stream, readable };
}
