// A process as the pool starts one, which does what a request's style says instead of drawing.
import { existsSync, writeFileSync } from 'node:fs';

process.on('disconnect', () => process.exit(0));
process.once('message', ({ archive, cacheFolder }) => {
  if (archive === 'unusable' || (archive === 'usable once' && !isFirst(cacheFolder))) {
    answer({ kind: 'unusable', reason: 'there is no such archive' });
    return;
  }
  process.on('message', (task) => serve(task, cacheFolder));
  answer({ kind: 'ready' });
});

/** Returns whether no other process has started with this folder. */
function isFirst(folder) {
  const mark = `${folder}/first`;
  if (existsSync(mark)) return false;
  writeFileSync(mark, '');
  return true;
}

/** Sends a message to the pool. One that has ended needs none: without the callback, its end is an error here. */
function answer(message) {
  process.send(message, () => {});
}

/** The answer's bytes are what the process knows, as JSON. A map without an answer leaves a file in the folder. */
function serve({ id, request, icons }, folder) {
  if (['hang', 'hold'].includes(request.style)) writeFileSync(`${folder}/${process.pid}-${id}`, '');
  if (request.style === 'hang') for (;;);
  if (request.style === 'crash') process.kill(process.pid, 'SIGKILL');
  if (request.style === 'hold') return;
  if (request.style === 'fail') {
    answer({ kind: 'failed', id, reason: 'a mistake', processorMs: 1 });
    return;
  }
  if (request.style === 'exceed') {
    answer({ kind: 'failed', id, reason: 'too many tiles', code: 'map_too_large', processorMs: 4_000 });
    return;
  }
  const known = { pid: process.pid, icons: [...icons.keys()], environment: Object.keys(process.env) };
  const bytes = Buffer.from(JSON.stringify(known));
  const tiles =
    request.style === 'lack'
      ? { missingTiles: 1, tileProblem: 'the source is away' }
      : { missingTiles: 0, tileProblem: null };
  answer({
    kind: 'done',
    id,
    result: { bytes, contentType: 'image/png', ...tiles, cutLayers: [], missingIcons: 0, missingFonts: [] },
    processorMs: 1,
  });
}
