/** Resolvers for tests, each with its own name server and no hosts file by default. */
import { onTestFinished } from 'vitest';
import { NameResolver, type NameResolverOptions } from '../resolver.js';
import { type Answering, openNameServer } from './name-server.js';

/** Addresses, or the error code. */
export type Resolved = readonly string[] | string;

/** A resolver, with the questions that its name server has received. */
export interface OpenedResolver {
  readonly resolver: NameResolver;
  readonly asked: readonly string[];
  resolve(name: string): Promise<Resolved>;
}

/** Opens a resolver with its own name server; closed when the test ends. */
export async function openResolver(answering: Answering, options: NameResolverOptions = {}): Promise<OpenedResolver> {
  const { address, asked } = await openNameServer(answering);
  const resolver = new NameResolver({ servers: [address], hostsPath: '/nowhere', ...options });
  onTestFinished(() => resolver.close());
  const resolve = (name: string) =>
    new Promise<Resolved>((settle) => {
      resolver.lookup(name, { all: true }, (error, addresses) =>
        settle(error?.code ?? addresses.map(({ address }) => address)),
      );
    });
  return { resolver, asked, resolve };
}

/** The shortest time limit that c-ares respects. */
export const impatient = { timeoutMs: 250 };

/** A time limit that no test reaches, so that no question is repeated or given up on a busy machine. */
export const neverAgain = { timeoutMs: 600_000 };
