/**
 * The outlines of all geofences or beacons, for maps: little of each record, in large pages.
 *
 * The order is that of creation, in which an edit moves nothing, so that a walk finds each record once.
 */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import { described, listOf } from '../../http/describe.js';
import { accepted, FieldReader, type RawFields } from '../../http/fields/reader.js';
import type { Scope } from '../../pipeline/catalog/types.js';
import type { BeaconRecord } from '../../schemas/json/beacon.js';
import { Id, Position } from '../../schemas/json/common.js';
import { type GeofenceRecord, isEnabledAt } from '../../schemas/json/geofence.js';
import { grouped } from '../../schemas/wording.js';
import { cursorParameter, listPaging, pageMeta } from '../lists.js';
import { type Page, sendPage } from '../page.js';
import { cursorOf, examinedPerTurn, nextTurn, readPlace, type SearchedResource } from './search.js';

const maxOutlines = 5_000;
const defaultOutlines = 1_000;
/** A page ends after these: a ring may have a thousand. */
const maxPositions = 100_000;
/** About 10 cm. */
const decimals = 6;

const Outline = Type.Object(
  {
    _id: Id,
    description: Type.String(),
    tag: Type.Optional(Type.String()),
    externalId: Type.Optional(Type.String()),
    address: Type.Optional(Type.String({ description: 'As the owner gave it' })),
    enabled: Type.Boolean(),
    center: Position,
    radius: Type.Optional(Type.Number({ description: 'Of a circle, in metres' })),
    ring: Type.Optional(Type.Array(Position, { description: 'Of any other geofence; closed' })),
  },
  { $id: 'Outline', description: 'The part of a geofence or beacon that a map shows' },
);

const scale = 10 ** decimals;
const rounded = ([longitude, latitude]: Position): Position => [
  Math.round(longitude * scale) / scale,
  Math.round(latitude * scale) / scale,
];

function outlineOf(record: GeofenceRecord | BeaconRecord, nowMs: number) {
  const { _id, description, tag, externalId, enabled } = record;
  const names = { _id, description, ...(tag !== null && { tag }), ...(externalId !== null && { externalId }) };
  if ('coordinates' in record) return { ...names, enabled, center: rounded(record.coordinates) };
  const { geometrySource, center, radius, ring } = record;
  const address = geometrySource?.address?.query;
  return {
    ...names,
    ...(address != null && { address }),
    enabled: isEnabledAt(record, nowMs),
    center: rounded(center),
    ...(ring === null ? { radius } : { ring: ring.map(rounded) }),
  };
}

const positionsOf = (record: GeofenceRecord | BeaconRecord): number => ('ring' in record && record.ring?.length) || 1;

/** Adds the route under `/v1/{name}s`. */
export function addOutlineRoute<Stored extends GeofenceRecord | BeaconRecord>(
  app: FastifyInstance,
  { name, search }: SearchedResource<Stored>,
  clock: () => number,
): void {
  const tag = `${name}s`;
  app.get(`/v1/${tag}/outlines`, {
    config: { authority: 'secret', limit: 'management' },
    schema: described({
      operationId: name === 'geofence' ? 'listGeofenceOutlines' : 'listBeaconOutlines',
      tag,
      summary: `List the outlines of ${tag} for maps, oldest first`,
      description:
        `${listPaging} Positions have ${decimals} decimals. A page may be shorter than the limit before the end: it ` +
        `ends after ${grouped(maxPositions)} positions.`,
      querystring: Type.Object({
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxOutlines, default: defaultOutlines })),
        ...cursorParameter,
      }),
      answer: listOf({ outlines: Type.Array(Outline) }, { cursor: true }),
    }),
    handler: async (request, reply) => {
      const reader = new FieldReader(request.query as RawFields);
      const limit = reader.integer('limit', { minimum: 1, maximum: maxOutlines }) ?? defaultOutlines;
      const place = readPlace(reader);
      const start = accepted(reader.outcome(() => place));
      const scope = callerOf(request);
      return sendPage('configuration', request, reply, (leaving) => readOutlines(scope, start, limit, leaving));
    },
  });

  async function readOutlines(
    { project, environment }: Scope,
    start: string | null,
    limit: number,
    leaving: AbortSignal,
  ): Promise<Page<object>> {
    const all = { project, environment, sort: 'createdAt', isDescending: false } as const;
    const items: object[] = [];
    let from = start;
    for (let positions = 0; ; ) {
      const count = Math.min(examinedPerTurn, limit - items.length);
      const part = search({ ...all, from, limit: count, maxExamined: count });
      for (const record of part.items) {
        items.push(outlineOf(record, clock()));
        positions += positionsOf(record);
      }
      from = part.next;
      if (from === null || items.length >= limit || positions >= maxPositions) break;
      await nextTurn(leaving);
    }
    const meta = pageMeta(from !== null, from === null ? null : cursorOf(from));
    return { meta, name: 'outlines', items, text: JSON.stringify };
  }
}
