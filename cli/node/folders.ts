/** What lies where in the data folder, and how the threads of a node open it. */
import { join } from 'node:path';
import { type Embedded, openEmbedded } from '../../backends/embedded/embedded.js';
import { openView, type View } from '../../pipeline/catalog/view.js';
import type { Configuration } from '../config/schema.js';

const dayMs = 24 * 60 * 60 * 1000;

export const openBackend = ({ data, locations, events }: Configuration): Embedded =>
  openEmbedded({
    path: data,
    partitions: locations.partitions,
    retentionMs: { locations: locations.retentionDays * dayMs, events: events.retentionDays * dayMs },
  });

export const openNodeView = ({ data }: Configuration): View => openView(join(data, 'view'));

export const analyticsFolder = ({ data }: Configuration): string => join(data, 'analytics');
