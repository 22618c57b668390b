/** The engines of the benchmark. */
import type { Peer } from './engine.js';
import { fencelinePeer } from './fenceline.js';
import { fencelineHttpPeer } from './fenceline-http.js';
import { flatbushPeer } from './flatbush.js';
import { postgisPeer } from './postgis.js';
import { redisGeoPeer } from './redis-geo.js';
import { tile38Peer } from './tile38.js';

/** Measured in every run; the first one is compared with all others. */
export const always: readonly Peer[] = [fencelinePeer, fencelineHttpPeer, flatbushPeer];
/** Measured when they are asked for. */
export const peers: readonly Peer[] = [tile38Peer, postgisPeer, redisGeoPeer];
/** All engines in the order of the page, Fenceline first. */
export const engines: readonly Peer[] = [...always, ...peers];
