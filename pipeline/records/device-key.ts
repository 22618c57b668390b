/** Keys of records: project, environment and device. Only the device may contain slashes. */
import type { Location } from '../../schemas/records.js';

/** Returns the name of a project's environment, with which the keys of its devices begin. */
export const scopeName = ({ project, environment }: Pick<Location, 'project' | 'environment'>): string =>
  `${project}/${environment}`;

/** Returns the name of the scope in a record's key. */
export const scopeOfKey = (key: string): string => key.slice(0, key.indexOf('/', key.indexOf('/') + 1));

/** Returns the key of a device's records and state. Records with one key are in one partition and keep their order. */
export const deviceKey = ({
  project,
  environment,
  deviceId,
}: Pick<Location, 'project' | 'environment' | 'deviceId'>): string => `${project}/${environment}/${deviceId}`;
