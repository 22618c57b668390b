/** Structured logs: one JSON object per line on standard error, without keys. Standard output is for people. */
import type { LoggerOptions } from 'pino';
import { logRedaction } from '../http/answers/log-redaction.js';
import type { Configuration } from './config/schema.js';

/** Returns the options of pino for the configured level. */
export const loggerOptions = ({ log }: Configuration): LoggerOptions => ({
  level: log.level,
  base: null,
  timestamp: () => `,"time":"${new Date().toISOString()}"`,
  formatters: { level: (label) => ({ level: label }) },
  redact: logRedaction,
});

const errors = new Set(['halted', 'diverged', 'expired']);

/** Returns the log level of a stage's alert: halted partitions and lost records need an operator. */
export const levelOf = ({ kind }: { readonly kind: string }): 'error' | 'warn' => (errors.has(kind) ? 'error' : 'warn');
