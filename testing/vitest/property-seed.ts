/**
 * Gives all random properties one seed, so that a run fails because of a change and not by chance. PROPERTY_SEED names
 * another one.
 */
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env.PROPERTY_SEED) });
