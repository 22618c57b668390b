/**
 * The class of all Avro types. The main module of the package also loads files, streams and calls, which takes each
 * thread of a node another 5 ms.
 */
import { createRequire } from 'node:module';
import type avro from 'avsc';

/** The class `Type` of avsc, loaded from the module that defines it. */
export const { Type } = createRequire(import.meta.url)('avsc/lib/types') as Pick<typeof avro, 'Type'>;
