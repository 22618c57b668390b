/**
 * Remote calls between threads: calls an object's asynchronous methods over a MessagePort.
 *
 * Arguments and results are copied (structured clone), unless the caller moves buffers. Errors keep name, message,
 * stack and plain fields. A PortError arrives as a PortError. An AbortSignal as the last argument aborts in the other
 * thread as well, with the same reason; the call settles as the method does.
 */
import type { MessagePort } from 'node:worker_threads';
import { PortError, type PortErrorCode } from '../../pipeline/errors.js';

/** An interface that consists of methods that return promises. */
type Asynchronous<T> = { [K in keyof T]: (...parameters: never[]) => Promise<unknown> };

interface Request {
  readonly id: number;
  readonly method: string;
  readonly parameters: unknown[];
  /** The method gets a signal as its last argument. */
  readonly isAbortable: boolean;
}

/** Aborts the signal of a call. */
interface Abortion {
  readonly id: number;
  readonly reason: Failure;
}

/** An error as it is sent. `fields` are its plain properties. */
interface Failure {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly fields: Record<string, string | number | undefined>;
}

type Response = { readonly id: number } & ({ readonly value: unknown } | { readonly failure: Failure });

function toFailure(thrown: unknown): Failure {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const plain = Object.entries(error).filter(([, value]) => typeof value === 'string' || typeof value === 'number');
  return { name: error.name, message: error.message, stack: error.stack, fields: Object.fromEntries(plain) };
}

function toError({ name, message, stack, fields }: Failure): Error {
  if (name === 'PortError') {
    const { code, retryAfterS } = fields;
    return new PortError(
      code as PortErrorCode,
      message,
      retryAfterS === undefined ? {} : { retryAfterS: Number(retryAfterS) },
    );
  }
  return Object.assign(new Error(message), fields, { name, stack });
}

type Methods = Readonly<Record<string, ((...parameters: unknown[]) => Promise<unknown>) | undefined>>;

/**
 * Serves calls from the port with the implementation's methods, until the port closes. Calls wait for an implementation
 * that is still being made, and reject as it does.
 */
export function serve<T extends Asynchronous<T>>(port: MessagePort, implementation: T | Promise<T>): void {
  /** Of the abortable calls that run, by id. */
  const controllers = new Map<number, AbortController>();

  function signalsOf({ id, isAbortable }: Request): AbortSignal[] {
    if (!isAbortable) return [];
    const controller = new AbortController();
    controllers.set(id, controller);
    return [controller.signal];
  }

  async function answer(request: Request): Promise<void> {
    const { id, method, parameters } = request;
    // Before anything is awaited: the call may be aborted meanwhile.
    const signals = signalsOf(request);
    try {
      const methods = (await implementation) as unknown as Methods;
      signals[0]?.throwIfAborted();
      const implemented = methods[method];
      if (implemented === undefined) throw new Error(`there is no method ${method}`);
      const value = await implemented.apply(methods, [...parameters, ...signals]);
      port.postMessage({ id, value } satisfies Response);
    } catch (error) {
      port.postMessage({ id, failure: toFailure(error) } satisfies Response);
    } finally {
      controllers.delete(id);
    }
  }

  port.on('message', (message: Request | Abortion) => {
    if ('method' in message) void answer(message);
    else controllers.get(message.id)?.abort(toError(message.reason));
  });
}

interface RemoteOptions {
  /** Limit of pending calls. Further calls reject as `overloaded`. Default 1,000. */
  readonly maxPendingCalls?: number;
  /** Returns the buffers of a call's arguments that the other thread gets without a copy. Default: none. */
  readonly moved?: (method: string, parameters: readonly unknown[]) => ArrayBuffer[];
}

interface PendingCall {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/**
 * Returns the object that the other end serves. When the port closes or its thread ends, pending and later calls reject
 * with PortError `unavailable`. The port keeps this thread alive only while calls are pending.
 */
export function remote<T extends Asynchronous<T>>(
  port: MessagePort,
  { maxPendingCalls = 1_000, moved = () => [] }: RemoteOptions = {},
): T {
  const pending = new Map<number, PendingCall>();
  let lastId = 0;
  let closed = false;

  function settle(response: Response): void {
    const call = pending.get(response.id);
    pending.delete(response.id);
    if (pending.size === 0) port.unref();
    if ('failure' in response) call?.reject(toError(response.failure));
    else call?.resolve(response.value);
  }

  async function call(method: string, parameters: unknown[]): Promise<unknown> {
    if (closed) throw new PortError('unavailable', `${method}: the other thread has ended`);
    if (pending.size >= maxPendingCalls)
      throw new PortError('overloaded', `${method}: too many calls are pending`, { retryAfterS: 1 });
    const last = parameters.at(-1);
    const signal = last instanceof AbortSignal ? last : undefined;
    const sent = signal === undefined ? parameters : parameters.slice(0, -1);
    signal?.throwIfAborted();
    lastId += 1;
    const id = lastId;
    port.postMessage(
      { id, method, parameters: sent, isAbortable: signal !== undefined } satisfies Request,
      moved(method, sent),
    );
    port.ref();
    const answered = new Promise((resolve, reject) => pending.set(id, { resolve, reject }));
    if (signal === undefined) return answered;
    const abort = () => port.postMessage({ id, reason: toFailure(signal.reason) } satisfies Abortion);
    signal.addEventListener('abort', abort);
    return answered.finally(() => signal.removeEventListener('abort', abort));
  }

  port.on('message', settle);
  port.on('close', () => {
    closed = true;
    for (const { reject } of pending.values()) reject(new PortError('unavailable', 'the other thread has ended'));
    pending.clear();
  });
  port.unref();

  return new Proxy({} as T, {
    // `await` reads `then` of the proxy, which is not a promise.
    get: (_target, method) =>
      typeof method === 'string' && method !== 'then'
        ? (...parameters: unknown[]) => call(method, parameters)
        : undefined,
  });
}
