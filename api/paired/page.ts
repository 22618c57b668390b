/**
 * Makes pages of lists in turns. A page may have a thousand polygons, which are 20 MB of JSON: made at once, forty of
 * them stopped all other requests for half a minute.
 */
import { createFairLimit } from '../../pipeline/fair-limit.js';
import { createTurns } from '../../schemas/turns.js';

/** Characters of JSON that one turn of the event loop makes, in about two milliseconds. Most pages are shorter. */
const charactersPerTurn = 131_072;
const nextTurn = createTurns();

/** Runs the making of a page. Few run at a time, as each has its records and its text in memory. */
export const makingPage = createFairLimit({
  maxRunning: 4,
  maxWaitingPerProject: 128,
  refusal: 'too many lists of this project are waiting',
  retryAfterS: 1,
});

/** Returns the JSON of a page. Rejects with the reason of the signal when it aborts. */
export async function pageText<Stored>(
  { meta, name, items }: { readonly meta: object; readonly name: string; readonly items: readonly Stored[] },
  json: (item: Stored) => unknown,
  signal: AbortSignal,
): Promise<string> {
  const texts: string[] = [];
  let characters = 0;
  for (const item of items) {
    const text = JSON.stringify(json(item));
    texts.push(text);
    characters += text.length;
    if (characters < charactersPerTurn) continue;
    await nextTurn(signal);
    characters = 0;
  }
  return `{"meta":${JSON.stringify(meta)},${JSON.stringify(name)}:[${texts.join(',')}]}`;
}
