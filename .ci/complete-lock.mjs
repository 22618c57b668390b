// Adds to package-lock.json the optional platform packages that npm leaves out when the registry it was run against does not hold them: without
// their entries `npm ci` refuses the lock everywhere. Run it after `npm install`: node .ci/complete-lock.mjs package-lock.json
import { readFileSync, writeFileSync } from 'node:fs';

const path = process.argv[2];
const lock = JSON.parse(readFileSync(path));
const platforms = { darwin: 'darwin', linux: 'linux', win32: 'win32', android: 'android' };
for (const [parent, p] of Object.entries(lock.packages))
  for (const [name, version] of Object.entries(p.optionalDependencies ?? {})) {
    const key = `node_modules/${name}`;
    if (lock.packages[key] || lock.packages[`${parent}/node_modules/${name}`]) continue;
    const os = Object.keys(platforms).find((o) => name.includes(o));
    const cpu = ['arm64', 'x64', 'arm'].find((c) => new RegExp(`[-.]${c}(-|$)`).test(name));
    if (!os || !cpu) {
      console.log('skip', name, version);
      continue;
    }
    const entry = {
      version,
      cpu: [cpu],
      ...(p.dev && { dev: true }),
      ...(p.license && { license: p.license }),
      optional: true,
      os: [os],
      ...(name.includes('musl') ? { libc: ['musl'] } : name.includes('gnu') ? { libc: ['glibc'] } : {}),
    };
    lock.packages[key] = entry;
    console.log('add', name, version);
  }
const sorted = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
lock.packages = sorted;
writeFileSync(path, JSON.stringify(lock, null, 2) + '\n');
