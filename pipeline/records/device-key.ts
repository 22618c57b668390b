import type { Location } from '../../schemas/records.js';

/** Returns the key of a device's records and state. Records with one key are in one partition and keep their order. */
export const deviceKey = ({
  project,
  environment,
  deviceId,
}: Pick<Location, 'project' | 'environment' | 'deviceId'>): string => `${project}/${environment}/${deviceId}`;
