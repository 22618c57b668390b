/** Measures one containment test: nanoseconds per `ShapeTable.zone`, by the size of the shape. */
import { pathToFileURL } from 'node:url';
import { ShapeTable } from '../pipeline/geometry/shapes.js';
import { createRandom } from '../schemas/random.js';

const fenceCount = 256;
const testCount = 4_096;
const rounds = 21;
const accuracyM = 15;

/**
 * Prints minimum, median and maximum of the rounds for each shape. Points lie in the boxes of the fences, half of them
 * inside.
 */
async function run(): Promise<void> {
  for (const vertices of [0, 32, 200, 2_000]) {
    const times = measure(vertices).sort((a, b) => a - b);
    const [least, median, most] = [times[0]!, times[rounds >> 1]!, times[rounds - 1]!].map((ns) => ns.toFixed(0));
    const shape = vertices === 0 ? 'circle' : `polygon of ${vertices}`;
    console.log(`zone, ${shape.padEnd(15)} ${least} / ${median} / ${most} ns (min / median / max)`);
  }
}

function measure(vertices: number): number[] {
  const random = createRandom(vertices + 1).next;
  const table = new ShapeTable();
  const between = (from: number, to: number): number => from + (to - from) * random();
  const fences = Array.from({ length: fenceCount }, () => {
    const [longitude, latitude, radiusM] = [between(11, 13), between(57, 58), between(50, 1_000)];
    const row =
      vertices === 0
        ? table.addCircle(longitude, latitude, radiusM)
        : table.addPolygon(wavyRing(longitude, latitude, radiusM, vertices, random));
    return { row, box: boxOf(table, row) };
  });
  const rows = new Int32Array(testCount);
  const points = new Float64Array(2 * testCount);
  for (let i = 0; i < testCount; i++) {
    const { row, box } = fences[Math.floor(random() * fenceCount)]!;
    rows[i] = row;
    points[2 * i] = between(box[0]!, box[2]!);
    points[2 * i + 1] = between(box[1]!, box[3]!);
  }

  const passes = 25;
  const times: number[] = [];
  let sum = 0;
  for (let round = -5; round < rounds; round++) {
    const start = process.hrtime.bigint();
    for (let pass = 0; pass < passes; pass++) {
      for (let i = 0; i < testCount; i++) sum += table.zone(rows[i]!, points[2 * i]!, points[2 * i + 1]!, accuracyM);
    }
    // Rounds before 0 warm up.
    if (round >= 0) times.push(Number(process.hrtime.bigint() - start) / (passes * testCount));
  }
  if (sum === 0) throw new Error('No point was near its fence: the workload is wrong');
  return times;
}

function boxOf(table: ShapeTable, row: number): Float64Array {
  const box = new Float64Array(4);
  table.box(row, box);
  return box;
}

/** Returns a ring around a point with a varying radius and some noise, like a traced outline. */
function wavyRing(
  longitude: number,
  latitude: number,
  radiusM: number,
  vertices: number,
  random: () => number,
): Float64Array {
  const phase = random() * 2 * Math.PI;
  const ring = new Float64Array(2 * vertices);
  for (let i = 0; i < vertices; i++) {
    const angle = (2 * Math.PI * i) / vertices;
    const radius = (radiusM / 111_000) * (1 + 0.2 * Math.sin(7 * angle + phase) + 0.01 * random());
    ring[2 * i] = longitude + (radius / Math.cos((latitude * Math.PI) / 180)) * Math.cos(angle);
    ring[2 * i + 1] = latitude + radius * Math.sin(angle);
  }
  return ring;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await run();
