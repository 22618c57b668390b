/** Finds settings that are valid each, and do not fit together or to the files that they name. Opens nothing. */
import { clusterOptions } from './cluster-options.js';
import type { Configuration } from './config/schema.js';
import { ConfigurationError } from './failures.js';
import { geocodingProblems } from './geocoding.js';
import { mailerOptions } from './mail.js';
import { routingProblems } from './roads.js';

/** Returns all problems, each with its setting. */
export function contradictions(configuration: Configuration): readonly string[] {
  const mail = mailerOptions(configuration);
  const cluster = configuration.backend === 'cluster' ? clusterOptions(configuration) : undefined;
  return [
    ...(mail.ok ? [] : mail.problems),
    ...geocodingProblems(configuration),
    ...routingProblems(configuration),
    ...(cluster === undefined || cluster.ok ? [] : cluster.problems),
  ];
}

/** Throws a ConfigurationError that lists every problem. Call it before anything is opened. */
export function refuseContradictions(configuration: Configuration): void {
  const problems = contradictions(configuration);
  if (problems.length > 0) throw new ConfigurationError(problems);
}
