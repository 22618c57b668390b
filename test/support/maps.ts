/** Requests maps from a real server like a web page, and reads their colours. */
import sharp from 'sharp';
import { TestServer } from './server.js';

/** Parameters of a map. Those with several values are repeated. */
export type MapQuery = Readonly<Record<string, string | readonly string[]>>;

export interface Asking {
  readonly key?: keyof TestServer['keys'];
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly format: string | undefined;
  /** Red, green and blue of every pixel. */
  readonly pixels: Buffer;
}

/**
 * Starts a server and draws a first map, so that the start of its drawing process does not count as a request's time.
 */
export async function startMapServer(environment: Readonly<Record<string, string>> = {}): Promise<TestServer> {
  const server = await TestServer.start(environment);
  try {
    await pictureOf(await askMap(server, { width: '100', height: '100', center: '0,0', zoom: '1' }));
  } catch (error) {
    await server.dispose();
    throw error;
  }
  return server;
}

/** Requests a map with the key in the query, as in the `src` of an image. */
export function askMap(
  server: Pick<TestServer, 'address' | 'keys'>,
  query: MapQuery,
  { key = 'test_publishable', headers = {} }: Asking = {},
): Promise<Response> {
  const parameters = new URLSearchParams({ publishableKey: server.keys[key] });
  for (const [name, values] of Object.entries(query))
    for (const value of [values].flat()) parameters.append(name, value);
  return fetch(`${server.address}/maps/static?${parameters}`, { headers });
}

/** Decodes a map. Throws for other responses. */
export async function pictureOf(answer: Response): Promise<Picture> {
  if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${await answer.text()}`);
  const image = sharp(await answer.arrayBuffer());
  const { width, height, format } = await image.metadata();
  return { width, height, format, pixels: await image.removeAlpha().raw().toBuffer() };
}

/** Returns the colour of a pixel as RRGGBB. */
export function colorAt({ pixels, width }: Picture, x: number, y: number): string {
  return pixels.subarray(3 * (y * width + x), 3 * (y * width + x) + 3).toString('hex');
}

/** Counts the pixels of a colour, RRGGBB. */
export function countOf({ pixels }: Picture, color: string): number {
  const [red, green, blue] = Buffer.from(color, 'hex');
  let count = 0;
  for (let i = 0; i < pixels.length; i += 3) {
    if (pixels[i] === red && pixels[i + 1] === green && pixels[i + 2] === blue) count += 1;
  }
  return count;
}
