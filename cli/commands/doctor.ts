/** `fenceline doctor`: prints what a node needs and lacks. Exit status 1 if something must be repaired. */
import { diagnose } from '../../server/doctor/doctor.js';
import type { Finding } from '../../server/doctor/finding.js';
import { printable } from '../../server/terminal-text.js';
import type { Run } from '../command.js';
import { configurationFrom } from '../configuration.js';
import type { OptionsOf } from '../descriptions.js';

const signs = { ok: 'ok', warning: 'warning', failure: 'FAILURE' } as const;

/** Prints what is wrong with this installation. Exits with 1 after a failure. */
export const run: Run<OptionsOf<'doctor'>> = async (values) => {
  const { configuration } = configurationFrom(values);
  const counts = { ok: 0, warning: 0, failure: 0 };
  for await (const finding of diagnose(configuration, { readsData: values['read-data'] === true })) {
    counts[finding.level] += 1;
    console.log(values.json === true ? JSON.stringify(finding) : lineOf(finding));
  }
  if (values.json !== true)
    console.log(`\nFailures: ${counts.failure}. Warnings: ${counts.warning}. Ok: ${counts.ok}.`);
  if (counts.failure > 0) process.exitCode = 1;
};

function lineOf({ level, subject, text, remedy }: Finding): string {
  const line = printable(`${signs[level].padEnd(8)} ${subject}: ${text}`);
  return remedy === '' ? line : `${line}\n         ${remedy}`;
}
