/**
 * Resolves the styles and markers that a request names by id, in its project and environment, and fetches them when the
 * map is drawn.
 *
 * Cache keys contain the versions of uploads, so a changed upload never returns an old map.
 */
import { LRUCache } from 'lru-cache';
import type { ConfigurationReader, Scope, UploadedFiles } from '../../pipeline/catalog/types.js';
import { iconIds, referenceProblem } from '../../renderer/request/references.js';
import type { MapRequest, Uploads } from '../../renderer/types.js';
import { parameterError } from '../../schemas/errors.js';

type Referring = Pick<MapRequest, 'style' | 'markers'>;

interface Version {
  readonly _id: string;
  readonly updatedAt: number;
}

/** A resolved request and the files it needs. */
export interface Resolved<R extends Referring> {
  /** The request. Names of uploads include their versions. */
  readonly request: R;
  readonly hasUploads: boolean;
  readonly hasStyle: boolean;
  /** Fetches the files. Must be called in the same turn of the event loop, in which nothing changes. */
  readonly uploads: () => Uploads;
}

/** Bytes of cached files, which waiting maps share. */
const maxKeptBytes = 16 * 2 ** 20;

const versionName = ({ _id, updatedAt }: Version): string => `${_id}@${updatedAt}`;

/** Resolves the uploads. Throws ApiError for a missing style or marker. */
export type Resolve = <R extends Referring>(scope: Scope, request: R) => Resolved<R>;

/**
 * Creates the lookup of uploaded styles and markers that a request names. Their content is cached by version, within a
 * fixed number of bytes.
 */
export function createResolver({
  mapStyles,
  mapMarkers,
}: Pick<ConfigurationReader, 'mapStyles' | 'mapMarkers'>): Resolve {
  const kept = new LRUCache<string, Buffer>({ maxSize: maxKeptBytes, sizeCalculation: ({ length }) => length + 1 });

  function contentOf(files: UploadedFiles<Version>, scope: Scope, file: Version): Buffer {
    const name = versionName(file);
    const content = kept.get(name) ?? files.content(scope, file._id)!;
    kept.set(name, content);
    return content;
  }

  return (scope, request) => {
    const style = mapStyles.find(scope, request.style);
    const markers = iconIds(request).flatMap((id) => mapMarkers.find(scope, id) ?? []);
    const markerOf = (id: string | null) => markers.find(({ _id }) => _id === id);
    const problem = referenceProblem(request, {
      hasStyle: () => style !== undefined,
      hasMarker: (id) => markerOf(id) !== undefined,
    });
    if (problem) throw parameterError(problem);
    const withVersion = <G extends MapRequest['markers'][number]>(group: G): G => {
      const marker = markerOf(group.icon);
      return marker ? { ...group, icon: versionName(marker) } : group;
    };
    return {
      request: {
        ...request,
        style: style ? versionName(style) : request.style,
        markers: request.markers.map(withVersion),
      },
      hasStyle: style !== undefined,
      hasUploads: style !== undefined || markers.length > 0,
      uploads: () => ({
        style: style ? contentOf(mapStyles, scope, style) : null,
        icons: new Map(markers.map((marker) => [versionName(marker), contentOf(mapMarkers, scope, marker)])),
      }),
    };
  };
}
