/** Reads docker-compose.yml as Compose does: with merged anchors, and with values for the required variables. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** Returns the URL of a file, from its path in the repository. */
export const repositoryFile = (path: string): URL => new URL(`../../${path}`, import.meta.url);
/** Reads a file as text, from its path in the repository. */
export const readRepositoryFile = (path: string): string => readFileSync(repositoryFile(path), 'utf8');

export interface Service {
  readonly image: string;
  readonly build?: object;
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly networks: readonly string[];
  readonly profiles?: readonly string[];
  readonly deploy?: { readonly replicas: number };
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, object>>;
  readonly networks: Readonly<Record<string, object>>;
}

const composeText = readRepositoryFile('docker-compose.yml');
export const compose = parse(composeText, { merge: true, maxAliasCount: -1 }) as Compose;

/** The processes that run our image, by name. */
export const nodes = Object.entries(compose.services).filter(([, { build }]) => build !== undefined);

/** `${NAME:?…}`, `${NAME:-default}` and the like, with what follows the name. */
export const interpolations = [...composeText.matchAll(/\$\{(\w+)([^}]*)\}/g)].map(([, name, rest]) => ({
  name: name as string,
  rest: rest as string,
}));

/** Returns a service's environment as its process sees it, with the required values of `.env`. */
export function environmentOf(service: Service, told: Readonly<Record<string, string>>): Record<string, string> {
  const fill = (value: string | number): string =>
    `${value}`.replace(/\$\{(\w+)[^}]*\}/g, (_, name) => told[name] ?? '');
  return Object.fromEntries(Object.entries(service.environment ?? {}).map(([name, value]) => [name, fill(value)]));
}
