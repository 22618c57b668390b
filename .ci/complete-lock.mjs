// Adds to package-lock.json the optional packages of other platforms that npm leaves out when the registry it was run
// against does not hold them: without their entries `npm ci` refuses the lock everywhere. Run it after `npm install`:
// node .ci/complete-lock.mjs
import { readFileSync, writeFileSync } from 'node:fs';

const systems = ['darwin', 'linux', 'win32', 'android'];
const processors = ['arm64', 'x64', 'arm'];

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const isListed = (parent, name) =>
  `node_modules/${name}` in lock.packages || `${parent}/node_modules/${name}` in lock.packages;

/** What npm writes of a package that it knows by name and version only; undefined where the name tells no platform. */
function entryOf(name, version, parent) {
  const system = systems.find((candidate) => name.includes(candidate));
  const processor = processors.find((candidate) => new RegExp(`[-.]${candidate}(-|$)`).test(name));
  if (!system || !processor) return undefined;
  const libc = name.includes('musl') ? { libc: ['musl'] } : name.includes('gnu') ? { libc: ['glibc'] } : {};
  return { version, cpu: [processor], ...(parent.dev && { dev: true }), optional: true, os: [system], ...libc };
}

for (const [path, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const missing = isListed(path, name) ? undefined : entryOf(name, version, entry);
    if (missing) lock.packages[`node_modules/${name}`] = missing;
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`);
