/**
 * Archives of loaded classes (Java's class data sharing), with which Kafka and the registry start three to four times
 * as fast. An archive is recorded once per machine and lies beside the program's jars. Java ignores an archive that
 * does not match the program or the Java version.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, realpathSync, statSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../until.js';
import { startProcess } from './processes.js';
import { isHere } from './provider.js';
import { type Program, type Software, startTimeoutMs } from './server.js';

/** The number changes with what is recorded, so that machines that have an older archive record again. */
const fileName = 'classes-2.jsa';

/**
 * Options for servers that live for seconds or minutes. The second compiler costs more than its code saves. A heap that
 * need not grow saves the first collections, and nobody reads the counters of the virtual machine.
 */
export const javaOptions = [
  '-Xms256m -Xmn160m -Xmx512m',
  '-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData',
].join(' ');

/** Returns the path of the archive of a program whose jars are in a folder. It exists once it is recorded. */
export const archiveIn = (folder: string): string => join(folder, fileName);

/** Returns shell that sets `$classes` to Java's option for the archive of the software: to use it, or to record it. */
export const setClassesOption = ({ folder }: Software): string => `classes=
[ -e "$${folder!.variable}/${fileName}" ] && classes="-XX:SharedArchiveFile=$${folder!.variable}/${fileName}"
[ -n "\${RECORD_CLASSES:-}" ] && classes="-XX:ArchiveClassesAtExit=$RECORD_CLASSES"`;

/**
 * Records the archive of an installed program, whose script uses {@link setClassesOption}, unless there is one that is
 * newer than Java. Starts the program, has it used, and ends it: the classes that `use` needs are in the archive too.
 */
export async function recordClasses(program: Program, use = async (): Promise<void> => {}): Promise<void> {
  const { software } = program;
  if (!isHere(software)) return;
  const folder = process.env[software.folder!.variable] as string;
  if (isCurrent(archiveIn(folder))) return;
  const recorded = join(folder, `${fileName}.${process.pid}`);
  const server = await startProcess({ ...program, script: `RECORD_CLASSES='${recorded}'\n${program.script}` });
  try {
    await use();
    process.kill(server.pid!, 'SIGTERM');
    await until(() => server.pid === undefined, { timeoutMs: startTimeoutMs });
    await rename(recorded, archiveIn(folder));
  } finally {
    await server.stop();
    await rm(recorded, { force: true });
  }
}

function isCurrent(archive: string): boolean {
  if (!existsSync(archive)) return false;
  const java = realpathSync(execFileSync('sh', ['-c', 'command -v java'], { encoding: 'utf8' }).trim());
  return statSync(archive).mtimeMs > statSync(java).mtimeMs;
}
