import { type Cluster, Command, type Redis } from 'ioredis';

/**
 * How long a command may take, the wait for a connection included. Two of these, since callers repeat once, and what a
 * function does besides stay below 2 s, within which an absent Redis is to be answered for.
 */
const COMMAND_MS = 700;
/** How long after its own timeout a blocking command is given up. */
const BLOCKING_GRACE_MS = 1_000;
/** A connection not used for this long is tried before it is trusted: its environment may have been frozen meanwhile. */
const IDLE_MS = 2_000;
/** A healthy round trip takes a millisecond; on a busy machine, a few more. */
const PROBE_MS = 150;

/** Commands by which a client makes its connection ready, and which cannot wait for that. */
const HANDSHAKE = new Set(['auth', 'hello', 'select', 'client', 'readonly', 'info', 'cluster']);

const deadlineMs = (command: Command) => {
  const blockSeconds = command.extractBlockingTimeout();
  return typeof blockSeconds === 'number' ? blockSeconds * 1000 + BLOCKING_GRACE_MS : COMMAND_MS;
};

/**
 * Rejects the command when its time is over. After a freeze, or on a starved machine, timers fire before the sockets are
 * read: an answer that has come meanwhile still counts.
 */
function limit(command: Command, timeMs: number, error: () => Error): void {
  // The client's own timer, later than this one: left to itself it would take the handshake's.
  command.setTimeout(timeMs + BLOCKING_GRACE_MS);
  const timer = setTimeout(() => {
    setImmediate(() => {
      if (!command.isSettled) command.reject(error());
    });
  }, timeMs);
  const clear = () => clearTimeout(timer);
  command.promise.then(clear, clear);
}

/** The client hangs a command's arguments on its error, and with them payloads and passwords. */
const scrub = (error: Error): Error => {
  Reflect.deleteProperty(error, 'command');
  return error;
};

/**
 * Bounds every command of a client in time, and keeps it from being sent on a connection that has died unseen.
 *
 * Without this a client away from its Redis queues without limit, and a command given up by its caller runs later all
 * the same. Here a command waits for the connection until its time is over, and is then never sent.
 */
export function guard(client: Redis | Cluster): void {
  const send = client.sendCommand.bind(client);
  const guarded = new WeakSet<Command>();
  let usedAtMs = Date.now();
  let lastError: Error | undefined;
  let leaving = false;
  let becomingReady: Promise<void> | undefined;
  let probing: Promise<void> | undefined;

  const used = () => {
    usedAtMs = Date.now();
  };
  const isReady = () => client.status === 'ready' && !leaving;
  const ready = (): Promise<void> => {
    if (isReady()) return Promise.resolve();
    becomingReady ??= new Promise((resolve) => {
      client.once('ready', resolve);
    });
    return becomingReady;
  };

  // To listen is also what keeps an `error` event from ending the process. What a cluster says of itself is only that
  // all nodes have failed; why, the nodes have said before.
  client.on('node error', (error: Error) => {
    lastError = scrub(error);
  });
  client.on('error', (error: Error) => {
    if (!('lastNodeError' in error)) lastError = scrub(error);
  });
  client.on('ready', () => {
    lastError = undefined;
    leaving = false;
    becomingReady = undefined;
    used();
  });

  /** Gives the connection up; the client then makes a new one. */
  const drop = () => {
    if (!isReady()) return;
    leaving = true;
    client.disconnect(true);
  };

  /** Finds out whether a connection that has not been used for a while still leads anywhere: one try for all who wait. */
  const probe = (): Promise<void> => {
    if (probing) return probing;
    const ping = new Command('ping');
    limit(ping, PROBE_MS, () => new Error(`Redis has not answered a ping within ${PROBE_MS} ms`));
    send(ping);
    probing = ping.promise.then(used, drop).finally(() => {
      probing = undefined;
    });
    return probing;
  };

  const sendWhenReady = async (command: Command, stream: Parameters<typeof send>[1]) => {
    if (isReady()) await probe();
    await ready();
    if (!command.isSettled) send(command, stream);
  };

  client.sendCommand = (command: Command, stream?: Parameters<typeof send>[1]) => {
    if (HANDSHAKE.has(command.name) || client.status === 'end') return send(command, stream);
    // A client hands commands in again that it has kept over a reconnect.
    if (guarded.has(command)) return command.isSettled ? command.promise : send(command, stream);
    guarded.add(command);
    const reject = command.reject.bind(command);
    command.reject = (error) => reject(scrub(error));
    const timeMs = deadlineMs(command);
    limit(command, timeMs, () => {
      // An answer that is overdue may never come: what follows must not queue up behind it.
      drop();
      return new Error(`Redis has not answered within ${timeMs} ms`, { cause: lastError });
    });
    command.promise.then(used, () => undefined);

    if (isReady() && Date.now() - usedAtMs < IDLE_MS) return send(command, stream);
    void sendWhenReady(command, stream);
    return command.promise;
  };
}
