/** Resolvers for tests, with a name server of their own and no hosts file unless one is given. */
import { onTestFinished } from 'vitest';
import { NameResolver, type NameResolverOptions } from '../resolver.js';
import { type Answering, openNameServer } from './name-server.js';

/** Addresses, or the code of the error. */
export type Resolved = readonly string[] | string;

export interface OpenedResolver {
  readonly resolver: NameResolver;
  readonly asked: readonly string[];
  resolve(name: string): Promise<Resolved>;
}

/** Asks a name server of its own; closed when the test ends. */
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

/** Shortest that c-ares takes seriously. */
export const impatient = { timeoutMs: 250 };
