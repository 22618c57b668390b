/** Sessions of browsers, by a cookie with a random token. */
import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { clearSessionCookie, sessionCookie, setSessionCookie } from './cookies.js';
import {
  createSessionStore,
  type Session,
  type SessionStore,
  type SessionStoreParts,
  type Subject,
} from './session-store.js';

/** The session of a request, which its cookie names. */
export interface Sessions extends Pick<SessionStore, 'list' | 'endListed'> {
  /** Ends the request's session, if it has one, and starts another with a new token. */
  start(request: FastifyRequest, reply: FastifyReply, subject: Subject): Promise<Session>;
  /** Ends the request's session and removes the cookie. */
  end(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Resolves to undefined without a cookie, and when its session has ended. */
  find(request: FastifyRequest): Promise<Session | undefined>;
}

interface SessionOptions extends SessionStoreParts {
  /** `always`: cookies are Secure even when the request came without TLS. */
  readonly secureCookies: 'auto' | 'always';
}

const tokenBytes = 32;
const tokenPattern = /^[0-9a-f]{64}$/;
const maxUserAgentCharacters = 256;

/** Creates sessions whose cookie scripts cannot read. */
export function createSessions({ secureCookies, ...parts }: SessionOptions): Sessions {
  const store = createSessionStore(parts);
  const isSecure = (request: FastifyRequest): boolean => secureCookies === 'always' || request.protocol === 'https';

  function tokenOf(request: FastifyRequest): string | undefined {
    const token = sessionCookie(request, isSecure(request));
    return token !== undefined && tokenPattern.test(token) ? token : undefined;
  }

  async function end(request: FastifyRequest): Promise<void> {
    const token = tokenOf(request);
    if (token !== undefined) await store.end(token);
  }

  return {
    async start(request, reply, subject) {
      await end(request);
      const token = randomBytes(tokenBytes).toString('hex');
      const userAgent = request.headers['user-agent']?.slice(0, maxUserAgentCharacters) ?? null;
      const session = await store.start(token, subject, userAgent);
      setSessionCookie(reply, token, isSecure(request), Math.floor(parts.absoluteMs / 1_000));
      return session;
    },
    async end(request, reply) {
      await end(request);
      clearSessionCookie(reply, isSecure(request));
    },
    async find(request) {
      const token = tokenOf(request);
      return token === undefined ? undefined : store.use(token);
    },
    list: store.list,
    endListed: store.endListed,
  };
}
