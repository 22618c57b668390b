/** Reads and writes the session cookie. */
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Over TLS the prefix `__Host-` makes browsers refuse a cookie that another host, or a page without TLS, has set
 * (RFC 6265bis). It requires Secure, so plain HTTP has a name of its own.
 */
const secureName = '__Host-fenceline-session';
const plainName = 'fenceline-session';

const nameFor = (isSecure: boolean): string => (isSecure ? secureName : plainName);

/** Returns the value of the session cookie; undefined if there is none, or more than one. */
export function sessionCookie(request: Pick<FastifyRequest, 'headers'>, isSecure: boolean): string | undefined {
  const prefix = `${nameFor(isSecure)}=`;
  const values = (request.headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(prefix))
    .map((pair) => pair.slice(prefix.length));
  return values.length === 1 ? values[0] : undefined;
}

/** Sets the cookie. Scripts do not see it, and requests from other sites do not carry it. */
export function setSessionCookie(reply: FastifyReply, token: string, isSecure: boolean, maxAgeS: number): void {
  const attributes = ['Path=/', 'HttpOnly', 'SameSite=Strict', `Max-Age=${maxAgeS}`, ...(isSecure ? ['Secure'] : [])];
  reply.header('Set-Cookie', [`${nameFor(isSecure)}=${token}`, ...attributes].join('; '));
}

/**
 * Tells the browser to forget the session cookie. `isSecure` must be as it was when the cookie was set, since it is
 * part of the name.
 */
export const clearSessionCookie = (reply: FastifyReply, isSecure: boolean): void =>
  setSessionCookie(reply, '', isSecure, 0);
