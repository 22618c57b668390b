/**
 * A script for Redis: fences in sorted sets of GEOADD, visits in a set per device. One call of EVALSHA searches,
 * compares, keeps the state, and returns what has changed.
 *
 * Redis searches points within a radius, so fences are kept by size: the centres of those up to 100 m are searched
 * within 100 m, those up to 200 m within 200 m, and so on. It has no polygons.
 */
import { Redis } from 'ioredis';
import { lacking } from '../../testing/services/provider.js';
import { type RedisServer, redis, startRedis } from '../../testing/services/redis.js';
import { usageOf } from '../usage.js';
import type { Fence } from '../workloads/workload.js';
import type { Engine, Peer, Transition } from './engine.js';
import type { Scene } from './scene.js';

const callsUnderWay = 256;
const smallestClassM = 50;

/** The name of a member carries the radius, so that no other lookup is needed. */
const script = `
local inside = {}
for index = 4, #ARGV do
  local reach = ARGV[index]
  local found = redis.call(
    'GEOSEARCH', 'fences:' .. reach, 'FROMLONLAT', ARGV[2], ARGV[3], 'BYRADIUS', reach, 'm', 'WITHDIST')
  for _, each in ipairs(found) do
    local radius = tonumber(string.match(each[1], ':(.*)'))
    if tonumber(each[2]) <= radius then inside[each[1]] = true end
  end
end
local key = 'visits:' .. ARGV[1]
local changes = {}
for _, member in ipairs(redis.call('SMEMBERS', key)) do
  if inside[member] then inside[member] = nil
  else
    redis.call('SREM', key, member)
    changes[#changes + 1] = '-' .. member
  end
end
for member in pairs(inside) do
  redis.call('SADD', key, member)
  changes[#changes + 1] = '+' .. member
end
return changes`;

/** The class of a radius: the next of 50 m, 100 m, 200 m and so on. */
const classOf = (radiusM: number): number =>
  smallestClassM * 2 ** Math.max(0, Math.ceil(Math.log2(radiusM / smallestClassM)));

class RedisGeoEngine implements Engine {
  readonly #server: RedisServer;
  readonly #scene: Scene;
  readonly #classes = new Set<number>();
  #client: Redis;
  #sha = '';

  constructor(server: RedisServer, scene: Scene) {
    this.#server = server;
    this.#scene = scene;
    this.#client = connect(server);
  }

  async load(fences: Iterable<Fence>): Promise<void> {
    this.#sha = (await this.#client.script('LOAD', script)) as string;
    let pipeline = this.#client.pipeline();
    for (const fence of fences) {
      pipeline.geoadd(...this.#memberOf(fence));
      if (pipeline.length < callsUnderWay) continue;
      await pipeline.exec();
      pipeline = this.#client.pipeline();
    }
    await pipeline.exec();
  }

  async apply(from: number, to: number): Promise<void> {
    // Two pipelines in turn, so that the server always has one to work on.
    let before: Promise<unknown> = Promise.resolve();
    for (let start = from; start < to; start += callsUnderWay / 2) {
      const pipeline = this.#client.pipeline();
      for (let fix = start; fix < Math.min(to, start + callsUnderWay / 2); fix++)
        pipeline.evalsha(this.#sha, 0, ...this.#argumentsOf(fix));
      const sent = pipeline.exec();
      await before;
      before = sent;
    }
    await before;
  }

  async locate(fix: number): Promise<readonly Transition[]> {
    const changes = (await this.#client.evalsha(this.#sha, 0, ...this.#argumentsOf(fix))) as string[];
    return changes.map((change) => ({
      fix,
      fence: Number.parseInt(change.slice(1), 10),
      kind: change.startsWith('+') ? 'enter' : 'exit',
    }));
  }

  async put(fence: Fence): Promise<void> {
    await this.#client.geoadd(...this.#memberOf(fence));
  }

  async restart(): Promise<void> {
    this.#client.disconnect();
    await this.#server.kill();
    await this.#server.restart();
    this.#client = connect(this.#server);
    await this.#client.script('LOAD', script);
  }

  usage = async () => usageOf(this.#server.pid!);

  async stop(): Promise<void> {
    this.#client.disconnect();
    await this.#server.stop();
  }

  #memberOf({ number, center, radiusM }: Fence): [string, number, number, string] {
    const reachM = classOf(radiusM);
    this.#classes.add(reachM);
    return [`fences:${reachM}`, center[0], center[1], `${number}:${radiusM}`];
  }

  #argumentsOf(fix: number): (string | number)[] {
    const { devices, longitudes, latitudes } = this.#scene.fixes;
    return [devices[fix]!, longitudes[fix]!, latitudes[fix]!, ...this.#classes];
  }
}

const connect = ({ host, port }: RedisServer): Redis => new Redis({ host, port, enableAutoPipelining: false });

/** Redis with a script. */
export const redisGeoPeer: Peer = {
  name: 'redis-geo',
  about: 'a script on GEOSEARCH that keeps the visits of each device, 256 calls under way on one socket',
  durability: 'with `appendfsync everysec` all but the last second of fences and visits',
  semantics: 'a sphere, and centres rounded to 52 bits; by arrival; circles only',
  hasPolygons: false,
  install: 'apt-get install redis-server; or Docker',
  lacking: () => lacking(redis),
  version: async () => 'Redis 7',
  start: async (scene, isDurable) =>
    new RedisGeoEngine(await startRedis({ appendfsync: isDurable ? 'everysec' : 'never' }), scene),
};
