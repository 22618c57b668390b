import { describe, expect, test } from 'vitest';
import { createWakeups } from './wakeups.js';

describe('wakeups', () => {
  test('call listeners of the topic, also those of other instances with the same folder', async () => {
    const [here, there, elsewhere] = [createWakeups('/a'), createWakeups('/a'), createWakeups('/b')];
    const woken: string[] = [];
    here.listen('locations', () => woken.push('here'));
    elsewhere.listen('locations', () => woken.push('elsewhere'));
    there.listen('events', () => woken.push('other topic'));
    const reached = new Promise<void>((resolve) => there.listen('locations', resolve));
    here.wake(['locations']);
    expect(woken).toEqual(['here']);
    await reached;
    expect(woken).toEqual(['here']);
    for (const each of [here, there, elsewhere]) each.close();
  });

  test('end after the listener is removed', () => {
    const wakeups = createWakeups('/a');
    let woken = 0;
    const stop = wakeups.listen('locations', () => {
      woken += 1;
    });
    wakeups.wake(['locations', 'events']);
    stop();
    wakeups.wake(['locations']);
    expect(woken).toBe(1);
    wakeups.close();
  });
});
