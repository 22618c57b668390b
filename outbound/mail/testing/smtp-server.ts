/** A real SMTP server on loopback that keeps what it receives. For tests only. */
import type { AddressInfo } from 'node:net';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** A mail as it arrived, and as a mail program reads it. */
export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly raw: string;
  readonly parsed: Email;
}

/** A running SMTP server. */
export interface TestSmtpServer {
  readonly port: number;
  readonly received: ReceivedMail[];
  close(): Promise<void>;
}

/** Answers the n-th mail (from 0) with this SMTP error instead of accepting it. */
export type Refusal = (mail: number, raw: string) => { readonly code: number; readonly text: string } | undefined;

/** Listens on a free port. It offers neither TLS nor a login unless the options do. */
export async function startSmtpServer(
  options: SMTPServerOptions = {},
  refusal: Refusal = () => undefined,
): Promise<TestSmtpServer> {
  const received: ReceivedMail[] = [];
  let mails = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    logger: false,
    async onData(stream, session, done) {
      const chunks: Buffer[] = [];
      for await (const chunk of stream) chunks.push(chunk as Buffer);
      const raw = Buffer.concat(chunks);
      const refused = refusal(mails++, raw.toString());
      if (refused) return done(Object.assign(new Error(refused.text), { responseCode: refused.code }));
      const { mailFrom, rcptTo } = session.envelope;
      received.push({
        from: mailFrom ? mailFrom.address : '',
        to: rcptTo.map(({ address }) => address),
        raw: raw.toString(),
        parsed: await PostalMime.parse(raw),
      });
      done();
    },
    ...options,
  });
  server.on('error', () => {});
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    port: (server.server.address() as AddressInfo).port,
    received,
    close: () => new Promise((end) => server.close(() => end())),
  };
}
