import { once } from 'node:events';
import { MessageChannel, Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PortError } from '../../pipeline/errors.js';
import { createDeferred } from '../../schemas/deferred.js';
import { remote, serve } from './remote.js';

interface Arithmetic {
  add(a: number, b: number): Promise<number>;
  fail(error: Error): Promise<never>;
  refuse(): Promise<never>;
  never(): Promise<never>;
  unsendable(): Promise<unknown>;
  untilAborted(name: string, signal: AbortSignal): Promise<never>;
}

/** A class, so that `this` and inherited methods are tried as well. */
class Calculator implements Arithmetic {
  private readonly zero = 0;
  async add(a: number, b: number): Promise<number> {
    return this.zero + a + b;
  }
  async fail(): Promise<never> {
    throw Object.assign(new TypeError('no such table'), { code: '60', type: 'UNKNOWN_TABLE' });
  }
  async refuse(): Promise<never> {
    throw new PortError('overloaded', 'too many bytes are in flight', { retryAfterS: 3 });
  }
  never(): Promise<never> {
    return new Promise(() => {});
  }
  async unsendable(): Promise<unknown> {
    return () => {};
  }
  untilAborted(_: string, signal: AbortSignal): Promise<never> {
    return new Promise((__, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  }
}

let channel: MessageChannel;
beforeEach(() => {
  channel = new MessageChannel();
  serve<Arithmetic>(channel.port2, new Calculator());
});
afterEach(() => channel.port1.close());

describe('calls between threads', () => {
  test('answers reach their calls', async () => {
    const calculator = remote<Arithmetic>(channel.port1);
    const sums = await Promise.all(Array.from({ length: 100 }, (_, i) => calculator.add(i, 1)));
    expect(sums).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
  });

  test('a remote can be awaited: it is not a promise', async () => {
    const calculator = await Promise.resolve(remote<Arithmetic>(channel.port1));
    expect(await calculator.add(1, 2)).toBe(3);
  });

  test('errors keep name, message and fields; a PortError arrives as a PortError', async () => {
    const calculator = remote<Arithmetic>(channel.port1);
    await expect(calculator.fail(new Error())).rejects.toMatchObject({
      name: 'TypeError',
      message: 'no such table',
      code: '60',
    });
    const refusal = await calculator.refuse().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(PortError);
    expect(refusal).toMatchObject({ code: 'overloaded', message: 'too many bytes are in flight', retryAfterS: 3 });
  });

  test('a call waits until its implementation is made, and is not begun if it aborts meanwhile', async () => {
    const own = new MessageChannel();
    const made = createDeferred<Calculator>();
    serve<Arithmetic>(own.port2, made.promise);
    const calculator = remote<Arithmetic>(own.port1);
    const controller = new AbortController();
    const aborted = calculator.untilAborted('it', controller.signal).catch((error: Error) => error.message);
    const sum = calculator.add(1, 2);
    controller.abort(new Error('not needed'));
    // Behind the abort.
    own.port1.postMessage({ id: 0, reason: {} });
    await new Promise<void>((resolve) => own.port2.on('message', ({ id }) => id === 0 && resolve()));
    made.resolve(new Calculator());
    expect(await sum).toBe(3);
    expect(await aborted).toBe('not needed');
    own.port1.close();
  });

  test("values that can't be cloned fail only their call", async () => {
    const calculator = remote<Arithmetic>(channel.port1);
    await expect(calculator.unsendable()).rejects.toThrow('could not be cloned');
    await expect(calculator.fail((() => {}) as unknown as Error)).rejects.toThrow('could not be cloned');
    await expect((calculator as unknown as { subtract(): Promise<void> }).subtract()).rejects.toThrow('subtract');
    expect(await calculator.add(1, 2)).toBe(3);
  });

  // Searches of clients that had left went on in the other thread.
  test('a signal aborts the call in the other thread, and no other call', async () => {
    const calculator = remote<Arithmetic>(channel.port1, { maxPendingCalls: 2 });
    const [one, other] = [new AbortController(), new AbortController()];
    const calls = [calculator.untilAborted('one', one.signal), calculator.untilAborted('other', other.signal)];
    one.abort(new PortError('unavailable', 'the client has left', { retryAfterS: 3 }));
    const refusal = await calls[0]!.catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(PortError);
    expect(refusal).toMatchObject({ code: 'unavailable', message: 'the client has left', retryAfterS: 3 });
    expect(await calculator.add(1, 2)).toBe(3);
    other.abort(new Error('enough'));
    await expect(calls[1]).rejects.toThrow('enough');
    await expect(calculator.untilAborted('late', one.signal)).rejects.toBe(one.signal.reason);
  });

  test('calls beyond the limit are rejected', async () => {
    const calculator = remote<Arithmetic>(channel.port1, { maxPendingCalls: 2 });
    const waiting = [calculator.never(), calculator.never()];
    await expect(calculator.add(1, 1)).rejects.toMatchObject({ code: 'overloaded' });
    channel.port1.close();
    for (const each of waiting) await expect(each).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('the end of a thread rejects its pending calls', async () => {
    const { port1, port2 } = new MessageChannel();
    const code = `require('node:worker_threads').workerData.once('message', () => { throw new Error('died') })`;
    const worker = new Worker(code, { eval: true, workerData: port2, transferList: [port2] });
    const died = once(worker, 'error');
    const calculator = remote<Arithmetic>(port1);
    await expect(calculator.add(1, 1)).rejects.toMatchObject({ code: 'unavailable' });
    await died.catch(() => {});
    await expect(calculator.add(1, 1)).rejects.toMatchObject({ code: 'unavailable' });
  });
});
