/**
 * Serves GET /v1/geofences/export and GET /v1/beacons/export: all records of an environment as a file that an import
 * reads.
 *
 * Records flow from the read model to the connection a part at a time, as fast as the client reads. So a file of a
 * million records takes no more memory than a small one.
 */
import { Readable } from 'node:stream';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import Type, { type TProperties } from 'typebox';
import type { ApiDependencies } from '../../api/dependencies.js';
import { listParameters, readListQuery } from '../../api/lists.js';
import { type ExportedFields, exportedBeacon, exportedGeofence } from '../../api/stored-fields.js';
import { callerOf } from '../../http/access/authority.js';
import { endedByRevocation, leavingOf } from '../../http/access/revocation.js';
import { contentOf, described } from '../../http/describe.js';
import { accepted, FieldReader, type RawFields } from '../../http/fields/reader.js';
import type { ConfigurationReader, Scope, WalkPart, WalkQuery } from '../../pipeline/catalog/types.js';
import { ApiError } from '../../schemas/errors.js';
import type { BeaconRecord } from '../../schemas/json/beacon.js';
import type { GeofenceRecord } from '../../schemas/json/geofence.js';
import { createOpenCounts } from '../../schemas/open-counts.js';
import { createTurns } from '../../schemas/turns.js';
import { isoTime } from '../../schemas/wire/common.js';
import { type ExportFormat, type ExportFormatName, exportFormatNames, exportFormats, written } from './formats.js';

const config = { authority: 'secret', limit: 'management' } as const;

/** Records of one part, of up to 150 kB each. One part of all exports is made in each turn of the event loop. */
const recordsPerPart = 20;
const nextTurn = createTurns();
/** Of one project, on one node. A client that reads slowly holds its export for long. */
export const maxConcurrentExports = 4;
const retryAfterS = 10;

interface ExportedResource<Stored> {
  /** The plural, as in the path. */
  readonly name: 'geofences' | 'beacons';
  readonly operationId: string;
  readonly fields: ExportedFields<Stored>;
  readonly walk: (
    configuration: Pick<ConfigurationReader, 'walkGeofences' | 'walkBeacons'>,
    query: WalkQuery,
    from: string | null,
  ) => WalkPart<Stored>;
}

/** How geofences are exported. */
export const geofences: ExportedResource<GeofenceRecord> = {
  name: 'geofences',
  operationId: 'exportGeofences',
  fields: exportedGeofence,
  walk: (configuration, query, from) => configuration.walkGeofences(query, from, recordsPerPart),
};

/** How beacons are exported. */
export const beacons: ExportedResource<BeaconRecord> = {
  name: 'beacons',
  operationId: 'exportBeacons',
  fields: exportedBeacon,
  walk: (configuration, query, from) => configuration.walkBeacons(query, from, recordsPerPart),
};

/** Yields the text of an export, a part at a time. Rejects with the reason of the signal when it aborts. */
export async function* exportedText<Stored extends { readonly _id: string }>(
  { fields, walk }: ExportedResource<Stored>,
  configuration: ConfigurationReader,
  query: WalkQuery,
  format: ExportFormat,
  signal?: AbortSignal,
): AsyncGenerator<string> {
  let text = format.head(fields.names);
  let isFirst = true;
  for (let from: string | null = null; ; ) {
    const { items, next } = walk(configuration, query, from);
    for (const record of items) {
      text += written(format, fields, record, isFirst);
      isFirst = false;
    }
    if (next === null) {
      yield text + format.tail;
      return;
    }
    if (text !== '') yield text;
    text = '';
    from = next;
    // Filters may match few of a million records.
    await nextTurn(signal);
  }
}

/** The media types in `Accept` that choose a format. */
const formatOfType = new Map<string, ExportFormatName>([
  ['text/csv', 'csv'],
  ['application/geo+json', 'geojson'],
  ['application/x-ndjson', 'ndjson'],
]);

function readFormat(reader: FieldReader, accept = ''): ExportFormatName {
  const types = accept.split(',').map((range) => range.split(';', 1)[0]?.trim().toLowerCase() ?? '');
  const accepted = types.map((type) => formatOfType.get(type)).find((format) => format !== undefined);
  return reader.choice('format', exportFormatNames) ?? accepted ?? 'csv';
}

function readRequest(scope: Scope, request: FastifyRequest) {
  const query = request.query as RawFields;
  const reader = new FieldReader(query);
  const format = readFormat(reader, request.headers.accept);
  accepted(reader.outcome(() => format));
  const { limit: _, orderBy: __, ...walk } = accepted(readListQuery(scope, query, 'createdAt'));
  return { format: exportFormats[format], query: walk };
}

/** Returns a name such as `geofences_live_20260301T000000Z.csv`. */
const fileName = (name: string, { environment }: Scope, nowMs: number, extension: string): string =>
  `${name}_${environment}_${isoTime(nowMs).replace(/[-:]|\.\d+/g, '')}.${extension}`;

const { limit: _, ...filters } = listParameters.properties as TProperties;
const parameters = Type.Object({
  format: Type.Optional(
    Type.Enum([...exportFormatNames], {
      default: 'csv',
      description: `The \`Accept\` header can select it as well: ${[...formatOfType.keys()].join(', ')}`,
    }),
  ),
  ...filters,
});

const file = Object.fromEntries([...formatOfType.keys()].map((type) => [type, Type.String()]));
// A client parses it as JSON.
const collection = Type.Object({ type: Type.Literal('FeatureCollection'), features: Type.Array(Type.Unknown()) });
const answer = contentOf({ ...file, 'application/geo+json': collection }, 'The file');

/** Serves the exports. A few of a project run at a time; more are refused as `overloaded`. */
export const exportRoutes =
  ({ configuration, clock }: Pick<ApiDependencies, 'configuration' | 'clock'>): FastifyPluginAsync =>
  async (app) => {
    const running = createOpenCounts();

    /** Counts the export until its stream ends. Nothing may fail in between: a stream that is not sent never ends. */
    function admit(project: string, stream: Readable): Readable {
      if (running.of(project) >= maxConcurrentExports) {
        const rule = `${maxConcurrentExports} exports of this project are running; wait for one to end`;
        throw new ApiError('overloaded', rule, { retryAfterS });
      }
      return stream.once('close', running.add(project));
    }

    function add<Stored extends { readonly _id: string }>(resource: ExportedResource<Stored>): void {
      const { name, operationId } = resource;
      app.get(`/v1/${name}/export`, {
        config,
        schema: described({
          operationId,
          tag: name,
          summary: `Export ${name} as CSV, GeoJSON or NDJSON`,
          description:
            'All records that match the filters, oldest first, in a file that an import reads. ' +
            'The file has the fields that an import takes.',
          querystring: parameters,
          answer,
        }),
        handler: async (request: FastifyRequest, reply: FastifyReply) => {
          const scope = callerOf(request);
          const { format, query } = readRequest(scope, request);
          const headers = {
            'Content-Type': format.contentType,
            'Content-Disposition': `attachment; filename="${fileName(name, scope, clock(), format.extension)}"`,
          };
          const text = exportedText(resource, configuration, query, format, leavingOf(reply));
          const stream = admit(scope.project, Readable.from(text, { objectMode: false }));
          return reply.headers(headers).send(endedByRevocation(stream, request, reply));
        },
      });
    }
    add(geofences);
    add(beacons);
  };
