/** Options for pino's `redact`: keys never reach the log. */
export const logRedaction = {
  paths: ['authorization', 'publishableKey', '*.authorization', '*.publishableKey', '*.headers.authorization'],
  censor: '[redacted]',
};
