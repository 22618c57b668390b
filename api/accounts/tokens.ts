/**
 * One-time tokens, which mails carry. The store holds their SHA-256. Each is redeemed once, on any node.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import type { ExpiringValues } from '../../pipeline/ports.js';
import { ApiError } from '../../schemas/errors.js';
import { sha256Hex } from '../../schemas/sha256.js';

type TokenKind = 'sign-up' | 'password-reset' | 'sign-in-link';

/** Secrets of one kind that mails and links carry. Each works once, until it expires. */
export interface Tokens<Content> {
  issue(content: Content): Promise<string>;
  /** Returns what the token stands for, without using it up; undefined if it is unknown, used or expired. */
  read(token: string): Promise<Content | undefined>;
  /** As `read`, and uses it up: of all calls one gets the content. */
  redeem(token: string): Promise<Content | undefined>;
}

const tokenBytes = 32;
const maxTokenCharacters = 200;
const used = 'used';

/** Returns the one answer to every wrong token, used or not. */
export const wrongToken = (): ApiError => new ApiError('unauthorized', 'the token is unknown, used or expired');

/** Returns a fresh random token in hex. */
export const newTokenText = (): string => randomBytes(tokenBytes).toString('hex');

/**
 * Creates the single-use tokens of one kind. The store has only their hashes, so a reader of the store can redeem none.
 */
export function createTokens<Content extends object>(
  values: ExpiringValues,
  kind: TokenKind,
  ttlMs: number,
): Tokens<Content> {
  const keyOf = (token: string): string => `token/${kind}/${sha256Hex(token)}`;

  async function stored(token: string): Promise<string | undefined> {
    if (token.length > maxTokenCharacters) return undefined;
    const text = await values.get(keyOf(token));
    return text?.startsWith(used) ? undefined : text;
  }
  return {
    async issue(content) {
      const token = newTokenText();
      await values.put(keyOf(token), JSON.stringify(content), ttlMs, { current: null });
      return token;
    },
    async read(token) {
      const text = await stored(token);
      return text === undefined ? undefined : (JSON.parse(text) as Content);
    },
    async redeem(token) {
      const text = await stored(token);
      if (text === undefined) return undefined;
      // Calls that compete put different values, so that only one finds the content still there.
      const isFirst = await values.put(keyOf(token), `${used} ${randomUUID()}`, ttlMs, { current: text });
      return isFirst ? (JSON.parse(text) as Content) : undefined;
    },
  };
}
