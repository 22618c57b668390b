/** A browser at an API of the fixtures: it keeps the session cookie and says where its requests come from. */
import type { Body, TestApi } from '../../testing/fixtures.js';

interface Sent {
  readonly body?: object | string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Answer {
  readonly status: number;
  readonly body: Body;
  /** The `Set-Cookie` of the answer. */
  readonly cookie: string | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
}

let browsers = 0;

/** A browser against a test API: keeps the session cookie and sends it with every request. */
export class Browser {
  /** `name=value`; empty: no cookie. */
  cookie = '';
  readonly #app: TestApi['app'];
  readonly #headers: Readonly<Record<string, string>>;

  /** @param headers sent with every request. Default: those of a page of the server, and an IP address of its own. */
  constructor(api: Pick<TestApi, 'app'>, headers: Readonly<Record<string, string>> = {}) {
    this.#app = api.app;
    const address = { 'x-forwarded-for': `198.51.${Math.floor(++browsers / 250)}.${browsers % 250}` };
    this.#headers = { 'sec-fetch-site': 'same-origin', ...address, ...headers };
  }

  /** Sends a request, and keeps or forgets the cookie as the answer says. */
  async send(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    url: string,
    { body, headers = {} }: Sent = {},
  ): Promise<Answer> {
    const answer = await this.#app.inject({
      method,
      url,
      headers: { ...this.#headers, ...(this.cookie && { cookie: this.cookie }), ...headers },
      ...(body !== undefined && { payload: body }),
    });
    const cookie = answer.headers['set-cookie'];
    if (typeof cookie === 'string') this.cookie = cookie.includes('Max-Age=0') ? '' : cookie.split(';')[0]!;
    return {
      status: answer.statusCode,
      body: answer.json() as Body,
      cookie: typeof cookie === 'string' ? cookie : undefined,
      headers: answer.headers,
    };
  }
}

let made = 0;
/** A password that the rules for new ones accept. */
export const password = 'correct horse battery';
/** An address that no other test uses. */
export const newEmail = (name = 'user'): string => `${name}-${++made}@example.com`;

/** Signs up somebody new. */
export async function signedUp(api: Pick<TestApi, 'app'>, email = newEmail()) {
  const browser = new Browser(api);
  const { status, body } = await browser.send('POST', '/v1/signup', { body: { email, password } });
  if (status !== 200) throw new Error(JSON.stringify(body));
  const keyOf = (environment: string, kind: string): string =>
    body.project.keys.find((key: Body) => key.environment === environment && key.kind === kind).key;
  return { browser, email, account: body.account, project: body.project, keyOf };
}

/** Returns the token of the newest mail to the address. */
export function mailedToken(api: Pick<TestApi, 'mails'>, email: string): string {
  const mail = api.mails.findLast(({ to }) => to === email);
  const token = /#\w+=(\S+)/.exec(mail?.text ?? '')?.[1];
  if (token === undefined) throw new Error(`no token was mailed to ${email}`);
  return token;
}

/** Invites somebody new, who accepts with a new account. */
export async function invited(api: TestApi, owner: Browser, role: 'owner' | 'viewer', email = newEmail(role)) {
  const invitation = await owner.send('POST', '/v1/invitations', { body: { email, role } });
  if (invitation.status !== 200) throw new Error(JSON.stringify(invitation.body));
  const browser = new Browser(api);
  const token = mailedToken(api, email);
  const { status, body } = await browser.send('POST', '/v1/invitations/accept', { body: { token, password } });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return { browser, email, account: body.session.account, session: body.session };
}
