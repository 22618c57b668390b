/** Tells requests of the SDK for iOS, which reads some answers in a stricter way. */
import type { FastifyRequest } from 'fastify';

/** Returns whether the SDK for iOS asks: directly, or below React Native, Flutter, Capacitor or Cordova. */
export const isFromIos = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  headers['x-radar-device-type'] === 'iOS';
