/** Refuses requests whose path has no text where a parameter belongs. */
import type { FastifyInstance } from 'fastify';
import { parameterError } from '../../schemas/errors.js';

/**
 * Adds the hook to the root instance. Call it after the authority check. `/v1/users/` is not the list of users, and an
 * empty name would be that of every user without a name: a script whose variable was empty erased all of them.
 */
export function refuseEmptyParameters(app: FastifyInstance): void {
  app.addHook('onRequest', async (request) => {
    if (request.is404) return;
    for (const [param, value] of Object.entries(request.params as Readonly<Record<string, string>>)) {
      const isRestOfPath = param === '*';
      if (value === '' && !isRestOfPath) throw parameterError({ param, rule: 'must not be empty' });
    }
  });
}
