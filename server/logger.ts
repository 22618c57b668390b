/** Structured logs: one JSON object per line on standard error, without keys. Standard output is for people. */
import { type Logger, type LoggerOptions, pino } from 'pino';
import { logRedaction } from '../http/answers/log-redaction.js';
import type { Configuration } from './config/schema.js';

/** Lines that wait until they can be written, in each thread. Further ones are dropped. */
const maxWaitingBytes = 2 ** 20;

/**
 * Creates the logger of a thread, at the configured level. While standard error can't be written, as a file on a full
 * disk, lines wait, and the thread goes on. Lines that wait at the end are lost.
 */
export function createLogger(configuration: Pick<Configuration, 'log'>): Logger {
  const destination = pino.destination({ dest: 2, maxLength: maxWaitingBytes });
  let isWritable = true;
  destination.on('write', () => {
    isWritable = true;
  });
  // The next line tries again. Without a listener, the error would end the process.
  destination.on('error', () => {
    isWritable = false;
  });
  // First, because pino's own listener tries until the lines are written, and the process would never end.
  process.prependOnceListener('exit', () => {
    if (!isWritable) destination.destroy();
  });
  return pino(loggerOptions(configuration), destination);
}

const loggerOptions = ({ log }: Pick<Configuration, 'log'>): LoggerOptions => ({
  level: log.level,
  base: null,
  timestamp: () => `,"time":"${new Date().toISOString()}"`,
  formatters: { level: (label) => ({ level: label }) },
  redact: logRedaction,
});

const errors = new Set(['halted', 'diverged', 'expired']);

/** Returns the log level of a stage's alert: halted partitions and lost records need an operator. */
export const levelOf = ({ kind }: { readonly kind: string }): 'error' | 'warn' => (errors.has(kind) ? 'error' : 'warn');
