// Compiles to dist/ and puts the schema files, which are read at run time, beside the code that reads them.
import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';

rmSync('dist', { recursive: true, force: true });
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc'], { stdio: 'inherit' });
for (const folder of ['schemas/avro', 'schemas/clickhouse']) cpSync(folder, `dist/${folder}`, { recursive: true });
